"""Reading a vocabulary file of any known format, detected by content, and its tokenizer.

Files that only list tokens say nothing of how a text is cut; for them the longest token that
is at each place is taken, which is what RWKV's tokenizer does too.

Tests: tests/unit/vocab/test_encode.py, tests/unit/vocab/test_load.py
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from kbnf_core.text.errors import KbnfError, SourceError, VocabularyError
from kbnf_core.text.files import opened
from kbnf_core.vocab.byte_pairs import BytePairs, refused
from kbnf_core.vocab.files import file_of
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

_LARGEST_FILE = 2**29
"""Bytes; the largest tokenizer.json known to us has some 35 million."""


def detect(path: Path) -> tuple[Format, VocabularyFile]:
    """Return the format of a file, or of the one in a folder, and the file as it was read.

    Raises ``SourceError`` if it cannot be read, ``VocabularyError`` if it is of no known format.
    """
    path = file_of(path)
    file = VocabularyFile(path, _read(path))
    try:
        result = next((format_ for format_ in FORMATS if format_.fits(file)), None)
        return (result, file) if result is not None else _unknown(file)
    except VocabularyError as error:
        raise _named(path, str(error)) from None


_LONGEST_REASON = 400
"""Characters: damaged files have names and keys of any length, which messages repeat."""


def _named(path: Path, reason: str) -> VocabularyError:
    """Return the error of a file."""
    is_long = len(reason) > _LONGEST_REASON
    return VocabularyError(f"{path}: {reason[:_LONGEST_REASON]}{'...' if is_long else ''}")


def _read(path: Path) -> bytes:
    with opened(path) as file:
        data = file.read(len(LARGE_MAGIC))
        if data == LARGE_MAGIC:
            return data
        data += file.read(_LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise SourceError(str(path), f"more than {_LARGEST_FILE} bytes are not a vocabulary")
    return data


def _unknown(file: VocabularyFile) -> NoReturn:
    formats = "; ".join(format_.name for format_ in FORMATS)
    raise VocabularyError(f"not a vocabulary ({_described(file)}); known formats: {formats}")


def _described(file: VocabularyFile) -> str:
    if file.text is None:
        return "binary data"
    if file.members:
        return f"a JSON object with the keys {', '.join(list(file.members)[:4])}"
    if file.document is not None:
        return "a JSON list"
    return f"a text starting with {file.first_line[:40]!r}" if file.first_line else "empty"


def read_vocabulary(path: Path, eos: Collection[int] | None) -> Vocabulary:
    """Return the vocabulary in a file; ``eos`` None stands for the stop ids that it names.

    Raises what ``detect`` does, and ``MissingExtraError`` if a library is not installed.
    """
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
        raise _named(path, str(error)) from None


@dataclass(frozen=True, slots=True)
class Encoder:
    """``encode`` gives the ids of a text, without special tokens around it; ``name`` says how."""

    name: str
    encode: Encode


def load_encoder(path: Path | None, vocabulary: Vocabulary) -> Encoder:
    """Return the tokenizer in the file, or folder, that ``vocabulary`` was read from.

    ``path`` is None without a file. Raises ``MissingExtraError`` where its library is not
    installed, ``SourceError`` and ``VocabularyError`` where the file has changed, or the library
    does not accept it; so does ``encode``.
    """
    if path is not None:
        format_, file = detect(path)
        if format_.encoder is not None:
            with _reported(path, format_.tokenizer):
                encode = format_.encoder(file)

            def encode_words(words: str) -> list[int]:
                with _reported(path, format_.tokenizer):
                    return encode(words)

            return Encoder(format_.tokenizer, encode_words)
    return Encoder("longest match", _longest(vocabulary))


def load_pairs(path: Path, tokens: Mapping[int, bytes]) -> BytePairs:
    """Return the merges of the tokenizer in the file, or folder, of these tokens.

    Raises ``ConfigError`` where it merges no byte pairs, and what ``load_encoder`` raises.
    """
    format_, file = detect(path)
    if format_.pairs is None:
        raise refused(f"a file of {format_.name} does not say how texts are cut")
    with _reported(path, format_.tokenizer):
        return format_.pairs(file, tokens)


@contextmanager
def _reported(path: Path, library: str) -> Iterator[None]:
    """Turn the exceptions of a library, of any class, into ``VocabularyError``."""
    try:
        yield
    except KbnfError:
        raise
    except Exception as error:
        raise _named(path, f"{library} does not accept it: {error}") from error


def _longest(vocabulary: Vocabulary) -> Encode:
    from kbnf_core.vocab.trie import longest_match

    return lambda words: longest_match(vocabulary.trie, words.encode("utf-8", "surrogateescape"))
