"""GBNF expressions as values: characters, rules, tokens, their operators, and two rewritings.

Sequences, alternations and repetitions are made by the functions here: they drop what matches
nothing and flatten what needs no parentheses. llama.cpp takes neither of two things, so:

*The empty text is removed.* It treats an unbounded repetition of a nullable expression as left
recursion. Without the empty text the repetition matches the same.

*Left recursion is eliminated* by the matrix method (Rosenkrantz 1967). Rules that can begin with
one another are a system of equations ``A = B | A M``: ``B`` contains the bodies that begin with
none of them, ``M[j, i]`` the rest after rule j where rule i begins with it. Its solution is ``A = B
M*``; every element of ``M*`` becomes a rule, for a single rule a repetition. The grammar grows by
the square of the rules in one such system, never exponentially.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias, TypeGuard

from kbnf_core.automata.algebra import (
    EMPTY,
    NOTHING,
    Choice,
    Repeat,
    Sequence,
    children,
    fold,
    postorder,
    where,
)
from kbnf_core.automata.codepoints import ANY, CodePoints
from kbnf_core.automata.regex.syntax import Assertion, CharacterSet
from kbnf_core.automata.regex.syntax import Node as Regex
from kbnf_core.ir.analysis import cycles, fixpoint, reachable


@dataclass(frozen=True, slots=True, eq=False)
class RuleUse:
    """A rule."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class GbnfToken:
    """One token, as it is written: ``<[1]>``, ``!<[1]>`` or ``<text>``."""

    written: str


Leaf: TypeAlias = CharacterSet | RuleUse | GbnfToken
Node: TypeAlias = Leaf | Sequence["Node"] | Choice["Node"] | Repeat["Node"]


class Rules(dict[str, Node]):
    """Rules by name; the parts of each body are listed once."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: dict[str, list[Node]] = {}

    def parts(self, name: str) -> list[Node]:
        """Return the parts of a body, parts before wholes: the body is the last."""
        known = self._parts.get(name)
        if known is None or known[-1] is not self[name]:
            known = self._parts[name] = [*postorder(self[name])]
        return known

    def callees(self) -> dict[str, set[str]]:
        """Return for every rule the names that it uses."""
        return {
            name: {node.name for node in self.parts(name) if type(node) is RuleUse} for name in self
        }


def characters(points: CodePoints) -> Node:
    """Return one character of a set, which may be empty."""
    return CharacterSet(points) if points else NOTHING


def text(value: str) -> Node:
    """Return exactly this text."""
    return sequence(CharacterSet(((ord(char), ord(char)),)) for char in value)


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
        case CharacterSet():
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
    return (node.name for node in postorder(root) if isinstance(node, RuleUse))


def parts_where(parts: Iterable[Node], names: Collection[str], leaf: bool) -> dict[int, bool]:
    """Return by identity which parts of a tree have a property (see ``algebra.where``).

    ``names`` are the rules of which it is true, ``leaf`` whether it is of other leaves.
    """
    return where(parts, lambda node: node.name in names if isinstance(node, RuleUse) else leaf)


def names_where(rules: Rules, leaf: bool) -> set[str]:
    """Return the rules of which it is true, as ``parts_where`` has it."""

    def evaluate(name: str, known: Mapping[str, bool]) -> bool:
        names = {callee for callee in callees[name] if known.get(callee)}
        if leaf and len(names) == len(callees[name]) and NOTHING not in rules.parts(name):
            # With all that they call, such rules are productive.
            return True
        return parts_where(rules.parts(name), names, leaf)[id(rules[name])]

    callees = rules.callees()
    found = fixpoint(callees, bottom=False, evaluate=evaluate)
    return {name for name, is_true in found.items() if is_true}


def names_alive(rules: Rules) -> set[str]:
    """Return the rules that have texts, be it texts that never end."""

    def evaluate(name: str, known: Mapping[str, bool]) -> bool:
        names = {callee for callee in callees[name] if not known.get(callee)}
        return not parts_where(rules.parts(name), names, leaf=True)[id(rules[name])]

    callees = rules.callees()
    dead = fixpoint(callees, bottom=False, evaluate=evaluate)
    return {name for name, is_dead in dead.items() if not is_dead}


def end_at_endless(rules: Rules) -> bool:
    """End sequences, in place, at parts that have no text that ends: nothing after is reached.

    Returns whether the rules then have the infinite texts of those before, which they have not
    where a part without any text follows one that may go on for ever.
    """
    productive = names_where(rules, leaf=True)
    for name, body in rules.items():
        finite = parts_where(rules.parts(name), productive, leaf=True)

        def change(node: Node, parts: list[Node], finite: Mapping[int, bool] = finite) -> Node:
            if not isinstance(node, Sequence):
                return _simplified(node, parts)
            last = next((i for i, each in enumerate(node.parts) if not finite[id(each)]), None)
            return sequence(parts if last is None else parts[: last + 1])

        rules[name] = fold(body, change)
    alive = names_alive(rules)
    return not any(
        _goes_on(node.parts[:index])
        for parts in map(rules.parts, rules)
        for known in [parts_where(parts, alive, leaf=True)]
        for node in parts
        if isinstance(node, Sequence)
        for index, part in enumerate(node.parts)
        if not known[id(part)]
    )


def _goes_on(parts: Iterable[Node]) -> bool:
    """Return whether some part may have an infinite text."""
    return any(
        isinstance(node, RuleUse) or (isinstance(node, Repeat) and node.high is None)
        for part in parts
        for node in postorder(part)
    )


def prune(rules: Rules, keep: Collection[str], alive: Collection[str]) -> None:
    """Remove, in place, rules that are not ``alive``, and those that none of ``keep`` leads to."""

    def change(node: Node) -> Node:
        return NOTHING if isinstance(node, RuleUse) and node.name not in alive else node

    dead = [name for name in rules if name not in alive]
    for name in dead:
        del rules[name]
    for name in [*rules] if dead else ():
        rules[name] = rewrite(rules[name], change)
    if rules.keys() <= set(keep):
        return
    used = reachable(keep, rules.callees())
    for name in [name for name in rules if name not in used]:
        del rules[name]


JOINT = "_"
"""After the name of a rule in the names of rules made for it; no name of GBNF has it."""

SUFFIX = f"{JOINT}nonempty"
"""Ends the name of a rule that stands for another one without the empty text."""

INNER = f"{JOINT}inner"
"""Ends the name of the rule that is called in the place of the start, which is never empty."""


def nullable_parts(root: Node, names: Collection[str]) -> dict[int, bool]:
    """Return for every part of ``root``, by identity, whether it may be empty."""
    return parts_where(postorder(root), names, leaf=False)


def is_nullable(root: Node, names: Collection[str]) -> bool:
    """Return whether ``root`` may be empty; ``names`` are the rules that may."""
    return nullable_parts(root, names)[id(root)]


class Nonempty:
    """Makes parts nonempty; rules that are needed for it are added to ``rules``.

    ``nullable`` are the rules that may be empty. Rewritings here keep it: what they add is not, but
    for the copy of the start.
    """

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
        case RuleUse():
            return RuleUse(node.name + SUFFIX)
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


def generate_nonempty(rules: Rules, start: str, nonempty: Nonempty) -> None:
    """Rewrite ``start``, in place, so that it is not empty; where it is called, it may still be."""
    if start not in nonempty.nullable:
        return
    if any(start in called(body) for body in rules.values()):
        inner = start + INNER

        def change(node: Node) -> Node:
            return RuleUse(inner) if isinstance(node, RuleUse) and node.name == start else node

        for name, body in [*rules.items()]:
            rules[name] = rewrite(body, change)
        rules[inner] = rules[start]
        nonempty.nullable.add(inner)
    rules[start] = nonempty.of(rules[start])
    nonempty.nullable.remove(start)


def repeat_nonempty(rules: Rules, nonempty: Nonempty) -> None:
    """Rewrite unbounded repetitions of nullable expressions, in place."""

    def repeats_empty(node: Node) -> TypeGuard[Repeat[Node]]:
        if not isinstance(node, Repeat) or node.high is not None:
            return False
        return is_nullable(node.body, nonempty.nullable)

    def change(node: Node) -> Node:
        return repetition(nonempty.of(node.body), 0, None) if repeats_empty(node) else node

    done: set[str] = set()
    while names := [name for name in rules if name not in done]:
        for name in names:
            if any(map(repeats_empty, rules.parts(name))):
                rules[name] = rewrite(rules[name], change)
            done.add(name)


MOST_MEMBERS = 32
"""Rules that begin with each other; the rewritten ones are as many as their square."""


def eliminate_left_recursion(rules: Rules, nonempty: Nonempty) -> list[list[str]]:
    """Rewrite ``rules``, in place, so that none can begin with itself.

    Returns the cycles of more than ``MOST_MEMBERS``, of which each rule becomes any text.
    """
    lost: list[list[str]] = []
    found = cycles(_first_calls(rules, nonempty.nullable))
    recursive = {name for members in found for name in members}
    if not recursive.isdisjoint(nonempty.nullable):
        _split_nullable(rules, recursive, nonempty)
        found = cycles(_first_calls(rules, nonempty.nullable))
    for members in found:
        if len(members) <= MOST_MEMBERS:
            _solve(rules, members, nonempty)
            continue
        rules.update(dict.fromkeys(members, repetition(CharacterSet(ANY), 1, None)))
        lost.append(members)
    return lost


def _split_nullable(rules: Rules, recursive: set[str], nonempty: Nonempty) -> None:
    """Let rules on a cycle that may be empty call each other without the empty text only."""
    split = recursive & nonempty.nullable
    for name in sorted(split):
        nonempty.of(RuleUse(name))

    def change(node: Node) -> Node:
        if isinstance(node, RuleUse) and node.name in split:
            return alternation([RuleUse(node.name + SUFFIX), EMPTY])
        return node

    for name in sorted({*recursive, *(name for name in rules if name.endswith(SUFFIX))}):
        rules[name] = rewrite(rules[name], change)
    for name in split:
        rules[name] = alternation([RuleUse(name + SUFFIX), EMPTY])


def _first_calls(rules: Rules, nullable: set[str]) -> dict[str, set[str]]:
    """Return for every rule the rules that it may begin with."""
    return {name: _first_calls_of(body, nullable) for name, body in rules.items()}


def _first_calls_of(root: Node, names: set[str]) -> set[str]:
    nullable: dict[int, bool] | None = None
    found: set[str] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, RuleUse):
            found.add(node.name)
        elif isinstance(node, Sequence):
            for item in node.parts:
                pending.append(item)
                if isinstance(item, CharacterSet | GbnfToken):
                    break
                nullable = nullable_parts(root, names) if nullable is None else nullable
                if not nullable[id(item)]:
                    break
        else:
            pending.extend(children(node))
    return found


@dataclass(slots=True)
class _Split:
    """A part cut by what it begins with: ``base`` with no member, ``rest[m]`` after member m."""

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
            sequence([splits[first].base, RuleUse(behind.name(first, name))])
            for first in members
            if splits[first].base is not NOTHING
        )
    rules.update(behind.rules())


class _Behind:
    """The elements of ``M*``: what rule ``outer`` may read after rule ``first``.

    Where a member is another one with nothing after it, the step costs no text; such steps are
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
        """Return the name of the rule for the rest after ``first`` in ``outer``."""
        return f"{outer}{JOINT}after{JOINT}{first}"

    def rules(self) -> dict[str, Node]:
        """Return all of them."""
        return {
            self.name(first, outer): self._body(first, outer)
            for first in self._members
            for outer in self._members
        }

    def _body(self, first: str, outer: str) -> Node:
        steps = [
            sequence([self._step(via, inner), RuleUse(self.name(inner, outer))])
            for via in self._free[first]
            for inner in self._members
        ]
        return alternation([*steps, *([EMPTY] if outer in self._free[first] else [])])

    def _step(self, first: str, outer: str) -> Node:
        return _without_empty(self._steps[first, outer], self._nonempty)

    def _reach_free(self, first: str) -> list[str]:
        """Return the members that ``first`` is, with nothing after it; itself among them."""
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
        case RuleUse() if node.name in members:
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
    """Cut at the first item, and at those after it that only empty ones are before."""
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
