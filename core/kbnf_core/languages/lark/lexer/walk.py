"""Automata as they are met: side by side with shortest words, and cut to what leads to an end."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from kbnf_core.automata import operations
from kbnf_core.automata.classes import class_count, join_classes, rows_over
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine, predecessors
from kbnf_core.automata.witness import legible_bytes
from kbnf_core.budget import Budget

_MOST_STATES = 20_000


class Walk:
    """Several automata side by side, as long as the first is alive.

    ``states`` are those met, in the order of a shortest word, which ``words`` holds: the state of
    each automaton, and which of the ``watched`` (a bit each) have matched a shorter word.
    """

    def __init__(self, dfas: list[Dfa], budget: Budget, watched: int = 0) -> None:
        self.classes = join_classes([dfa.classes for dfa in dfas])
        self._dfas = dfas
        self._watched = watched
        self._budget = budget
        self._tables = [
            [] if dfa.is_empty else rows_over(dfa, self.classes).tolist() for dfa in dfas
        ]
        self.rows: list[list[int]] = []
        first = (tuple(DEAD if dfa.is_empty else 0 for dfa in dfas), 0)
        self.states = [first]
        self.words = [b""]
        self._run(first)

    def _run(self, first: tuple[tuple[int, ...], int]) -> None:
        symbols = class_count(self.classes)
        spelling = legible_bytes(bytes(self.classes))
        numbers = {first: 0}
        for index, (states, passed) in enumerate(self.states):
            self._budget.spend(symbols * (1 + len(states)))
            row = []
            passing = passed | (self._matched(states) if index else 0)
            for symbol in range(symbols):
                target = (self._step(states, symbol), passing)
                if target[0][0] == DEAD:
                    row.append(DEAD)
                    continue
                if target not in numbers:
                    if len(self.states) >= _MOST_STATES:
                        raise LimitError("states", _MOST_STATES)
                    numbers[target] = len(self.states)
                    self.states.append(target)
                    self.words.append(self.words[index] + bytes([spelling[symbol]]))
                row.append(numbers[target])
            self.rows.append(row)

    def _step(self, states: tuple[int, ...], symbol: int) -> tuple[int, ...]:
        return tuple(
            DEAD if at == DEAD else table[at][symbol]
            for at, table in zip(states, self._tables, strict=True)
        )

    def _matched(self, states: tuple[int, ...]) -> int:
        found = 0
        for index, (dfa, at) in enumerate(zip(self._dfas, states, strict=True)):
            if self._watched >> index & 1 and at != DEAD and dfa.accepting[at]:
                found |= 1 << index
        return found

    def dfa(self, accepting: Iterable[int]) -> Dfa:
        """Return the automaton of the words that end in the numbered states."""
        tags = [0] * len(self.rows)
        for number in accepting:
            tags[number] = 1
        return operations.from_machine(Machine(self.rows, tags, [0]), self.classes)


def trimmed(
    rows: list[list[int]], accepting: list[bool], classes: npt.NDArray[np.uint8]
) -> tuple[Dfa, list[int]]:
    """Keep the states that reach an accepting one, in their order; return which those are, too."""
    machine = Machine(rows, [int(yes) for yes in accepting], [0])
    sources = predecessors(machine)
    queue = [state for state, yes in enumerate(accepting) if yes]
    live = set(queue)
    for state in queue:
        for source in sources[state]:
            if source not in live:
                live.add(source)
                queue.append(source)
    if 0 not in live:
        return operations.empty(), []
    kept = sorted(live)
    order = {old: new for new, old in enumerate(kept)}
    table = np.array([[order.get(t, DEAD) for t in rows[old]] for old in kept], dtype=np.int32)
    flags = np.array([accepting[old] for old in kept], dtype=np.bool_)
    return Dfa(classes, table, flags), kept
