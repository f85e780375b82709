"""Eliminates left recursion by the matrix method (Rosenkrantz 1967).

Rules that can begin with one another are a system of equations ``A = B | A M``: ``B`` holds what
begins with none of them, ``M[j, i]`` what stands behind rule j where rule i begins with it. Its
solution is ``A = B M*``; every element of ``M*`` becomes a rule, for a single rule a repetition.
The grammar grows by the square of the rules in one such system, never exponentially.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from kbnf_core.expression import EMPTY, NOTHING, Choice, Repeat, Sequence, children, fold
from kbnf_core.ir.analysis import cycles
from kbnf_core.languages.gbnf.writer.expression import (
    Call,
    Node,
    Rules,
    alternation,
    repetition,
    rewrite,
    sequence,
)
from kbnf_core.languages.gbnf.writer.nonempty import SUFFIX, Nonempty, is_nullable, nullable_parts


def eliminate_left_recursion(rules: Rules) -> None:
    """Rewrite ``rules``, in place, so that none can begin with itself."""
    _split_nullable(rules)
    nonempty = Nonempty(rules)
    for members in cycles(_first_calls(rules, nonempty.nullable)):
        _solve(rules, members, nonempty)


def _split_nullable(rules: Rules) -> None:
    """Let rules on a cycle that may be empty call each other without the empty text only."""
    nonempty = Nonempty(rules)
    recursive = {
        name for members in cycles(_first_calls(rules, nonempty.nullable)) for name in members
    }
    split = recursive & nonempty.nullable
    for name in sorted(split):
        nonempty.of(Call(name))

    def change(node: Node) -> Node:
        if isinstance(node, Call) and node.name in split:
            return alternation([Call(node.name + SUFFIX), EMPTY])
        return node

    for name in sorted({*recursive, *(name for name in rules if name.endswith(SUFFIX))}):
        rules[name] = rewrite(rules[name], change)
    for name in split:
        rules[name] = alternation([Call(name + SUFFIX), EMPTY])


def _first_calls(rules: Mapping[str, Node], nullable: set[str]) -> dict[str, set[str]]:
    """Return for every rule the rules that it may begin with."""
    return {name: _first_calls_of(body, nullable) for name, body in rules.items()}


def _first_calls_of(root: Node, names: set[str]) -> set[str]:
    nullable = nullable_parts(root, names)
    found: set[str] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, Call):
            found.add(node.name)
        elif isinstance(node, Sequence):
            for item in node.parts:
                pending.append(item)
                if not nullable[id(item)]:
                    break
        else:
            pending.extend(children(node))
    return found


@dataclass(slots=True)
class _Split:
    """A part cut by what it begins with: ``base`` with no member, ``rest[m]`` behind member m."""

    base: Node
    rest: dict[str, Node] = field(default_factory=dict)


def _solve(rules: Rules, members: list[str], nonempty: Nonempty) -> None:
    splits = {name: _cut(rules[name], set(members), nonempty) for name in members}
    if len(members) == 1:
        name = members[0]
        split = splits[name]
        again = _without_empty(split.rest.get(name, NOTHING), nonempty)
        rules[name] = sequence([split.base, repetition(again, 0, None)])
        return
    behind = _Behind(splits, nonempty)
    for name in members:
        rules[name] = alternation(
            sequence([splits[first].base, Call(behind.name(first, name))])
            for first in members
            if splits[first].base is not NOTHING
        )
    rules.update(behind.rules())


class _Behind:
    """The elements of ``M*``: what rule ``outer`` may read behind rule ``first``.

    Where a member is another one with nothing behind it, the step costs no text; such steps are
    joined with the next one that does, so that the new rules are not left recursive themselves.
    """

    def __init__(self, splits: Mapping[str, _Split], nonempty: Nonempty) -> None:
        self._members = list(splits)
        self._steps = {
            (first, outer): splits[outer].rest.get(first, NOTHING)
            for first in splits
            for outer in splits
        }
        self._nonempty = nonempty
        self._free = {first: self._reach_free(first) for first in splits}

    def name(self, first: str, outer: str) -> str:
        """Return the name of the rule for what is behind ``first`` in ``outer``."""
        return f"{outer}-after-{first}"

    def rules(self) -> Rules:
        """Return all of them."""
        return {
            self.name(first, outer): self._body(first, outer)
            for first in self._members
            for outer in self._members
        }

    def _body(self, first: str, outer: str) -> Node:
        steps = [
            sequence([self._step(via, inner), Call(self.name(inner, outer))])
            for via in self._free[first]
            for inner in self._members
        ]
        return alternation([*steps, *([EMPTY] if outer in self._free[first] else [])])

    def _step(self, first: str, outer: str) -> Node:
        return _without_empty(self._steps[first, outer], self._nonempty)

    def _reach_free(self, first: str) -> list[str]:
        """Return the members that ``first`` is, with nothing behind it; itself among them."""
        reached = [first]
        for via in reached:
            reached.extend(
                outer
                for outer in self._members
                if outer not in reached
                and is_nullable(self._steps[via, outer], self._nonempty.nullable)
            )
        return reached


def _without_empty(node: Node, nonempty: Nonempty) -> Node:
    return nonempty.of(node) if is_nullable(node, nonempty.nullable) else node


def _cut(root: Node, members: set[str], nonempty: Nonempty) -> _Split:
    """Cut ``root``, of which no member is nullable, by the member it begins with."""
    nullable = nullable_parts(root, nonempty.nullable)
    return fold(
        root,
        lambda node, parts: _cut_one(node, parts, members, nullable, nonempty),
    )


def _cut_one(
    node: Node,
    parts: list[_Split],
    members: set[str],
    nullable: Mapping[int, bool],
    nonempty: Nonempty,
) -> _Split:
    match node:
        case Call() if node.name in members:
            return _Split(NOTHING, {node.name: EMPTY})
        case Choice() if any(part.rest for part in parts):
            return _union(parts)
        case Repeat() if parts[0].rest:
            return _cut_repetition(node, parts[0], nullable, nonempty)
        case Sequence():
            return _cut_sequence(node, parts, nullable, nonempty)
        case _:
            return _Split(node)


def _union(parts: list[_Split]) -> _Split:
    names = dict.fromkeys(name for part in parts for name in part.rest)
    rest = {n: alternation(p.rest[n] for p in parts if n in p.rest) for n in names}
    return _Split(alternation(part.base for part in parts), rest)


def _cut_repetition(
    node: Repeat[Node], item: _Split, nullable: Mapping[int, bool], nonempty: Nonempty
) -> _Split:
    high = None if node.high is None else node.high - 1
    again = repetition(node.body, max(node.low - 1, 0), high)
    once = _followed(item, again, nullable[id(node.body)], nonempty)
    if nullable[id(node)]:
        return _Split(alternation([once.base, EMPTY]), once.rest)
    return once


def _cut_sequence(
    node: Sequence[Node], parts: list[_Split], nullable: Mapping[int, bool], nonempty: Nonempty
) -> _Split:
    """Cut at the first item, and at those behind it that only empty ones stand before."""
    found: list[_Split] = []
    for index, (item, part) in enumerate(zip(node.parts, parts, strict=True)):
        behind = sequence(node.parts[index + 1 :])
        found.append(_followed(part, behind, nullable[id(item)], nonempty))
        if not nullable[id(item)]:
            break
    else:
        found.append(_Split(EMPTY))
    if not any(split.rest for split in found):
        return _Split(node)
    return _union(found)


def _followed(part: _Split, behind: Node, may_be_empty: bool, nonempty: Nonempty) -> _Split:
    """Return ``part``, if it is not empty, with ``behind`` after it."""
    base = nonempty.of(part.base) if may_be_empty and part.base is not NOTHING else part.base
    rest = {name: sequence([node, behind]) for name, node in part.rest.items()}
    return _Split(sequence([base, behind]), rest)
