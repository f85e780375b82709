"""Facts about each nonterminal: nullable, productive, reachable.

What a part can derive is two flags: the empty text, and any text at all. Each fact of a nonterminal
changes at most once, so the least fixpoint costs three times the size of the grammar.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import (
    Call,
    Choice,
    Grammar,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    children,
    postorder,
)
from kbnf_core.ir.analysis import callees_first, fixpoint
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS


class Facts(NamedTuple):
    """What a node or nonterminal can derive.

    ``nullable``: the empty word; ``filled``: some word that is not empty.
    """

    nullable: bool
    filled: bool

    @property
    def productive(self) -> bool:
        """Whether any word at all is derived."""
        return self.nullable or self.filled


NOTHING = Facts(nullable=False, filled=False)

FACTS = (
    (NOTHING, Facts(nullable=False, filled=True)),
    (Facts(nullable=True, filled=False), Facts(nullable=True, filled=True)),
)
"""All facts there are, by ``nullable`` and ``filled``."""


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """Facts per nonterminal, and the nonterminals that the start can reach.

    ``order`` are the latter, callees first. ``nodes`` are the parts of each rule's body, parts
    before wholes; ``callees`` are what those of them that are calls call.
    """

    facts: Mapping[str, Facts]
    order: list[str]
    nodes: Mapping[str, list[Node]]
    callees: Mapping[str, list[str]]
    # With the nodes, because the number of a node that is gone may come again.
    _known: dict[int, list[tuple[Node, Facts]]] = field(default_factory=dict, repr=False)

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The nonterminals that the start can reach, itself included."""
        return frozenset(self.order)

    def within(self, root: Node) -> Iterator[tuple[Node, Facts]]:
        """Yield every part of ``root`` with its facts, parts before wholes."""
        if id(root) not in self._known:
            self._known[id(root)] = list(_facts_within(postorder(root), self.facts))
        return iter(self._known[id(root)])


def analyse(grammar: Grammar, budget: Budget | None = None) -> Analysis:
    """Return the facts of every nonterminal of ``grammar``; parts looked at are steps."""
    budget = budget or Budget(DEFAULT_LIMITS.work)
    nodes: dict[str, list[Node]] = {}
    callees: dict[str, list[str]] = {}
    for name, body in grammar.rules.items():
        nodes[name], callees[name] = parts_of(body)
    facts = solve(nodes, callees, budget)
    return Analysis(facts, order_from([grammar.start], callees), nodes, callees)


@compiled
def solve(
    nodes: Mapping[str, list[Node]],
    callees: Mapping[str, list[str]],
    budget: Budget,
) -> dict[str, Facts]:
    """Return the facts of nonterminals by the parts of their bodies."""

    def evaluate(name: str, known: Mapping[str, Facts]) -> Facts:
        budget.part = name
        budget.spend(len(nodes[name]))
        return facts_of(nodes[name], known)

    return fixpoint(callees, NOTHING, evaluate)


@compiled
def order_from(roots: Iterable[str], callees: Mapping[str, list[str]]) -> list[str]:
    """Return ``roots`` and all that they call, callees first."""
    return callees_first(roots, callees)


@compiled
def parts_of(root: Node) -> tuple[list[Node], list[str]]:
    """Return the parts of a body, parts before wholes, and what those that are calls call."""
    nodes = list(postorder(root))
    return nodes, [node.nonterminal for node in nodes if type(node) is Call]


@compiled
def facts_of(nodes: Iterable[Node], known: Mapping[str, Facts]) -> Facts:
    """Return the facts of a body, given its parts and what is known of nonterminals."""
    for _, fact in _facts_within(nodes, known):
        last = fact
    return last


def _facts_within(
    nodes: Iterable[Node], known: Mapping[str, Facts]
) -> Iterator[tuple[Node, Facts]]:
    values: list[Facts] = []
    for node in nodes:
        count = len(children(node))
        if count:
            values[-count:] = [_combine(node, values[-count:], known)]
        else:
            values.append(_combine(node, [], known))
        yield node, values[-1]


def _combine(node: Node, parts: list[Facts], known: Mapping[str, Facts]) -> Facts:
    match node:
        case Call(name):
            return known[name]
        case Literal(data):
            return FACTS[not data][bool(data)]
        case Sequence():
            return _in_sequence(parts)
        case Choice():
            return _in_choice(parts)
        case Repeat():
            return _repeated(parts[0], node)
        case Regular(dfa):
            return FACTS[dfa.is_nullable][_is_filled(dfa)]
        case Token():
            return FACTS[False][True]


def _in_sequence(parts: list[Facts]) -> Facts:
    nullable, filled = True, False
    for part in parts:
        if part is NOTHING:
            return NOTHING
        nullable = nullable and part.nullable
        filled = filled or part.filled
    return FACTS[nullable][filled]


def _in_choice(branches: list[Facts]) -> Facts:
    nullable = filled = False
    for branch in branches:
        nullable = nullable or branch.nullable
        filled = filled or branch.filled
    return FACTS[nullable][filled]


def _repeated(body: Facts, node: Repeat[Node]) -> Facts:
    if node.high == 0:
        return FACTS[True][False]
    return FACTS[node.low == 0 or body.nullable][body.filled]


def _is_filled(dfa: Dfa) -> bool:
    """Tell whether there is a word but the empty one; all states lead to acceptance."""
    return not dfa.is_empty and any(target != DEAD for target in dfa.rows[0])
