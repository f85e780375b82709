"""The walk: which tokens may come from an item set, without looking below its own frame.

Starting in a state whose only origin is ``BOTTOM``, the tokens' trie and the transition table are
followed side by side; dead branches drop out. A walk gives the tokens that stay alive, and the
*exits*: trie nodes at which a nonterminal completed into BOTTOM, so that what comes below belongs
to whoever waits for it. The loop itself is in ``kernel``.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import Words, word_count
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """``words``: the tokens reached. ``exits``: (nonterminal, number of the set of nodes)."""

    words: Words
    exits: tuple[tuple[int, int], ...]


ROOT_SET = 0
"""The number of the set that holds just the trie's root."""


class NodeSets:
    """Sets of trie nodes, interned by their digest, so that walks can be remembered by them.

    ``known`` are sets that were numbered before, the one of the root first.
    """

    def __init__(self, known: Sequence[Nodes] = (np.zeros(1, np.int32),)) -> None:
        self._nodes = list(known)

    def __len__(self) -> int:
        return len(self._nodes)

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {_digest(nodes): number for number, nodes in enumerate(self._nodes)}

    def number(self, nodes: Nodes) -> int:
        """Return the number of a set, given as ascending distinct nodes."""
        number = self._numbers.setdefault(_digest(nodes), len(self._nodes))
        if number == len(self._nodes):
            self._nodes.append(nodes)
        return number

    def nodes(self, number: int) -> Nodes:
        """Return the nodes of a set."""
        return self._nodes[number]


class Walker:
    """Walks the trie of one vocabulary with the states of one grammar."""

    def __init__(
        self, states: StateTable, vocabulary: Vocabulary, node_sets: NodeSets | None = None
    ) -> None:
        self.node_sets = node_sets or NodeSets()
        self._states = states
        self._vocabulary = vocabulary

    @cached_property
    def _node_class(self) -> npt.NDArray[np.uint8]:
        """The byte class that leads to each node, uint8[nodes]."""
        return self._states.tables.classes[self._vocabulary.trie.byte]

    def walk(self, start: int, roots: int) -> Walk:
        """Walk the subtrees below each node of set ``roots``, in each from state ``start``."""
        words, nodes, states = KERNEL.walk(
            self._states,
            self._vocabulary.trie,
            self._node_class,
            start,
            self.node_sets.nodes(roots),
            word_count(self._vocabulary.size),
        )
        exits = self._by_nonterminal(nodes, states)
        return Walk(words, tuple((name, self.node_sets.number(at)) for name, at in exits.items()))

    def _by_nonterminal(self, nodes: Nodes, states: Nodes) -> dict[int, Nodes]:
        if not len(nodes):
            return {}
        parts: dict[int, list[Nodes]] = {}
        for exits, at in self._by_exits(nodes, states):
            for nonterminal in exits:
                parts.setdefault(nonterminal, []).append(at)
        return {name: _ascending(np.concatenate(found)) for name, found in parts.items()}

    def _by_exits(self, nodes: Nodes, states: Nodes) -> Iterator[tuple[tuple[int, ...], Nodes]]:
        """Yield the distinct exits with the nodes at which they are; there are few of them."""
        kinds: dict[tuple[int, ...], int] = {}
        kind_of = np.zeros(len(self._states), np.int32)
        for state in np.flatnonzero(np.bincount(states)).tolist():
            kind_of[state] = kinds.setdefault(self._states.exits(state), len(kinds))
        for exits, kind in kinds.items():
            yield exits, nodes if len(kinds) == 1 else nodes[kind_of[states] == kind]


def _digest(nodes: Nodes) -> bytes:
    return blake2b(np.ascontiguousarray(nodes).data, digest_size=16).digest()


def _ascending(nodes: Nodes) -> Nodes:
    """Return the distinct nodes in order; from one root they come that way."""
    return nodes if bool((nodes[1:] > nodes[:-1]).all()) else np.unique(nodes)
