"""From an automaton with epsilons to one without, deterministic where that is affordable.

The alphabet is symbols (byte classes, nonterminals, token terminals), so recursion does not matter
here: a call is one symbol. The subset construction makes item sets small and their number few;
when it would grow too much, the states are kept and only the epsilons removed, which recognition
handles as well.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kbnf_core.lower.nfa import Nfa, Place


@dataclass(frozen=True, slots=True, eq=False)
class Automaton:
    """States 0 .. n-1, 0 the start; ``edges[s]`` maps a symbol to its targets."""

    edges: Sequence[Mapping[int, tuple[int, ...]]]
    accepting: Sequence[bool]
    places: Sequence[tuple[Place, ...]]


GROWTH = 4
"""The subset construction may make this many times the states of its input."""


def determinise(nfa: Nfa) -> Automaton:
    """Return a deterministic automaton, or that of ``remove_epsilons`` when it grows too much."""
    closures = _Closures(nfa)
    start = closures.of([Nfa.START])
    numbers = {start: 0}
    order = [start]
    edges: list[Mapping[int, tuple[int, ...]]] = []
    limit = GROWTH * len(nfa.edges) + 16
    for subset in order:
        row: dict[int, tuple[int, ...]] = {}
        for symbol, targets in _moves(nfa, subset).items():
            target = closures.of(targets)
            number = numbers.setdefault(target, len(numbers))
            if number == len(order):
                order.append(target)
            row[symbol] = (number,)
        edges.append(row)
        if len(order) > limit:
            return remove_epsilons(nfa)
    return Automaton(edges, [Nfa.ACCEPT in subset for subset in order], [()] * len(order))


def remove_epsilons(nfa: Nfa) -> Automaton:
    """Return the automaton with the same states in which every edge takes a symbol."""
    closures = _Closures(nfa)
    kept = [state for state in range(len(nfa.edges)) if nfa.edges[state] or state <= Nfa.ACCEPT]
    numbers = {state: number for number, state in enumerate(kept)}
    edges: list[Mapping[int, tuple[int, ...]]] = []
    for state in kept:
        row: dict[int, dict[int, None]] = {}
        for symbol, target in nfa.edges[state]:
            found = row.setdefault(symbol, {})
            found.update((numbers[s], None) for s in closures.of([target]) if s in numbers)
        edges.append({symbol: tuple(targets) for symbol, targets in row.items()})
    accepting = [state == Nfa.ACCEPT for state in kept]
    places = [tuple(nfa.places[state]) for state in kept]
    return _with_one_start(Automaton(edges, accepting, places), closures, numbers)


def _with_one_start(
    automaton: Automaton, closures: "_Closures", numbers: Mapping[int, int]
) -> Automaton:
    """Let state 0 do what everything in its closure can do."""
    starts = [numbers[s] for s in closures.of([Nfa.START]) if s in numbers]
    row: dict[int, dict[int, None]] = {}
    places: dict[Place, None] = {}
    for state in starts:
        places.update(dict.fromkeys(automaton.places[state]))
        for symbol, targets in automaton.edges[state].items():
            row.setdefault(symbol, {}).update(dict.fromkeys(targets))
    edges = [{symbol: tuple(targets) for symbol, targets in row.items()}, *automaton.edges[1:]]
    accepting = [any(automaton.accepting[s] for s in starts), *automaton.accepting[1:]]
    return Automaton(edges, accepting, [tuple(places), *automaton.places[1:]])


def _moves(nfa: Nfa, subset: tuple[int, ...]) -> dict[int, list[int]]:
    moves: dict[int, list[int]] = {}
    for state in subset:
        for symbol, target in nfa.edges[state]:
            moves.setdefault(symbol, []).append(target)
    return moves


class _Closures:
    """Epsilon closures, as sorted tuples of the states that matter: with edges, or accepting."""

    def __init__(self, nfa: Nfa) -> None:
        self._nfa = nfa
        self._known: dict[tuple[int, ...], tuple[int, ...]] = {}

    def of(self, states: list[int]) -> tuple[int, ...]:
        key = tuple(states)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._close(states)
        return found

    def _close(self, states: list[int]) -> tuple[int, ...]:
        seen = set(states)
        stack = list(seen)
        while stack:
            for target in self._nfa.epsilons[stack.pop()]:
                if target not in seen:
                    seen.add(target)
                    stack.append(target)
        edges = self._nfa.edges
        return tuple(sorted(s for s in seen if edges[s] or s == Nfa.ACCEPT))
