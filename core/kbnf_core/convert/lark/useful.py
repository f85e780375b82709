"""Drops what matches nothing, or nothing but the empty text, so that what is left can go on."""

from dataclasses import replace

from kbnf_core.convert.lark.model import (
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

_Matches = tuple[bool, bool]
"""Whether there is a text, and whether there is one that is not empty."""


def only_useful(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` without parts that match nothing or only the empty text."""
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
            some = all(has_any for has_any, _ in parts)
            return some, some and any(has_text for _, has_text in parts)
        case Choice():
            return any(has_any for has_any, _ in parts), any(has_text for _, has_text in parts)
        case Repeat(_, low):
            has_any, has_text = parts[0]
            return low == 0 or has_any, has_text


def _reduced(root: Node, known: dict[int, _Matches]) -> Node:
    values: list[Node] = []
    for node in postorder(root):
        first = len(values) - len(children(node))
        has_any, has_text = known[id(node)]
        if not has_any:
            new: Node = Choice((), node.span)
        elif not has_text:
            new = Sequence((), node.span)
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
