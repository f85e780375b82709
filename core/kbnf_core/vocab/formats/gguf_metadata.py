"""GGUF, the files of llama.cpp's models: the tokenizer in the metadata before the tensors.

A header (``GGUF``, a version, two counts) is followed by keys with typed values, little-endian;
``docs/gguf.md`` of ggml describes them. Tensors are never read, so a file may have any size; values
of keys that nothing here uses are passed over, also since a sparse file has gigabytes of them for
nothing.
``tokenizer.ggml.model`` says how tokens are spelled, as llama.cpp's ``token_to_piece`` does:
``gpt2`` in GPT-2's alphabet of bytes, ``llama`` and ``t5`` with U+2581 for a space.
``tokenizer.ggml.token_type`` says what a token is: control and unknown tokens have no text, unused
ones are never to be produced, and all three are special here. User-defined tokens are their text.

Tests: tests/unit/vocab/test_load_gguf.py
"""

import struct
from collections.abc import Collection, Mapping
from os import SEEK_CUR, SEEK_END
from pathlib import Path
from typing import Any, BinaryIO

from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.files import opened
from kbnf_core.vocab.byte_pairs import BytePairs, cut_by, named_merges, refused
from kbnf_core.vocab.formats import (
    LARGE_MAGIC,
    Encode,
    FileContents,
    Format,
    VocabularyFile,
    common_stop_ids,
    encode,
    expect,
    library,
)
from kbnf_core.vocab.formats.huggingface import SPACE_MARK, PieceSpelling

_PREFIX = "tokenizer.ggml."
_VERSIONS = (2, 3)
_SPELLINGS = {
    "gpt2": PieceSpelling(byte_level=True),
    "llama": PieceSpelling(((SPACE_MARK, " "),)),
    "t5": PieceSpelling(((SPACE_MARK, " "),)),
}
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_SPECIAL = {_UNKNOWN, _CONTROL, _UNUSED}
_STOPS = ("eos_token_id", "eot_token_id", "eom_token_id")

_NUMBERS = dict(enumerate("BbHhIif?", 0)) | {10: "Q", 11: "q", 12: "d"}
"""The types of numbers, as ``struct`` names them."""

_STRING, _ARRAY = 8, 9

_USED = frozenset(("model", "tokens", "token_type", *_STOPS))
"""The keys that are read, without their prefix."""

_OF_PAIRS = _USED | {"merges", "scores", "pre"}
"""Keys that are read for the rules of merging."""

_GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

_PRETOKENIZERS = {
    "gpt-2": (_GPT2,),
    "smollm": (r"\p{N}", _GPT2),
    "qwen2": (
        r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
        r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
}
"""By ``tokenizer.ggml.pre``: the file has the name alone."""

_LARGEST_TEXT = 2**24
_LARGEST_KEY = 2**16
_LARGEST_LIST = 2**24
_LARGEST_COUNT = 2**16
"""Bytes of a text and of a key, values of a list, and keys, beyond which a file is damaged."""

LARGEST_VALUES = 2**22
"""Texts and numbers that are looked at one by one in a file: tokens, their types, merges."""

LARGEST_BYTES = 2**26
"""Bytes of all texts that are read of a file."""


def read_gguf(path: Path) -> FileContents:
    """Return the tokens; ``VocabularyError`` names the key that is wrong, or the damage."""
    with opened(path) as file:
        metadata = _MetadataReader(file).metadata(_USED)
    return _contents(metadata)


def gguf_pairs(path: Path, tokens: Mapping[int, bytes]) -> BytePairs:
    """Return the merges of the tokenizer, given its tokens; ``ConfigError`` if not known."""
    with opened(path) as file:
        metadata = _MetadataReader(file).metadata(_OF_PAIRS)
    model, kinds = metadata["model"], metadata.get("token_type") or []
    fallback = {token: tokens[token][0] for token in tokens if kinds and kinds[token] == _BYTE}
    merged = {
        token_id: data
        for token_id, data in tokens.items()
        if token_id not in fallback and not (kinds and kinds[token_id] == _USER_DEFINED)
    }
    if model == "llama" and "scores" in metadata:
        ranks = {token_id: round(-metadata["scores"][token_id]) for token_id in merged}
        return BytePairs(merged, None, ranks, characters=True, fallback=fallback)
    if model != "gpt2" or "merges" not in metadata:
        raise refused(f"this GGUF has a model of kind {model}")
    named = {text: token_id for token_id, text in enumerate(metadata["tokens"])}
    patterns = _PRETOKENIZERS.get(metadata.get("pre", ""))
    if patterns is None:
        names = ", ".join(_PRETOKENIZERS)
        raise refused(
            f"this GGUF names the pretokenizer {metadata.get('pre')}, of which the expressions are"
            f" not known (known: {names}); load the `tokenizer.json` of the model"
        )
    return BytePairs(merged, named_merges(metadata["merges"], named), cut=cut_by(patterns))


def _contents(metadata: Mapping[str, Any]) -> FileContents:
    model = metadata.get("model")
    spelling = _SPELLINGS.get(model) if isinstance(model, str) else None
    if spelling is None:
        models = ", ".join(_SPELLINGS)
        raise VocabularyError(
            f"{_PREFIX}model is {str(model)[:40]}, whose tokens are not known to spell bytes; "
            f"known are {models}"
        )
    entries = expect(metadata.get("tokens"), list, f"{_PREFIX}tokens")
    kinds = expect(
        metadata.get("token_type") or [_NORMAL] * len(entries), list, f"{_PREFIX}token_type"
    )
    if len(kinds) != len(entries):
        raise VocabularyError(f"{len(entries)} tokens have {len(kinds)} entries in token_type")
    tokens: dict[int, bytes] = {}
    special: dict[str, int] = {}
    eos = _stops(metadata, len(entries))
    for token_id, (entry, kind) in enumerate(zip(entries, kinds, strict=True)):
        text = expect(entry, str, f"{_PREFIX}tokens[{token_id}]")
        if kind in _SPECIAL or token_id in eos:
            special[text] = token_id
        else:
            tokens[token_id] = _spelled(text, kind, token_id, spelling)
    return FileContents(tokens, special, eos or common_stop_ids(special))


def _spelled(text: str, kind: int, token_id: int, spelling: PieceSpelling) -> bytes:
    if kind == _BYTE:
        data = PieceSpelling(byte_fallback=True).added(text)
        if len(data) != 1:
            raise VocabularyError(f"token {token_id} should be a byte <0xNN>, not {text[:40]!r}")
        return data
    if kind == _USER_DEFINED:
        return encode(text, f"token {token_id}")
    return spelling.spelled(text)


def _stops(metadata: Mapping[str, Any], count: int) -> frozenset[int]:
    result = set()
    for key in _STOPS:
        if key in metadata:
            token_id = expect(metadata[key], int, f"{_PREFIX}{key}")
            if not 0 <= token_id < count:
                raise VocabularyError(f"{_PREFIX}{key} is {token_id}, and there are {count} tokens")
            result.add(token_id)
    return frozenset(result)


class _MetadataReader:
    """Reads the header of a file, piece by piece, and keeps to the bounds of a whole file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._left = file.seek(0, SEEK_END)
        file.seek(0)
        self._values = 0
        self._bytes = 0

    def metadata(self, used: Collection[str]) -> dict[str, Any]:
        """Return the values of the tokenizer's keys that are used, without their prefix."""
        if self._take(4) != LARGE_MAGIC:
            raise VocabularyError("no GGUF")
        version = self._number("I")
        if version not in _VERSIONS:
            versions = " and ".join(map(str, _VERSIONS))
            raise VocabularyError(f"GGUF of version {version} (known: {versions}, little-endian)")
        self._number("Q")
        values = {}
        for _ in range(self._count(_LARGEST_COUNT, "keys")):
            key = self._text(_LARGEST_KEY, "bytes of a key")
            kind = self._number("I")
            name = key.removeprefix(_PREFIX)
            if name in used and name != key:
                values[name] = self._value(kind, key)
            else:
                self._pass_over(kind, key)
        return values

    def _value(self, kind: int, key: str) -> Any:
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            return self._numbers(kind, 1, key)[0]
        of, count = self._array(key)
        self._look_at(count)
        return (
            [self._text() for _ in range(count)] if of == _STRING else self._numbers(of, count, key)
        )

    def _pass_over(self, kind: int, key: str) -> None:
        count = 1
        if kind == _ARRAY:
            kind, count = self._array(key)
        if kind != _STRING:
            self._skip(count * _size(kind, key))
            return
        self._look_at(count)
        for _ in range(count):
            self._skip(self._count(_LARGEST_TEXT, "bytes of a text"))

    def _array(self, key: str) -> tuple[int, int]:
        """Return the type of the values of an array, and how many there are."""
        return self._number("I"), self._count(_LARGEST_LIST, f"values of {key[:40]}")

    def _numbers(self, kind: int, count: int, key: str) -> list[Any]:
        data = self._take(count * _size(kind, key))
        return list(struct.unpack(f"<{count}{_NUMBERS[kind]}", data))

    def _text(self, largest: int = _LARGEST_TEXT, counted: str = "bytes of a text") -> str:
        count = self._count(largest, counted)
        self._bytes += count
        if self._bytes > LARGEST_BYTES:
            raise VocabularyError(f"damaged GGUF: more than {LARGEST_BYTES:,} bytes of texts")
        data = self._take(count)
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            # Invalid UTF-8 in a description does not matter; in a token it is reported where the
            # token is spelled.
            return data.decode("utf-8", "surrogateescape")

    def _look_at(self, count: int) -> None:
        """Count values that are looked at one by one."""
        self._values += count
        if self._values > LARGEST_VALUES:
            raise VocabularyError(f"damaged GGUF: more than {LARGEST_VALUES:,} texts and numbers")

    def _count(self, largest: int, counted: str) -> int:
        count = self._number("Q")
        if count > largest:
            raise VocabularyError(f"damaged GGUF: {count} {counted}")
        return count

    def _number(self, form: str) -> int:
        number: int = struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))[0]
        return number

    def _take(self, count: int) -> bytes:
        self._use(count)
        return self._file.read(count)

    def _skip(self, count: int) -> None:
        self._use(count)
        self._file.seek(count, SEEK_CUR)

    def _use(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise VocabularyError("damaged GGUF: it is cut off")


def _size(kind: int, key: str) -> int:
    """Return the bytes of a number."""
    if kind not in _NUMBERS:
        raise VocabularyError(f"damaged GGUF: {key[:40]} has a value of type {kind}")
    return struct.calcsize(f"<{_NUMBERS[kind]}")


def _encoder(file: VocabularyFile) -> Encode:
    llama = library("cyllama.llama.llama_cpp", "gguf")
    llama.disable_logging()
    llama.ggml_backend_load_all()
    settings = llama.LlamaModelParams()
    settings.n_gpu_layers = 0
    # The weights are mapped, and not read: no text is evaluated.
    return encode_with_cyllama(llama.LlamaModel(str(file.path), settings, verbose=False))


def encode_with_cyllama(model: Any) -> Encode:
    """Return an encoder of texts with a model of cyllama."""
    vocabulary = model.get_vocab()

    def tokenize(words: str) -> list[int]:
        # The vocabulary is a part of the model, which it does not keep.
        return list(vocabulary.tokenize(words, False, False)) if model else []

    return tokenize


FORMAT = Format(
    "GGUF",
    lambda file: file.data == LARGE_MAGIC,
    lambda file: read_gguf(file.path),
    "llama.cpp",
    _encoder,
    lambda file, tokens: gguf_pairs(file.path, tokens),
)
