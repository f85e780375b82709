"""Walking trees and graphs without recursion: shared code of every kind of them here.

Tests: tests/unit/automata
"""

from collections.abc import Callable, Generator, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

N = TypeVar("N")
R = TypeVar("R")
K = TypeVar("K", bound=Hashable)


def postorder(root: N, children: Callable[[N], Sequence[N]]) -> Iterator[N]:
    """Yield every part of ``root``, parts before wholes, children in their order."""
    result: list[N] = []
    stack = [root]
    while stack:
        node = stack.pop()
        result.append(node)
        stack.extend(children(node))
    return reversed(result)


def fold(root: N, children: Callable[[N], Sequence[N]], combine: Callable[[N, list[R]], R]) -> R:
    """Return the value that ``combine`` makes of ``root``, given those of its parts."""
    # Every part with the number of its children, wholes first.
    counted: list[tuple[N, int]] = []
    stack = [root]
    while stack:
        node = stack.pop()
        operands = children(node)
        counted.append((node, len(operands)))
        stack.extend(operands)
    values: list[R] = []
    for node, count in reversed(counted):
        if count:
            values[-count:] = [combine(node, values[-count:])]
        else:
            values.append(combine(node, []))
    return values.pop()


def resolve(root: N, steps: Callable[[N], Generator[N, R, R]]) -> R:
    """Return what ``steps`` makes of ``root``; it yields the parts whose results it needs first."""
    stack = [steps(root)]
    result: R | None = None
    while True:
        try:
            # The first send to a generator starts it, and that is of None, whatever it takes later.
            operand = stack[-1].send(result)  # type: ignore[arg-type] # None only at the start
        except StopIteration as stop:
            value: R = stop.value
            stack.pop()
            if not stack:
                return value
            result = value
        else:
            stack.append(steps(operand))
            result = None


def cyclic_components(graph: Mapping[K, Iterable[K]]) -> Iterator[frozenset[K]]:
    """Yield each set of nodes that reach each other, if there is a cycle in it (Tarjan 1972).

    ``graph`` maps every node to its successors, which are keys too. Linear in its size.
    """
    search = _Search(graph)
    for root in graph:
        if root not in search.order:
            yield from search.run(root)


class _Search(Generic[K]):
    def __init__(self, graph: Mapping[K, Iterable[K]]) -> None:
        self._graph = graph
        self.order: dict[K, int] = {}
        self._low: dict[K, int] = {}
        self._pending: list[K] = []
        self._closed: set[K] = set()

    def run(self, root: K) -> Iterator[frozenset[K]]:
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

    def _open(self, node: K) -> tuple[K, Iterator[K]]:
        self.order[node] = self._low[node] = len(self.order)
        self._pending.append(node)
        return node, iter(self._graph[node])

    def _visit(self, node: K, successor: K) -> bool:
        """Return whether ``successor`` is new; otherwise note how far back it leads."""
        if successor not in self.order:
            return True
        if successor not in self._closed:
            self._low[node] = min(self._low[node], self.order[successor])
        return False

    def _close(self, node: K) -> Iterator[frozenset[K]]:
        members = [self._pending.pop()]
        while members[-1] != node:
            members.append(self._pending.pop())
        self._closed.update(members)
        if len(members) > 1 or node in self._graph[node]:
            yield frozenset(members)
