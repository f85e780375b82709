"""Which nodes of a directed graph lie on common cycles (Tarjan's algorithm, without recursion)."""

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


def cyclic_components(graph: Mapping[T, Iterable[T]]) -> Iterator[frozenset[T]]:
    """Yield each set of nodes that reach each other, if there is a cycle in it.

    ``graph`` maps every node to its successors, which are keys too. Linear in its size.
    """
    search = _Search(graph)
    for root in graph:
        if root not in search.order:
            yield from search.run(root)


class _Search(Generic[T]):
    def __init__(self, graph: Mapping[T, Iterable[T]]) -> None:
        self._graph = graph
        self.order: dict[T, int] = {}
        self._low: dict[T, int] = {}
        self._pending: list[T] = []
        self._closed: set[T] = set()

    def run(self, root: T) -> Iterator[frozenset[T]]:
        stack = [self._open(root)]
        while stack:
            node, successors = stack[-1]
            fresh = next((n for n in successors if self._visit(node, n)), None)
            if fresh is not None:
                stack.append(self._open(fresh))
                continue
            stack.pop()
            if stack:
                parent = stack[-1][0]
                self._low[parent] = min(self._low[parent], self._low[node])
            if self._low[node] == self.order[node]:
                yield from self._close(node)

    def _open(self, node: T) -> tuple[T, Iterator[T]]:
        self.order[node] = self._low[node] = len(self.order)
        self._pending.append(node)
        return node, iter(self._graph[node])

    def _visit(self, node: T, successor: T) -> bool:
        """Tell whether ``successor`` is new; otherwise note how far back it leads."""
        if successor not in self.order:
            return True
        if successor not in self._closed:
            self._low[node] = min(self._low[node], self.order[successor])
        return False

    def _close(self, node: T) -> Iterator[frozenset[T]]:
        members = [self._pending.pop()]
        while members[-1] != node:
            members.append(self._pending.pop())
        self._closed.update(members)
        if len(members) > 1 or node in self._graph[node]:
            yield frozenset(members)
