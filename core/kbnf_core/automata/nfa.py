"""Nondeterministic automata: with epsilon edges while they are built, without when they are run.

Thompson's construction joins parts by epsilon edges, which read nothing. Before the subset
construction they are removed: a state is replaced by its *closure*, the states that are entered
together with it. States that neither read nor accept are left out of closures, so that subsets
contain only what distinguishes them.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kbnf_core.automata.errors import LimitError
from kbnf_core.text.budget import Budget

_ELEMENTS_PER_STATE = 10
"""Mean size of a closure at which the bound on states also bounds the memory."""


class Nfa(NamedTuple):
    """A nondeterministic automaton without epsilon edges.

    ``moves[state]`` maps a symbol to the sorted states it leads to; ``tags[state]`` is a bit
    set, as in ``SymbolDfa``; each of ``starts`` is one sorted set of start states.
    """

    moves: Sequence[Mapping[int, tuple[int, ...]]]
    tags: Sequence[int]
    starts: Sequence[tuple[int, ...]]


class EpsilonNfa:
    """A growing automaton: ``edges[state]`` are symbols and targets, ``epsilon`` is free.

    ``limit`` bounds the states; LimitError is raised when it is passed.
    """

    def __init__(self, limit: int) -> None:
        self.edges: list[Sequence[tuple[int, int]]] = []
        self.epsilon: list[list[int]] = []
        self._limit = limit

    def __len__(self) -> int:
        return len(self.edges)

    def add(self, edges: Sequence[tuple[int, int]] = ()) -> int:
        """Add a state and return its number."""
        self.reserve(1)
        self.edges.append(edges)
        self.epsilon.append([])
        return len(self.edges) - 1

    def reserve(self, count: int) -> None:
        """Raise LimitError if so many more states are too many."""
        if len(self.edges) + count > self._limit:
            raise LimitError("states", self._limit)

    def link(self, source: int, target: int) -> None:
        """Let ``target`` be entered freely from ``source``."""
        self.epsilon[source].append(target)

    def without_epsilon(self, start: int, tags: Sequence[int]) -> Nfa:
        """Return the same automaton without epsilon edges; only useful states appear in sets."""
        useful = [bool(edges or tag) for edges, tag in zip(self.edges, tags, strict=True)]
        closures = Closures(self.epsilon, useful, self._limit)
        moves = [{symbol: closures.of(target) for symbol, target in edges} for edges in self.edges]
        return Nfa(moves, tags, [closures.of(start)])


class Closures:
    """The epsilon closure of a state, memoised.

    ``useful[state]`` says whether it has an edge or a tag; others are left out of closures.
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
