"""Origins: who waits for what, named by content instead of by position.

When items are predicted, everything that waits for them is gathered into an origin node: triples
(nonterminal, origin of the waiting item, item set that goes on). ``SELF`` stands for the node
itself, for items that were predicted at the same place. Equal contents are one node, so equal
situations at different places of the text are the same situation.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeAlias

from kbnf_core.kernel.chosen import KERNEL

BOTTOM = 0
"""The origin below which nothing is known: of the start, and of walks over the vocabulary."""

SELF = -1
"""Within a node's content: the node itself."""

Triple: TypeAlias = tuple[int, int, int]


class StackNodes:
    """All origin nodes met so far; ``reports`` tells what the items of a set report.

    ``nodes`` are their contents, triple after triple; the compiled kernel reads and adds to them,
    too.
    """

    def __init__(self, reports: Callable[[int], frozenset[int]]) -> None:
        self._reports = reports
        self.nodes = KERNEL.lists()
        self.nodes.number(())
        self._waiting: dict[int, dict[int, list[tuple[int, int]]]] = {}
        self._narrowed: dict[tuple[int, frozenset[int]], int] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def size(self) -> int:
        """How many triples all nodes have together."""
        return self.nodes.size // 3

    def intern(self, edges: Iterable[Triple]) -> int:
        """Return the number of the node with this content."""
        return self.nodes.number(tuple(chain.from_iterable(sorted(edges))))

    def edges(self, origin: int) -> tuple[Triple, ...]:
        """Return the content of a node, ascending."""
        values = iter(self.nodes.values(origin))
        return tuple(zip(values, values, values, strict=True))

    def waiting(self, origin: int, nonterminal: int) -> list[tuple[int, int]]:
        """Return the (origin, item set) pairs that go on when ``nonterminal`` completes."""
        waiting = self._waiting.get(origin)
        if waiting is None:
            waiting = self._waiting[origin] = {}
            for name, below, after in self.edges(origin):
                pair = (origin if below == SELF else below, after)
                waiting.setdefault(name, []).append(pair)
        return waiting.get(nonterminal, [])

    def narrow(self, origin: int, wanted: frozenset[int]) -> int:
        """Return the node that keeps only what can matter while ``wanted`` are reported.

        What was predicted at the same place but died since no longer tells situations apart.
        """
        if origin == BOTTOM:
            return BOTTOM
        found = self._narrowed.get((origin, wanted))
        if found is None:
            found = self._narrowed[origin, wanted] = self._find_narrow(origin, wanted)
        return found

    def _find_narrow(self, origin: int, wanted: frozenset[int]) -> int:
        edges = self.edges(origin)
        needed: frozenset[int] = frozenset()
        while wanted != needed:
            needed = wanted
            inner = (t[2] for t in edges if t[0] in needed and t[1] == SELF)
            wanted = needed.union(*map(self._reports, inner))
        return self.intern(triple for triple in edges if triple[0] in needed)
