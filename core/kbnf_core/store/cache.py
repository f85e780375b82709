"""The local cache of a store: artifacts put together already, the last used, within a bound.

A file is called after the key that it answers, so a look-up is one look at the disk. What is kept
is read as any other artifact is: its sections are compared with their digests.

Locks between processes are what only POSIX systems have. Elsewhere they do nothing: work is then
done twice at worst.
"""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from kbnf_core.artifact import SUFFIX
from kbnf_core.text.files import make_room


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep a file's lock, which ends with this process at the latest."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


LARGEST_TOTAL = 2**30
"""Bytes of all artifacts that are kept, by default."""


class LocalCache:
    """Artifacts in a folder of this machine, which processes share."""

    def __init__(self, folder: Path, largest: int = LARGEST_TOTAL) -> None:
        self._folder = folder
        self._largest = largest
        self._added = largest
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def find(self, key: str) -> Path | None:
        """Return the artifact of a key."""
        path = self._path(key)
        try:
            os.utime(path)
        except OSError:
            return None
        return path

    @contextmanager
    def draft(self) -> Iterator[Path]:
        """Yield the name of a file to write; it is gone after the block, unless it was kept."""
        path = self._folder / f".{secrets.token_hex(8)}.tmp"
        try:
            yield path
        finally:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def keep(self, key: str, draft: Path) -> Path:
        """Take over a draft as the artifact of a key."""
        path = self._path(key)
        self._added += draft.stat().st_size
        os.replace(draft, path)
        if self._added > self._largest // 8:
            self._added = 0
            make_room(self._folder, SUFFIX, self._largest, path)
        return path

    def drop(self, key: str) -> None:
        """Forget the artifact of a key."""
        with suppress(OSError):
            self._path(key).unlink(missing_ok=True)

    @contextmanager
    def single_flight(self, key: str) -> Iterator[None]:
        """Keep out everybody on this machine who works at the same key."""
        # A few locks for all keys: they need not be cleared away.
        with locked(self._folder / "locks" / key[:2]):
            yield

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{SUFFIX}"
