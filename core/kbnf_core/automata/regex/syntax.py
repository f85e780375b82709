"""The syntax of regular expressions: the tree of a pattern, and the cursor that reads one.

In the tree all flags are already applied. Its operators are those of ``algebra``, its leaves sets
of characters and assertions. The cursor keeps the flags in force and the problems found.

Tests: tests/unit/automata, tests/property/test_automata_regex.py
"""

import enum
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.algebra import Choice, Repeat, Sequence
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.text.limits import Limits


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


class CharacterSet(NamedTuple):
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
class LazyRepeat(Repeat["Node"]):
    """A repetition that is as short as possible, in patterns that are searched."""


Node: TypeAlias = CharacterSet | Assertion | Sequence["Node"] | Choice["Node"] | Repeat["Node"]


SYNTAX = "E201"
UNSUPPORTED = "E202"
TOO_LARGE = "E203"
TOO_MUCH_WORK = "E107"
INVALID_UTF8 = "E204"


class RegexProblem(NamedTuple):
    """One finding: a catalogue code, and where it is, in code points of the pattern."""

    code: str
    message: str
    start: int
    end: int
    help: str = ""


WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000"
)
"""Unicode's White_Space; ``str.isspace`` also takes U+001C to U+001F."""


class Flags(NamedTuple):
    """The flags in force at one position; ``U`` and greediness do not change a language."""

    ignore_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    crlf: bool = False
    swap_greed: bool = False
    unicode: bool = True
    verbose: bool = False


class UnreadableError(Exception):
    """The rest of the pattern cannot be made sense of; the problem has been reported."""


class Reader:
    """A cursor over ``text``; ``index`` is in code points."""

    def __init__(self, text: str, limits: Limits) -> None:
        self.text = text
        self.limits = limits
        self.index = 0
        self.flags = Flags()
        self.group_names: dict[str, None] = {}
        self.is_searched = False
        self.is_lazy = False
        self.problems: list[RegexProblem] = []

    @property
    def at_end(self) -> bool:
        """Whether nothing is left."""
        return self.index >= len(self.text)

    @property
    def char(self) -> str:
        """The character at the cursor; empty at the end."""
        return self.text[self.index : self.index + 1]

    def report(
        self, message: str, start: int, end: int | None = None, code: str = SYNTAX, hint: str = ""
    ) -> None:
        """Note a problem from ``start`` up to ``end``, which is the cursor if not given."""
        stop = self.index if end is None else end
        self.problems.append(RegexProblem(code, message, start, max(stop, start), hint))

    def give_up(self, message: str, start: int, end: int | None = None, hint: str = "") -> None:
        """Note a problem after which nothing can be read."""
        self.report(message, start, end, hint=hint)
        raise UnreadableError

    def take(self, prefix: str) -> bool:
        """Read ``prefix`` if it is next."""
        if not self.text.startswith(prefix, self.index):
            return False
        self.index += len(prefix)
        return True

    def advance(self) -> None:
        """Read one character, and the space after it that the x flag ignores."""
        self.index += 1
        self.skip_space()

    def skip_space(self) -> None:
        """Read white space and comments where the x flag ignores them."""
        if not self.flags.verbose:
            return
        while not self.at_end:
            if self.char == "#":
                line_end = self.text.find("\n", self.index)
                self.index = len(self.text) if line_end < 0 else line_end + 1
            elif self.char in WHITE_SPACE:
                self.index += 1
            else:
                return

    def peek_past_space(self) -> str:
        """Return the next character after the one at the cursor that is not ignored."""
        here = self.index
        self.advance()
        result = self.char
        self.index = here
        return result
