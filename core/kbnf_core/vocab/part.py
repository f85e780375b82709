"""A trie of some of a trie's tokens."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.vocab.trie import TokenTrie, frozen, offsets


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
    small = TokenTrie(
        byte=frozen(trie.byte[nodes], np.uint8),
        skip=frozen(rank[trie.skip[nodes]], np.int32),
        depth=frozen(trie.depth[nodes], np.uint16),
        parent=frozen(parent, np.int32),
        child_start=frozen(offsets(parent[1:], len(nodes)), np.int32),
        child=frozen(np.argsort(parent[1:], kind="stable") + 1, np.int32),
        token_start=frozen(np.append(before[trie.token_start[nodes]], before[-1]), np.int32),
        token_ids=frozen(trie.token_ids[chosen], np.int32),
    )
    return Part(small, frozen(nodes, np.int32))
