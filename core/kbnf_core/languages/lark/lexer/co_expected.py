"""Co-expected terminals: those that an Earley parser may expect together, over-estimated.

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
