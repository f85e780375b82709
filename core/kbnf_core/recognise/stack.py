"""Origins: who waits for what, named by content instead of by position.

When items are predicted, everything that waits for them is gathered into an origin node: triples
(nonterminal, origin of the waiting item, item set that goes on). ``SELF`` stands for the node
itself, for items that were predicted at the same place. Equal contents are one node, so equal
situations at different places of the text are the same situation.
"""

from collections.abc import Callable, Iterable
from typing import TypeAlias

BOTTOM = 0
"""The origin below which nothing is known: of the start, and of walks over the vocabulary."""

SELF = -1
"""Within a node's content: the node itself."""

Triple: TypeAlias = tuple[int, int, int]


class StackNodes:
    """All origin nodes met so far; ``reports`` tells what the items of a set report.

    ``size`` counts the triples of all nodes.
    """

    def __init__(self, reports: Callable[[int], frozenset[int]]) -> None:
        self._reports = reports
        self._numbers: dict[tuple[Triple, ...], int] = {(): BOTTOM}
        self._triples: list[tuple[Triple, ...]] = [()]
        self._waiting: list[dict[int, list[tuple[int, int]]]] = [{}]
        self._narrowed: list[dict[frozenset[int], int]] = [{}]
        self.size = 0

    def __len__(self) -> int:
        return len(self._triples)

    def intern(self, edges: Iterable[Triple]) -> int:
        """Return the number of the node with this content."""
        key = tuple(sorted(edges))
        number = self._numbers.setdefault(key, len(self._triples))
        if number == len(self._triples):
            waiting: dict[int, list[tuple[int, int]]] = {}
            for nonterminal, origin, after in key:
                pair = (number if origin == SELF else origin, after)
                waiting.setdefault(nonterminal, []).append(pair)
            self._triples.append(key)
            self._waiting.append(waiting)
            self._narrowed.append({})
            self.size += len(key)
        return number

    def edges(self, origin: int) -> tuple[Triple, ...]:
        """Return the content of a node, ascending."""
        return self._triples[origin]

    def waiting(self, origin: int, nonterminal: int) -> list[tuple[int, int]]:
        """Return the (origin, item set) pairs that go on when ``nonterminal`` completes."""
        return self._waiting[origin].get(nonterminal, [])

    def narrow(self, origin: int, wanted: frozenset[int]) -> int:
        """Return the node that keeps only what can matter while ``wanted`` are reported.

        What was predicted at the same place but died since no longer tells situations apart.
        """
        if origin == BOTTOM:
            return BOTTOM
        narrowed = self._narrowed[origin]
        found = narrowed.get(wanted)
        if found is None:
            found = narrowed[wanted] = self._find_narrow(origin, wanted)
        return found

    def _find_narrow(self, origin: int, wanted: frozenset[int]) -> int:
        edges = self._triples[origin]
        needed: frozenset[int] = frozenset()
        while wanted != needed:
            needed = wanted
            inner = (t[2] for t in edges if t[0] in needed and t[1] == SELF)
            wanted = needed.union(*map(self._reports, inner))
        return self.intern(triple for triple in edges if triple[0] in needed)
