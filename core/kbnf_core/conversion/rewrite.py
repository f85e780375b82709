"""Rebuilds syntax trees with other leaves, and merges the variants of a rule that say the same.

A conversion that writes a rule several times, once for each thing that may occur before or after
it, often writes the same again. Rules are alike where their bodies are, with alike rules in the
same places; the coarsest such partition is found from below (bisimulation): all are alike until
something distinguishes them (Moore 1956, for automata).

Tests: tests/unit/languages/test_variants.py
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import TypeAlias

from kbnf_core.automata.traversal import fold
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import (
    Alternation,
    Bracket,
    Concatenation,
    Definition,
    Exception_,
    Expression,
    Leaf,
    Name,
    Pattern,
    Reference,
    Repetition,
    Terminal,
    Text,
    TokenName,
    children,
    postorder,
)
from kbnf_core.text.source import Span


def rewrite(root: Expression, change: Callable[[Leaf], Expression]) -> Expression:
    """Return ``root`` with every leaf replaced by what ``change`` returns for it."""
    return fold(root, children, lambda node, operands: rebuild(node, operands, change))


def rename(definition: Definition, names: Mapping[str, str]) -> Definition:
    """Return ``definition`` with all names, its own and those it uses, replaced."""

    def renamed(name: Name) -> Name:
        return Name(names[name.value], name.span)

    def change(leaf: Leaf) -> Leaf:
        match leaf:
            case Reference(name):
                return replace(leaf, name=renamed(name))
            case Exception_(Name() as name):
                return replace(leaf, excluded=renamed(name))
            case _:
                return leaf

    name = renamed(definition.name)
    return replace(definition, name=name, body=rewrite(definition.body, change))


def rebuild(
    node: Expression, inner: list[Expression], change: Callable[[Leaf], Expression]
) -> Expression:
    """Return ``node`` with other parts; ``change`` gives what stands for a leaf."""
    match node:
        case Bracket() | Repetition():
            return replace(node, body=inner[0])
        case Concatenation():
            return replace(node, items=tuple(inner))
        case Alternation():
            return replace(node, branches=tuple(inner))
        case _:
            return change(node)


Placing: TypeAlias = Callable[[Span], Span]
"""Maps a span of an embedded text to its span in the text around it."""


def at(span: Span) -> Placing:
    """Return the mapping of every span to this one."""
    return lambda _: span


def placed(definition: Definition, where: Placing) -> Definition:
    """Return ``definition`` with the spans of all its parts mapped."""

    def change(node: Expression, inner: list[Expression]) -> Expression:
        return _placed(node, inner, where)

    body = fold(definition.body, children, change)
    return Definition(_name(definition.name, where), body, where(definition.span))


def _placed(node: Expression, inner: list[Expression], where: Placing) -> Expression:
    span = where(node.span)
    match node:
        case Repetition():
            return replace(node, body=inner[0], operator=where(node.operator), span=span)
        case Terminal() | Pattern() | TokenName():
            return replace(node, text=_text(node.text, where), span=span)
        case Exception_(Terminal(text) as excluded):
            moved = Terminal(_text(text, where), where(excluded.span))
            return replace(node, excluded=moved, span=span)
        case Exception_(Name() as name):
            return replace(node, excluded=_name(name, where), span=span)
        case Reference(name):
            return replace(node, name=_name(name, where), span=span)
        case _:
            return replace(rebuild(node, inner, lambda leaf: leaf), span=span)


def _name(name: Name, where: Placing) -> Name:
    return Name(name.value, where(name.span))


def _text(text: Text, where: Placing) -> Text:
    span = where(text.span)
    origins = tuple(where(Span(origin, origin)).start for origin in text.origins)
    return Text(text.value, span, origins or (span.start,) * (len(text.value) + 1))


_ANY = Reference(Name("x", Span(0, 0)), Span(0, 0))


def merge_variants(
    definitions: Collection[Definition], families: Mapping[str, str]
) -> list[Definition]:
    """Return ``definitions`` with one of those that are alike and of one family.

    ``families`` maps the names of variants to what they are variants of; others stay as they are.
    """
    if len(set(families.values())) == len(families):
        return list(definitions)
    classes = _classes(definitions)
    first: dict[tuple[int, str], str] = {}
    chosen: dict[str, str] = {}
    for definition in definitions:
        name = definition.name.value
        family = families.get(name)
        chosen[name] = name
        if family is not None:
            chosen[name] = first.setdefault((classes[name], family), name)
    outside = {name for definition in definitions for name in _called(definition)} - chosen.keys()
    names = chosen | {name: name for name in outside}
    return [
        _rename(definition, names)
        for definition in definitions
        if chosen[definition.name.value] == definition.name.value
    ]


def _rename(definition: Definition, names: Mapping[str, str]) -> Definition:
    """Return ``definition`` with other names, and each of its alternatives once."""
    if all(names[name] == name for name in _called(definition)):
        return definition
    renamed = rename(definition, names)
    return replace(renamed, body=fold(renamed.body, children, _without_repeats))


def _without_repeats(node: Expression, inner: list[Expression]) -> Expression:
    node = rebuild(node, inner, lambda leaf: leaf)
    if not isinstance(node, Alternation):
        return node
    branches = tuple({print_expression(branch): branch for branch in node.branches}.values())
    return branches[0] if len(branches) == 1 else replace(node, branches=branches)


def _classes(definitions: Collection[Definition]) -> dict[str, int]:
    """Return for each name the number of its class.

    Of a class that falls apart the largest part keeps its number, so that only what calls the
    others is looked at again (J. Hopcroft, 1971).
    """
    called = {definition.name.value: _called(definition) for definition in definitions}
    callers: dict[str, list[str]] = {name: [] for name in called}
    for name, names in called.items():
        for callee in set(names) & called.keys():
            callers[callee].append(name)
    shapes: dict[str, int] = {}
    classes = {
        definition.name.value: shapes.setdefault(_shape(definition), len(shapes))
        for definition in definitions
    }
    members: list[set[str]] = [set() for _ in shapes]
    for name, number in classes.items():
        members[number].add(name)
    pending = set(called)
    while pending:
        split: dict[int, dict[tuple[object, ...], set[str]]] = {}
        for name in pending:
            key = tuple(classes.get(callee, callee) for callee in called[name])
            split.setdefault(classes[name], {}).setdefault(key, set()).add(name)
        moved: set[str] = set()
        for number, by_key in split.items():
            # The others of the class call what they did, and none of these does.
            groups = sorted(by_key.values(), key=len)
            rest = len(members[number]) - sum(map(len, groups))
            if rest < len(groups[-1]):
                groups[-1:] = [members[number].difference(*groups)] if rest else []
            for group in groups:
                members[number] -= group
                classes.update(dict.fromkeys(group, len(members)))
                members.append(group)
                moved |= group
        pending = {caller for name in moved for caller in callers[name]}
    return classes


def _shape(definition: Definition) -> str:
    """Return a body as text, without the names that it calls."""

    def change(leaf: Leaf) -> Leaf:
        return _ANY if isinstance(leaf, Reference) else leaf

    return print_expression(rewrite(definition.body, change))


def _called(definition: Definition) -> tuple[str, ...]:
    """Return the names that a body calls, in their order."""
    leaves = postorder(definition.body)
    return tuple(leaf.name.value for leaf in leaves if isinstance(leaf, Reference))
