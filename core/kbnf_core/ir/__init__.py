"""The grammar IR: the form that every metasyntax is translated to and every pass works on.

Only the language matters here. Regular parts are automata already, brackets and quotes are gone,
several definitions of a name have become branches. Spans point back into the source, for messages.
Nodes may be shared and are never mutated (that they are not frozen spares every start the time
to generate the code for it); walk them with ``postorder``, which does not recurse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_core import traversal
from kbnf_core.automata.dfa import Dfa
from kbnf_core.source import Span


@dataclass(slots=True, eq=False, repr=False)
class Literal:
    """Exactly these bytes; none at all is the empty word."""

    data: bytes
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Regular:
    """A regular language, as its minimal automaton."""

    dfa: Dfa
    span: Span


@dataclass(frozen=True, slots=True)
class TokenTerminal:
    """Which single tokens match: by special name, or by inclusive ranges of ids.

    ``negated`` turns the ranges round: every token but those, end of sequence excepted.
    """

    name: str | None
    ranges: tuple[tuple[int, int], ...] = ()
    negated: bool = False


NEVER = TokenTerminal(None)
"""Matches no token. What waits for it can go on for ever and never ends; see `lower.endless`."""


@dataclass(slots=True, eq=False, repr=False)
class Token:
    """One token matched by its id, whatever its bytes."""

    terminal: TokenTerminal
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Call:
    """A nonterminal."""

    nonterminal: str
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Sequence:
    """One part after the other."""

    parts: tuple["Node", ...]
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Choice:
    """Any one of the branches; no branch at all is the empty language."""

    branches: tuple["Node", ...]
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Repeat:
    """``low`` to ``high`` times the body; ``high`` None has no bound."""

    body: "Node"
    low: int
    high: int | None
    span: Span


Node: TypeAlias = Literal | Regular | Token | Call | Sequence | Choice | Repeat


@dataclass(slots=True, eq=False, repr=False)
class Grammar:
    """Nonterminals and what they stand for; every call is defined, as is ``start``."""

    start: str
    rules: Mapping[str, Node]


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``."""
    match node:
        case Sequence():
            return node.parts
        case Choice():
            return node.branches
        case Repeat():
            return (node.body,)
        case _:
            return ()


def postorder(root: Node) -> Iterator[Node]:
    """Yield every part of ``root``, parts before wholes, without recursion."""
    return traversal.postorder(root, children)


def calls(root: Node) -> Iterator[Call]:
    """Yield the calls in ``root``, in order."""
    return (node for node in postorder(root) if isinstance(node, Call))
