"""Which states one token leads to: all tokens at once, one token for each state."""

import numpy as np
import numpy.typing as npt

from kbnf_core.budget import Budget
from kbnf_core.mask.bits import Words, ids_of, unpack
from kbnf_core.mask.course import Course
from kbnf_core.recognise.states import DEAD, UNKNOWN, StateTable
from kbnf_core.vocab.trie import ROOT, TokenTrie

_Int32 = npt.NDArray[np.int32]

_STATE_WORK = 4_000
"""Trie nodes that are followed in the time that a state takes, however small the trie is."""

_PAIR_WORK = 64
"""The same for each pair of a state, which every mask and every step from it goes through."""


class Successors:
    """Follows the whole vocabulary from states of one course.

    Trie nodes looked at are charged to ``budget``, and a share for each state and its pairs.
    """

    def __init__(self, course: Course, budget: Budget) -> None:
        self._course = course
        self._budget = budget
        self._masks = course.masks
        self._trie = course.masks.vocabulary.trie
        self._node_class = course.masks.states.tables.classes[self._trie.byte]

    def after(self, state: int) -> dict[int, int]:
        """Return the states after one allowed token, each with such a token.

        ``state`` is not complete. Empty tokens lead nowhere and are left out. Raises
        WorkLimitError where the budget is used up.
        """
        self._budget.spend(_STATE_WORK + _PAIR_WORK * len(self._masks.states.pairs(state)))
        allowed = self._course.rule.mask(self._masks, state)
        found = self._by_bytes(state, allowed)
        found.update(self._by_id(state, allowed))
        return found

    def _by_bytes(self, state: int, allowed: Words) -> dict[int, int]:
        ids, states = self._walk(state)
        fits = unpack(allowed, self._masks.vocabulary.size)[ids]
        distinct, first = np.unique(states[fits], return_index=True)
        return dict(zip(distinct.tolist(), ids[fits][first].tolist(), strict=True))

    def _walk(self, state: int) -> tuple[_Int32, _Int32]:
        """Return the tokens that stay alive, the lowest id of each spelling, and their states."""
        trie, states = self._trie, self._masks.states
        nodes = trie.children(ROOT)
        before = np.full(len(nodes), state, np.int32)
        ends, reached = [nodes[:0]], [before[:0]]
        while len(nodes):
            self._budget.spend(len(nodes))
            after = step_all(states, before, self._node_class[nodes])
            alive = after != DEAD
            nodes, after = nodes[alive], after[alive]
            is_end = trie.token_start[nodes] < trie.token_start[nodes + 1]
            ends.append(nodes[is_end])
            reached.append(after[is_end])
            nodes, before = children_of(trie, nodes, after)
        return trie.token_ids[trie.token_start[np.concatenate(ends)]], np.concatenate(reached)

    def _by_id(self, state: int, allowed: Words) -> dict[int, int]:
        """Return the states after the tokens that token terminals name."""
        masks = self._masks
        named = masks.terminals.mask(masks.states.token_terminals(state)) & allowed
        places = {
            self._course.step(state, each): each
            for each in ids_of(named, masks.vocabulary.size).tolist()
        }
        return {place if place >= 0 else ~place: each for place, each in places.items()}


def step_all(states: StateTable, before: _Int32, classes: npt.NDArray[np.uint8]) -> _Int32:
    """Return the states after one byte each, filling the table where it does not know."""
    after = states.next[before, classes]
    unknown = after == UNKNOWN
    if unknown.any():
        pairs = np.unique(np.stack((before[unknown], classes[unknown])), axis=1)
        for state, byte_class in pairs.T.tolist():
            states.step(state, byte_class)
        after = states.next[before, classes]
    return after


def children_of(trie: TokenTrie, nodes: _Int32, values: _Int32) -> tuple[_Int32, _Int32]:
    """Return the children of all nodes, each with the value of its parent."""
    begin, end = trie.child_start[nodes], trie.child_start[nodes + 1]
    count = end - begin
    shift = np.repeat(begin - (np.cumsum(count) - count), count)
    return trie.child[shift + np.arange(len(shift))], np.repeat(values, count)
