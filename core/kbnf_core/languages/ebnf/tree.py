"""The syntax tree of EBNF, in W3C's notation and in that of ISO/IEC 14977, with spans.

The operators are those of ``ir``.
"""

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kbnf_core import ir
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.text.source import Span


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A use of a rule."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """A quoted text."""

    value: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Characters:
    """One character of a set."""

    points: CodePoints
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Special:
    """``? ... ?``: a description for people."""

    text: str
    span: Span


@dataclass(frozen=True, slots=True, eq=False)
class Difference:
    """``x - y``: the texts of ``x`` that are not texts of ``y``."""

    kept: "Node"
    excluded: "Node"
    span: Span


Node: TypeAlias = (
    Use
    | Text
    | Characters
    | Special
    | Difference
    | ir.Sequence["Node"]
    | ir.Choice["Node"]
    | ir.Repeat["Node"]
)


class Rule(NamedTuple):
    """A rule, and where its name is."""

    name: str
    body: Node
    span: Span
    name_span: Span


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``, in order."""
    return (node.kept, node.excluded) if isinstance(node, Difference) else ir.children(node)
