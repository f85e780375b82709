"""Blocks of states that behave alike for some rounds, in plain Python; see ``interface.Kernel``.

Each round looks only at states whose successors were renumbered in the last one, so a long chain
costs little.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kbnf_core.kernel.interface import Ids

_Signature = frozenset[tuple[int, int]]


def blocks(
    start: "Ids", symbols: "Ids", targets: "Ids", kinds: npt.NDArray[np.uint8], rounds: int
) -> list[int]:
    """See ``interface.Kernel``."""
    edges = list(zip(symbols.tolist(), targets.tolist(), strict=True))
    bounds = start.tolist()
    rows = [edges[bounds[i] : bounds[i + 1]] for i in range(len(kinds))]
    return _Refinement(rows, kinds.tolist()).refine(rounds)


class _Refinement:
    """The partition after some rounds; the largest part of a split block keeps its number."""

    def __init__(self, edges: list[list[tuple[int, int]]], kinds: list[int]) -> None:
        self._edges = edges
        self._sources: list[list[int]] = [[] for _ in edges]
        for state, row in enumerate(edges):
            for target in {target for _, target in row}:
                self._sources[target].append(state)
        self._block = kinds
        self._sizes = {0: kinds.count(0), 1: kinds.count(1)}

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
