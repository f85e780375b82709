"""A vocabulary from the cache is the vocabulary that was read, in everything that can be asked."""

import logging
import pickle
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.container import read_container, write_container
from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.stored import from_arrays, to_arrays
from kbnf_core.vocab.trie import TokenTrie, pack_tokens
from kbnf_core.vocab.vocabulary import Token, Vocabulary, inspect

NAMES = [field.name for field in fields(TokenTrie)]

VOCABULARIES = {
    "bytes": Vocabulary.bytes(),
    "none": Vocabulary({}),
    "only empty": Vocabulary({3: b""}),
    "gaps and repetitions": Vocabulary(
        {900: b"ab", 2: b"", 7: b"ab", 5: b"a", 6: b"\xff\x00", 1: b"</s>", 9: b"<s>", 4: b""},
        {5: "shown", 9: "hidden"},
        special_tokens={"<s>": 9, "<alias>": 9, "\ud800": 11, "ключ": 12},
        eos_token_id=[1, 2000],
        name="mixed",
    ),
    "only special": Vocabulary({}, special_tokens={"<s>": 5}),
}

random_vocabularies = st.builds(
    Vocabulary,
    st.dictionaries(st.integers(0, 50), st.binary(max_size=4), max_size=30),
    eos_token_id=st.sets(st.integers(0, 60), max_size=2),
    special_tokens=st.dictionaries(st.text(max_size=3), st.integers(0, 60), max_size=3),
)


def stored(vocabulary: Vocabulary, folder: Path) -> Vocabulary:
    """Return the vocabulary after its way through a file."""
    write_container(folder / "x", to_arrays(vocabulary), {})
    return from_arrays(read_container(folder / "x")[0])


def assert_same(one: Vocabulary, other: Vocabulary) -> None:
    for name in ("name", "size", "fingerprint", "eos_token_ids", "oddities"):
        assert getattr(one, name) == getattr(other, name), name
    for name in ("tokens", "special_tokens", "hidden_tokens", "token_strings"):
        assert dict(getattr(one, name)) == dict(getattr(other, name)), name
    assert list(one.tokens.values()) == [other.tokens[each] for each in one.tokens]
    assert list(one.special_tokens) == list(other.special_tokens)
    assert len(one) == len(other)
    assert repr(one) == repr(other)
    assert inspect(one) == inspect(other)
    asked = ("token", "token_string", "get_token", "get_token_string")
    for token_id in (-1, *range(70), *one.tokens, 1999, 2000):
        assert (token_id in one) == (token_id in other)
        for name in asked:
            assert getattr(one, name)(token_id) == getattr(other, name)(token_id), name
    for data in (b"", b"absent", *one.tokens.values()):
        assert one.token_ids(data) == other.token_ids(data)
        assert one.get_token_id(data) == other.get_token_id(Token(data))
    for name in NAMES:
        np.testing.assert_array_equal(getattr(one.trie, name), getattr(other.trie, name))


@pytest.mark.parametrize("vocabulary", VOCABULARIES.values(), ids=VOCABULARIES)
def test_it_answers_alike(vocabulary: Vocabulary, tmp_path: Path) -> None:
    assert_same(vocabulary, stored(vocabulary, tmp_path))
    assert_same(stored(vocabulary, tmp_path), vocabulary)


@settings(deadline=None)
@given(random_vocabularies)
def test_any_vocabulary_answers_alike(
    tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary
) -> None:
    assert_same(vocabulary, stored(vocabulary, tmp_path_factory.mktemp("x")))


def test_token_ids_are_those_that_spell_the_same() -> None:
    vocabulary = VOCABULARIES["gaps and repetitions"]
    assert vocabulary.token_ids(b"ab") == (7, 900)
    assert vocabulary.token_ids(b"") == (2, 4)
    assert vocabulary.token_ids(b"</s>") == ()


def test_it_cannot_be_changed(tmp_path: Path) -> None:
    vocabulary = stored(VOCABULARIES["bytes"], tmp_path)
    with pytest.raises(TypeError):
        vocabulary.tokens[5] = b"C"  # type: ignore[index]
    with pytest.raises(ValueError, match="read-only"):
        vocabulary.trie.skip[0] = 5


def test_ids_of_other_kinds() -> None:
    tokens = pack_tokens({3: b"x", 70_000: b"y"})
    assert tokens[np.int64(70_000)] == b"y"  # type: ignore[index]
    assert "3" not in tokens  # type: ignore[comparison-overlap]
    assert tokens.get(2**80) is None
    assert pickle.loads(pickle.dumps(tokens)) == {3: b"x", 70_000: b"y"}  # noqa: S301 - our own


def test_oddities_are_logged_each_time(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    vocabulary = Vocabulary({0: b"A", 1: b"A", 2: b""})
    stored(vocabulary, tmp_path)
    logged = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert len(logged) == 6
    assert logged[:3] == logged[3:]


Damage = Callable[[dict[str, Any]], object]


def put(name: str, place: int, value: int) -> Damage:
    def change(arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value

    return change


def replace(name: str, change: Callable[[Any], Any]) -> Damage:
    return lambda arrays: arrays.__setitem__(name, change(arrays[name]))


DAMAGES: dict[str, tuple[Damage, str]] = {
    "kind of ids": (replace("ids", lambda a: a.astype(np.int64)), "tokens of other kinds"),
    "shape of blob": (replace("blob", lambda a: a.reshape(1, -1)), "tokens of other kinds"),
    "start before": (put("starts", 5, -1), "outside their bytes"),
    "start behind": (put("starts", 256, 900), "outside their bytes"),
    "starts fall": (put("starts", 7, 200), "outside their bytes"),
    "ids fall": (put("ids", 5, 3), "do not ascend"),
    "ids below": (put("ids", 0, -3), "out of range"),
    "ids above": (put("ids", 255, 2**24), "out of range"),
    "kind of depth": (replace("trie.depth", lambda a: a.astype(np.int32)), "other kinds"),
    "fewer skips": (replace("trie.skip", lambda a: a[:-1]), "unequal"),
    "no nodes": (
        lambda arrays: [
            replace(f"trie.{n}", lambda a: a[:0])(arrays)
            for n in (field.name for field in fields(TokenTrie))
        ],
        "unequal",
    ),
    "token starts": (put("trie.token_start", 3, 10**6), "ends outside"),
    "child starts": (put("trie.child_start", 3, -5), "children outside"),
    "token ids": (put("trie.token_ids", 3, 257), "beyond the vocabulary"),
    "child": (put("trie.child", 3, 0), "children that are not nodes"),
    "parent": (put("trie.parent", 3, 257), "parents"),
    "skip back": (put("trie.skip", 3, 3), "without an end"),
    "skip far": (put("trie.skip", 3, 258), "without an end"),
    "root depth": (put("trie.depth", 0, 1), "without a depth"),
    "no depth": (put("trie.depth", 9, 0), "without a depth"),
}


@pytest.mark.parametrize(("damage", "reason"), DAMAGES.values(), ids=DAMAGES)
def test_numbers_out_of_range_are_refused(damage: Damage, reason: str) -> None:
    arrays = to_arrays(VOCABULARIES["bytes"])
    damage(arrays)
    with pytest.raises(VocabularyError, match=reason):
        from_arrays(arrays)
