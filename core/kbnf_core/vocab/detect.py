"""The formats of vocabulary files, and their detection by content."""

from pathlib import Path
from typing import NoReturn

from kbnf_core.errors import SourceError, VocabularyError
from kbnf_core.files import opened
from kbnf_core.vocab.formats import (
    gguf_metadata,
    huggingface,
    plain_json,
    rwkv,
    sentencepiece_model,
    tekken,
    tiktoken_ranks,
)
from kbnf_core.vocab.formats.format import LARGE_MAGIC, Format, VocabularyFile

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
