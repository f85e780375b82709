"""Text to tokens, as each vocabulary's own tokenizer writes it."""

import io
import json
import shutil
from pathlib import Path

import mistral_common
import pytest
import sentencepiece
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from tokenizers import Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel

from kbnf_core import Vocabulary, load_vocabulary
from kbnf_core.text.errors import SourceError, VocabularyError
from kbnf_core.vocab.read import load_encoder

TEKKEN = Path(mistral_common.__file__).parent / "data" / "tekken_240911.json"


def test_tekken_is_encoded_as_by_its_own_library() -> None:
    vocabulary = load_vocabulary(TEKKEN)
    encoder = load_encoder(TEKKEN, vocabulary)
    assert encoder.name == "tiktoken"
    tekken = Tekkenizer.from_file(TEKKEN)
    for text in ("", '{"name": "é😀"}', "  Hello,\n\n\tworld's 12345 <s> </s>[INST] ", "ﷺ日本語 ñ"):
        tokens = encoder.encode(text)
        assert tokens == tekken.encode(text, bos=False, eos=False)
        assert b"".join(vocabulary.tokens[each] for each in tokens) == text.encode()


def test_a_folder_is_encoded_by_the_file_that_it_was_loaded_from(tmp_path: Path) -> None:
    shutil.copy(TEKKEN, tmp_path / "tekken.json")
    vocabulary = load_vocabulary(tmp_path)
    encoder = load_encoder(tmp_path, vocabulary)
    assert encoder.name == "tiktoken"
    assert encoder.encode("hello") == load_encoder(TEKKEN, vocabulary).encode("hello")


def test_a_folder_with_a_model_alone_is_encoded_by_sentencepiece(tmp_path: Path) -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b c ab"] * 20), model_writer=model, vocab_size=9, minloglevel=2
    )
    (tmp_path / "tokenizer.model").write_bytes(model.getvalue())
    vocabulary = load_vocabulary(tmp_path)
    encoder = load_encoder(tmp_path, vocabulary)
    assert encoder.name == "sentencepiece"
    assert b"".join(vocabulary.tokens[each] for each in encoder.encode("ab c")) == b" ab c"


def test_a_folder_without_a_vocabulary_is_refused_by_both(tmp_path: Path) -> None:
    for read in (load_vocabulary, lambda path: load_encoder(path, Vocabulary.bytes())):
        with pytest.raises(VocabularyError, match="is a folder without"):
            read(tmp_path)


def test_a_tokenizer_json_is_encoded_by_tokenizers(tmp_path: Path) -> None:
    letters = {letter: index for index, letter in enumerate(sorted(ByteLevel.alphabet()))}
    tokenizer = Tokenizer(BPE({**letters, "ab": 256}, [("a", "b")]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.decoder = ByteLevelDecoder()
    file = tmp_path / "tokenizer.json"
    tokenizer.save(str(file))
    for path in (file, tmp_path):
        encoder = load_encoder(path, load_vocabulary(path))
        assert encoder.name == "tokenizers"
        assert encoder.encode("abb") == [256, letters["b"]]


def test_other_files_take_the_longest_token(tmp_path: Path) -> None:
    file = tmp_path / "plain.json"
    file.write_text(json.dumps({"0": "a", "1": "ab", "2": "b", "3": "bc"}))
    encoder = load_encoder(file, load_vocabulary(file))
    assert encoder.name == "longest match"
    assert encoder.encode("abbca") == [1, 3, 0]


def test_the_built_in_vocabulary_takes_bytes() -> None:
    assert load_encoder(None, Vocabulary.bytes()).encode("é") == [0xC3, 0xA9]


def test_what_no_tokens_spell_is_refused() -> None:
    with pytest.raises(VocabularyError):
        load_encoder(None, Vocabulary({0: b"a"})).encode("b")


def test_a_file_that_is_gone_is_told(tmp_path: Path) -> None:
    with pytest.raises(SourceError):
        load_encoder(tmp_path / "gone", Vocabulary.bytes())


def test_what_a_library_refuses_is_an_error_of_the_vocabulary(tmp_path: Path) -> None:
    """It raises an `Exception` and no class of its own."""
    path = tmp_path / "tokenizer.json"
    added = {"id": 2, "content": "<s>", "special": True}
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1}, "merges": []}
    path.write_text(json.dumps({"model": model, "added_tokens": [added]}))
    vocabulary = load_vocabulary(path)
    with pytest.raises(VocabularyError, match=r"tokenizer\.json: tokenizers does not accept it: "):
        vocabulary.encode("ab")


def test_a_text_that_is_none_is_refused() -> None:
    vocabulary = load_vocabulary(TEKKEN)
    with pytest.raises(VocabularyError, match="this is not text"):
        vocabulary.encode("\ud800")
    assert vocabulary.encode("\udcff") == vocabulary.encode(b"\xff")
