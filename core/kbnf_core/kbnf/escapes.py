r"""Decodes quoted texts: ``'...'`` and ``"..."`` with their escapes.

The escapes are those of the Rust crate ``unescaper``, which the reference uses, in all strings:
``\t \n \r \b \f \/ \\ \' \"``, ``\xHH``, ``\uHHHH``, ``\u{H...}`` and up to three octal digits.

Tests: tests/unit/kbnf/test_escapes.py
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from kbnf_core.text.source import Span

_SIMPLE = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}

# Octal: three digits only where the first is 0 to 3, so that one byte is never exceeded.
# Two halves of a surrogate pair are one piece, because they are one mistake.
_CHARACTER = re.compile(
    r"""(?P<plain>[^\\]+)
      | (?P<pair>\\u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2})
      | \\(?:(?P<simple>[tnrbf/\\'"])
      | x(?P<byte>[0-9A-Fa-f]{2})
      | u(?P<four>[0-9A-Fa-f]{4})
      | u\{(?P<braced>[0-9A-Fa-f]+)\}
      | (?P<octal>[0-3][0-7]{0,2}|[4-7][0-7]?))
      | (?P<bad>\\.|.)""",
    re.VERBOSE | re.DOTALL,
)
_MAX_BRACED_DIGITS = 6


class QuotedPiece(NamedTuple):
    r"""Part of a quoted text.

    ``value`` is the text that ``span`` of the source stands for: as many characters as were
    written, or the one that an escape spells. It is None for an invalid escape or character.
    ``byte`` is the number of ``\xHH``, otherwise None.
    """

    value: str | None
    span: Span
    byte: int | None = None


def pieces(raw: str, start: int) -> Iterator[QuotedPiece]:
    """Split ``raw``, a quoted text with its quotes that is at ``start`` of its source."""
    for match in _CHARACTER.finditer(raw, 1, len(raw) - 1):
        span = Span(start + match.start(), start + match.end())
        kind = match.lastgroup or "bad"
        written = match[kind]
        yield QuotedPiece(_value(kind, written), span, int(written, 16) if kind == "byte" else None)


def decode(raw: str, start: int) -> tuple[str, Sequence[int]]:
    """Return the text that ``raw`` spells, and where each of its characters is.

    ``origins`` is as in ``tree.Text``. An invalid escape counts as U+FFFD.
    """
    if raw.isascii() and "\\" not in raw:
        return raw[1:-1], range(start + 1, start + len(raw))
    values: list[str] = []
    origins: list[int] = []
    for character in pieces(raw, start):
        value = "\ufffd" if character.value is None else character.value
        values.append(value)
        origins.extend(range(character.span.start, character.span.start + len(value)))
    return "".join(values), (*origins, start + len(raw) - 1)


def decode_raw(raw: str, start: int) -> tuple[str, Sequence[int]]:
    """Do as ``decode`` for ``#r"..."``, where only the quote is written twice."""
    quote, end = raw[2], len(raw) - 1
    origins = []
    index = 3
    while index < end:
        origins.append(index)
        index += 1 + (raw[index] == quote)
    value = "".join(raw[i] for i in origins)
    return value, (*(start + i for i in origins), start + end)


def decode_bytes(raw: str, start: int) -> bytes:
    r"""Return the bytes that ``raw`` spells in ``#b"..."``: ``\xHH`` is a byte there."""
    return b"".join(
        bytes([character.byte])
        if character.byte is not None
        else (character.value or "\ufffd").encode()
        for character in pieces(raw, start)
    )


def _value(kind: str, written: str) -> str | None:
    match kind:
        case "plain":
            return written
        case "simple":
            return _SIMPLE.get(written, written)
        case "octal":
            return chr(int(written, 8))
        case "byte" | "four" | "braced":
            return _scalar(written)
        case _:
            return None


def _scalar(digits: str) -> str | None:
    """Return the character of a hexadecimal number; None for halves of pairs and beyond."""
    significant = digits.lstrip("0")
    if len(significant) > _MAX_BRACED_DIGITS:
        return None
    number = int(significant or "0", 16)
    return chr(number) if number < 0xD800 or 0xDFFF < number <= 0x10FFFF else None
