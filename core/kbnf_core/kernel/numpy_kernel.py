"""The kernel without a compiler: the same functions, in NumPy."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from kbnf_core.kernel.interface import Exits, Explorable, Ids, Transitions, TrieArrays, Words

NAME = "numpy"

_DEAD = 0
_UNKNOWN = -1


def explorer(table: "Explorable") -> Callable[[int, int], int]:
    """See ``kernel.Kernel.explorer``."""
    return table.explore_plainly


def walk(
    table: "Transitions",
    trie: "TrieArrays",
    classes: npt.NDArray[np.uint8],
    start: int,
    roots: "Ids",
    words: "Words",
) -> "Exits":
    """See ``kernel.Kernel.walk``; one level of the trie at a time, dead branches dropping out."""
    nodes, states = roots, np.full(len(roots), start, np.int32)
    all_nodes, all_states = [nodes[:0]], [states[:0]]
    while len(nodes):
        which, index = _ranges(trie.child_start[nodes], trie.child_start[nodes + 1])
        children = trie.child[index]
        after = _step(table, states[which], classes[trie.byte[children]])
        living = after != _DEAD
        nodes, states = children[living], after[living]
        all_nodes.append(nodes)
        all_states.append(states)
    reached, at = np.concatenate(all_nodes), np.concatenate(all_states)
    leaving = table.has_exits[at] != 0
    words[:] = _tokens_at(trie, reached, len(words))
    return reached[leaving], at[leaving]


def _step(table: "Transitions", states: "Ids", classes: npt.NDArray[np.uint8]) -> "Ids":
    after = table.next[states, classes]
    unknown = np.flatnonzero(after == _UNKNOWN)
    if len(unknown):
        width = table.next.shape[1]
        pairs = np.unique(states[unknown].astype(np.int64) * width + classes[unknown])
        for pair in pairs.tolist():
            table.step(*divmod(pair, width))
        after = table.next[states, classes]
    return after


def _tokens_at(trie: "TrieArrays", nodes: "Ids", word_count: int) -> "Words":
    starts = trie.token_start
    flags = np.zeros(word_count * 32, np.bool_)
    flags[trie.token_ids[_ranges(starts[nodes], starts[nodes + 1])[1]]] = True
    return np.packbits(flags, bitorder="little").view(np.uint32)


def _ranges(begin: "Ids", end: "Ids") -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for all numbers of all ranges in turn, which range it is of, and the number."""
    lengths = (end - begin).astype(np.int64)
    which = np.repeat(np.arange(len(lengths)), lengths)
    first = begin - (np.cumsum(lengths) - lengths)
    numbers: npt.NDArray[np.int64] = np.arange(len(which)) + first[which]
    return which, numbers


def fill(out: npt.NDArray[np.int32], words: "Words") -> None:
    """See ``kernel.Kernel.fill``."""
    if out.dtype != np.int32 or out.ndim != 1 or not out.flags.c_contiguous:
        raise ValueError("a bitmask is a contiguous one-dimensional int32 array")
    if len(out) < len(words):
        raise ValueError(f"a bitmask of {len(out)} words is too short for {len(words)}")
    out[: len(words)] = words.view(np.int32)
    out[len(words) :] = 0


def apply(words: "Words", size: int, logits: npt.NDArray[Any]) -> None:
    """See ``kernel.Kernel.apply``."""
    allowed = np.unpackbits(words.view(np.uint8), count=size, bitorder="little")
    logits[:size][allowed == 0] = -np.inf
    logits[size:] = -np.inf
