"""Stack nodes: hash-consed nodes of a graph-structured stack (Tomita 1986).

A node says what resumes when a nonterminal completes. Predicting items gathers all that waits for
them into one node, a set of triples (nonterminal, parent node, item set to resume). ``SELF`` stands
for the node itself, for callers predicted at the same position. Nodes are named by content, not by
position in the text: equal contents are one node, so equal configurations are one state wherever
in a text they occur.
"""

from collections.abc import Callable, Iterable
from itertools import chain
from typing import TypeAlias

from kbnf_core.kernel import Lists

BOTTOM = 0
"""The bottom of the stack: the parent of the start, and of every walk over the vocabulary."""

SELF = -1
"""Within a node's content: the node itself."""

Triple: TypeAlias = tuple[int, int, int]


class StackNodes:
    """Interns stack nodes; ``reports`` maps an item set to the nonterminals its items report.

    ``nodes`` holds their contents as flat triples; the compiled kernel reads and extends it,
    too.
    """

    def __init__(self, reports: Callable[[int], frozenset[int]]) -> None:
        self._reports = reports
        self.nodes = Lists()
        self.nodes.number(())
        self._waiting: dict[int, dict[int, list[tuple[int, int]]]] = {}
        self._narrowed: dict[tuple[int, frozenset[int]], int] = {}

    def __len__(self) -> int:
        return len(self.nodes)

    @property
    def size(self) -> int:
        """The number of triples in all nodes."""
        return self.nodes.size // 3

    def intern(self, edges: Iterable[Triple]) -> int:
        """Return the number of the node with this content, interning it if new."""
        return self.nodes.number(tuple(chain.from_iterable(sorted(edges))))

    def edges(self, stack_node: int) -> tuple[Triple, ...]:
        """Return the triples of a node, ascending."""
        values = iter(self.nodes.values(stack_node))
        return tuple(zip(values, values, values, strict=True))

    def waiting(self, stack_node: int, nonterminal: int) -> list[tuple[int, int]]:
        """Return the (stack node, item set) pairs to resume when ``nonterminal`` completes."""
        waiting = self._waiting.get(stack_node)
        if waiting is None:
            waiting = self._waiting[stack_node] = {}
            for name, below, after in self.edges(stack_node):
                pair = (stack_node if below == SELF else below, after)
                waiting.setdefault(name, []).append(pair)
        return waiting.get(nonterminal, [])

    def narrow(self, stack_node: int, wanted: frozenset[int]) -> int:
        """Return the node restricted to what ``wanted``, the reported nonterminals, can reach.

        Predictions that have died since then no longer tell configurations apart.
        """
        if stack_node == BOTTOM:
            return BOTTOM
        found = self._narrowed.get((stack_node, wanted))
        if found is None:
            found = self._narrowed[stack_node, wanted] = self._find_narrow(stack_node, wanted)
        return found

    def _find_narrow(self, stack_node: int, wanted: frozenset[int]) -> int:
        edges = self.edges(stack_node)
        needed: frozenset[int] = frozenset()
        while wanted != needed:
            needed = wanted
            inner = (t[2] for t in edges if t[0] in needed and t[1] == SELF)
            wanted = needed.union(*map(self._reports, inner))
        return self.intern(triple for triple in edges if triple[0] in needed)
