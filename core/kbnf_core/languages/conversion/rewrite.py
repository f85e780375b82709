"""Rebuilds syntax trees with some of their leaves replaced."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from kbnf_core.syntax.tree import (
    Alternation,
    Bracket,
    Definition,
    Expression,
    Leaf,
    Name,
    Reference,
    Repetition,
    Sequence,
    children,
)
from kbnf_core.traversal import fold


def rewrite(root: Expression, change: Callable[[Leaf], Expression]) -> Expression:
    """Return ``root`` with every leaf replaced by what ``change`` returns for it."""
    return fold(root, children, lambda node, parts: rebuild(node, parts, change))


def rename(definition: Definition, names: Mapping[str, str]) -> Definition:
    """Return ``definition`` with all names, its own and those it uses, replaced."""

    def change(leaf: Leaf) -> Leaf:
        if not isinstance(leaf, Reference):
            return leaf
        return Reference(Name(names[leaf.name.value], leaf.name.span), leaf.span)

    name = Name(names[definition.name.value], definition.name.span)
    return Definition(name, rewrite(definition.body, change), definition.span)


def rebuild(
    node: Expression, parts: list[Expression], change: Callable[[Leaf], Expression]
) -> Expression:
    """Return ``node`` with other parts; ``change`` gives what stands for a leaf."""
    match node:
        case Bracket() | Repetition():
            return replace(node, body=parts[0])
        case Sequence():
            return replace(node, items=tuple(parts))
        case Alternation():
            return replace(node, branches=tuple(parts))
        case _:
            return change(node)
