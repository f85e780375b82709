"""Positions that no token is long enough to tell apart.

In ``x{0,1000}`` a position far from both bounds behaves like its neighbours for as long as one
token lasts. Refining a partition of all positions for as many rounds as the longest token has
bytes tells which are the same for that long; their item sets can share one walk. Each round looks
only at positions whose successors were renumbered in the last one, so a long chain costs little.
"""

from collections import defaultdict
from collections.abc import Iterable

from kbnf_core.tables import Tables

_Signature = frozenset[tuple[int, int]]


def blocks_of_positions(tables: Tables, rounds: int) -> list[int]:
    """Return for each automaton state its block: equal for ``rounds`` bytes, equal block."""
    return _Refinement(tables).refine(rounds)


class _Refinement:
    """The partition after some rounds; the largest part of a split block keeps its number."""

    def __init__(self, tables: Tables) -> None:
        self._edges = _edges(tables)
        self._sources: list[list[int]] = [[] for _ in self._edges]
        for state, row in enumerate(self._edges):
            for target in {target for _, target in row}:
                self._sources[target].append(state)
        self._block = [int(accepting) for accepting in tables.accepting.tolist()]
        self._sizes = {0: self._block.count(0), 1: self._block.count(1)}

    def refine(self, rounds: int) -> list[int]:
        dirty: Iterable[int] = range(len(self._block))
        for _ in range(rounds):
            moved = self._split(dirty)
            if not moved:
                break
            dirty = {source for state in moved for source in self._sources[state]}
        return self._block

    def _split(self, dirty: Iterable[int]) -> list[int]:
        """Split blocks by what their dirty members do; return the states that got a new block."""
        groups: defaultdict[int, defaultdict[_Signature, list[int]]]
        groups = defaultdict(lambda: defaultdict(list))
        members: defaultdict[int, int] = defaultdict(int)
        for state in dirty:
            block = self._block[state]
            groups[block][self._signature(state)].append(state)
            members[block] += 1
        leaving = [
            (block, states)
            for block, parts in groups.items()
            for states in _leaving(list(parts.values()), self._sizes[block] > members[block])
        ]
        moved = []
        for block, states in leaving:
            number = len(self._sizes)
            self._sizes[block] -= len(states)
            self._sizes[number] = len(states)
            for state in states:
                self._block[state] = number
            moved.extend(states)
        return moved

    def _signature(self, state: int) -> _Signature:
        return frozenset((symbol, self._block[target]) for symbol, target in self._edges[state])


def _leaving(parts: list[list[int]], others_remain: bool) -> list[list[int]]:
    """Return the parts that leave their block: all but the largest, or all if others remain.

    Those that are not dirty have no successor with a new number, so the dirty differ from them.
    """
    return parts if others_remain else sorted(parts, key=len)[:-1]


def _edges(tables: Tables) -> list[list[tuple[int, int]]]:
    """Return per state its (symbol, target); a call is a symbol behind the byte classes."""
    edges: list[list[tuple[int, int]]] = [[] for _ in range(tables.state_count)]
    starts, classes = tables.edge_start.tolist(), tables.edge_class.tolist()
    targets = tables.edge_target.tolist()
    for state, row in enumerate(edges):
        row.extend(
            zip(
                classes[starts[state] : starts[state + 1]],
                targets[starts[state] : starts[state + 1]],
                strict=True,
            )
        )
    first_call = tables.class_count
    for state, row in enumerate(edges):
        for i in range(tables.call_start[state], tables.call_start[state + 1]):
            symbol = first_call + 2 * int(tables.call_nonterminal[i]) + int(tables.call_tail[i])
            row.append((symbol, int(tables.call_return[i])))
    return edges
