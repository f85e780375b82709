"""A trie of some of a trie's tokens."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.vocab.trie import TokenTrie


class Part(NamedTuple):
    """``trie``: of some tokens. ``nodes``: int32[n], its nodes' numbers in the whole trie."""

    trie: TokenTrie
    nodes: npt.NDArray[np.int32]


def part_of(trie: TokenTrie, chosen: npt.NDArray[np.bool_]) -> Part:
    """Return the trie of the tokens ``trie.token_ids[chosen]``."""
    before = np.concatenate(([0], np.cumsum(chosen)))
    kept = before[trie.token_start[trie.skip]] > before[trie.token_start[:-1]]
    kept[0] = True
    nodes = np.flatnonzero(kept)
    # rank[i]: how many kept nodes come before node i, so the new number of the next kept one.
    rank = np.concatenate(([0], np.cumsum(kept)))
    parent = np.where(nodes > 0, rank[trie.parent[nodes]], -1)
    child = np.argsort(parent[1:], kind="stable") + 1
    counts = np.bincount(parent[1:], minlength=len(nodes))
    small = TokenTrie(
        byte=trie.byte[nodes],
        skip=_int32(rank[trie.skip[nodes]]),
        depth=trie.depth[nodes],
        parent=_int32(parent),
        child_start=_int32(np.concatenate(([0], np.cumsum(counts)))),
        child=_int32(child),
        token_start=_int32(np.append(before[trie.token_start[nodes]], before[-1])),
        token_ids=trie.token_ids[chosen],
    )
    return Part(small, _int32(nodes))


def _int32(values: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
    return values.astype(np.int32)
