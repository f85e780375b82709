"""The vocabulary cache: parsed vocabularies on disk, ready to be memory-mapped.

An entry is a container (``kbnf_core.container``) named after the *identity* of the file that was
read: its real path, size, time and inode, the same of the companion files, the stop ids asked for,
and the version of the reader. What is worked out of a vocabulary alone lies *beside* it, in an
entry with the same identity. A damaged entry, or one with another identity, is a miss. Entries are
written atomically, so any number of processes may read and write them; beyond a total size, the
least recently used are evicted.
"""

import hashlib
import json
import os
import time
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kbnf_core.text.errors import KbnfError
from kbnf_core.text.files import cache_folder, make_room
from kbnf_core.version import __version__
from kbnf_core.vocab.hub import FILES_BESIDE

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]

T = TypeVar("T")

LARGEST_TOTAL = 2**29
"""The total size of all entries, in bytes; 131,072 tokens take 9 million, and 20 beside them."""

SMALLEST_FILE = 2**16
"""In bytes; a smaller file is read as fast as an entry."""

SETTLED = 2.0
"""Seconds after which a file's time says any later change from what was read."""

FORMAT = 6
"""Of the entries; raised whenever they, or what the loaders return, change."""

SUFFIX = ".vocabulary"


class Entry(NamedTuple):
    """A slot of the cache; ``identity``: the JSON of the files that its vocabulary is read from."""

    path: Path
    identity: str

    def beside(self, name: str) -> "Entry":
        """Return the slot of what follows from the vocabulary, by its name."""
        return Entry(self.path.with_name(f"{self.path.stem}-{name}{SUFFIX}"), self.identity)

    def recall(self, read: "Callable[[Mapping[str, Array]], T]") -> T | None:
        """Return what ``read`` makes of the arrays that are here, None on a miss."""
        from kbnf_core.container import checksum, read_container

        try:
            arrays, metadata = read_container(self.path)
            if metadata != self._metadata(checksum(arrays)):
                return None
            found = read(arrays)
            os.utime(self.path)
        except (KbnfError, OSError, LookupError, TypeError, ValueError):
            return None
        return found

    def keep(self, arrays: "Mapping[str, Array]") -> None:
        """Store arrays. Best effort; evicts old entries."""
        from kbnf_core.container import checksum, write_container

        metadata = self._metadata(checksum(arrays))
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_container(self.path, arrays, metadata)
            make_room(self.path.parent, SUFFIX, LARGEST_TOTAL)
        except OSError:
            # A cache that cannot be written to is no reason to refuse the vocabulary.
            return

    def _metadata(self, checksum: int) -> dict[str, object]:
        return {"format": FORMAT, "identity": self.identity, "checksum": checksum}


def find_entry(file: Path, eos: Collection[int] | None) -> Entry | None:
    """Return the cache slot of the vocabulary in ``file``; None for files not worth caching.

    That is: no folder to keep it in, no ordinary file, a small one, or one that was just written.
    """
    folder = cache_folder("vocabularies")
    try:
        status = file.stat()
        ordinary = S_ISREG(status.st_mode) and status.st_size >= SMALLEST_FILE
        if folder is None or not ordinary or time.time() - status.st_mtime < SETTLED:
            return None
        identity = json.dumps([FORMAT, __version__, *_identity(file, eos)])
    except (OSError, ValueError):
        return None
    digest = hashlib.blake2b(identity.encode(), digest_size=16).hexdigest()
    return Entry(folder / f"{digest}{SUFFIX}", identity)


def _identity(file: Path, eos: Collection[int] | None) -> list[object]:
    beside = [_look(file.parent / name) for name in FILES_BESIDE]
    stops = None if eos is None else sorted(eos)
    return [file.name, os.path.realpath(file), _look(file), beside, stops]


def _look(file: Path) -> list[int]:
    """Return what changes when a file does; nothing for a file that is not there."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return []
    return [status.st_size, status.st_mtime_ns, status.st_ino]
