"""Removes parts that can consume no lexeme: every remaining position has a continuation.

Unproductive parts stay: they never match, but the lexer expects their lexemes.

Splits deep parts of rules into rules of their own, since later passes recurse into parts.
"""

from collections.abc import Mapping
from dataclasses import replace

from kbnf_core.languages.lark.reader.model import (
    Call,
    Choice,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
    children,
    postorder,
    with_children,
)
from kbnf_core.source import Span

_Matches = tuple[bool, bool]
"""Whether there is a text, and whether some lexeme is ever expected."""


def only_useful(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` without parts in which no lexeme is ever expected."""
    rules = dict.fromkeys(grammar.rules, (False, False))
    changed = True
    while changed:
        changed = False
        for name, body in reversed([*grammar.rules.items()]):
            found = _matches(body, rules)[id(body)]
            if found != rules[name]:
                rules[name] = found
                changed = True
    bodies = {name: _reduced(body, _matches(body, rules)) for name, body in grammar.rules.items()}
    return only_reached(replace(grammar, rules=bodies))


def only_reached(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` with the rules that the start reaches."""
    reached = {grammar.start: None}
    queue = [grammar.start]
    for name in queue:
        for node in postorder(grammar.rules[name]):
            if isinstance(node, Call) and node.name not in reached:
                reached[node.name] = None
                queue.append(node.name)
    kept = {name: body for name, body in grammar.rules.items() if name in reached}
    return replace(grammar, rules=kept)


def _matches(root: Node, rules: dict[str, _Matches]) -> dict[int, _Matches]:
    """Return what is known of each part of ``root``, by identity."""
    known: dict[int, _Matches] = {}
    for node in postorder(root):
        parts = [known[id(part)] for part in children(node)]
        known[id(node)] = _of(node, parts, rules)
    return known


def _of(node: Node, parts: list[_Matches], rules: dict[str, _Matches]) -> _Matches:
    match node:
        case Lexeme() | Embedded():
            return True, True
        case Call(name):
            return rules[name]
        case Sequence():
            expects = False
            for has_any, part_expects in parts:
                expects = expects or part_expects
                if not has_any:
                    return False, expects
            return True, expects
        case Choice():
            return any(has_any for has_any, _ in parts), any(expects for _, expects in parts)
        case Repeat(_, low):
            has_any, expects = parts[0]
            return low == 0 or has_any, expects


def _reduced(root: Node, known: dict[int, _Matches]) -> Node:
    values: list[Node] = []
    for node in postorder(root):
        first = len(values) - len(children(node))
        has_any, expects = known[id(node)]
        if not expects:
            new: Node = Sequence((), node.span) if has_any else Choice((), node.span)
        elif isinstance(node, Choice):
            new = Choice(tuple(p for p in values[first:] if not _is_nothing(p)), node.span)
        elif isinstance(node, Sequence):
            new = Sequence(tuple(p for p in values[first:] if not _is_empty(p)), node.span)
        else:
            new = with_children(node, tuple(values[first:]))
        values[first:] = [new]
    return values.pop()


def _is_nothing(node: Node) -> bool:
    return isinstance(node, Choice) and not node.branches


def _is_empty(node: Node) -> bool:
    return isinstance(node, Sequence) and not node.items


_DEEPEST = 12
"""Parts inside one another in one rule."""


def make_shallow(
    rules: Mapping[str, Node], spans: Mapping[str, Span]
) -> tuple[dict[str, Node], dict[str, Span]]:
    """Return the rules, none deeper than the limit, and where they stand."""
    shallow: dict[str, Node] = {}
    places = dict(spans)
    for name, body in rules.items():
        values: list[tuple[Node, int]] = []
        count = 0
        for node in postorder(body):
            first = len(values) - len(children(node))
            parts = values[first:]
            depth = 1 + max((depth for _, depth in parts), default=0)
            whole = with_children(node, tuple(part for part, _ in parts))
            if depth > _DEEPEST and node is not body:
                count += 1
                part = f"{name}@part{count}"
                shallow[part], places[part] = whole, node.span
                whole, depth = Call(part, node.span), 1
            values[first:] = [(whole, depth)]
        shallow[name] = values.pop()[0]
    return shallow, places
