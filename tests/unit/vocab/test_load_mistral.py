"""Tekken and SentencePiece files of the mistral-common package, against its own tokenizers."""

import base64
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from sentencepiece import SentencePieceProcessor

from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.load import load_vocabulary
from kbnf_core.vocab.vocabulary import Vocabulary

DATA = Path(str(files("mistral_common"))) / "data"
TEKKEN = DATA / "tekken_240911.json"
OLD_MODEL = DATA / "tokenizer.model.v1"
NEW_MODEL = DATA / "mistral_instruct_tokenizer_241114.model.v7"


def join(vocabulary: Vocabulary, ids: list[int]) -> bytes:
    return b"".join(vocabulary.tokens[token_id] for token_id in ids)


@pytest.fixture(scope="module")
def tekken() -> Vocabulary:
    return load_vocabulary(TEKKEN)


@pytest.fixture(scope="module")
def tekkenizer() -> Tekkenizer:
    return Tekkenizer.from_file(TEKKEN)


def test_tekken_spells_what_its_library_encodes(
    tekken: Vocabulary, tekkenizer: Tekkenizer, text: str
) -> None:
    assert join(tekken, tekkenizer.encode(text, bos=False, eos=False)) == text.encode()


def test_tekken_has_the_tokens_of_its_library(tekken: Vocabulary, tekkenizer: Tekkenizer) -> None:
    assert tekken.size == tekkenizer.n_words == 131_072
    assert len(tekken) == tekken.size
    for token_id in range(tekken.size):
        if token_id in tekken.special_ids:
            assert tekken.token_string(token_id) == tekkenizer.id_to_piece(token_id)
        else:
            assert tekken.token(token_id) == tekkenizer.id_to_byte_piece(token_id)
    assert len(tekken.special_tokens) == tekkenizer.num_special_tokens
    assert tekken.eos_token_ids == {tekkenizer.eos_id} == {2}
    assert tekken.name == TEKKEN.name


def test_tekken_names_its_special_tokens(tmp_path: Path) -> None:
    listed = [("<unk>", 0), ("</s>", 1)]
    path = tmp_path / "unhelpful name"
    path.write_text(json.dumps(small_tekken(listed, version="v13")))
    vocabulary = load_vocabulary(path)
    assert vocabulary.special_tokens == {"<unk>": 0, "</s>": 1, "<SPECIAL_2>": 2}
    assert vocabulary.eos_token_ids == {1}
    assert vocabulary.tokens == {3 + value: bytes([value]) for value in range(256)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"special_tokens": None}, "version v13 should list its special_tokens"),
        ({"vocab": [5]}, r"vocab\[0\] should be an object, not 5"),
        ({"vocab": [{"rank": 0}]}, r"vocab\[0\].token_bytes should be a string, not missing"),
        ({"vocab": [{"rank": 0, "token_bytes": "*"}]}, "token_bytes is not base64"),
        ({"config": {"version": "v13"}}, "config.default_vocab_size should be an integer"),
        ({"special_tokens": [{"rank": "x", "token_str": "s"}]}, r"special_tokens\[0\].rank"),
    ],
)
def test_damaged_tekken(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(small_tekken([("</s>", 0)], version="v13") | change))
    with pytest.raises(VocabularyError, match=message):
        load_vocabulary(path)


def small_tekken(special: list[tuple[str, int]], version: str) -> dict[str, Any]:
    return {
        "config": {
            "default_vocab_size": 259,
            "default_num_special_tokens": 3,
            "version": version,
        },
        "vocab": [
            {"rank": value, "token_bytes": base64.b64encode(bytes([value % 256])).decode()}
            for value in range(300)
        ],
        "special_tokens": [{"rank": rank, "token_str": name} for name, rank in special],
    }


@pytest.fixture(scope="module", params=[OLD_MODEL, NEW_MODEL], ids=["v1", "v7"])
def model(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


@pytest.fixture(scope="module")
def pieces(model: Path) -> Vocabulary:
    return load_vocabulary(model)


@pytest.fixture(scope="module")
def processor(model: Path) -> SentencePieceProcessor:
    return SentencePieceProcessor(model_file=str(model))


def test_a_model_spells_what_its_library_encodes(
    pieces: Vocabulary, processor: SentencePieceProcessor, text: str
) -> None:
    """But for U+2581 itself, which no token can spell, and the blank put before a text."""
    ids = processor.encode(text)
    assert join(pieces, ids) == b" " + text.replace("▁", " ").encode()
    assert processor.decode(ids).encode() == text.replace("▁", " ").encode()


def test_a_model_has_the_tokens_of_its_library(
    pieces: Vocabulary, processor: SentencePieceProcessor
) -> None:
    assert pieces.size == processor.get_piece_size()
    assert pieces.eos_token_ids == {processor.eos_id()} == {2}
    for token_id in range(pieces.size):
        control = processor.is_control(token_id) or processor.is_unknown(token_id)
        assert (token_id in pieces.special_ids) == control
        if control:
            assert pieces.token_string(token_id) == processor.id_to_piece(token_id)


def test_pieces_for_single_bytes(pieces: Vocabulary, processor: SentencePieceProcessor) -> None:
    for value in range(256):
        token_id = processor.piece_to_id(f"<0x{value:02X}>")
        assert pieces.token(token_id) == bytes([value])
