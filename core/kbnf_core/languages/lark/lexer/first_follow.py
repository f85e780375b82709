"""FIRST and FOLLOW of a grammar over lexemes, and the terminals that are expected together.

A *site* is a use of a terminal, an embedded part or a call; a *leaf* is any site but a call.
Which sites may occur next within a rule is Glushkov's construction (1961); FIRST and FOLLOW of
rules are fixpoints over it. Sets of leaves are the bits of one number.

``may`` over-estimates, ``must`` under-estimates what an Earley parser expects wherever it expects
a leaf; what both say alike is exact. Returning from a rule, ``may`` takes all callers and ``must``
only what they have in common.

For ``may``: two parses that read the same lexemes in the same way are at the same position with
the same callers. They part where two sites of one rule could come next, or one in a rule and one
after it. Parted parses are followed for as long as they may match the same lexemes.

Tests: tests/unit/languages/lark
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from operator import or_
from typing import TYPE_CHECKING

from kbnf_core.automata.beginnings import Beginnings, first_bytes, members
from kbnf_core.ir import Call, Choice, Repeat, Sequence, postorder
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.languages.lark.lexer.lookahead import END, NOTHING
from kbnf_core.languages.lark.reader.model import (
    Embedded,
    LarkTerminal,
    Lexeme,
    LexicalGrammar,
    Node,
)
from kbnf_core.lower.facts import names_where, where
from kbnf_core.text.budget import Budget
from kbnf_core.text.locks import cached_property

if TYPE_CHECKING:
    from kbnf_core.automata.dfa import Dfa

Leaf = Lexeme | Embedded
Site = Leaf | Call
_Sites = dict[int, Site]
"""Sites by identity."""

Confusable = Callable[[LarkTerminal, LarkTerminal], bool]

_Seen = tuple[int, bool]
"""Leaves that may come next, and whether the text may end."""

_ALL = -1


@dataclass(slots=True)
class After:
    """What follows a node within its rule: sites, leaves that certainly do, whether it can end."""

    sites: _Sites
    must: int
    is_open: bool


@dataclass(frozen=True)
class LexemePositions:
    """``leaves`` are numbered, ``first`` are those at the start; the rest is by number of leaf.

    ``follow``: leaves that may occur next. ``may`` and ``must``: leaves expected together with a
    leaf, itself included; they are worked out only where it matters which terminals share words.
    ``last``: whether the text may end after it. ``entering`` and ``leaving``, by name of a rule or
    identity of a node: the leaves that may occur where it begins and where it ends, and whether
    the text may end there.
    """

    leaves: tuple[Leaf, ...]
    numbers: dict[int, int]
    beginnings: Beginnings
    first: int
    follow: tuple[int, ...]
    may: tuple[int, ...]
    must: tuple[int, ...]
    last: tuple[bool, ...]
    entering: dict[str | int, _Seen]
    leaving: dict[str | int, _Seen]

    def number(self, leaf: Leaf) -> int:
        """Return the number of ``leaf``."""
        return self.numbers[id(leaf)]

    def near(self, number: int) -> int:
        """Return the leaves that may match the beginning of a text of a leaf, or go on after it."""
        leaf = self.leaves[number]
        return self.beginnings.near(leaf.terminal.dfa if isinstance(leaf, Lexeme) else NOTHING.dfa)

    def first_bytes(self, leaves: int) -> int:
        """Return the bytes that any of ``leaves`` may begin with."""
        return reduce(or_, (first for first, among in self._by_first if among & leaves), 0)

    @cached_property
    def _by_first(self) -> list[tuple[int, int]]:
        """The leaves that begin with the same bytes, and these."""
        by_first: dict[int, int] = {}
        for number, leaf in enumerate(self.leaves):
            first = leaf.first if isinstance(leaf, Embedded) else first_bytes(leaf.terminal.dfa)
            by_first[first] = by_first.get(first, 0) | 1 << number
        return [*by_first.items()]

    @cached_property
    def following(self) -> tuple[int, ...]:
        """The bytes that may occur after each leaf, END among them."""
        first_bytes = {mask: self.first_bytes(mask) for mask in set(self.follow)}
        pairs = zip(self.follow, self.last, strict=True)
        return tuple(first_bytes[mask] | (END if last else 0) for mask, last in pairs)


def analyse(
    grammar: LexicalGrammar, confusable: Confusable | None, budget: Budget
) -> LexemePositions:
    """Return the terminals that are expected at each place.

    ``confusable`` says whether two terminals share a word; without it, the terminals that are
    expected together are not computed. Sites and leaves in sets that are made are steps of
    ``budget``.
    """
    return SiteAnalysis(grammar, budget).result(confusable)


def _is_nullable_leaf(node: Node) -> bool:
    """Return False: terminals are never empty, those that may be are in a repetition."""
    del node
    return False


class SiteAnalysis:
    """The beginnings and followers of each part of each rule; ``result`` computes the rest."""

    def __init__(self, grammar: LexicalGrammar, budget: Budget) -> None:
        self._budget = budget
        self._start = grammar.start
        self._rules = grammar.rules
        self._nodes = {name: [*postorder(body)] for name, body in grammar.rules.items()}
        self._sites: dict[str, list[Site]] = {
            name: [node for node in nodes if isinstance(node, Lexeme | Embedded | Call)]
            for name, nodes in self._nodes.items()
        }
        self._leaves = [
            n for sites in self._sites.values() for n in sites if not isinstance(n, Call)
        ]
        self._numbers = {id(leaf): number for number, leaf in enumerate(self._leaves)}
        self._callees = {
            name: [site.nonterminal for site in sites if isinstance(site, Call)]
            for name, sites in self._sites.items()
        }
        self._nullable_rules = names_where(self._nodes, _is_nullable_leaf)
        self._nullable: dict[int, bool] = {}
        self._begin: dict[int, _Sites] = {}
        self._after: dict[int, After] = {}
        self._following: dict[int, int] = {}
        for nodes in self._nodes.values():
            self._nullable |= where(nodes, _is_nullable_leaf, self._nullable_rules)
            for node in nodes:
                self._begin[id(node)] = self._first_sites(node)
        self._first_rules = fixpoint(self._callees, 0, self._first_of_rule)
        self._first = {
            key: self._union(sites.values(), self._first_rules)
            for key, sites in self._begin.items()
        }
        for body in grammar.rules.values():
            self._walk_down(body)

    def after(self, node: Node) -> After:
        """Return what follows ``node`` within its rule."""
        return self._after[id(node)]

    def is_nullable(self, node: Node) -> bool:
        """Return whether ``node`` matches the empty text."""
        return self._nullable[id(node)]

    def followings(self, rule: str) -> list[After]:
        """Return the beginnings of a rule, then the followers of its sites, once each.

        Branches of a choice share what follows them.
        """
        begin = After(self._begin[id(self._rules[rule])], 0, False)
        afters = {id(self._after[id(site)]): self._after[id(site)] for site in self._sites[rule]}
        return [begin, *afters.values()]

    # ---- Within a rule ---------------------------------------------------------------------

    def _first_sites(self, node: Node) -> _Sites:
        match node:
            case Lexeme() | Embedded() | Call():
                return {id(node): node}
            case Repeat(body):
                return self._begin[id(body)]
            case Choice(branches):
                return {
                    key: site
                    for branch in branches
                    for key, site in self._begin[id(branch)].items()
                }
            case Sequence(items):
                sites: _Sites = {}
                for item in items:
                    sites |= self._begin[id(item)]
                    self._budget.spend(len(sites))
                    if not self._nullable[id(item)]:
                        break
                return sites

    def _first_of_rule(self, name: str, rules: Mapping[str, int]) -> int:
        return self._union(self._begin[id(self._rules[name])].values(), rules)

    def _union(self, sites: Iterable[Site], rules: Mapping[str, int]) -> int:
        """Return the leaves that any of ``sites`` may begin with."""
        masks = (
            rules[site.nonterminal] if isinstance(site, Call) else 1 << self._numbers[id(site)]
            for site in sites
        )
        return reduce(or_, masks, 0)

    def _walk_down(self, root: Node) -> None:
        stack = [(root, After({}, 0, True))]
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
                        begin, first = self._begin[id(item)], self._first[id(item)]
                        self._budget.spend(len(begin))
                        if self._nullable[id(item)]:
                            self._budget.spend(len(after.sites))
                            after = After(begin | after.sites, after.must | first, after.is_open)
                        else:
                            after = After(begin, first, False)

    def _after_round(self, node: Repeat[Node], after: After) -> After:
        if node.high == 1:
            return after
        certain = node.high is None and (node.low <= 1 or self._nullable[id(node.body)])
        must = after.must | self._first[id(node.body)] if certain else 0
        return After(self._begin[id(node.body)] | after.sites, must, after.is_open)

    def _may(self, node: Node) -> int:
        """Return the leaves that may follow ``node`` within its rule."""
        # Branches of a choice share what follows them, and there may be thousands.
        after = self._after[id(node)]
        if id(after) not in self._following:
            self._following[id(after)] = self._union(after.sites.values(), self._first_rules)
        return self._following[id(after)]

    # ---- Across rules ----------------------------------------------------------------------

    def result(self, confusable: Confusable | None) -> LexemePositions:
        """Return the terminals that are expected at each place."""
        calls: dict[str, list[tuple[str, Call]]] = {name: [] for name in self._rules}
        for outer, sites in self._sites.items():
            for site in sites:
                if isinstance(site, Call):
                    calls[site.nonterminal].append((outer, site))
        seen = self._solve_follow(calls)
        leaving: dict[str | int, _Seen] = dict(seen.items())
        for name, nodes in self._nodes.items():
            for node in nodes:
                more, ends = seen[name] if self._after[id(node)].is_open else (0, False)
                leaving[id(node)] = (self._may(node) | more, ends)
        follow = tuple(leaving[id(leaf)][0] for leaf in self._leaves)
        may: tuple[int, ...] = ()
        must: tuple[int, ...] = ()
        beginnings = Beginnings(())
        if confusable is not None:
            beginnings = Beginnings(
                leaf.terminal.dfa if isinstance(leaf, Lexeme) else NOTHING.dfa
                for leaf in self._leaves
            )
            together = _Together(self._leaves, follow, beginnings, confusable, self._budget)
            may = together.run(self._parting({name: mask for name, (mask, _) in seen.items()}))
            must = self._solve_must(calls)
        return LexemePositions(
            tuple(self._leaves),
            self._numbers,
            beginnings,
            self._first_rules[self._start],
            follow,
            may,
            must,
            tuple(leaving[id(leaf)][1] for leaf in self._leaves),
            self._entering(leaving),
            leaving,
        )

    def _entering(self, leaving: dict[str | int, _Seen]) -> dict[str | int, _Seen]:
        sites: dict[str | int, _Seen] = {}
        for name, nodes in self._nodes.items():
            for node in nodes:
                # Between two rounds there may be another one, or the end of all rounds.
                through = self._nullable[id(node)] or isinstance(node, Repeat)
                more, ends = leaving[id(node)] if through else (0, False)
                sites[id(node)] = (self._first[id(node)] | more, ends)
            more, ends = leaving[name] if self._nullable_rules[name] else (0, False)
            sites[name] = (self._first_rules[name] | more, ends)
        return sites

    def _solve_follow(self, calls: Mapping[str, list[tuple[str, Call]]]) -> dict[str, _Seen]:
        """Return the followers of each rule, and whether the text may end after it."""
        within = {id(call): self._may(call) for uses in calls.values() for _, call in uses}

        def evaluate(name: str, follows: Mapping[str, _Seen]) -> _Seen:
            follow, ends = 0, name == self._start
            for outer, call in calls[name]:
                more, last = follows[outer] if self._after[id(call)].is_open else (0, False)
                follow |= within[id(call)] | more
                ends = ends or last
            return follow, ends

        return fixpoint(_callers(calls), (0, False), evaluate)

    def _solve_must(self, calls: Mapping[str, list[tuple[str, Call]]]) -> tuple[int, ...]:
        above = self._solve_above(calls)
        must = [_ALL] * len(self._leaves)
        start = self._first_rules[self._start]
        for leaf in members(start):
            must[leaf] = start
        seen: set[tuple[int, int]] = set()
        for rule, sites in self._sites.items():
            for site in sites:
                after = self._after[id(site)]
                expected = after.must | (above[rule] if after.is_open else 0)
                seen.add((self._may(site), expected))
        for may, expected in seen:
            for leaf in members(may):
                must[leaf] &= expected
        return tuple(0 if mask == _ALL else mask | 1 << n for n, mask in enumerate(must))

    def _solve_above(self, calls: Mapping[str, list[tuple[str, Call]]]) -> dict[str, int]:
        """Return the terminals expected after each rule for all callers (greatest fixed point)."""

        def evaluate(name: str, seen: Mapping[str, int]) -> int:
            common = 0 if name == self._start else _ALL
            for outer, call in calls[name]:
                after = self._after[id(call)]
                common &= after.must | (seen[outer] if after.is_open else 0)
            return common

        return fixpoint(_callers(calls), _ALL, evaluate)

    # ---- Expected together -----------------------------------------------------------------

    def _parting(self, follow: Mapping[str, int]) -> Mapping[int, int]:
        """Return sets of leaves, and for each the leaves that other parses go on with instead."""
        others: dict[int, int] = {}
        for name in self._rules:
            for after in self.followings(name):
                firsts = [self._first[key] for key in after.sites]
                self._budget.spend(len(firsts))
                before = accumulate(firsts, or_, initial=0)
                behind = [*accumulate(reversed(firsts), or_, initial=0)][-2::-1]
                for first, left, right in zip(firsts, before, behind, strict=False):
                    others[first] = others.get(first, 0) | left | right
                if after.is_open:
                    whole = reduce(or_, firsts, 0)
                    others[whole] = others.get(whole, 0) | follow[name]
                    others[follow[name]] = others.get(follow[name], 0) | whole
        return others


class _Together:
    """Finds, for each leaf, the leaves that may be expected with it, itself included.

    What follows is all that matters of two leaves, so that those with equal sets are one kind.
    Those with the largest sets come first: what they join says most of what others would, in a row
    of optional parts all of it.
    """

    def __init__(
        self,
        leaves: list[Leaf],
        follows: tuple[int, ...],
        beginnings: Beginnings,
        confusable: Confusable,
        budget: Budget,
    ) -> None:
        self._budget = budget
        self._leaves = leaves
        self._follows = follows
        self._beginnings = beginnings
        self._confusable = confusable
        # By automata: they are far fewer than the terminals of a text that is written.
        self._uses: dict[Dfa, tuple[LarkTerminal, int]] = {}
        for number, leaf in enumerate(leaves):
            if isinstance(leaf, Lexeme):
                dfa = leaf.terminal.dfa
                first, uses = self._uses.get(dfa, (leaf.terminal, 0))
                self._uses[dfa] = first, uses | 1 << number
        self._alike: dict[Dfa, int] = {}
        self._kinds: dict[int, int] = {}
        for number, mask in enumerate(follows):
            self._kinds[mask] = self._kinds.get(mask, 0) | 1 << number
        self._apart = [0] * len(leaves)
        self._followed = [0] * len(leaves)
        self._joined: dict[int, int] = {}
        self._grown = 0

    def run(self, parting: Mapping[int, int]) -> tuple[int, ...]:
        """Follow the parses that part, from each of some leaves to others."""
        for left, right in parting.items():
            self._join(left, right)
        while self._grown:
            # In rounds: all leaves that joined a set since its last turn are followed together.
            grown, self._grown = members(self._grown), 0
            for one in sorted(grown, key=lambda leaf: -self._follows[leaf].bit_count()):
                fresh = self._apart[one] & ~self._followed[one]
                self._followed[one] |= fresh
                self._join(self._follows[one], self._behind(fresh & self._alike_of(one)))
        return tuple(apart | 1 << number for number, apart in enumerate(self._apart))

    def _behind(self, leaves: int) -> int:
        """Return the leaves that may follow any of ``leaves``; a set of followers is added once."""
        behind = 0
        while leaves:
            follow = self._follows[(leaves & -leaves).bit_length() - 1]
            leaves &= ~self._kinds[follow]
            behind |= follow
            self._budget.spend()
        return behind

    def _join(self, left: int, right: int) -> None:
        """Note that all of a set may be expected with all of another, as far as it is new."""
        new = right & ~self._joined.get(left, 0)
        if not new:
            return
        self._joined[left] = self._joined.get(left, 0) | new
        self._grown |= left | new
        for leaves, others in ((left, new), (new, left)):
            numbers = members(leaves)
            self._budget.spend(len(numbers))
            for leaf in numbers:
                self._apart[leaf] |= others

    def _alike_of(self, one: int) -> int:
        """Return the leaves that may have matched the same text as ``one``, itself included."""
        leaf = self._leaves[one]
        if not isinstance(leaf, Lexeme):
            return 1 << one
        terminal = leaf.terminal
        if terminal.dfa not in self._alike:
            near = members(self._beginnings.near(terminal.dfa))
            self._budget.spend(len(near))
            rest = (self._leaves[other] for other in near)
            dfas = {
                other_leaf.terminal.dfa: None
                for other_leaf in rest
                if isinstance(other_leaf, Lexeme)
            }
            others = (self._uses[dfa] for dfa in dfas)
            alike = (uses for first, uses in others if self._confusable(terminal, first))
            self._alike[terminal.dfa] = reduce(or_, alike, 0)
        return self._alike[terminal.dfa]


def _callers(calls: Mapping[str, list[tuple[str, Call]]]) -> dict[str, list[str]]:
    return {name: [outer for outer, _ in uses] for name, uses in calls.items()}
