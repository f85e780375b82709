"""Walking trees without recursion: what every kind of tree here shares."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

N = TypeVar("N")


def postorder(root: N, children: Callable[[N], Sequence[N]]) -> Iterator[N]:
    """Yield every part of ``root``, parts before wholes, children in their order."""
    stack: list[tuple[N, bool]] = [(root, False)]
    while stack:
        node, seen = stack.pop()
        parts = () if seen else children(node)
        if parts:
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(parts))
        else:
            yield node
