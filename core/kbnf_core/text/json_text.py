"""JSON texts as values: numbers are decimals, as they were written, and every string is a text.

By its syntax alone JSON may spell half of a surrogate pair (RFC 8259, 8.2). That is not a
character, so no UTF-8 has it and nothing can generate it: such a text is refused where it is read.

Tests: tests/unit/text/test_json_text.py
"""

import json
import re
from collections.abc import Hashable, Iterator
from decimal import Decimal, InvalidOperation
from json.encoder import encode_basestring
from typing import Any, TypeAlias

from kbnf_core.text.source import Span, half_of_pair

Json: TypeAlias = Any
"""A JSON value: numbers are decimals."""

_ESCAPE = (
    r"(?s)\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
    r"|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)"
)


class NoJsonError(ValueError):
    """A text that is not JSON: ``reason``, and the ``span`` where it goes wrong."""

    def __init__(self, reason: str, span: Span) -> None:
        self.reason = reason
        self.span = span
        super().__init__(reason)


def parse_json(text: str, *, unique: bool = False) -> Json:
    """Return the value of a JSON text. Raises ``NoJsonError``.

    With ``unique`` also for a name that occurs twice in an object: readers differ in which of the
    members counts (RFC 8259, 4).
    """
    try:
        value = json.loads(
            text,
            parse_float=read_number,
            parse_int=Decimal,
            parse_constant=refuse_constant,
            object_pairs_hook=_unique_members if unique else None,
        )
    except _RepeatedError:
        span = next(repeated_names(text))
        raise NoJsonError(f"the name {text[span.start : span.end]} occurs twice", span) from None
    except json.JSONDecodeError as error:
        end = len(text)
        span = Span(min(error.pos, end), min(error.pos + 1, end))
        raise NoJsonError(error.msg, span) from None
    except RecursionError:
        raise NoJsonError("it is nested too deeply", _deepest(text)) from None
    refuse_halves(text)
    return value


class _RepeatedError(Exception):
    """A name occurs twice in an object."""


def _unique_members(members: list[tuple[str, Json]]) -> dict[str, Json]:
    value = dict(members)
    if len(value) < len(members):
        raise _RepeatedError
    return value


_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"(?=(\s*:)?)|[{}\[\]]', re.DOTALL)
"""Strings, which are names before a colon, and brackets."""


def repeated_names(text: str) -> Iterator[Span]:
    """Yield the names in a JSON text that occurred before in the same object."""
    objects: list[set[str]] = []
    for match in _WORDS.finditer(text):
        word = match[0]
        if word in "{[":
            objects.append(set())
        elif word in "}]":
            objects.pop()
        elif match[1] is not None and objects:
            name = json.loads(word, strict=False) if "\\" in word else word[1:-1]
            if name in objects[-1]:
                yield Span(*match.span())
            objects[-1].add(name)


def _deepest(text: str) -> Span:
    """Return the first of the brackets in a JSON text that most others are around."""
    depth = most = 0
    at = 0
    for word in _WORDS.finditer(text):
        if word[0] in "{[":
            depth += 1
            if depth > most:
                most, at = depth, word.start()
        elif word[0] in "}]":
            depth -= 1
    return Span(at, min(at + 1, len(text)))


def objects_in(value: Json) -> Iterator[dict[str, Json]]:
    """Yield the objects in a value, those around others first."""
    pending = [value]
    for member in pending:
        if isinstance(member, dict):
            yield member
            pending += member.values()
        elif isinstance(member, list):
            pending += member


def too_deep(root: Json, most: int) -> str | None:
    """Return the pointer of a value in more than ``most`` others, None where there is none."""
    level = [("", root)]
    for _ in range(most + 1):
        level = [
            (f"{pointer}/{escape(str(name))}", item)
            for pointer, value in level
            if isinstance(value, dict | list)
            for name, item in (value.items() if isinstance(value, dict) else enumerate(value))
        ]
    return level[0][0] if level else None


def escape(name: str) -> str:
    """Return a name as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


def pointer_below(pointer: str, *steps: str) -> str:
    """Return the JSON Pointer of a member or item inside of the value at a pointer."""
    return "/".join((pointer, *map(escape, steps)))


def steps_of(pointer: str) -> list[str]:
    """Return the names and indices that a JSON Pointer consists of."""
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def refuse_halves(text: str) -> None:
    """Raise ``NoJsonError`` where a JSON text has half of a surrogate pair, escaped or not."""
    span = half_of_pair(text)
    if span is None and ("\\ud" in text or "\\uD" in text):
        halves = (Span(*match.span()) for match in re.finditer(_ESCAPE, text) if match["half"])
        span = next(halves, None)
    if span is not None:
        match = text[span.start : span.end]
        spelt = match if match.isascii() else f"U+{ord(match):04X}"
        raise NoJsonError(f"`{spelt}` is half of a surrogate pair", span)


def as_number(text: str) -> int | float:
    """Return a whole number; Python refuses to read very long ones, which floats then stand for."""
    return int(text) if len(text) < 400 else float(text)


def end_of_json(text: str, start: int) -> int:
    """Return where the JSON value that begins at a place ends. Raises as ``json`` does."""
    return _SCANNER.raw_decode(text, start)[1]


_SCANNER = json.JSONDecoder(parse_int=str, parse_float=str)


MOST_DIGITS = 4_096
"""Of a number with an exponent, where it is written without: more than any library has."""


def read_number(text: str) -> Decimal:
    """Return a number; raises ``NoJsonError`` where an exponent stands for too many digits."""
    try:
        value = Decimal(text)
        is_within = abs(value.adjusted()) <= max(MOST_DIGITS, len(text))
    except InvalidOperation:
        is_within = False
    if not is_within:
        shown = text if len(text) < 40 else f"{text[:20]}..."
        reason = f"`{shown}` has more than {MOST_DIGITS:,} digits without its exponent"
        raise NoJsonError(reason, Span(0, 0))
    return value


def refuse_constant(name: str) -> Json:
    """Raise ``NoJsonError`` for ``NaN`` and the like."""
    raise NoJsonError(f"it contains `{name}`", Span(0, 0))


def print_json(value: Json) -> str:
    """Return the text of a value without gaps; numbers are as they were written."""
    return "".join(_tokens(value))


_CONSTANTS = {None: "null", True: "true", False: "false"}


class _Token(str):
    """Text that is printed as it is."""

    __slots__ = ()


def _tokens(root: Json) -> Iterator[str]:
    """Yield the tokens of a text, without recursion."""
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, _Token):
            yield value
        elif isinstance(value, dict):
            pending.extend(reversed(_members(value)))
        elif isinstance(value, list):
            items = [token for item in value for token in (_Token(","), item)]
            pending.extend([_Token("]"), *reversed(items[1:]), _Token("[")])
        elif isinstance(value, str):
            yield encode_basestring(value)
        elif isinstance(value, bool) or value is None:
            yield _CONSTANTS[value]
        else:
            yield str(value)


def _members(value: dict[str, Json]) -> list[Json]:
    tokens: list[Json] = [_Token("{")]
    for count, (name, item) in enumerate(value.items()):
        comma = "," if count else ""
        tokens += [_Token(f"{comma}{encode_basestring(name)}:"), item]
    return [*tokens, _Token("}")]


def value_key(value: Json) -> Hashable:
    """Return a key under which values equal in JSON Schema collide; true is not 1."""
    if isinstance(value, list):
        return list, tuple(map(value_key, value))
    if isinstance(value, dict):
        return dict, frozenset((name, value_key(item)) for name, item in value.items())
    return isinstance(value, bool), value
