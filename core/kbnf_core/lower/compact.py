"""From an automaton with epsilons to one without, minimal where that is affordable.

The alphabet is symbols (byte classes, nonterminals, token terminals), so recursion does not matter
here: a call is one symbol. The subset construction makes item sets small and their number few;
when it would grow too much, the states are kept and only the epsilons removed, which recognition
handles as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kbnf_core.automata import machine
from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.epsilon import Closures
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.minimise import minimise
from kbnf_core.lower.nfa import Nfa, Place


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """States 0 .. n-1, 0 the start; ``edges[s]`` maps a symbol to its targets."""

    edges: Sequence[Mapping[int, tuple[int, ...]]]
    accepting: Sequence[bool]
    places: Sequence[tuple[Place, ...]]


CLOSURE_LIMIT = 1_000_000
"""Bound on the size of all epsilon closures of one nonterminal together, in tens of states."""

GROWTH = 4
"""The subset construction may make this many times the states of its input."""


def compact(nfa: Nfa) -> Automaton:
    """Return the minimal deterministic automaton, or ``spell_out``'s when it grows too much.

    Places are not kept: states that are the same in every other way are one.
    """
    used = sorted({symbol for edges in nfa.edges for symbol, _ in edges})
    numbers = {symbol: number for number, symbol in enumerate(used)}
    try:
        plain = _without_epsilons(nfa, numbers)
        found = minimise(determinise(plain, len(used), GROWTH * len(nfa.edges) + 16))
    except LimitError:
        return spell_out(nfa)
    edges = [
        {symbol: (target,) for symbol, target in zip(used, row, strict=True) if target != DEAD}
        for row in found.rows
    ]
    return Automaton(edges, [bool(tag) for tag in found.tags], [()] * len(edges))


def spell_out(nfa: Nfa) -> Automaton:
    """Return the automaton with the same states, trimmed, in which every edge takes a symbol.

    Raises LimitError where too much is entered freely from too many states.
    """
    return trim(_remove_epsilons(nfa))


def _without_epsilons(nfa: Nfa, numbers: Mapping[int, int]) -> machine.Nfa:
    closures = _closures(nfa)
    moves = []
    for edges in nfa.edges:
        row: dict[int, tuple[int, ...]] = {}
        for symbol, target in edges:
            reached = closures.of(target)
            number = numbers[symbol]
            known = row.get(number)
            row[number] = reached if known is None else tuple(sorted({*known, *reached}))
        moves.append(row)
    tags = [int(state == Nfa.ACCEPT) for state in range(len(nfa.edges))]
    return machine.Nfa(moves, tags, [closures.of(Nfa.START)])


def _closures(nfa: Nfa) -> Closures:
    useful = [bool(edges) or state == Nfa.ACCEPT for state, edges in enumerate(nfa.edges)]
    return Closures(nfa.epsilons, useful, CLOSURE_LIMIT)


def _remove_epsilons(nfa: Nfa) -> Automaton:
    closures = _closures(nfa)
    kept = [state for state in range(len(nfa.edges)) if nfa.edges[state] or state <= Nfa.ACCEPT]
    numbers = {state: number for number, state in enumerate(kept)}
    edges: list[Mapping[int, tuple[int, ...]]] = []
    for state in kept:
        row: dict[int, dict[int, None]] = {}
        for symbol, target in nfa.edges[state]:
            found = row.setdefault(symbol, {})
            found.update((numbers[s], None) for s in closures.of(target) if s in numbers)
        edges.append({symbol: tuple(targets) for symbol, targets in row.items()})
    accepting = [state == Nfa.ACCEPT for state in kept]
    places = [tuple(nfa.places[state]) for state in kept]
    return _with_one_start(Automaton(edges, accepting, places), closures, numbers)


def _with_one_start(
    automaton: Automaton, closures: Closures, numbers: Mapping[int, int]
) -> Automaton:
    """Let state 0 do what everything in its closure can do."""
    starts = [numbers[s] for s in closures.of(Nfa.START) if s in numbers]
    row: dict[int, dict[int, None]] = {}
    places: dict[Place, None] = {}
    for state in starts:
        places.update(dict.fromkeys(automaton.places[state]))
        for symbol, targets in automaton.edges[state].items():
            row.setdefault(symbol, {}).update(dict.fromkeys(targets))
    edges = [{symbol: tuple(targets) for symbol, targets in row.items()}, *automaton.edges[1:]]
    accepting = [any(automaton.accepting[s] for s in starts), *automaton.accepting[1:]]
    return Automaton(edges, accepting, [tuple(places), *automaton.places[1:]])


def trim(automaton: Automaton) -> Automaton:
    """Return the part from which acceptance can be reached, and that the start can reach.

    The start is always kept, even where nothing at all is accepted.
    """
    keep = _reaching_acceptance(automaton) | {0}
    order = [0]
    seen = {0}
    for state in order:
        for targets in automaton.edges[state].values():
            fresh = [t for t in targets if t in keep and t not in seen]
            order.extend(dict.fromkeys(fresh))
            seen.update(fresh)
    return _renumber(automaton, order)


def _reaching_acceptance(automaton: Automaton) -> set[int]:
    sources: list[list[int]] = [[] for _ in automaton.edges]
    for state, row in enumerate(automaton.edges):
        for targets in row.values():
            for target in targets:
                sources[target].append(state)
    seen = {state for state, accepting in enumerate(automaton.accepting) if accepting}
    stack = list(seen)
    while stack:
        fresh = [source for source in sources[stack.pop()] if source not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return seen


def _renumber(automaton: Automaton, order: list[int]) -> Automaton:
    numbers = {state: number for number, state in enumerate(order)}
    edges = []
    for state in order:
        row = {}
        for symbol, targets in automaton.edges[state].items():
            kept = tuple(numbers[target] for target in targets if target in numbers)
            if kept:
                row[symbol] = kept
        edges.append(row)
    accepting = [automaton.accepting[state] for state in order]
    return Automaton(edges, accepting, [automaton.places[state] for state in order])
