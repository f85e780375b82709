"""Formats of tool calls from chat templates: what a template writes for calls is what models write.

A template (Jinja, as ``tokenizer_config.json`` of a model has it) is rendered with conversations
that end in a plain answer, and in one, two and three calls of tools whose names and arguments occur
nowhere else. What the plain answer or a prompt has, too, is not of the calls; between the names and
arguments are the texts of a call, and what two calls share around them is where a call begins and
ends: what is left is before all calls, between two, and after all. Texts are compared by markers
(``<...>``, ``[...]``) and characters, so that no marker is cut. Three calls must come out as that
predicts. Arguments are JSON, or in one of the styles of structural tags; an identifier that the
conversation gives to a call may be any, and so may be the number of a call. What follows the last
call where a plain answer has something else ends the turn, which the model's server does.

A template is a program of others: Jinja's sandbox keeps it from files and from Python, a process
with limits (``SECONDS``, ``MEMORY``) from taking all time and memory. A format is derived in one
process.

A format is kept only if its grammar takes what the template writes (``verify``): one, two and three
calls, calls without arguments, with quotes and brackets in strings, with values inside values, text
and thoughts before calls; and refuses other names, other arguments, and calls that lack one. Text
is given for arguments only to a template that cannot be rendered with values: it would write any
text as if that were JSON. A refusal names the formats that take the probes, if any do.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import takewhile
from typing import Any

from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.prelude import gap_of
from kbnf_core.languages.structural_tag.call_texts import (
    ANY,
    ID,
    NUMBER,
    Calls,
    Format,
    Thoughts,
    format_of,
)
from kbnf_core.languages.structural_tag.literals import NOTATIONS, literal
from kbnf_core.languages.tools import rendering
from kbnf_core.languages.tools.rendering import OtherwiseError, RefusedError, Render
from kbnf_core.languages.tools.verify import fitting_presets, requiring, verify
from kbnf_core.processes import Process, ProcessError, StartError
from kbnf_core.text.errors import ConfigError, KbnfError

SECONDS = 10.0
"""The time in which a format is derived from a template, all renderings together."""

MEMORY = 512 << 20
"""Bytes that this may take."""

_TEXT, _THOUGHT = "qzplainqz", "qzthoughtqz"
_NAMES = ("qz-first", "qz.second", "qz:third")
_IDS = ("qzidaaaaa", "qzidbbbbb", "qzidccccc")
_ARGUMENTS = {"qzone": "qzv1", "qztwo": "qzv2"}
_PROBES: Mapping[str, Mapping[str, Any]] = {
    "no values": {},
    "quotes and brackets": {**_ARGUMENTS, "qzone": 'a "b" <c> {d} \\ \te'},
    "letters beyond ASCII": {**_ARGUMENTS, "qztwo": "ä€"},
    "values inside values": {**_ARGUMENTS, "qzthree": {"qzfour": [1, 2.5, -3], "qzfive": True}},
}
"""Arguments that are other texts where they are not written as a style has them."""

_NESTED = {
    "type": "object",
    "description": "d",
    "properties": {
        "qzfour": {"type": "array", "items": {"type": "number"}},
        "qzfive": {"type": "boolean"},
    },
}
_STRING = {"type": "string", "description": "d"}
_PROPERTIES = {**dict.fromkeys(_ARGUMENTS, _STRING), "qzthree": _NESTED}
_TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "d",
            "parameters": {"type": "object", "properties": _PROPERTIES},
        },
    }
    for name in _NAMES
]

_DSML = "｜DSML｜"
_XML = {
    "qwen_xml": "<parameter={0}>~{1}~</parameter>",
    "minimax_xml": '<parameter name="{0}">{1}</parameter>',
    "glm_xml": "<arg_key>{0}</arg_key>~<arg_value>{1}</arg_value>",
    "deepseek_xml": f'<{_DSML}parameter name="{{0}}" string="true">{{1}}</{_DSML}parameter>',
    "deepseek_v4_1_xml": f'<{_DSML} parameter name="{{0}}" string="true">{{1}}</{_DSML} parameter>',
}
"""An argument in each style that templates are known to write; ``~`` is a gap."""

_GAP = gap_of(Options())

_MARKER = re.compile(r"<[^<>\s{}]+>|\[[A-Z_/]+\]")
"""What is never cut."""

_BEGUN = re.compile(r"(?:<[^<>\s{}]*|\[[A-Z_/]*)\Z")
"""The beginning of a marker at the end of a text."""


def derived_format(text: str, config: str | None = None) -> str:
    """Return the format of tool calls of a chat template, for the option ``tool_calls``.

    ``text`` is the template, or what ``tokenizer_config.json`` contains; ``config`` is that of a
    template that has a file of its own, for its special tokens. Raises ``ConfigError`` where
    that has no template, for a template that cannot be rendered within the limits, for one that
    writes calls in no way that a format can say, and where Jinja is not installed.
    """
    process = Process(memory=MEMORY)
    try:
        return str(process.call(_derived, text, config, seconds=SECONDS))
    except StartError as error:
        raise ConfigError(f"no process for the chat template can be started: {error}") from None
    except ProcessError as error:
        if error.is_late:
            raise ConfigError(
                f"the chat template takes too long: no format follows from it in {SECONDS:g} s"
            ) from None
        raise ConfigError(f"the chat template cannot be rendered: {error}") from None
    except KbnfError:
        raise
    except Exception as error:
        raise ConfigError(f"the chat template cannot be rendered: {error}"[:300]) from error
    finally:
        process.close()


def _derived(text: str, config: str | None = None) -> str:
    """Return the format of a template, in the process that renders it."""
    template, tokens = rendering.template_in(text, config)
    render = rendering.renderer(template, tokens, _TOOLS)
    problem, refusal = "", ""
    written: list[str] = []
    # Templates ask for arguments as a value or as JSON, and for an empty text beside calls or none.
    for as_text in (False, True):
        is_refused = False
        for content in ("", None):
            try:
                messages = _Messages(render, content, written, as_text=as_text)
                found = _format_of(messages)
                missing = [each for each, known in tokens.items() if _needs(found, each, known)]
                if missing:
                    raise OtherwiseError(
                        f"it writes `{missing[0]}` in calls: give the folder of the model"
                    )
            except OtherwiseError as error:
                if isinstance(error, RefusedError):
                    is_refused = True
                    refusal = refusal or str(error)
                else:
                    problem = problem or str(error)
            else:
                return json.dumps(found, ensure_ascii=False, sort_keys=True)
        if not is_refused:
            break
    message = f"no format of tool calls follows from this chat template: {problem or refusal}"
    # Some formats cannot write a colon in a name.
    plain = [each for each in written if _NAMES[2] not in each]
    known = fitting_presets(_TOOLS[:2], plain, template)
    raise ConfigError(message + (f"; {known}" if known else ""))


def _needs(found: Format, name: str, token: object) -> bool:
    """Tell whether a format has a special token that is not known."""
    return token == rendering.placeholder(name) and token in json.dumps(found)


def _prefix(one: str, other: str) -> str:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(pair[0] for pair in pairs)


def _shared(one: str, other: str) -> str:
    """Return the beginning that two texts share, without a part of a marker."""
    found = _prefix(one, other)
    begun = _BEGUN.search(found)
    if begun is None:
        return found
    at = begun.start()
    ends = [each.end() for text in (one, other) if (each := _MARKER.match(text, at))]
    return found[:at] if any(end > len(found) for end in ends) else found


def _shared_end(one: str, other: str) -> str:
    """Return the end that two texts share, without a part of a marker."""
    found = _prefix(one[::-1], other[::-1])[::-1]
    for text in (one, other):
        cut = len(text) - len(found)
        begun = _BEGUN.search(text[:cut])
        marker = None if begun is None else _MARKER.match(text, begun.start())
        if marker is not None and marker.end() > cut:
            found = found[marker.end() - cut :]
    return found


class _Messages:
    """What a template writes for a message with calls, without what is around every message.

    ``leads`` are the blanks that follow prompts before a message, ``is_cut`` tells whether calls
    are followed by what follows an answer. What is written is kept in ``written``.
    """

    def __init__(
        self, render: Render, content: str | None, written: list[str], *, as_text: bool
    ) -> None:
        self.render = render
        self._content = content
        self._as_text = as_text
        plain = render(rendering.answer(_TEXT))
        self._head, found, self._tail = plain.partition(_TEXT)
        if not found:
            raise OtherwiseError("it writes no answer of the assistant")
        self.prompts = []
        for settings in ({}, {"enable_thinking": False}, {"enable_thinking": True}):
            with suppress(OtherwiseError):
                prompt = render([rendering.asked()], add_generation_prompt=True, **settings)
                self.prompts.append(prompt)
        self.leads = {""}
        self.is_cut = True
        self.tail = ""
        self._written = written

    def whole(self, *calls: Mapping[str, Any], thought: str | None = None) -> str:
        """Render a conversation that ends with a call for each of some arguments."""
        made = list(zip(_NAMES, _IDS, calls, strict=False))
        messages = rendering.calling(made, self._content, as_text=self._as_text, thought=thought)
        return self.render(messages)

    def body(self, *calls: Mapping[str, Any]) -> str:
        """Return what calls are written as, with any identifiers."""
        return self._without_ids(self.plain_body(*calls))

    def plain_body(self, *calls: Mapping[str, Any]) -> str:
        """Return what calls are written as."""
        text = self.whole(*calls)
        start = max(len(_shared(each, text)) for each in (self._head, *self.prompts))
        for prompt in self.prompts:
            lead = text[len(prompt) : start]
            if text.startswith(prompt) and lead.isspace():
                self.leads.add(lead)
        rest = text[start:]
        tail = _shared_end(self._tail, rest)
        self.is_cut = tail == self._tail
        found = rest[: len(rest) - len(tail)]
        # Where what ends an answer follows the last call, the turn of the model ends there.
        if _MARKER.match(self._tail.strip()):
            over = found.find(self._tail.strip(), max(0, *map(found.rfind, _NAMES)))
            found = found[:over] if over >= 0 else found
        self.tail = rest[len(found) :]
        self._written.append(found)
        return found

    def after_prompts(self) -> Iterator[str]:
        """Yield a call after thoughts, without each prompt that the conversation begins with."""
        with suppress(OtherwiseError):
            self.plain_body(_ARGUMENTS)
            text = self.whole(_ARGUMENTS, thought=_THOUGHT).removesuffix(self.tail)
            for prompt in self.prompts:
                if _THOUGHT in text and text.startswith(prompt):
                    yield text[len(prompt) :]

    @staticmethod
    def _without_ids(text: str) -> str:
        for each in _IDS:
            text = text.replace(each, ID)
        return text


def _format_of(messages: _Messages) -> Format:
    try:
        calls = _calls_in(messages.body, messages)
    except RefusedError:
        raise
    except OtherwiseError as error:
        try:
            calls = _calls_in(partial(_numbered, messages.body), messages)
        except OtherwiseError:
            raise error from None
    calls = _checked(calls, messages)
    found = format_of(calls, _thoughts(messages))
    _verify(found, calls, messages)
    return found


def _numbered(body: Callable[..., str], *calls: Mapping[str, Any]) -> str:
    """Return calls with any number in place of each that is a word of its own."""
    return re.sub(r"\b\d{1,2}\b", NUMBER, body(*calls))


def _calls_in(body: Callable[..., str], messages: _Messages) -> Calls:
    """Return what calls are."""
    one = body(_ARGUMENTS)
    is_cut = messages.is_cut
    before, name, rest = one.partition(_NAMES[0])
    if not name:
        raise OtherwiseError("it does not write the name of the tool that is called")
    style, arguments = _arguments_in(rest)
    after_name, _, after = rest.partition(arguments)
    if _NAMES[0] in after:
        raise OtherwiseError("it writes the name of the tool twice")
    leads = tuple(sorted(messages.leads, key=len))
    found = Calls(before, after_name, after, style=style, is_single=True, leads=leads)
    try:
        two = body(_ARGUMENTS, _ARGUMENTS)
    except OtherwiseError:
        # It says so where one call at a time is all that a model can write.
        two = one
    if two == one:
        turns = [] if is_cut else _MARKER.findall(after)
        turn = turns[-1] if turns and after.endswith(turns[-1]) and after != turns[-1] else ""
        return replace(found, end=after.removesuffix(turn), end_of_turn=turn)
    call = f"{after_name}{arguments}"
    begun, ended = f"{before}{_NAMES[0]}{call}", f"{_NAMES[1]}{call}{after}"
    between = two[len(begun) : len(two) - len(ended)]
    if f"{begun}{between}{ended}" != two:
        raise OtherwiseError("a second call is written otherwise than the first")
    found = _several(found, between, is_cut=is_cut)
    if body(*3 * [_ARGUMENTS]) != found.texts(arguments, _NAMES):
        raise OtherwiseError("what is around a call depends on its place among the others")
    return found


def _several(one: Calls, between: str, *, is_cut: bool) -> Calls:
    """Return calls that may be several, of one and what is between the arguments of two."""
    before, after = one.begin, one.end
    begin = _shared_end(before, between)
    between = between[: len(between) - len(begin)]
    end = _shared(after, between)
    first, last = before[: len(before) - len(begin)], after[len(end) :]
    if last.isspace() and begin.startswith(last):
        # A line break after each call, and one before the first.
        first, begin = first + last, begin.removeprefix(last)
        between, end, last = between + last, end + last, ""
    turn = ""
    if last and not first.strip() and not is_cut and _MARKER.match(last):
        turn, last = last, ""
    if not begin or (last and not first.strip()):
        raise OtherwiseError("calls do not begin with a text of their own")
    separator = between[len(end) :]
    if any(each in f"{first}{last}{separator}" for each in ANY):
        raise OtherwiseError("an identifier of a call is not within it")
    return replace(
        one,
        before=first,
        begin=begin,
        end=end,
        separator=separator,
        after=last,
        is_single=False,
        end_of_turn=turn,
    )


def _checked(calls: Calls, messages: _Messages) -> Calls:
    """Return calls as the probes have them; refuse those that some probe is no text of."""
    if calls.style in _XML:
        with suppress(RefusedError):
            calls = _with_empty(calls, messages.body({}))
    begun = f"{calls.before}{calls.begin}{_NAMES[0]}{calls.after_name}"
    ended = f"{calls.end}{calls.after}{calls.end_of_turn}"
    for title, arguments in _PROBES.items():
        try:
            text = messages.body(arguments)
        except RefusedError:
            continue
        first, last = re.match(_pattern(begun), text), re.search(_pattern(ended) + r"\Z", text)
        if first is None or last is None or first.end() > last.start():
            raise OtherwiseError(f"a call with {title} is written otherwise: {text!r}"[:300])
        written = text[first.end() : last.start()]
        if calls.style == "json" and written in _as_json(arguments, is_ascii=True):
            is_escaped = written not in _as_json(arguments, is_ascii=False)
            calls = replace(calls, escapes="unicode") if is_escaped else calls
        elif not _reads(calls.style, written, arguments):
            raise OtherwiseError(f"arguments with {title} are written otherwise: {written!r}"[:300])
    return calls


def _pattern(text: str) -> str:
    """Return the regular expression of a text in which numbers may be any."""
    return re.escape(text).replace(NUMBER, r"\d{1,9}")


def _with_empty(calls: Calls, text: str) -> Calls:
    """Return calls without what is around arguments only where there are some: it is theirs."""
    begun = f"{calls.before}{calls.begin}{_NAMES[0]}"
    kept = _shared(calls.after_name, text[len(begun) :])
    last = len(text) - len(calls.after) - len(calls.end_of_turn)
    end = text[len(begun) + len(kept) : last]
    parts = calls.after_name[len(kept) :], calls.end.removesuffix(end)
    if not all(re.fullmatch(_GAP, each) for each in parts):
        return calls
    return replace(calls, after_name=kept, end=end)


def _verify(found: Format, calls: Calls, messages: _Messages) -> None:
    """Refuse a format whose grammar does not take what the template writes."""
    counts = (1,) if calls.is_single else (1, 2, 3)
    probes = {f"{count} calls": [_ARGUMENTS] * count for count in counts}
    probes |= {f"a call with {title}": [dict(each)] for title, each in _PROBES.items()}
    written = {}
    for title, arguments in probes.items():
        with suppress(RefusedError):
            text = messages.plain_body(*arguments)
            written[title] = text.removesuffix(calls.end_of_turn)
    one, name = written["1 calls"], json.dumps(found)
    thinking = [each.removesuffix(calls.end_of_turn) for each in messages.after_prompts()]
    wrong = {
        "another name": one.replace(_NAMES[0], "qzother"),
        "another argument": one.replace("qztwo", "qzother"),
        "no end": one.rstrip()[:-1],
    }
    verify(name, _TOOLS, written, wrong, thinking)
    with suppress(RefusedError):
        lacking = messages.plain_body({"qzone": "qzv1"}).removesuffix(calls.end_of_turn)
        verify(name, requiring(_TOOLS, [*_ARGUMENTS]), {"1 calls": one}, {"a lack": lacking}, ())


def _reads(style: str, written: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether arguments are written as a style has them, the gaps between them too."""
    if style == "json":
        return written in _as_json(arguments, is_ascii=False)
    if style not in _XML:
        return written == literal(style, arguments)
    elements = (_element(style, name, value) for name, value in arguments.items())
    pattern = "".join(f"{_GAP}(?:{form})" for form in elements)
    return re.fullmatch(pattern + _GAP, written) is not None


def _element(style: str, name: str, value: Any) -> str:
    """Return the regular expression of an argument in a style."""
    is_text = isinstance(value, str)
    form = _XML[style] if is_text else _XML[style].replace('string="true"', 'string="false"')
    values = [value] if is_text else _as_json(value, is_ascii=False)
    forms = (
        "".join(
            _GAP if each == "~" else re.escape(each.format(name, value))
            for each in re.split("(~)", form)
        )
        for value in values
    )
    return "|".join(forms)


def _as_json(value: Any, *, is_ascii: bool) -> Iterator[str]:
    for settings in ({}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 4}):
        yield json.dumps(value, ensure_ascii=is_ascii, **settings)


def _arguments_in(rest: str) -> tuple[str, str]:
    """Return the style of the arguments after a name, and their text."""
    for text in _as_json(_ARGUMENTS, is_ascii=False):
        if text in rest:
            return "json", text
    for style in NOTATIONS:
        if literal(style, _ARGUMENTS) in rest:
            return style, literal(style, _ARGUMENTS)
    for style in _XML:
        first, last = (_element(style, *each) for each in _ARGUMENTS.items())
        found = re.search(f"(?:{first})(?s:.*?)(?:{last})", rest)
        if found is not None:
            return style, found[0]
    raise OtherwiseError("arguments are neither JSON nor in a style that is known")


def _thoughts(messages: _Messages) -> Thoughts | None:
    """Return whether prompts end with the beginning of thoughts, that, and what ends them."""
    try:
        prompt = messages.render([rendering.asked()], add_generation_prompt=True)
        call = messages.plain_body(_ARGUMENTS).lstrip()
        text = messages.whole(_ARGUMENTS, thought=_THOUGHT)
        if _THOUGHT not in text:
            call, text = _TEXT, messages.render(rendering.answer(_TEXT, _THOUGHT))
    except OtherwiseError:
        return None
    head, found, rest = text.partition(_THOUGHT)
    end, called, _ = rest.partition(call)
    if not (found and called and end.strip()):
        return None
    begin = head[len(_shared(head, prompt)) :]
    if begin.strip():
        return Thoughts(False, begin.rstrip(), end.lstrip())
    # The prompt has it, from the last marker on.
    line = prompt.rstrip().rpartition("\n")[2]
    markers = [each.start() for each in _MARKER.finditer(line)]
    return Thoughts(True, line[markers[-1] if markers else 0 :], end.lstrip())
