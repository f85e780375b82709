"""Finite automata over numbered symbols: what determinisation and minimisation work on.

A symbol is whatever the caller says: a class of code points, or a class of bytes.
States carry a *tag*, a set of at most 63 bits that says for what the state accepts (0 for nothing).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from kbnf_core.automata.dfa import DEAD

ACCEPT = 1
"""The tag of automata that only accept or not."""


class Nfa(NamedTuple):
    """A nondeterministic automaton without epsilon edges.

    ``moves[state]`` maps a symbol to the sorted states it leads to; ``tags[state]`` is a bit
    set; each of ``starts`` is one sorted set of start states.
    """

    moves: Sequence[Mapping[int, tuple[int, ...]]]
    tags: Sequence[int]
    starts: Sequence[tuple[int, ...]]


class Machine(NamedTuple):
    """A deterministic automaton: ``rows[state][symbol]`` is a state or ``DEAD``.

    ``starts`` are states, or ``DEAD`` for a start from which nothing is accepted.
    """

    rows: Sequence[Sequence[int]]
    tags: Sequence[int]
    starts: Sequence[int]


def predecessors(machine: Machine) -> list[list[int]]:
    """Return, for each state, the states with an edge to it."""
    sources: list[list[int]] = [[] for _ in machine.rows]
    for state, row in enumerate(machine.rows):
        for target in set(row):
            if target != DEAD:
                sources[target].append(state)
    return sources
