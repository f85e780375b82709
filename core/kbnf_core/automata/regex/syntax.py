"""The syntax tree of a regular expression, with all flags already applied."""

import enum
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Characters:
    """One character of a set; the empty set matches nothing."""

    points: CodePoints


@dataclass(frozen=True, slots=True)
class Assertion:
    """A place at which ``look`` holds; reads nothing."""

    look: Look


@dataclass(frozen=True, slots=True)
class Sequence:
    """All items in order; without items, the empty text."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Alternation:
    """Any one of the items."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repetition:
    """``low`` up to ``high`` times the item; None has no bound."""

    item: "Node"
    low: int
    high: int | None


Node = Characters | Assertion | Sequence | Alternation | Repetition

NOTHING_TO_READ = Sequence(())
