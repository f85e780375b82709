"""Artifacts without their mask rows, and rows by their content: what many artifacts share.

Of 997 real schemas the masks have 7,687 distinct rows in all. A row is kept compressed, under the
digest of what it is. The *skeleton* of an artifact has the list of the digests (the reserved array
``rows``) in place of the array ``masks``, everything else as it is, and is compressed as a whole.
``join`` makes the same bytes again.
"""

import hashlib
import zlib
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

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
    masks, start = arrays.pop("masks"), arrays["masks.start"].tolist()
    names = []
    for first, end in pairwise(start):
        data = np.ascontiguousarray(masks[first:end], "<u4").tobytes()
        name = row_digest(data)
        names.append(name)
        if name not in rows:
            rows[name] = zlib.compress(data, 6)
    packed = np.frombuffer(bytes.fromhex("".join(names)), np.uint8)
    write_container(skeleton, {**arrays, "rows": packed.reshape(-1, DIGEST_BYTES)}, metadata)
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
        packed = self._arrays.pop("rows", None)
        if packed is not None and (packed.dtype != np.uint8 or packed.shape[1:] != (DIGEST_BYTES,)):
            raise DamagedError(key, "is damaged: its list of rows is none")
        self._has_rows = packed is not None
        self._names = [] if packed is None else [digest.tobytes().hex() for digest in packed]
        self.rows = tuple(dict.fromkeys(self._names))

    def join(self, rows: Mapping[str, bytes], artifact: Path) -> None:
        """Write the artifact; ``rows`` are what ``unpacked`` returned, by their digests."""
        arrays = dict(self._arrays)
        if self._has_rows:
            # What does not fit the rest has another digest than the artifact.
            arrays["masks"] = np.frombuffer(b"".join(rows[name] for name in self._names), "<u4")
        write_container(artifact, arrays, self._metadata)


def unpacked(key: str, packed: bytes) -> bytes:
    """Return the row that ``packed`` is, if it is the one that its name says."""
    data = _decompressed(packed, LARGEST_ROW)
    if data is None or len(data) % 4 or row_digest(data) != key.rpartition("/")[2]:
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
