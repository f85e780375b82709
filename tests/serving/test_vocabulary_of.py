"""Vocabularies of tokenizer objects, beside what XGrammar and LLGuidance make of the same."""

import json
import pickle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import mistral_common
import pytest
import tiktoken
from mistral_common.tokens.tokenizers.mistral import MistralTokenizer
from mistral_common.tokens.tokenizers.tekken import Tekkenizer
from sentencepiece import SentencePieceProcessor
from tokenizers import Tokenizer, models, pre_tokenizers

from kbnf_core import Vocabulary, VocabularyError, load_vocabulary
from kbnf_testing import tokenizer_files

pytest.importorskip("llguidance", reason="llguidance is not installed (extra `peers`)")
pytest.importorskip("transformers", reason="transformers is not installed (extra `transformers`)")
pytest.importorskip("xgrammar", reason="xgrammar is not installed (extra `peers`)")

from llguidance import LLTokenizer
from llguidance.hf import from_tokenizer
from llguidance.tiktoken import lltokenizer_from_encoding
from transformers import PreTrainedTokenizerFast
from xgrammar import TokenizerInfo, VocabType

DATA = Path(mistral_common.__file__).parent / "data"
TEKKEN = sorted(path.name for path in DATA.glob("tekken*.json"))
MODELS = sorted(path.name for path in DATA.glob("*.model*"))
KINDS = sorted(tokenizer_files.tokenizers())
TRAINED = tokenizer_files.tokenizers() | tokenizer_files.without_bytes()


def fast_tokenizer(**settings: Any) -> Any:
    made: Any = PreTrainedTokenizerFast
    return made(**settings)


def ours(vocabulary: Vocabulary) -> dict[int, bytes]:
    return dict(vocabulary.tokens)


def by_llguidance(tokenizer: LLTokenizer, token_id: int) -> bytes:
    """Return a token as LLGuidance spells it, but for two bytes that it keeps for itself.

    0xFF begins its names of special tokens and is decoded as nothing; the mark of a Metaspace
    decoder stays.
    """
    data = tokenizer.decode_bytes([token_id])
    return data.replace("\u2581".encode(), b" ") or b"\xff"


@pytest.mark.parametrize("kind", sorted(TRAINED))
def test_trained_tokenizers_spell_what_the_peers_say(kind: str) -> None:
    tokenizer = TRAINED[kind]
    fast = fast_tokenizer(tokenizer_object=tokenizer)
    vocabulary = Vocabulary.of(fast)
    assert ours(vocabulary) == ours(Vocabulary.of(tokenizer))
    assert len(vocabulary) == tokenizer.get_vocab_size()
    # LLGuidance refuses what has no decoder of bytes.
    peer = from_tokenizer(fast, eos_token=0, slices=[]) if kind in KINDS else None
    decoded = TokenizerInfo.from_huggingface(fast, stop_token_ids=[0]).decoded_vocab
    added = tokenizer.get_added_tokens_decoder()
    for token_id, data in vocabulary.tokens.items():
        # An empty token is one that no peer can say anything about.
        if data and token_id not in added:
            assert peer is None or by_llguidance(peer, token_id) == data
            assert decoded[token_id] == as_xgrammar_has(kind, tokenizer, token_id, data)


def as_xgrammar_has(kind: str, tokenizer: Tokenizer, token_id: int, data: bytes) -> bytes:
    """Return what XGrammar makes of a token: WordPiece's pieces stay as they are written."""
    piece = tokenizer.id_to_token(token_id) or ""
    return piece.encode() if kind == "WordPiece" else data


@pytest.mark.parametrize("kind", sorted(TRAINED))
def test_the_library_decodes_tokens_so(kind: str) -> None:
    tokenizer = TRAINED[kind]
    vocabulary = Vocabulary.of(tokenizer)
    # In front, since what is first may lose a blank.
    first = next(i for i, data in vocabulary.tokens.items() if data.strip() == b"h")
    before = tokenizer.decode([first], skip_special_tokens=False)
    compared = 0
    for token_id, data in vocabulary.tokens.items():
        text = tokenizer.decode([first, token_id], skip_special_tokens=False)
        if "\ufffd" not in text:
            assert text.removeprefix(before).encode() == data
            compared += 1
    assert compared >= len(vocabulary.tokens) - 2 * 256


def test_word_pieces_begin_with_a_blank_or_go_on() -> None:
    tokenizer = tokenizer_files.word_piece()
    vocabulary = Vocabulary.of(tokenizer)
    spelled = {tokenizer.id_to_token(i): data for i, data in vocabulary.tokens.items()}
    assert (spelled["hello"], spelled["##o"], spelled["{"]) == (b" hello", b"o", b" {")
    assert (spelled["."], spelled["!"], spelled["<tool>"]) == (b".", b"!", b" <tool>")
    assert spelled["##ing"] == b"ing"
    assert (tokenizer.token_to_id("<|end|>") or 0) in vocabulary.special_ids
    text = "hello world, it's done!"
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert b"".join(vocabulary.tokens[each] for each in ids).decode() == " " + tokenizer.decode(ids)


@pytest.mark.parametrize("kind", KINDS)
def test_a_trained_tokenizer_cuts_texts_as_the_library_does(kind: str) -> None:
    tokenizer = tokenizer_files.tokenizers()[kind]
    vocabulary = Vocabulary.of(tokenizer)
    for text in tokenizer_files.CORPUS[:4]:
        assert vocabulary.encode(text) == tokenizer.encode(text, add_special_tokens=False).ids
        assert vocabulary.encode(text.encode()) == vocabulary.encode(text)
    with pytest.raises(VocabularyError, match=r"Vocabulary\.of"):
        Vocabulary(vocabulary.tokens).encode("a")


def test_names_of_special_tokens_in_a_text_are_text() -> None:
    vocabulary = Vocabulary.of(tokenizer_files.byte_level())
    ids = vocabulary.encode("a<|im_end|>")
    assert vocabulary.special_ids.isdisjoint(ids)
    assert b"".join(vocabulary.tokens[each] for each in ids) == b"a<|im_end|>"
    assert vocabulary.encode(b"\xff") == list(vocabulary.token_ids(b"\xff"))
    assert Vocabulary.bytes().encode("é\x00") == [0xC3, 0xA9, 0]
    assert pickle.loads(pickle.dumps(Vocabulary.bytes())).encode("a") == [97]  # noqa: S301 - pickled here


def test_a_file_cuts_texts_as_its_object_does(tmp_path: Path) -> None:
    tokenizer = tokenizer_files.byte_level()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    loaded = load_vocabulary(tmp_path)
    text = "hello token <|im_end|> {"
    assert loaded.encode(text) == Vocabulary.of(tokenizer).encode(text)
    assert loaded.fingerprint == Vocabulary.of(tokenizer).fingerprint


@pytest.mark.parametrize("name", TEKKEN)
def test_tekken_objects(name: str) -> None:
    tokenizer = Tekkenizer.from_file(DATA / name)
    vocabulary = Vocabulary.of(tokenizer)
    count = tokenizer.num_special_tokens
    assert vocabulary.fingerprint == load_vocabulary(DATA / name).fingerprint
    peer = lltokenizer_from_encoding(tokenizer._model, eos_token=0, slices=[])
    for token_id, data in vocabulary.tokens.items():
        assert by_llguidance(peer, token_id - count) == data
    assert vocabulary.encode("Hello [INST]") == tokenizer.encode("Hello [INST]", False, False)
    assert ours(Vocabulary.of(MistralTokenizer.from_file(str(DATA / name)))) == ours(vocabulary)


@pytest.mark.parametrize("name", MODELS)
def test_sentencepiece_objects(name: str) -> None:
    processor = SentencePieceProcessor(model_file=str(DATA / name))
    vocabulary = Vocabulary.of(processor)
    assert vocabulary.fingerprint == load_vocabulary(DATA / name).fingerprint
    pieces = [processor.id_to_piece(each) for each in range(processor.get_piece_size())]
    decoded = TokenizerInfo(pieces, VocabType.BYTE_FALLBACK, stop_token_ids=[2]).decoded_vocab
    assert all(decoded[token_id] == data for token_id, data in vocabulary.tokens.items())
    assert vocabulary.encode("hello world") == processor.encode("hello world")
    wrapped = MistralTokenizer.from_file(str(DATA / name))
    assert ours(Vocabulary.of(wrapped)) == ours(vocabulary)
    assert Vocabulary.of(wrapped).eos_token_ids == {2}


def test_a_tiktoken_encoding() -> None:
    ranks = {bytes([value]): value for value in range(256)} | {b"he": 256, b"ll": 257}
    encoding = tiktoken.Encoding(
        "small",
        pat_str=r"\w+|\W+",
        mergeable_ranks=ranks,
        special_tokens={"<|endoftext|>": 260, "<|fim|>": 259},
    )
    vocabulary = Vocabulary.of(encoding)
    assert ours(vocabulary) == {rank: data for data, rank in ranks.items()}
    assert vocabulary.special_tokens == {"<|endoftext|>": 260, "<|fim|>": 259}
    assert vocabulary.eos_token_ids == {260}
    assert vocabulary.encode("hello<|fim|>") == encoding.encode_ordinary("hello<|fim|>")
    peer: LLTokenizer = lltokenizer_from_encoding(encoding, slices=[])
    assert all(by_llguidance(peer, each) == data for each, data in vocabulary.tokens.items())


class _Llama:
    """The methods of ``llama_cpp.Llama`` that are used."""

    pieces = (b"", b"a", b" b", b"\xff", b"")
    names = (b"<s>", b"a", b" b", b"\xff", b"</s>")

    def n_vocab(self) -> int:
        return len(self.pieces)

    def token_eos(self) -> int:
        return 4

    def detokenize(self, tokens: list[int], special: bool = False) -> bytes:
        return b"".join((self.names if special else self.pieces)[each] for each in tokens)

    def tokenize(self, text: bytes, add_bos: bool = True, special: bool = False) -> list[int]:
        assert not add_bos
        assert not special
        return [self.pieces.index(bytes([each])) for each in text]


def test_a_llama_cpp_model() -> None:
    vocabulary = Vocabulary.of(_Llama())
    assert ours(vocabulary) == {1: b"a", 2: b" b", 3: b"\xff"}
    assert vocabulary.special_tokens == {"<s>": 0, "</s>": 4}
    assert vocabulary.eos_token_ids == {4}
    assert vocabulary.encode("aa") == [1, 1]


class _MlxWrapper:
    """What mlx-lm's ``TokenizerWrapper`` does: it hands on what it does not have."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self.eos_token_ids = {3, 5}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tokenizer, name)


def test_mlx_names_several_ends() -> None:
    fast = fast_tokenizer(tokenizer_object=tokenizer_files.byte_level())
    vocabulary = Vocabulary.of(_MlxWrapper(fast))
    assert vocabulary.eos_token_ids == {3, 5}
    assert vocabulary.size == Vocabulary.of(fast).size


def test_the_ends_are_those_that_the_object_names() -> None:
    tokenizer = tokenizer_files.byte_level()
    assert Vocabulary.of(tokenizer).eos_token_ids
    fast = fast_tokenizer(tokenizer_object=tokenizer, eos_token="<tool_call>")  # noqa: S106 - a token
    vocabulary = Vocabulary.of(fast)
    assert vocabulary.eos_token_ids == {tokenizer.token_to_id("<tool_call>")}
    assert Vocabulary.of(fast, eos=7).eos_token_ids == {7}
    assert Vocabulary.of(fast, eos=[7, 8]).eos_token_ids == {7, 8}


def test_the_width_of_the_logits_is_the_masks() -> None:
    tokenizer = tokenizer_files.byte_level()
    assert Vocabulary.of(tokenizer, size=640).size == 640
    with pytest.raises(VocabularyError, match="size"):
        Vocabulary.of(tokenizer, size=10)


def test_what_is_no_tokenizer_is_refused() -> None:
    for other in (None, 3, "gpt2", SimpleNamespace(encode=len)):
        with pytest.raises(VocabularyError, match=r"known|is a name"):
            Vocabulary.of(other)


def test_words_do_not_spell_bytes() -> None:
    tokenizer = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    assert json.loads(tokenizer.to_str())["model"]["type"] == "WordPiece"
    with pytest.raises(VocabularyError, match="WordPiece"):
        Vocabulary.of(tokenizer)
