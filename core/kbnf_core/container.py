"""Named arrays and a little metadata in one file, in the layout of safetensors.

Eight bytes contain the length of the header as a little-endian number; the header is JSON, maps
each name to ``{"dtype", "shape", "data_offsets"}``, and is padded with spaces so that the data,
which follows without gaps, begins at a multiple of eight. Arrays are laid out by falling item size,
so each is aligned by itself. The metadata is one JSON text under ``__metadata__``, since that may
contain texts only. See https://github.com/huggingface/safetensors#format.

Nothing in such a file is code, everything in the header is checked before it is used, and the
arrays are views of the file's bytes, which are read or mapped. (What they contain is for the caller
to check; ``digest`` says whether it is what was written.) A mapped file must not be shortened or
written over by anybody, since that ends the process: replace it, as ``write_container`` does.
"""

import hashlib
import json
import mmap
import os
import stat
import zlib
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii
from math import prod
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from kbnf_core.text.errors import KbnfError, SourceError
from kbnf_core.text.files import Piece, opened, write_file

__all__ = ["ContainerError", "checksum", "digest", "read_container", "write_container"]

Array = npt.NDArray[Any]

LARGEST_HEADER = 2**24
"""Bytes of a header that are read; a few thousand arrays take less than a million."""

_DTYPES: dict[str, np.dtype[Any]] = {
    "BOOL": np.dtype("?"),
    "U8": np.dtype("u1"),
    "I8": np.dtype("i1"),
    "U16": np.dtype("<u2"),
    "I16": np.dtype("<i2"),
    "F16": np.dtype("<f2"),
    "U32": np.dtype("<u4"),
    "I32": np.dtype("<i4"),
    "F32": np.dtype("<f4"),
    "U64": np.dtype("<u8"),
    "I64": np.dtype("<i8"),
    "F64": np.dtype("<f8"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}

_ROW = 1_021
"""Words of eight bytes whose sums are told apart; it divides no power of two."""

_ALIGNMENT = 8
_METADATA = "__metadata__"
_OURS = "json"


class ContainerError(KbnfError, ValueError):
    """A file that is no container, or a damaged one; ``path`` names it."""

    def __init__(self, path: str, reason: str) -> None:
        self.path = path
        self.reason = reason
        super().__init__(f"{path}: {reason}")


def digest(arrays: Mapping[str, Array]) -> str:
    """Return the BLAKE2b-128 of arrays, names, types and shapes with it; 1 ms a megabyte."""
    whole = hashlib.blake2b(digest_size=16)
    for name, array in sorted(arrays.items()):
        head, data = _digested(name, array)
        whole.update(head)
        whole.update(data.data)
    return whole.hexdigest()


def checksum(arrays: Mapping[str, Array]) -> int:
    """Return a CRC-32 of arrays, names, types and shapes with it.

    It shows damage, not malice. Of what is long it is the CRC of sums: of all first words in rows
    of ``_ROW`` words, all second ones and so on, which takes a quarter of the time. A row is no
    part of a page or a block of the disk: where those change places, the sums do change.
    """
    found = 0
    for name, array in sorted(arrays.items()):
        head, data = _digested(name, array)
        end = len(data) - len(data) % (8 * _ROW)
        sums = data[:end].view("<u8").reshape(-1, _ROW).sum(axis=0, dtype="<u8")
        for part in (head, sums.data, data[end:].data):
            found = zlib.crc32(part, found)
    return found


def _digested(name: str, array: Array) -> tuple[bytes, npt.NDArray[np.uint8]]:
    """Return the name, type and shape of an array as JSON, and its bytes in the file."""
    kind = _dtype_name(array)
    plain = np.ascontiguousarray(array, _DTYPES[kind])
    # As ``json.dumps`` writes it, which takes as long as a digest of some kilobytes.
    shape = ", ".join(map(str, array.shape))
    head = f'[{encode_basestring_ascii(name)}, "{kind}", [{shape}]]'
    return head.encode(), plain.reshape(-1).view(np.uint8)


def write_container(
    path: str | Path, arrays: Mapping[str, Array], metadata: Mapping[str, object]
) -> None:
    """Write a container; the file is replaced whole or not at all.

    ``metadata`` is anything that JSON can express. Equal contents give equal bytes. Raises
    ``ValueError`` for a dtype that the format does not have, ``OSError`` where writing fails.
    """
    ordered = sorted(arrays.items(), key=lambda item: (-item[1].itemsize, item[0]))
    header = _header(ordered, metadata)
    write_file(path, _pieces(header, ordered))


def _pieces(header: bytes, ordered: list[tuple[str, Array]]) -> Iterator[Piece]:
    yield len(header).to_bytes(8, "little") + header
    for _, array in ordered:
        yield np.ascontiguousarray(array, _DTYPES[_dtype_name(array)]).data


def _header(ordered: list[tuple[str, Array]], metadata: Mapping[str, object]) -> bytes:
    text = json.dumps(metadata, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    document: dict[str, object] = {_METADATA: {_OURS: text}}
    end = 0
    for name, array in ordered:
        begin, end = end, end + array.nbytes
        if name in document:
            raise ValueError(f"an array cannot be called {name}")
        document[name] = {
            "dtype": _dtype_name(array),
            "shape": list(array.shape),
            "data_offsets": [begin, end],
        }
    header = json.dumps(document, separators=(",", ":")).encode()
    return header + b" " * (-len(header) % _ALIGNMENT)


def _dtype_name(array: Array) -> str:
    name = _NAMES.get(array.dtype.newbyteorder("<"))
    if name is None:
        raise ValueError(f"a container cannot contain an array of {array.dtype}")
    return name


def read_container(
    path: str | Path, read_up_to: int = 0
) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the arrays, read-only, and the metadata.

    A file of at most ``read_up_to`` bytes is read, a larger one is mapped. A safetensors file from
    elsewhere has texts for metadata. Raises ``SourceError`` for a file that cannot be opened,
    ``ContainerError`` for one that is no container or is damaged.
    """
    data = _open(path, read_up_to)
    try:
        document, begin = _parse(data)
        texts = document.pop(_METADATA, {})
        arrays = dict(_arrays(data, document, begin))
        return arrays, _metadata(texts)
    except _DamagedError as error:
        raise ContainerError(str(path), str(error)) from None


class _DamagedError(Exception):
    """Why a file is no container."""


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


def _arrays(
    data: bytes | mmap.mmap, document: Mapping[str, Any], first: int
) -> Iterator[tuple[str, Array]]:
    """Yield the arrays in the order of the file; they leave no gaps and do not overlap."""
    entries = [(name, *_entry(name, value)) for name, value in document.items()]
    # An empty array begins where its neighbour does.
    entries.sort(key=lambda entry: (entry[3], entry[4]))
    expected = 0
    for name, dtype, shape, begin, end in entries:
        if begin != expected:
            _fail(f"damaged: array {name!r} begins at {begin}, not at {expected}")
        if first + end > len(data):
            _fail(f"cut off: array {name!r} ends after the end of the file")
        if (first + begin) % dtype.itemsize:
            _fail(f"array {name!r} is not aligned")
        expected = end
        array: Array = np.ndarray(shape, dtype, data, first + begin)
        if dtype.kind == "b" and array.view(np.uint8).max(initial=0) > 1:
            _fail(f"damaged: array {name!r} has truth values other than 0 and 1")
        yield name, array
    if first + expected != len(data):
        _fail(f"damaged: {len(data) - first - expected} bytes follow the last array")


def _entry(name: str, value: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return dtype, shape and offsets of an array, each checked by itself and together."""
    if not isinstance(value, dict) or value.keys() != {"dtype", "shape", "data_offsets"}:
        _fail(f"damaged: array {name!r} is not described by dtype, shape and data_offsets")
    dtype = _DTYPES.get(value["dtype"]) if isinstance(value["dtype"], str) else None
    if dtype is None:
        _fail(f"array {name!r} has a dtype that cannot be read: {str(value['dtype'])[:40]}")
    shape, offsets = value["shape"], value["data_offsets"]
    if not _are_sizes(shape) or not _are_sizes(offsets) or len(offsets) != 2:
        _fail(f"damaged: array {name!r} has an impossible shape or place")
    if len(shape) > 8 or offsets[1] - offsets[0] != prod(shape) * dtype.itemsize:
        _fail(f"damaged: the shape of array {name!r} does not fit its place")
    # NumPy multiplies the other sizes of an empty array too.
    if prod(size or 1 for size in shape) * dtype.itemsize >= 2**62:
        _fail(f"damaged: array {name!r} has an impossible shape or place")
    return dtype, tuple(shape), offsets[0], offsets[1]


def _are_sizes(values: Any) -> bool:
    return isinstance(values, list) and all(type(v) is int and 0 <= v < 2**62 for v in values)


def _metadata(texts: Any) -> dict[str, Any]:
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        _fail("damaged: its metadata is not made of texts")
    if texts.keys() != {_OURS}:
        return texts
    try:
        metadata = json.loads(texts[_OURS])
    except (ValueError, RecursionError):
        _fail("damaged: its metadata is not JSON")
    if not isinstance(metadata, dict):
        _fail("damaged: its metadata is not a JSON object")
    return metadata


def _fail(reason: str) -> NoReturn:
    raise _DamagedError(reason)
