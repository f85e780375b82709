"""The subset construction (Rabin & Scott 1959), with a bound on states and on memory."""

from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine, Nfa

_ELEMENTS_PER_STATE = 10
"""Mean size of a subset at which the bound on states also bounds the time and the memory."""


def determinise(nfa: Nfa, symbols: int, limit: int, stop: int = 0) -> Machine:
    """Return the deterministic automaton of ``nfa``, not yet trimmed.

    A subset whose tags meet ``stop`` counts as dead and is not followed. Raises LimitError
    when there are more than ``limit`` states, or ten times as many elements in all subsets.
    """
    subsets = _Subsets(nfa, limit, stop)
    starts = [subsets.number(start) for start in nfa.starts]
    rows: list[list[int]] = []
    for subset in subsets.members:
        row = [DEAD] * symbols
        for symbol, targets in _step(nfa, subset):
            row[symbol] = subsets.number(targets)
        rows.append(row)
    return Machine(rows, subsets.tags, starts)


def _step(nfa: Nfa, subset: tuple[int, ...]) -> list[tuple[int, tuple[int, ...]]]:
    if len(subset) == 1:
        return list(nfa.moves[subset[0]].items())
    gathered: dict[int, set[int]] = {}
    for state in subset:
        for symbol, targets in nfa.moves[state].items():
            if symbol in gathered:
                gathered[symbol].update(targets)
            else:
                gathered[symbol] = set(targets)
    return [(symbol, tuple(sorted(targets))) for symbol, targets in gathered.items()]


class _Subsets:
    """The subsets met so far, numbered; ``members`` grows while it is iterated."""

    def __init__(self, nfa: Nfa, limit: int, stop: int) -> None:
        self.members: list[tuple[int, ...]] = []
        self.tags: list[int] = []
        self._nfa = nfa
        self._limit = limit
        self._stop = stop
        self._numbers: dict[tuple[int, ...], int] = {(): DEAD}
        self._elements = 0

    def number(self, subset: tuple[int, ...]) -> int:
        known = self._numbers.get(subset)
        return self._add(subset) if known is None else known

    def _add(self, subset: tuple[int, ...]) -> int:
        tag = 0
        for state in subset:
            tag |= self._nfa.tags[state]
        if tag & self._stop:
            self._numbers[subset] = DEAD
            return DEAD
        self._elements += len(subset)
        if len(self.members) >= self._limit or self._elements > _ELEMENTS_PER_STATE * self._limit:
            raise LimitError("states", self._limit)
        self._numbers[subset] = len(self.members)
        self.members.append(subset)
        self.tags.append(tag)
        return len(self.members) - 1
