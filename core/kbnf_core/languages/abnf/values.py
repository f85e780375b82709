"""ABNF's strings and values as leaves of the KBNF tree.

RFC 5234 leaves open how characters are encoded. Values up to 127 are ASCII. Above, they are
octets where no value of the text passes 255, as in the grammars of protocols (``obs-text`` of
HTTP, UTF-8's own), and else code points in UTF-8, as in those of texts (JSON).
"""

import re
from collections.abc import Iterable

from kbnf_core.automata.codepoints import from_ranges
from kbnf_core.automata.expression import print_characters
from kbnf_core.languages.conversion.build_tree import escaped, nothing, pattern, terminal
from kbnf_core.source import Span
from kbnf_core.syntax.tree import (
    Alternation,
    ByteString,
    Definition,
    Expression,
    Name,
    Reference,
)

LAST_ASCII, LAST_OCTET, LAST_POINT = 0x7F, 0xFF, 0x10FFFF
OCTETS = "%x"
"""Begins the names of rules that are made for ranges of octets; no other name does."""

_BASES = {"b": 2, "d": 10, "x": 16}
_MANY_DIGITS = 40
"""A value of more digits, leading zeros aside, counts as one beyond every limit."""


def read_value(written: str) -> tuple[list[int], bool]:
    """Return the numbers of ``%x41.42`` or ``%x30-39``, and whether they are a range."""
    base = _BASES[written[1].lower()]
    is_range = "-" in written
    return [_number(digits, base) for digits in re.split("[.-]", written[2:])], is_range


def are_octets(values: Iterable[str]) -> bool:
    """Tell whether what is written by ``values`` above 127 are octets."""
    highest = max((max(read_value(each)[0]) for each in values), default=0)
    return LAST_ASCII < highest <= LAST_OCTET


def is_character(number: int) -> bool:
    """Tell whether ``number`` is one of Unicode's characters."""
    return bool(from_ranges([(number, number)]))


def text_leaf(text: str, is_exact: bool, span: Span) -> Expression:
    """Return the leaf of a string, whose ASCII letters match both cases unless it ``is_exact``."""
    if is_exact or not re.search("[A-Za-z]", text):
        return terminal(text, span)
    # Without `-u`, `k` and `s` would match the Kelvin sign and the long s, too.
    return pattern(f"(?i-u:{escaped(text)})", span)


def numbers_leaf(numbers: list[int], octets: bool, span: Span) -> Expression:
    """Return the leaf of numbers, one behind the other; what is no character is left out."""
    if octets and max(numbers) > LAST_ASCII:
        return ByteString(bytes(numbers), span)
    return terminal("".join(map(chr, filter(is_character, numbers))), span)


def range_leaf(low: int, high: int, octets: bool, span: Span) -> Expression:
    """Return what matches one character, or octet, from ``low`` to ``high``.

    Octets above 127 are a use of a rule that `octet_rule` makes: each would be a leaf.
    """
    if not octets or high <= LAST_ASCII:
        return _one_of(low, high, span)
    return Reference(Name(f"{OCTETS}{low:02X}-{high:02X}", span), span)


def _one_of(low: int, high: int, span: Span) -> Expression:
    """Return any one character of a range; halves of surrogate pairs are none."""
    points = from_ranges([(low, high)])
    return pattern(print_characters(points), span) if points else nothing(span)


def octet_rule(name: str, span: Span) -> Definition:
    """Return the rule of a range of octets, by the name that `range_leaf` gives it."""
    low, high = (int(digits, 16) for digits in name.removeprefix(OCTETS).split("-"))
    branches: list[Expression] = []
    if low <= LAST_ASCII:
        branches.append(_one_of(low, LAST_ASCII, span))
    first = max(low, LAST_ASCII + 1)
    branches.extend(ByteString(bytes([each]), span) for each in range(first, high + 1))
    body = branches[0] if len(branches) == 1 else Alternation(tuple(branches), span)
    return Definition(Name(name, span), body, span)


def _number(digits: str, base: int) -> int:
    significant = digits.lstrip("0") or "0"
    return int(significant, base) if len(significant) <= _MANY_DIGITS else LAST_POINT + 1
