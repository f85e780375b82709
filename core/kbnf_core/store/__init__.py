"""A store of artifacts that many machines share.

**Layout.** ``inputs/KEY`` has the format of an artifact, its digest and its size in bytes;
``objects/DIGEST`` is the artifact, compressed; ``failures/KEY`` is the reason why a source is
refused; ``vocabularies/FINGERPRINT`` is read by workers without its file, for grammars whose texts
stand for tokens. A key is a hash of everything that decides the result (``keys.py``), so an entry
is never stale. Digests are hashes of contents, and compiling is deterministic: writers need no
lock, since all of them write the same bytes.

**Trust.** Everything read is checked. An artifact is unpacked in no more bytes than were announced,
compared with its digest and with the key that its manifest names, and validated; whatever is
missing, exchanged or damaged is a miss and a note. Nothing is signed, though: a writer of a store
may write an artifact whose tables are not those of the source that it names, and decides which
texts grammars from this store allow.

**Earlier formats.** Keys cover the format, so an entry of an earlier one is never asked for.
``collect`` removes these entries, and what only they refer to.

Here artifacts are put and got by their keys, and a store is opened by its URL and managed.

Tests: tests/unit/store/test_artifact_store.py, tests/unit/store/test_s3.py
"""

import atexit
import errno
import hashlib
import json
import os
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TypeVar

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.manifest import ArtifactError
from kbnf_core.artifact.read import Stored
from kbnf_core.container import ContainerError, digest, read_container, write_container
from kbnf_core.store.backend import DAY, Backend, DirectoryStore, LocalCache, StoreError
from kbnf_core.store.keys import DIGITS, is_name
from kbnf_core.text.diagnostics.segments import visible
from kbnf_core.text.errors import ConfigError, GrammarError, KbnfError, VocabularyError
from kbnf_core.text.files import cache_folder
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import new_lock
from kbnf_core.vocab.vocabulary import Vocabulary

T = TypeVar("T")

INPUTS, OBJECTS = "inputs/", "objects/"
FAILURES, VOCABULARIES = "failures/", "vocabularies/"
FOLDERS = (INPUTS, OBJECTS, FAILURES, VOCABULARIES)

_EARLIER = ("rows/",)
"""Folders of earlier formats."""

NEGATIVE_SECONDS = 24 * 60 * 60.0
"""After this time a failure expires: the refused source is tried again."""

LARGEST = 2**30
"""Bytes of an artifact in a store."""

_LONGEST_ENTRY = 64
"""Bytes of ``inputs/KEY``."""

_LONGEST_FAILURE = 2**20
"""Bytes of ``failures/KEY``."""


class DamagedError(KbnfError, ValueError):
    """An object in a store is missing or has another digest; ``key`` names it."""

    def __init__(self, key: str, reason: str) -> None:
        self.key = key
        super().__init__(f"{key} {reason}")


class StoreWarning(UserWarning):
    """Something in a store is damaged, or it cannot be reached: slower, but correct."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a source has no artifact.

    ``kind`` is ``refused``, ``memory``, ``killed`` or ``internal`` (a bug here).
    """

    kind: str
    message: str


KINDS = ("refused", "memory", "killed", "internal")
"""Of failures."""


class StoredFailureError(GrammarError):
    """A source that was refused earlier; ``failure`` says why.

    The message comes from the store, so what could move a terminal's cursor is replaced in it.
    """

    def __init__(self, failure: Failure) -> None:
        super().__init__(())
        self.failure = failure
        self.args = (visible(failure.message),)


@dataclass(frozen=True, slots=True)
class StoreEntry:
    """The content of ``inputs/KEY``: the format of an artifact, its digest, and its bytes.

    In format 5 and earlier the digest came first; those entries have format 0 here.
    """

    format: int
    digest: str
    size: int

    @classmethod
    def read(cls, data: bytes) -> "StoreEntry":
        """Return the entry that some bytes are; raise ``ValueError`` for others."""
        text = data[:_LONGEST_ENTRY].decode("ascii", "replace")
        form = re.fullmatch(rf"(?:(\d+) )?([0-9a-f]{{{DIGITS}}})(?: (\d+))?", text, re.ASCII)
        if form is None:
            raise ValueError(text)
        entry = cls(*(int(form[1] or 0), form[2], int(form[3] or 0)))
        if len(data) > _LONGEST_ENTRY or entry.size > LARGEST:
            raise ValueError(text)
        return entry

    def written(self) -> bytes:
        """Return the content of the file."""
        return f"{self.format} {self.digest} {self.size}".encode("ascii")


class ArtifactStore:
    """Artifacts by their keys; threads and processes may share a store.

    ``metrics``: hits (``local`` of them in the cache), misses, damaged entries, bytes read from the
    backend and written to it.
    """

    def __init__(
        self, backend: Backend, cache: LocalCache, negative_seconds: float = NEGATIVE_SECONDS
    ) -> None:
        self.backend = backend
        self.cache = cache
        self.metrics = dict.fromkeys(("hits", "local", "misses", "damaged", "read", "written"), 0)
        self._negative_seconds = negative_seconds
        self._lock = new_lock()

    def entries(self) -> Iterator[tuple[str, StoreEntry | DamagedError]]:
        """Yield all keys in order, each with its entry, which may be of any format, or damaged."""
        for name in self.backend.keys(INPUTS):
            key = name.removeprefix(INPUTS)
            try:
                entry = self.entry(key) if is_name(key) else None
            except DamagedError as error:
                yield key, error
            else:
                if entry is not None:
                    yield key, entry

    def stored_keys(self) -> Iterator[str]:
        """Yield the keys of all artifacts of this format, and of damaged entries, in order."""
        for key, entry in self.entries():
            if isinstance(entry, DamagedError) or entry.format == FORMAT:
                yield key

    def get(self, key: str) -> Path | None:
        """Return a local file with the artifact of a key, None on a miss.

        Damage is a miss, a ``StoreWarning``, and removed, so that the next writer fixes it.
        """
        path = self.cache.find(key)
        if path is not None:
            self.count("local")
        else:
            path = self._fetched(key)
        self.count("misses" if path is None else "hits")
        return path

    def put(self, key: str, artifact: Path) -> bool:
        """Store an artifact, and then its entry; return whether there was none.

        Raises ``ConfigError`` for one that is larger than what readers take.
        """
        size = artifact.stat().st_size
        if size > LARGEST:
            raise ConfigError(f"an artifact in a store has at most {LARGEST:,} bytes")
        data = artifact.read_bytes()
        entry = StoreEntry(FORMAT, _digest_of(data), size)
        # Most of an artifact is numbers with leading zeros: 6.5 times less in 1 % of compiling.
        self._put(OBJECTS + entry.digest, zlib.compress(data, 1))
        return self._put(INPUTS + key, entry.written())

    def put_failure(self, key: str, failure: Failure) -> None:
        """Store why there is no artifact."""
        if self.failure(key) is None:
            self.backend.remove(FAILURES + key)
        text = json.dumps({"kind": failure.kind, "message": failure.message})
        self._put(FAILURES + key, text.encode("ascii"))

    def failure(self, key: str) -> Failure | None:
        """Return why there is no artifact, as long as that counts."""
        name = FAILURES + key
        if not 0.0 <= self.backend.age(name) < self._negative_seconds:
            return None
        try:
            return self._checked(name, _failure, _LONGEST_FAILURE)
        except DamagedError as error:
            self.count("damaged")
            self.warn(f"{error}; it is compiled again")
            with suppress(StoreError):
                self.backend.remove(name)
        return None

    def put_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Store a vocabulary under its fingerprint, for machines that have not its file."""
        from kbnf_core.vocab.stored import to_arrays

        arrays = to_arrays(vocabulary.unnamed)
        with self.cache.draft() as work:
            write_container(work, arrays, {"digest": digest(arrays)})
            self._put(VOCABULARIES + vocabulary.fingerprint, work.read_bytes())

    def vocabulary(self, fingerprint: str) -> Vocabulary:
        """Return a vocabulary; raises ``VocabularyError`` where it is missing or damaged."""
        try:
            with self.cache.draft() as work:
                vocabulary = self._checked(
                    VOCABULARIES + fingerprint, lambda data: _vocabulary(data, work)
                )
        except DamagedError as error:
            raise VocabularyError(f"{self.backend.name}: {error}") from None
        if vocabulary is None or vocabulary.fingerprint != fingerprint:
            raise VocabularyError(f"{self.backend.name} has no vocabulary {fingerprint}")
        return vocabulary

    def prefetch(self, keys: Iterable[str]) -> int:
        """Bring artifacts into the local cache; return how many of them are there."""
        return sum(self.get(key) is not None for key in keys)

    def check(self, key: str) -> bool:
        """Read the artifact of a key from the store; return whether there is one.

        Raises ``DamagedError``.
        """
        with self.cache.draft() as work:
            return self._fetch(key, work)

    def discard(self, key: str, error: DamagedError) -> None:
        """Remove the entry of a key, and its damaged artifact, so that both are written anew."""
        self.count("damaged")
        self.backend.remove(error.key)
        # Without it nobody finds the object.
        self.backend.remove(INPUTS + key)
        self.cache.drop(key)

    def entry(self, key: str) -> StoreEntry | None:
        """Return the entry of a key, None where there is none; raises ``DamagedError``."""
        return self._checked(INPUTS + key, StoreEntry.read, _LONGEST_ENTRY)

    def count(self, metric: str, number: int = 1) -> None:
        """Add to a metric."""
        with self._lock:
            self.metrics[metric] += number

    def warn(self, message: object) -> None:
        """Log a condition that makes the store slower."""
        warnings.warn(f"{self.backend.name}: {message}", StoreWarning, stacklevel=2)

    def _fetched(self, key: str) -> Path | None:
        try:
            with self.cache.draft() as work:
                return self.cache.keep(key, work) if self._fetch(key, work) else None
        except DamagedError as error:
            self._give_up(key, error)
        return None

    def _fetch(self, key: str, artifact: Path) -> bool:
        """Write the artifact of a key; return whether there is one. Raises ``DamagedError``."""
        entry = self.entry(key)
        if entry is None:
            return False
        if entry.format != FORMAT:
            raise DamagedError(INPUTS + key, "is of another format")
        name = OBJECTS + entry.digest
        data = self._checked(name, lambda packed: _unpacked(packed, entry))
        if data is None:
            raise DamagedError(name, "is missing")
        artifact.write_bytes(data)
        try:
            manifest = Stored.open(artifact, DEFAULT_LIMITS.artifact_read).manifest
        except ArtifactError as error:
            raise DamagedError(name, f"is damaged: {error.reason}") from None
        if manifest.key != key:
            raise DamagedError(INPUTS + key, "names the artifact of another source")
        return True

    def _checked(self, key: str, read: Callable[[bytes], T], most: int = LARGEST) -> T | None:
        """Return a content as ``read`` makes it, from at most a byte more than ``most``."""
        data = self.backend.get(key, most + 1)
        if data is None:
            return None
        self.count("read", len(data))
        try:
            return read(data)
        except (ValueError, RecursionError) as error:
            raise DamagedError(key, "is damaged") from error

    def _give_up(self, key: str, error: DamagedError) -> None:
        """Discard a damaged entry, where that is permitted, and log it."""
        self.warn(f"{error}; it is compiled again")
        with suppress(StoreError):
            self.discard(key, error)

    def _put(self, key: str, data: bytes) -> bool:
        is_new = self.backend.put_if_absent(key, data)
        self.count("written", len(data) if is_new else 0)
        return is_new


def _digest_of(data: bytes) -> str:
    """Return the digest that names an artifact."""
    return hashlib.blake2b(data, digest_size=DIGITS // 2).hexdigest()


def _unpacked(packed: bytes, entry: StoreEntry) -> bytes:
    """Return the artifact of an entry; raise ``ValueError`` where it is another content.

    A few bytes may be compressed to stand for gigabytes, so that no more are unpacked than the
    entry announces.
    """
    try:
        unpacking = zlib.decompressobj()
        data = unpacking.decompress(packed, entry.size + 1)
    except zlib.error as error:
        raise ValueError("is damaged") from error
    if not unpacking.eof or len(data) != entry.size or _digest_of(data) != entry.digest:
        raise ValueError("is not what its digest says")
    return data


def _failure(data: bytes) -> Failure:
    fields = json.loads(data[:_LONGEST_FAILURE])
    if not isinstance(fields, dict) or fields.get("kind") not in KINDS:
        raise ValueError(fields)
    return Failure(fields["kind"], str(fields.get("message", "")))


def _vocabulary(data: bytes, work: Path) -> Vocabulary:
    from kbnf_core.vocab.stored import from_arrays

    work.write_bytes(data)
    try:
        arrays, metadata = read_container(work)
        if metadata.get("digest") != digest(arrays):
            raise ValueError("is damaged")
        return from_arrays(arrays)
    except (ContainerError, LookupError, TypeError) as error:
        raise ValueError("is damaged") from error


def open_store(url: str | Path, cache: Path | None = None) -> ArtifactStore:
    """Return the store at a URL or in a folder; one for each URL in a process.

    ``cache`` is the folder of its local cache, by default one among the user's caches; where that
    cannot be made, as on a read-only disk, or caches are off, it is a temporary one. Raises
    ``MissingExtraError`` for a URL where fsspec is not installed, ``StoreError`` for one that it
    does not know, ``ConfigError`` for an empty text and for a ``cache`` that cannot be made.
    """
    if not str(url):
        raise ConfigError("a store is a folder or a URL, and this is an empty text")
    # Connections of a process are unusable in the processes that it forks.
    with _lock:
        return _open(str(url), cache, os.getpid())


_lock = new_lock()
"""So that threads that open a store at the same time get one."""


@lru_cache(maxsize=16)
def _open(url: str, cache: Path | None, process: int) -> ArtifactStore:
    del process
    folder = _local_folder(url) if cache is None else cache
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK):
            raise PermissionError(errno.EACCES, "it cannot be written")
    except OSError as error:
        if cache is not None:
            raise ConfigError(f"{cache} cannot be a cache: {error.strerror}") from None
        message = f"{folder}: {error.strerror}; the local cache is a temporary folder"
        warnings.warn(message, StoreWarning, stacklevel=2)
        folder = _temporary_folder()
    return ArtifactStore(_backend(url), LocalCache(folder / "artifacts"))


def _backend(url: str) -> Backend:
    scheme, sign, folder = url.partition("://")
    if not sign:
        return DirectoryStore(url)
    if scheme == "file":
        return DirectoryStore(folder)
    from kbnf_core.store.fsspec_store import FsspecStore

    return FsspecStore(url)


def _local_folder(url: str) -> Path:
    folder = cache_folder("stores")
    return _temporary_folder() if folder is None else folder / _digest(url)


def _temporary_folder() -> Path:
    """Return a new folder, which this process removes at its end, and none that it forks."""
    folder, process = mkdtemp(prefix="kbnf-"), os.getpid()

    def remove() -> None:
        if process == os.getpid():
            rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return Path(folder)


def _digest(url: str) -> str:
    return hashlib.blake2b(url.encode(), digest_size=8).hexdigest()


def sizes(store: ArtifactStore) -> dict[str, tuple[int, int]]:
    """Return how many entries there are in each folder, and their bytes."""
    result = {}
    for folder in FOLDERS:
        names = list(store.backend.keys(folder))
        result[folder.rstrip("/")] = len(names), sum(map(store.backend.size, names))
    return result


def count_others(store: ArtifactStore) -> int:
    """Return how many entries are of another format."""
    entries = (entry for _, entry in store.entries())
    return sum(isinstance(entry, StoreEntry) and entry.format != FORMAT for entry in entries)


def damage(store: ArtifactStore, remove: bool = False) -> Iterator[DamagedError]:
    """Yield the damage of each artifact, having read it whole from the store itself.

    With ``remove``, the entry goes and its damaged artifact, so that it is compiled again.
    """
    for key in store.stored_keys():
        try:
            store.check(key)
        except DamagedError as error:
            if remove:
                store.discard(key, error)
            yield error


def collect(store: ArtifactStore, age: float = DAY) -> int:
    """Remove unreferenced objects and earlier formats, if older than ``age``; return how many.

    ``age`` is in seconds. Writers put inputs last, so a young object may be about to be referred
    to.
    """
    removed = store.backend.sweep()
    used: set[str] = set()
    unused = [name for folder in _EARLIER for name in store.backend.keys(folder)]
    for key, entry in store.entries():
        if isinstance(entry, StoreEntry) and entry.format < FORMAT:
            unused.append(INPUTS + key)
        elif isinstance(entry, StoreEntry):
            used.add(OBJECTS + entry.digest)
    unused.extend(name for name in store.backend.keys(OBJECTS) if name not in used)
    for name in unused:
        if store.backend.age(name) > age:
            store.backend.remove(name)
            removed += 1
    return removed
