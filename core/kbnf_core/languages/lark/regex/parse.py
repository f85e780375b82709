r"""Python's regular expressions as trees, read by Python's own parser.

``re._parser`` is what ``re`` compiles from, so flags, escapes and groups mean here what they mean
there. Single characters and classes become pieces of text in the syntax of our own regular
expressions; what is around them becomes a tree. What an automaton cannot do (conditions, word
boundaries, possessive repetition) is a ``PatternError``; a reference back stands for anything that
its group matches, which is a problem to report.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from kbnf_core import traversal

_MOST_NESTED = 64
"""Groups inside one another; what is made of the tree recurses."""


@dataclass(frozen=True, slots=True)
class Character:
    """One character out of a set; ``regex`` writes the set, flags included."""

    regex: str


@dataclass(frozen=True, slots=True)
class Look:
    """``(?=x)``, ``(?!x)``, ``(?<=x)``, ``(?<!x)``."""

    body: "Node"
    is_ahead: bool
    is_negated: bool


@dataclass(frozen=True, slots=True)
class Edge:
    r"""``^`` and ``\A`` (``is_start``), and ``\Z``."""

    is_start: bool


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after the other."""

    items: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """The first branch that leads to a match."""

    branches: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The body, as often as possible, or as seldom if it is not greedy."""

    body: "Node"
    low: int
    high: int | None
    is_greedy: bool


Node: TypeAlias = Character | Look | Edge | Sequence | Choice | Repeat


class PatternError(Exception):
    """A pattern that Python refuses, or that has a construct without a meaning here."""


def children(node: Node) -> tuple[Node, ...]:
    """Return the direct parts of ``node``."""
    match node:
        case Sequence():
            return node.items
        case Choice():
            return node.branches
        case Look() | Repeat():
            return (node.body,)
        case _:
            return ()


def postorder(root: Node) -> Iterator[Node]:
    """Yield every part of ``root``, parts before wholes."""
    return traversal.postorder(root, children)


def stops_early(root: Node) -> bool:
    """Tell whether a repetition may end with a round that is empty though others were left.

    Python ends a repetition after an empty round; that cannot be seen in an automaton.
    """
    rounds = (part for part in postorder(root) if isinstance(part, Repeat) and part.high != 1)
    return any(not _prefers_text(part.body) for part in rounds)


def _is_nullable(root: Node) -> bool:
    return traversal.fold(root, children, _may_be_empty)


def _may_be_empty(node: Node, parts: list[bool]) -> bool:
    match node:
        case Sequence():
            return all(parts)
        case Choice():
            return any(parts)
        case Repeat(_, low):
            return low == 0 or parts[0]
    return not isinstance(node, Character)


def _prefers_text(body: Node) -> bool:
    """Tell whether ``body`` matches the empty text only where it can match nothing else."""
    match body:
        case Sequence(items):
            return not _is_nullable(body) or all(_prefers_text(item) for item in items)
        case Repeat(inner, _, _, is_greedy):
            return not _is_nullable(body) or (is_greedy and _prefers_text(inner))
        case Choice(branches):
            *others, last = branches
            return not any(_is_nullable(b) for b in others) and _prefers_text(last)
        case Look() | Edge():
            return False
        case Character():
            return True


@contextmanager
def _as_python_takes_it() -> Iterator[None]:
    """Let Python's parser raise PatternErrors.

    It warns of `[[` and `--` in a class, which it takes as they stand; so do we.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(f"Python does not take this regular expression: {error}") from None


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, and in words what cannot be honoured, so that something else stands in for it."""

    node: Node
    problems: tuple[str, ...]


def widths(pattern: str) -> tuple[int, int]:
    """Return the least and the greatest number of characters of a match; raises PatternError."""
    with _as_python_takes_it():
        low, high = import_module("re._parser").parse(pattern).getwidth()
    return int(low), int(high)


def parse(pattern: str) -> Parsed:
    """Parse ``pattern``; raises PatternError."""
    with _as_python_takes_it():
        re.compile(pattern)
        parsed = import_module("re._parser").parse(pattern)
    translator = _Translator(parsed.state)
    node = translator.sequence(parsed, parsed.state.flags, 0)
    if stops_early(node):
        translator.problems.append(
            "where a round of a repetition is empty, more rounds may follow here"
        )
    return Parsed(node, tuple(translator.problems))


_LINE_END = Look(
    Sequence((Repeat(Character(r"\n"), 0, 1, is_greedy=True), Edge(is_start=False))),
    is_ahead=True,
    is_negated=False,
)
"""``$``: the end of the text, or a line end just before it."""

_EDGES: dict[str, Node] = {
    "AT_BEGINNING": Edge(is_start=True),
    "AT_BEGINNING_STRING": Edge(is_start=True),
    "AT_END": _LINE_END,
    "AT_END_STRING": Edge(is_start=False),
}
_CLASSES = {
    "DIGIT": r"\d",
    "NOT_DIGIT": r"\D",
    "WORD": r"[\p{L}\p{N}_]",
    "NOT_WORD": r"[^\p{L}\p{N}_]",
    "SPACE": r"[\s\x1c-\x1f]",
    "NOT_SPACE": r"[^\s\x1c-\x1f]",
}
_ASCII = {
    "DIGIT": "[0-9]",
    "WORD": "[0-9A-Za-z_]",
    "SPACE": r"[ \t-\r]",
    "NOT_DIGIT": "[^0-9]",
    "NOT_WORD": "[^0-9A-Za-z_]",
    "NOT_SPACE": r"[^ \t-\r]",
}
_NO_COUNTERPART = {
    "POSSESSIVE_REPEAT": "possessive repetition",
    "ATOMIC_GROUP": "an atomic group",
    "GROUPREF_EXISTS": "a condition",
}


class _Translator:
    """Turns Python's parsed pattern into the tree; ``flags`` are those in force at each part."""

    def __init__(self, state: Any) -> None:
        self.problems: list[str] = []
        self._names = {number: name for name, number in state.groupdict.items()}
        self._groups: dict[int, Node] = {}

    def sequence(self, parts: Any, flags: int, depth: int) -> Node:
        """Return the parts one after the other."""
        if depth > _MOST_NESTED:
            raise PatternError("this regular expression is nested too deeply")
        items = tuple(self._part(op.name, value, flags, depth + 1) for op, value in parts)
        return items[0] if len(items) == 1 else Sequence(items)

    def _part(self, kind: str, value: Any, flags: int, depth: int) -> Node:
        if kind in _CHARACTERS:
            return _character(kind, value, flags)
        match kind:
            case "AT" if value.name in _EDGES and not _is_by_line(value.name, flags):
                return _EDGES[value.name]
            case "BRANCH":
                return Choice(tuple(self.sequence(each, flags, depth) for each in value[1]))
            case "SUBPATTERN":
                number, added, removed, body = value
                self._groups[number] = self.sequence(body, (flags | added) & ~removed, depth)
                return self._groups[number]
            case "MAX_REPEAT" | "MIN_REPEAT":
                low, high, body = value
                most = None if str(high) == "MAXREPEAT" else high
                return Repeat(self.sequence(body, flags, depth), low, most, kind == "MAX_REPEAT")
            case "ASSERT" | "ASSERT_NOT":
                node = self.sequence(value[1], flags, depth)
                return Look(node, value[0] > 0, kind == "ASSERT_NOT")
            case "GROUPREF":
                name = self._names.get(value, value)
                self.problems.append(
                    f"the reference back to group `{name}` may match another text here"
                )
                return self._groups[value]
            case "FAILURE":
                return Choice(())
        what = _NO_COUNTERPART.get(kind) or _anchor(value)
        raise PatternError(f"{what} has no counterpart")


def _is_by_line(anchor: str, flags: int) -> bool:
    return bool(flags & re.MULTILINE) and anchor in ("AT_BEGINNING", "AT_END")


def _anchor(value: Any) -> str:
    shown = {"AT_BOUNDARY": r"`\b`", "AT_NON_BOUNDARY": r"`\B`"}
    return shown.get(str(value)) or f"`{'^' if 'BEGIN' in str(value) else '$'}` with the flag m"


_CHARACTERS = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})


def _character(kind: str, value: Any, flags: int) -> Character:
    if kind == "ANY":
        return Character("(?s:.)" if flags & re.DOTALL else ".")
    if kind == "IN":
        regex = _class(value, flags)
    else:
        regex = _one(value) if kind == "LITERAL" else f"[^{_one(value)}]"
    return Character(f"(?i:{regex})" if flags & re.IGNORECASE else regex)


def _class(members: Any, flags: int) -> str:
    """Return a class of characters in the syntax of our own regular expressions."""
    written = []
    for op, value in members:
        match op.name:
            case "NEGATE":
                written.append("^")
            case "LITERAL":
                written.append(_one(value))
            case "RANGE":
                written.append(f"{_one(value[0])}-{_one(value[1])}")
            case _:
                by_name = _ASCII if flags & re.ASCII else _CLASSES
                written.append(by_name[value.name.removeprefix("CATEGORY_")])
    return f"[{''.join(written)}]"


def _one(point: int) -> str:
    """Return a regular expression of one character that means the same everywhere."""
    char = chr(point)
    return char if char.isalnum() and char.isascii() else f"\\x{{{point:x}}}"
