"""GGUF, the files of llama.cpp's models: the tokenizer in the metadata before the tensors.

A header (``GGUF``, a version, two counts) is followed by keys with typed values, little-endian;
``docs/gguf.md`` of ggml describes them. Tensors are never read, so a file may have any size.
``tokenizer.ggml.model`` tells how tokens are spelled, as llama.cpp's ``token_to_piece`` does:
``gpt2`` in GPT-2's alphabet of bytes, ``llama`` and ``t5`` with U+2581 for a space.
``tokenizer.ggml.token_type`` says what a token is: control and unknown tokens have no text, unused
ones are never to be produced, and all three are special here. User-defined tokens are their text.
"""

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from kbnf_core.errors import VocabularyError
from kbnf_core.files import opened
from kbnf_core.vocab.formats import (
    LARGE_MAGIC,
    Contents,
    Encode,
    Format,
    VocabularyFile,
    common_stop_ids,
    encode,
    expect,
    library,
)
from kbnf_core.vocab.formats.huggingface import SPACE_MARK, Spelling

_PREFIX = "tokenizer.ggml."
_VERSIONS = (2, 3)
_SPELLINGS = {
    "gpt2": Spelling(byte_level=True),
    "llama": Spelling(((SPACE_MARK, " "),)),
    "t5": Spelling(((SPACE_MARK, " "),)),
}
_NORMAL, _UNKNOWN, _CONTROL, _USER_DEFINED, _UNUSED, _BYTE = range(1, 7)
_SPECIAL = {_UNKNOWN, _CONTROL, _UNUSED}
_STOPS = ("eos_token_id", "eot_token_id", "eom_token_id")

_NUMBERS = dict(enumerate("BbHhIif?", 0)) | {10: "Q", 11: "q", 12: "d"}
"""The types of numbers, as ``struct`` names them."""

_STRING, _ARRAY = 8, 9

_LARGEST_TEXT = 2**24
_LARGEST_LIST = 2**24
_LARGEST_COUNT = 2**16
"""Bytes of a text, values of a list, and keys, beyond which a file is damaged."""


def read_gguf(path: Path) -> Contents:
    """Return the tokens; ``VocabularyError`` names the key that is wrong, or what is damaged."""
    with opened(path) as file:
        metadata = _Reader(file).metadata()
    return _contents(metadata)


def _contents(metadata: Mapping[str, Any]) -> Contents:
    model = metadata.get("model")
    spelling = _SPELLINGS.get(model) if isinstance(model, str) else None
    if spelling is None:
        known = ", ".join(_SPELLINGS)
        raise VocabularyError(
            f"{_PREFIX}model is {str(model)[:40]}, whose tokens are not known to spell bytes; "
            f"known are {known}"
        )
    pieces = expect(metadata.get("tokens"), list, f"{_PREFIX}tokens")
    kinds = expect(
        metadata.get("token_type") or [_NORMAL] * len(pieces), list, f"{_PREFIX}token_type"
    )
    if len(kinds) != len(pieces):
        raise VocabularyError(f"{len(pieces)} tokens have {len(kinds)} entries in token_type")
    tokens: dict[int, bytes] = {}
    special: dict[str, int] = {}
    eos = _stops(metadata, len(pieces))
    for token_id, (piece, kind) in enumerate(zip(pieces, kinds, strict=True)):
        text = expect(piece, str, f"{_PREFIX}tokens[{token_id}]")
        if kind in _SPECIAL or token_id in eos:
            special[text] = token_id
        else:
            tokens[token_id] = _spelled(text, kind, token_id, spelling)
    return Contents(tokens, special, eos or common_stop_ids(special))


def _spelled(text: str, kind: int, token_id: int, spelling: Spelling) -> bytes:
    if kind == _BYTE:
        data = Spelling(byte_fallback=True).added(text)
        if len(data) != 1:
            raise VocabularyError(f"token {token_id} should be a byte <0xNN>, not {text[:40]!r}")
        return data
    if kind == _USER_DEFINED:
        return encode(text, f"token {token_id}")
    return spelling.piece(text)


def _stops(metadata: Mapping[str, Any], count: int) -> frozenset[int]:
    found = set()
    for key in _STOPS:
        if key in metadata:
            token_id = expect(metadata[key], int, f"{_PREFIX}{key}")
            if not 0 <= token_id < count:
                raise VocabularyError(f"{_PREFIX}{key} is {token_id}, and there are {count} tokens")
            found.add(token_id)
    return frozenset(found)


class _Reader:
    """Reads the header of a file, piece by piece."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def metadata(self) -> dict[str, Any]:
        """Return the values of the tokenizer's keys, without their prefix."""
        if self._take(4) != LARGE_MAGIC:
            raise VocabularyError("no GGUF")
        version = self._number("I")
        if version not in _VERSIONS:
            known = " and ".join(map(str, _VERSIONS))
            raise VocabularyError(f"GGUF of version {version} (known: {known}, little-endian)")
        self._number("Q")
        values = {}
        for _ in range(self._count(_LARGEST_COUNT, "keys")):
            key = self._text()
            value = self._value(self._number("I"), key)
            if key.startswith(_PREFIX):
                values[key.removeprefix(_PREFIX)] = value
        return values

    def _value(self, kind: int, key: str) -> Any:
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            return self._numbers(kind, 1, key)[0]
        of = self._number("I")
        count = self._count(_LARGEST_LIST, f"values of {key[:40]}")
        if of == _STRING:
            return [self._text() for _ in range(count)]
        return self._numbers(of, count, key)

    def _numbers(self, kind: int, count: int, key: str) -> list[Any]:
        if kind not in _NUMBERS:
            raise VocabularyError(f"damaged GGUF: {key[:40]} has a value of type {kind}")
        form = f"<{count}{_NUMBERS[kind]}"
        return list(struct.unpack(form, self._take(struct.calcsize(form))))

    def _text(self) -> str:
        data = self._take(self._count(_LARGEST_TEXT, "bytes of a text"))
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            # Of a description, perhaps; of a token it is found where that is spelled.
            return data.decode("utf-8", "surrogateescape")

    def _count(self, largest: int, what: str) -> int:
        count = self._number("Q")
        if count > largest:
            raise VocabularyError(f"damaged GGUF: {count} {what}")
        return count

    def _number(self, form: str) -> int:
        number: int = struct.unpack(f"<{form}", self._take(struct.calcsize(f"<{form}")))[0]
        return number

    def _take(self, count: int) -> bytes:
        data = self._file.read(count)
        if len(data) < count:
            raise VocabularyError("damaged GGUF: it is cut off")
        return data


def _encoder(file: VocabularyFile) -> Encode:
    llama = library("llama_cpp", "gguf")
    model = llama.Llama(model_path=str(file.path), vocab_only=True, verbose=False)
    return lambda words: list(model.tokenize(words.encode(), add_bos=False, special=False))


FORMAT = Format(
    "GGUF",
    lambda file: file.data == LARGE_MAGIC,
    lambda file: read_gguf(file.path),
    "llama.cpp",
    _encoder,
)
