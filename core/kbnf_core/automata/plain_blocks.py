"""States that so many steps do not tell apart, in plain Python; see ``kernel.Automata``."""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from kbnf_core.automata.kernel import Ints


def blocks(source: Ints, symbol: Ints, target: Ints, accepting: bytes, rounds: int) -> list[int]:
    """See ``kernel.Automata``.

    Each round looks only at states whose successors were renumbered in the last one, so that a long
    chain costs little.
    """
    edges: list[list[tuple[int, int]]] = [[] for _ in accepting]
    sources: list[set[int]] = [set() for _ in accepting]
    for here, label, there in zip(source.tolist(), symbol.tolist(), target.tolist(), strict=True):
        edges[here].append((label, there))
        sources[there].add(here)
    refinement = _Refinement(edges, [int(bool(flag)) for flag in accepting])
    dirty: Iterable[int] = range(len(edges))
    for _ in range(rounds):
        moved = refinement.split(dirty)
        if not moved:
            break
        dirty = {here for state in moved for here in sources[state]}
    numbers: dict[int, int] = {}
    return [numbers.setdefault(each, len(numbers)) for each in refinement.block]


class _Refinement:
    """The partition after some rounds; the largest part of a split block keeps its number."""

    def __init__(self, edges: Sequence[Sequence[tuple[int, int]]], block: list[int]) -> None:
        self._edges = edges
        self.block = block
        self._sizes = [block.count(0), block.count(1)]

    def split(self, dirty: Iterable[int]) -> list[int]:
        """Split blocks by what their dirty members do; return the states that got a new block."""
        groups: defaultdict[int, defaultdict[frozenset[tuple[int, int]], list[int]]]
        groups = defaultdict(lambda: defaultdict(list))
        members: dict[int, int] = defaultdict(int)
        for state in dirty:
            block = self.block[state]
            groups[block][self._signature(state)].append(state)
            members[block] += 1
        leaving = [
            (block, states)
            for block, parts in groups.items()
            for states in _leaving(list(parts.values()), self._sizes[block] > members[block])
        ]
        moved = []
        for block, states in leaving:
            self._sizes[block] -= len(states)
            for state in states:
                self.block[state] = len(self._sizes)
            self._sizes.append(len(states))
            moved.extend(states)
        return moved

    def _signature(self, state: int) -> frozenset[tuple[int, int]]:
        return frozenset((symbol, self.block[target]) for symbol, target in self._edges[state])


def _leaving(parts: list[list[int]], others_remain: bool) -> list[list[int]]:
    """Return the parts that leave their block: all but the largest, or all if others remain.

    Those that are not dirty have no successor with a new number, so the dirty differ from them.
    """
    return parts if others_remain else sorted(parts, key=len)[:-1]
