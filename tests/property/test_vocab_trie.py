"""The flat trie is the same tree as a plain one made of dictionaries."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kbnf_core.vocab.trie import ABSENT, ROOT, TokenTrie, build_trie

Tokens = dict[int, bytes]

few_bytes = st.binary(max_size=6).map(
    lambda data: bytes(b"ab\x00\xff"[value % 4] for value in data)
)
tokens = st.dictionaries(st.integers(0, 60), few_bytes | st.binary(max_size=5), max_size=40)


@dataclass
class Node:
    """A node of the naive trie."""

    path: bytes
    ids: list[int] = field(default_factory=list)
    children: dict[int, "Node"] = field(default_factory=dict)

    def all_ids(self) -> list[int]:
        """Return the ids here and below, in depth-first order."""
        below = [
            token_id
            for value in sorted(self.children)
            for token_id in self.children[value].all_ids()
        ]
        return sorted(self.ids) + below


def naive(tokens: Tokens) -> Node:
    root = Node(b"")
    for token_id, data in tokens.items():
        if not data:
            continue
        node = root
        for value in data:
            node = node.children.setdefault(value, Node(node.path + bytes([value])))
        node.ids.append(token_id)
    return root


def assert_same(trie: TokenTrie, number: int, expected: Node) -> int:
    """Compare a subtree; return the number of the first node after it."""
    assert trie.depth[number] == len(expected.path)
    assert trie.byte[number] == (expected.path[-1] if expected.path else 0)
    assert trie.find(expected.path) == number
    assert trie.ids(number).tolist() == sorted(expected.ids)
    assert trie.subtree_ids(number).tolist() == expected.all_ids()
    following = number + 1
    for child, value in zip(trie.children(number).tolist(), sorted(expected.children), strict=True):
        assert child == following
        assert trie.parent[child] == number
        following = assert_same(trie, child, expected.children[value])
    assert trie.skip[number] == following
    return following


@settings(deadline=None)
@given(tokens)
@example({})
@example({0: b""})
@example({7: b"x"})
@example({7: b"x", 3: b"x", 5: b"xy", 4: b"", 6: b"x"})
@example({0: b"\xff" * 300, 1: b"\xff" * 299 + b"a", 2: b"\xff"})
def test_it_is_the_naive_trie(tokens: Tokens) -> None:
    trie = build_trie(tokens)
    assert trie.parent[ROOT] == ABSENT
    assert assert_same(trie, ROOT, naive(tokens)) == trie.node_count
    assert trie.max_depth == max(map(len, tokens.values()), default=0)


@given(tokens, few_bytes)
def test_find_knows_what_is_absent(tokens: Tokens, data: bytes) -> None:
    is_prefix = not data or any(token.startswith(data) for token in tokens.values())
    assert (build_trie(tokens).find(data) != ABSENT) == is_prefix


def test_the_arrays_have_the_documented_types_and_are_read_only() -> None:
    trie = build_trie({0: b"a", 1: b"ab"})
    kinds = {
        "byte": np.uint8,
        "skip": np.int32,
        "depth": np.uint16,
        "parent": np.int32,
        "child_start": np.int32,
        "child": np.int32,
        "token_start": np.int32,
        "token_ids": np.int32,
    }
    for name, kind in kinds.items():
        array = getattr(trie, name)
        assert array.dtype == kind, name
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_the_longest_allowed_token() -> None:
    trie = build_trie({0: b"x" * 65_535})
    assert trie.max_depth == 65_535
    assert trie.skip[1] == trie.node_count
