"""Reading a vocabulary file of any known format, detected by content, and its tokenizer.

Files that only list tokens say nothing of how a text is cut; for them the longest token that
stands at each place is taken, which is what RWKV's tokenizer does too.
"""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from kbnf_core.errors import SourceError, VocabularyError
from kbnf_core.files import opened
from kbnf_core.vocab.cache import find_entry
from kbnf_core.vocab.formats import (
    LARGE_MAGIC,
    Encode,
    Format,
    VocabularyFile,
    gguf_metadata,
    huggingface,
    plain_json,
    rwkv,
    sentencepiece_model,
    tekken,
    tiktoken_ranks,
)
from kbnf_core.vocab.vocabulary import Vocabulary

FORMATS: tuple[Format, ...] = (
    huggingface.FORMAT,
    tiktoken_ranks.FORMAT,
    tekken.FORMAT,
    sentencepiece_model.FORMAT,
    rwkv.FORMAT,
    plain_json.FORMAT,
    gguf_metadata.FORMAT,
)

_USUAL_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model")

_LARGEST_FILE = 2**29
"""Bytes; the largest tokenizer.json known to us has some 35 million."""


def file_of(path: Path) -> Path:
    """Return the vocabulary file in a folder, or ``path`` itself where that is none."""
    if not path.is_dir():
        return path
    for name in _USUAL_NAMES:
        if (path / name).is_file():
            return path / name
    raise VocabularyError(f"{path} is a folder without {', '.join(_USUAL_NAMES)}")


def detect(path: Path) -> tuple[Format, VocabularyFile]:
    """Return the format of a file, or of the one in a folder, and the file as it was read.

    Raises ``SourceError`` if it cannot be read, ``VocabularyError`` if it is of no known format.
    """
    path = file_of(path)
    file = VocabularyFile(path, _read(path))
    try:
        found = next((each for each in FORMATS if each.fits(file)), None)
        return (found, file) if found is not None else _unknown(file)
    except VocabularyError as error:
        raise VocabularyError(f"{path}: {error}") from None


def _read(path: Path) -> bytes:
    with opened(path) as file:
        data = file.read(len(LARGE_MAGIC))
        if data == LARGE_MAGIC:
            return data
        data += file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise SourceError(str(path), f"more than {_LARGEST_FILE} bytes are no vocabulary")
    return data


def _unknown(file: VocabularyFile) -> NoReturn:
    known = "; ".join(each.name for each in FORMATS)
    raise VocabularyError(f"not a vocabulary ({_described(file)}); known formats: {known}")


def _described(file: VocabularyFile) -> str:
    if file.text is None:
        return "binary data"
    if file.members:
        return f"a JSON object with the keys {', '.join(list(file.members)[:4])}"
    if file.document is not None:
        return "a JSON list"
    return f"a text starting with {file.first_line[:40]!r}" if file.first_line else "empty"


def load_vocabulary(
    path: str | Path, eos: Collection[int] | None = None, *, cached: bool = True
) -> Vocabulary:
    """Read a vocabulary from a file, or from a folder that holds a ``tokenizer.json``.

    ``eos`` overrides the stop ids that the file (or a file beside it) names. Unless ``cached`` is
    false, a large vocabulary is kept on disk, with its trie, and taken from there as long as its
    file does not change (see ``vocab.cache``). Raises ``SourceError`` if the file cannot be read,
    ``VocabularyError`` if it is not a vocabulary, ``MissingExtraError`` if a library is needed
    that is not installed.
    """
    file = file_of(Path(path))
    entry = find_entry(file, eos) if cached else None
    vocabulary = entry.recall() if entry else None
    if vocabulary is None:
        vocabulary = _load(file, eos)
        if entry:
            entry.keep(vocabulary)
    vocabulary._encode = _encode_as(file, vocabulary)
    return vocabulary


def _encode_as(file: Path, vocabulary: Vocabulary) -> Encode:
    """Return what cuts texts as the tokenizer in ``file`` does, which is read at first use."""

    @cache
    def encoder() -> Encode:

        return load_encoder(file, vocabulary).encode

    def encode(words: str) -> list[int]:
        return encoder()(words)

    return encode


def _load(path: Path, eos: Collection[int] | None) -> Vocabulary:
    format_, file = detect(path)
    try:
        contents = format_.read(file)
        return Vocabulary(
            contents.tokens,
            special_tokens=contents.special_tokens,
            eos_token_id=contents.eos if eos is None else eos,
            name=path.name,
        )
    except VocabularyError as error:
        raise VocabularyError(f"{path}: {error}") from None


@dataclass(frozen=True, slots=True)
class Encoder:
    """``encode`` gives the ids of a text, without special tokens around it; ``name`` says how."""

    name: str
    encode: Encode


def load_encoder(path: Path | None, vocabulary: Vocabulary) -> Encoder:
    """Return the tokenizer in the file, or folder, that ``vocabulary`` was read from.

    ``path`` None is no file. Raises ``MissingExtraError`` where its library is not installed,
    ``SourceError`` and ``VocabularyError`` where the file is not what it was.
    """
    if path is not None:
        format_, file = detect(path)
        if format_.encoder is not None:
            return Encoder(format_.tokenizer, format_.encoder(file))
    return Encoder("longest match", _longest(vocabulary))


def _longest(vocabulary: Vocabulary) -> Encode:
    return lambda words: longest_match(vocabulary, words.encode("utf-8", "surrogateescape"))


def longest_match(vocabulary: Vocabulary, data: bytes) -> list[int]:
    """Return the longest token at each position (greedy); ``VocabularyError`` if none spell it."""
    from kbnf_core.vocab.trie import longest_tokens

    tokens = longest_tokens(vocabulary.trie, data)
    if tokens is None:
        raise VocabularyError("no tokens of the vocabulary spell this text")
    return list(tokens)
