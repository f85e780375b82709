"""Descriptions in words of the expressions of a rule, as lines with their spans.

An alternation, a sequence or a repetition is a line with its parts as lines below it. A regular
expression has those of its own tree below it, which all have the span of the expression.
Tests: tests/unit/kbnf/test_describe.py
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_core.automata import algebra
from kbnf_core.automata.codepoints import CodePoints, complement
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Assertion, CharacterSet, Look, Node
from kbnf_core.kbnf.printer import bounds_of, quote
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Concatenation,
    Exception_,
    Expression,
    Leaf,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Terminal,
    TokenName,
    TokenSet,
)
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import Span

_PATTERNS = {
    PatternKind.REGEX: "what the regular expression {} matches",
    PatternKind.EARLY: "the shortest text that the regular expression {} matches",
    PatternKind.COMPLEMENT: "a text without a match of the regular expression {}",
    PatternKind.SUBSTRINGS: "a piece, which may be empty, of the text {}",
}

_LOOKS = {
    Look.START_TEXT: "the beginning of the text",
    Look.END_TEXT: "the end of the text",
    Look.START_LINE: "the beginning of a line",
    Look.END_LINE: "the end of a line",
    Look.START_LINE_CRLF: "the beginning of a line",
    Look.END_LINE_CRLF: "the end of a line",
    Look.WORD_BOUNDARY: "the beginning or the end of a word",
    Look.NOT_WORD_BOUNDARY: "no beginning and no end of a word",
    Look.WORD_START: "the beginning of a word",
    Look.WORD_END: "the end of a word",
    Look.WORD_START_HALF: "no word before",
    Look.WORD_END_HALF: "no word after",
}

_MOST_RANGES = 6
_MOST_LINES = 60
"""Ranges of a set that are listed, and lines of a regular expression."""


@dataclass(frozen=True, slots=True)
class Line:
    """The words for an expression, ``depth`` levels below the rule, and its span in the text."""

    depth: int
    words: str
    span: Span

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{'- ' if self.depth else ''}{self.words}"


def describe(root: Expression, origins: Mapping[str, str]) -> Iterator[Line]:
    """Yield the lines for an expression, each whole before its parts.

    ``origins`` are as in ``tree.Document``.
    """
    pending: list[tuple[Expression, int]] = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        while isinstance(node, Bracket) and node.kind is BracketKind.GROUP:
            node = node.body
        match node:
            case Alternation(branches=children):
                yield Line(depth, "one of:", node.span)
            case Concatenation(items=children):
                yield Line(depth, "one after the other:", node.span)
            case Repetition() | Bracket():
                children = (node.body,)
                yield Line(depth, f"{_times_of(node)}:", node.span)
            case _:
                yield from _leaf(node, depth, origins)
                continue
        pending += [(child, depth + 1) for child in reversed(children)]


def _times_of(node: Repetition | Bracket) -> str:
    if isinstance(node, Bracket):
        return times("0", "1" if node.kind is BracketKind.OPTIONAL else None)
    return times(*bounds_of(node))


def times(low: str, high: str | None) -> str:
    """Return the words for a number of repetitions; ``high`` None has no bound."""
    match low, high:
        case "0", "1":
            return "optional"
        case "0", None:
            return "any number of times"
        case "1", None:
            return "once or more"
        case low, None:
            return f"{low} times or more"
        case low, high if low == high:
            return f"{low} times"
        case low, high:
            return f"{low} to {high} times"


def _leaf(node: Leaf, depth: int, origins: Mapping[str, str]) -> Iterator[Line]:
    words, below = leaf_words(node, origins), list[tuple[int, str]]()
    if isinstance(node, Pattern) and node.kind is not PatternKind.SUBSTRINGS:
        tree, problems = parse_regex(node.text.value, DEFAULT_LIMITS)
        below = [] if problems else _regex_lines(tree)
    yield Line(depth, f"{words}:" if below else words, node.span)
    for level, line in below:
        yield Line(depth + 1 + level, line, node.span)


def leaf_words(node: Leaf, origins: Mapping[str, str]) -> str:
    """Return the words for a symbol."""
    match node:
        case Reference():
            name = node.name.value
            called = origins.get(name, name) or "more turns of this loop"
            return f"{called}{node.number or ''}"
        case Terminal():
            return f"the text {quote(node.text.value)}"
        case ByteString():
            return f"the bytes {node.value.hex(' ')}" if node.value else "no bytes"
        case Pattern():
            value = node.text.value
            is_text = node.kind is PatternKind.SUBSTRINGS
            return _PATTERNS[node.kind].format(quote(value) if is_text else value)
        case Exception_():
            match node.excluded:
                case Terminal() as excluded:
                    kept_out = quote(excluded.text.value)
                case excluded:
                    kept_out = f"a text of {excluded.value}"
            limit = f", of {node.limit} bytes at most" if node.limit else ""
            return f"a text without {kept_out} in it{limit}"
        case TokenName():
            return f"the special token {node.text.value}"
        case TokenSet():
            ids = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in node.ranges)
            return f"one token, {'any but' if node.negated else 'of'} {ids}"


_Words: TypeAlias = tuple[int, str]


def _regex_lines(root: Node) -> list[_Words]:
    """Return the lines for the tree of a regular expression with their depths; at most a page."""
    lines: list[_Words] = []
    pending: list[tuple[Node | str, int]] = [(root, 0)]
    while pending:
        node, depth = pending.pop()
        if len(lines) == _MOST_LINES:
            return [*lines, (0, "and so on")]
        match node:
            case str():
                lines.append((depth, f"the text {quote(node)}"))
            case algebra.Sequence():
                children = _joined(node.operands)
                if len(children) != 1:
                    lines.append((depth, "one after the other:" if children else "nothing"))
                pending += [(child, depth + (len(children) != 1)) for child in reversed(children)]
            case algebra.Choice():
                lines.append((depth, "one of:"))
                pending += [(child, depth + 1) for child in reversed(node.branches)]
            case algebra.Repeat():
                high = None if node.high is None else str(node.high)
                lines.append((depth, f"{times(str(node.low), high)}:"))
                pending.append((node.body, depth + 1))
            case Assertion():
                lines.append((depth, _LOOKS[node.look]))
            case CharacterSet():
                letter = _single(node)
                words = set_words(node.points) if letter is None else f"the text {quote(letter)}"
                lines.append((depth, words))
    return lines


def _joined(nodes: tuple[Node, ...]) -> list[Node | str]:
    """Return parts with neighbouring single characters as one text."""
    joined: list[Node | str] = []
    for node in nodes:
        letter = _single(node)
        if letter is None:
            joined.append(node)
        elif joined and isinstance(last := joined[-1], str):
            joined[-1] = last + letter
        else:
            joined.append(letter)
    return joined


def _single(node: Node) -> str | None:
    if not isinstance(node, CharacterSet) or len(node.points) != 1:
        return None
    [(low, high)] = node.points
    return chr(low) if low == high else None


def set_words(points: CodePoints) -> str:
    """Return the words for one character of a set: its ranges, or those of all others if fewer."""
    others = complement(points)
    if not others:
        return "any character"
    is_inverse = len(others) < len(points)
    ranges = others if is_inverse else points
    listed = [
        quote(chr(low)) if low == high else f"{quote(chr(low))} to {quote(chr(high))}"
        for low, high in ranges[:_MOST_RANGES]
    ]
    more = len(ranges) - len(listed)
    listed += [f"{more} more ranges"] if more else []
    if not listed:
        return "no character"
    return f"a character {'other than' if is_inverse else 'of'} {', '.join(listed)}"
