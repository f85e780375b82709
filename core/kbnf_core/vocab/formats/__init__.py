"""One module per vocabulary format, and their shared code: a format, its result, its stop ids.

Only ``kbnf_core.vocab.read`` reads the vocabulary file and decides which of these it is for.

Tests: tests/unit/vocab/test_load_gguf.py
"""

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from kbnf_core.text.errors import MissingExtraError, VocabularyError
from kbnf_core.text.files import read_file
from kbnf_core.text.locks import cached_property
from kbnf_core.vocab.byte_pairs import BytePairs
from kbnf_core.vocab.files import FILES_BESIDE

_T = TypeVar("_T")

_KINDS = {dict: "an object", list: "a list", str: "a string", int: "an integer"}


@dataclass(frozen=True, slots=True)
class FileContents:
    """The contents of a vocabulary file, before any override.

    ``tokens``: id to bytes. ``special_tokens``: text to id. ``eos``: the ids that end a sequence.
    """

    tokens: dict[int, bytes]
    special_tokens: dict[str, int] = field(default_factory=dict)
    eos: Collection[int] = ()


def library(name: str, extra: str, user: str = "this tokenizer") -> Any:
    """Return an optional library; raises ``MissingExtraError`` where it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtraError(user, extra) from None


def expect(value: object, kind: type[_T], subject: str) -> _T:
    """Return the value if it is of that kind; else ``VocabularyError`` names it as ``subject``."""
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    raise VocabularyError(f"{subject} should be {_KINDS[kind]}, not {_described(value)}")


def encode(text: str, subject: str) -> bytes:
    """Return the UTF-8 of a text; ``VocabularyError`` if it has lone surrogates."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise VocabularyError(f"{subject} has half of a surrogate pair: {text[:40]!r}") from None


def _described(value: object) -> str:
    return "missing" if value is None else repr(value)[:40]


LARGE_MAGIC = b"GGUF"
"""The first bytes of files that contain models: of these no more is read until it is asked for."""

Encode: TypeAlias = Callable[[str], list[int]]
"""Returns the ids of a text, without special tokens around it."""


@dataclass(frozen=True)
class VocabularyFile:
    """A file that may be a vocabulary, and its content as the formats look at it.

    ``data`` is all of it, or ``LARGE_MAGIC`` where it begins so.
    """

    path: Path
    data: bytes

    @cached_property
    def text(self) -> str | None:
        """The text of a text file, None if it is binary."""
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
        return None if "\0" in text else text

    @cached_property
    def first_line(self) -> str:
        """The first line that is not blank, without the blanks around it."""
        return (self.text or "").strip().partition("\n")[0].strip()

    @cached_property
    def document(self) -> object:
        """The JSON value in it, None if it is not JSON; ``VocabularyError`` for damaged JSON."""
        if self.text is None or not self.first_line.startswith(("{", "[")):
            return None
        try:
            return json.loads(self.text)
        except RecursionError:
            raise VocabularyError("not a vocabulary: its JSON is nested too deeply") from None
        except ValueError as error:
            raise VocabularyError(f"damaged or cut off JSON: {error}") from None

    @property
    def members(self) -> dict[str, object]:
        """The members of the JSON object in it; none where it contains something else."""
        return self.document if isinstance(self.document, dict) else {}


@dataclass(frozen=True, slots=True)
class Format:
    """A format of vocabulary files.

    ``fits`` says whether a file is of it, where none before it in ``FORMATS`` does. ``read``
    returns the tokens. ``tokenizer`` is the name of the library whose tokenizer ``encoder`` makes
    from a file, and ``pairs`` returns what it merges, given the tokens; formats that only list
    tokens have none of them.
    """

    name: str
    fits: Callable[[VocabularyFile], bool]
    read: Callable[[VocabularyFile], FileContents]
    tokenizer: str = ""
    encoder: Callable[[VocabularyFile], Encode] | None = None
    pairs: Callable[[VocabularyFile, Mapping[int, bytes]], BytePairs] | None = None


_LARGEST = 2**26
"""Bytes of such a file; they have some thousands."""

_COMMON_NAMES = (
    "</s>",
    "<eos>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<end_of_turn>",
    "<\uff5cend\u2581of\u2581sentence\uff5c>",
)


def stop_ids(folder: Path, names: Mapping[str, int], special: Mapping[str, int]) -> frozenset[int]:
    """Return the ids that the files beside a ``tokenizer.json`` name, all of them together.

    ``generation_config.json`` has ids; ``tokenizer_config.json`` and ``special_tokens_map.json``
    have a text that ``names`` (text to id) knows. If they name none: those of ``special`` that
    usually end a sequence. ``VocabularyError`` if such a file is damaged.
    """
    with_ids, *with_names = (folder / name for name in FILES_BESIDE)
    ids = {
        *_configured_ids(with_ids),
        *(token_id for file in with_names for token_id in _configured_names(file, names)),
    }
    return frozenset(ids) or common_stop_ids(special)


def common_stop_ids(special: Mapping[str, int]) -> frozenset[int]:
    """Return the ids of the special tokens whose names usually end a sequence."""
    return frozenset(special[name] for name in _COMMON_NAMES if name in special)


def _configured_ids(path: Path) -> Iterator[int]:
    value = _read_object(path).get("eos_token_id")
    if value is None:
        return
    for token_id in value if isinstance(value, list) else [value]:
        yield expect(token_id, int, f"eos_token_id in {path.name}")


def _configured_names(path: Path, names: Mapping[str, int]) -> Iterator[int]:
    value = _read_object(path).get("eos_token")
    text = value.get("content") if isinstance(value, dict) else value
    if isinstance(text, str) and text in names:
        yield names[text]


def _read_object(path: Path) -> dict[str, object]:
    if not path.is_file():
        return {}
    try:
        document = json.loads(read_file(path, _LARGEST))
    except (OSError, ValueError, RecursionError) as error:
        raise VocabularyError(f"{path.name} beside it cannot be read: {error}") from None
    return expect(document, dict, f"{path.name} beside it")
