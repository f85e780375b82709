"""Nullability of parts, and each part with the empty text removed.

llama.cpp takes an unbounded repetition of what may be empty for left recursion. Without the
empty text the repetition matches the same.
"""

from collections.abc import Collection, Mapping

from kbnf_core.expression import NOTHING, Choice, Repeat, Sequence, fold
from kbnf_core.languages.gbnf.writer.expression import (
    Call,
    Node,
    Rules,
    alternation,
    called,
    names_where,
    parts_where,
    repetition,
    rewrite,
    sequence,
)

SUFFIX = "-nonempty"
"""Ends the name of a rule that stands for another one without the empty text."""

INNER = "-inner"
"""Ends the name of the rule that is called in the place of the start, which is never empty."""


def nullable_parts(root: Node, names: Collection[str]) -> dict[int, bool]:
    """Return for every part of ``root``, by identity, whether it may be empty."""
    return parts_where(root, names, leaf=False)


def is_nullable(root: Node, names: Collection[str]) -> bool:
    """Tell whether ``root`` may be empty; ``names`` are the rules that may."""
    return nullable_parts(root, names)[id(root)]


class Nonempty:
    """Makes parts nonempty; rules that are needed for it are added to ``rules``."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.nullable = names_where(rules, leaf=False)

    def of(self, root: Node) -> Node:
        """Return ``root`` without the empty text."""
        result, wanted = self._strip(root)
        pending = list(wanted)
        while pending:
            name = pending.pop()
            if name + SUFFIX not in self._rules:
                self._rules[name + SUFFIX], more = self._strip(self._rules[name])
                pending.extend(more)
        return result

    def _strip(self, root: Node) -> tuple[Node, list[str]]:
        """Return ``root`` without the empty text, and the rules it needs without it."""
        nullable = nullable_parts(root, self.nullable)
        result = fold(root, lambda node, parts: _stripped(node, parts, nullable))
        suffixed = (name for name in called(result) if name.endswith(SUFFIX))
        return result, [name.removesuffix(SUFFIX) for name in suffixed]


def _stripped(node: Node, parts: list[Node], nullable: Mapping[int, bool]) -> Node:
    """Return ``node`` without the empty text; ``parts`` are its parts without it."""
    if not nullable[id(node)]:
        return node
    match node:
        case Call():
            return Call(node.name + SUFFIX)
        case Choice():
            return alternation(parts)
        case Repeat():
            return repetition(parts[0], 1, node.high) if parts[0] is not NOTHING else NOTHING
        case Sequence():
            # Each branch has one part that is not empty, and none before it.
            return alternation(
                sequence([part, *node.parts[index + 1 :]]) for index, part in enumerate(parts)
            )
        case _:
            return node


def generate_nonempty(rules: Rules, start: str) -> None:
    """Rewrite ``start``, in place, so that it is not empty; where it is called, it may still be."""
    nonempty = Nonempty(rules)
    if start not in nonempty.nullable:
        return
    if any(start in called(body) for body in rules.values()):
        inner = start + INNER

        def change(node: Node) -> Node:
            return Call(inner) if isinstance(node, Call) and node.name == start else node

        for name, body in [*rules.items()]:
            rules[name] = rewrite(body, change)
        rules[inner] = rules[start]
        nonempty = Nonempty(rules)
    rules[start] = nonempty.of(rules[start])


def repeat_nonempty(rules: Rules) -> None:
    """Rewrite unbounded repetitions of what may be empty, in place."""
    nonempty = Nonempty(rules)

    def change(node: Node) -> Node:
        if not (isinstance(node, Repeat) and node.high is None):
            return node
        if not is_nullable(node.body, nonempty.nullable):
            return node
        return repetition(nonempty.of(node.body), 0, None)

    done: set[str] = set()
    while names := [name for name in rules if name not in done]:
        for name in names:
            rules[name] = rewrite(rules[name], change)
            done.add(name)
