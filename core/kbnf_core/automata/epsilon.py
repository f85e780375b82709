"""Automata with epsilon edges, built state by state, and their closures."""

from collections.abc import Iterable, Mapping, Sequence

from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Nfa
from kbnf_core.budget import Budget

_ELEMENTS_PER_STATE = 10
"""Mean size of a closure at which the bound on states also bounds the memory."""


class EpsilonNfa:
    """A growing automaton: ``moves[state]`` maps symbols to one state, ``epsilon`` is free.

    ``limit`` bounds the states; LimitError is raised when it is passed.
    """

    def __init__(self, limit: int) -> None:
        self.moves: list[Mapping[int, int]] = []
        self.epsilon: list[list[int]] = []
        self._limit = limit

    def add(self, moves: Mapping[int, int]) -> int:
        """Add a state and return its number."""
        if len(self.moves) >= self._limit:
            raise LimitError("states", self._limit)
        self.moves.append(moves)
        self.epsilon.append([])
        return len(self.moves) - 1

    def link(self, sources: Iterable[int], target: int) -> None:
        """Let ``target`` be entered freely from every source."""
        for source in sources:
            self.epsilon[source].append(target)

    def without_epsilon(self, start: int, tags: Sequence[int]) -> Nfa:
        """Return the same automaton without epsilon edges; only useful states appear in sets."""
        closures = Closures(self.epsilon, self._useful(tags), self._limit)
        moves = [
            {symbol: closures.of(target) for symbol, target in edges.items()}
            for edges in self.moves
        ]
        return Nfa(moves, tags, [closures.of(start)])

    def _useful(self, tags: Sequence[int]) -> list[bool]:
        return [bool(edges or tag) for edges, tag in zip(self.moves, tags, strict=True)]


class Closures:
    """What is entered freely from a state, worked out once for each.

    ``useful[state]`` tells whether it has an edge or a tag; others are left out of closures.
    The states entered are charged to ``budget``.
    """

    def __init__(
        self,
        epsilon: Sequence[Sequence[int]],
        useful: Sequence[bool],
        limit: int,
        budget: Budget | None = None,
    ) -> None:
        self._epsilon = epsilon
        self._useful = useful
        self._known: dict[int, tuple[int, ...]] = {}
        self._limit = limit
        self._elements = 0
        self._budget = budget

    def of(self, state: int) -> tuple[int, ...]:
        """Return the sorted useful states entered together with ``state``, itself included."""
        known = self._known.get(state)
        if known is None:
            known = self._known[state] = self._search(state)
        return known

    def _search(self, state: int) -> tuple[int, ...]:
        entered = {state}
        queue = [state]
        while queue:
            for target in self._epsilon[queue.pop()]:
                if target not in entered:
                    entered.add(target)
                    queue.append(target)
        self._elements += len(entered)
        if self._budget is not None:
            self._budget.spend(len(entered))
        if self._elements > _ELEMENTS_PER_STATE * self._limit:
            raise LimitError("states", self._limit)
        return tuple(sorted(filter(self._useful.__getitem__, entered)))
