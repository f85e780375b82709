"""The tokens of a vocabulary in flat arrays: their bytes, and their trie.

The bytes are in three arrays (``PackedTokens``), which replace a hundred thousand objects.

Nodes of the trie are numbered depth first, siblings in the order of their bytes, so a subtree is a
range of numbers and a walk goes either to ``node + 1`` (down) or to ``skip[node]`` (past the
subtree). The construction sorts the tokens and looks at the common prefix of neighbours: each token
adds one node for each of its bytes after that prefix, in depth-first order already.

Bytes are written as tokens without knowing the tokenizer: as few as can be, or always the longest.
Neither need be what the model's own tokenizer makes of the same bytes.

Tests: tests/unit/vocab/test_cache_forms.py, tests/unit/vocab/test_cache.py
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, ValuesView
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from operator import index
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.locks import cached_property


class PackedTokens(Mapping[int, bytes]):
    """A mapping of ids to bytes, ascending, that makes the bytes when they are asked for.

    ``ids``: int32[n], ascending. ``starts``: int32[n + 1] and ``blob``: uint8; token i spells
    ``blob[starts[i]:starts[i + 1]]``. The arrays are not checked and not copied.
    """

    def __init__(
        self,
        ids: npt.NDArray[np.int32],
        starts: npt.NDArray[np.int32],
        blob: npt.NDArray[np.uint8],
    ) -> None:
        self.ids = ids
        self.starts = starts
        self.blob = blob
        # Single elements of a memoryview are read several times faster than those of an array.
        self._ids = ids.data
        self._starts = starts.data
        self._blob = blob.data

    def __getitem__(self, token_id: int) -> bytes:
        index = self._index_of(token_id)
        if index < 0:
            raise KeyError(token_id)
        return bytes(self._blob[self._starts[index] : self._starts[index + 1]])

    def __contains__(self, token_id: object) -> bool:
        return self._index_of(token_id) >= 0

    def __iter__(self) -> Iterator[int]:
        return iter(self._ids.tolist())

    def __len__(self) -> int:
        return len(self._ids)

    def values(self) -> ValuesView[bytes]:
        """Return the bytes of all tokens, which are read in one pass."""
        return _Spelled(self)

    def __reduce__(self) -> tuple[object, ...]:
        return PackedTokens, (self.ids, self.starts, self.blob)

    def _index_of(self, token_id: object) -> int:
        """Return where an id is in ``ids``, -1 if it is not there."""
        try:
            number = index(token_id)  # type: ignore[arg-type] # the TypeError is caught
        except TypeError:
            return -1
        ids = self._ids
        # Most vocabularies number their tokens without a gap.
        position = number - ids[0] if len(ids) else 0
        if not 0 <= position < len(ids) or ids[position] != number:
            position = bisect_left(ids, number)
        return position if position < len(ids) and ids[position] == number else -1


class _Spelled(ValuesView[bytes]):
    _mapping: PackedTokens

    def __iter__(self) -> Iterator[bytes]:
        blob = self._mapping.blob.tobytes()
        return (blob[start:end] for start, end in pairwise(self._mapping.starts.tolist()))


class Spellings(NamedTuple):
    """The bytes of token i are ``blob[starts[i]:starts[i + 1]]``; of ids without any, none.

    ``starts``: int32[size + 1]. ``blob``: uint8.
    """

    starts: npt.NDArray[np.int32]
    blob: npt.NDArray[np.uint8]


def spell(tokens: PackedTokens, size: int) -> Spellings:
    """Return the tokens by id, below ``size``, which is above all ids."""
    ids, starts = tokens.ids, np.zeros(size + 1, np.int32)
    if len(ids) and ids[-1] - ids[0] == len(ids) - 1:
        # As almost always: one number after the other.
        starts[ids[0] : ids[-1] + 2] = tokens.starts
        starts[ids[-1] + 2 :] = tokens.starts[-1]
    else:
        starts[1:][ids] = np.diff(tokens.starts)
        np.cumsum(starts, out=starts)
    return Spellings(starts, tokens.blob)


def pack_tokens(tokens: Mapping[int, bytes]) -> PackedTokens:
    """Return the same tokens, packed. All of them together are shorter than 2**31 bytes."""
    ids = sorted(tokens)
    spellings = [tokens[token_id] for token_id in ids]
    starts = np.zeros(len(ids) + 1, np.int32)
    np.cumsum([len(data) for data in spellings], out=starts[1:])
    blob = np.frombuffer(b"".join(spellings), np.uint8)
    return PackedTokens(np.array(ids, np.int32), starts, blob)


_Scalar = TypeVar("_Scalar", bound=np.generic)
_Int32 = npt.NDArray[np.int32]
_Index = npt.NDArray[np.int64]

ROOT = 0
ABSENT = -1


@dataclass(frozen=True, eq=False, repr=False)
class TokenTrie:
    """A trie of n nodes and m token ids; all arrays are read-only. Node 0 is the root.

    ``byte``: uint8[n], the byte that leads to the node (0 for the root).
    ``skip``: int32[n], the first node after the subtree (n if there is none).
    ``depth``: uint16[n], bytes from the root. ``parent``: int32[n], -1 for the root.
    ``child_start``: int32[n + 1] and ``child``: int32[n - 1]; the children of node i, by byte,
    are ``child[child_start[i]:child_start[i + 1]]``.
    ``token_start``: int32[n + 1] and ``token_ids``: int32[m]; node i ends the tokens
    ``token_ids[token_start[i]:token_start[i + 1]]`` (ascending), and its whole subtree those of
    ``token_ids[token_start[i]:token_start[skip[i]]]``.
    """

    byte: npt.NDArray[np.uint8]
    skip: _Int32
    depth: npt.NDArray[np.uint16]
    parent: _Int32
    child_start: _Int32
    child: _Int32
    token_start: _Int32
    token_ids: _Int32

    @property
    def node_count(self) -> int:
        """Number of nodes, at least 1."""
        return len(self.byte)

    @cached_property
    def max_depth(self) -> int:
        """Length of the longest token in bytes; 0 if there is none."""
        return int(self.depth.max())

    @cached_property
    def child_byte(self) -> npt.NDArray[np.uint8]:
        """uint8[n - 1], the bytes that lead to ``child``.

        Side by side, since most children that a walk looks at are dead.
        """
        return frozen(self.byte[self.child], np.uint8)

    def children(self, node: int) -> _Int32:
        """Return the children of a node, in the order of their bytes."""
        return self.child[self.child_start[node] : self.child_start[node + 1]]

    def ids(self, node: int) -> _Int32:
        """Return the ids of the tokens that end at a node, ascending."""
        return self.token_ids[self.token_start[node] : self.token_start[node + 1]]

    def subtree_ids(self, node: int) -> _Int32:
        """Return the ids of the tokens that end at a node or below it."""
        return self.token_ids[self.token_start[node] : self.token_start[self.skip[node]]]

    def child_on(self, node: int, value: int) -> int:
        """Return the child of a node on byte ``value``, ``ABSENT`` if there is none."""
        children = self.children(node)
        index = int(np.searchsorted(self.byte[children], value))
        if index == len(children) or self.byte[children[index]] != value:
            return ABSENT
        return int(children[index])

    def find(self, data: bytes) -> int:
        """Return the node that spells ``data``, ``ABSENT`` if there is none."""
        node = ROOT
        for value in data:
            node = self.child_on(node, value)
            if node == ABSENT:
                break
        return node


def build_trie(tokens: Mapping[int, bytes]) -> TokenTrie:
    """Build the trie of all nonempty tokens; equal ones share a node."""
    ids = sorted(token_id for token_id, data in tokens.items() if data)
    # Stable: equal tokens remain in the order of their ids.
    ids.sort(key=tokens.__getitem__)
    spellings = [tokens[token_id] for token_id in ids]
    data = np.frombuffer(b"".join(spellings), dtype=np.uint8)
    lengths = np.fromiter(map(len, spellings), dtype=np.int64, count=len(ids))
    starts = np.cumsum(lengths) - lengths
    shared = _common_prefixes(data, starts, lengths)

    fresh = lengths - shared
    last_nodes = np.cumsum(fresh)
    node_depth = _counting_up(shared, fresh)
    byte = data[np.repeat(starts, fresh) + node_depth]
    depth = np.concatenate(([0], node_depth + 1))
    parent, skip = _family(depth)
    child = np.argsort(parent[1:], kind="stable") + 1
    return TokenTrie(
        byte=frozen(np.concatenate(([0], byte)), np.uint8),
        skip=frozen(skip, np.int32),
        depth=frozen(depth, np.uint16),
        parent=frozen(parent, np.int32),
        child_start=frozen(offsets(parent[1:], len(depth)), np.int32),
        child=frozen(child, np.int32),
        token_start=frozen(offsets(last_nodes, len(depth)), np.int32),
        token_ids=frozen(np.array(ids), np.int32),
    )


def _common_prefixes(data: npt.NDArray[np.uint8], starts: _Index, lengths: _Index) -> _Index:
    """Return how many leading bytes each word shares with the one before it."""
    shared = np.zeros(len(starts), dtype=np.int64)
    active = np.arange(1, len(starts))
    depth = 0
    while len(active):
        active = active[np.minimum(lengths[active], lengths[active - 1]) > depth]
        active = active[data[starts[active] + depth] == data[starts[active - 1] + depth]]
        depth += 1
        shared[active] = depth
    return shared


def _counting_up(first: _Index, count: _Index) -> _Index:
    """Return ``first[i], first[i] + 1, ...`` (``count[i]`` numbers) for each i, in one array."""
    begins = np.cumsum(count) - count
    counted: _Index = np.repeat(first - begins, count)
    counted += np.arange(len(counted))
    return counted


def _family(depth: _Index) -> tuple[_Index, _Index]:
    """Return parent and skip of each node from the depths in depth-first order.

    Level by level: the parent is the last node before it that is one less deep; the subtree ends
    at the next sibling or, for the last sibling, where the parent's ends.
    """
    parent = np.full(len(depth), ABSENT, dtype=np.int64)
    skip = np.full(len(depth), len(depth), dtype=np.int64)
    by_depth = np.argsort(depth, kind="stable")
    levels = np.split(by_depth, np.cumsum(np.bincount(depth))[:-1])
    for above, level in pairwise(levels):
        parent[level] = above[np.searchsorted(above, level) - 1]
        skip[level] = skip[parent[level]]
        siblings = parent[level[:-1]] == parent[level[1:]]
        skip[level[:-1][siblings]] = level[1:][siblings]
    return parent, skip


def offsets(keys: _Index, count: int) -> _Index:
    """Return where each key's run starts, in ``keys`` sorted: ``count`` + 1 numbers."""
    return np.concatenate(([0], np.cumsum(np.bincount(keys, minlength=count))))


def frozen(values: npt.NDArray[Any], dtype: type[_Scalar]) -> npt.NDArray[_Scalar]:
    """Return a read-only copy of that type."""
    array = values.astype(dtype)
    array.setflags(write=False)
    return array


class TrieSubset(NamedTuple):
    """``trie``: of some tokens. ``nodes``: int32[n], its nodes' numbers in the whole trie."""

    trie: TokenTrie
    nodes: npt.NDArray[np.int32]


def subset_of(trie: TokenTrie, chosen: npt.NDArray[np.bool_]) -> TrieSubset:
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
        child=frozen(rank[trie.child[kept[trie.child]]], np.int32),
        token_start=frozen(np.append(before[trie.token_start[nodes]], before[-1]), np.int32),
        token_ids=frozen(trie.token_ids[chosen], np.int32),
    )
    return TrieSubset(small, frozen(nodes, np.int32))


def fewest_tokens(trie: TokenTrie, data: bytes) -> tuple[int, ...] | None:
    """Return the fewest tokens that spell ``data``, None if none do."""
    counts = [0.0] + [inf] * len(data)
    last: list[tuple[int, int]] = [(0, 0)] * (len(data) + 1)
    for begin in range(len(data)):
        if counts[begin] == inf:
            continue
        for end, token_id in _tokens_at(trie, data, begin):
            if counts[begin] + 1 < counts[end]:
                counts[end] = counts[begin] + 1
                last[end] = begin, token_id
    return None if counts[-1] == inf else _trace(last)


def _trace(last: list[tuple[int, int]]) -> tuple[int, ...]:
    tokens, end = [], len(last) - 1
    while end:
        end, token_id = last[end]
        tokens.append(token_id)
    return tuple(reversed(tokens))


def _tokens_at(trie: TokenTrie, data: bytes, begin: int) -> Iterator[tuple[int, int]]:
    """Yield the tokens that are at ``begin``, shortest first, as (where it ends, lowest id)."""
    node = ROOT
    for end in range(begin, len(data)):
        node = trie.child_on(node, data[end])
        if node == ABSENT:
            break
        if len(ids := trie.ids(node)):
            yield end + 1, int(ids[0])


def longest_match(trie: TokenTrie, data: bytes) -> list[int]:
    """Return the longest token at each position (greedy); ``VocabularyError`` if none spell it."""
    tokens = []
    begin = 0
    while begin < len(data):
        longest = max(_tokens_at(trie, data, begin), default=None)
        if longest is None:
            raise VocabularyError("no tokens of the vocabulary spell this text")
        begin, token_id = longest
        tokens.append(token_id)
    return tokens
