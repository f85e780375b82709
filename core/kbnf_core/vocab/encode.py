"""Text to token ids, as a vocabulary's own tokenizer writes it.

Files that only list tokens say nothing of how a text is cut; for them the longest token that
stands at each place is taken, which is what RWKV's tokenizer does too.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from kbnf_core.errors import MissingExtraError, SourceError, VocabularyError
from kbnf_core.vocab.loaders.huggingface import is_huggingface
from kbnf_core.vocab.loaders.tekken import is_tekken
from kbnf_core.vocab.spell import longest_tokens
from kbnf_core.vocab.vocabulary import Vocabulary

_Encode: TypeAlias = Callable[[str], list[int]]


@dataclass(frozen=True, slots=True)
class Encoder:
    """``encode`` gives the ids of a text, without special tokens around it; ``name`` says how."""

    name: str
    encode: _Encode


def load_encoder(path: Path | None, vocabulary: Vocabulary) -> Encoder:
    """Return the tokenizer in the file that ``vocabulary`` was read from; None is no file.

    Raises ``MissingExtraError`` where its library is not installed, ``SourceError`` and
    ``VocabularyError`` where the file is not what it was.
    """
    data = b"" if path is None else _read(path)
    if data.startswith(b"\n"):
        return Encoder("sentencepiece", _sentencepiece(data))
    document = _as_json(data)
    if is_huggingface(document):
        return Encoder("tokenizers", _huggingface(data.decode("utf-8-sig")))
    if path is not None and is_tekken(document):
        return Encoder("mistral-common", _tekken(path))
    return Encoder("longest match", _longest(vocabulary))


def _read(path: Path) -> bytes:
    file = path / "tokenizer.json" if path.is_dir() else path
    try:
        return file.read_bytes()
    except OSError as error:
        raise SourceError(str(file), error.strerror or str(error)) from None


def _as_json(data: bytes) -> dict[str, object]:
    try:
        document = json.loads(data) if data.lstrip().startswith(b"{") else {}
    except (ValueError, RecursionError):
        return {}
    return document if isinstance(document, dict) else {}


def _huggingface(text: str) -> _Encode:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("this tokenizer", "tokenizers") from None
    tokenizer = Tokenizer.from_str(text)
    return lambda words: list(tokenizer.encode(words, add_special_tokens=False).ids)


def _tekken(path: Path) -> _Encode:
    try:
        from mistral_common.tokens.tokenizers.tekken import Tekkenizer
    except ImportError:
        raise MissingExtraError("this tokenizer", "mistral") from None
    tokenizer = Tekkenizer.from_file(path)
    return lambda words: tokenizer.encode(words, bos=False, eos=False)


def _sentencepiece(data: bytes) -> _Encode:
    try:
        from sentencepiece import SentencePieceProcessor
    except ImportError:
        raise MissingExtraError("this tokenizer", "sentencepiece") from None
    processor = SentencePieceProcessor(model_proto=data)
    return lambda words: list(processor.encode(words))


def _longest(vocabulary: Vocabulary) -> _Encode:
    def encode(words: str) -> list[int]:
        tokens = longest_tokens(vocabulary.trie, words.encode("utf-8", "surrogateescape"))
        if tokens is None:
            raise VocabularyError("no tokens of the vocabulary spell this text")
        return list(tokens)

    return encode
