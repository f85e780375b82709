"""Texts that avoid a finite set of words, and may be bounded in length: ``except!``.

The words' Aho-Corasick automaton (1975), without the states in which a word has just ended,
accepts what avoids them. A bound on the length multiplies its states by the number of bytes
that may still follow; that product is written down in minimal form at once, as tens of
thousands of counts are too many to minimise afterwards.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.columns import separate, width
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError, states_within
from kbnf_core.automata.machine import ACCEPT, Machine
from kbnf_core.automata.operations import empty, from_machine, intersect
from kbnf_core.limits import DEFAULT_LIMITS, Limits

Ints = npt.NDArray[np.int64]


def avoid_literals(words: Sequence[bytes], limit: int, limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the nonempty byte strings in which none of ``words`` occurs.

    They are at most ``limit`` bytes long; 0 has no bound. Raises LimitError when there are
    more states than ``limits.grammar_states``, or they take more than ``limits.exception_bytes``.
    """
    if b"" in words:
        return empty()
    columns = separate(byte for word in words for byte in word)
    most = states_within(limits.grammar_states, limits.exception_bytes, width(columns))
    limits = replace(limits, grammar_states=most)
    rows = _aho_corasick(words, columns, width(columns))
    # Words are nonempty: the start is a copy of the root that does not accept.
    start = len(rows)
    unbounded = from_machine(Machine([*rows, rows[0]], [ACCEPT] * start + [0], [start]), columns)
    if unbounded.state_count > most:
        raise LimitError("states", most)
    if limit == 0:
        return unbounded
    if len({byte for word in words for byte in word}) == 256:
        # Rare, and without the free byte that keeps the layers of _bounded simple.
        return intersect(unbounded, _up_to(limit), limits)
    return _bounded(unbounded, limit, limits)


def _up_to(limit: int) -> Dfa:
    """Return all byte strings of at most ``limit`` bytes."""
    table = np.arange(1, limit + 2, dtype=np.int32)[:, None]
    table[limit] = DEAD
    return Dfa(np.zeros(256, dtype=np.uint8), table, np.ones(limit + 1, dtype=np.bool_))


def _aho_corasick(words: Sequence[bytes], columns: bytes, symbols: int) -> list[list[int]]:
    """Return the rows of the automaton that dies where a word ends; state 0 is the root."""
    children: list[dict[int, int]] = [{}]
    ends: set[int] = set()
    for word in words:
        state = 0
        for byte in word:
            state = children[state].setdefault(columns[byte], len(children))
            if state == len(children):
                children.append({})
        ends.add(state)
    rows = [[0] * symbols for _ in children]
    fallback = [0] * len(children)
    queue = [0]
    for state in queue:
        if state:
            rows[state] = list(rows[fallback[state]])
        if fallback[state] in ends:
            ends.add(state)
        for symbol, child in children[state].items():
            fallback[child] = rows[state][symbol] if state else 0
            rows[state][symbol] = child
            queue.append(child)
    return [[DEAD if target in ends else target for target in row] for row in rows]


def _bounded(dfa: Dfa, limit: int, limits: Limits) -> Dfa:
    """Return the words of at most ``limit`` bytes.

    ``dfa`` is minimal, all its states but the start accept, and some byte leads from every
    state back to the root. So the states reached after c bytes only grow with c; and with r
    bytes left two states are equal when they have the same words of up to r bytes, which
    tells more of them apart the larger r is. Where both have settled, layers repeat.
    """
    layers = _Layers(
        reached=_reached_after(dfa.next, limit),
        groups=_groups_with_left(dfa.next, limit),
        limit=limit,
    )
    runs = layers.runs()
    size = sum(len(layers.at(consumed).states) * count for consumed, count in runs)
    if size > limits.grammar_states:
        raise LimitError("states", limits.grammar_states)
    accepting = np.ones(size, dtype=np.bool_)
    accepting[0] = False
    return Dfa(dfa.classes, _lay_out(dfa.next, layers, size), accepting)


def _lay_out(table: npt.NDArray[np.int32], layers: "_Layers", size: int) -> npt.NDArray[np.int32]:
    """Return the rows of all layers, one after the other; the last layer leads nowhere."""
    laid_out = np.full((size, table.shape[1]), DEAD, dtype=np.int32)
    offset = 0
    for consumed, count in layers.runs()[:-1]:
        rows = layers.at(consumed + 1).place[table[layers.at(consumed).states]]
        following = offset + len(rows) * np.arange(1, count + 1)
        block = np.where(rows == DEAD, DEAD, rows + following[:, None, None])
        laid_out[offset : following[-1]] = block.reshape(-1, table.shape[1])
        offset = following[-1]
    return laid_out


@dataclass(frozen=True, slots=True)
class _Layer:
    """The states after some number of bytes.

    ``states`` holds one state of each group; ``place[state]`` is the place of the state's
    group in it, and the last element stands for DEAD.
    """

    states: Ints
    place: Ints


@dataclass(frozen=True, slots=True)
class _Layers:
    """All layers: ``reached`` after 0, 1, .. bytes, ``groups`` with 0, 1, .. bytes left.

    The last element of both stands for all further ones.
    """

    reached: list[Ints]
    groups: list[Ints]
    limit: int

    def at(self, consumed: int) -> _Layer:
        """Return the layer after some bytes."""
        states = self.reached[min(consumed, len(self.reached) - 1)]
        return _layer(states, self.groups[min(self.limit - consumed, len(self.groups) - 1)])

    def runs(self) -> list[tuple[int, int]]:
        """Return (first layer, count) for runs of layers with equal rows; the last runs alone."""
        settled = len(self.reached) - 1
        unsettled = self.limit - len(self.groups) + 1
        if unsettled <= settled:
            return [(consumed, 1) for consumed in range(self.limit + 1)]
        before = [(consumed, 1) for consumed in range(settled)]
        after = [(consumed, 1) for consumed in range(unsettled, self.limit + 1)]
        return [*before, (settled, unsettled - settled), *after]


def _layer(states: Ints, group: Ints) -> _Layer:
    _, first, index = np.unique(group[states], return_index=True, return_inverse=True)
    place = np.full(len(group) + 1, DEAD)
    place[states] = index
    return _Layer(states[first], place)


def _reached_after(table: npt.NDArray[np.int32], limit: int) -> list[Ints]:
    """Return the states after 0, 1, 2, ... bytes, until they stay the same."""
    reached = [np.array([0])]
    while len(reached) <= limit:
        targets = np.unique(table[reached[-1]])
        states = targets[targets != DEAD].astype(np.int64)
        if np.array_equal(states, reached[-1]):
            break
        reached.append(states)
    return reached


def _groups_with_left(table: npt.NDArray[np.int32], limit: int) -> list[Ints]:
    """Return the group of each state when 0, 1, 2, ... bytes are left, until all differ.

    The start, which alone does not accept, is a group of its own.
    """
    group = np.ones(len(table), dtype=np.int64)
    group[0] = 0
    groups = [group]
    while len(groups) <= limit and group.max() + 1 < len(table):
        successors = np.append(group, DEAD)[table]
        signatures = np.column_stack([groups[0], successors])
        group = np.unique(signatures, axis=0, return_inverse=True)[1].reshape(-1)
        groups.append(group)
    return groups
