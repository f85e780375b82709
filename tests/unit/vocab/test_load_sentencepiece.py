"""SentencePiece models trained here, for the kinds of pieces that Mistral's do not have."""

import sys
from pathlib import Path

import pytest
from sentencepiece import SentencePieceProcessor

from kbnf_core.text.errors import MissingExtraError, VocabularyError
from kbnf_core.vocab.load import load_vocabulary
from kbnf_testing.tokenizer_files import sentence_piece


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sentencepiece") / "vocabulary"
    path.write_bytes(sentence_piece())
    return path


def test_kinds_of_pieces(path: Path) -> None:
    vocabulary = load_vocabulary(path)
    assert set(vocabulary.special_tokens) == {"<unk>", "<s>", "</s>", "<pad>", "<ctl>"}
    processor = SentencePieceProcessor(model_file=str(path))
    assert vocabulary.token(processor.piece_to_id("<tool>")) == b"<tool>"
    assert vocabulary.token(processor.piece_to_id("▁▁")) == b"  "
    assert vocabulary.eos_token_ids == {processor.eos_id()}


def test_it_spells_what_its_library_encodes(path: Path) -> None:
    """The normaliser of this model changes some texts, so compare with what it makes of them."""
    vocabulary = load_vocabulary(path)
    processor = SentencePieceProcessor(model_file=str(path))
    for text in ("the cat <tool> 你好", "👩‍👩‍👧 x", "café"):
        joined = b"".join(vocabulary.tokens[token_id] for token_id in processor.encode(text))
        assert joined == processor.normalize(text).replace("▁", " ").encode()


def test_a_damaged_model(tmp_path: Path, path: Path) -> None:
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(VocabularyError, match="not a SentencePiece model, or a damaged one"):
        load_vocabulary(damaged)


def test_a_piece_that_is_no_text(tmp_path: Path, path: Path) -> None:
    data = path.read_bytes()
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(data.replace(b"<tool>", b"\xff\xfeool>"))
    with pytest.raises(VocabularyError, match="not a SentencePiece model, or a damaged one"):
        load_vocabulary(damaged)


def test_a_byte_piece_without_a_byte(tmp_path: Path, path: Path) -> None:
    damaged = tmp_path / "damaged.model"
    damaged.write_bytes(path.read_bytes().replace(b"<0x41>", b"<0xZZ>"))
    with pytest.raises(VocabularyError, match="a damaged one"):
        load_vocabulary(damaged)


def test_the_library_is_missing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(MissingExtraError, match="sentencepiece") as caught:
        load_vocabulary(path)
    assert caught.value.extra == "sentencepiece"
