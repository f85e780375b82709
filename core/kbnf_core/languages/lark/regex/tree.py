"""The tree of a Python regular expression."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_core import traversal


@dataclass(frozen=True, slots=True)
class Character:
    """One character out of a set; ``regex`` writes the set, flags included."""

    regex: str


@dataclass(frozen=True, slots=True)
class Look:
    """``(?=x)``, ``(?!x)``, ``(?<=x)``, ``(?<!x)``."""

    body: "Node"
    is_ahead: bool
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Edge:
    r"""``^`` and ``\A`` (``is_start``), and ``\Z``."""

    is_start: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first branch that leads to a match."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body, as often as possible, or as seldom if it is not greedy."""

    body: "Node"
    low: int
    high: int | None
    is_greedy: bool


Node: TypeAlias = Character | Look | Edge | Sequence | Choice | Repeat


class PatternError(Exception):
    """A pattern that Python refuses, or that has a construct without a meaning here."""


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``."""
    match node:
        case Sequence():
            return node.items
        case Choice():
            return node.branches
        case Look() | Repeat():
            return (node.body,)
        case _:
            return ()


def postorder(root: Node) -> Iterator[Node]:
    """Yield every part of ``root``, parts before wholes."""
    return traversal.postorder(root, children)


def stops_early(root: Node) -> bool:
    """Tell whether a repetition may end with a round that is empty though others were left.

    Python ends a repetition after an empty round; that cannot be seen in an automaton.
    """
    rounds = (part for part in postorder(root) if isinstance(part, Repeat) and part.high != 1)
    return any(not _prefers_text(part.body) for part in rounds)


def _is_nullable(root: Node) -> bool:
    values: list[bool] = []
    for node in postorder(root):
        first = len(values) - len(children(node))
        parts = values[first:]
        match node:
            case Character():
                value = False
            case Look() | Edge():
                value = True
            case Sequence():
                value = all(parts)
            case Choice():
                value = any(parts)
            case Repeat(_, low):
                value = low == 0 or parts[0]
        values[first:] = [value]
    return values.pop()


def _prefers_text(body: Node) -> bool:
    """Tell whether ``body`` matches the empty text only where it can match nothing else."""
    match body:
        case Sequence(items):
            return not _is_nullable(body) or all(_prefers_text(item) for item in items)
        case Repeat(inner, _, _, is_greedy):
            return not _is_nullable(body) or (is_greedy and _prefers_text(inner))
        case Choice(branches):
            *others, last = branches
            return not any(_is_nullable(b) for b in others) and _prefers_text(last)
        case Look() | Edge():
            return False
        case Character():
            return True
