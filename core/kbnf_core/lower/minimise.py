"""Trim an automaton and merge its states that no continuation tells apart.

Moore's partition refinement on rows: states in one block have, symbol by symbol, targets in the
same blocks. Exact for deterministic automata; for others it merges bisimilar states, which keeps
the language just as well.
"""

from kbnf_core.lower.determinise import Automaton

EFFORT = 2_000_000
"""Edges looked at before minimising is given up; the language is the same either way."""


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
    return _renumber(automaton, order, {state: number for number, state in enumerate(order)})


def minimise(automaton: Automaton) -> Automaton:
    """Return the automaton with equivalent states merged; places are not kept."""
    block = [int(accepting) for accepting in automaton.accepting]
    effort = 0
    per_round = sum(map(len, automaton.edges)) + len(block)
    count = len(set(block))
    while True:
        effort += per_round
        if effort > EFFORT:
            return automaton
        refined = _refine(automaton, block)
        finer = max(refined) + 1
        if finer == count:
            break
        block, count = refined, finer
    representatives: dict[int, int] = {}
    for state, number in enumerate(block):
        representatives.setdefault(number, state)
    order = sorted(representatives.values())
    renumbered = {block[state]: number for number, state in enumerate(order)}
    return _renumber(automaton, order, {s: renumbered[b] for s, b in enumerate(block)})


def _refine(automaton: Automaton, block: list[int]) -> list[int]:
    numbers: dict[tuple[int, frozenset[tuple[int, frozenset[int]]]], int] = {}
    refined = []
    for state, row in enumerate(automaton.edges):
        signature = frozenset(
            (symbol, frozenset([block[t] for t in targets])) for symbol, targets in row.items()
        )
        refined.append(numbers.setdefault((block[state], signature), len(numbers)))
    return refined


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


def _renumber(automaton: Automaton, order: list[int], numbers: dict[int, int]) -> Automaton:
    edges = []
    for state in order:
        row = {}
        for symbol, targets in automaton.edges[state].items():
            kept = dict.fromkeys(numbers[t] for t in targets if t in numbers)
            if kept:
                row[symbol] = tuple(kept)
        edges.append(row)
    accepting = [automaton.accepting[state] for state in order]
    return Automaton(edges, accepting, [automaton.places[state] for state in order])
