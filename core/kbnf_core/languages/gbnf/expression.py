"""Two rewritings of a grammar over texts and sets of characters, which llama.cpp needs.

Rules are those of the IR. Their leaves are literals, automata of one character of a set
(``one_of``), calls and tokens. llama.cpp takes neither of two things, so:

*The empty text is removed.* It treats an unbounded repetition of a nullable expression as left
recursion. Without the empty text the repetition matches the same.

*Left recursion is eliminated* by the matrix method (Rosenkrantz 1967). Rules that can begin with
one another are a system of equations ``A = B | A M``: ``B`` contains the branches that begin with
none of them, ``M[j, i]`` the rest after rule j where rule i begins with it. Its solution is
``A = B M*``; every element of ``M*`` becomes a rule, for a single rule a repetition. The grammar
grows by the square of the rules in one such system, never exponentially.

Tests: tests/unit/languages/gbnf/test_to_gbnf.py, tests/property/test_convert_gbnf.py.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import TypeGuard

from kbnf_core.automata.codepoints import ANY, CodePoints
from kbnf_core.automata.expression import print_characters
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import (
    Call,
    Choice,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    calls,
    children,
    postorder,
)
from kbnf_core.ir.analysis import cycles, reachable
from kbnf_core.ir.build import EMPTY, any_of, call, repeated, sequence, text
from kbnf_core.lower.facts import (
    first_calls,
    nullable_names,
    nullable_nodes,
    useful,
    without_empty,
)
from kbnf_core.text.source import NOWHERE

Rules = dict[str, Node]
"""Rules by name."""

NOTHING: Node = Choice((), NOWHERE)
"""The empty language."""


def one_of(points: CodePoints) -> Node:
    """Return one character of a set, which may be empty."""
    if not points:
        return NOTHING
    low, high = points[0]
    if len(points) == 1 and low == high:
        return text(chr(low))
    dfa = compile_regex(print_characters(points)).dfa
    return NOTHING if dfa is None else Regular(dfa, NOWHERE)


def remade(node: Node, operands: list[Node]) -> Node:
    """Return ``node`` with other parts, flat; an empty branch stays one."""
    match node:
        case Sequence():
            return sequence(*operands)
        case Choice():
            return any_of(operands) or NOTHING
        case Repeat(_, low, high):
            return repeated(operands[0], low, high)
        case _:
            return node


def rewrite(root: Node, change: Callable[[Node], Node]) -> Node:
    """Return ``root`` with ``change`` applied to every part, parts before wholes."""

    def changed(node: Node, operands: list[Node]) -> Node:
        return change(node if tuple(operands) == children(node) else remade(node, operands))

    return fold(root, children, changed)


def callees_of(rules: Mapping[str, Node]) -> dict[str, list[str]]:
    """Return for every rule the names that it uses."""
    return {name: [site.nonterminal for site in calls(body)] for name, body in rules.items()}


def reduced(rules: Rules, keep: Collection[str], *, endless: bool) -> Rules:
    """Return rules without the parts that have no text, as far as one of ``keep`` leads to them.

    With ``endless``, texts that never end are some, too.
    """
    some = useful(rules, endless=endless)
    for name, body in some.items():
        if body is not rules[name]:
            some[name] = fold(body, children, remade)
    if some.keys() <= set(keep):
        return some
    used = reachable([name for name in keep if name in some], callees_of(some))
    return {name: body for name, body in some.items() if name in used}


JOINT = "_"
"""After the name of a rule in the names of rules made for it; no name of GBNF has it."""

SUFFIX = f"{JOINT}nonempty"
"""Ends the name of a rule that stands for another one without the empty text."""

INNER = f"{JOINT}inner"
"""Ends the name of the rule that is called in the place of the start, which is never empty."""


class Nonempty:
    """Makes parts nonempty; rules that are needed for it are added to ``rules``.

    ``nullable`` are the rules that may be empty. Rewritings here keep it: what they add is not, but
    for the copy of the start.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.nullable = nullable_names(rules)

    def nullable_by_node(self, root: Node) -> Mapping[int, bool]:
        """Return for every part of ``root``, by identity, whether it may be empty."""
        return nullable_nodes(root, self.nullable)

    def is_nullable(self, root: Node) -> bool:
        """Return whether ``root`` may be empty."""
        return self.nullable_by_node(root)[id(root)]

    def of(self, root: Node) -> Node | None:
        """Return ``root`` without the empty text; None where nothing else is left."""
        result, wanted = self._strip(root)
        pending = list(wanted)
        while pending:
            name = pending.pop()
            if name + SUFFIX not in self._rules:
                body, more = self._strip(self._rules[name])
                self._rules[name + SUFFIX] = NOTHING if body is None else body
                pending.extend(more)
        return result

    def _strip(self, root: Node) -> tuple[Node | None, list[str]]:
        """Return ``root`` without the empty text, and the rules it needs without it."""
        result = without_empty(root, self.nullable_by_node(root), lambda name: name + SUFFIX)
        names = [] if result is None else [site.nonterminal for site in calls(result)]
        return result, [name.removesuffix(SUFFIX) for name in names if name.endswith(SUFFIX)]


def generate_nonempty(rules: Rules, start: str, nonempty: Nonempty) -> None:
    """Rewrite ``start``, in place, so that it is not empty; where it is called, it may still be."""
    if start not in nonempty.nullable:
        return
    if any(start in callees for callees in callees_of(rules).values()):
        inner = start + INNER

        def change(node: Node) -> Node:
            is_start = isinstance(node, Call) and node.nonterminal == start
            return call(inner) if is_start else node

        for name, body in [*rules.items()]:
            rules[name] = rewrite(body, change)
        rules[inner] = rules[start]
        nonempty.nullable.add(inner)
    rules[start] = nonempty.of(rules[start]) or NOTHING
    nonempty.nullable.remove(start)


def repeat_nonempty(rules: Rules, nonempty: Nonempty) -> None:
    """Rewrite unbounded repetitions of nullable expressions, in place."""

    def change(node: Node) -> Node:
        if not (_is_unbounded(node) and nonempty.is_nullable(node.body)):
            return node
        body = nonempty.of(node.body)
        return EMPTY if body is None else repeated(body, 0, None)

    pending = [*rules]
    for name in pending:
        if any(map(_is_unbounded, postorder(rules[name]))):
            before = set(rules)
            rules[name] = rewrite(rules[name], change)
            pending += [added for added in rules if added not in before]


def _is_unbounded(node: Node) -> TypeGuard[Repeat[Node]]:
    return isinstance(node, Repeat) and node.high is None


MOST_MEMBERS = 32
"""Rules that begin with each other; the rewritten ones are as many as their square."""


def eliminate_left_recursion(rules: Rules, nonempty: Nonempty) -> list[list[str]]:
    """Rewrite ``rules``, in place, so that none can begin with itself.

    Returns the cycles of more than ``MOST_MEMBERS``, of which each rule becomes any text.
    """
    lost: list[list[str]] = []
    groups = cycles(first_calls(rules, nonempty.nullable))
    recursive = {name for members in groups for name in members}
    if not recursive.isdisjoint(nonempty.nullable):
        _split_nullable(rules, recursive, nonempty)
        # Calls lead to other rules since then, so that the cycles are others.
        groups = cycles(first_calls(rules, nonempty.nullable))
    for members in groups:
        if len(members) <= MOST_MEMBERS:
            _solve(rules, members, nonempty)
            continue
        rules.update(dict.fromkeys(members, repeated(one_of(ANY), 1, None)))
        lost.append(members)
    return lost


def _split_nullable(rules: Rules, recursive: set[str], nonempty: Nonempty) -> None:
    """Let rules on a cycle that may be empty call each other without the empty text only."""
    split = recursive & nonempty.nullable
    for name in sorted(split):
        nonempty.of(call(name))

    def change(node: Node) -> Node:
        if isinstance(node, Call) and node.nonterminal in split:
            return any_of([call(node.nonterminal + SUFFIX), EMPTY]) or EMPTY
        return node

    for name in sorted({*recursive, *(name for name in rules if name.endswith(SUFFIX))}):
        rules[name] = rewrite(rules[name], change)
    for name in split:
        rules[name] = any_of([call(name + SUFFIX), EMPTY]) or EMPTY


@dataclass(slots=True)
class _Split:
    """A part cut by what it begins with: ``base`` with no member, ``rest[m]`` after member m.

    ``base`` is None where every text begins with a member.
    """

    base: Node | None
    rest: dict[str, Node] = field(default_factory=dict)


def _solve(rules: Rules, members: list[str], nonempty: Nonempty) -> None:
    splits = {name: _cut(rules[name], set(members), nonempty) for name in members}
    if len(members) == 1:
        name = members[0]
        base, again = splits[name].base, splits[name].rest.get(name)
        # A step without text, repeated, would go round for ever.
        again = None if again is None else _without_empty(again, nonempty)
        more = EMPTY if again is None else repeated(again, 0, None)
        rules[name] = NOTHING if base is None else sequence(base, more)
        return
    behind = _Behind(splits, nonempty)
    for name in members:
        rules[name] = (
            any_of(
                None if split.base is None else sequence(split.base, call(behind.name(first, name)))
                for first, split in splits.items()
            )
            or NOTHING
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
            (first, outer): split.rest[first]
            for outer, split in splits.items()
            for first in split.rest
        }
        self._nonempty = nonempty
        self._free = {first: self._reach_free(first) for first in splits}

    def name(self, first: str, outer: str) -> str:
        """Return the name of the rule for the rest after ``first`` in ``outer``."""
        return f"{outer}{JOINT}after{JOINT}{first}"

    def rules(self) -> Rules:
        """Return all of them."""
        return {
            self.name(first, outer): self._body(first, outer)
            for first in self._members
            for outer in self._members
        }

    def _body(self, first: str, outer: str) -> Node:
        result = [
            sequence(step, call(self.name(inner, outer)))
            for via in self._free[first]
            for inner in self._members
            if (step := self._step(via, inner)) is not None
        ]
        result += [EMPTY] if outer in self._free[first] else []
        return any_of(result) or NOTHING

    def _step(self, first: str, outer: str) -> Node | None:
        step = self._steps.get((first, outer))
        return None if step is None else _without_empty(step, self._nonempty)

    def _reach_free(self, first: str) -> list[str]:
        """Return the members that ``first`` is, with nothing after it; itself among them."""
        reached = [first]
        for via in reached:
            for outer in self._members:
                step = self._steps.get((via, outer))
                if outer not in reached and step is not None and self._nonempty.is_nullable(step):
                    reached.append(outer)
        return reached


def _without_empty(node: Node, nonempty: Nonempty) -> Node | None:
    return nonempty.of(node) if nonempty.is_nullable(node) else node


def _cut(root: Node, members: set[str], nonempty: Nonempty) -> _Split:
    """Cut ``root``, of which no member is nullable, by the member it begins with."""
    nullable = nonempty.nullable_by_node(root)

    def cut(node: Node, splits: list[_Split]) -> _Split:
        match node:
            case Call(name) if name in members:
                return _Split(None, {name: EMPTY})
            case Choice() if any(split.rest for split in splits):
                return _union(splits)
            case Repeat() if splits[0].rest:
                return _cut_repetition(node, splits[0], nullable, nonempty)
            case Sequence():
                return _cut_sequence(node, splits, nullable, nonempty)
            case Literal(b""):
                return _Split(EMPTY)
            case _:
                return _Split(node)

    return fold(root, children, cut)


def _union(splits: list[_Split]) -> _Split:
    names = dict.fromkeys(name for split in splits for name in split.rest)
    rest = {n: any_of(p.rest.get(n) for p in splits) or EMPTY for n in names}
    return _Split(any_of(split.base for split in splits), rest)


def _cut_repetition(
    node: Repeat[Node], item: _Split, nullable: Mapping[int, bool], nonempty: Nonempty
) -> _Split:
    high = None if node.high is None else node.high - 1
    again = repeated(node.body, max(node.low - 1, 0), high)
    once = _followed(item, again, nullable[id(node.body)], nonempty)
    if nullable[id(node)]:
        return _Split(any_of([once.base, EMPTY]), once.rest)
    return once


def _cut_sequence(
    node: Sequence[Node], splits: list[_Split], nullable: Mapping[int, bool], nonempty: Nonempty
) -> _Split:
    """Cut at the first item, and at those after it that only empty ones are before."""
    result: list[_Split] = []
    for index, (item, split) in enumerate(zip(node.operands, splits, strict=True)):
        behind = sequence(*node.operands[index + 1 :])
        result.append(_followed(split, behind, nullable[id(item)], nonempty))
        if not nullable[id(item)]:
            break
    else:
        result.append(_Split(EMPTY))
    if not any(split.rest for split in result):
        return _Split(node)
    return _union(result)


def _followed(split: _Split, behind: Node, may_be_empty: bool, nonempty: Nonempty) -> _Split:
    """Return ``split``, if it is not empty, with ``behind`` after it."""
    base = split.base
    if base is not None and may_be_empty:
        base = nonempty.of(base)
    rest = {name: sequence(node, behind) for name, node in split.rest.items()}
    return _Split(None if base is None else sequence(base, behind), rest)
