"""The syntax tree of a regular expression, with all flags already applied.

The operators are those of ``expression``, the leaves sets of characters and assertions.
"""

import enum
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.algebra import Choice, Repeat, Sequence
from kbnf_core.automata.codepoints import CodePoints


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
    """A position at which ``look`` applies; reads nothing."""

    look: Look


@dataclass(slots=True, eq=False)
class Named(Sequence["Node"]):
    """A group with a name, in patterns that are searched; a language knows no groups."""

    name: str


@dataclass(slots=True, eq=False)
class Lazy(Repeat["Node"]):
    """A repetition that is as short as possible, in patterns that are searched."""


Node: TypeAlias = Characters | Assertion | Sequence["Node"] | Choice["Node"] | Repeat["Node"]
