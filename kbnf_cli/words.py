"""Syntax trees in words: what a rule matches, as an outline."""

from collections.abc import Iterator

from kbnf_core.syntax.printer import quote
from kbnf_core.syntax.tree import (
    Alternation,
    Bracket,
    BracketKind,
    ByteString,
    Exception_,
    Expression,
    Leaf,
    Pattern,
    PatternKind,
    Reference,
    Repetition,
    Sequence,
    Terminal,
    TokenName,
    TokenSet,
)

_PATTERNS = {
    PatternKind.REGEX: "what the regular expression {} matches",
    PatternKind.EARLY: "the shortest text that the regular expression {} matches",
    PatternKind.COMPLEMENT: "a text that holds no match of the regular expression {}",
    PatternKind.SUBSTRINGS: "a piece, which may be empty, of the text {}",
}


def outline(root: Expression) -> Iterator[str]:
    """Yield the lines that say in words what ``root`` matches, parts indented below wholes."""
    pending: list[tuple[Expression, int, str]] = [(root, 0, "")]
    while pending:
        node, depth, lead = pending.pop()
        node, lead = _unwrapped(node, lead)
        indent = "  " * depth
        match node:
            case Alternation() | Sequence():
                parts = node.branches if isinstance(node, Alternation) else node.items
                how = "one of" if isinstance(node, Alternation) else "one after the other"
                yield f"{indent}{lead}{how}:"
                pending += [(part, depth + 1, "- ") for part in reversed(parts)]
            case Repetition() | Bracket():
                yield f"{indent}{lead}{_times(node)}:"
                pending.append((node.body, depth + 1, "- "))
            case _:
                yield f"{indent}{lead}{leaf_words(node)}"


def _unwrapped(node: Expression, lead: str) -> tuple[Expression, str]:
    while isinstance(node, Bracket) and node.kind is BracketKind.GROUP:
        node = node.body
    return node, lead


def _times(node: Repetition | Bracket) -> str:
    if isinstance(node, Bracket):
        return "perhaps" if node.kind is BracketKind.OPTIONAL else "any number of times"
    match node.low, node.high:
        case 0, 1:
            return "perhaps"
        case 0, None:
            return "any number of times"
        case 1, None:
            return "once or more"
        case low, None:
            return f"{low} times or more"
        case low, high if low == high:
            return f"{low} times"
        case low, high:
            return f"{low} to {high} times"


def leaf_words(node: Leaf) -> str:
    """Return what a symbol matches."""
    match node:
        case Reference():
            return node.name.value
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
                    what = quote(excluded.text.value)
                case excluded:
                    what = f"a text of {excluded.value}"
            limit = f", of {node.limit} bytes at most" if node.limit else ""
            return f"a text without {what} in it{limit}"
        case TokenName():
            return f"the special token {node.text.value}"
        case TokenSet():
            ids = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in node.ranges)
            return f"one token, {'any but' if node.negated else 'of'} {ids}"
