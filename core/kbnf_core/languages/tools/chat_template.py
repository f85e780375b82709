"""Formats of tool calls from chat templates, which write calls as models do.

A template (Jinja, as ``tokenizer_config.json`` of a model has it) is rendered with conversations
that end in a plain answer, and in one, two and three calls of tools whose names and arguments occur
nowhere else. Texts that the plain answer or a prompt has, too, do not belong to the calls; between
the names and arguments are the texts of a call, and the texts that two calls share around them are
where a call begins and ends: the rest is before all calls, between two, and after all. Texts are
compared by markers (``<...>``, ``[...]``) and characters, so that no marker is cut. Three calls
must come out as that predicts. Arguments are JSON, or in one of the styles of structural tags; an
identifier that the conversation gives to a call may be any, and so may be the number of a call.
What follows the last call where a plain answer has something else ends the turn, which the model's
server does.

A template is a program of others: Jinja's sandbox keeps it from files and from Python, a process
with limits (``SECONDS``, ``MEMORY``) from taking all time and memory. A format is derived in one
process.

A format is kept only if its grammar takes what the template writes (``verify``): one, two and three
calls, calls without arguments, with quotes and brackets in strings, with values inside values, text
and thoughts before calls; and refuses other names, other arguments, and calls that lack one. Text
is given for arguments only to a template that cannot be rendered with values: it would write any
text as if that were JSON. A refusal names the formats that take the probes, if any do.

Tests: tests/unit/languages/tools/test_chat_templates.py,
tests/unit/languages/tools/test_own_tools.py
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from kbnf_core.kbnf.parsed import Mark
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.rules import gap_of
from kbnf_core.languages.structural_tag.arguments import transcriber_of
from kbnf_core.languages.structural_tag.models import (
    ANY,
    NUMBER,
    Calls,
    Format,
    Thoughts,
    format_of,
)
from kbnf_core.languages.structural_tag.nested import NOTATIONS, literal
from kbnf_core.languages.structural_tag.xml import PYTHON_WORDS
from kbnf_core.languages.tools import rendering
from kbnf_core.languages.tools.language import TOOL_LIST
from kbnf_core.languages.tools.rendering import (
    MARKER,
    NAMES,
    TEXT,
    THOUGHT,
    MadeOf,
    Messages,
    OtherwiseError,
    UnrenderedError,
    shared,
    shared_end,
)
from kbnf_core.languages.tools.verify import fitting_presets, requiring, verify
from kbnf_core.text.errors import ConfigError

_ARGUMENTS = {"qzone": "qzv1", "qztwo": "qzv2"}
_PROBES: Mapping[str, Mapping[str, Any]] = {
    "no values": {},
    "quotes and brackets": {**_ARGUMENTS, "qzone": 'a "b" <c> {d} \\ \te'},
    "letters beyond ASCII": {**_ARGUMENTS, "qztwo": "ä€"},
    "values inside values": {**_ARGUMENTS, "qzthree": {"qzfour": [1, 2.5, -3], "qzfive": True}},
}
"""Arguments that are other texts where they are not written as a style has them."""
_CONSTANTS: Mapping[str, Mapping[str, Any]] = {
    "a truth value": {**_ARGUMENTS, "qzsix": True},
    "null": {**_ARGUMENTS, "qzsix": None},
}
"""Arguments with constants, which templates that print values write as Python does."""
_UNIONS: Mapping[str, Mapping[str, Any]] = {
    "null that may be a text": {**_ARGUMENTS, "qzseven": None},
    "a truth value that may be a text": {**_ARGUMENTS, "qzeight": False},
}
"""Arguments that are read otherwise where a constant is taken for a text."""

_NESTED = {
    "type": "object",
    "description": "d",
    "properties": {
        "qzfour": {"type": "array", "items": {"type": "number"}},
        "qzfive": {"type": "boolean"},
    },
}
_STRING = {"type": "string", "description": "d"}
_PROPERTIES = {
    **dict.fromkeys(_ARGUMENTS, _STRING),
    "qzthree": _NESTED,
    "qzsix": {"type": "boolean", "description": "d"},
}


def _tools_with(properties: Mapping[str, Any]) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": properties}
    about = {"description": "d", "parameters": schema}
    return [{"type": "function", "function": {"name": name, **about}} for name in NAMES]


_TOOLS = _tools_with(_PROPERTIES)
_JUDGED = _tools_with(
    {
        **_PROPERTIES,
        "qzsix": {"type": ["boolean", "null"]},
        "qzseven": {"type": ["string", "null"]},
        "qzeight": {"type": ["string", "boolean"]},
    }
)
"""The tools of the grammar; prompts have the others, as some templates know no lists of types."""

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


def derived_format(text: str, config: str | None = None) -> str:
    """Return the format of tool calls of a chat template, for the option ``tool_calls``.

    ``text`` is the template, or what ``tokenizer_config.json`` contains; ``config`` is that of a
    template that has a file of its own, for its special tokens. Raises ``ConfigError`` where
    that has no template, for a template that cannot be rendered within the limits, for one that
    writes calls in no way that a format can say, and where Jinja is not installed.
    """
    return str(rendering.in_process(_derived, text, config))


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
                messages = Messages(render, content, written, as_text=as_text)
                result, end_of_turn = _format_of(messages)
                missing = [
                    token for token, fitting in tokens.items() if _needs(result, token, fitting)
                ]
                if missing:
                    raise OtherwiseError(
                        f"it writes `{missing[0]}` in calls: give the folder of the model"
                    )
            except OtherwiseError as error:
                if isinstance(error, UnrenderedError):
                    is_refused = True
                    refusal = refusal or str(error)
                else:
                    problem = problem or str(error)
            else:
                made_of = MadeOf(template, tokens, as_text, content, end_of_turn)
                result["chat_template"] = made_of._asdict()
                result["turn_ends"] = messages.turn_ends
                return json.dumps(result, ensure_ascii=False, sort_keys=True)
        if not is_refused:
            break
    message = f"no format of tool calls follows from this chat template: {problem or refusal}"
    # Some formats cannot write a colon in a name.
    plain = [token for token in written if NAMES[2] not in token]
    fitting = fitting_presets(TOOL_LIST, _TOOLS[:2], plain, template)
    raise ConfigError(message + (f"; {fitting}" if fitting else ""))


def _needs(format_: Format, name: str, token: object) -> bool:
    """Return whether a format has a special token that is not known."""
    return token == rendering.placeholder(name) and token in json.dumps(format_)


def _format_of(messages: Messages) -> tuple[Format, str]:
    """Return the format of a template, and the end of the turn after calls."""
    try:
        calls = _calls_in(messages.body, messages)
    except UnrenderedError:
        raise
    except OtherwiseError as error:
        try:
            calls = _calls_in(partial(_numbered, messages.body), messages)
        except OtherwiseError:
            raise error from None
    calls = _checked(calls, messages)
    result = format_of(calls, _thoughts(messages))
    _verify(result, calls, messages)
    return result, calls.end_of_turn


def _numbered(body: Callable[..., str], *calls: Mapping[str, Any]) -> str:
    """Return calls with any number in place of each that is a word of its own."""
    return re.sub(r"\b\d{1,2}\b", NUMBER, body(*calls))


def _calls_in(body: Callable[..., str], messages: Messages) -> Calls:
    """Return the texts of calls."""
    one = body(_ARGUMENTS)
    is_cut = messages.is_cut
    before, name, rest = one.partition(NAMES[0])
    if not name:
        raise OtherwiseError("it does not write the name of the tool that is called")
    style, arguments = _arguments_in(rest)
    after_name, _, after = rest.partition(arguments)
    if NAMES[0] in after:
        raise OtherwiseError("it writes the name of the tool twice")
    leads = tuple(sorted(messages.leads, key=len))
    result = Calls(before, after_name, after, style=style, is_single=True, leads=leads)
    try:
        two = body(_ARGUMENTS, _ARGUMENTS)
    except OtherwiseError:
        # It says so where one call at a time is all that a model can write.
        two = one
    if two == one:
        turns = [] if is_cut else MARKER.findall(after)
        turn = turns[-1] if turns and after.endswith(turns[-1]) and after != turns[-1] else ""
        return replace(result, end=after.removesuffix(turn), end_of_turn=turn)
    call = f"{after_name}{arguments}"
    begun, ended = f"{before}{NAMES[0]}{call}", f"{NAMES[1]}{call}{after}"
    between = two[len(begun) : len(two) - len(ended)]
    if f"{begun}{between}{ended}" != two:
        raise OtherwiseError("a second call is written otherwise than the first")
    result = _several(result, between, is_cut=is_cut)
    if body(*3 * [_ARGUMENTS]) != result.texts(arguments, NAMES):
        raise OtherwiseError("what is around a call depends on its place among the others")
    return result


def _several(one: Calls, between: str, *, is_cut: bool) -> Calls:
    """Return calls that may be several, of one and the text between the arguments of two."""
    before, after = one.begin, one.end
    begin = shared_end(before, between)
    between = between[: len(between) - len(begin)]
    end = shared(after, between)
    first, last = before[: len(before) - len(begin)], after[len(end) :]
    if last.isspace() and begin.startswith(last):
        # A line break after each call, and one before the first.
        first, begin = first + last, begin.removeprefix(last)
        between, end, last = between + last, end + last, ""
    turn = ""
    if last and not first.strip() and not is_cut and MARKER.match(last):
        turn, last = last, ""
    if not first.strip() and (last or not begin):
        raise OtherwiseError("calls do not begin with a text of their own")
    separator = between[len(end) :]
    if any(word in f"{first}{last}{separator}" for word in ANY):
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


def _checked(calls: Calls, messages: Messages) -> Calls:
    """Return calls as the probes have them; refuse those that do not match some probe."""
    if calls.style in _XML:
        with suppress(UnrenderedError):
            calls = _with_empty(calls, messages.body({}))
    begun = f"{calls.before}{calls.begin}{NAMES[0]}{calls.after_name}"
    ended = f"{calls.end}{calls.after}{calls.end_of_turn}"
    for title, arguments in (*_PROBES.items(), *_CONSTANTS.items()):
        try:
            text = messages.body(arguments)
        except UnrenderedError:
            continue
        first, last = re.match(_pattern(begun), text), re.search(_pattern(ended) + r"\Z", text)
        if first is None or last is None or first.end() > last.start():
            raise OtherwiseError(f"a call with {title} is written otherwise: {text!r}"[:300])
        written = text[first.end() : last.start()]
        if calls.style == "json" and written in _as_json(arguments, is_ascii=True):
            is_escaped = written not in _as_json(arguments, is_ascii=False)
            calls = replace(calls, escapes="unicode") if is_escaped else calls
        elif _reads(calls.style, written, arguments):
            continue
        elif title in _CONSTANTS and _reads(calls.style, written, arguments, words="python"):
            calls = replace(calls, words="python")
        # A member that is null may be left out.
        elif title != "null":
            raise OtherwiseError(f"arguments with {title} are written otherwise: {written!r}"[:300])
    return calls


def _pattern(text: str) -> str:
    """Return the regular expression of a text in which numbers may be any."""
    return re.escape(text).replace(NUMBER, r"\d{1,9}")


def _with_empty(calls: Calls, text: str) -> Calls:
    """Return calls without the texts that are written around arguments only if there are any."""
    begun = f"{calls.before}{calls.begin}{NAMES[0]}"
    kept = shared(calls.after_name, text[len(begun) :])
    last = len(text) - len(calls.after) - len(calls.end_of_turn)
    end = text[len(begun) + len(kept) : last]
    gaps = calls.after_name[len(kept) :], calls.end.removesuffix(end)
    if not all(re.fullmatch(_GAP, gap) for gap in gaps):
        return calls
    return replace(calls, after_name=kept, end=end)


def _verify(format_: Format, calls: Calls, messages: Messages) -> None:
    """Refuse a format whose grammar does not accept the texts that the template writes."""
    counts = (1,) if calls.is_single else (1, 2, 3)
    probes: dict[str, list[dict[str, Any]]] = {
        f"{count} calls": [{**_ARGUMENTS}] * count for count in counts
    }
    probes |= {f"a call with {title}": [dict(call)] for title, call in _PROBES.items()}
    probes |= {f"a call with {title}": [dict(call)] for title, call in _CONSTANTS.items()}
    probes |= {f"a call with {title}": [dict(call)] for title, call in _UNIONS.items()}
    written: dict[str, tuple[str, list[dict[str, Any]]]] = {}
    for title, arguments in probes.items():
        with suppress(UnrenderedError):
            text = messages.plain_body(*arguments)
            # A member that is null may be left out, or be nothing.
            if "null" not in title or re.search(r"\b(?:null|None)\b", text):
                written[title] = text.removesuffix(calls.end_of_turn), arguments
    one, name = written["1 calls"][0], json.dumps(format_)
    thinking = [
        after_prompt.removesuffix(calls.end_of_turn)
        for after_prompt in messages.after_prompts(_ARGUMENTS)
    ]
    wrong = {
        "another name": one.replace(NAMES[0], "qzother"),
        "another argument": one.replace("qztwo", "qzother"),
        "no end": one.rstrip()[:-1],
    }
    verify(TOOL_LIST, name, _JUDGED, written, wrong, thinking)
    with suppress(UnrenderedError):
        lacking = messages.plain_body({"qzone": "qzv1"}).removesuffix(calls.end_of_turn)
        verify(
            TOOL_LIST,
            name,
            requiring(_TOOLS, [*_ARGUMENTS]),
            {"1 calls": written["1 calls"]},
            {"a lack": lacking},
            (),
        )


def _reads(style: str, written: str, arguments: Mapping[str, Any], *, words: str = "json") -> bool:
    """Return whether arguments are written as a style has them, the gaps between them too."""
    if style == "json":
        return written in _as_json(arguments, is_ascii=False)
    if style == "python_json":
        return bool(_read_back(style, written) == arguments)
    if style not in _XML:
        return written == literal(style, arguments, words=words)
    elements = (_element(style, *item, words=words) for item in arguments.items())
    pattern = "".join(f"{_GAP}(?:{form})" for form in elements)
    return re.fullmatch(pattern + _GAP, written) is not None


def _read_back(style: str, written: str) -> Any:
    """Return the arguments that a text is read as; None where it is not those of any call."""
    try:
        return json.loads(transcriber_of(Mark("call", None, style)).feed(written, final=True))
    except ValueError:
        return None


def _element(style: str, name: str, value: Any, *, words: str = "json") -> str:
    """Return the regular expression of an argument in a style."""
    is_text = isinstance(value, str)
    form = _XML[style] if is_text else _XML[style].replace('string="true"', 'string="false"')
    values = [value] if is_text else _as_json(value, is_ascii=False)
    if words == "python":
        values = [PYTHON_WORDS.get(candidate, candidate) for candidate in values]
    forms = (
        "".join(
            _GAP if candidate == "~" else re.escape(candidate.format(name, value))
            for candidate in re.split("(~)", form)
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
        first, last = (_element(style, *item) for item in _ARGUMENTS.items())
        match = re.search(f"(?:{first})(?s:.*?)(?:{last})", rest)
        if match is not None:
            return style, match[0]
    raise OtherwiseError("arguments are neither JSON nor in a style that is known")


def _thoughts(messages: Messages) -> Thoughts | None:
    """Return whether prompts end with the beginning of thoughts, that, and their end."""
    try:
        prompt = messages.render([rendering.asked()], add_generation_prompt=True)
        call = messages.plain_body(_ARGUMENTS).lstrip()
        text = messages.whole(_ARGUMENTS, thought=THOUGHT)
        if THOUGHT not in text:
            call, text = TEXT, messages.render(rendering.answer(TEXT, THOUGHT))
    except OtherwiseError:
        return None
    head, marker, rest = text.partition(THOUGHT)
    end, called, _ = rest.partition(call)
    if not (marker and called and end.strip()):
        return None
    begin = head[len(shared(head, prompt)) :]
    if begin.strip():
        return Thoughts(False, begin.rstrip(), end.lstrip())
    # The prompt has it, from the last marker on.
    line = prompt.rstrip().rpartition("\n")[2]
    markers = [match.start() for match in MARKER.finditer(line)]
    return Thoughts(True, line[markers[-1] if markers else 0 :], end.lstrip())
