"""A search for short differences before machines are made.

Both recognisers read the same bytes, breadth-first, so that a difference is a shortest one. Most
grammars that differ do so in a few bytes, and making one machine of both takes as long as their
automata are large; so the search takes about as long. Where all pairs of states were visited, their
languages are decided; otherwise the search over the machine goes on with the results from here.

Tests: tests/unit/diff/test_short.py
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.dfa import first_bytes, join, legible_bytes
from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError
from kbnf_core.text.limits import Limits

LEAST = 4_000
"""Steps for small automata: some milliseconds."""

SHARE = 8
"""One in so many steps of the budget may be spent."""

_STATES = Limits(cached_states=20_000, work=100_000)
"""A state with more parts than that is given up; of both tables, some 50 MB."""

Sides: TypeAlias = tuple[bytes | None, bytes | None]

Way: TypeAlias = tuple[int, int]
"""The number of a pair of states, and the byte read there."""


class Short(NamedTuple):
    """A shortest text on the left only, and on the right only; None where none was found.

    ``complete`` says that there are no others. If not, all texts of ``below`` bytes and fewer have
    been looked at.
    """

    witnesses: Sides = (None, None)
    complete: bool = False
    below: int = 0


def short_witnesses(sides: Sequence[Tables], eager: tuple[bool, bool], budget: Budget) -> Short:
    """Return short differences. Grammars that take tokens by their ids are not looked at.

    ``eager``: texts of a side end where they are complete first.
    """
    if any(tables.token_terminals for tables in sides):
        return Short()
    edges = sum(len(tables.edge_class) for tables in sides)
    with budget.share(min(budget.limit // SHARE, max(LEAST, edges))) as meter:
        return _Pairs(sides, eager, meter).search()


class _Pairs:
    """Pairs of states that the same text leads to."""

    def __init__(self, sides: Sequence[Tables], eager: tuple[bool, bool], budget: Budget) -> None:
        self._states = [StateTable(tables, _STATES) for tables in sides]
        self._eager = eager
        self._budget = budget
        self._answers: list[Way | None] = [None, None]
        self._ways: list[Way] = [(0, 0)]
        class_tables = [tables.classes.tobytes() for tables in sides]
        classes = join(class_tables)
        spelling = legible_bytes(classes)
        columns = zip(
            *(
                [side_classes[byte] for byte in first_bytes(classes)]
                for side_classes in class_tables
            ),
            strict=True,
        )
        self._letters = [(byte, column) for byte, column in zip(spelling, columns, strict=True)]

    def search(self) -> Short:
        left, right = self._states
        begin = (left.initial, right.initial)
        met, queue = {begin}, [begin]
        try:
            for number, pair in enumerate(queue):
                if None not in self._answers:
                    break
                if self._is_pointless(pair):
                    continue
                for byte, column in self._letters:
                    after = self._after(pair, column, (number, byte))
                    if after not in met and after != (DEAD, DEAD):
                        met.add(after)
                        queue.append(after)
                        self._ways.append((number, byte))
        except WorkLimitError:
            return Short(self._witnesses(), False, len(self._text(number)))
        return Short(self._witnesses(), True)

    def _witnesses(self) -> Sides:
        left, right = (
            None if way is None else self._text(way[0]) + bytes([way[1]]) for way in self._answers
        )
        return left, right

    def _text(self, number: int) -> bytes:
        """Return the text that led to a pair; pairs keep their last byte, since texts are long."""
        letters = bytearray()
        while number:
            number, byte = self._ways[number]
            letters.append(byte)
        return bytes(letters[::-1])

    def _is_pointless(self, pair: tuple[int, int]) -> bool:
        """Return whether the rest can be on one side only, which has its witness."""
        return any(pair[1 - side] == DEAD and self._answers[side] is not None for side in (0, 1))

    def _after(self, pair: tuple[int, int], column: Sequence[int], way: Way) -> tuple[int, int]:
        """Return the states after a byte; note a text that is complete on one side only."""
        self._budget.spend()
        reached, takes = [DEAD, DEAD], [False, False]
        for side, state in enumerate(pair):
            if state != DEAD:
                table = self._states[side]
                reached[side] = table.step(state, column[side])
                takes[side] = reached[side] != DEAD and bool(table.completions(reached[side]))
        for side in (0, 1):
            if takes[side] and not takes[1 - side] and self._answers[side] is None:
                self._answers[side] = way
        left, right = (
            DEAD if is_eager and ends else state
            for state, is_eager, ends in zip(reached, self._eager, takes, strict=True)
        )
        return left, right
