r"""GBNF's strings, classes and ``.`` as leaves of the KBNF tree.

The escapes are those of llama.cpp, the same in both: ``\t \n \r \\ \" \[ \] \-``, ``\xHH``,
``\uHHHH`` and ``\UHHHHHHHH``. Numbers are code points; llama.cpp does not check that they are
characters, so they may be halves of surrogate pairs or beyond U+10FFFF.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.languages.conversion.build_tree import nothing, pattern, terminal
from kbnf_core.source import Span
from kbnf_core.syntax.tree import Leaf, Terminal, Text

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
    return bool(from_ranges([(point, point)]))


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


_ANY = "(?s:.)"

_CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_SPECIAL = frozenset("\\[]^-&~")
"""What means something in a class of a regular expression."""


def string_leaf(raw: str, span: Span) -> Leaf:
    """Return the leaf of ``"..."``; what holds no character at some place matches nothing."""
    found = [(p.point, p.span.start) for p in pieces(raw, span.start) if p.point is not None]
    if not all(is_scalar(point) for point, _ in found):
        return nothing(span)
    value = "".join(chr(point) for point, _ in found)
    return Terminal(Text(value, span, (*(place for _, place in found), span.end - 1)), span)


def class_leaf(raw: str, span: Span) -> Leaf:
    """Return the leaf of a class; ``[]`` and ``[^]`` are the empty text in llama.cpp."""
    negated, members = read_class(raw, span.start)
    if not members:
        return terminal("", span)
    ranges = [part for low, high, _ in members for part in from_ranges([(low, high)])]
    if not ranges:
        return any_leaf(span) if negated else nothing(span)
    inner = "".join(_range(low, high) for low, high in ranges)
    return pattern(f"[{'^' if negated else ''}{inner}]", span)


def any_leaf(span: Span) -> Leaf:
    """Return the leaf of ``.``: any one character, line breaks too."""
    return pattern(_ANY, span)


def _range(low: int, high: int) -> str:
    if low == high:
        return _member(low)
    return f"{_member(low)}{'' if high == low + 1 else '-'}{_member(high)}"


def _member(point: int) -> str:
    char = chr(point)
    if char in _CONTROLS:
        return _CONTROLS[char]
    if char in _SPECIAL:
        return "\\" + char
    return char if char.isprintable() else f"\\x{{{point:X}}}"
