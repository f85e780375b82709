"""The syntax tree of a regular expression, with all flags already applied.

The operators are those of every regular expression, over leaves of any kind: here sets of
characters and assertions. The right-hand sides of an extended grammar are regular expressions too,
over terminals and nonterminals, so the writer of GBNF uses them with leaves of its own.
"""

import enum
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from kbnf_core.automata.codepoints import CodePoints

L = TypeVar("L")
N = TypeVar("N")


class Look(enum.Enum):
    """An assertion about the characters on both sides of a position."""

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
    """A position at which ``look`` holds; reads nothing."""

    look: Look


class Sequence(NamedTuple, Generic[N]):
    """All items in order; without items, the empty text."""

    items: tuple[N, ...]


class Alternation(NamedTuple, Generic[N]):
    """Any one of the items; without items, nothing at all."""

    items: tuple[N, ...]


class Repetition(NamedTuple, Generic[N]):
    """``low`` up to ``high`` times the item; None has no bound."""

    item: N
    low: int
    high: int | None


Node: TypeAlias = (
    Characters | Assertion | Sequence["Node"] | Alternation["Node"] | Repetition["Node"]
)

NOTHING_TO_READ: Node = Sequence(())


def children(node: L | Sequence[N] | Alternation[N] | Repetition[N]) -> tuple[N, ...]:
    """Return the direct parts of ``node``, whatever leaves are."""
    if isinstance(node, Sequence | Alternation):
        return node.items
    return (node.item,) if isinstance(node, Repetition) else ()
