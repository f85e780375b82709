"""The grammar IR: the form that every metasyntax is translated to and every pass works on.

Only the language matters here. Regular parts are automata already, brackets and quotes are gone,
several definitions of a name have become branches. Spans point back into the source, for messages.
The operators are those of ``expression``, with a span.

Tests: tests/unit/test_many_texts.py, tests/unit/kernel/test_lowering.py
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeVar

from kbnf_core.automata import algebra as expression
from kbnf_core.automata.algebra import children, postorder, rebuild
from kbnf_core.automata.dfa import Dfa
from kbnf_core.text.source import Span

__all__ = [
    "NEVER",
    "Call",
    "Choice",
    "Counted",
    "GrammarRules",
    "Literal",
    "Node",
    "Notation",
    "Regular",
    "Repeat",
    "Sequence",
    "Token",
    "TokenTerminal",
    "calls",
    "children",
    "postorder",
    "rebuild",
]

N_co = TypeVar("N_co", covariant=True)


@dataclass(slots=True, eq=False, repr=False)
class Literal:
    """Exactly these bytes; none at all is the empty word."""

    data: bytes
    span: Span


class Notation:
    """The origin of a node, for its language, which writes its notation."""

    __slots__ = ()


@dataclass(slots=True, eq=False, repr=False)
class Regular:
    """A regular language, as its minimal automaton.

    ``notation`` is how it is written where somebody reads it: as a regular expression, or as its
    language does. ``bounded``: an automaton all of whose nonempty texts of at most so many bytes
    these are.
    """

    dfa: Dfa
    span: Span
    notation: str | Notation | None = None
    bounded: tuple[Dfa, int] | None = None


class TokenTerminal(NamedTuple):
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
class Sequence(expression.Sequence[N_co]):
    """One part after the other; none at all is the empty word.

    ``notation`` is for the language that made it: one with a notation stays a node of its own.
    """

    span: Span
    notation: Notation | None = None


@dataclass(slots=True, eq=False, repr=False)
class Choice(expression.Choice[N_co]):
    """Any one of the branches; no branch at all is the empty language."""

    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Repeat(expression.Repeat[N_co]):
    """``low`` to ``high`` times the body; ``high`` None has no bound."""

    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Counted(Repeat[N_co]):
    """A repetition that is a loop and a number in the automaton; see ``lower.counts``.

    ``by_byte``: the body is ``Regular``, and each byte of it is one repetition.
    """

    by_byte: bool = False


Node: TypeAlias = (
    Literal | Regular | Token | Call | Sequence["Node"] | Choice["Node"] | Repeat["Node"]
)


@dataclass(slots=True, eq=False, repr=False)
class GrammarRules:
    """Nonterminals and what they stand for; every call is defined, as is ``start``."""

    start: str
    rules: Mapping[str, Node]


def calls(root: Node) -> Iterator[Call]:
    """Yield the calls in ``root``, in order."""
    return (node for node in postorder(root) if isinstance(node, Call))
