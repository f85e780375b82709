"""GBNF expressions as values: characters, rules, tokens, and their operators.

Build sequences, alternations and repetitions with the functions here: they drop what matches
nothing and flatten what needs no parentheses.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.regex.syntax import Assertion, Characters
from kbnf_core.automata.regex.syntax import Node as Regex
from kbnf_core.expression import EMPTY, NOTHING, Choice, Repeat, Sequence, children, fold, postorder
from kbnf_core.ir.analysis import fixpoint, reachable


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """A rule."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Token:
    """One token, as it is written: ``<[1]>``, ``!<[1]>`` or ``<text>``."""

    written: str


Leaf: TypeAlias = Characters | Call | Token
Node: TypeAlias = Leaf | Sequence["Node"] | Choice["Node"] | Repeat["Node"]
Rules: TypeAlias = dict[str, Node]


def characters(points: CodePoints) -> Node:
    """Return one character of a set, which may be empty."""
    return Characters(points) if points else NOTHING


def text(value: str) -> Node:
    """Return exactly this text."""
    return sequence(Characters(((ord(char), ord(char)),)) for char in value)


def sequence(parts: Iterable[Node]) -> Node:
    """Return one after the other."""
    items: list[Node] = []
    for part in parts:
        if part is NOTHING:
            return NOTHING
        items.extend(part.parts if isinstance(part, Sequence) else (part,))
    if len(items) == 1:
        return items[0]
    return Sequence(tuple(items)) if items else EMPTY


def alternation(parts: Iterable[Node]) -> Node:
    """Return any one of them; the same value is not said twice."""
    items: dict[int, Node] = {}
    for part in parts:
        for item in part.branches if isinstance(part, Choice) else (part,):
            items.setdefault(id(item), item)
    if len(items) == 1:
        return next(iter(items.values()))
    return Choice(tuple(items.values())) if items else NOTHING


def repetition(item: Node, low: int, high: int | None) -> Node:
    """Return ``low`` to ``high`` times ``item``."""
    if item is NOTHING:
        return EMPTY if low == 0 else NOTHING
    if high == 0 or item is EMPTY:
        return EMPTY
    return item if (low, high) == (1, 1) else Repeat(item, low, high)


def of_regex(root: Regex) -> Node:
    """Return a parsed regular expression without assertions."""
    return fold(root, _simplified)


def _simplified(node: Node | Regex, parts: list[Node]) -> Node:
    match node:
        case Sequence():
            return sequence(parts)
        case Choice():
            return alternation(parts)
        case Repeat():
            return repetition(parts[0], node.low, node.high)
        case Characters():
            return characters(node.points)
        case Assertion():
            return EMPTY
        case _:
            return node


def rewrite(root: Node, change: Callable[[Node], Node]) -> Node:
    """Return ``root`` with ``change`` applied to every part, parts before wholes."""

    def changed(node: Node, parts: list[Node]) -> Node:
        return change(node if tuple(parts) == children(node) else _simplified(node, parts))

    return fold(root, changed)


def called(root: Node) -> Iterator[str]:
    """Yield the names of the rules that ``root`` uses."""
    return (node.name for node in postorder(root) if isinstance(node, Call))


def parts_where(root: Node, names: Collection[str], leaf: bool) -> dict[int, bool]:
    """Return by identity what is true of every part of ``root``: nullable, or productive.

    It is true of a sequence if it is of all items, of an alternation if of one, of a repetition
    also if it may have no turn; ``names`` are the rules of which it is, ``leaf`` tells of others.
    """
    known: dict[int, bool] = {}
    for node in postorder(root):
        match node:
            case Call():
                known[id(node)] = node.name in names
            case Sequence():
                known[id(node)] = all(known[id(item)] for item in node.parts)
            case Choice():
                known[id(node)] = any(known[id(item)] for item in node.branches)
            case Repeat():
                known[id(node)] = node.low == 0 or known[id(node.body)]
            case _:
                known[id(node)] = leaf
    return known


def names_where(rules: Mapping[str, Node], leaf: bool) -> set[str]:
    """Return the rules of which it is true, as ``parts_where`` has it."""

    def evaluate(name: str, known: Mapping[str, bool]) -> bool:
        names = {callee for callee in callees[name] if known.get(callee)}
        return parts_where(rules[name], names, leaf)[id(rules[name])]

    callees = {name: set(called(body)) for name, body in rules.items()}
    found = fixpoint(callees, bottom=False, evaluate=evaluate)
    return {name for name, is_true in found.items() if is_true}


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
