"""The syntax tree of ANTLR 4: what was written, with spans.

Rules of the lexer and of the parser have the same form. The operators are those of ``ir``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kbnf_core import ir
from kbnf_core.automata import traversal
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.text.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A use of a rule; ``EOF`` is the end of the text."""

    name: str
    span: Span

    @property
    def is_token(self) -> bool:
        """Whether the name is that of a token: its first letter is a capital."""
        return self.name[:1].isupper()


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """``'text'``."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """``[a-z]`` or ``'a'..'z'``: one character of a set."""

    points: CodePoints
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Anything:
    """``.``: one character in a token, one token in a rule."""

    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Negation:
    """``~x``: one character, or token, that is not one of ``body``."""

    body: "Node"
    span: Span


@dataclass(slots=True, eq=False, repr=False)
class Lazy(ir.Repeat["Node"]):
    """``x*?``: as few repetitions as what comes next permits."""


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """``{...}?``: code that decides whether the rule may go on."""

    span: Span


class Command(NamedTuple):
    """``skip`` or ``type(ID)``, after the ``->`` of a token's alternative."""

    name: str
    argument: str
    span: Span


Leaf: TypeAlias = Use | Text | Characters | Anything | Predicate
Node: TypeAlias = Leaf | Negation | ir.Sequence["Node"] | ir.Choice["Node"] | ir.Repeat["Node"]


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule; ``mode`` is that of a token, empty for the one that a text begins in."""

    name: str
    body: Node
    commands: tuple[Command, ...]
    is_fragment: bool
    span: Span
    name_span: Span
    mode: str = ""

    @property
    def is_token(self) -> bool:
        """Whether the rule is one of the lexer."""
        return self.name[:1].isupper()


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``, in order."""
    return (node.body,) if isinstance(node, Negation) else ir.children(node)


def postorder(root: Node) -> Iterator[Node]:
    """Yield every part of ``root``, parts before wholes, without recursion."""
    return traversal.postorder(root, children)
