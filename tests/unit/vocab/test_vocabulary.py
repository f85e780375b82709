"""What a vocabulary knows, and what it refuses."""

import logging
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from sys import getsizeof
from typing import Any

import numpy as np
import pytest

from kbnf_core.text.errors import KbnfError, VocabularyError
from kbnf_core.vocab.vocabulary import Token, Vocabulary


def test_ordinary_tokens() -> None:
    vocabulary = Vocabulary({0: b"A", 4: b"B", 2: b"A", 3: b""}, {0: "first"})
    assert vocabulary.size == 5
    assert dict(vocabulary.tokens) == {0: b"A", 4: b"B", 2: b"A", 3: b""}
    assert vocabulary.token(4) == b"B"
    assert vocabulary.token(1) is None
    assert vocabulary.token_ids(b"A") == (0, 2)
    assert vocabulary.token_ids(b"C") == ()
    assert len(vocabulary) == 4
    assert [token_id in vocabulary for token_id in range(6)] == [
        True,
        False,
        True,
        True,
        True,
        False,
    ]


def test_tokens_may_be_wrapped_as_in_the_original() -> None:
    vocabulary = Vocabulary({0: Token(b"A")}, {0: "A"})
    assert vocabulary.token(0) == b"A"
    assert vocabulary.token_ids(Token(b"A")) == (0,)
    assert bytes(Token(b"A")) == Token(b"A").value == b"A"
    assert len(Token(b"AB")) == 2


def test_the_names_of_the_original_binding() -> None:
    vocabulary = Vocabulary({0: Token(b"A"), 5: Token(b"B")}, {0: "a string"})
    assert vocabulary.get_vocab_size() == 6
    assert vocabulary.get_token(5) == Token(b"B")
    assert vocabulary.get_token(4) is None
    assert vocabulary.get_token_id(Token(b"B")) == 5
    assert vocabulary.get_token_id(Token(b"C")) is None
    assert vocabulary.get_token_string(0) == "a string"
    assert vocabulary.get_token_string(5) is None


@pytest.mark.parametrize(
    ("name", "asked", "answer", "use"),
    [
        ("bytes_or_name", 9, b"<pad>", "decode"),
        ("is_special", 9, True, "special_ids"),
        ("special_id", "<pad>", 9, "special_tokens"),
        ("token_id", b"A", 0, "get_token_id"),
    ],
)
def test_second_names_are_deprecated(name: str, asked: object, answer: object, use: str) -> None:
    vocabulary = Vocabulary({0: b"A"}, special_tokens={"<pad>": 9})
    with pytest.warns(DeprecationWarning, match=f"use `Vocabulary.{use}`"):
        assert getattr(vocabulary, name)(asked) == answer


def test_special_and_stop_ids_have_no_bytes() -> None:
    vocabulary = Vocabulary(
        {0: b"A", 1: b"<s>", 2: b"</s>"},
        special_tokens={"<s>": 1, "<pad>": 9},
        eos_token_id=[2, 11],
    )
    assert dict(vocabulary.tokens) == {0: b"A"}
    assert dict(vocabulary.special_tokens) == {"<s>": 1, "<pad>": 9}
    assert vocabulary.eos_token_ids == {2, 11}
    assert vocabulary.size == 12
    assert len(vocabulary) == 5
    assert [token_id in vocabulary.special_ids for token_id in (0, 1, 2, 9, 11, 3)] == [
        False, True, True, True, True, False,
    ]  # fmt: skip
    assert vocabulary.token(1) is None
    assert vocabulary.trie.token_ids.tolist() == [0]


@pytest.mark.parametrize(
    "tokens",
    [
        {},
        {0: b"A", 1: b"BC"},
        {3: b"A", 4: b"", 5: b"BCD"},
        {1: b"A", 2: b"B", 7: b"CD", 9: b""},
    ],
)
@pytest.mark.parametrize("special_tokens", [{}, {"<s>": 12}])
def test_the_bytes_of_all_ids_in_two_arrays(
    tokens: dict[int, bytes], special_tokens: dict[str, int]
) -> None:
    vocabulary = Vocabulary(tokens, special_tokens=special_tokens)
    starts, blob = vocabulary.spellings
    parts = pairwise(starts.tolist())
    assert [bytes(blob[first:end]) for first, end in parts] == [
        tokens.get(token_id, b"") for token_id in range(vocabulary.size)
    ]


def test_an_empty_vocabulary_is_legal() -> None:
    vocabulary = Vocabulary({})
    assert vocabulary.size == 0
    assert len(vocabulary) == 0
    assert vocabulary.trie.node_count == 1


def test_the_vocabulary_of_bytes() -> None:
    vocabulary = Vocabulary.bytes()
    assert vocabulary.size == 257
    assert vocabulary.eos_token_ids == {256}
    assert all(vocabulary.token(value) == bytes([value]) for value in range(256))
    assert vocabulary.name == "bytes"


@pytest.mark.parametrize(
    ("token_id", "shown"),
    [
        (0, "given"),
        (1, "A"),
        (2, "\\xff"),
        (3, "<s>"),
        (4, None),
        (5, None),
        (6, "stop"),
        (7, "\n"),
    ],
)
def test_what_is_shown_for_an_id(token_id: int, shown: str | None) -> None:
    vocabulary = Vocabulary(
        {0: b"x", 1: b"A", 2: b"\xff", 7: b"\n"},
        {0: "given", 6: "stop"},
        special_tokens={"<s>": 3, "<alias of s>": 3},
        eos_token_id=[4, 6, 7],
    )
    assert vocabulary.token_string(token_id) == shown


def test_ids_from_numpy_are_ids() -> None:
    vocabulary = Vocabulary({np.int64(3): b"A"}, eos_token_id=np.int32(4))  # type: ignore[dict-item, arg-type]
    assert type(next(iter(vocabulary.tokens))) is int
    assert vocabulary.eos_token_ids == {4}


BAD: list[tuple[dict[str, Any], str]] = [
    ({"tokens": {-1: b"A"}}, "token id -1 is outside"),
    ({"tokens": {2**24: b"A"}}, "token id 16777216 is outside"),
    ({"tokens": {"1": b"A"}}, "a token id is an integer, not str"),
    ({"tokens": {True: b"A"}}, "a token id is an integer, not bool"),
    ({"tokens": {1.0: b"A"}}, "a token id is an integer, not float"),
    ({"tokens": {1: "A"}}, "token 1 is made of bytes, not of str"),
    ({"tokens": {1: None}}, "token 1 is made of bytes, not of NoneType"),
    ({"tokens": {1: b"x" * 65_536}}, "token 1 has 65536 bytes"),
    ({"tokens": [b"A"]}, "tokens is a mapping of ids to bytes, not list"),
    ({"tokens": {}, "eos_token_id": -2}, "token id -2 is outside"),
    ({"tokens": {}, "eos_token_id": "2"}, "a token id is an integer, not str"),
    ({"tokens": {}, "eos_token_id": [2, None]}, "a token id is an integer, not NoneType"),
    ({"tokens": {}, "special_tokens": {"<s>": -1}}, "token id -1 is outside"),
    ({"tokens": {}, "special_tokens": {1: 1}}, "the name of a special token is a text, not int"),
    ({"tokens": {}, "special_tokens": ["<s>"]}, "special_tokens is a mapping"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD, ids=[message for _, message in BAD])
def test_what_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(VocabularyError, match=message) as caught:
        Vocabulary(**arguments)
    assert isinstance(caught.value, KbnfError)
    assert isinstance(caught.value, ValueError)


def test_a_token_is_bytes() -> None:
    with pytest.raises(VocabularyError, match="made of bytes, not of str"):
        Token("A")  # type: ignore[arg-type]


def test_later_changes_of_the_arguments_do_not_matter() -> None:
    tokens: dict[int, bytes | Token] = {0: b"A"}
    specials = {"<s>": 1}
    vocabulary = Vocabulary(tokens, special_tokens=specials)
    tokens[2] = b"B"
    specials["<t>"] = 3
    assert vocabulary.size == 2
    with pytest.raises(TypeError):
        vocabulary.tokens[5] = b"C"  # type: ignore[index]
    with pytest.raises(TypeError):
        vocabulary.special_tokens["<u>"] = 5  # type: ignore[index]


def test_equal_content_has_an_equal_fingerprint() -> None:
    one = Vocabulary({0: b"A", 1: b"B"}, special_tokens={"x": 2, "y": 3}, eos_token_id=[3, 2])
    two = Vocabulary(
        {1: b"B", 0: b"A"}, {0: "a"}, special_tokens={"y": 3, "x": 2}, eos_token_id=[2, 3], name="n"
    )
    assert one.fingerprint == two.fingerprint
    assert len(one.fingerprint) == 32
    assert int(one.fingerprint, 16) >= 0


def test_different_content_has_a_different_fingerprint() -> None:
    vocabularies = [
        Vocabulary({}),
        Vocabulary({0: b""}),
        Vocabulary({0: b"A"}),
        Vocabulary({1: b"A"}),
        Vocabulary({0: b"AB"}),
        Vocabulary({0: b"A", 1: b"B"}),
        Vocabulary({0: b"A"}, eos_token_id=1),
        Vocabulary({0: b"A"}, special_tokens={"x": 1}),
        Vocabulary({0: b"A"}, special_tokens={"y": 1}),
        Vocabulary({0: b"A"}, special_tokens={"x": 1}, eos_token_id=1),
    ]
    assert len({vocabulary.fingerprint for vocabulary in vocabularies}) == len(vocabularies)


def test_the_fingerprint_does_not_change_between_versions() -> None:
    """Artifacts carry it, so it is part of their format."""
    assert Vocabulary.bytes().fingerprint == "6f499e019ded9f22d28b423abe071eef"


def test_threads_share_a_vocabulary() -> None:
    vocabulary = Vocabulary.bytes()
    with ThreadPoolExecutor(8) as pool:
        nodes = list(pool.map(lambda _: vocabulary.trie.find(b"\x07"), range(64)))
    assert nodes == [8] * 64


def test_oddities_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="kbnf_core.vocab.vocabulary")
    Vocabulary({0: b"A", 1: b"A", 2: b""})
    levels = [(record.levelname, record.getMessage()) for record in caplog.records]
    assert levels[0] == ("DEBUG", "1 tokens spell the same bytes as another one")
    assert levels[1] == ("DEBUG", "1 tokens are empty and never in a mask: (2,)")
    assert levels[2][0] == "WARNING"
    assert levels[2][1].startswith("255 byte values are in no token: [0, 1,")


def test_nothing_is_logged_without_an_oddity(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    Vocabulary.bytes()
    Vocabulary({})
    assert not caplog.records


def test_the_memory_is_counted() -> None:
    tokens = {number: f"token {number}".encode() for number in range(20_000)}
    names = {f"<{number}>": 20_000 + number for number in range(1_000)}
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        vocabulary = Vocabulary(dict(tokens), special_tokens=dict(names))
        vocabulary.trie, vocabulary.spellings  # noqa: B018 - made at first use
        taken = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    # The bytes and the numbers are the caller's, and counted as the vocabulary's.
    shared = sum(map(getsizeof, (*tokens, *tokens.values(), *names, *names.values())))
    assert 0.9 * taken < vocabulary.nbytes < 1.1 * (taken + shared)
