"""Named arrays and a little metadata in one file, in the layout of safetensors.

The layout is described, and read, in ``container_layout.py``. The arrays are views of the file's
bytes, which are read or mapped. (What they contain is for the caller to check; ``digest`` says
whether they are those that were written.) A mapped file must not be shortened or written over by
anybody, since that ends the process: replace it, as ``write_container`` does.

Tests: tests/unit/test_container.py
"""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from json.encoder import encode_basestring_ascii
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.container_layout import ALIGNMENT, METADATA, OURS, ContainerError, read_layout
from kbnf_core.text.files import Chunk, write_file

__all__ = ["ContainerError", "checksum", "digest", "read_container", "write_container"]

Array = npt.NDArray[Any]

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

    It shows damage, not malice. Of long arrays it is the CRC of sums: of all first words in rows of
    ``_ROW`` words, all second ones and so on, which takes a quarter of the time. A row is not
    aligned with a page or a block of the disk: where those change places, the sums do change.
    """
    result = 0
    for name, array in sorted(arrays.items()):
        head, data = _digested(name, array)
        end = len(data) - len(data) % (8 * _ROW)
        sums = data[:end].view("<u8").reshape(-1, _ROW).sum(axis=0, dtype="<u8")
        for block in (head, sums.data, data[end:].data):
            result = zlib.crc32(block, result)
    return result


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
    write_file(path, _chunks(header, ordered))


def _chunks(header: bytes, ordered: list[tuple[str, Array]]) -> Iterator[Chunk]:
    yield len(header).to_bytes(8, "little") + header
    for _, array in ordered:
        yield np.ascontiguousarray(array, _DTYPES[_dtype_name(array)]).data


def _header(ordered: list[tuple[str, Array]], metadata: Mapping[str, object]) -> bytes:
    text = json.dumps(metadata, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    document: dict[str, object] = {METADATA: {OURS: text}}
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
    return header + b" " * (-len(header) % ALIGNMENT)


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
    ``ContainerError`` for one that is not a container or is damaged.
    """
    layout = read_layout(path, read_up_to)
    arrays: dict[str, Array] = {}
    for name, entry in layout.entries.items():
        array: Array = np.ndarray(entry.shape, _DTYPES[entry.dtype], layout.data, entry.begin)
        if entry.dtype == "BOOL" and array.view(np.uint8).max(initial=0) > 1:
            reason = f"damaged: array {name!r} has truth values other than 0 and 1"
            raise ContainerError(str(path), reason)
        arrays[name] = array
    return arrays, layout.metadata
