r"""Parses regular expressions as Python's ``re`` reads them.

Single characters and classes become pieces of text in the syntax of our own regular expressions;
what is around them becomes a tree. What an automaton cannot do (references back, conditions) is a
problem; a reference back stands for anything that its group matches.
"""

import re
import warnings
from dataclasses import dataclass, field

from kbnf_core.languages.lark.regex.tree import (
    Character,
    Choice,
    Edge,
    Look,
    Node,
    PatternError,
    Repeat,
    Sequence,
    stops_early,
)


@dataclass(frozen=True, slots=True)
class Problem:
    """What a pattern has that cannot be honoured, so that something else stands in for it."""

    message: str


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, and what it leaves out."""

    node: Node
    problems: tuple[Problem, ...]


def parse(pattern: str, flags: str = "") -> Parsed:
    """Parse ``pattern``; raises PatternError. ``flags`` are those behind the closing slash."""
    try:
        with warnings.catch_warnings():
            # Python warns of `[[` and `--` in a class, which it takes as they stand; so do we.
            warnings.simplefilter("ignore", FutureWarning)
            re.compile(pattern, _python_flags(flags))
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"Python does not take this regular expression: {error}") from None
    parser = _Parser(pattern, frozenset(flags) & frozenset("imsx"))
    node = parser.parse()
    if stops_early(node):
        parser.problems.append(
            Problem("where a round of a repetition is empty, more rounds may follow here")
        )
    return Parsed(node, tuple(parser.problems))


def _python_flags(flags: str) -> int:
    bits = 0
    for flag in set(flags) & set("imsx"):
        bits |= int(getattr(re, flag.upper()))
    return bits


_MOST_OPEN = 64
"""Brackets open at one place; Python's own parser, and what is made of the tree, recurse."""

_LINE_END = Look(
    Sequence((Repeat(Character(r"\n"), 0, 1, is_greedy=True), Edge(is_start=False))),
    is_ahead=True,
    is_negated=False,
)
"""``$``: the end of the text, or a line end just before it."""

_CLASSES = {
    "d": r"\d",
    "D": r"\D",
    "w": r"[\p{L}\p{N}_]",
    "W": r"[^\p{L}\p{N}_]",
    "s": r"[\s\x1c-\x1f]",
    "S": r"[^\s\x1c-\x1f]",
}
_CONTROLS = {"a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_HEX = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{3}|0[0-7]{0,2})")
_COUNT = re.compile(r"\{(\d*)(,?)(\d*)\}")
_GROUP = re.compile(
    r"\(\?(?:(?P<on>[aiLmsux]*)(?:-(?P<off>[imsx]+))?(?P<end>[:)])"
    r"|P<(?P<name>\w+)>|(?P<look><?[=!])|P=(?P<back>\w+)\)|#(?P<comment>[^)]*)\))"
)


@dataclass(slots=True)
class _Frame:
    """An open group: its finished branches, the current one, and how to close it."""

    kind: str
    flags: frozenset[str]
    branches: list[Node] = field(default_factory=list)
    items: list[Node] = field(default_factory=list)
    number: int = 0
    name: str = ""

    def close(self) -> Node:
        branches = [*self.branches, _sequence(self.items)]
        return branches[0] if len(branches) == 1 else Choice(tuple(branches))


def _sequence(items: list[Node]) -> Node:
    return items[0] if len(items) == 1 else Sequence(tuple(items))


class _Parser:
    """Reads one pattern that Python has already accepted; open groups are on a stack."""

    def __init__(self, pattern: str, flags: frozenset[str]) -> None:
        self._text = pattern
        self._place = 0
        self._stack = [_Frame("group", flags)]
        self._groups: dict[str, Node] = {}
        self._count = 0
        self.problems: list[Problem] = []

    def parse(self) -> Node:
        while self._place < len(self._text):
            self._step()
        return self._stack[0].close()

    @property
    def _top(self) -> _Frame:
        return self._stack[-1]

    def _step(self) -> None:
        char = self._text[self._place]
        if "x" in self._top.flags and self._skip_blank(char):
            return
        if char == "(":
            self._open()
        elif char == ")":
            self._close()
        elif char == "|":
            self._top.branches.append(_sequence(self._top.items))
            self._top.items = []
            self._place += 1
        elif char in "*+?" or (char == "{" and self._is_count()):
            self._repeat()
        else:
            self._top.items.append(self._atom(char))

    def _skip_blank(self, char: str) -> bool:
        if char == "#":
            end = self._text.find("\n", self._place)
            self._place = len(self._text) if end < 0 else end + 1
            return True
        if char.isspace():
            self._place += 1
            return True
        return False

    def _open(self) -> None:
        if len(self._stack) > _MOST_OPEN:
            raise PatternError("this regular expression is nested too deeply")
        match = _GROUP.match(self._text, self._place)
        flags = self._top.flags
        if match is None:
            if self._text.startswith("(?", self._place):
                raise PatternError(
                    f"`{self._text[self._place : self._place + 3]}` has no counterpart"
                )
            self._count += 1
            self._place += 1
            self._stack.append(_Frame("group", flags, number=self._count))
            return
        self._place = match.end()
        if match["name"]:
            self._count += 1
            frame = _Frame("group", flags, number=self._count, name=match["name"])
            self._stack.append(frame)
        elif match["look"]:
            self._stack.append(_Frame(match["look"], flags))
        elif match["back"]:
            self._top.items.append(self._back(match["back"]))
        elif match["end"] == ":":
            on, off = frozenset(match["on"] or ""), frozenset(match["off"] or "")
            self._stack.append(_Frame("group", (flags | on) - off))
        elif match["comment"] is None:
            self._top.flags = flags | frozenset(match["on"] or "")

    def _close(self) -> None:
        frame = self._stack.pop()
        self._place += 1
        node = frame.close()
        if frame.kind != "group":
            node = Look(node, "<" not in frame.kind, "!" in frame.kind)
        if frame.number:
            self._groups[str(frame.number)] = node
        if frame.name:
            self._groups[frame.name] = node
        self._top.items.append(node)

    def _back(self, name: str) -> Node:
        self.problems.append(
            Problem(f"the reference back to group `{name}` may match another text here")
        )
        return self._groups[name]

    def _is_count(self) -> bool:
        match = _COUNT.match(self._text, self._place)
        return match is not None and bool(match[1] or match[3])

    def _repeat(self) -> None:
        low, high = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(
            self._text[self._place], (0, None)
        )
        if self._text[self._place] == "{":
            match = _COUNT.match(self._text, self._place)
            assert match is not None  # noqa: S101 - `_is_count` has looked
            low = int(match[1] or 0)
            high = low if not match[2] else int(match[3]) if match[3] else None
            self._place = match.end()
        else:
            self._place += 1
        mark = self._text[self._place : self._place + 1]
        if mark == "+":
            raise PatternError("possessive repetition has no counterpart")
        if mark == "?":
            self._place += 1
        self._top.items[-1] = Repeat(self._top.items[-1], low, high, mark != "?")

    def _atom(self, char: str) -> Node:
        if char == ".":
            self._place += 1
            return Character("(?s:.)" if "s" in self._top.flags else ".")
        if char in "^$":
            self._place += 1
            if "m" in self._top.flags:
                raise PatternError(f"`{char}` with the flag m has no counterpart")
            return Edge(is_start=True) if char == "^" else _LINE_END
        if char == "[":
            return self._character(self._class())
        if char == "\\":
            return self._escape()
        self._place += 1
        return self._character(_one(ord(char)))

    def _character(self, regex: str) -> Character:
        return Character(f"(?i:{regex})" if "i" in self._top.flags else regex)

    def _escape(self) -> Node:
        char = self._text[self._place + 1]
        if char in "AZ":
            self._place += 2
            return Edge(char == "A")
        if char in "bB":
            raise PatternError(f"`\\{char}` has no counterpart")
        if char in "123456789" and not _HEX.match(self._text, self._place + 1):
            digits = re.compile(r"\d{1,2}").match(self._text, self._place + 1)
            assert digits is not None  # noqa: S101 - there is a digit
            self._place = digits.end()
            return self._back(digits[0])
        return self._character(self._escaped())

    def _escaped(self) -> str:
        """Take an escape, inside or outside of a class."""
        char = self._text[self._place + 1]
        if char in _CLASSES:
            self._place += 2
            return _CLASSES[char]
        match = _HEX.match(self._text, self._place + 1)
        if match is not None:
            self._place = match.end()
            hexadecimal = match[1] or match[2] or match[3]
            return _one(int(hexadecimal, 16) if hexadecimal else int(match[4], 8))
        if char == "N":
            raise PatternError("`\\N{...}` has no counterpart")
        self._place += 2
        return _one(_CONTROLS.get(char, ord(char)))

    def _class(self) -> str:
        self._place += 1
        negated = self._text.startswith("^", self._place)
        self._place += negated
        members: list[str] = []
        while self._text[self._place] != "]" or not members:
            member = self._member()
            if self._text[self._place] == "-" and self._text[self._place + 1] != "]":
                self._place += 1
                member = f"{member}-{self._member()}"
            members.append(member)
        self._place += 1
        return f"[{'^' if negated else ''}{''.join(members)}]"

    def _member(self) -> str:
        char = self._text[self._place]
        if char == "\\":
            return self._escaped()
        self._place += 1
        return _one(ord(char))


def _one(point: int) -> str:
    """Return a regular expression of one character that means the same everywhere."""
    char = chr(point)
    return char if char.isalnum() and char.isascii() else f"\\x{{{point:x}}}"
