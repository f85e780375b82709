"""Lazy exploration: states numbered as they are seen, shortest words, and products of automata.

Subsets, pairs, remainders, threads of a matcher: constructions differ in what their states are, but
share the work list. ``explore`` follows a step function breadth first, gives each new state the
next number, and writes the rows down. States are compared by value, so they must be hashable, and
equal where they behave alike.

Breadth first also means that a state is seen by a shortest word first. ``words_to`` reads those off
the rows, and ``shortest_word_to`` stops at the first state that is wanted: the witness that
shows why a language is not empty, or that two are not disjoint.

A ``Product`` runs several automata over bytes side by side. Its state is a tuple with a state of
each, ``DEAD`` for one that has died. Which tuples are worth following differs: an intersection ends
where any has died, a difference where the left one has (Rabin & Scott 1959). Only tuples that are
seen are made, so products cost what the automata have in common, not the product of their sizes.

Tests: tests/unit/automata/test_explore.py
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TypeVar

from kbnf_core.automata.dfa import (
    DEAD,
    Dfa,
    class_count,
    first_bytes,
    join,
    legible_bytes,
    rows_over,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS

S = TypeVar("S", bound=Hashable)


def explore(
    starts: Iterable[S],
    step: Callable[[S], Iterable[S | None]],
    limit: int | None = None,
) -> tuple[list[S], list[list[int]]]:
    """Return all states, those in ``starts`` first, and for each the numbers of its successors.

    ``step`` gives the successors of a state, in the order of symbols; None, which is written as
    ``DEAD``, where nothing can occur. Raises LimitError beyond ``limit`` states.
    """
    states = list(dict.fromkeys(starts))
    numbers: dict[S | None, int] = {state: number for number, state in enumerate(states)}
    numbers[None] = DEAD
    rows: list[list[int]] = []
    for state in states:
        row: list[int] = []
        for target in step(state):
            number = numbers.get(target)
            if number is None:
                number = numbers[target] = len(states)
                # None is known from the start.
                states.append(target)  # type: ignore[arg-type]
            row.append(number)
        rows.append(row)
        if limit is not None and len(states) > limit:
            raise LimitError("states", limit)
    return states, rows


def words_to(rows: Sequence[Sequence[int]], spelling: Sequence[int]) -> list[bytes]:
    """Return a shortest word to each state that ``explore`` met from one start.

    ``spelling`` has a byte for each symbol.
    """
    words = [b""]
    for state, row in enumerate(rows):
        for byte, target in zip(spelling, row, strict=True):
            if target == len(words):
                words.append(words[state] + bytes([byte]))
    return words


def shortest_word_to(
    start: S,
    wanted: Callable[[S], bool],
    steps: Callable[[S], Iterable[tuple[int, S]]],
    limit: int | None = None,
    counted: str = "states",
) -> tuple[bytes, S] | None:
    """Return a shortest word to a wanted state, and that state; None if there is none.

    ``steps`` gives the bytes that lead on, and where to; of two words of equal length the one
    is found whose bytes come first there. Raises LimitError beyond ``limit`` states.
    """
    words = {start: b""}
    if wanted(start):
        return b"", start
    queue = [start]
    for state in queue:
        for byte, target in steps(state):
            if target in words:
                continue
            words[target] = words[state] + bytes([byte])
            if wanted(target):
                return words[target], target
            queue.append(target)
        if limit is not None and len(queue) > limit:
            raise LimitError(counted, limit)
    return None


States = tuple[int, ...]
"""A state of each automaton, or DEAD."""


class Product:
    """Automata side by side; ``classes`` is their common alphabet."""

    def __init__(self, *dfas: Dfa) -> None:
        self.classes = join(dfa.classes for dfa in dfas)
        # The row and the flag of DEAD, -1, are the last ones.
        dead = [DEAD] * class_count(self.classes)
        self._rows = [[*rows_over(dfa, self.classes), dead] for dfa in dfas]
        self._accepting = [[*dfa.accepting, False] for dfa in dfas]
        self.start: States = tuple(DEAD if dfa.is_empty else 0 for dfa in dfas)

    def row(self, states: States) -> Iterator[States]:
        """Yield the successor on each class."""
        # Not strict: this is the inner loop, and all rows have the same length.
        return zip(*[rows[at] for rows, at in zip(self._rows, states)])  # noqa: B905 - hot loop

    def accepting(self, states: States) -> tuple[bool, ...]:
        """Return for each automaton whether a word may end."""
        return tuple([flags[at] for flags, at in zip(self._accepting, states, strict=True)])

    def while_all(self, states: States) -> list[States | None]:
        """Return the successor on each class, None where any automaton dies."""
        return [state if DEAD not in state else None for state in self.row(states)]

    def while_first(self, states: States) -> list[States | None]:
        """Return the successor on each class, None where the first automaton dies."""
        return [state if state[0] != DEAD else None for state in self.row(states)]


def meet(left: Dfa, right: Dfa, budget: Budget | None = None) -> bool:
    """Return whether two automata, neither empty, have a word in common.

    Rows are spread when they are reached, as most automata part after a byte or two. True, too,
    beyond ``Limits.regex_states`` pairs. Each pair is as many steps of ``budget`` as it has edges.
    """
    symbols = first_bytes(join([left.classes, right.classes]))
    # A column twice, as a getter of a single one would return no tuple.
    symbols += symbols[:1]
    here, there = (itemgetter(*symbols.translate(dfa.classes)) for dfa in (left, right))
    seen = {(0, 0)}
    queue = [(0, 0)]
    for one, other in queue:
        if budget is not None:
            budget.spend(len(symbols))
        if left.accepting[one] and right.accepting[other]:
            return True
        fresh = {*zip(here(left.rows[one]), there(right.rows[other]), strict=True)} - seen
        seen |= fresh
        queue.extend([pair for pair in fresh if DEAD not in pair])
        if len(queue) > DEFAULT_LIMITS.regex_states:
            return True
    return False


def common_word(left: Dfa, right: Dfa) -> bytes | None:
    """Return a shortest word of both, None if they have none in common.

    Walks both at once, breadth first. Raises LimitError beyond ``Limits.regex_states`` pairs.
    """
    if left.is_empty or right.is_empty or not meet(left, right):
        return None
    product = Product(left, right)
    symbols = legible_bytes(product.classes)

    def steps(states: States) -> Iterator[tuple[int, States]]:
        return (
            (byte, state)
            for byte, state in zip(symbols, product.while_all(states), strict=True)
            if state is not None
        )

    result = shortest_word_to(
        product.start,
        lambda states: all(product.accepting(states)),
        steps,
        DEFAULT_LIMITS.regex_states,
        "pairs of states",
    )
    return result and result[0]
