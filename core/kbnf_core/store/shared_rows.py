"""Artifacts without their large mask rows, and rows by their content: what many artifacts share.

A row is kept compressed, under the digest of what it is. The *skeleton* of an artifact has a list
of such digests (the reserved array ``rows``) in place of the large rows in the array ``masks``,
everything else as it is, and is compressed as a whole. ``join`` makes the same bytes again.

Rows of less than ``SMALL`` bytes stay in the skeleton: four of five rows of real schemas are so
small, and one that is sent and looked up by itself costs more than its bytes.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kbnf_core.container import ContainerError, read_container, write_container
from kbnf_core.errors import KbnfError
from kbnf_core.files import write_file

DIGEST_BYTES = 16

SMALL = 256
"""Bytes from which on a row is shared."""

LARGEST_ROW = 2**24
"""Bytes of a row, of a hundred million tokens."""

LARGEST = 2**32
"""Bytes of a skeleton."""


def row_digest(row: bytes) -> str:
    """Return the name of a row."""
    return hashlib.blake2b(row, digest_size=DIGEST_BYTES).hexdigest()


def split(artifact: Path, skeleton: Path) -> dict[str, bytes]:
    """Write the skeleton of an artifact; return the rows that it refers to, by their digests."""
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
    masks = np.ascontiguousarray(arrays["masks"], "<u4").tobytes()
    names, small, start = [], [], 0
    for size in _sizes(arrays):
        row = masks[start : start + size]
        start += size
        if size < SMALL:
            small.append(row)
            continue
        name = row_digest(row)
        names.append(name)
        rows[name] = row
    arrays["masks"] = np.frombuffer(b"".join(small), "<u4")
    digests = np.frombuffer(bytes.fromhex("".join(names)), np.uint8)
    write_container(skeleton, {**arrays, "rows": digests.reshape(-1, DIGEST_BYTES)}, metadata)
    return rows


def _sizes(arrays: Mapping[str, "np.ndarray[Any, Any]"]) -> list[int]:
    """Return the bytes of each row of an artifact."""
    sizes: list[int] = (np.diff(arrays["masks.start"].astype(np.int64)) * 4).tolist()
    return sizes


def packed(row: bytes) -> bytes:
    """Return a row as it is stored; ``unpacked`` is the way back."""
    return zlib.compress(row, 6)


class DamagedError(KbnfError, ValueError):
    """Something that a store holds is missing or is not what it is called; ``key`` names it."""

    def __init__(self, key: str, reason: str) -> None:
        self.key = key
        super().__init__(f"{key} {reason}")


class Skeleton:
    """An artifact without its large rows; ``rows`` are their digests, each once, in order.

    Raises ``DamagedError``.
    """

    def __init__(self, key: str, path: Path, work: Path) -> None:
        self._key = key
        _unpack(key, path, work)
        try:
            self._arrays, self._metadata = read_container(work, LARGEST)
        except ContainerError as error:
            raise DamagedError(key, f"is damaged: {error.reason}") from None
        digests = self._arrays.pop("rows", None)
        self._has_rows = digests is not None
        if digests is not None and not self._is_list(digests):
            raise DamagedError(key, "is damaged: its list of rows is none")
        self._names = [] if digests is None else [digest.tobytes().hex() for digest in digests]
        self.rows = tuple(dict.fromkeys(self._names))

    def _is_list(self, digests: "np.ndarray[Any, Any]") -> bool:
        start = self._arrays.get("masks.start")
        return (
            digests.dtype == np.uint8
            and digests.shape[1:] == (DIGEST_BYTES,)
            and "masks" in self._arrays
            and start is not None
            and start.ndim == 1
        )

    def join(self, rows: Mapping[str, bytes], artifact: Path) -> None:
        """Write the artifact; ``rows`` are what ``unpacked`` returned, by their digests."""
        arrays = dict(self._arrays)
        if self._has_rows:
            arrays["masks"] = np.frombuffer(b"".join(self._rows(rows)), "<u4")
        write_container(artifact, arrays, self._metadata)

    def _rows(self, rows: Mapping[str, bytes]) -> Iterator[bytes]:
        """Yield all rows in order. What does not fit makes an artifact with another digest."""
        small, start = self._arrays["masks"].tobytes(), 0
        names = iter(self._names)
        for size in _sizes(self._arrays):
            if size >= SMALL:
                yield rows.get(next(names, ""), b"")
            else:
                yield small[start : start + size]
                start += size


def unpacked(key: str, stored: bytes) -> bytes:
    """Return the row that ``packed`` made ``stored`` of, if it is the one that its name says."""
    data = _decompressed(stored, LARGEST_ROW)
    if data is None or len(data) % 4 or row_digest(data) != key.rpartition("/")[2]:
        raise DamagedError(key, "is damaged")
    return data


def _unpack(key: str, path: Path, work: Path) -> None:
    data = _decompressed(path.read_bytes(), LARGEST)
    if data is None:
        raise DamagedError(key, "is damaged")
    write_file(work, [data])


def _decompressed(stored: bytes, largest: int) -> bytes | None:
    """Return what was compressed; None where it was not, or has more than ``largest`` bytes."""
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(stored, largest)
    except zlib.error:
        return None
    return data if stream.eof else None
