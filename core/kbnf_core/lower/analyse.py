"""Facts about each nonterminal: nullable, productive, reachable.

Each fact changes at most once, so the least fixpoint costs three times the size of the grammar.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.budget import Budget
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
from kbnf_core.ir.analysis import fixpoint, reachable
from kbnf_core.limits import DEFAULT_LIMITS


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

_FACTS = (
    (NOTHING, Facts(nullable=False, filled=True)),
    (Facts(nullable=True, filled=False), Facts(nullable=True, filled=True)),
)
"""All facts there are, by ``nullable`` and ``filled``."""


@dataclass(frozen=True, eq=False)
class Analysis:
    """Facts per nonterminal, and the nonterminals that the start can reach.

    ``nodes`` are the parts of each rule's body, parts before wholes; ``callees`` are what those
    of them that are calls call.
    """

    facts: Mapping[str, Facts]
    reachable: frozenset[str]
    nodes: Mapping[str, list[Node]]
    callees: Mapping[str, list[str]]
    # With the nodes, because the number of a node that is gone may come again.
    _known: dict[int, list[tuple[Node, Facts]]] = field(default_factory=dict, repr=False)

    def within(self, root: Node) -> Iterator[tuple[Node, Facts]]:
        """Yield every part of ``root`` with its facts, parts before wholes."""
        if id(root) not in self._known:
            self._known[id(root)] = list(_facts_within(postorder(root), self.facts))
        return iter(self._known[id(root)])


def analyse(grammar: Grammar, budget: Budget | None = None) -> Analysis:
    """Return the facts of every nonterminal of ``grammar``; parts looked at are steps."""
    budget = budget or Budget(DEFAULT_LIMITS.work)
    nodes = {name: list(postorder(body)) for name, body in grammar.rules.items()}
    callees = {
        name: [node.nonterminal for node in held if type(node) is Call]
        for name, held in nodes.items()
    }

    def evaluate(name: str, known: Mapping[str, Facts]) -> Facts:
        budget.part = name
        budget.spend(len(nodes[name]))
        return _facts_of(nodes[name], known)

    facts = fixpoint(callees, NOTHING, evaluate)
    return Analysis(facts, frozenset(reachable([grammar.start], callees)), nodes, callees)


def _facts_of(nodes: Iterable[Node], known: Mapping[str, Facts]) -> Facts:
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
            return _FACTS[not data][bool(data)]
        case Sequence():
            return _in_sequence(parts)
        case Choice():
            return _in_choice(parts)
        case Repeat():
            return _repeated(parts[0], node)
        case Regular(dfa):
            return _FACTS[dfa.is_nullable][_is_filled(dfa)]
        case Token():
            return _FACTS[False][True]


def _in_sequence(parts: list[Facts]) -> Facts:
    nullable, filled = True, False
    for part in parts:
        if part is NOTHING:
            return NOTHING
        nullable = nullable and part.nullable
        filled = filled or part.filled
    return _FACTS[nullable][filled]


def _in_choice(branches: list[Facts]) -> Facts:
    nullable = filled = False
    for branch in branches:
        nullable = nullable or branch.nullable
        filled = filled or branch.filled
    return _FACTS[nullable][filled]


def _repeated(body: Facts, node: Repeat) -> Facts:
    if node.high == 0:
        return _FACTS[True][False]
    return _FACTS[node.low == 0 or body.nullable][body.filled]


def _is_filled(dfa: Dfa) -> bool:
    """Tell whether there is a word but the empty one; all states lead to acceptance."""
    return not dfa.is_empty and any(target != DEAD for target in dfa.rows[0])
