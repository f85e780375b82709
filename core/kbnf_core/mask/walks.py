"""Walks: which tokens are viable from an item set, and what the mask of a state is made of.

Starting in a state whose only stack node is ``BOTTOM``, the token trie and the transition table are
followed side by side; dead branches are pruned. A walk gives the tokens that stay alive, and the
*completions*: trie nodes at which a nonterminal completed into BOTTOM, so that what follows there
belongs to its callers; where no token goes on, nothing follows, and they are left out. The loop
itself is in ``kernel/walk.pxi``; ``kernel/state_masks.pxi`` finds the walks that the mask of one
state needs, down the stack by their completions.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import Pool
from kbnf_core.mask.bits import Bitmask, word_count
from kbnf_core.mask.slices import parts_of
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]


ROOT_SET = 0
"""The number of the set that contains just the trie's root."""

EMPTY_ROW = 0
"""The number of the mask in which nothing is allowed."""


class Walk(NamedTuple):
    """``row``: number of the mask of tokens reached. ``completions``: (nonterminal, node set)."""

    row: int
    completions: tuple[tuple[int, int], ...]


class Found(NamedTuple):
    """What walks speak of by number: sets of trie nodes, and masks."""

    node_sets: "Pool[np.int32]"
    rows: "Pool[np.uint32]"


def nothing_found(vocabulary: Vocabulary) -> Found:
    """Return the numbers that stand for themselves: the root alone, and the empty mask."""
    empty = np.zeros(word_count(vocabulary.size), np.uint32)
    return found_before([np.zeros(1, np.int32)], [empty], vocabulary)


def found_before(node_sets: Sequence[Nodes], rows: Sequence[Bitmask], of: Vocabulary) -> Found:
    """Return what was found earlier, under the numbers that it had."""
    return Found(Pool(node_sets, numbers=of.trie.node_count), Pool(rows, parts_of(of)))
