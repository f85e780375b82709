"""The walk: which tokens may come from an item set, without looking below its own frame.

Starting in a state whose only origin is ``BOTTOM``, the tokens' trie and the transition table are
followed side by side, one level of the trie at a time in NumPy arrays; dead branches drop out. A
walk gives the ids of the tokens that stay alive, and the *exits*: trie nodes at which a
nonterminal completed into BOTTOM, so that what comes below belongs to whoever waits for it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.recognise.states import DEAD, UNKNOWN, StateTable
from kbnf_core.vocab.trie import TokenTrie

Nodes = npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Walk:
    """``token_ids``: int32[m], no order. ``exits``: nonterminal to nodes, ascending, distinct."""

    token_ids: npt.NDArray[np.int32]
    exits: Mapping[int, Nodes]


class Walker:
    """Walks one trie with the states of one grammar."""

    def __init__(self, states: StateTable, trie: TokenTrie) -> None:
        self._states = states
        self._trie = trie
        self._node_class = states.tables.classes[trie.byte]

    def walk(self, start: int, roots: Nodes) -> Walk:
        """Walk the subtrees below each of ``roots``, in each from state ``start``."""
        nodes, states = roots, np.full(len(roots), start, np.int32)
        alive: list[Nodes] = []
        exits: dict[int, list[Nodes]] = {}
        while len(nodes):
            nodes, states = self._descend(nodes, states)
            alive.append(nodes)
            for state in np.unique(states).tolist():
                for nonterminal in self._states.exits(state):
                    exits.setdefault(nonterminal, []).append(nodes[states == state])
        reached = np.concatenate(alive) if alive else roots
        return Walk(
            self._ids_at(reached),
            {name: np.unique(np.concatenate(parts)) for name, parts in exits.items()},
        )

    def _descend(self, nodes: Nodes, states: Nodes) -> tuple[Nodes, Nodes]:
        """Return the children that can come, and the states there."""
        trie = self._trie
        which, index = _ranges(trie.child_start[nodes], trie.child_start[nodes + 1])
        children = trie.child[index]
        after = self._step(states[which], self._node_class[children])
        living = after != DEAD
        return children[living], after[living]

    def _step(self, states: Nodes, classes: npt.NDArray[np.uint8]) -> Nodes:
        after = self._states.next[states, classes]
        unknown = np.flatnonzero(after == UNKNOWN)
        if len(unknown):
            width = self._states.next.shape[1]
            pairs = np.unique(states[unknown].astype(np.int64) * width + classes[unknown])
            for pair in pairs.tolist():
                self._states.step(*divmod(pair, width))
            after = self._states.next[states, classes]
        return after

    def _ids_at(self, nodes: Nodes) -> npt.NDArray[np.int32]:
        starts = self._trie.token_start
        return self._trie.token_ids[_ranges(starts[nodes], starts[nodes + 1])[1]]


def _ranges(
    begin: npt.NDArray[np.int32], end: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for all numbers of all ranges in turn, which range it is of, and the number."""
    lengths = (end - begin).astype(np.int64)
    which = np.repeat(np.arange(len(lengths)), lengths)
    first = begin - (np.cumsum(lengths) - lengths)
    numbers: npt.NDArray[np.int64] = np.arange(len(which)) + first[which]
    return which, numbers
