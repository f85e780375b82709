"""Steps of many states at once, and the children of many trie nodes."""

import numpy as np
import numpy.typing as npt

from kbnf_core.recognise.states import UNKNOWN, StateTable
from kbnf_core.vocab.trie import TokenTrie

_Int32 = npt.NDArray[np.int32]


def step_all(states: StateTable, before: _Int32, classes: npt.NDArray[np.uint8]) -> _Int32:
    """Return the states after one byte each, computing transitions that the table lacks."""
    after = states.next[before, classes]
    unknown = after == UNKNOWN
    if unknown.any():
        pairs = np.unique(np.stack((before[unknown], classes[unknown])), axis=1)
        for state, byte_class in pairs.T.tolist():
            states.step(state, byte_class)
        after = states.next[before, classes]
    return after


def children_of(trie: TokenTrie, nodes: _Int32, values: _Int32) -> tuple[_Int32, _Int32]:
    """Return the children of all nodes, each with the value of its parent."""
    return _spread(trie.child, trie.child_start, nodes, values)


def _spread(items: _Int32, start: _Int32, nodes: _Int32, values: _Int32) -> tuple[_Int32, _Int32]:
    """Return ``items[start[n] : start[n + 1]]`` of all nodes, each item with its node's value."""
    begin, end = start[nodes], start[nodes + 1]
    count = end - begin
    shift = np.repeat(begin - (np.cumsum(count) - count), count)
    return items[shift + np.arange(len(shift))], np.repeat(values, count)
