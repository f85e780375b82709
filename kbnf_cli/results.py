"""The cache of findings of ``kbnf check``, by content.

An entry is named after everything that decides the findings: the program, the name and the text of
the file, the settings of its lints. Other files that were read, imported ones, are in it with a
digest, and are compared again before the entry counts. It contains the findings before anything is
selected or ignored, so those settings may change.

Entries are JSON after a digest of it: a damaged one is a miss, and none can run code. They are
written beside and renamed, so any number of processes may share a folder. One that belongs to
another user is a miss, too; the folder is made for its owner alone.

Tests: tests/cli/test_check_cache.py
"""

import json
import os
import stat
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_core.text.diagnostics.stored import from_stored, to_stored
from kbnf_core.text.files import cache_folder, load_text, make_room
from kbnf_core.text.source import Source
from kbnf_core.version import __version__

if TYPE_CHECKING:
    from kbnf_core.text.diagnostics import Diagnostic

LARGEST_TOTAL = 2**26
"""The total size of all entries, in bytes; one without findings has a hundred."""

LARGEST_ENTRY = 2**20
"""The size of an entry that is kept."""

SUFFIX = ".checked"

FORMAT = 1
"""Of the entries; raised whenever they change."""

_OWN = ("kbnf_core", "kbnf_cli")
_LIBRARIES = ("regex", "lark", "interegular", "jsonschema", "referencing")
"""Libraries on which findings depend."""

_DIGEST = 32
"""Bytes of a digest in hexadecimal."""


@dataclass(frozen=True, slots=True)
class Results:
    """A cache in ``folder`` of the findings of one state of the program, called ``program``."""

    folder: Path
    program: str

    def entry(self, source: Source, settings: Sequence[object]) -> "ResultEntry":
        """Return the entry of the findings in a text; ``settings`` are values that JSON has."""
        key = json.dumps([FORMAT, self.program, source.path, source.text, settings])
        digest = _digest(key.encode())
        return ResultEntry(self.folder / f"{digest}{SUFFIX}", digest, source)

    def make_room(self) -> None:
        """Evict old entries, best effort, until the others have their size."""
        make_room(self.folder, SUFFIX, LARGEST_TOTAL)


@dataclass(frozen=True, slots=True)
class ResultEntry:
    """The entry of the findings in ``source``, under the name ``key``."""

    path: Path
    key: str
    source: Source

    def recall(self) -> "tuple[Diagnostic, ...] | None":
        """Return the stored findings; None on a miss."""
        try:
            data = _read_own(self.path)
            sealed, payload = data[:_DIGEST], data[_DIGEST:]
            if sealed != self._seal(payload):
                return None
            value = json.loads(payload)
            if any(_digest_of(load_text(path)) != seen for path, seen in value["imports"].items()):
                return None
            result = from_stored(value, self.source)
            os.utime(self.path)
        except (OSError, LookupError, TypeError, ValueError):
            return None
        return result

    def keep(self, findings: "Sequence[Diagnostic]", imports: "Recording") -> None:
        """Store findings, best effort; ``imports`` are the files that were read for them."""
        value = {**to_stored(findings, self.source), "imports": imports.digests}
        payload = json.dumps(value).encode()
        if len(payload) > LARGEST_ENTRY:
            return
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _put(self.path, self._seal(payload) + payload)
        except OSError:
            # The grammar is usable even if the cache cannot be written.
            return

    def _seal(self, payload: bytes) -> bytes:
        return _digest(self.key.encode() + payload).encode()


class Recording:
    """Reads imported files, and records them."""

    def __init__(self) -> None:
        self.digests: dict[str, str | None] = {}

    def load(self, path: str) -> str | None:
        """Return the text of a file, as ``imports.load_text``."""
        text = load_text(path)
        self.digests[path] = _digest_of(text)
        return text


def open_results(folder: Path | None) -> Results | None:
    """Return the cache below ``folder``, or at its usual place; None if caches are off."""
    results_folder = folder / _FOLDER if folder is not None else cache_folder(_FOLDER)
    return None if results_folder is None else Results(results_folder, _program())


_FOLDER = "checks"


def _program() -> str:
    """Return a text that differs for every other program, one of a changed checkout included.

    A checkout keeps its version, so sizes and times of its files count, too.
    """
    files = [*(status for name in _OWN for status in _files_of(name)), *map(_spec, _LIBRARIES)]
    return _digest(repr([__version__, sys.version, sorted(files)]).encode())


def _files_of(package: str) -> Iterator[tuple[int, int]]:
    """Yield size and time of the files of a package of ours."""
    spec = find_spec(package)
    pending = list(spec.submodule_search_locations or ()) if spec is not None else []
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    if entry.name != "__pycache__":
                        pending.append(entry.path)
                else:
                    yield _look(entry.stat)


def _spec(library: str) -> tuple[int, int]:
    spec = find_spec(library)
    origin = None if spec is None else spec.origin
    return (0, 0) if origin is None else _look(Path(origin).stat)


def _look(stat_: Callable[[], os.stat_result]) -> tuple[int, int]:
    try:
        status = stat_()
    except OSError:
        return 0, 0
    return status.st_size, status.st_mtime_ns


def _read_own(path: Path) -> bytes:
    """Return a regular file of this user; ``OSError`` for anything else."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with open(os.open(path, flags | getattr(os, "O_BINARY", 0)), "rb") as file:
        status = os.fstat(file.fileno())
        is_own = not hasattr(os, "geteuid") or status.st_uid == os.geteuid()
        if not (is_own and stat.S_ISREG(status.st_mode)):
            raise PermissionError("an entry of another user")
        return file.read(LARGEST_ENTRY + _DIGEST + 1)


def _put(path: Path, data: bytes) -> None:
    """Give an entry its content at once; after a crash it may be damaged, which is a miss."""
    temporary = path.with_name(f".{os.urandom(8).hex()}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(data)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _digest_of(text: str | None) -> str | None:
    return None if text is None else _digest(text.encode("utf-8", "surrogatepass"))


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=_DIGEST // 2).hexdigest()
