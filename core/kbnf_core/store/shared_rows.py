"""Artifacts without their mask rows, and rows by their content: what many artifacts share.

Of 997 real schemas the masks have 7,687 distinct rows in all. A row is kept compressed, under the
digest of what it is. The *skeleton* of an artifact has the list of the digests (the reserved array
``rows``) in place of the array ``masks``, everything else as it is, and is compressed as a whole.
``join`` makes the same bytes again.
"""

import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kbnf_core.container import ContainerError, read_container, write_container
from kbnf_core.errors import KbnfError
from kbnf_core.files import write_file

DIGEST_BYTES = 16

LARGEST_ROW = 2**24
"""Bytes of a row, of a hundred million tokens."""

LARGEST = 2**32
"""Bytes of a skeleton."""


def row_digest(row: bytes) -> str:
    """Return the name of a row."""
    return hashlib.blake2b(row, digest_size=DIGEST_BYTES).hexdigest()


def split(artifact: Path, skeleton: Path) -> dict[str, bytes]:
    """Write the skeleton of an artifact; return its rows, compressed, by their digests."""
    rows = _split(artifact, skeleton)
    # Quickly: most of a skeleton is numbers with leading zeros.
    write_file(skeleton, [zlib.compress(skeleton.read_bytes(), 1)])
    return rows


def _split(artifact: Path, skeleton: Path) -> dict[str, bytes]:
    arrays, metadata = read_container(artifact, 0)
    rows: dict[str, bytes] = {}
    if "masks" not in arrays:
        write_container(skeleton, arrays, metadata)
        return rows
    names = []
    for row in arrays["masks"]:
        data = np.ascontiguousarray(row, "<u4").tobytes()
        name = row_digest(data)
        names.append(name)
        if name not in rows:
            rows[name] = zlib.compress(data, 6)
    kept = {name: array for name, array in arrays.items() if name != "masks"}
    packed = np.frombuffer(bytes.fromhex("".join(names)), np.uint8)
    kept["rows"] = packed.reshape(len(names), DIGEST_BYTES)
    shape = {"rows_shape": [int(each) for each in arrays["masks"].shape]}
    write_container(skeleton, kept, {**metadata, "store": shape})
    return rows


class DamagedError(KbnfError, ValueError):
    """Something that a store holds is missing or is not what it is called; ``key`` names it."""

    def __init__(self, key: str, reason: str) -> None:
        self.key = key
        super().__init__(f"{key} {reason}")


class Skeleton:
    """An artifact without its rows; ``rows`` are their digests, each once, in order.

    Raises ``DamagedError``.
    """

    def __init__(self, key: str, path: Path, work: Path) -> None:
        self._key = key
        _unpack(key, path, work)
        try:
            self._arrays, self._metadata = read_container(work, LARGEST)
        except ContainerError as error:
            raise DamagedError(key, f"is damaged: {error.reason}") from None
        shape = self._metadata.pop("store", None)
        self._shape = None if shape is None else self._checked_shape(shape)
        self._names = [digest.tobytes().hex() for digest in self._arrays.pop("rows", ())]
        self.rows = tuple(dict.fromkeys(self._names))

    def join(self, rows: Mapping[str, bytes], artifact: Path) -> None:
        """Write the artifact; ``rows`` are what ``unpacked`` returned, by their digests."""
        arrays = dict(self._arrays)
        if self._shape is not None:
            data = b"".join(rows[name] for name in self._names)
            if len(data) != 4 * self._shape[0] * self._shape[1]:
                raise DamagedError(self._key, "is damaged: its rows have another width")
            arrays["masks"] = np.frombuffer(data, "<u4").reshape(self._shape)
        write_container(artifact, arrays, self._metadata)

    def _checked_shape(self, metadata: Any) -> tuple[int, int]:
        shape = metadata.get("rows_shape") if isinstance(metadata, dict) else None
        rows = self._arrays.get("rows")
        fits = (
            isinstance(shape, list)
            and len(shape) == 2
            and all(type(each) is int and each >= 0 for each in shape)
            and rows is not None
            and rows.dtype == np.uint8
            and rows.shape == (shape[0], DIGEST_BYTES)
        )
        if not fits or not isinstance(shape, list):
            raise DamagedError(self._key, "is damaged: its list of rows is none")
        return shape[0], shape[1]


def unpacked(key: str, packed: bytes) -> bytes:
    """Return the row that ``packed`` is, if it is the one that its name says."""
    data = _decompressed(packed, LARGEST_ROW)
    if data is None or row_digest(data) != key.rpartition("/")[2]:
        raise DamagedError(key, "is damaged")
    return data


def _unpack(key: str, path: Path, work: Path) -> None:
    data = _decompressed(path.read_bytes(), LARGEST)
    if data is None:
        raise DamagedError(key, "is damaged")
    write_file(work, [data])


def _decompressed(packed: bytes, largest: int) -> bytes | None:
    """Return what was compressed; None where it was not, or has more than ``largest`` bytes."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, largest)
    except zlib.error:
        return None
    return data if stream.eof else None
