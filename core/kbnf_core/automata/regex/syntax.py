"""The syntax tree of a regular expression, with all flags already applied."""

import enum
from typing import NamedTuple

from kbnf_core.automata.codepoints import CodePoints


class Look(enum.Enum):
    """An assertion about the characters on both sides of a place."""

    START_TEXT = enum.auto()
    END_TEXT = enum.auto()
    START_LINE = enum.auto()
    END_LINE = enum.auto()
    START_LINE_CRLF = enum.auto()
    END_LINE_CRLF = enum.auto()
    WORD_BOUNDARY = enum.auto()
    NOT_WORD_BOUNDARY = enum.auto()
    WORD_START = enum.auto()
    WORD_END = enum.auto()
    WORD_START_HALF = enum.auto()
    WORD_END_HALF = enum.auto()


class Characters(NamedTuple):
    """One character of a set; the empty set matches nothing."""

    points: CodePoints


class Assertion(NamedTuple):
    """A place at which ``look`` holds; reads nothing."""

    look: Look


class Sequence(NamedTuple):
    """All items in order; without items, the empty text."""

    items: tuple["Node", ...]


class Alternation(NamedTuple):
    """Any one of the items."""

    items: tuple["Node", ...]


class Repetition(NamedTuple):
    """``low`` up to ``high`` times the item; None has no bound."""

    item: "Node"
    low: int
    high: int | None


Node = Characters | Assertion | Sequence | Alternation | Repetition

NOTHING_TO_READ = Sequence(())


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``."""
    if isinstance(node, Sequence | Alternation):
        return node.items
    return (node.item,) if isinstance(node, Repetition) else ()
