"""FIRST and FOLLOW of a grammar over lexemes: over-estimates (``may``), under-estimates (``must``).

A leaf is a use of a terminal. ``may`` over-estimates, ``must`` under-estimates what an Earley
parser expects wherever it expects a leaf; what both say alike is exact. Returning from a rule,
``may`` takes all callers and ``must`` only what they have in common. Sets of leaves are the bits
of one number.

Co-expected terminals: those that an Earley parser may expect together, over-estimated.

Two parses that read the same lexemes in the same way are at the same position with the same
callers. They part where two positions of one rule could come next, or one in a rule and one after
it. Parted parses are followed for as long as they may match the same lexemes, for all callers.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from kbnf_core.languages.lark.reader.model import (
    Call,
    Choice,
    Embedded,
    Lexeme,
    LexicalGrammar,
    Node,
    Repeat,
    Sequence,
    Terminal,
    postorder,
)

Leaf = Lexeme | Embedded
Site = Leaf | Call


def members(mask: int) -> list[int]:
    """Return the numbers in a set."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a grammar's nodes: all leaves are sets as the bits of a number.

    ``first`` is by identity of a node, ``follow`` by rule, ``follows`` by leaf; ``is_open`` tells
    whether a rule can end after a node, ``is_nullable`` whether a node matches the empty text.
    """

    leaves: tuple[Leaf, ...]
    first: Mapping[int, int]
    follow: Mapping[str, int]
    follows: tuple[int, ...]
    is_open: Callable[[Node], bool]
    is_nullable: Callable[[Node], bool]


def expected_together(
    rules: Mapping[str, Node], facts: Facts, confusable: Callable[[Terminal, Terminal], bool]
) -> tuple[int, ...]:
    """Return, for each leaf, the leaves that may be expected with it, itself included."""
    parting = _Parting(facts)
    for name, body in rules.items():
        for node, sites in next_sites(body, facts.is_nullable):
            parting.beside(sites)
            if node is not None and facts.is_open(node):
                parting.above(sites, facts.follow[name])
    return _followed(parting, facts, confusable)


@dataclass(slots=True)
class _Parting:
    """Pairs of leaves that are expected together by parses that part there."""

    facts: Facts
    pairs: set[tuple[int, int]] = field(default_factory=set)
    """Pairs of sets: each of one with each of the other."""

    def beside(self, sites: list[Site]) -> None:
        """Note sites of one rule that may come next."""
        others = 0
        for site in reversed(sites):
            first = self.facts.first[id(site)]
            if others:
                self.pairs.add((first, others))
            others |= first

    def above(self, sites: list[Site], follow: int) -> None:
        """Note sites that may come next in a rule that may also have ended."""
        for site in sites:
            self.pairs.add((self.facts.first[id(site)], follow))


def next_sites(
    body: Node, is_nullable: Callable[[Node], bool]
) -> Iterable[tuple[Site | None, list[Site]]]:
    """Yield, for each site of a rule and for its beginning (None), the sites that may be next."""
    first: dict[int, dict[int, Site]] = {}
    for node in postorder(body):
        first[id(node)] = _first_sites(node, first, is_nullable)
    yield None, list(first[id(body)].values())
    stack: list[tuple[Node, dict[int, Site]]] = [(body, {})]
    while stack:
        node, after = stack.pop()
        match node:
            case Lexeme() | Embedded() | Call():
                yield node, list(after.values())
            case Choice(branches):
                stack.extend((branch, after) for branch in branches)
            case Repeat(inner, _, high):
                stack.append((inner, after if high == 1 else first[id(inner)] | after))
            case Sequence(items):
                for item in reversed(items):
                    stack.append((item, after))
                    after = first[id(item)] | (after if is_nullable(item) else {})


def _first_sites(
    node: Node, first: dict[int, dict[int, Site]], is_nullable: Callable[[Node], bool]
) -> dict[int, Site]:
    match node:
        case Lexeme() | Embedded() | Call():
            return {id(node): node}
        case Repeat(body):
            return first[id(body)]
        case Choice(parts):
            return {key: site for part in parts for key, site in first[id(part)].items()}
        case Sequence(items):
            found: dict[int, Site] = {}
            for item in items:
                found |= first[id(item)]
                if not is_nullable(item):
                    break
            return found


def _followed(
    parting: _Parting, facts: Facts, confusable: Callable[[Terminal, Terminal], bool]
) -> tuple[int, ...]:
    """Follow all pairs of leaves that may match alike."""
    may = [1 << number for number in range(len(facts.leaves))]
    apart = [0] * len(facts.leaves)
    seen: set[tuple[int, int]] = set()
    pending: list[tuple[int, int]] = []

    def together(left: int, right: int) -> None:
        if (left, right) in seen:
            return
        seen.add((left, right))
        for leaf in members(left):
            new = right & ~apart[leaf]
            apart[leaf] |= right
            may[leaf] |= right
            pending.extend((leaf, other) for other in members(new))

    def both_ways(left: int, right: int) -> None:
        together(left, right)
        together(right, left)

    for left, right in parting.pairs:
        both_ways(left, right)
    while pending:
        one, other = pending.pop()
        left_leaf, right_leaf = facts.leaves[one], facts.leaves[other]
        if one == other or (
            isinstance(left_leaf, Lexeme)
            and isinstance(right_leaf, Lexeme)
            and confusable(left_leaf.terminal, right_leaf.terminal)
        ):
            both_ways(facts.follows[one], facts.follows[other])
    return tuple(may)


_ALL = -1


@dataclass(slots=True)
class After:
    """What follows a node within its rule: leaves, and whether the rule can end there."""

    may: int
    must: int
    is_open: bool


@dataclass(frozen=True, slots=True)
class Positions:
    """``leaves`` are numbered, ``first`` are those at the start; the rest is by number of leaf.

    ``follow``: leaves that may come next. ``may`` and ``must``: leaves expected together with a
    leaf, itself included. ``last``: whether the text may end after it. ``entering`` and
    ``leaving``, by name of a rule or identity of a node: the leaves that may come where it begins
    and where it ends, and whether the text may end there.
    """

    leaves: tuple[Leaf, ...]
    numbers: dict[int, int]
    first: int
    follow: tuple[int, ...]
    may: tuple[int, ...]
    must: tuple[int, ...]
    last: tuple[bool, ...]
    entering: dict[str | int, tuple[int, bool]]
    leaving: dict[str | int, tuple[int, bool]]

    def number(self, leaf: Leaf) -> int:
        """Return the number of ``leaf``."""
        return self.numbers[id(leaf)]


def analyse(grammar: LexicalGrammar, confusable: Callable[[Terminal, Terminal], bool]) -> Positions:
    """Return what is expected where; ``confusable`` tells whether two terminals share a word."""
    return Analysis(grammar).result(confusable)


class Analysis:
    """First sets and what follows within each rule; ``result`` works out the rest."""

    def __init__(self, grammar: LexicalGrammar) -> None:
        self._grammar = grammar
        self._rules = grammar.rules
        self._leaves: list[Leaf] = []
        self._numbers: dict[int, int] = {}
        self._calls: list[tuple[Call, str]] = []
        self._rule_of: dict[int, str] = {}
        for name, body in grammar.rules.items():
            for node in postorder(body):
                self._register(node, name)
        self._nullable: dict[int, bool] = {}
        self._first: dict[int, int] = {}
        self._nullable_rules = dict.fromkeys(self._rules, False)
        self._first_rules = dict.fromkeys(self._rules, 0)
        self._solve_firsts()
        self._after: dict[int, After] = {}
        for body in grammar.rules.values():
            self._walk_down(body, After(0, 0, True))

    def after(self, node: Node) -> After:
        """Return what follows ``node`` within its rule."""
        return self._after[id(node)]

    def is_nullable(self, node: Node) -> bool:
        """Tell whether ``node`` matches the empty text."""
        return self._nullable[id(node)]

    def _register(self, node: Node, name: str) -> None:
        if isinstance(node, Lexeme | Embedded):
            self._numbers[id(node)] = len(self._leaves)
            self._leaves.append(node)
            self._rule_of[id(node)] = name
        elif isinstance(node, Call):
            self._calls.append((node, name))
            self._rule_of[id(node)] = name

    def _solve_firsts(self) -> None:
        changed = True
        while changed:
            changed = False
            # Rules come before those they call, so that backwards is the faster way.
            for name, body in reversed([*self._rules.items()]):
                for node in postorder(body):
                    self._nullable[id(node)], self._first[id(node)] = self._first_of(node)
                new = (self._nullable[id(body)], self._first[id(body)])
                if new != (self._nullable_rules[name], self._first_rules[name]):
                    self._nullable_rules[name], self._first_rules[name] = new
                    changed = True

    def _first_of(self, node: Node) -> tuple[bool, int]:
        match node:
            case Lexeme() | Embedded():
                return False, 1 << self._numbers[id(node)]
            case Call(name):
                return self._nullable_rules[name], self._first_rules[name]
            case Sequence(items):
                first = 0
                for item in items:
                    first |= self._first[id(item)]
                    if not self._nullable[id(item)]:
                        return False, first
                return True, first
            case Choice(branches):
                first = 0
                for branch in branches:
                    first |= self._first[id(branch)]
                return any(self._nullable[id(b)] for b in branches), first
            case Repeat(body, low):
                return low == 0 or self._nullable[id(body)], self._first[id(body)]

    def _walk_down(self, root: Node, after: After) -> None:
        stack = [(root, after)]
        while stack:
            node, after = stack.pop()
            self._after[id(node)] = after
            match node:
                case Choice(branches):
                    stack.extend((branch, after) for branch in branches)
                case Repeat(body):
                    stack.append((body, self._after_round(node, after)))
                case Sequence(items):
                    for item in reversed(items):
                        stack.append((item, after))
                        first = self._first[id(item)]
                        if self._nullable[id(item)]:
                            after = After(after.may | first, after.must | first, after.is_open)
                        else:
                            after = After(first, first, False)

    def _after_round(self, node: Repeat, after: After) -> After:
        first = self._first[id(node.body)]
        if node.high == 1:
            return after
        may = first | after.may
        certain = node.high is None and (node.low <= 1 or self._nullable[id(node.body)])
        return After(may, may if certain else 0, after.is_open)

    def result(self, confusable: Callable[[Terminal, Terminal], bool]) -> Positions:
        """Return what is expected where."""
        callers: dict[str, list[Call]] = {name: [] for name in self._rules}
        for call, _ in self._calls:
            callers[call.name].append(call)
        follow, last = self._solve_follow(callers)
        follows = tuple(self._follow_of(leaf, follow) for leaf in self._leaves)
        lasts = tuple(
            self._after[id(leaf)].is_open and last[self._rule_of[id(leaf)]] for leaf in self._leaves
        )
        first = self._first_rules[self._grammar.start]
        facts = Facts(
            tuple(self._leaves),
            self._first,
            follow,
            follows,
            lambda node: self._after[id(node)].is_open,
            self.is_nullable,
        )
        may = expected_together(self._rules, facts, confusable)
        must = self._solve_must(callers)
        leaves = tuple(self._leaves)
        leaving = self._leaving(follow, last)
        entering = self._entering(leaving)
        return Positions(leaves, self._numbers, first, follows, may, must, lasts, entering, leaving)

    def _leaving(
        self, follow: dict[str, int], last: dict[str, bool]
    ) -> dict[str | int, tuple[int, bool]]:
        found: dict[str | int, tuple[int, bool]] = {n: (follow[n], last[n]) for n in self._rules}
        for name, body in self._rules.items():
            for node in postorder(body):
                after = self._after[id(node)]
                more, ends = found[name] if after.is_open else (0, False)
                found[id(node)] = (after.may | more, ends)
        return found

    def _entering(
        self, leaving: dict[str | int, tuple[int, bool]]
    ) -> dict[str | int, tuple[int, bool]]:
        found: dict[str | int, tuple[int, bool]] = {}
        for name, body in self._rules.items():
            for node in postorder(body):
                more, ends = leaving[id(node)]
                first = self._first[id(node)]
                # Between two rounds there may be another one, or the end of all rounds.
                through = self._nullable[id(node)] or isinstance(node, Repeat)
                found[id(node)] = (first | more, ends) if through else (first, False)
            first = self._first_rules[name]
            more, ends = leaving[name]
            nullable = self._nullable_rules[name]
            found[name] = (first | more, ends) if nullable else (first, False)
        return found

    def _solve_follow(
        self, callers: dict[str, list[Call]]
    ) -> tuple[dict[str, int], dict[str, bool]]:
        """Return what may follow each rule, and whether the text may end after it."""
        follow = dict.fromkeys(self._rules, 0)
        last = {name: name == self._grammar.start for name in self._rules}
        changed = True
        while changed:
            changed = False
            for name, calls in callers.items():
                for call in calls:
                    after, outer = self._after[id(call)], self._rule_of[id(call)]
                    more = after.may | (follow[outer] if after.is_open else 0)
                    ends = last[name] or (after.is_open and last[outer])
                    if more & ~follow[name] or ends != last[name]:
                        follow[name] |= more
                        last[name] = ends
                        changed = True
        return follow, last

    def _follow_of(self, leaf: Leaf, follow: dict[str, int]) -> int:
        after = self._after[id(leaf)]
        return after.may | (follow[self._rule_of[id(leaf)]] if after.is_open else 0)

    def _solve_must(self, callers: dict[str, list[Call]]) -> tuple[int, ...]:
        above = self._solve_above(callers)
        below = self._solve_below()
        must = [_ALL] * len(self._leaves)
        start = self._first_rules[self._grammar.start]
        for leaf in members(start):
            must[leaf] = start
        sites: list[tuple[Node, str]] = [(leaf, self._rule_of[id(leaf)]) for leaf in self._leaves]
        sites.extend(self._calls)
        for site, rule in sites:
            after = self._after[id(site)]
            expected = after.must | (above[rule] if after.is_open else 0)
            if isinstance(site, Call):
                expected |= below[site.name]
            for leaf in members(after.may):
                must[leaf] &= expected
        return tuple(0 if mask == _ALL else mask | 1 << n for n, mask in enumerate(must))

    def _solve_above(self, callers: dict[str, list[Call]]) -> dict[str, int]:
        """Return what is expected after each rule for all of its callers (greatest fixed point)."""
        above = dict.fromkeys(self._rules, _ALL)
        changed = True
        while changed:
            changed = False
            for name, calls in callers.items():
                new = 0 if name == self._grammar.start else _ALL
                for call in calls:
                    after = self._after[id(call)]
                    outer = above[self._rule_of[id(call)]] if after.is_open else 0
                    new &= after.must | outer
                if new != above[name]:
                    above[name] = new
                    changed = True
        return above

    def _solve_below(self) -> dict[str, int]:
        """Return what is expected inside each rule whenever it has just ended."""
        below = dict.fromkeys(self._rules, _ALL)
        sites: dict[str, list[Node]] = {name: [] for name in self._rules}
        for leaf in self._leaves:
            sites[self._rule_of[id(leaf)]].append(leaf)
        for call, rule in self._calls:
            sites[rule].append(call)
        changed = True
        while changed:
            changed = False
            for name, nodes in reversed(sites.items()):
                new = _ALL
                for node in nodes:
                    after = self._after[id(node)]
                    if after.is_open:
                        inner = below[node.name] if isinstance(node, Call) else 0
                        new &= after.must | inner
                if new != below[name]:
                    below[name] = new
                    changed = True
        return {name: 0 if mask == _ALL else mask for name, mask in below.items()}
