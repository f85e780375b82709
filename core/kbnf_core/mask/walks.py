"""Walks: which tokens are viable from an item set, and what the mask of a state is made of.

Starting in a state whose only stack node is ``BOTTOM``, the token trie and the transition table are
followed side by side; dead branches are pruned. A walk gives the tokens that stay alive, and the
*completions*: trie nodes at which a nonterminal completed into BOTTOM, so that what follows there
belongs to its callers; where no token goes on, nothing follows, and they are left out. The loop
itself is in ``kernel``.

``gather`` finds the walks that the mask of one state needs, down the stack by their completions; it
is the plain form, in Python, and the compiled kernel has the same.

Nearly all masks of a grammar that nobody has seen are masks that another grammar had before: a
quote, a comma, free text that may end, in each way to go on. So rows are shared by all grammars of
a vocabulary: one is known by its content, the blocks of slices that it has and few other words, and
whoever works it out again gets the same array, and touches no new memory for it.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.kernel.interface import Parts, Pool
from kbnf_core.mask.bits import Bitmask, word_count
from kbnf_core.mask.cache import LruDict
from kbnf_core.mask.slices import parts_of
from kbnf_core.recognise.stack import BOTTOM
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Nodes = npt.NDArray[np.int32]


ROOT_SET = 0
"""The number of the set that holds just the trie's root."""

EMPTY_ROW = 0
"""The number of the mask in which nothing is allowed."""


class Walk(NamedTuple):
    """``row``: number of the mask of tokens reached. ``completions``: (nonterminal, node set)."""

    row: int
    completions: tuple[tuple[int, int], ...]


class Found(NamedTuple):
    """What walks speak of by number: sets of trie nodes, and masks."""

    node_sets: Pool[np.int32]
    rows: Pool[np.uint32]


def nothing_found(vocabulary: Vocabulary) -> Found:
    """Return the numbers that stand for themselves: the root alone, and the empty mask."""
    empty = np.zeros(word_count(vocabulary.size), np.uint32)
    return found_before([np.zeros(1, np.int32)], [empty], vocabulary)


def found_before(node_sets: Sequence[Nodes], rows: Sequence[Bitmask], of: Vocabulary) -> Found:
    """Return what was found earlier, under the numbers that it had."""
    return Found(KERNEL.pool(node_sets), KERNEL.pool(rows, parts_of(of)))


def gather(
    states: StateTable, walk: Callable[[int, int], Walk], state: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return what ``MaskAssembler.gather`` does; ``walk`` takes an item set and a node set."""
    rows: set[int] = set()
    completions: set[int] = set()
    frames = _Frames(states)
    frames.begin(state)
    while frames.work:
        stack_node, item_set, nodes = frames.work.pop()
        found = walk(item_set, nodes)
        rows.add(found.row)
        for nonterminal, ended in found.completions:
            if frames.leave(stack_node, nonterminal, ended):
                completions.add(ended)
    return tuple(sorted(rows - {EMPTY_ROW})), tuple(sorted(completions))


class _Frames:
    """The work list of walks: item sets, each from a set of trie nodes.

    ``work`` holds (stack node, item set, number of the node set), each at most once.
    """

    def __init__(self, states: StateTable) -> None:
        self._states = states
        self._entered: set[tuple[int, int, int]] = set()
        self._left: set[tuple[int, int, int]] = set()
        self.work: list[tuple[int, int, int]] = []

    def begin(self, state: int) -> None:
        """Schedule a walk of every item set of ``state`` from the trie's root."""
        for stack_node, item_set in self._states.pairs(state):
            self._enter(stack_node, item_set, ROOT_SET)

    def leave(self, stack_node: int, nonterminal: int, nodes: int) -> bool:
        """Resume what waits in a stack node for ``nonterminal`` when it is complete at ``nodes``.

        Returns whether the start is complete there.
        """
        at_bottom = False
        complete = [(stack_node, nonterminal)]
        while complete:
            here, name = complete.pop()
            if (here, name, nodes) in self._left:
                continue
            self._left.add((here, name, nodes))
            at_bottom = at_bottom or here == BOTTOM
            for outer, after in self._states.stack.waiting(here, name):
                self._enter(outer, after, nodes)
                # What waited may be complete at once, with nothing more to come.
                complete.extend((outer, more) for more in self._states.items.completed(after))
        return at_bottom

    def _enter(self, stack_node: int, item_set: int, nodes: int) -> None:
        frame = (stack_node, item_set, nodes)
        if frame not in self._entered:
            self._entered.add(frame)
            self.work.append(frame)


SHARED_BYTES = 1 << 24
"""The size of all shared rows of one vocabulary, at most."""

Rows = LruDict[bytes, Bitmask]
"""Rows by what ``Pool.sparse`` says of them."""

_rows: WeakKeyDictionary[Vocabulary, Rows] = WeakKeyDictionary()


def shared_rows(vocabulary: Vocabulary) -> Rows:
    """Return the shared rows of a vocabulary."""
    found = _rows.get(vocabulary)
    if found is None:
        parts = parts_of(vocabulary)
        room = SHARED_BYTES // (4 * word_count(vocabulary.size) + 1)
        rows: Rows = LruDict(lambda key: _row(key, parts), room)
        found = _rows.setdefault(vocabulary, rows)
    return found


def _row(key: bytes, parts: Parts) -> Bitmask:
    words = parts.row(key)
    words.setflags(write=False)
    return words
