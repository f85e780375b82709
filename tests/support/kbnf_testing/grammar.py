"""Grammars as the tests see them: an abstract syntax of their own, shared with no engine.

An input is a *word*: a ``str`` in which ``chr(b)`` with b < 256 stands for the byte b and
``chr(256 + i)`` for the token with id i taken as one symbol (only ``Token`` matches those).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

TOKEN_BASE = 256


def word_of(data: bytes) -> str:
    """Return the word that spells ``data`` byte by byte."""
    return data.decode("latin-1")


def token_symbol(token_id: int) -> str:
    """Return the symbol that stands for the whole token."""
    return chr(TOKEN_BASE + token_id)


@dataclass(frozen=True, slots=True)
class Literal:
    """Exactly these bytes."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Chars:
    """One character, in UTF-8: one of ``chars``, or any other one where ``negated``."""

    chars: frozenset[str]
    negated: bool = False


@dataclass(frozen=True, slots=True)
class Early:
    """``#e``: nonempty words of the body of which no proper nonempty prefix is one."""

    body: "Expression"


@dataclass(frozen=True, slots=True)
class Never:
    """``#ex``: nonempty bytes in which no factor is a word of the body."""

    body: "Expression"


@dataclass(frozen=True, slots=True)
class Substrings:
    """``#substrs``: every factor of these bytes, the empty one too."""

    data: bytes


@dataclass(frozen=True, slots=True)
class Except:
    """``except!``: 1 to ``limit`` bytes (0: any number) in which no excluded text occurs.

    ``via`` is the nonterminal that contains the excluded texts, None for a terminal.
    """

    excluded: tuple[bytes, ...]
    limit: int = 0
    via: str | None = None


@dataclass(frozen=True, slots=True)
class Token:
    """``#token[...]``: one token by id; ``name`` is set for the form with a special name."""

    ids: frozenset[int]
    negated: bool = False
    name: str | None = None


@dataclass(frozen=True, slots=True)
class Reference:
    """A nonterminal."""

    name: str


@dataclass(frozen=True, slots=True)
class Regex:
    """``#"..."``: the body contains no nonterminals."""

    body: "Expression"


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other; none at all is the empty word."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """Any of the branches."""

    branches: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """``low`` to ``high`` times the body; ``high`` None has no bound."""

    body: "Expression"
    low: int
    high: int | None


Leaf: TypeAlias = Literal | Chars | Early | Never | Substrings | Except | Token
Expression: TypeAlias = Leaf | Reference | Regex | Sequence | Choice | Repeat


@dataclass(frozen=True, slots=True)
class Grammar:
    """Nonterminals and what they stand for."""

    rules: Mapping[str, Expression]
    start: str = "start"


def children(node: Expression) -> tuple[Expression, ...]:
    """Return the direct parts of ``node``."""
    match node:
        case Sequence():
            return node.parts
        case Choice():
            return node.branches
        case Regex() | Repeat() | Early() | Never():
            return (node.body,)
        case _:
            return ()


def nodes(grammar: Grammar) -> list[Expression]:
    """Return every expression in the grammar, wholes before parts."""
    found: list[Expression] = []
    stack = list(grammar.rules.values())
    while stack:
        node = stack.pop()
        found.append(node)
        stack.extend(children(node))
    return found
