"""Regular expressions, of either kind of tree, as expressions of GBNF."""

from kbnf_core.automata import expression
from kbnf_core.automata.regex import syntax
from kbnf_core.languages.gbnf.writer.expression import (
    EMPTY,
    Node,
    alternation,
    characters,
    repetition,
    sequence,
)
from kbnf_core.traversal import fold, postorder


def has_assertions(root: syntax.Node) -> bool:
    """Tell whether an expression asks for more than characters."""
    return any(isinstance(node, syntax.Assertion) for node in postorder(root, syntax.children))


def unfold_regex(root: syntax.Node) -> Node:
    """Return a parsed regular expression without assertions."""
    return fold(root, syntax.children, _unfold_one)


def _unfold_one(node: syntax.Node, parts: list[Node]) -> Node:
    match node:
        case syntax.Characters():
            return characters(node.points)
        case syntax.Sequence():
            return sequence(parts)
        case syntax.Alternation():
            return alternation(parts)
        case syntax.Repetition():
            return repetition(parts[0], node.low, node.high)
        case _:
            return EMPTY


def unfold_expression(root: expression.Expression) -> Node:
    """Return an expression that was made from an automaton; parts are shared as they are there."""
    known: dict[int, Node] = {}
    stack: list[tuple[expression.Expression, bool]] = [(root, False)]
    while stack:
        node, seen = stack.pop()
        if id(node) in known:
            continue
        parts = _expression_parts(node)
        if parts and not seen:
            stack.append((node, True))
            stack.extend((part, False) for part in parts)
        else:
            known[id(node)] = _of_expression(node, [known[id(part)] for part in parts])
    return known[id(root)]


def _expression_parts(node: expression.Expression) -> tuple[expression.Expression, ...]:
    match node:
        case expression.Sequence() | expression.Alternation():
            return node.items
        case expression.Repetition():
            return (node.item,)
        case _:
            return ()


def _of_expression(node: expression.Expression, parts: list[Node]) -> Node:
    match node:
        case expression.Characters():
            return characters(node.points)
        case expression.Sequence():
            return sequence(parts)
        case expression.Alternation():
            return alternation(parts)
        case expression.Repetition():
            return repetition(parts[0], node.low, node.high)
