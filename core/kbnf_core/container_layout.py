"""The layout of files with named arrays, that of safetensors; read without NumPy.

Eight bytes contain the length of the header as a little-endian number; the header is JSON, maps
each name to ``{"dtype", "shape", "data_offsets"}``, and is padded with spaces so that the data,
which follows without gaps, begins at a multiple of eight. Arrays are laid out by falling item size,
so each is aligned by itself. The metadata is one JSON text under ``__metadata__``, since that may
contain texts only. See https://github.com/huggingface/safetensors#format.

Nothing in such a file is code, and everything in the header is checked before it is used.

Tests: tests/unit/test_container.py
"""

import json
import mmap
import os
import stat
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from kbnf_core.text.errors import KbnfError, SourceError
from kbnf_core.text.files import opened

LARGEST_HEADER = 2**24
"""Bytes of a header that are read; a few thousand arrays take less than a million."""

ALIGNMENT = 8
METADATA = "__metadata__"
OURS = "json"

_ITEM_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8"), 1),
    **dict.fromkeys(("U16", "I16", "F16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64"), 8),
}


class ContainerError(KbnfError, ValueError):
    """A file that is not a container, or a damaged one; ``path`` names it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


class ArrayEntry(NamedTuple):
    """An array: its type, its shape, and the offsets in the file."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


class Layout(NamedTuple):
    """A file's bytes, the arrays in them, in the order of the file, and the metadata."""

    data: bytes | mmap.mmap
    entries: dict[str, ArrayEntry]
    metadata: dict[str, Any]

    def bytes_of(self, name: str) -> bytes | None:
        """Return the bytes of an array, None where there is none of that name."""
        entry = self.entries.get(name)
        return None if entry is None else self.data[entry.begin : entry.end]


def read_layout(path: str | Path, read_up_to: int = 0) -> Layout:
    """Return the layout of a file; takes and raises what ``read_container`` does."""
    data = _open(path, read_up_to)
    try:
        document, begin = _parse(data)
        texts = document.pop(METADATA, {})
        entries = dict(_entries(len(data), document, begin))
        return Layout(data, entries, _metadata(texts))
    except _DamagedError as error:
        raise ContainerError(str(path), str(error)) from None


class _DamagedError(Exception):
    """The reason why a file is not a container."""


def _open(path: str | Path, read_up_to: int) -> bytes | mmap.mmap:
    with opened(path) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise SourceError(str(path), "it is not a regular file")
        if status.st_size <= read_up_to or status.st_size == 0:
            return file.read(status.st_size)
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _parse(data: bytes | mmap.mmap) -> tuple[dict[str, Any], int]:
    """Return the header, and where the arrays begin."""
    if len(data) < 8:
        _fail("not a container, or cut off: shorter than its first eight bytes")
    length = int.from_bytes(data[:8], "little")
    if length > LARGEST_HEADER:
        _fail(f"not a container: its header would have {length} bytes")
    if 8 + length > len(data):
        _fail("cut off within its header")
    try:
        document = json.loads(data[8 : 8 + length].decode("utf-8"))
    except (ValueError, RecursionError):
        _fail("not a container, or damaged: its header is not JSON")
    if not isinstance(document, dict):
        _fail("not a container: its header is not a JSON object")
    return document, 8 + length


def _entries(
    size: int, document: Mapping[str, Any], first: int
) -> Iterator[tuple[str, ArrayEntry]]:
    """Yield the arrays in the order of the file; they leave no gaps and do not overlap."""
    entries = [(name, _entry(name, value)) for name, value in document.items()]
    # An empty array begins where its neighbour does.
    entries.sort(key=lambda pair: (pair[1].begin, pair[1].end))
    expected = 0
    for name, (dtype, shape, begin, end) in entries:
        if begin != expected:
            _fail(f"damaged: array {name!r} begins at {begin}, not at {expected}")
        if first + end > size:
            _fail(f"cut off: array {name!r} ends after the end of the file")
        if (first + begin) % _ITEM_BYTES[dtype]:
            _fail(f"array {name!r} is not aligned")
        expected = end
        yield name, ArrayEntry(dtype, shape, first + begin, first + end)
    if first + expected != size:
        _fail(f"damaged: {size - first - expected} bytes follow the last array")


def _entry(name: str, value: Any) -> ArrayEntry:
    """Return an array, whose offsets count from the first; each checked by itself and together."""
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        _fail(f"damaged: array {name!r} is not described by dtype, shape and data_offsets")
    dtype = value["dtype"]
    size = _ITEM_BYTES.get(dtype) if isinstance(dtype, str) else None
    if size is None:
        _fail(f"array {name!r} has a dtype that cannot be read: {str(dtype)[:40]}")
    shape, offsets = value["shape"], value["data_offsets"]
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        _fail(f"damaged: array {name!r} has an impossible shape or place")
    if len(shape) > 8 or offsets[1] - offsets[0] != prod(shape) * size:
        _fail(f"damaged: the shape of array {name!r} does not fit its place")
    # NumPy multiplies the other sizes of an empty array too.
    if prod(length or 1 for length in shape) * size >= 2**62:
        _fail(f"damaged: array {name!r} has an impossible shape or place")
    return ArrayEntry(dtype, tuple(shape), offsets[0], offsets[1])


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 2**62 for v in values)


def _metadata(texts: Any) -> dict[str, Any]:
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        _fail("damaged: its metadata is not made of texts")
    if texts.keys() != {OURS}:
        return texts
    try:
        metadata = json.loads(texts[OURS])
    except (ValueError, RecursionError):
        _fail("damaged: its metadata is not JSON")
    if not isinstance(metadata, dict):
        _fail("damaged: its metadata is not a JSON object")
    return metadata


def _fail(reason: str) -> NoReturn:
    raise _DamagedError(reason)
