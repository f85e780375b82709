"""A store of artifacts that many machines share.

**Layout.** ``inputs/KEY`` has the digest of an artifact and its size in bytes;
``objects/DIGEST`` is the artifact without its mask rows, compressed; ``rows/DIGEST`` is one mask
row, shared by all artifacts that have it; ``failures/KEY`` is why a source is refused;
``vocabularies/FINGERPRINT`` is what workers read that have not its file. A key is a hash of
everything that decides what is compiled (``keys.py``), so an entry is never stale. Digests are of
contents, and compiling is deterministic: writers need no lock, since all of them write the same
bytes.

**Trust.** What is read is checked. An artifact is put together again from its rows, in no more
bytes than were announced, compared with its digest and with the key that its manifest names, and
validated when it is loaded; whatever is missing, exchanged or damaged is a miss and a note. Nothing
is signed, though: whoever may write to a store may write an artifact whose tables are not those of
the source that it names, and decides what grammars from this store allow.

Here artifacts are put and got by their keys, and a store is opened by its URL and managed.
"""

import atexit
import errno
import hashlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Lock
from typing import TypeVar

from kbnf_core.container import ContainerError, digest, read_container, write_container
from kbnf_core.store.backend import DAY, Backend, DirectoryStore, LocalCache, StoreError
from kbnf_core.store.keys import DIGITS, is_name
from kbnf_core.store.shared_rows import LARGEST, DamagedError, Skeleton, packed, split, unpacked
from kbnf_core.text.diagnostics.segments import visible
from kbnf_core.text.errors import ConfigError, GrammarError, VocabularyError
from kbnf_core.text.files import cache_folder
from kbnf_core.vocab.vocabulary import Vocabulary

T = TypeVar("T")

INPUTS, OBJECTS, ROWS = "inputs/", "objects/", "rows/"
FAILURES, VOCABULARIES = "failures/", "vocabularies/"

NEGATIVE_SECONDS = 24 * 60 * 60.0
"""After this a failure is no answer any more: what was refused is tried again."""

_LONGEST_ENTRY = 64
"""Bytes of ``inputs/KEY``."""

_LONGEST_FAILURE = 2**20
"""Bytes of ``failures/KEY``."""

_KNOWN_ROWS = 500_000
"""Names of rows that a process remembers to be in the store."""


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
class Entry:
    """What ``inputs/KEY`` says: the digest of an artifact, and its bytes."""

    digest: str
    size: int

    @classmethod
    def read(cls, path: Path) -> "Entry":
        """Return what a file says; raise ``ValueError`` where that is nothing."""
        text = _beginning(path, _LONGEST_ENTRY).decode("ascii", "replace")
        name, _, size = text.partition(" ")
        if not is_name(name) or not (size.isascii() and size.isdecimal()):
            raise ValueError(text)
        if int(size) > LARGEST:
            raise ValueError(text)
        return cls(name, int(size))

    def written(self) -> bytes:
        """Return the content of the file."""
        return f"{self.digest} {self.size}".encode("ascii")


class ArtifactStore:
    """Artifacts by their keys; threads and processes may share a store.

    ``metrics``: hits (``local`` of them in the cache), misses, what was found damaged, bytes read
    from the backend and written to it.
    """

    def __init__(
        self, backend: Backend, cache: LocalCache, negative_seconds: float = NEGATIVE_SECONDS
    ) -> None:
        self.backend = backend
        self.cache = cache
        self.metrics = dict.fromkeys(("hits", "local", "misses", "damaged", "read", "written"), 0)
        self._negative_seconds = negative_seconds
        self._known_rows: set[str] = set()
        self._lock = Lock()

    def known_keys(self) -> Iterator[str]:
        """Yield the keys of all artifacts, in order."""
        names = (name.removeprefix(INPUTS) for name in self.backend.keys(INPUTS))
        return (name for name in names if is_name(name))

    def get(self, key: str) -> Path | None:
        """Return a local file with the artifact of a key, None on a miss.

        Damage is a miss, a ``StoreWarning``, and removed, so that the next writer fixes it.
        """
        path = self.cache.find(key)
        if path is not None:
            self.count("local")
        else:
            path = self._assembled(key)
        self.count("misses" if path is None else "hits")
        return path

    def put(self, key: str, artifact: Path) -> bool:
        """Store an artifact; return whether there was none. What it is made of comes first.

        Raises ``ConfigError`` for one that is larger than what readers take.
        """
        entry = Entry(digest_of(artifact), artifact.stat().st_size)
        if entry.size > LARGEST:
            raise ConfigError(f"an artifact in a store has at most {LARGEST:,} bytes")
        with self.cache.draft() as work:
            rows = split(artifact, work)
            self._put_rows(rows)
            self._put(OBJECTS + entry.digest, work)
        return self._put_bytes(INPUTS + key, entry.written())

    def put_failure(self, key: str, failure: Failure) -> None:
        """Store why there is no artifact."""
        if self.failure(key) is None:
            self.backend.remove(FAILURES + key)
        text = json.dumps({"kind": failure.kind, "message": failure.message})
        self._put_bytes(FAILURES + key, text.encode("ascii"))

    def failure(self, key: str) -> Failure | None:
        """Return why there is no artifact, as long as that counts."""
        name = FAILURES + key
        if not 0.0 <= self.backend.age(name) < self._negative_seconds:
            return None
        try:
            return self._checked(name, _failure)
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
            self._put(VOCABULARIES + vocabulary.fingerprint, work)

    def vocabulary(self, fingerprint: str) -> Vocabulary:
        """Return a vocabulary; raises ``VocabularyError`` where it is missing or damaged."""
        try:
            found = self._checked(VOCABULARIES + fingerprint, _vocabulary)
        except DamagedError as error:
            raise VocabularyError(f"{self.backend.name}: {error}") from None
        if found is None or found.fingerprint != fingerprint:
            raise VocabularyError(f"{self.backend.name} has no vocabulary {fingerprint}")
        return found

    def prefetch(self, keys: Iterable[str]) -> int:
        """Bring artifacts into the local cache; return how many of them are there."""
        return sum(self.get(key) is not None for key in keys)

    def check(self, key: str) -> bool:
        """Read all that the artifact of a key is made of; return whether there is one.

        Raises ``DamagedError``.
        """
        with self.cache.draft() as work:
            return self._assemble(key, work)

    def discard(self, key: str, error: DamagedError) -> None:
        """Remove the entry of a key, and what is damaged, so that both are written anew."""
        self.count("damaged")
        self._known_rows.discard(error.key.removeprefix(ROWS))
        self.backend.remove(error.key)
        # Without it nobody finds the object.
        self.backend.remove(INPUTS + key)
        self.cache.drop(key)

    def row_names(self, entry: Entry) -> Iterable[str]:
        """Return the digests of the rows of an artifact; raises ``DamagedError``."""
        return self._skeleton(entry).rows

    def entry(self, key: str) -> Entry | None:
        """Return what is known of the artifact of a key; raises ``DamagedError``."""
        return self._checked(INPUTS + key, Entry.read)

    def count(self, what: str, number: int = 1) -> None:
        """Add to a metric."""
        with self._lock:
            self.metrics[what] += number

    def warn(self, what: object) -> None:
        """Say what is slower than it could be."""
        warnings.warn(f"{self.backend.name}: {what}", StoreWarning, stacklevel=2)

    def _assembled(self, key: str) -> Path | None:
        try:
            with self.cache.draft() as work:
                return self.cache.keep(key, work) if self._assemble(key, work) else None
        except DamagedError as error:
            self._give_up(key, error)
        return None

    def _assemble(self, key: str, artifact: Path) -> bool:
        """Write the artifact of a key; tell whether there is one. Raises ``DamagedError``."""
        entry = self.entry(key)
        if entry is None:
            return False
        skeleton = self._skeleton(entry)
        self.backend.fetch(ROWS + row for row in skeleton.rows)
        skeleton.join({row: self._row(row, size) for row, size in skeleton.rows.items()}, artifact)
        if digest_of(artifact) != entry.digest:
            raise DamagedError(OBJECTS + entry.digest, "is not what its digest says")
        if skeleton.key != key:
            raise DamagedError(INPUTS + key, "names the artifact of another source")
        return True

    def _skeleton(self, entry: Entry) -> Skeleton:
        key = OBJECTS + entry.digest
        with self.cache.draft() as work:
            found = self._checked(key, lambda path: Skeleton(key, path, work, entry.size))
        if found is None:
            raise DamagedError(key, "is missing")
        return found

    def _row(self, name: str, size: int) -> bytes:
        key = ROWS + name
        found = self._checked(key, lambda path: unpacked(key, path, size))
        if found is None:
            raise DamagedError(key, "is missing")
        return found

    def _checked(self, key: str, read: Callable[[Path], T]) -> T | None:
        """Return what ``read`` makes of a key; a local copy that is damaged is got again."""
        for fresh in (False, True):
            path = self.backend.get(key, fresh=fresh)
            if path is None:
                return None
            try:
                found = read(path)
                self.count("read", path.stat().st_size)
            except FileNotFoundError:
                # It went away just now.
                continue
            except (DamagedError, ValueError) as error:
                if fresh:
                    raise DamagedError(key, _reason(error)) from None
            else:
                return found
        return None

    def _give_up(self, key: str, error: DamagedError) -> None:
        """Discard what is damaged, where that is permitted, and say so."""
        self.warn(f"{error}; it is compiled again")
        with suppress(StoreError):
            self.discard(key, error)

    def _put_rows(self, rows: dict[str, bytes]) -> None:
        if len(self._known_rows) > _KNOWN_ROWS:
            self._known_rows.clear()
        new = {name: packed(row) for name, row in rows.items() if name not in self._known_rows}
        written = self.backend.put_many({ROWS + name: data for name, data in new.items()})
        self.count("written", written)
        self._known_rows.update(new)

    def _put_bytes(self, key: str, data: bytes) -> bool:
        written = self.backend.put_many({key: data})
        self.count("written", written)
        return written > 0

    def _put(self, key: str, path: Path) -> bool:
        stored = self.backend.put_if_absent(key, path)
        self.count("written", path.stat().st_size if stored else 0)
        return stored


def digest_of(path: Path) -> str:
    """Return the digest that names an artifact."""
    with open(path, "rb") as file:
        whole = hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=DIGITS // 2))
    return whole.hexdigest()


def _beginning(path: Path, most: int) -> bytes:
    with open(path, "rb") as file:
        return file.read(most)


def _failure(path: Path) -> Failure:
    fields = json.loads(_beginning(path, _LONGEST_FAILURE))
    if not isinstance(fields, dict) or fields.get("kind") not in KINDS:
        raise ValueError(fields)
    return Failure(fields["kind"], str(fields.get("message", "")))


def _vocabulary(path: Path) -> Vocabulary:
    from kbnf_core.vocab.stored import from_arrays

    try:
        arrays, metadata = read_container(path)
        if metadata.get("digest") != digest(arrays):
            raise ValueError("is damaged")
        return from_arrays(arrays)
    except (ContainerError, LookupError, TypeError) as error:
        raise ValueError("is damaged") from error


def _reason(error: Exception) -> str:
    return str(error).partition(" ")[2] if isinstance(error, DamagedError) else "is damaged"


def open_store(url: str | Path, cache: Path | None = None) -> ArtifactStore:
    """Return the store at a URL or in a folder; one for each URL in a process.

    ``cache`` is the folder of its local cache, by default one among the user's caches; where that
    cannot be made, as on a read-only disk, or caches are off, it is a temporary one. Raises
    ``MissingExtraError`` for a URL where fsspec is not installed, ``StoreError`` for one that it
    does not know, ``ConfigError`` for an empty text and for a ``cache`` that cannot be made.
    """
    if not str(url):
        raise ConfigError("a store is a folder or a URL, and this is an empty text")
    # What is open in a process is of no use to those that it forks.
    with _lock:
        return _open(str(url), cache, os.getpid())


_lock = Lock()
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
    return ArtifactStore(_backend(url, folder), LocalCache(folder / "artifacts"))


def _backend(url: str, folder: Path) -> Backend:
    scheme, sign, place = url.partition("://")
    if not sign:
        return DirectoryStore(url)
    if scheme == "file":
        return DirectoryStore(place)
    from kbnf_core.store.fsspec_store import FsspecStore

    return FsspecStore(url, folder / "parts")


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


FOLDERS = (INPUTS, OBJECTS, ROWS, FAILURES, "vocabularies/")


def sizes(store: ArtifactStore) -> dict[str, tuple[int, int]]:
    """Return how many entries there are in each folder, and their bytes."""
    found = {}
    for folder in FOLDERS:
        names = list(store.backend.keys(folder))
        found[folder.rstrip("/")] = len(names), sum(map(store.backend.size, names))
    return found


def damage(store: ArtifactStore, remove: bool = False) -> Iterator[DamagedError]:
    """Yield what is wrong with each artifact, having read it whole from the store itself.

    With ``remove``, the entry goes and what is damaged of it, so that it is compiled again.
    """
    store.backend.forget()
    for key in store.known_keys():
        try:
            store.check(key)
        except DamagedError as error:
            if remove:
                store.discard(key, error)
            yield error


def collect(store: ArtifactStore, age: float = DAY) -> int:
    """Remove what nothing refers to and is older than ``age`` seconds; return how many.

    Writers put rows first and inputs last, so what is young may be about to be referred to.
    """
    removed = store.backend.sweep()
    entries: set[Entry | None] = set()
    for key in store.known_keys():
        try:
            entries.add(store.entry(key))
        except DamagedError:
            continue
    objects = {entry.digest for entry in entries if entry is not None}
    rows: set[str] = set()
    for entry in filter(None, entries):
        try:
            rows.update(store.row_names(entry))
        except DamagedError:
            continue
    for folder, used in ((OBJECTS, objects), (ROWS, rows)):
        for name in store.backend.keys(folder):
            if name.removeprefix(folder) not in used and store.backend.age(name) > age:
                store.backend.remove(name)
                removed += 1
    return removed
