"""Finite automata over numbered symbols: what determinisation and minimisation work on.

A symbol is whatever the caller says: a class of code points, or a class of bytes.
States carry a *tag*, a bit set that says for what the state accepts (0 for nothing).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kbnf_core.automata.dfa import DEAD

ACCEPT = 1
"""The tag of automata that only accept or not."""


@dataclass(frozen=True, slots=True)
class Nfa:
    """A nondeterministic automaton without epsilon edges.

    ``moves[state]`` maps a symbol to the sorted states it leads to; ``tags[state]`` is a bit
    set; each of ``starts`` is one sorted set of start states.
    """

    moves: Sequence[Mapping[int, tuple[int, ...]]]
    tags: Sequence[int]
    starts: Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Machine:
    """A deterministic automaton: ``rows[state][symbol]`` is a state or ``DEAD``.

    ``starts`` are states, or ``DEAD`` for a start from which nothing is accepted.
    """

    rows: Sequence[Sequence[int]]
    tags: Sequence[int]
    starts: Sequence[int]


def trim(machine: Machine) -> Machine:
    """Keep the states that a start reaches and that reach a tag, in breadth-first order."""
    live = _live(machine)
    order: dict[int, int] = {DEAD: DEAD}
    for start in machine.starts:
        if start in live:
            order.setdefault(start, len(order) - 1)
    queue = [state for state in order if state != DEAD]
    for state in queue:
        for target in machine.rows[state]:
            if target not in order and target in live:
                order[target] = len(order) - 1
                queue.append(target)
    return Machine(
        rows=[[order.get(target, DEAD) for target in machine.rows[state]] for state in queue],
        tags=[machine.tags[state] for state in queue],
        starts=[order.get(start, DEAD) for start in machine.starts],
    )


def _live(machine: Machine) -> set[int]:
    sources = predecessors(machine)
    queue = [state for state, tag in enumerate(machine.tags) if tag]
    live = set(queue)
    for state in queue:
        for source in sources[state]:
            if source not in live:
                live.add(source)
                queue.append(source)
    return live


def predecessors(machine: Machine) -> list[list[int]]:
    """Return, for each state, the states with an edge to it."""
    sources: list[list[int]] = [[] for _ in machine.rows]
    for state, row in enumerate(machine.rows):
        for target in set(row):
            if target != DEAD:
                sources[target].append(state)
    return sources
