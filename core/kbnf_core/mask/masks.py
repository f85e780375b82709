"""Masks: all tokens that can come in a state, put together from walks and remembered.

The tokens of a state are those of its item sets' walks, and, for every exit, those of a walk over
what is left of the tokens from where the waiting rule goes on; that can exit again, and so on
down the stack. Walks depend on an item set and a set of trie nodes only, so a text of any length
needs few of them.
"""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.mask.bits import Words, pack, word_count
from kbnf_core.mask.recent import Recent
from kbnf_core.mask.terminals import TokenTerminals
from kbnf_core.mask.walk import (
    EMPTY_ROW,
    ROOT_SET,
    Found,
    Nodes,
    Walk,
    Walker,
    nothing_found,
)
from kbnf_core.recognise.origins import BOTTOM
from kbnf_core.recognise.similar import blocks_of_positions
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

LEAST_STATES = 1_000
"""States that may always be known: a fresh table must hold what an engine takes along."""

LEAST_MASKS = 100
"""Masks that may always be known, for the same reason."""

SHARE_AFTER = 32
"""Walks after which it pays to look for item sets that can share one."""

SHARE_EFFORT = 1_000_000
"""Edges beyond which nobody looks."""


@dataclass(frozen=True, slots=True, eq=False)
class Viable:
    """``words``: tokens after which some text of the grammar is possible.

    ``completions``: numbers of the sets of trie nodes at which the start itself is complete.
    """

    words: Words
    completions: tuple[int, ...]


class StoredMasks(Protocol):
    """Walks and masks that were worked out earlier, as an artifact holds them."""

    found: Found

    @property
    def walks(self) -> Mapping[tuple[int, int], Walk]:
        """Return the walks by item set and node set."""

    @property
    def viable(self) -> Mapping[int, Viable]:
        """Return the viable tokens by state."""


class Masks:
    """What can come in the states of one grammar, over one vocabulary; shared by engines."""

    def __init__(
        self,
        states: StateTable,
        vocabulary: Vocabulary,
        limits: Limits = DEFAULT_LIMITS,
        stored: StoredMasks | None = None,
    ) -> None:
        self.states = states
        self._stored = stored
        self.vocabulary = vocabulary
        self.terminals = TokenTerminals(states.tables.token_terminals, vocabulary)
        self.word_count = word_count(vocabulary.size)
        self.mask_capacity = max(1, limits.mask_bytes // (4 * self.word_count or 1))
        self._state_limit = max(limits.cached_states, LEAST_STATES)
        self._byte_limit = max(limits.mask_bytes, LEAST_MASKS * 4 * self.word_count)
        self._lock = threading.RLock()
        self.found = stored.found if stored else nothing_found(vocabulary)
        self._walker = Walker(states, vocabulary, self.found)
        self._unions: Recent[frozenset[int], Words] = Recent(self._unite, self.mask_capacity)
        self._walks: Recent[tuple[int, int], Walk] = Recent(self._find_walk, self.mask_capacity)
        self._viable: Recent[int, Viable] = Recent(self._find_viable, self.mask_capacity)
        self._similar: dict[frozenset[tuple[int, int]], int] = {}
        self.walk_count = 0

    @property
    def is_full(self) -> bool:
        """Whether so much is known that it is time to begin anew with what is in use."""
        added = self.found.rows.added_bytes + self.found.node_sets.added_bytes
        return len(self.states) > self._state_limit or added > self._byte_limit

    def is_complete(self, state: int) -> bool:
        """Tell whether the start is complete in a state; also before the first byte."""
        empty = state == self.states.initial and self.states.tables.start_is_nullable
        return empty or bool(self.states.has_exits[state])

    def known_walks(self) -> dict[tuple[int, int], Walk]:
        """Return the walks that are remembered, by item set and node set."""
        return {**(self._stored.walks if self._stored else {}), **self._walks.known()}

    def known_viable(self) -> dict[int, Viable]:
        """Return the viable tokens that are remembered, by state."""
        return {**(self._stored.viable if self._stored else {}), **self._viable.known()}

    def walk(self, item_set: int, nodes: int = ROOT_SET) -> Walk:
        """Return the walk of an item set below the nodes of a set."""
        return self._walks[item_set, nodes]

    def viable(self, state: int) -> Words:
        """Return the tokens after which the text can still become one of the grammar."""
        return self._viable[state].words

    def prefix_free(self, state: int) -> Words:
        """Return the viable tokens that do not go on behind a complete text."""
        viable = self._viable[state]
        if not viable.completions:
            return viable.words
        nodes = np.concatenate([self.found.node_sets[each] for each in viable.completions])
        below = np.concatenate([self._ids_below(node) for node in nodes.tolist()])
        # A token that a token terminal names stays: it is one step, whatever its bytes are.
        named = self.terminals.mask(self.states.token_terminals(state))
        return viable.words & ~pack(below, self.vocabulary.size) | named

    def _ids_below(self, node: int) -> Nodes:
        trie = self.vocabulary.trie
        return trie.token_ids[trie.token_start[node + 1] : trie.token_start[trie.skip[node]]]

    def _find_viable(self, state: int) -> Viable:
        if self._stored is not None and state in self._stored.viable:
            return self._stored.viable[state]
        with self._lock:
            rows: set[int] = set()
            completions: set[int] = set()
            frames = _Frames(self.states)
            frames.begin(state)
            while frames.work:
                origin, item_set, nodes = frames.work.pop()
                walk = self._walks[item_set, nodes]
                rows.add(walk.row)
                for nonterminal, exits in walk.exits:
                    if frames.leave(origin, nonterminal, exits):
                        completions.add(exits)
            words = self._unions[frozenset(rows - {EMPTY_ROW})]
            terminals = self.states.token_terminals(state)
            if terminals:
                words = words | self.terminals.mask(terminals)
            return Viable(words, tuple(sorted(completions)))

    def _unite(self, rows: frozenset[int]) -> Words:
        """Return the union of masks. Many states share one, so it is worth remembering."""
        first, *others = sorted(rows) or [EMPTY_ROW]
        if not others:
            return self.found.rows[first]
        words = self.found.rows[first].copy()
        for row in others:
            words |= self.found.rows[row]
        return words

    def _find_walk(self, key: tuple[int, int]) -> Walk:
        if self._stored is not None and key in self._stored.walks:
            return self._stored.walks[key]
        item_set, nodes = key
        if self.walk_count >= SHARE_AFTER:
            similar = self._similar.setdefault(self._signature(item_set), item_set)
            if similar != item_set:
                return self._walks[similar, nodes]
        self.walk_count += 1
        return self._walker.walk(self.states.begin(item_set), nodes)

    def _signature(self, item_set: int) -> frozenset[tuple[int, int]]:
        """Return a value that is equal for item sets no token of the vocabulary tells apart."""
        items = self.states.items
        pairs = map(items.unpack, items.items(item_set))
        return frozenset((self._blocks[position], report) for position, report in pairs)

    @cached_property
    def _blocks(self) -> Sequence[int]:
        tables = self.states.tables
        if len(tables.edge_target) > SHARE_EFFORT:
            return range(tables.state_count)
        return blocks_of_positions(tables, self.vocabulary.trie.max_depth)


class _Frames:
    """The walks that the mask of one state needs: item sets, each from a set of trie nodes.

    ``work`` holds (origin, item set, number of the node set), each at most once.
    """

    def __init__(self, states: StateTable) -> None:
        self._states = states
        self._entered: set[tuple[int, int, int]] = set()
        self._left: set[tuple[int, int, int]] = set()
        self.work: list[tuple[int, int, int]] = []

    def begin(self, state: int) -> None:
        """Let every item set of ``state`` be walked from the trie's root."""
        for origin, item_set in self._states.pairs(state):
            self._enter(origin, item_set, ROOT_SET)

    def leave(self, origin: int, nonterminal: int, nodes: int) -> bool:
        """Go on where ``nonterminal`` completed into ``origin`` at ``nodes``, as far up as it goes.

        Returns whether the start is complete there.
        """
        at_bottom = False
        complete = [(origin, nonterminal)]
        while complete:
            here, name = complete.pop()
            if (here, name, nodes) in self._left:
                continue
            self._left.add((here, name, nodes))
            at_bottom = at_bottom or here == BOTTOM
            for outer, after in self._states.origins.waiting(here, name):
                self._enter(outer, after, nodes)
                # What waited may be complete at once, with nothing more to come.
                complete.extend((outer, more) for more in self._states.items.completed(after))
        return at_bottom

    def _enter(self, origin: int, item_set: int, nodes: int) -> None:
        frame = (origin, item_set, nodes)
        if frame not in self._entered:
            self._entered.add(frame)
            self.work.append(frame)
