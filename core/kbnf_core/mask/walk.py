"""The walk: which tokens may come from an item set, without looking below its own frame.

Starting in a state whose only origin is ``BOTTOM``, the tokens' trie and the transition table are
followed side by side; dead branches drop out. A walk gives the tokens that stay alive, and the
*exits*: trie nodes at which a nonterminal completed into BOTTOM, so that what comes below belongs
to whoever waits for it. The loop itself is in ``kernel``.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import Words, word_count
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """``words``: the tokens reached. ``exits``: nonterminal to nodes, ascending and distinct."""

    words: Words
    exits: Mapping[int, Nodes]


class Walker:
    """Walks the trie of one vocabulary with the states of one grammar."""

    def __init__(self, states: StateTable, vocabulary: Vocabulary) -> None:
        self._states = states
        self._trie = vocabulary.trie
        self._node_class = states.tables.classes[self._trie.byte]
        self._word_count = word_count(vocabulary.size)

    def walk(self, start: int, roots: Nodes) -> Walk:
        """Walk the subtrees below each of ``roots``, in each from state ``start``."""
        words, nodes, states = KERNEL.walk(
            self._states, self._trie, self._node_class, start, roots, self._word_count
        )
        return Walk(words, self._by_nonterminal(nodes, states))

    def _by_nonterminal(self, nodes: Nodes, states: Nodes) -> dict[int, Nodes]:
        exits: dict[int, list[Nodes]] = {}
        for state in np.unique(states).tolist():
            for nonterminal in self._states.exits(state):
                exits.setdefault(nonterminal, []).append(nodes[states == state])
        return {name: np.unique(np.concatenate(parts)) for name, parts in exits.items()}
