"""Artifacts without their large mask rows, and rows by their content: what many artifacts share.

A row is kept compressed, under the digest of what it is. The *skeleton* of an artifact has a list
of such digests (the reserved array ``rows``) in place of the large rows in the array ``masks``,
everything else as it is, and is compressed as a whole. ``join`` makes the same bytes again.

Rows of less than ``SMALL`` bytes stay in the skeleton: four of five rows of real schemas are so
small, and one that is sent and looked up by itself costs more than its bytes.

A few bytes may be compressed to stand for gigabytes. So nothing is unpacked beyond what was
announced: a skeleton up to the size of its artifact, a row up to the size that its skeleton says.
"""

import hashlib
import zlib
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kbnf_core.container import ContainerError, read_container, write_container
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.files import write_file
from kbnf_core.text.limits import DEFAULT_LIMITS

DIGEST_BYTES = 16

SMALL = 256
"""Bytes from which on a row is shared."""

LARGEST = 2**30
"""Bytes of an artifact in a store."""

_HEAD = 1_024
"""Bytes that the list of rows may take beside the rows: its entry in the header, and padding."""

_PIECE = 2**16
"""Bytes that are read, and unpacked, at a time."""


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
    """Something that a store contains is missing or is not what it is called; ``key`` names it."""

    def __init__(self, key: str, reason: str) -> None:
        self.key = key
        super().__init__(f"{key} {reason}")


class Skeleton:
    """An artifact of ``size`` bytes without its large rows.

    ``rows`` are the sizes of these, by their digests, in order. ``key`` is what the artifact says
    that it was compiled for. Raises ``DamagedError``.
    """

    def __init__(self, name: str, path: Path, work: Path, size: int) -> None:
        self._name = name
        with open(path, "rb") as packed_, open(work, "wb") as out:
            if not _unpack(packed_, out, size + _HEAD):
                raise DamagedError(name, "is damaged")
        try:
            self._arrays, self._metadata = read_container(work, DEFAULT_LIMITS.artifact_read)
        except ContainerError as error:
            raise DamagedError(name, f"is damaged: {error.reason}") from None
        digests = self._arrays.pop("rows", None)
        self._has_rows = digests is not None
        if digests is not None and not self._is_list(digests):
            raise DamagedError(name, "is damaged: its list of rows is not a list")
        self._names = [] if digests is None else [digest.tobytes().hex() for digest in digests]
        self._sizes = [] if digests is None else _sizes(self._arrays)
        if min(self._sizes, default=0) < 0 or sum(self._sizes) > size:
            raise DamagedError(name, "is damaged: its rows are larger than the artifact")
        large = [each for each in self._sizes if each >= SMALL]
        self.rows = dict(zip(self._names, large, strict=False))

    @property
    def key(self) -> object:
        """What the manifest says; see ``artifact``."""
        manifest = self._metadata.get("kbnf")
        return manifest.get("key") if isinstance(manifest, dict) else None

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
            arrays["masks"] = np.frombuffer(b"".join(self._all(rows)), "<u4")
        write_container(artifact, arrays, self._metadata)

    def _all(self, rows: Mapping[str, bytes]) -> Iterator[bytes]:
        """Yield all rows in order. What does not fit makes an artifact with another digest."""
        small, start = self._arrays["masks"].tobytes(), 0
        names = iter(self._names)
        for size in self._sizes:
            if size >= SMALL:
                yield rows.get(next(names, ""), b"")
            else:
                yield small[start : start + size]
                start += size


def unpacked(key: str, path: Path, size: int) -> bytes:
    """Return the row of ``size`` bytes of which ``packed`` made the content of a file.

    Raises ``DamagedError`` where it is not the one that its name says.
    """
    out = BytesIO()
    with open(path, "rb") as stored:
        is_whole = _unpack(stored, out, size)
    row = out.getvalue()
    if not is_whole or len(row) != size or row_digest(row) != key.rpartition("/")[2]:
        raise DamagedError(key, "is damaged")
    return row


def _unpack(stored: BinaryIO, out: BinaryIO, largest: int) -> bool:
    """Unpack what was compressed; stop where it is damaged, or has more than ``largest`` bytes."""
    stream = zlib.decompressobj()
    left = largest
    try:
        while not stream.eof:
            data = stream.unconsumed_tail or stored.read(_PIECE)
            piece = stream.decompress(data, _PIECE)
            left -= len(piece)
            if left < 0 or not (data or piece):
                return False
            out.write(piece)
    except zlib.error:
        return False
    return True
