"""Reading a vocabulary file of any known format, recognised by what is in it."""

import json
from collections.abc import Collection
from pathlib import Path

from kbnf_core.errors import SourceError, VocabularyError
from kbnf_core.files import read_up_to
from kbnf_core.vocab.cache import find_entry
from kbnf_core.vocab.loaders import rwkv, tiktoken_ranks
from kbnf_core.vocab.loaders.contents import Contents
from kbnf_core.vocab.loaders.huggingface import is_huggingface, read_huggingface
from kbnf_core.vocab.loaders.plain_json import is_plain_json, read_plain_json
from kbnf_core.vocab.loaders.sentencepiece_model import read_sentencepiece
from kbnf_core.vocab.loaders.tekken import is_tekken, read_tekken
from kbnf_core.vocab.vocabulary import Vocabulary

FORMATS = (
    "Hugging Face tokenizer.json",
    ".tiktoken ranks",
    "tekken JSON",
    "SentencePiece .model",
    "RWKV's vocabulary text",
    'plain JSON {"ID": "text" | [byte, ...]}',
)

_USUAL_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model")

_LARGEST_FILE = 2**29
"""Bytes; the largest tokenizer.json known to us has some 35 million."""


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
    file = _file_of(Path(path))
    entry = find_entry(file, eos) if cached else None
    if entry is None:
        return _load(file, eos)
    vocabulary = entry.recall()
    if vocabulary is None:
        vocabulary = _load(file, eos)
        entry.keep(vocabulary)
    return vocabulary


def _load(file: Path, eos: Collection[int] | None) -> Vocabulary:
    data = _read(file)
    try:
        contents = _contents(data, file.parent)
        return Vocabulary(
            contents.tokens,
            special_tokens=contents.special_tokens,
            eos_token_id=contents.eos if eos is None else eos,
            name=file.name,
        )
    except VocabularyError as error:
        raise VocabularyError(f"{file}: {error}") from None


def _file_of(path: Path) -> Path:
    if not path.is_dir():
        return path
    for name in _USUAL_NAMES:
        if (path / name).is_file():
            return path / name
    raise VocabularyError(f"{path} is a folder without {', '.join(_USUAL_NAMES)}")


def _read(path: Path) -> bytes:
    data = read_up_to(path, _LARGEST_FILE + 1)
    if len(data) > _LARGEST_FILE:
        raise SourceError(str(path), f"more than {_LARGEST_FILE} bytes are no vocabulary")
    return data


def _contents(data: bytes, folder: Path) -> Contents:
    text = _as_text(data)
    if text is None:
        # A model starts with its first piece: field 1 of the protocol buffer.
        return read_sentencepiece(data) if data.startswith(b"\n") else _unknown("binary data")
    first_line = text.strip().partition("\n")[0].strip()
    if first_line.startswith(("{", "[")):
        return _from_json(text, folder)
    if rwkv.LINE.fullmatch(first_line):
        return rwkv.read_rwkv(text)
    if tiktoken_ranks.LINE.fullmatch(first_line):
        return tiktoken_ranks.read_tiktoken(text)
    return _unknown(f"a text starting with {first_line[:40]!r}" if first_line else "empty")


def _as_text(data: bytes) -> str | None:
    """Return the text of a text file, None if it is binary."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _from_json(text: str, folder: Path) -> Contents:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise VocabularyError(f"damaged or cut off JSON: {error}") from None
    if not isinstance(document, dict):
        return _unknown("a JSON list")
    if is_huggingface(document):
        return read_huggingface(document, folder)
    if is_tekken(document):
        return read_tekken(document)
    if is_plain_json(document):
        return read_plain_json(document)
    return _unknown(f"a JSON object with the keys {', '.join(list(document)[:4])}")


def _unknown(found: str) -> Contents:
    raise VocabularyError(f"not a vocabulary ({found}); known formats: {'; '.join(FORMATS)}")
