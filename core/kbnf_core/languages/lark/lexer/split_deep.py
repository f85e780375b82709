"""Splits deep parts of rules into rules of their own, since later passes recurse into parts."""

from collections.abc import Mapping

from kbnf_core.languages.lark.reader.model import Call, Node, children, postorder, with_children
from kbnf_core.source import Span

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
