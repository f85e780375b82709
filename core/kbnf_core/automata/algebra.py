"""Expressions over leaves of any kind: sequence, choice and repetition.

The right-hand sides of an extended grammar are regular expressions over terminals and nonterminals,
so one algebra serves all of them. Regular expressions have sets of characters as leaves
(``automata.regex.syntax``), GBNF has rules and tokens besides; the grammar IR and Lark's lexical
grammars add to each operator where it was written (``ir``). Every node that is not an operator is a
leaf. Syntax trees, in which brackets count, are not among them.

Operators are compared by identity, may be shared, and are never mutated (that they are not frozen
spares every start the time to generate the code for it).

Tests: tests/unit/ir/test_facts.py
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Generic, Never, TypeVar

from kbnf_core.automata import traversal

N = TypeVar("N")
N_co = TypeVar("N_co", covariant=True)
R = TypeVar("R")


@dataclass(slots=True, eq=False)
class Sequence(Generic[N_co]):
    """The operands one after the other; no operand at all is the empty word."""

    operands: tuple[N_co, ...]


@dataclass(slots=True, eq=False)
class Choice(Generic[N_co]):
    """Any one of the branches; no branch at all is the empty language."""

    branches: tuple[N_co, ...]


@dataclass(slots=True, eq=False)
class Repeat(Generic[N_co]):
    """``low`` to ``high`` times the body; ``high`` None has no bound."""

    body: N_co
    low: int
    high: int | None


EMPTY: Sequence[Never] = Sequence(())
"""The empty word."""

NOTHING: Choice[Never] = Choice(())
"""The empty language."""


def children(node: N) -> tuple[N, ...]:
    """Return the direct operands of ``node``."""
    match node:
        case Sequence():
            return node.operands
        case Choice():
            return node.branches
        case Repeat():
            return (node.body,)
        case _:
            return ()


def rebuild(node: N, operands: Iterable[N]) -> N:
    """Return ``node`` with other operands; itself where they are the same."""
    new = tuple(operands)
    if new == children(node):
        return node
    match node:
        case Sequence():
            return replace(node, operands=new)
        case Choice():
            return replace(node, branches=new)
        case Repeat():
            return replace(node, body=new[0])
        case _:
            return node


def postorder(root: N) -> Iterator[N]:
    """Yield every part of ``root``, parts before wholes, without recursion."""
    return traversal.postorder(root, children)


def fold(root: N, combine: Callable[[N, list[R]], R]) -> R:
    """Return the value that ``combine`` makes of ``root``, given those of its operands."""
    return traversal.fold(root, children, combine)


def quantifier(low: int, high: int | None) -> str:
    """Return the operator of a repetition as regular expressions and GBNF write it."""
    match (low, high):
        case (0, 1):
            return "?"
        case (0, None):
            return "*"
        case (1, None):
            return "+"
        case (_, None):
            return f"{{{low},}}"
        case _:
            return f"{{{low}}}" if low == high else f"{{{low},{high}}}"
