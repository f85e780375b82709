"""Writes so many of something, without a state for each count.

In a text that is by rules; where rules are run, a count is a parameter (``lower.counts``).
"""

from collections.abc import Callable, Sequence

from kbnf_core.automata.algebra import Choice, Repeat
from kbnf_core.automata.algebra import Sequence as Items
from kbnf_core.automata.expression import Expression, Spell, print_expression
from kbnf_core.automata.regex.syntax import Characters
from kbnf_core.kbnf.printer import print_expression as print_form
from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    Rules,
    alternation,
    call,
    regex,
    repeated,
    sequence,
)

BLOCK = 256
"""Characters that are counted together: an automaton with thousands of counts is slow to build.

Where a token can reach from one block into the next its mask takes longer, so a block has more
characters than nearly every text.
"""


class Counter:
    """Writes counted repetitions by blocks, blocks of blocks and so on, each a rule."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._blocks: dict[tuple[str, int], Form] = {}

    def times(self, unit: Form, length: Length) -> Form:
        """Return so many of ``unit``."""
        if length.high is None and length.low < BLOCK:
            return repeated(unit, length.low, None)
        least = self._exactly(unit, length.low)
        if length.high is None:
            return sequence(least, repeated(unit, 0, None))
        if length.low == 0 or length.high < BLOCK:
            return self._up_to(unit, length.low, length.high)
        return sequence(least, self._up_to(unit, 0, length.high - length.low))

    def _exactly(self, unit: Form, count: int) -> Form:
        level = _level(count)
        whole, rest = divmod(count, BLOCK**level)
        more = self._exactly(unit, rest) if rest else EMPTY
        return sequence(repeated(self._block(unit, level), whole, whole), more)

    def _up_to(self, unit: Form, low: int, high: int) -> Form:
        """Return at most so many: fewer whole blocks than fit, and then at most what is left."""
        level = _level(high // 2)
        if level == 0:
            return repeated(unit, low, high)
        whole, rest = divmod(high, BLOCK**level)
        return sequence(
            repeated(self._block(unit, level), 0, whole - 1),
            self._up_to(unit, 0, BLOCK**level + rest),
        )

    def _block(self, unit: Form, level: int) -> Form:
        """Return ``BLOCK ** level`` units."""
        if level == 0:
            return unit
        key = print_form(unit), level
        if key not in self._blocks:
            inner = self._block(unit, level - 1)
            name = self._rules.fresh(f"characters_{BLOCK**level}")
            self._rules.add(name, repeated(inner, BLOCK, BLOCK))
            self._blocks[key] = call(name)
        return self._blocks[key]


def _level(count: int) -> int:
    """Return the largest level whose block is not larger than ``count``."""
    level = 0
    while BLOCK ** (level + 1) <= count:
        level += 1
    return level


Times = Callable[[Form, Length], Form]
"""Writes so many of a form."""

MOST_BRANCHES = 12
"""Ways through an expression that are counted one by one."""


def is_looped(whole: Expression) -> bool:
    """Tell whether an expression has few ways, each of which repeats at most one thing."""
    return _branches([whole]) is not None


def write_one_loop(whole: Expression, length: Length, times: Times, spell: Spell) -> Form | None:
    """Return what an expression that ``is_looped`` matches of some lengths; None for nothing."""
    forms = [_one_loop(items, length, times, spell) for items in _branches([whole]) or ()]
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


def _one_loop(
    items: Sequence[Expression], length: Length, times: Times, spell: Spell
) -> Form | None:
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
    return sequence(before, times(unit, counts), after)


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
