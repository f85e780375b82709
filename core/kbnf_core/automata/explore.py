"""States numbered as they are seen: the lazy half of every construction on automata.

Subsets, pairs, remainders, threads of a matcher: what a construction makes states of differs, the
work list does not. ``explore`` follows a step function breadth first, gives each new state the next
number, and writes the rows down. States are compared by value, so they must be hashable, and equal
where they behave alike.

Breadth first also means that a state is seen by a shortest word first. ``words_to`` reads those off
the rows, and ``shortest_word_to`` stops at the first state that is wanted: the witness that
shows why a language is not empty, or that two are not disjoint.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.errors import LimitError

S = TypeVar("S", bound=Hashable)


def explore(
    starts: Iterable[S],
    step: Callable[[S], Iterable[S | None]],
    limit: int | None = None,
    what: str = "states",
) -> tuple[list[S], list[list[int]]]:
    """Return all states, those in ``starts`` first, and for each the numbers of its successors.

    ``step`` gives the successors of a state, in the order of symbols; None, which is written as
    ``DEAD``, where nothing can occur. Raises LimitError beyond ``limit`` states, called ``what``.
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
            raise LimitError(what, limit)
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
    what: str = "states",
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
            raise LimitError(what, limit)
    return None
