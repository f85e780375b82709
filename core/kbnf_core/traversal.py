"""Walking trees without recursion: what every kind of tree here shares."""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

N = TypeVar("N")
R = TypeVar("R")


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


def resolve(root: N, steps: Callable[[N], Generator[N, R, R]]) -> R:
    """Return what ``steps`` makes of ``root``; it yields the parts whose results it needs first."""
    stack = [steps(root)]
    result: R | None = None
    while True:
        try:
            # The first send to a generator starts it, and that is of None, whatever it takes later.
            part = stack[-1].send(result)  # type: ignore[arg-type] # None only at the start
        except StopIteration as stop:
            value: R = stop.value
            stack.pop()
            if not stack:
                return value
            result = value
        else:
            stack.append(steps(part))
            result = None
