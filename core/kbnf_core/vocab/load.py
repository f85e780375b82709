"""Reading a vocabulary file of any known format, detected by content, and its tokenizer.

Files that only list tokens say nothing of how a text is cut; for them the longest token that
is at each place is taken, which is what RWKV's tokenizer does too.

Models are found by name in the local cache of Hugging Face's libraries; nothing is ever downloaded.
The cache holds ``models--OWNER--NAME/snapshots/COMMIT/FILES``, and in ``refs/main`` the commit of
the branch (``huggingface_hub``, "Understand caching").
"""

import os
import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NoReturn

from kbnf_core.text.errors import KbnfError, SourceError, VocabularyError
from kbnf_core.text.files import opened, read_up_to
from kbnf_core.vocab.cache import Entry, find_entry
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

    A name that is no path is that of a model in Hugging Face's local cache; nothing is downloaded.
    ``eos`` overrides the stop ids that the file (or a file beside it) names. Unless ``cached`` is
    false, a large vocabulary is kept on disk, with its trie, and taken from there as long as its
    file does not change (see ``vocab.cache``). Raises ``SourceError`` if the file cannot be read,
    ``VocabularyError`` if it is not a vocabulary, ``MissingExtraError`` if a library is needed
    that is not installed.
    """
    found = None if os.path.lexists(path) else cached_vocabulary(str(path))
    file = file_of(Path(path) if found is None else found)
    entry = find_entry(file, eos) if cached else None
    vocabulary = _recalled(entry) if entry else None
    if vocabulary is None:
        vocabulary = _load(file, eos)
        if entry:
            _keep(vocabulary, entry)
    vocabulary.entry = entry
    vocabulary._encode = _encode_as(file, vocabulary)
    return vocabulary


def _recalled(entry: Entry) -> Vocabulary | None:
    from kbnf_core.vocab.stored import from_arrays

    return entry.recall(from_arrays)


def _keep(vocabulary: Vocabulary, entry: Entry) -> None:
    from kbnf_core.vocab.stored import to_arrays

    entry.keep(to_arrays(vocabulary))


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
    ``SourceError`` and ``VocabularyError`` where the file is not what it was, or the library does
    not take it; so does ``encode``.
    """
    if path is not None:
        format_, file = detect(path)
        if format_.encoder is not None:
            with _told(path, format_.tokenizer):
                encode = format_.encoder(file)

            def told(words: str) -> list[int]:
                with _told(path, format_.tokenizer):
                    return encode(words)

            return Encoder(format_.tokenizer, told)
    return Encoder("longest match", _longest(vocabulary))


@contextmanager
def _told(path: Path, library: str) -> Iterator[None]:
    """Turn what a library raises, of whatever class, into ``VocabularyError``."""
    try:
        yield
    except KbnfError:
        raise
    except Exception as error:
        raise VocabularyError(f"{path}: {library} does not take it: {error}") from error


def _longest(vocabulary: Vocabulary) -> Encode:
    from kbnf_core.vocab.trie import longest_match

    return lambda words: longest_match(vocabulary.trie, words.encode("utf-8", "surrogateescape"))


_NAME = re.compile(r"[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)?", re.ASCII)
_FOLDER = "models--"
_COMMIT = re.compile(r"[0-9a-f]{1,64}", re.ASCII)


def hub_folder() -> Path:
    """Return where the cache is, whether it is there or not."""
    for variable, below in (
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
    ):
        value = os.environ.get(variable)
        if value:
            return Path(value).expanduser() / below
    return Path("~/.cache/huggingface/hub").expanduser()


def cached_models() -> list[str]:
    """Return the names of the models in the cache that have a tokenizer, sorted."""
    try:
        folders = [each.name for each in hub_folder().iterdir()]
    except OSError:
        return []
    names = (each.removeprefix(_FOLDER).replace("--", "/", 1) for each in sorted(folders))
    return [name for name in names if cached_vocabulary(name) is not None]


def cached_vocabulary(name: str) -> Path | None:
    """Return the vocabulary's file of a model, that of its branch first; None if there is none."""
    if _NAME.fullmatch(name) is None:
        return None
    model = hub_folder() / f"{_FOLDER}{name.replace('/', '--')}"
    for snapshot in _snapshots(model):
        try:
            return file_of(snapshot)
        except VocabularyError:
            continue
    return None


def _snapshots(model: Path) -> Iterator[Path]:
    folder = model / "snapshots"
    try:
        main = read_up_to(model / "refs" / "main", 100).decode("ascii").strip()
        if _COMMIT.fullmatch(main) and (folder / main).is_dir():
            yield folder / main
    except (OSError, ValueError):
        pass
    try:
        others = sorted(folder.iterdir(), key=lambda each: (-each.stat().st_mtime, each.name))
    except OSError:
        return
    yield from (each for each in others if each.is_dir())
