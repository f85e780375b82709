"""Writes so many of something, without a state for each count."""

from collections.abc import Sequence

from kbnf_core.automata.expression import (
    EMPTY as NO_CHARACTER,
)
from kbnf_core.automata.expression import (
    Alternation,
    Characters,
    Expression,
    Repetition,
    Spell,
    print_expression,
)
from kbnf_core.automata.expression import Sequence as Items
from kbnf_core.languages.json_schema.atoms import Length
from kbnf_core.languages.json_schema.build_tree import (
    EMPTY,
    Form,
    alternation,
    call,
    regex,
    repeated,
    sequence,
    text,
)
from kbnf_core.languages.json_schema.linear import Rules
from kbnf_core.syntax.printer import print_expression as print_form

BLOCK = 64
"""Characters that are counted together: an automaton with thousands of counts is slow to build.

Where a token can reach from one block into the next its mask takes longer, so a block has more
characters than nearly every token.
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


def write_one_loop(
    whole: Expression | None, length: Length, counter: Counter, spell: Spell
) -> Form | None:
    """Return strings of some lengths in which one set of characters is repeated without a bound.

    None where the rest of some branch has no fixed length.
    """
    branches = whole.items if isinstance(whole, Alternation) and whole.items else (whole,)
    forms = []
    for branch in branches:
        items = branch.items if isinstance(branch, Items) and branch.items else (branch,)
        found = None if branch is None else _one_loop(items, length, counter, spell)
        if found is None:
            return None
        forms.extend(found)
    return sequence(text('"'), alternation(forms), text('"')) if forms else None


def _one_loop(
    items: Sequence[Expression | None], length: Length, counter: Counter, spell: Spell
) -> Sequence[Form] | None:
    """Return one form, or none where no string is left; None where it cannot be written so."""
    loops = [i for i, item in enumerate(items) if _is_loop(item)]
    fixed = [_fixed(item) for item in items if not _is_loop(item)]
    if len(loops) != 1 or None in fixed:
        return None
    loop = items[loops[0]]
    assert isinstance(loop, Repetition)  # noqa: S101 - for the types
    around = sum(count or 0 for count in fixed)
    low = max(loop.low, length.low - around)
    high = None if length.high is None else length.high - around
    if high is not None and high < low:
        return []
    before, after = (
        regex(written) if (written := _print(part, spell)) else EMPTY
        for part in (items[: loops[0]], items[loops[0] + 1 :])
    )
    unit = regex(print_expression(loop.item, spell))
    return [sequence(before, counter.times(unit, Length(low, high)), after)]


def _print(items: Sequence[Expression | None], spell: Spell) -> str:
    return "".join(
        f"(?:{print_expression(item, spell)})"
        if isinstance(item, Alternation)
        else print_expression(item or NO_CHARACTER, spell)
        for item in items
    )


def _is_loop(item: Expression | None) -> bool:
    return isinstance(item, Repetition) and item.high is None and isinstance(item.item, Characters)


def _fixed(item: Expression | None) -> int | None:
    """Return the one length that an expression's words have; None where they have several."""
    match item:
        case Characters():
            return 1
        case Items(items):
            parts = [_fixed(each) for each in items]
            return None if None in parts else sum(each or 0 for each in parts)
        case Alternation(items):
            lengths = {_fixed(each) for each in items}
            return lengths.pop() if len(lengths) == 1 else None
        case Repetition(inner, low, high):
            one = _fixed(inner)
            return one * low if one is not None and low == high else None
        case _:
            return None
