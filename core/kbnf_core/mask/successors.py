"""Successor states: every state one token away, computed for the whole vocabulary at once."""

import numpy as np
import numpy.typing as npt

from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD, UNKNOWN, StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.vocab.trie import ROOT, TokenTrie

_Int32 = npt.NDArray[np.int32]
_Ids = npt.NDArray[np.integer]

_NO_IDS: _Ids = np.zeros(0, np.int32)

_STATE_WORK = 4_000
"""Trie nodes that are followed in the time that a state takes, however small the trie is."""

_PAIR_WORK = 64
"""The same for each pair of a state, which every mask and every step from it goes through."""


class Successors:
    """Follows the whole vocabulary from states of one token automaton.

    Trie nodes visited are charged to ``budget``, and a share for each state and its pairs.
    """

    def __init__(self, automaton: TokenAutomaton, budget: Budget) -> None:
        self._automaton = automaton
        self._budget = budget
        self._masks = automaton.masks
        self._trie = automaton.masks.vocabulary.trie
        self._node_class = automaton.masks.states.tables.classes[self._trie.byte]

    def after(self, state: int) -> dict[int, int]:
        """Return the states after one allowed token, each with such a token.

        ``state`` is not complete. Empty tokens lead nowhere and are left out. Raises
        WorkLimitError where the budget is used up.
        """
        self._budget.spend(_STATE_WORK + _PAIR_WORK * len(self._masks.states.pairs(state)))
        named = self._named(state)
        return self._by_bytes(state, named) | self._by_id(state, named)

    def tokens(self, state: int) -> tuple[_Int32, _Int32]:
        """Return every token that the mask of a state allows, and the positions after them.

        Both are int32[tokens allowed]. Raises WorkLimitError where the budget is used up.
        """
        self._budget.spend(_STATE_WORK + _PAIR_WORK * len(self._masks.states.pairs(state)))
        allowed = ids_of(self._automaton.rule.mask(self._masks, state), self._masks.vocabulary.size)
        after = np.zeros(self._masks.vocabulary.size, np.int32)
        ids, states = self._walk(state)
        after[ids] = self._settled(states)
        # What is more than its bytes: named tokens, the end of sequence, empty tokens.
        odd = np.union1d(self._named(state), allowed[after[allowed] == DEAD])
        for token_id in odd.tolist():
            after[token_id] = self._automaton.step(state, token_id)
        return allowed.astype(np.int32), after[allowed]

    def _settled(self, states: _Int32) -> _Int32:
        """Return the positions of states that were reached with a token's end."""
        if not self._automaton.rule.ends_at_tokens:
            return states
        return np.where(self._masks.states.has_completions[states] != 0, ~states, states)

    def _named(self, state: int) -> _Ids:
        """Return the tokens that token terminals name here."""
        terminals = self._masks.terminals
        if not terminals:
            return _NO_IDS
        words = terminals.mask(self._masks.states.token_terminals(state))
        return ids_of(words, self._masks.vocabulary.size)

    def _by_bytes(self, state: int, named: _Ids) -> dict[int, int]:
        """Return the states after the other tokens: those that nothing but their bytes allows."""
        ids, states = self._walk(state)
        if len(named):
            others = ~np.isin(ids, named)
            ids, states = ids[others], states[others]
        distinct, first = np.unique(states, return_index=True)
        return dict(zip(distinct.tolist(), ids[first].tolist(), strict=True))

    def _walk(self, state: int) -> tuple[_Int32, _Int32]:
        """Return the tokens whose bytes can come, and the states that they lead to."""
        trie, states = self._trie, self._masks.states
        nodes = trie.children(ROOT)
        before = np.full(len(nodes), state, np.int32)
        found, reached = [nodes[:0]], [before[:0]]
        while len(nodes):
            self._budget.spend(len(nodes))
            after = step_all(states, before, self._node_class[nodes])
            alive = after != DEAD
            nodes, after = nodes[alive], after[alive]
            ids, states_of_ids = _tokens_at(trie, nodes, after)
            found.append(ids)
            reached.append(states_of_ids)
            if self._automaton.rule.ends_at_bytes:
                goes_on = states.has_completions[after] == 0
                nodes, after = nodes[goes_on], after[goes_on]
            nodes, before = children_of(trie, nodes, after)
        return np.concatenate(found), np.concatenate(reached)

    def _by_id(self, state: int, named: _Ids) -> dict[int, int]:
        """Return the states after named tokens, which their bytes may allow as well."""
        positions = {self._automaton.step(state, each): each for each in named.tolist()}
        return {
            position if position >= 0 else ~position: each for position, each in positions.items()
        }


def step_all(states: StateTable, before: _Int32, classes: npt.NDArray[np.uint8]) -> _Int32:
    """Return the states after one byte each, computing transitions that the table lacks."""
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
    return _spread(trie.child, trie.child_start, nodes, values)


def _tokens_at(trie: TokenTrie, nodes: _Int32, values: _Int32) -> tuple[_Int32, _Int32]:
    """Return the tokens that end at the nodes, each with the value of its node."""
    return _spread(trie.token_ids, trie.token_start, nodes, values)


def _spread(items: _Int32, start: _Int32, nodes: _Int32, values: _Int32) -> tuple[_Int32, _Int32]:
    """Return ``items[start[n] : start[n + 1]]`` of all nodes, each item with its node's value."""
    begin, end = start[nodes], start[nodes + 1]
    count = end - begin
    shift = np.repeat(begin - (np.cumsum(count) - count), count)
    return items[shift + np.arange(len(shift))], np.repeat(values, count)
