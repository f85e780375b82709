"""The walk: which tokens may come from an item set, without looking below its own frame.

Starting in a state whose only origin is ``BOTTOM``, the tokens' trie and the transition table are
followed side by side; dead branches drop out. A walk gives the tokens that stay alive, and the
*exits*: trie nodes at which a nonterminal completed into BOTTOM, so that what comes below belongs
to whoever waits for it. The loop itself is in ``kernel``.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import interface
from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.array_pool import ArrayPool
from kbnf_core.mask.bits import Bitmask, word_count
from kbnf_core.mask.slices import MACHINES, Slice, slices_of
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]


ROOT_SET = 0
"""The number of the set that holds just the trie's root."""

_ROOT = np.zeros(1, np.int32)

EMPTY_ROW = 0
"""The number of the mask in which nothing is allowed."""


class Walk(NamedTuple):
    """``row``: number of the mask of tokens reached. ``completions``: (nonterminal, node set)."""

    row: int
    completions: tuple[tuple[int, int], ...]


class Found(NamedTuple):
    """What walks speak of by number: sets of trie nodes, and masks."""

    node_sets: ArrayPool[Nodes]
    rows: ArrayPool[Bitmask]


def nothing_found(vocabulary: Vocabulary) -> Found:
    """Return the numbers that stand for themselves: the root alone, and the empty mask."""
    empty = np.zeros(word_count(vocabulary.size), np.uint32)
    return Found(ArrayPool([np.zeros(1, np.int32)]), ArrayPool([empty]))


class Walker:
    """Walks the trie of one vocabulary with the states of one grammar; one walk at a time."""

    def __init__(self, states: StateTable, vocabulary: Vocabulary, found: Found) -> None:
        self._states = states
        self._slices = slices_of(vocabulary)
        self._readers = [KERNEL.reader(states, machine) for machine in MACHINES]
        self._whole = KERNEL.walker(states, vocabulary.trie)
        # By identity: the vocabulary's slices stay as long as it does.
        self._rests: dict[int, interface.Walker] = {}
        self._found = found
        self._words = found.rows[EMPTY_ROW].copy()

    def walk(self, start: int, roots: int) -> Walk:
        """Walk the subtrees below each node of set ``roots``, in each from state ``start``."""
        covered = self._slices.covered_by(self._readers, start) if not roots else None
        if covered:
            completions = self._walk_rest(start, covered)
        else:
            completions = self._whole.walk(start, self._found.node_sets[roots], self._words)
        number = self._found.node_sets.number
        return Walk(
            self._found.rows.number(self._words),
            tuple((name, number(at)) for name, at in completions),
        )

    def _walk_rest(self, start: int, covered: Slice) -> interface.Exits:
        """Walk what is not in the slice; in the slice itself, nothing exits."""
        trie, nodes = covered.rest
        walker = self._rests.get(id(covered))
        if walker is None:
            walker = self._rests[id(covered)] = KERNEL.walker(self._states, trie)
        completions = walker.walk(start, _ROOT, self._words)
        self._words |= covered.words
        return [(nonterminal, nodes[at]) for nonterminal, at in completions]
