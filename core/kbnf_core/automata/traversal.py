"""Walking trees without recursion: shared code of every kind of tree here.

Tests: tests/unit/automata
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TypeVar

N = TypeVar("N")
R = TypeVar("R")


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
