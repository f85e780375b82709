"""Messages: the reading of texts by response templates, without transformers.

The text is the model's output, the ``prefix`` the chat before it, whose end may have the beginning
of the message: the text after its last anchor. Outside of a region the first opening counts, or the
closing of the implicit one: that which begins first, of those the longest, an opening before a
closing. Inside of one its closing alone counts. Text outside belongs to the implicit field.

A field that occurs again is replaced, unless it repeats. Arguments that are texts are cast as the
schemas of the tools say: a text that none of its types fits stays what it is.

The ways to read a *content* are those of transformers, which documents them in
``chat_response_parsing``. Values that Python's own ``int``, ``float`` and ``json`` read there are
read so here. Elements are found by patterns without backtracking; calls of Python are read by a
parser whose depth has a bound.

Tests: tests/unit/languages/test_response_templates.py
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any, NamedTuple, TypeVar

from kbnf_core.automata.regex.search import Match, SearchPattern
from kbnf_core.languages.response_template.template import (
    PLACEHOLDER,
    Anchor,
    Content,
    Template,
    TemplateField,
    template_of,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import ConfigError, MessageError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

T = TypeVar("T")


class UnreadError(ValueError):
    """A content that cannot be read as its field says."""


def read_message(messages: str, text: str | bytes, prefix: str, limits: Limits) -> dict[str, Any]:
    """Return the message of a text, as ``message_of`` does.

    ``messages``: a JSON object with the ``template`` and the ``tools`` of a grammar, as
    ``Marked.messages`` has it. Raises ``ConfigError`` if it is empty.
    """
    if not messages:
        raise ConfigError("messages are read by a response template, and there is none")
    stored = json.loads(messages)
    template = template_of(stored["template"], limits)
    data = text if isinstance(text, str) else text.decode()
    return message_of(template, data, prefix=prefix, tools=stored["tools"], limits=limits)


def message_of(
    template: Template,
    text: str,
    *,
    prefix: str = "",
    tools: Iterable[Mapping[str, Any]] = (),
    limits: Limits = DEFAULT_LIMITS,
) -> dict[str, Any]:
    """Return the message of a text.

    Raises ``MessageError`` for a content that cannot be read, or a field that is missing, and
    ``WorkLimitError`` where ``limits.work`` is not enough.
    """
    budget = Budget(limits.work, "the text of a message")
    if prefix:
        text = prefix[_after_last(template.anchor, prefix, budget) :] + text
    properties = _properties(tools)
    message: dict[str, Any] = deepcopy({**template.defaults})
    try:
        for field, region in _regions(template, text, budget):
            value = value_of(field, region.body, region.groups, budget)
            _add(message, field, _cast(value, properties) if properties else value)
    except UnreadError as error:
        raise MessageError(str(error)) from None
    missing = [
        missing_field.name
        for missing_field in template.fields.values()
        if not missing_field.is_optional
    ]
    missing = [missing_field for missing_field in missing if missing_field not in message]
    if missing:
        raise MessageError(f"the text has no `{missing[0]}`, which the template demands")
    return {
        name: value
        for name, value in message.items()
        if name in template.defaults or not (value is None or value in ("", [], {}))
    }


def _after_last(anchor: Anchor, text: str, budget: Budget) -> int:
    at = 0
    search = _AnchorSearch(anchor, text, budget)
    while (match := search.after(at)) is not None:
        at = match.end
    return at


class _Region(NamedTuple):
    body: str
    groups: Mapping[str, str]


class _AnchorSearch:
    """Looks for an anchor in one text, each part of which is looked at once."""

    def __init__(self, anchor: Anchor, text: str, budget: Budget) -> None:
        self._anchor, self._text, self._budget = anchor, text, budget
        self._match: Match | None = None
        self._is_over = False

    def after(self, at: int) -> Match | None:
        """Return the first occurrence from a place on, which is never before earlier ones."""
        if not self._is_over and (self._match is None or self._match.start < at):
            self._match = self._anchor.find(self._text, at, self._budget)
            self._is_over = self._match is None
        return self._match


def _regions(
    template: Template, text: str, budget: Budget
) -> Iterator[tuple[TemplateField, _Region]]:
    """Yield the regions of a text in order."""
    fields = sorted(template.fields.values(), key=lambda field: field.name)
    openings = [
        (field_, _AnchorSearch(field_.open, text, budget)) for field_ in fields if field_.open
    ]
    closings = {
        field_.name: _AnchorSearch(field_.close, text, budget) for field_ in fields if field_.close
    }
    implicit = template.implicit
    start = 0
    closing = None if implicit is None else closings.get(implicit.name)
    while start < len(text):
        budget.spend(len(openings))
        # Of those that begin at one place the longest, openings ahead of what closes.
        candidates: list[tuple[tuple[int, ...], Match, TemplateField | None]] = [
            ((match.start, -match.end, 0, number), match, field)
            for number, (field, search) in enumerate(openings)
            if (match := search.after(start)) is not None
        ]
        closed = None if closing is None else closing.after(start)
        if closed is not None:
            candidates.append(((closed.start, -closed.end, 1, 0), closed, None))
        nothing = Match(len(text), len(text), {})
        _, first, field = min(candidates, default=((), nothing, None), key=lambda field_: field_[0])
        if implicit is not None and first.start > start:
            groups = first.groups if field is None else {}
            yield implicit, _Region(text[start : first.start], groups)
        start = first.end
        if field is not None:
            end = closings[field.name].after(start) if field.close else None
            body = text[start:] if end is None else text[start : end.start]
            yield field, _Region(body, {**first.groups, **({} if end is None else end.groups)})
            start = len(text) if end is None else end.end


def _add(message: dict[str, Any], field: TemplateField, value: Any) -> None:
    name = field.name
    if field.join is not None:
        if not isinstance(value, str):
            raise UnreadError(f"`{name}` is joined, and one of it is not text")
        before = message.get(name)
        message[name] = value if before is None else f"{before}{field.join}{value}"
    elif field.repeats:
        values = message.setdefault(name, [])
        if not isinstance(values, list):
            raise UnreadError(f"`{name}` repeats, and its default is not a list")
        values.append(value)
    else:
        message[name] = value


# Arguments as the schemas of tools have them


def _properties(tools: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    result: dict[str, Mapping[str, Any]] = {}
    for tool in tools:
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(name, str):
            parameters = function.get("parameters")
            schema = parameters.get("properties") if isinstance(parameters, Mapping) else None
            result[name] = schema if isinstance(schema, Mapping) else {}
    return result


def _cast(value: Any, declared: Mapping[str, Mapping[str, Any]]) -> Any:
    if isinstance(value, list):
        return [_cast(item, declared) for item in value]
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict):
        return value
    name, arguments = function.get("name"), function.get("arguments")
    properties = declared.get(name) if isinstance(name, str) else None
    if not properties or not isinstance(arguments, dict):
        return value
    for key, argument in arguments.items():
        types = _types(properties[key]) if key in properties else ()
        if isinstance(argument, str):
            arguments[key] = _as(argument, types)
        elif types and isinstance(argument, list) and "array" not in types:
            arguments[key] = [
                _as(item, types) if isinstance(item, str) else item for item in argument
            ]
    return value


def _types(schema: Any) -> tuple[str, ...]:
    """Return the types that a schema speaks of, in their order."""
    result: list[str] = []
    pending = [schema]
    while pending:
        alternative = pending.pop()
        if not isinstance(alternative, Mapping):
            continue
        type_name = alternative.get("type")
        result += (
            [type_name]
            if isinstance(type_name, str)
            else type_name
            if isinstance(type_name, list)
            else ()
        )
        pending += [*(alternative.get("anyOf") or ()), *(alternative.get("oneOf") or ())][::-1]
        if alternative.get("nullable"):
            result.append("null")
    return tuple(alternative for alternative in result if isinstance(alternative, str))


def _as(text: str, types: Iterable[str]) -> Any:
    """Return a text as a value of the first of some types that it fits."""
    for kind in types:
        try:
            match kind:
                case "integer":
                    return _integer(text)
                case "number":
                    return _number(text)
                case "boolean" if text.strip().lower() in ("true", "1", "false", "0"):
                    return text.strip().lower() in ("true", "1")
                case "null" if text.strip() in ("null", "None"):
                    return None
                case "object" | "array":
                    value = json.loads(text)
                    if isinstance(value, dict if kind == "object" else list):
                        return value
        except (ValueError, RecursionError):
            continue
    return text


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def _number(text: str) -> int | float:
    number = float(text)
    if number != number or number in (float("inf"), float("-inf")):
        raise ValueError(text)
    return int(number) if number.is_integer() and "." not in text else number


# Contents


def value_of(field: TemplateField, body: str, groups: Mapping[str, str], budget: Budget) -> Any:
    """Return the value that a region is read to. Raises ``UnreadError``."""
    try:
        value = content_of(body, field.content, budget)
    except UnreadError as error:
        raise UnreadError(f"`{field.name}` cannot be read: {error}") from None
    except (ValueError, RecursionError) as error:
        raise UnreadError(f"`{field.name}` cannot be read: {error}"[:300]) from None
    if field.transform is None:
        return value
    if not field.transforms_items:
        return _placed(field, field.transform, {**groups, "content": value})
    if not isinstance(value, list) or not all(isinstance(match_, dict) for match_ in value):
        raise UnreadError(f"`{field.name}` is not a list of objects, as `transform_each` wants it")
    return [_placed(field, field.transform, {**groups, **match_}) for match_ in value]


def _placed(field: TemplateField, transform: Any, scope: Mapping[str, Any]) -> Any:
    """Return a transform with its placeholders replaced; its depth has a bound."""
    if isinstance(transform, dict):
        return {name: _placed(field, placeholder, scope) for name, placeholder in transform.items()}
    if isinstance(transform, list):
        return [_placed(field, placeholder, scope) for placeholder in transform]
    match = PLACEHOLDER.fullmatch(transform) if isinstance(transform, str) else None
    if match is None:
        return transform
    value: Any = scope
    for name in match[1].split("."):
        if not isinstance(value, Mapping) or name not in value:
            raise UnreadError(f"`{field.name}` has no `{name}`, which {transform!r} wants")
        value = value[name]
    return value


def content_of(text: str, content: Content, budget: Budget) -> Any:
    """Return the value of a text. Raises ``ValueError``."""
    arguments = content.arguments
    match content.kind:
        case "text":
            return _stripped(text, arguments)
        case "int":
            return int(_stripped(text, arguments))
        case "float":
            return float(_stripped(text, arguments))
        case "bool":
            return _stripped(text, arguments).lower() in ("true", "1")
        case "json":
            return _json(text, arguments, budget)
        case "xml-inline":
            return _elements(text, content, budget)
        case "kv-lines":
            return _lines(text, content, budget)
        case _:
            return _Calls(text).read()


def _stripped(text: str, arguments: Mapping[str, Any]) -> str:
    return text.strip() if arguments.get("strip", True) else text


# JSON, and what models write in its place

_MARKS = "\x01", "\x02"


def _json(text: str, arguments: Mapping[str, Any], budget: Budget) -> Any:
    pairs = arguments.get("string_delims", [])
    if pairs and any(mark in text for mark in _MARKS):
        raise UnreadError("the characters U+0001 and U+0002 cannot be read in it")
    written, strings = text, list[str]()
    for opening, closing in pairs:
        written = _marked(written, opening, closing, strings)
    if arguments.get("unquoted_keys"):
        written = "".join(_quoted(written, budget))
    if strings:
        numbers = re.compile(f"{_MARKS[0]}([0-9]+){_MARKS[1]}")
        written = numbers.sub(lambda match: json.dumps(strings[int(match[1])]), written)
    try:
        return json.loads(written)
    except json.JSONDecodeError:
        if arguments.get("allow_non_json"):
            return _stripped(text, arguments)
        raise


def _marked(text: str, opening: str, closing: str, strings: list[str]) -> str:
    """Return a text with the numbers of strings in the place of those between two marks."""
    chunks, at = list[str](), 0
    while True:
        start = text.find(opening, at)
        end = text.find(closing, start + len(opening)) if start >= 0 else -1
        if end < 0:
            return "".join([*chunks, text[at:]])
        chunks.append(f"{text[at:start]}{_MARKS[0]}{len(strings)}{_MARKS[1]}")
        strings.append(text[start + len(opening) : end])
        at = end + len(closing)


_STRING = re.compile(r'"(?:\\.|[^"\\])*"')


def _quoted(text: str, budget: Budget) -> Iterator[str]:
    """Yield the parts of a text, names after a brace or comma in quotes; strings stay."""
    import regex

    # The words and blanks of transformers', which uses this package. With a colon in the pattern it
    # would look for one in all of the text each time.
    name = regex.compile(r"(\s*)(\w+)(\s*)(.)", regex.DOTALL)
    budget.spend(len(text))
    at, start = 0, 0
    while at < len(text):
        string = _STRING.match(text, at) if text[at] == '"' else None
        if string is not None:
            at = string.end()
            continue
        if text[at] == '"':
            budget.spend(len(text) - at)
        match = name.match(text, at) if at and text[at - 1] in "{," else None
        if match is None or match[4] != ":":
            at += 1
            continue
        yield f'{text[start:at]}{match[1]}"{match[2]}"{match[3]}:'
        at = start = match.end()
    yield text[start:]


# Elements, and lines


def _inner(text: str, content: Content, budget: Budget) -> Any:
    return text if content.inner is None else content_of(text, content.inner, budget)


def matches(pattern: SearchPattern, text: str, budget: Budget) -> Iterator[Match]:
    """Yield the matches of a pattern that do not overlap."""
    at = 0
    while (match := pattern.find(text, at, budget)) is not None:
        yield match
        at = match.end


def _elements(text: str, content: Content, budget: Budget) -> dict[str, Any]:
    if content.tag is None:
        raise UnreadError("elements have no pattern")
    result: dict[str, Any] = {}
    several: set[str] = set()
    for match in matches(content.tag, text, budget):
        if "key" not in match.groups:
            raise UnreadError("an element has no `key`")
        key, value = match.groups["key"], _inner(match.groups.get("value", ""), content, budget)
        if key not in result or not content.arguments.get("merge_duplicates"):
            result[key] = value
            continue
        if key not in several:
            several.add(key)
            result[key] = [result[key]]
        result[key].append(value)
    return result


def _lines(text: str, content: Content, budget: Budget) -> dict[str, Any]:
    arguments = content.arguments
    result = {}
    for line in text.split(arguments.get("line_sep", "\n")):
        key, separator, value = _stripped(line, arguments).partition(arguments.get("kv_sep", ":"))
        if separator:
            result[_stripped(key, arguments)] = _inner(_stripped(value, arguments), content, budget)
    return result


# Calls of Python

_BLANK = re.compile(r"[ \t\n\r]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<part>\.[0-9]+)?(?P<power>[eE][+-]?[0-9]+)?")
_QUOTED = re.compile(r"""(?s)'(?P<a>(?:[^'\\\n\r]|\\.)*)'|"(?P<b>(?:[^"\\\n\r]|\\.)*)\"""")
_ESCAPE = re.compile(
    r"(?s)\\(?:u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<code>[0-9a-fA-F]{4})|(?P<sign>.))"
)
_SIGNS = {name: name for name in "\\'\"/"} | dict(zip("bfnrt", "\b\f\n\r\t", strict=True))
_WORDS = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}
_LARGEST = 2**53 - 1
_MOST_DEPTH = 100


class _Calls:
    """A list of calls with keyword arguments, `[f(a=1), g()]`, and nothing else."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def read(self) -> list[dict[str, Any]]:
        self._expect("[")
        result = self._items("]", self._call)
        self._is_next("")
        if self._at != len(self._text):
            raise self._wrong("something follows the list")
        return result

    def _wrong(self, fault: str) -> UnreadError:
        return UnreadError(f"{fault}, at character {self._at}")

    def _is_next(self, sign: str) -> bool:
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank is not None else self._at
        return self._text.startswith(sign, self._at)

    def _expect(self, sign: str) -> None:
        if not self._is_next(sign):
            raise self._wrong(f"`{sign}` is expected")
        self._at += 1

    def _items(self, closing: str, item: Callable[[], T]) -> list[T]:
        result: list[T] = []
        while not (not result and self._is_next(closing)):
            result.append(item())
            if self._is_next(closing):
                break
            self._expect(",")
        self._at += 1
        return result

    def _call(self) -> dict[str, Any]:
        name = self._name()
        self._expect("(")
        return {"name": name, "arguments": self._unique(self._items(")", self._argument))}

    def _argument(self) -> tuple[str, Any]:
        name = self._name()
        self._expect("=")
        return name, self._value(0)

    def _name(self) -> str:
        self._is_next("")
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise self._wrong("a name is expected")
        self._at = match.end()
        return match[0]

    def _unique(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            raise self._wrong("a name is there twice")
        return result

    def _value(self, depth: int) -> Any:
        if self._is_next("'") or self._is_next('"'):
            return self._string()
        opening = self._text[self._at : self._at + 1]
        if opening and opening in "[{":
            if depth >= _MOST_DEPTH:
                raise self._wrong(f"more than {_MOST_DEPTH} values inside each other")
            self._at += 1
            if opening == "[":
                return self._items("]", lambda: self._value(depth + 1))
            return self._unique(self._items("}", lambda: self._pair(depth + 1)))
        number = _NUMBER.match(self._text, self._at)
        if number is not None:
            return self._number(number)
        word = _NAME.match(self._text, self._at)
        if word is None or word[0] not in _WORDS:
            raise self._wrong("a value is expected")
        self._at = word.end()
        return _WORDS[word[0]]

    def _pair(self, depth: int) -> tuple[str, Any]:
        if not (self._is_next("'") or self._is_next('"')):
            raise self._wrong("a key is a string")
        key = self._string()
        self._expect(":")
        return key, self._value(depth)

    def _number(self, match: re.Match[str]) -> int | float:
        if match["part"] is None and match["power"] is None:
            if len(match[0]) > 17 or abs(int(match[0])) > _LARGEST:
                raise self._wrong("an integer is beyond 2^53 - 1")
        elif math.isinf(float(match[0])):
            raise self._wrong("a number is too large")
        self._at = match.end()
        whole = match["part"] is None and match["power"] is None
        return int(match[0]) if whole else float(match[0])

    def _string(self) -> str:
        match = _QUOTED.match(self._text, self._at)
        if match is None:
            raise self._wrong("a string is not closed")
        body = match["a"] if match["a"] is not None else match["b"]
        if any("\ud800" <= character <= "\udfff" for character in body):
            raise self._wrong("half of a surrogate pair is in a string")
        text = _ESCAPE.sub(self._escaped, body)
        self._at = match.end()
        return text

    def _escaped(self, match: re.Match[str]) -> str:
        if match["low"] is not None:
            high, low = int(match["high"], 16) - 0xD800, int(match["low"], 16) - 0xDC00
            return chr(0x10000 + (high << 10) + low)
        if match["code"] is not None:
            char = chr(int(match["code"], 16))
            if "\ud800" <= char <= "\udfff":
                raise self._wrong("half of a surrogate pair is in a string")
            return char
        if match["sign"] not in _SIGNS:
            raise self._wrong(f"a string has no escape `\\{match['sign']}`")
        return _SIGNS[match["sign"]]
