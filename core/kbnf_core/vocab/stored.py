"""A vocabulary, with its trie, as arrays for a container, and back.

Arrays: ``ids``, ``starts`` and ``blob`` of ``PackedTokens``; ``trie.FIELD`` for the fields of
``TokenTrie``; ``rest`` (uint8), the JSON of everything else.

Tests: tests/unit/vocab/test_cache_forms.py
"""

import json
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.trie import PackedTokens, TokenTrie, pack_tokens
from kbnf_core.vocab.validate import LARGEST_ID
from kbnf_core.vocab.vocabulary import Vocabulary

Array = npt.NDArray[Any]

_DTYPES: dict[str, type[np.generic]] = {"byte": np.uint8, "depth": np.uint16}
"""Of the trie's fields; all others are int32."""


def to_arrays(vocabulary: Vocabulary) -> dict[str, Array]:
    """Return the arrays of which ``from_arrays`` makes an equal vocabulary."""
    packed = pack_tokens(vocabulary.tokens)
    rest = {
        "name": vocabulary.name,
        "size": vocabulary.size,
        "fingerprint": vocabulary.fingerprint,
        "special": list(vocabulary.special_tokens.items()),
        "eos": sorted(vocabulary.eos_token_ids),
        "hidden": [(key, data.hex()) for key, data in vocabulary.hidden_tokens.items()],
        "strings": list(vocabulary.token_strings.items()),
        "oddities": vocabulary.oddities,
    }
    arrays: dict[str, Array] = {"ids": packed.ids, "starts": packed.starts, "blob": packed.blob}
    arrays["rest"] = np.frombuffer(json.dumps(rest).encode(), np.uint8)
    return arrays | trie_to_arrays(vocabulary.trie)


def trie_to_arrays(trie: TokenTrie, prefix: str = "trie") -> dict[str, Array]:
    """Return the arrays of which ``checked_trie`` makes an equal trie."""
    return {f"{prefix}.{field.name}": getattr(trie, field.name) for field in fields(TokenTrie)}


def from_arrays(arrays: Mapping[str, Array]) -> Vocabulary:
    """Return the vocabulary in ``arrays``, which it works on from then on.

    Raises ``VocabularyError`` unless they have their dtypes and every number in them is within
    its range: a walk over them reads nothing outside. ``rest`` is taken as it is.
    """
    rest = json.loads(arrays["rest"].tobytes())
    return Vocabulary.restored(
        _checked_tokens(arrays),
        checked_trie(arrays, rest["size"]),
        hidden={key: bytes.fromhex(data) for key, data in rest["hidden"]},
        token_strings=dict(rest["strings"]),
        special_tokens=dict(rest["special"]),
        eos=frozenset(rest["eos"]),
        name=rest["name"],
        size=rest["size"],
        fingerprint=rest["fingerprint"],
        oddities=[(level, message) for level, message in rest["oddities"]],
    )


def _checked_tokens(arrays: Mapping[str, Array]) -> PackedTokens:
    ids, starts, blob = arrays["ids"], arrays["starts"], arrays["blob"]
    _require(_is_row(ids, np.int32) and _is_row(blob, np.uint8), "tokens of other kinds")
    _require(_are_starts(starts, len(ids), len(blob)), "tokens outside their bytes")
    _require(bool((ids[1:] > ids[:-1]).all()), "ids that do not ascend")
    _require(not len(ids) or bool(ids[0] >= 0 and ids[-1] <= LARGEST_ID), "ids out of range")
    return PackedTokens(ids, starts, blob)


def checked_trie(arrays: Mapping[str, Array], size: int, prefix: str = "trie") -> TokenTrie:
    """Return the trie in ``arrays`` over ids below ``size``; raise what ``from_arrays`` does."""
    trie_arrays = {field.name: arrays[f"{prefix}.{field.name}"] for field in fields(TokenTrie)}
    kinds = all(_is_row(array, _DTYPES.get(name, np.int32)) for name, array in trie_arrays.items())
    _require(kinds, "a trie of other kinds")
    trie = TokenTrie(**trie_arrays)
    count = trie.node_count
    same = len(trie.skip) == len(trie.depth) == len(trie.parent) == count > 0
    _require(same, "a trie of unequal arrays")
    _require(_are_starts(trie.token_start, count, len(trie.token_ids)), "ends outside the ids")
    _require(_are_starts(trie.child_start, count, len(trie.child)), "children outside the trie")
    _require(_within(trie.token_ids, 0, size), "tokens beyond the vocabulary")
    _require(_within(trie.child, 1, count), "children that are not nodes")
    own = np.arange(count, dtype=np.int32)
    before = trie.parent[1:] < own[1:]
    is_tree = int(trie.parent[0]) == -1 and _within(trie.parent[1:], 0, count)
    _require(is_tree and bool(before.all()), "parents that are not nodes")
    behind = trie.skip > own
    _require(bool(behind.all()) and _within(trie.skip, 1, count + 1), "subtrees without an end")
    deep = int(trie.depth[0]) == 0 and _within(trie.depth[1:], 1, 2**16)
    _require(deep, "nodes without a depth")
    return trie


def _is_row(array: Array, dtype: type[np.generic]) -> bool:
    return array.ndim == 1 and array.dtype == dtype


def _are_starts(starts: Array, count: int, total: int) -> bool:
    """Return whether these are the beginnings of ``count`` runs, and the end of all, ``total``."""
    return (
        _is_row(starts, np.int32)
        and len(starts) == count + 1
        and bool(starts[0] == 0 and starts[-1] == total)
        and bool((starts[1:] >= starts[:-1]).all())
    )


def _within(values: Array, low: int, end: int) -> bool:
    return not len(values) or (int(values.min()) >= low and int(values.max()) < end)


def _require(holds: bool, damage: str) -> None:
    if not holds:
        raise VocabularyError(f"a stored vocabulary is damaged: {damage}")
