"""Masks: all tokens that can come in a state, put together from walks and remembered.

The tokens of a state are those of its item sets' walks, and, for every exit, those of a walk over
what is left of the tokens from where the waiting rule goes on; that can exit again, and so on
down the stack. Walks depend on an item set and a set of trie nodes only, so a text of any length
needs few of them.
"""

import threading
from dataclasses import dataclass

import numpy as np

from kbnf_core.mask.bits import Words, pack
from kbnf_core.mask.terminals import TokenTerminals
from kbnf_core.mask.walk import Nodes, Walk, Walker
from kbnf_core.recognise.origins import BOTTOM
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

_ROOT = np.zeros(1, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Viable:
    """``words``: tokens after which some text of the grammar is possible.

    ``completions``: the trie nodes at which the start itself is complete, ascending.
    """

    words: Words
    completions: Nodes


class Masks:
    """The masks of one grammar over one vocabulary; engines and threads share it."""

    def __init__(self, states: StateTable, vocabulary: Vocabulary) -> None:
        self.states = states
        self.vocabulary = vocabulary
        self.terminals = TokenTerminals(states.tables.token_terminals, vocabulary)
        self._lock = threading.RLock()
        self._walker = Walker(states, vocabulary.trie)
        self._node_sets = _NodeSets()
        self._walks: dict[tuple[int, int], Walk] = {}
        self._viable: dict[int, Viable] = {}
        self._prefix_free: dict[int, Words] = {}

    @property
    def walk_count(self) -> int:
        """How many walks have been made so far."""
        return len(self._walks)

    def is_complete(self, state: int) -> bool:
        """Tell whether the start is complete in a state; also before the first byte."""
        empty = state == self.states.initial and self.states.tables.start_is_nullable
        return empty or bool(self.states.exits(state))

    def viable(self, state: int) -> Words:
        """Return the tokens after which the text can still become one of the grammar."""
        found = self._viable.get(state)
        if found is None:
            with self._lock:
                found = self._viable[state] = self._find_viable(state)
        return found.words

    def prefix_free(self, state: int) -> Words:
        """Return the viable tokens that do not go on behind a complete text."""
        found = self._prefix_free.get(state)
        if found is None:
            with self._lock:
                found = self._prefix_free[state] = self._find_prefix_free(state)
        return found

    def _find_prefix_free(self, state: int) -> Words:
        words = self.viable(state)
        completions = self._viable[state].completions
        if not len(completions):
            return words
        below = np.concatenate([self._ids_below(int(node)) for node in completions])
        # A token that a token terminal names stays: it is one step, whatever its bytes are.
        named = self.terminals.mask(self.states.token_terminals(state))
        return words & ~pack(below, self.vocabulary.size) | named

    def _ids_below(self, node: int) -> Nodes:
        trie = self.vocabulary.trie
        return trie.token_ids[trie.token_start[node + 1] : trie.token_start[trie.skip[node]]]

    def _find_viable(self, state: int) -> Viable:
        ids: list[Nodes] = [np.zeros(0, np.int32)]
        completions: list[Nodes] = [np.zeros(0, np.int32)]
        root = self._node_sets.number(_ROOT)
        work = [(origin, item_set, root) for origin, item_set in self.states.pairs(state)]
        done = set(work)
        while work:
            origin, item_set, nodes = work.pop()
            walk = self._walk(item_set, nodes)
            ids.append(walk.token_ids)
            for nonterminal, exits in walk.exits.items():
                if origin == BOTTOM:
                    completions.append(exits)
                number = self._node_sets.number(exits)
                waiting = self.states.origins.waiting(origin, nonterminal)
                fresh = {(outer, after, number) for outer, after in waiting} - done
                done |= fresh
                work.extend(fresh)
        words = pack(np.concatenate(ids), self.vocabulary.size)
        words |= self.terminals.mask(self.states.token_terminals(state))
        return Viable(words, np.unique(np.concatenate(completions)))

    def _walk(self, item_set: int, nodes: int) -> Walk:
        key = (item_set, nodes)
        found = self._walks.get(key)
        if found is None:
            start = self.states.begin(item_set)
            found = self._walks[key] = self._walker.walk(start, self._node_sets.nodes(nodes))
        return found


class _NodeSets:
    """Sets of trie nodes, interned, so that walks can be remembered by them."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._nodes: list[Nodes] = []

    def number(self, nodes: Nodes) -> int:
        key = nodes.tobytes()
        number = self._numbers.setdefault(key, len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(nodes)
        return number

    def nodes(self, number: int) -> Nodes:
        return self._nodes[number]
