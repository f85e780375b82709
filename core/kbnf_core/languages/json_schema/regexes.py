"""Parses regular expressions to values, so that simplified ones can be written."""

from collections.abc import Sequence

from kbnf_core.automata.expression import Builder, Expression
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import Alternation, Assertion, Characters, Node, Repetition
from kbnf_core.automata.regex.syntax import Sequence as Items
from kbnf_core.limits import DEFAULT_LIMITS


def read_regex(pattern: str, builder: Builder) -> Expression | None:
    """Return the expression of a pattern; None where it has assertions or problems."""
    tree, problems = parse_regex(pattern, DEFAULT_LIMITS)
    if problems:
        return None
    done: list[Expression] = []
    work: list[tuple[Node, bool]] = [(tree, False)]
    while work:
        node, seen = work.pop()
        if isinstance(node, Assertion):
            return None
        parts = _parts(node)
        if parts and not seen:
            work.append((node, True))
            work.extend((part, False) for part in reversed(parts))
        else:
            first = len(done) - len(parts)
            done[first:] = [_build(node, done[first:], builder)]
    return done[0]


def _parts(node: Node) -> Sequence[Node]:
    if isinstance(node, Items | Alternation):
        return node.items
    return (node.item,) if isinstance(node, Repetition) else ()


def _build(node: Node, parts: list[Expression], builder: Builder) -> Expression:
    match node:
        case Characters(points):
            return builder.characters(points)
        case Alternation():
            return builder.alternation(parts)
        case Repetition(_, low, high):
            return builder.repetition(parts[0], low, high)
        case _:
            return builder.sequence(parts)
