"""tokenizer.json files made with the tokenizers library, against that library."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.load import load_vocabulary
from kbnf_core.vocab.vocabulary import Vocabulary
from kbnf_testing.tokenizer_files import tokenizers

TOKENIZERS = tokenizers()


def load(folder: Path, document: object) -> Vocabulary:
    path = folder / "some.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return load_vocabulary(path)


def as_encoded(kind: str, text: str) -> str:
    """Return what a tokenizer makes of a text before it is cut into tokens.

    U+2581 becomes a blank; there may be a blank put before the text (by Metaspace only if it
    has none); and the library takes ``<0x41>`` in a text for the byte piece of a Unigram model.
    """
    if kind == "byte level":
        return text
    text = text.replace("▁", " ")
    if kind.startswith("Unigram"):
        text = text.replace("<0x41>", "A")
    needs_blank = "Unigram" in kind and not text.startswith(" ")
    return " " + text if needs_blank or kind == "BPE, blank before the text" else text


@pytest.mark.parametrize("kind", list(TOKENIZERS))
def test_it_spells_what_its_library_encodes(tmp_path: Path, kind: str, text: str) -> None:
    tokenizer = TOKENIZERS[kind]
    vocabulary = load(tmp_path, tokenizer.to_str())
    text = text.replace("</s>", "")
    ids = tokenizer.encode(text).ids
    joined = b"".join(vocabulary.tokens[token_id] for token_id in ids)
    assert joined == as_encoded(kind, text).encode()


@pytest.mark.parametrize("kind", list(TOKENIZERS))
def test_it_has_the_ids_of_its_library(tmp_path: Path, kind: str) -> None:
    tokenizer = TOKENIZERS[kind]
    vocabulary = load(tmp_path, tokenizer.to_str())
    assert len(vocabulary) == tokenizer.get_vocab_size()
    special = {key for key, token in tokenizer.get_added_tokens_decoder().items() if token.special}
    assert {key for key in range(vocabulary.size) if key in vocabulary.special_ids} == special


def test_special_and_added_tokens(tmp_path: Path) -> None:
    tokenizer = TOKENIZERS["byte level"]
    vocabulary = load(tmp_path, tokenizer.to_str())
    assert set(vocabulary.special_tokens) == {"<|endoftext|>", "<|im_end|>"}
    for content in ("    ", "é", "日本語", "<tool_call>"):
        token_id = tokenizer.token_to_id(content)
        assert token_id is not None
        assert vocabulary.token(token_id) == content.encode()


def small(**changes: object) -> dict[str, Any]:
    """Return a small tokenizer.json; ``a__b`` changes key b of part a."""
    document: dict[str, Any] = {
        "added_tokens": [{"id": 2, "content": "</s>", "special": True}],
        "decoder": {"type": "ByteLevel"},
        "model": {"type": "BPE", "vocab": {"a": 0, "Ġ": 1, "</s>": 2, "é": 3}, "merges": []},
    }
    for key, value in changes.items():
        part, _, inner = key.partition("__")
        if inner:
            document[part][inner] = value
        else:
            document[part] = value
    return document


def test_a_small_one(tmp_path: Path) -> None:
    assert load(tmp_path, small()).tokens == {0: b"a", 1: b" ", 3: b"\xe9"}


@pytest.mark.parametrize(
    ("parts", "spelled"),
    [
        ({"decoder": None, "pre_tokenizer": {"type": "ByteLevel"}}, b" "),
        ({"decoder": None, "normalizer": {"type": "ByteLevel"}}, b" "),
        ({"decoder": None}, "Ġ".encode()),
        ({"decoder": {"type": "Fuse"}}, "Ġ".encode()),
        ({"decoder": {"type": "Metaspace", "replacement": "Ġ"}}, b" "),
        (
            {"decoder": {"type": "Replace", "pattern": {"String": "Ġ"}, "content": "--"}},
            b"--",
        ),
        (
            {
                "decoder": {
                    "type": "Sequence",
                    "decoders": [
                        {"type": "Replace", "pattern": {"String": "Ġ"}, "content": "é"},
                        {"type": "ByteLevel"},
                    ],
                }
            },
            b"\xe9",
        ),
    ],
)
def test_where_the_spelling_is_found(
    tmp_path: Path, parts: dict[str, object], spelled: bytes
) -> None:
    assert load(tmp_path, small(**parts)).token(1) == spelled


@pytest.mark.parametrize(
    "encoder",
    [
        {"pre_tokenizer": {"type": "Metaspace", "replacement": "▁"}},
        {
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "NFC"},
                    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                ],
            }
        },
    ],
)
def test_marks_and_bytes_without_a_decoder(tmp_path: Path, encoder: dict[str, object]) -> None:
    model = {
        "type": "Unigram",
        "unk_id": 0,
        "byte_fallback": True,
        "vocab": [["<unk>", 0], ["▁a", -1], ["<0x0a>", -2], ["▁a", -3]],
    }
    vocabulary = load(tmp_path, {"model": model, **encoder})
    assert vocabulary.tokens == {1: b" a", 2: b"\n", 3: b" a"}
    assert vocabulary.special_tokens == {"<unk>": 0}


def test_an_old_file_does_not_name_its_model(tmp_path: Path) -> None:
    assert load(tmp_path, small(model__type=None)).token(1) == b" "


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, {2}),
        ({"generation_config.json": {"eos_token_id": [0, 7]}}, {0, 7}),
        ({"generation_config.json": {"eos_token_id": 1}}, {1}),
        ({"generation_config.json": {"eos_token_id": None}}, {2}),
        ({"tokenizer_config.json": {"eos_token": "a"}}, {0}),
        ({"special_tokens_map.json": {"eos_token": {"content": "</s>"}}}, {2}),
        ({"tokenizer_config.json": {"eos_token": "unknown"}}, {2}),
        (
            {
                "generation_config.json": {"eos_token_id": 1},
                "tokenizer_config.json": {"eos_token": "</s>"},
            },
            {1, 2},
        ),
    ],
)
def test_stop_ids(tmp_path: Path, files: dict[str, object], expected: set[int]) -> None:
    for name, document in files.items():
        (tmp_path / name).write_text(json.dumps(document))
    vocabulary = load(tmp_path, small())
    assert vocabulary.eos_token_ids == expected
    assert not set(vocabulary.tokens) & expected


def test_a_stop_id_has_a_name(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text('{"eos_token": "a"}')
    assert load(tmp_path, small()).special_tokens.get("a") == 0


def test_a_damaged_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "generation_config.json").write_text("{")
    with pytest.raises(VocabularyError, match=r"generation_config\.json beside it cannot be read"):
        load(tmp_path, small())


REFUSED: list[tuple[dict[str, object], str]] = [
    ({"model__type": "WordPiece"}, "its model is WordPiece"),
    ({"model": {"vocab": {"a": 0}}}, "its model is WordPiece or WordLevel"),
    ({"model__end_of_word_suffix": "</w>"}, "marked as parts of words"),
    ({"decoder": {"type": "BPEDecoder"}}, "its decoder is BPEDecoder"),
    ({"decoder": {"type": "WordPiece"}}, "decoder.prefix"),
    ({"decoder": {"type": "Strip"}}, "its decoder strips every token"),
    (
        {"decoder": {"type": "Replace", "pattern": {"Regex": "x"}, "content": ""}},
        "replaces a regular expression",
    ),
    ({"decoder": [1]}, r"decoder should be an object, not \[1\]"),
    ({"decoder": {"type": "Sequence"}}, "decoder.decoders should be a list, not missing"),
    ({"model__vocab": ["a"]}, "model.vocab should be an object"),
    ({"model__vocab": {"a": "b"}}, r"model.vocab\['a'\] should be an integer, not 'b'"),
    ({"model": {"type": "Unigram", "vocab": [[]]}}, r"model.vocab\[0\] should be a string"),
    ({"added_tokens": [{"id": 1}]}, r"added_tokens\[0\].content should be a string"),
    ({"added_tokens": [{"content": "a", "id": -1}]}, "token id -1 is outside"),
]


@pytest.mark.parametrize(("changes", "message"), REFUSED, ids=[text for _, text in REFUSED])
def test_what_is_refused(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    with pytest.raises(VocabularyError, match=message):
        load(tmp_path, small(**changes))
