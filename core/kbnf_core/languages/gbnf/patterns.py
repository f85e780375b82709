"""GBNF's strings, classes and ``.`` as leaves of the KBNF tree."""

from kbnf_core.languages.conversion.build_tree import nothing, pattern, terminal
from kbnf_core.languages.gbnf.escapes import LAST_POINT, is_scalar, pieces, read_class
from kbnf_core.source import Span
from kbnf_core.syntax.tree import Leaf, Terminal, Text

_ANY = "(?s:.)"

_SURROGATES = (0xD800, 0xDFFF)
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
    ranges = [part for low, high, _ in members for part in _characters(low, high)]
    if not ranges:
        return any_leaf(span) if negated else nothing(span)
    inner = "".join(_range(low, high) for low, high in ranges)
    return pattern(f"[{'^' if negated else ''}{inner}]", span)


def any_leaf(span: Span) -> Leaf:
    """Return the leaf of ``.``: any one character, line breaks too."""
    return pattern(_ANY, span)


def _characters(low: int, high: int) -> list[tuple[int, int]]:
    """Return what of a range are characters: nothing, or one or two ranges."""
    before = (low, min(high, _SURROGATES[0] - 1))
    after = (max(low, _SURROGATES[1] + 1), min(high, LAST_POINT))
    return [part for part in (before, after) if part[0] <= part[1]]


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
