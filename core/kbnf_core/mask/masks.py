"""Masks: all tokens that can come in a state, put together from walks and remembered.

The tokens of a state are those of its item sets' walks, and, for every exit, those of a walk over
what is left of the tokens from where the waiting rule goes on; that can exit again, and so on
down the stack. Walks depend on an item set and a set of trie nodes only, so a text of any length
needs few of them.
"""

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.mask.bits import Words, pack, word_count
from kbnf_core.mask.recent import Recent
from kbnf_core.mask.terminals import TokenTerminals
from kbnf_core.mask.walk import Nodes, Walk, Walker
from kbnf_core.recognise.origins import BOTTOM
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

_ROOT = np.zeros(1, np.int32)
_NOWHERE = np.zeros(0, np.int32)


@dataclass(frozen=True, slots=True, eq=False)
class Viable:
    """``words``: tokens after which some text of the grammar is possible.

    ``completions``: the trie nodes at which the start itself is complete, ascending.
    """

    words: Words
    completions: Nodes


class Masks:
    """What can come in the states of one grammar, over one vocabulary; shared by engines."""

    def __init__(
        self, states: StateTable, vocabulary: Vocabulary, limits: Limits = DEFAULT_LIMITS
    ) -> None:
        self.states = states
        self.vocabulary = vocabulary
        self.terminals = TokenTerminals(states.tables.token_terminals, vocabulary)
        self.mask_capacity = max(1, limits.mask_bytes // (4 * word_count(vocabulary.size) or 1))
        self._lock = threading.RLock()
        self._walker = Walker(states, vocabulary)
        self._node_sets = _NodeSets()
        self._walks: Recent[tuple[int, int], Walk] = Recent(self._find_walk, self.mask_capacity)
        self._viable: Recent[int, Viable] = Recent(self._find_viable, self.mask_capacity)
        self.walk_count = 0

    def is_complete(self, state: int) -> bool:
        """Tell whether the start is complete in a state; also before the first byte."""
        empty = state == self.states.initial and self.states.tables.start_is_nullable
        return empty or bool(self.states.exits(state))

    def viable(self, state: int) -> Words:
        """Return the tokens after which the text can still become one of the grammar."""
        return self._viable[state].words

    def prefix_free(self, state: int) -> Words:
        """Return the viable tokens that do not go on behind a complete text."""
        viable = self._viable[state]
        if not len(viable.completions):
            return viable.words
        below = np.concatenate([self._ids_below(int(node)) for node in viable.completions])
        # A token that a token terminal names stays: it is one step, whatever its bytes are.
        named = self.terminals.mask(self.states.token_terminals(state))
        return viable.words & ~pack(below, self.vocabulary.size) | named

    def _ids_below(self, node: int) -> Nodes:
        trie = self.vocabulary.trie
        return trie.token_ids[trie.token_start[node + 1] : trie.token_start[trie.skip[node]]]

    def _find_viable(self, state: int) -> Viable:
        with self._lock:
            words = self.terminals.mask(self.states.token_terminals(state))
            completions = [_NOWHERE]
            frames = _Frames(self.states, self._node_sets)
            frames.begin(state)
            while frames.work:
                origin, item_set, nodes = frames.work.pop()
                walk = self._walks[item_set, nodes]
                words |= walk.words
                for nonterminal, exits in walk.exits.items():
                    completions.extend(frames.leave(origin, nonterminal, exits))
            return Viable(words, np.unique(np.concatenate(completions)))

    def _find_walk(self, key: tuple[int, int]) -> Walk:
        item_set, nodes = key
        self.walk_count += 1
        return self._walker.walk(self.states.begin(item_set), self._node_sets.nodes(nodes))


class _Frames:
    """The walks that the mask of one state needs: item sets, each from a set of trie nodes.

    ``work`` holds (origin, item set, number of the node set), each at most once.
    """

    def __init__(self, states: StateTable, node_sets: "_NodeSets") -> None:
        self._states = states
        self._node_sets = node_sets
        self._done: set[tuple[int, int, int]] = set()
        self._left: set[tuple[int, int, int]] = set()
        self.work: list[tuple[int, int, int]] = []

    def begin(self, state: int) -> None:
        """Let every item set of ``state`` be walked from the root."""
        root = self._node_sets.number(_ROOT)
        for origin, item_set in self._states.pairs(state):
            self._enter(origin, item_set, root)

    def leave(self, origin: int, nonterminal: int, nodes: Nodes) -> Iterator[Nodes]:
        """Go on where ``nonterminal`` completed into ``origin`` at ``nodes``, as far up as it goes.

        Yields the nodes if the start is complete there.
        """
        number = self._node_sets.number(nodes)
        complete = [(origin, nonterminal)]
        while complete:
            here, name = complete.pop()
            if (here, name, number) in self._left:
                continue
            self._left.add((here, name, number))
            if here == BOTTOM:
                yield nodes
            for outer, after in self._states.origins.waiting(here, name):
                self._enter(outer, after, number)
                # What waited may be complete at once, with nothing more to come.
                complete.extend((outer, more) for more in self._states.items.completed(after))

    def _enter(self, origin: int, item_set: int, nodes: int) -> None:
        frame = (origin, item_set, nodes)
        if frame not in self._done:
            self._done.add(frame)
            self.work.append(frame)


class _NodeSets:
    """Sets of trie nodes, interned by their digest, so that walks can be remembered by them."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._nodes: list[Nodes] = []

    def number(self, nodes: Nodes) -> int:
        key = blake2b(nodes.data, digest_size=16).digest()
        number = self._numbers.setdefault(key, len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(nodes)
        return number

    def nodes(self, number: int) -> Nodes:
        return self._nodes[number]
