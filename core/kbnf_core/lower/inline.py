"""Chooses the nonterminals to inline into their callers.

A nonterminal that is used once, or is small and regular, costs less as part of its caller: no
prediction, no completion, and adjacent automata are determinised as one. The choice never changes
the language, and one nonterminal never adds more than ``SMALL_TOTAL`` states in all its copies.

Free text is an exception: most tokens are viable in it, so that its masks cost most. As long as it
is a nonterminal of its own, all its callers share its positions, and with them one mask.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import Call, Counted, Grammar, Literal, Node, Regular, Repeat, children
from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.lower.facts import Analysis
from kbnf_core.text.budget import Budget

LARGE = 1_000
"""States beyond which nothing is written out inside another nonterminal."""

FREE_TEXT = 32
"""Bytes that lead from a state of a cycle to one of it: of so many an automaton is free text."""

COUNTED_COPIES = 2
"""Copies of what a count repeats: where more must come, and where enough came."""

HUGE = 2**30
"""More states than anything can have."""

SMALL_TOTAL = 512
"""States that all copies of one nonterminal together may take."""


class Inlined(NamedTuple):
    """The nonterminals that callers hold instead of calling them: ``names``.

    Those of them that are held more than once are ``copied``, callees first.
    """

    names: frozenset[str] = frozenset()
    copied: tuple[str, ...] = ()


def choose_inlined(grammar: Grammar, analysis: Analysis, budget: Budget) -> Inlined:
    """Return the reachable nonterminals to write out; what ``split_large`` split off is none."""
    uses = count_uses(analysis.order, analysis.nodes, analysis.callees)
    among = analysis.order, analysis.nodes, analysis.callees
    inlined = choose(*among, uses, grammar.start, budget)
    return Inlined(frozenset(inlined), tuple(name for name in inlined if uses.get(name, 0) > 1))


@compiled
def choose(
    order: Iterable[str],
    nodes: Mapping[str, list[Node]],
    callees: Mapping[str, list[str]],
    uses: Mapping[str, int],
    start: str,
    budget: Budget,
) -> list[str]:
    """Return the nonterminals to write out, callees first, but for ``start``."""
    sizes: dict[str, int] = {}
    inlined: dict[str, None] = {}
    flat: set[str] = set()  # calls flat nonterminals only, so it is not recursive
    for name in order:
        budget.part = name
        budget.spend(len(nodes[name]))
        sizes[name] = estimate_size(nodes[name], sizes, inlined)
        if flat.issuperset(callees[name]):
            flat.add(name)
        if "#" in name or name == start:
            continue
        # Within another count it could not be counted.
        if counting_of((name,), nodes):
            continue
        times = uses.get(name, 0)
        single = times == 1 and sizes[name] <= LARGE
        small = name in flat and sizes[name] * times <= SMALL_TOTAL
        if single or (small and not has_free_text(nodes[name])):
            inlined[name] = None
    return list(inlined)


@compiled
def counting_of(names: Iterable[str], nodes: Mapping[str, list[Node]]) -> list[str]:
    """Return the nonterminals that count repetitions."""
    return [name for name in names if any(type(node) is Counted for node in nodes[name])]


def has_free_text(nodes: Iterable[Node]) -> bool:
    """Tell whether a node is an automaton in which many bytes may come, and again."""
    return any(is_free_text(node.dfa) for node in nodes if type(node) is Regular)


_KNOWN: WeakKeyDictionary[Dfa, bool] = WeakKeyDictionary()


def is_free_text(dfa: Dfa) -> bool:
    """Tell whether in a cycle of states many bytes may come."""
    known = _KNOWN.get(dfa)
    if known is None:
        sizes = Counter(dfa.classes)
        after = {state: set(row) - {DEAD} for state, row in enumerate(dfa.rows)}
        known = _KNOWN[dfa] = any(
            sum(sizes[column] for column, target in enumerate(dfa.rows[state]) if target in cycle)
            >= FREE_TEXT
            for cycle in cyclic_components(after)
            for state in cycle
        )
    return known


@compiled
def estimate_size(nodes: Iterable[Node], sizes: Mapping[str, int], inlined: Collection[str]) -> int:
    """Return an estimate of a body's automaton states, counted repetitions unrolled.

    ``nodes`` are its parts, parts before wholes. What is more than ``HUGE`` counts as that.
    """
    values: list[int] = []
    for node in nodes:
        match node:
            case Literal(data):
                values.append(len(data))
            case Regular(dfa):
                values.append(dfa.state_count)
            case Call(name):
                values.append(sizes[name] if name in inlined else 1)
            case Counted():
                values.append(COUNTED_COPIES * values.pop())
            case Repeat(_, low, high):
                values.append(values.pop() * max(low, high or 1, 1))
            case _:
                first = len(values) - len(children(node))
                values[first:] = [sum(values[first:]) + 1]
        values.append(min(values.pop(), HUGE))
    return values.pop()


@compiled
def count_uses(
    names: Iterable[str], nodes: Mapping[str, list[Node]], callees: Mapping[str, list[str]]
) -> Mapping[str, int]:
    """Count places of use; a place inside a repetition with a bound is as many as its copies."""
    uses: Counter[str] = Counter()
    for name in names:
        if not any(isinstance(node, Repeat) for node in nodes[name]):
            uses.update(callees[name])
            continue
        stack = [(nodes[name][-1], 1)]
        while stack:
            node, times = stack.pop()
            if type(node) is Call:
                uses[node.nonterminal] += times
            elif type(node) is Counted:
                stack.append((node.body, times * COUNTED_COPIES))
            elif type(node) is Repeat:
                stack.append((node.body, times * max(node.low, node.high or 1, 1)))
            else:
                stack.extend((part, times) for part in children(node))
    return uses
