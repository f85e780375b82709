"""The states that steps lead to, numbered as they are met: rows of a deterministic automaton."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.errors import LimitError

S = TypeVar("S")

_MOST_STATES = 5_000


def explore(
    starts: Iterable[S], symbols: int, step: Callable[[S, int], S | None]
) -> tuple[list[S], list[list[int]]]:
    """Return all states, those in ``starts`` first, and for each the number after each symbol.

    ``step`` gives None where nothing can come. Raises LimitError for too many states.
    """
    states = list(dict.fromkeys(starts))
    numbers = {state: number for number, state in enumerate(states)}
    rows: list[list[int]] = []
    for state in states:
        row: list[int] = []
        for symbol in range(symbols):
            target = step(state, symbol)
            if target is None:
                row.append(DEAD)
                continue
            if target not in numbers:
                numbers[target] = len(states)
                states.append(target)
                if len(states) > _MOST_STATES:
                    raise LimitError("states", _MOST_STATES)
            row.append(numbers[target])
        rows.append(row)
    return states, rows
