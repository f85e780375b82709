r"""Decodes the strings and classes of GBNF.

The escapes are those of llama.cpp, the same in both: ``\t \n \r \\ \" \[ \] \-``, ``\xHH``,
``\uHHHH`` and ``\UHHHHHHHH``. Numbers are code points; llama.cpp does not check that they are
characters, so they may be halves of surrogate pairs or beyond U+10FFFF.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kbnf_core.source import Span

_SIMPLE = {"t": "\t", "n": "\n", "r": "\r"}

_PIECE = re.compile(
    r"""(?P<plain>[^\\])
      | \\(?:(?P<simple>[tnr\\"\[\]-])
      | x(?P<two>[0-9A-Fa-f]{2})
      | u(?P<four>[0-9A-Fa-f]{4})
      | U(?P<eight>[0-9A-Fa-f]{8}))
      | (?P<bad>\\.|\\)""",
    re.VERBOSE | re.DOTALL,
)

LAST_POINT = 0x10FFFF


class Piece(NamedTuple):
    """One code point as it is written: its number, None for what is no escape, and its place.

    ``plain`` tells that it stands for itself, without a backslash.
    """

    point: int | None
    span: Span
    plain: bool


class Member(NamedTuple):
    """A range of a class, both ends included; reversed ranges are empty."""

    low: int
    high: int
    span: Span


class Class(NamedTuple):
    """The contents of ``[...]`` or ``[^...]``."""

    negated: bool
    members: tuple[Member, ...]


def pieces(raw: str, start: int) -> Iterator[Piece]:
    """Split ``raw``, a string or class with its delimiters that stands at ``start``."""
    for match in _PIECE.finditer(raw, 1, len(raw) - 1):
        span = Span(start + match.start(), start + match.end())
        kind = match.lastgroup or "bad"
        yield Piece(_point(kind, match[kind]), span, kind == "plain")


def is_scalar(point: int) -> bool:
    """Tell whether ``point`` is a character: no half of a surrogate pair, not beyond Unicode."""
    return point < 0xD800 or 0xDFFF < point <= LAST_POINT


def read_class(raw: str, start: int) -> Class:
    """Read a class as llama.cpp does: any member may begin a range, if `-` and a member follow."""
    found = [piece for piece in pieces(raw, start) if piece.point is not None]
    negated = raw.startswith("[^")
    members: list[Member] = []
    at = 1 if negated else 0
    while at < len(found):
        ranged = at + 2 < len(found) and found[at + 1].plain and found[at + 1].point == ord("-")
        low, high = found[at], found[at + 2 if ranged else at]
        members.append(Member(low.point or 0, high.point or 0, low.span.cover(high.span)))
        at += 3 if ranged else 1
    return Class(negated, tuple(members))


def _point(kind: str, written: str) -> int | None:
    match kind:
        case "plain":
            return ord(written)
        case "simple":
            return ord(_SIMPLE.get(written, written))
        case "bad":
            return None
        case _:
            return int(written, 16)
