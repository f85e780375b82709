"""Rules as the later passes need them: no useless parts, none nested deep.

``only_useful`` removes parts that can consume no lexeme, so that every remaining position has a
continuation; unproductive parts stay: they never match, but the lexer expects their lexemes.
``make_shallow`` splits deep parts into rules of their own, since later passes recurse into parts.
"""

from collections.abc import Mapping
from dataclasses import replace

from kbnf_core.ir.analysis import fixpoint, reachable
from kbnf_core.languages.lark.reader.model import (
    Call,
    Choice,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
    children,
    postorder,
    with_children,
)
from kbnf_core.source import Span
from kbnf_core.traversal import fold

_Matches = tuple[bool, bool]
"""Whether there is a text, and whether some lexeme is ever expected."""


def only_useful(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` without parts in which no lexeme is ever expected."""
    rules: Mapping[str, _Matches] = fixpoint(
        _callees(grammar),
        (False, False),
        lambda name, known: _reduced(grammar.rules[name], known)[1],
    )
    bodies = {name: _reduced(body, rules)[0] for name, body in grammar.rules.items()}
    return only_reached(replace(grammar, rules=bodies))


def only_reached(grammar: LexicalGrammar) -> LexicalGrammar:
    """Return ``grammar`` with the rules that the start reaches."""
    reached = reachable([grammar.start], _callees(grammar))
    kept = {name: body for name, body in grammar.rules.items() if name in reached}
    return replace(grammar, rules=kept)


def _callees(grammar: LexicalGrammar) -> dict[str, list[str]]:
    return {
        name: [node.name for node in postorder(body) if isinstance(node, Call)]
        for name, body in grammar.rules.items()
    }


def _reduced(root: Node, rules: Mapping[str, _Matches]) -> tuple[Node, _Matches]:
    """Return ``root`` without useless parts, and what it matches."""

    def reduce(node: Node, parts: list[tuple[Node, _Matches]]) -> tuple[Node, _Matches]:
        matches = _matches(node, [found for _, found in parts], rules)
        kept = tuple(part for part, _ in parts)
        if not matches[1]:
            empty = Sequence((), node.span) if matches[0] else Choice((), node.span)
            return empty, matches
        if isinstance(node, Sequence):
            kept = tuple(p for p in kept if not isinstance(p, Sequence) or p.items)
        elif isinstance(node, Choice):
            kept = tuple(p for p in kept if not isinstance(p, Choice) or p.branches)
        return with_children(node, kept), matches

    return fold(root, children, reduce)


def _matches(node: Node, parts: list[_Matches], rules: Mapping[str, _Matches]) -> _Matches:
    match node:
        case Call(name):
            return rules[name]
        case Sequence():
            # What stands behind a part that never ends is never expected.
            stop = next((n for n, part in enumerate(parts, 1) if not part[0]), len(parts))
            return all(any_ for any_, _ in parts), any(expects for _, expects in parts[:stop])
        case Choice():
            return any(any_ for any_, _ in parts), any(expects for _, expects in parts)
        case Repeat(_, low):
            return low == 0 or parts[0][0], parts[0][1]
    return True, True


_DEEPEST = 12
"""Parts inside one another in one rule."""


def make_shallow(
    rules: Mapping[str, Node], spans: Mapping[str, Span]
) -> tuple[dict[str, Node], dict[str, Span]]:
    """Return the rules, none deeper than the limit, and where they stand."""
    shallow: dict[str, Node] = {}
    places = dict(spans)
    for name, body in rules.items():
        count = len(shallow)

        def split(
            node: Node, parts: list[tuple[Node, int]], name: str = name, count: int = count
        ) -> tuple[Node, int]:
            depth = 1 + max((depth for _, depth in parts), default=0)
            whole = with_children(node, tuple(part for part, _ in parts))
            if depth <= _DEEPEST:
                return whole, depth
            part = f"{name}@part{len(shallow) - count + 1}"
            shallow[part], places[part] = whole, node.span
            return Call(part, node.span), 1

        shallow[name] = fold(body, children, split)[0]
    return shallow, places
