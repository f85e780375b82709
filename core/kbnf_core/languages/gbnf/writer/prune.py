"""Removes parts that match nothing, and generated rules that are unused."""

from collections.abc import Collection

from kbnf_core.expression import NOTHING
from kbnf_core.ir.analysis import reachable
from kbnf_core.languages.gbnf.writer.expression import (
    Call,
    Node,
    Rules,
    called,
    names_where,
    rewrite,
)


def prune(rules: Rules, keep: Collection[str]) -> None:
    """Remove, in place, rules that match nothing, and those that none of ``keep`` leads to."""
    productive = names_where(rules, leaf=True)

    def change(node: Node) -> Node:
        return NOTHING if isinstance(node, Call) and node.name not in productive else node

    for name in [*rules]:
        if name in productive:
            rules[name] = rewrite(rules[name], change)
        else:
            del rules[name]
    used = reachable(keep, {name: list(called(body)) for name, body in rules.items()})
    for name in [name for name in rules if name not in used]:
        del rules[name]
