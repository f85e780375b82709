"""The contents of a store, names with contents that are written once, and its local cache.

The local cache contains artifacts, unpacked, the last used, within a bound. A file is
called after the key that it answers, so a look-up is one look at the disk. Its artifacts are read
as any other artifact is: their sections are compared with their digests.

Locks between processes exist on POSIX systems only. Elsewhere they do nothing: work is then done
twice at worst.

Tests: tests/unit/store/test_artifact_store.py, tests/unit/store/test_s3.py
"""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from kbnf_core.artifact import SUFFIX
from kbnf_core.text.errors import KbnfError, SourceError
from kbnf_core.text.files import make_room, read_up_to

TEMPORARY = ".tmp-"
"""The prefix of the names of unfinished files."""

DAY = 24 * 60 * 60.0


class StoreError(KbnfError, OSError):
    """A store that cannot be reached or written; ``store`` names it, without credentials."""

    def __init__(self, store: str, reason: str) -> None:
        self.store = store
        self.reason = reason
        super().__init__(f"{store}: {reason}")


class Backend(Protocol):
    """Names, ``folder/name``, with contents. Every method raises ``StoreError``."""

    @property
    def name(self) -> str:
        """Its name in messages: its place without credentials."""

    def reach(self, *, may_be_new: bool = False) -> None:
        """Raise where nothing answers, or, unless it ``may_be_new``, there is no store."""

    def get(self, key: str, most: int) -> bytes | None:
        """Return the first ``most`` bytes of the content of ``key``, None where there is none."""

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Store a content, unless one of its size is there; return whether it was stored.

        It appears whole or not at all.
        """

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys that begin with ``prefix``, in order."""

    def remove(self, key: str) -> None:
        """Remove a key, if it is there."""

    def size(self, key: str) -> int:
        """Return the bytes stored under a key, 0 where it is not there."""

    def age(self, key: str) -> float:
        """Return the seconds since a key was written, 0 where it is not there."""

    def sweep(self) -> int:
        """Remove unfinished files of interrupted writers; return how many."""


class DirectoryStore:
    """A store in a folder; processes and machines that see the folder may share it."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)

    @property
    def name(self) -> str:
        """The folder."""
        return str(self._folder)

    def reach(self, *, may_be_new: bool = False) -> None:
        """Raise where there is no such folder."""
        if not (may_be_new or self._folder.is_dir()):
            raise StoreError(self.name, "there is no such folder")

    def get(self, key: str, most: int) -> bytes | None:
        """Return the beginning of the file of a key."""
        try:
            return None if self._status(key) is None else read_up_to(self._folder / key, most)
        except SourceError as error:
            # Another process may have removed it since.
            if self._status(key) is None:
                return None
            raise StoreError(self.name, f"{key}: {error.reason}") from error

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Write a file to a temporary name and to the disk, and rename it.

        A file of another size was cut short by something else, and is replaced.
        """
        with self._reported():
            return self._put(key, data)

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys, temporary names left out."""
        folder = self._folder / prefix.rpartition("/")[0]
        with self._reported():
            names = sorted(
                path.relative_to(self._folder).as_posix()
                for path in folder.rglob("*")
                if path.is_file() and not path.name.startswith(TEMPORARY)
            )
        yield from (key for key in names if key.startswith(prefix))

    def remove(self, key: str) -> None:
        """Remove the file of a key."""
        with self._reported():
            (self._folder / key).unlink(missing_ok=True)

    def size(self, key: str) -> int:
        """Return the size of the file of a key."""
        status = self._status(key)
        return 0 if status is None else status.st_size

    def age(self, key: str) -> float:
        """Return the seconds since the file of a key was written."""
        status = self._status(key)
        return 0.0 if status is None else time.time() - status.st_mtime

    def sweep(self) -> int:
        """Remove temporary files that are older than a day."""
        removed = 0
        for path in self._folder.rglob(f"{TEMPORARY}*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > DAY:
                    path.unlink()
                    removed += 1
        return removed

    def _put(self, key: str, data: bytes) -> bool:
        target = self._folder / key
        if target.is_file() and target.stat().st_size == len(data):
            return False
        target.parent.mkdir(parents=True, exist_ok=True)
        draft = target.parent / f"{TEMPORARY}{secrets.token_hex(8)}"
        try:
            with open(draft, "xb") as out:
                out.write(data)
                out.flush()
                os.fsync(out.fileno())
            os.replace(draft, target)
        finally:
            with suppress(OSError):
                draft.unlink(missing_ok=True)
        return True

    def _status(self, key: str) -> os.stat_result | None:
        with self._reported(), suppress(FileNotFoundError):
            return (self._folder / key).stat()
        return None

    @contextmanager
    def _reported(self) -> Iterator[None]:
        """Name the store in the errors of the system."""
        try:
            yield
        except OSError as error:
            raise StoreError(self.name, error.strerror or str(error)) from error


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
        """Keep out the other processes on this machine that work at the same key."""
        # A few locks for all keys: they need not be cleared away.
        with locked(self._folder / "locks" / key[:2]):
            yield

    def _path(self, key: str) -> Path:
        return self._folder / f"{key}{SUFFIX}"
