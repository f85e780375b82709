"""From an automaton with epsilons to one without, minimal where that is affordable.

The alphabet is symbols (byte classes, nonterminals, token terminals), so recursion does not matter
here: a call is one symbol. The subset construction makes item sets small and their number few;
when it would grow too much, the states are kept and only the epsilons removed, which recognition
handles as well.
"""

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.kernel import Column
from kbnf_core.automata.nfa import Closures
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.counts import Loop
from kbnf_core.lower.nfa import Fragment, Nfa, NfaBuilder
from kbnf_core.text.budget import Budget


@dataclass(slots=True, eq=False)
class Piece:
    """One nonterminal's automaton as columns of edges; ``accepting`` has a byte for each state.

    It is never changed (that it is not
    frozen makes it quicker to make: there are hundreds in a set of tools).
    """

    source: Column
    symbol: Column
    target: Column
    accepting: bytes
    loops: Sequence[Loop] = ()

    @property
    def state_count(self) -> int:
        """Number of states."""
        return len(self.accepting)

    @property
    def fragment(self) -> Fragment:
        """The automaton, to be copied."""
        accepting = [state for state, is_end in enumerate(self.accepting) if is_end]
        return Fragment(self.source + self.symbol + self.target, accepting, self.state_count)


class Automaton(NamedTuple):
    """States 0 .. n-1, 0 the start; ``edges[s]`` maps a symbol to its targets."""

    edges: Sequence[Mapping[int, tuple[int, ...]]]
    accepting: Sequence[bool]


CLOSURE_LIMIT = 1_000_000
"""Bound on the size of all epsilon closures of one nonterminal together, in tens of states."""

GROWTH = 4
"""The subset construction may make this many times the states of its input."""


def compact(builder: NfaBuilder, name: str) -> Piece:
    """Return the minimal deterministic automaton, or ``spell_out``'s when it grows too much.

    Places are not kept: states that are the same in every other way are one. Raises LimitError
    where ``spell_out`` does.
    """
    states, source, symbol, target, free_source, free_target = lowering.connect(builder, name)
    found, steps = AUTOMATA.compact(
        source,
        symbol,
        target,
        free_source,
        free_target,
        states,
        Nfa.START,
        Nfa.ACCEPT,
        GROWTH * states + 16,
        CLOSURE_LIMIT,
        builder.budget.left,
    )
    builder.budget.spend(steps)
    return spell_out(builder, name) if found is None else _minimal_piece(*found)


def _minimal_piece(source: Column, symbol: Column, target: Column, accepting: bytes) -> Piece:
    # Where no word is accepted the start is left, alone.
    accepting = accepting or b"\0"
    return Piece(source, symbol, target, accepting)


def spell_out(builder: NfaBuilder, name: str) -> Piece:
    """Return the automaton with the same states, trimmed, in which every edge takes a symbol.

    Raises LimitError where too much is entered freely from too many states.
    """
    nfa = builder.build(name)
    return _as_piece(trim(_remove_epsilons(nfa, builder.budget)))


def _remove_epsilons(nfa: Nfa, budget: Budget) -> Automaton:
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(nfa.state_count)]
    for source, symbol, target in nfa.columns().T.tolist():
        leaving[source].append((symbol, target))
    free: list[list[int]] = [[] for _ in leaving]
    for source, target in zip(nfa.free_sources, nfa.free_targets, strict=True):
        free[source].append(target)
    useful = [bool(edges) or state == Nfa.ACCEPT for state, edges in enumerate(leaving)]
    closures = Closures(free, useful, CLOSURE_LIMIT, budget)
    kept = [state for state, edges in enumerate(leaving) if edges or state <= Nfa.ACCEPT]
    numbers = {state: number for number, state in enumerate(kept)}
    edges: list[Mapping[int, tuple[int, ...]]] = []
    for state in kept:
        row: dict[int, dict[int, None]] = {}
        for symbol, target in leaving[state]:
            found = row.setdefault(symbol, {})
            entered = closures.of(target)
            budget.spend(len(entered))
            found.update((numbers[s], None) for s in entered if s in numbers)
        edges.append({symbol: tuple(targets) for symbol, targets in row.items()})
    accepting = [state == Nfa.ACCEPT for state in kept]
    return _with_one_start(Automaton(edges, accepting), closures, numbers)


def _with_one_start(
    automaton: Automaton, closures: Closures, numbers: Mapping[int, int]
) -> Automaton:
    """Let state 0 do what everything in its closure can do."""
    starts = [numbers[s] for s in closures.of(Nfa.START) if s in numbers]
    row: dict[int, dict[int, None]] = {}
    for state in starts:
        for symbol, targets in automaton.edges[state].items():
            row.setdefault(symbol, {}).update(dict.fromkeys(targets))
    edges = [{symbol: tuple(targets) for symbol, targets in row.items()}, *automaton.edges[1:]]
    accepting = [any(automaton.accepting[s] for s in starts), *automaton.accepting[1:]]
    return Automaton(edges, accepting)


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
    return Automaton(edges, accepting)


def _as_piece(automaton: Automaton) -> Piece:
    triples = [
        (state, symbol, target)
        for state, row in enumerate(automaton.edges)
        for symbol in sorted(row)
        for target in row[symbol]
    ]
    source, symbol, target = (
        array("i", [triple[column] for triple in triples]).tobytes() for column in range(3)
    )
    return Piece(source, symbol, target, bytes(automaton.accepting))
