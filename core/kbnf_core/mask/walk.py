"""The walk: which tokens may come from an item set, without looking below its own frame.

Starting in a state whose only origin is ``BOTTOM``, the tokens' trie and the transition table are
followed side by side; dead branches drop out. A walk gives the tokens that stay alive, and the
*exits*: trie nodes at which a nonterminal completed into BOTTOM, so that what comes below belongs
to whoever waits for it. The loop itself is in ``kernel``.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import Words, word_count
from kbnf_core.mask.interned import Interned
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]


ROOT_SET = 0
"""The number of the set that holds just the trie's root."""

EMPTY_ROW = 0
"""The number of the mask in which nothing is allowed."""


class Walk(NamedTuple):
    """``row``: number of the mask of the tokens reached. ``exits``: (nonterminal, node set)."""

    row: int
    exits: tuple[tuple[int, int], ...]


class Found(NamedTuple):
    """What walks speak of by number: sets of trie nodes, and masks."""

    node_sets: Interned[Nodes]
    rows: Interned[Words]


def nothing_found(vocabulary: Vocabulary) -> Found:
    """Return the numbers that stand for themselves: the root alone, and the empty mask."""
    empty = np.zeros(word_count(vocabulary.size), np.uint32)
    return Found(Interned([np.zeros(1, np.int32)]), Interned([empty]))


class Walker:
    """Walks the trie of one vocabulary with the states of one grammar; one walk at a time."""

    def __init__(self, states: StateTable, vocabulary: Vocabulary, found: Found) -> None:
        self._walker = KERNEL.walker(states, vocabulary.trie)
        self._found = found
        self._words = found.rows[EMPTY_ROW].copy()

    def walk(self, start: int, roots: int) -> Walk:
        """Walk the subtrees below each node of set ``roots``, in each from state ``start``."""
        exits = self._walker.walk(start, self._found.node_sets[roots], self._words)
        number = self._found.node_sets.number
        return Walk(
            self._found.rows.number(self._words), tuple((name, number(at)) for name, at in exits)
        )
