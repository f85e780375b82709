"""Removes what matches nothing, and rules made on the way that nobody uses."""

from collections.abc import Collection, Mapping

from kbnf_core.languages.gbnf.writer.expression import (
    NOTHING,
    Alternation,
    Call,
    Node,
    Repetition,
    Rules,
    Sequence,
    called,
    postorder,
    rewrite,
)


def prune(rules: Rules, keep: Collection[str]) -> None:
    """Remove, in place, rules that match nothing, and those that none of ``keep`` leads to."""
    productive = _productive_names(rules)

    def change(node: Node) -> Node:
        return NOTHING if isinstance(node, Call) and node.name not in productive else node

    for name in [*rules]:
        if name in productive:
            rules[name] = rewrite(rules[name], change)
        else:
            del rules[name]
    used = _reachable(rules, keep)
    for name in [name for name in rules if name not in used]:
        del rules[name]


def _productive_names(rules: Mapping[str, Node]) -> set[str]:
    """Return the rules that match something: a worklist over who uses whom."""
    users: dict[str, set[str]] = {}
    for name, body in rules.items():
        for used in called(body):
            users.setdefault(used, set()).add(name)
    productive: set[str] = set()
    pending = list(rules)
    while pending:
        name = pending.pop()
        if name not in productive and _is_productive(rules[name], productive):
            productive.add(name)
            pending.extend(users.get(name, ()))
    return productive


def _is_productive(root: Node, names: set[str]) -> bool:
    known: dict[int, bool] = {}
    for node in postorder(root):
        match node:
            case Call():
                known[id(node)] = node.name in names
            case Sequence():
                known[id(node)] = all(known[id(item)] for item in node.items)
            case Alternation():
                known[id(node)] = any(known[id(item)] for item in node.items)
            case Repetition():
                known[id(node)] = node.low == 0 or known[id(node.item)]
            case _:
                known[id(node)] = True
    return known[id(root)]


def _reachable(rules: Mapping[str, Node], roots: Collection[str]) -> set[str]:
    found = {name for name in roots if name in rules}
    pending = list(found)
    while pending:
        fresh = {name for name in called(rules[pending.pop()]) if name not in found}
        found |= fresh
        pending.extend(fresh)
    return found
