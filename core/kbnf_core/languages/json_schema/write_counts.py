"""Expressions in which at most one thing repeats: their words of some lengths, as a count of it."""

from collections.abc import Sequence

from kbnf_core.automata.algebra import Choice, Repeat
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.expression import Expression, Spell, print_expression
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    regex,
    repeated,
    sequence,
)

MOST_BRANCHES = 12
"""Ways through an expression that are counted one by one."""


def is_looped(whole: Expression) -> bool:
    """Tell whether an expression has few ways, each of which repeats at most one thing."""
    return _branches([whole]) is not None


def write_one_loop(whole: Expression, length: Length, spell: Spell) -> Form | None:
    """Return what an expression that ``is_looped`` matches of some lengths; None for nothing."""
    forms = [_one_loop(items, length, spell) for items in _branches([whole]) or ()]
    found = [form for form in forms if form is not None]
    return alternation(found) if found else None


def _branches(items: Sequence[Expression]) -> list[tuple[Expression, ...]] | None:
    """Return the ways through a sequence, each of parts with one length and at most one loop."""
    found: list[tuple[Expression, ...]] = [()]
    for item in items:
        ways = _ways(item)
        if ways is None:
            return None
        found = [(*before, *way) for before in found for way in ways]
        if len(found) > MOST_BRANCHES:
            return None
    return found if all(sum(map(_is_loop, way)) < 2 for way in found) else None


def _ways(item: Expression) -> list[tuple[Expression, ...]] | None:
    if _fixed(item) is not None or _is_loop(item):
        return [(item,)]
    match item:
        case Items(items):
            return _branches(items)
        case Choice(items):
            parts = [_ways(each) for each in items]
            return None if None in parts else [way for part in parts for way in part or ()]
        case Repeat(inner, 0, 1):
            ways = _ways(inner)
            return None if ways is None else [(), *ways]
        case _:
            return None


def _one_loop(items: Sequence[Expression], length: Length, spell: Spell) -> Form | None:
    """Return the strings of one way; None where none of them has a length that is allowed."""
    place = next((i for i, item in enumerate(items) if _is_loop(item)), len(items))
    around = sum(_fixed(item) or 0 for i, item in enumerate(items) if i != place)
    low = max(length.low - around, 0)
    high = None if length.high is None else length.high - around
    before, after = (_print(part, spell) for part in (items[:place], items[place + 1 :]))
    if high is not None and high < 0:
        return None
    if place == len(items):
        return before if not low else None
    loop = items[place]
    assert isinstance(loop, Repeat)  # noqa: S101 - for the types
    size = _fixed(loop.body) or 1
    counts = Length(max(loop.low, -(-low // size)), None if high is None else high // size)
    if counts.high is not None and counts.high < counts.low:
        return None
    unit = regex(_in_group(loop.body, spell))
    return sequence(before, repeated(unit, counts.low, counts.high), after)


def _print(items: Sequence[Expression], spell: Spell) -> Form:
    written = "".join(_in_group(item, spell) for item in items)
    return regex(written) if written else EMPTY


def _in_group(item: Expression, spell: Spell) -> str:
    written = print_expression(item, spell)
    return f"(?:{written})" if isinstance(item, Choice) else written


def _is_loop(item: Expression) -> bool:
    return isinstance(item, Repeat) and item.high is None and (_fixed(item.body) or 0) > 0


def _fixed(item: Expression) -> int | None:
    """Return the one length that an expression's words have; None where they have several."""
    match item:
        case Characters():
            return 1
        case Items(items):
            parts = [_fixed(each) for each in items]
            return None if None in parts else sum(each or 0 for each in parts)
        case Choice(items) if items:
            lengths = {_fixed(each) for each in items}
            return lengths.pop() if len(lengths) == 1 else None
        case Repeat(inner, low, high):
            one = _fixed(inner)
            return one * low if one is not None and low == high else None
        case _:
            return None
