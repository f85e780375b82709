"""Formats of tool calls from chat templates: what a template writes for calls is what models write.

A template (Jinja, as ``tokenizer_config.json`` of a model has it) is rendered with conversations
that end in a plain answer, and in one, two and three calls of tools whose names and arguments occur
nowhere else. What the plain answer has, too, is not of the calls; between the names and arguments
are the texts of a call, and what two calls share around them is where a call begins and ends: what
is left is before all calls, between two, and after all. Three calls must come out as that predicts,
so a template that numbers calls, say, is refused. Arguments are JSON, or one of the XML styles of
structural tags; an identifier that the conversation gives to a call may be any.

A template is a program of others: Jinja's sandbox keeps it from files and from Python, a process
with limits (``SECONDS``, ``MEMORY``) from taking all time and memory. A format is derived in one
process.

A format is kept only if it reads what the template writes: calls without arguments, with quotes and
brackets in strings, with values inside values. Text is given for arguments only to a template that
cannot be rendered with values: it would write any text as if that were JSON.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import takewhile
from typing import Any

from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.prelude import gap_of
from kbnf_core.languages.structural_tag.models import (
    CHOICES,
    NAME,
    NAMED,
    SCHEMA,
    Format,
    key_of,
    shared_out,
)
from kbnf_core.processes import Process, ProcessError, StartError
from kbnf_core.text.errors import ConfigError, KbnfError

SECONDS = 5.0
"""The time in which a format is derived from a template, all renderings together."""

MEMORY = 512 << 20
"""Bytes that this may take."""

_TEXT, _THOUGHT = "qzplainqz", "qzthoughtqz"
_NAMES = ("qz-first", "qz.second", "qz:third")
_IDS = ("qzidaaaaa", "qzidbbbbb", "qzidccccc")
_ID = "\ue000"
"""Stands for the identifier of any call."""

_ID_PATTERN = "[a-zA-Z0-9_-]{1,64}"
_ARGUMENTS = {"qzone": "qzv1", "qztwo": "qzv2"}
_PROBES: Mapping[str, Mapping[str, Any]] = {
    "no values": {},
    "quotes and brackets": {**_ARGUMENTS, "qzone": 'a "b" <c> {d} \\ \te'},
    "letters beyond ASCII": {**_ARGUMENTS, "qztwo": "ä€"},
    "values inside values": {**_ARGUMENTS, "qzthree": {"qzfour": [True, None, 1.5, "ä"]}},
}
"""Arguments that are other texts where they are not written as a style has them."""

_DSML = "｜DSML｜"
_XML = {
    "qwen_xml": "<parameter={0}>\n{1}\n</parameter>",
    "minimax_xml": '<parameter name="{0}">{1}</parameter>',
    "glm_xml": "<arg_key>{0}</arg_key>\n<arg_value>{1}</arg_value>",
    "deepseek_xml": f'<{_DSML}parameter name="{{0}}" string="true">{{1}}</{_DSML}parameter>',
    "deepseek_v4_1_xml": f'<{_DSML} parameter name="{{0}}" string="true">{{1}}</{_DSML} parameter>',
}
"""An argument in each style that templates are known to write."""

_GAP = gap_of(Options())

_MOST_TEXT = 1 << 20
"""Characters that a template may write."""

Message = dict[str, Any]
_ASKED: Message = {"role": "user", "content": "u"}
Render = Callable[[Sequence[Message]], str]


class _OtherwiseError(Exception):
    """A template writes calls in a way that is no format; the message says what is missing."""


class _RefusedError(_OtherwiseError):
    """A template does not take a conversation."""


def derived_format(text: str) -> str:
    """Return the format of tool calls of a chat template, for the option ``tool_calls``.

    ``text`` is the template, or what ``tokenizer_config.json`` holds. Raises ``ConfigError`` where
    that has no template, for a template that cannot be rendered within the limits, for one that
    writes calls in no way that a format can say, and where Jinja is not installed.
    """
    process = Process(memory=MEMORY)
    try:
        return str(process.call(_derived, text, seconds=SECONDS))
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


def _derived(text: str) -> str:
    """Return the format of a template, in the process that renders it."""
    template, tokens = _template_in(text)
    render = _renderer(template, tokens)
    problem = ""
    # Templates ask for arguments as a value or as JSON, and for an empty text beside calls or none.
    for as_text in (False, True):
        is_refused = False
        for content in ("", None):
            try:
                found = _format_of(partial(_rendered, render, as_text, content), render)
            except _OtherwiseError as error:
                problem = problem or str(error)
                is_refused = is_refused or isinstance(error, _RefusedError)
            else:
                return json.dumps(found, ensure_ascii=False, sort_keys=True)
        if not is_refused:
            break
    raise ConfigError(f"no format of tool calls follows from this chat template: {problem}")


def _template_in(text: str) -> tuple[str, dict[str, str]]:
    """Return a template and the special tokens that it may write."""
    try:
        config = json.loads(text) if text.lstrip().startswith('{"') else None
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        return text, {}
    found = config.get("chat_template")
    if isinstance(found, list):
        # Several by name: that for tools is called so.
        named = {each.get("name"): each.get("template") for each in found if isinstance(each, dict)}
        found = named.get("tool_use", named.get("default"))
    if not isinstance(found, str):
        raise ConfigError("there is no `chat_template` in this configuration of a tokenizer")
    tokens = {name: config.get(name) for name in ("bos_token", "eos_token", "pad_token")}
    plain = {k: v.get("content") if isinstance(v, dict) else v for k, v in tokens.items()}
    return found, {name: value for name, value in plain.items() if isinstance(value, str)}


def _compiled(template: str) -> Any:
    """Return a template of Jinja. Raises ``ConfigError``."""
    try:
        from jinja2 import TemplateError
        from jinja2.ext import loopcontrols
        from jinja2.sandbox import ImmutableSandboxedEnvironment
    except ImportError:
        raise ConfigError("chat templates are rendered by jinja2, which is not installed") from None

    def refuse(message: str) -> None:
        raise TemplateError(message)

    def dump(value: Any, ensure_ascii: bool = False, **settings: Any) -> str:
        return json.dumps(value, ensure_ascii=ensure_ascii, **settings)

    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols]
    )
    environment.filters["tojson"] = dump
    environment.globals.update(raise_exception=refuse, strftime_now=lambda _: "2026-01-01")
    try:
        return environment.from_string(template)
    except MemoryError:
        raise
    # Jinja makes a module of Python, which has limits of its own.
    except Exception as error:
        raise ConfigError(f"the chat template cannot be read: {error}"[:300]) from None


def _renderer(template: str, tokens: Mapping[str, str]) -> Render:
    compiled = _compiled(template)
    tools = [{"type": "function", "function": _declared(name)} for name in _NAMES]

    def render(messages: Sequence[Message], **more: Any) -> str:
        written: list[str] = []
        size = 0
        try:
            for piece in compiled.generate(messages=[*messages], tools=tools, **tokens, **more):
                written.append(piece)
                size += len(piece)
                if size > _MOST_TEXT:
                    break
        except MemoryError:
            raise
        # Code of others: it may raise whatever Python does.
        except Exception as error:
            raise _RefusedError(f"{error}"[:200] or type(error).__name__) from None
        text = "".join(written)
        if not text.isascii() and any("\ud800" <= each <= "\udfff" for each in text):
            raise _OtherwiseError("it writes half of a surrogate pair, which is no character")
        return text

    return render


def _shared(one: str, other: str) -> str:
    """Return the beginning that two texts share."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(pair[0] for pair in pairs)


def _declared(name: str) -> dict[str, Any]:
    kinds = {**dict.fromkeys(_ARGUMENTS, "string"), "qzthree": "object"}
    properties = {key: {"type": kind, "description": "d"} for key, kind in kinds.items()}
    schema = {"type": "object", "properties": properties, "required": [*_ARGUMENTS]}
    return {"name": name, "description": "d", "parameters": schema}


def _rendered(
    render: Callable[..., str], as_text: object, content: str | None, *calls: Mapping[str, Any]
) -> str:
    """Render a conversation that ends with a call for each of some arguments."""
    made = [
        {
            "type": "function",
            "id": call_id,
            "function": {
                "name": name,
                "arguments": json.dumps(each, ensure_ascii=False) if as_text else each,
            },
        }
        for each, name, call_id in zip(calls, _NAMES, _IDS, strict=False)
    ]
    return render([_ASKED, {"role": "assistant", "content": content, "tool_calls": made}])


def _answer(**more: str) -> list[Message]:
    return [_ASKED, {"role": "assistant", "content": _TEXT, **more}]


@dataclass(frozen=True, slots=True)
class _Calls:
    """The texts of calls: within one, around its name and arguments, and around all of them."""

    before: str
    begin: str
    after_name: str
    style: str
    end: str
    separator: str
    after: str
    is_single: bool
    escapes: str = "canonical"

    def texts(self, arguments: str, count: int) -> str:
        """Return so many calls as they are written."""
        calls = (
            f"{self.begin}{name}{self.after_name}{arguments}{self.end}" for name in _NAMES[:count]
        )
        return f"{self.before}{self.separator.join(calls)}{self.after}"


def _format_of(with_calls: Callable[..., str], render: Callable[..., str]) -> Format:
    plain = render(_answer())
    head, found, tail = plain.partition(_TEXT)
    if not found:
        raise _OtherwiseError("it writes no answer of the assistant")

    def body(*calls: Mapping[str, Any]) -> str:
        text = with_calls(*calls)
        for each in _IDS:
            text = text.replace(each, _ID)
        if not text.endswith(tail):
            raise _OtherwiseError(f"a message with calls ends otherwise than one without: {tail!r}")
        return text[len(_shared(head, text)) : len(text) - len(tail)]

    calls, arguments = _calls_in(body)
    if not calls.is_single and body(*3 * [_ARGUMENTS]) != calls.texts(arguments, 3):
        raise _OtherwiseError("what is around a call depends on its place among the others")
    return _format(_checked(calls, body), _thoughts(render))


def _calls_in(body: Callable[..., str]) -> tuple[_Calls, str]:
    """Return what calls are, and the arguments as they are written."""
    one = body(_ARGUMENTS)
    before, name, rest = one.partition(_NAMES[0])
    if not name:
        raise _OtherwiseError("it does not write the name of the tool that is called")
    style, arguments = _arguments_in(rest)
    after_name, _, after = rest.partition(arguments)
    if _NAMES[0] in after:
        raise _OtherwiseError("it writes the name of the tool twice")
    try:
        two = body(_ARGUMENTS, _ARGUMENTS)
    except _OtherwiseError:
        # It says so where one call at a time is all that a model can write.
        return _Calls("", before, after_name, style, after, "", "", is_single=True), arguments
    call = f"{after_name}{arguments}"
    begun, ended = f"{before}{_NAMES[0]}{call}", f"{_NAMES[1]}{call}{after}"
    between = two[len(begun) : len(two) - len(ended)]
    if f"{begun}{between}{ended}" != two:
        raise _OtherwiseError("a second call is written otherwise than the first")
    begin = _shared(before[::-1], between[::-1])[::-1]
    between = between[: len(between) - len(begin)]
    end = _shared(after, between)
    outside = before[: len(before) - len(begin)], after[len(end) :]
    if not begin or (outside[1] and not outside[0].strip()):
        raise _OtherwiseError("calls do not begin with a text of their own")
    separator = between[len(end) :]
    if _ID in f"{outside}{separator}":
        raise _OtherwiseError("an identifier of a call is not within it")
    return _Calls(
        outside[0], begin, after_name, style, end, separator, outside[1], is_single=False
    ), arguments


def _checked(calls: _Calls, body: Callable[..., str]) -> _Calls:
    """Return calls as the probes have them; refuse those that some probe is no text of."""
    if calls.style != "json":
        with suppress(_RefusedError):
            calls = _with_empty(calls, body({}))
    begun = f"{calls.before}{calls.begin}{_NAMES[0]}{calls.after_name}"
    ended = f"{calls.end}{calls.after}"
    for title, arguments in _PROBES.items():
        try:
            text = body(arguments)
        except _RefusedError:
            continue
        written = text[len(begun) : len(text) - len(ended)]
        if begun + written + ended != text:
            raise _OtherwiseError(f"a call with {title} is written otherwise: {text!r}"[:300])
        if calls.style == "json" and written in _as_json(arguments, is_ascii=True):
            is_escaped = written not in _as_json(arguments, is_ascii=False)
            calls = replace(calls, escapes="unicode") if is_escaped else calls
        elif not _reads(calls.style, written, arguments):
            raise _OtherwiseError(
                f"arguments with {title} are written otherwise: {written!r}"[:300]
            )
    return calls


def _with_empty(calls: _Calls, text: str) -> _Calls:
    """Return calls without what is around arguments only where there are some: it is theirs."""
    begun = f"{calls.before}{calls.begin}{_NAMES[0]}"
    kept = _shared(calls.after_name, text[len(begun) :])
    end = text[len(begun) + len(kept) : len(text) - len(calls.after)]
    parts = calls.after_name[len(kept) :], calls.end.removesuffix(end)
    if not all(re.fullmatch(_GAP, each) for each in parts):
        return calls
    return replace(calls, after_name=kept, end=end)


def _reads(style: str, written: str, arguments: Mapping[str, Any]) -> bool:
    """Tell whether arguments are written as a style has them, the gaps between them too."""
    if style == "json":
        return written in _as_json(arguments, is_ascii=False)
    forms = []
    for name, value in arguments.items():
        is_text = isinstance(value, str)
        form = _XML[style] if is_text else _XML[style].replace('string="true"', 'string="false"')
        values = [value] if is_text else _as_json(value, is_ascii=False)
        forms.append("|".join(re.escape(form.format(name, each)) for each in values))
    pattern = "".join(f"{_GAP}(?:{form})" for form in forms)
    return re.fullmatch(pattern + _GAP, written) is not None


def _as_json(value: Any, *, is_ascii: bool) -> Iterator[str]:
    for settings in ({}, {"separators": (",", ":")}, {"indent": 2}, {"indent": 4}):
        yield json.dumps(value, ensure_ascii=is_ascii, **settings)


def _arguments_in(rest: str) -> tuple[str, str]:
    """Return the style of the arguments after a name, and their text."""
    for text in _as_json(_ARGUMENTS, is_ascii=False):
        if text in rest:
            return "json", text
    for style, form in _XML.items():
        first, last = (form.format(*each) for each in _ARGUMENTS.items())
        if first in rest and last in rest:
            return style, rest[rest.index(first) : rest.index(last) + len(last)]
    raise _OtherwiseError("arguments are neither JSON nor in a style of XML that is known")


def _thoughts(render: Callable[..., str]) -> tuple[bool, str, str] | None:
    """Return whether prompts end with the beginning of thoughts, that, and what ends them."""
    try:
        text = render(_answer(reasoning_content=_THOUGHT))
        prompt = render(_answer()[:1], add_generation_prompt=True)
    except _OtherwiseError:
        return None
    head, found, rest = text.partition(_THOUGHT)
    end, answered, _ = rest.partition(_TEXT)
    if not (found and answered and end.strip()):
        return None
    begin = head[len(_shared(head, prompt)) :]
    if begin.strip():
        return False, begin.strip(), end.lstrip()
    # The prompt has it: it is what the plain answer has not, or the last line of the prompt.
    return True, prompt.rstrip().rpartition("\n")[2], end.lstrip()


def _format(calls: _Calls, thoughts: tuple[bool, str, str] | None) -> Format:
    """Return the templates of a format, as XGrammar's of the same form are."""
    templates = {}
    for single in (False, True):
        for choice in (*CHOICES, NAMED):
            for reasoning, leads in _leads(thoughts):
                written = _written(calls, choice, once=single or calls.is_single)
                templates[key_of(choice, reasoning, single=single)] = _sequence([*leads, *written])
    return shared_out("", templates)


def _tag(calls: _Calls) -> Format:
    begin, *numbered = f"{calls.begin}{NAME}{calls.after_name}".lstrip().split(_ID)
    *ends, end = calls.end.split(_ID)
    schema = {"type": "json_schema", "json_schema": SCHEMA}
    styled = schema if calls.style == "json" else {**schema, "style": calls.style}
    if calls.escapes != "canonical":
        styled = {**styled, "escapes": calls.escapes}
    behind = [_const(ends[0]), *_after_ids(ends[1:]), _ANY_ID] if ends else []
    content = _sequence([*_after_ids(numbered), styled, *behind])
    return {"type": "tag", "begin": begin, "content": content, "end": end}


_ANY_ID: Format = {"type": "regex", "pattern": _ID_PATTERN}


def _after_ids(texts: Sequence[str]) -> list[Format]:
    """Return texts with any identifier before each."""
    return [piece for text in texts for piece in (_ANY_ID, _const(text))]


def _written(calls: _Calls, choice: str, *, once: bool) -> list[Format]:
    """Return what is written where tools are called so."""
    tag, before = _tag(calls), calls.before
    opening = before if before.strip() else before + calls.begin
    lead, opening = opening[: -len(opening.lstrip())], opening.lstrip()
    # A beginning that is text of its own, up to its first line or its first marker.
    trigger = opening[: opening.find(">") + 1] or opening.split("\n")[0].rstrip()
    if choice == "none":
        return [{"type": "any_text", "excludes": [trigger]}]
    leads = [] if choice == "auto" or not lead else [_const(lead)]
    if before.strip():
        inner = {
            "type": "tags_with_separator",
            "tags": [tag],
            "separator": calls.separator,
            "at_least_one": True,
            "stop_after_first": once or choice == NAMED,
        }
        tag = {"type": "tag", "begin": opening, "content": inner, "end": calls.after}
    if choice == NAMED:
        return [*leads, tag]
    found: Format = {"type": "triggered_tags", "triggers": [trigger], "tags": [tag]}
    settings = {"at_least_one": choice == "required", "stop_after_first": once}
    return [*leads, {**found, **settings}]


def _leads(thoughts: tuple[bool, str, str] | None) -> Iterator[tuple[str, list[Format]]]:
    """Yield the ways of reasoning, and what leads the calls in each."""
    yield "disabled", []
    if thoughts is None:
        return
    is_prompted, begin, end = thoughts
    mark = end.rstrip()
    for reasoning in ("enabled", "auto"):
        opened = "" if is_prompted and reasoning == "enabled" else begin
        text = {"type": "any_text", "excludes": [mark]}
        tag: Format = {"type": "tag", "begin": opened, "content": text, "end": mark}
        rest = end[len(mark) :]
        led = _sequence([tag, _const(rest)]) if rest else tag
        yield reasoning, [led if reasoning == "enabled" else {"type": "optional", "content": led}]


def _const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _sequence(elements: Sequence[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": [*elements]}
