"""Files of users, read up to a bound and written so that nothing is lost; the folder of caches.

A file is *replaced*: its new content goes to a temporary file beside it, is brought to the disk,
and is renamed over it atomically, so that every reader, also after a crash, finds the old content
or the new. A link keeps pointing where it did, and the file keeps its mode and its owner. Where
replacing would take something away, content is written *in place*: into devices, pipes and open
descriptors (``/dev/stdout``), into a file with several names or an owner that cannot be given
away, and in a folder that takes no new file. A file without permission to write is refused, root
or not, since a rename would not ask for it.

Only regular files are read, and open descriptors of the process of any kind (``/dev/stdin``,
``/dev/fd/63`` of the shell's ``<(...)``). Pipes and devices that merely have a path are not even
opened: most would be waited for without an end.

Which files a grammar may import is set by the caller, never by the grammar (``Imports``). Grammars
are untrusted: nothing in one leads out of its folder unless the caller permits that.

Tests: tests/cli/test_files.py, tests/robustness
"""

import errno
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import BinaryIO, NamedTuple, TypeAlias

from kbnf_core.text.diagnostics import decode
from kbnf_core.text.errors import KbnfError, SourceError
from kbnf_core.text.limits import DEFAULT_LIMITS

Chunk: TypeAlias = bytes | memoryview

_LINKS = 40
"""Links to one another that are followed in search of a descriptor; the system follows no more."""

_NO_WAITING: int = getattr(os, "O_NONBLOCK", 0)
_BINARY: int = getattr(os, "O_BINARY", 0)


def read_file(path: str | Path, largest: int) -> bytes:
    """Return the content of a file of at most ``largest`` bytes.

    Raises ``SourceError`` for one that is larger, cannot be read, or is not a file (see above).
    """
    data = read_up_to(path, largest + 1)
    if len(data) > largest:
        raise SourceError(str(path), f"it has more than {largest:,} bytes")
    return data


def read_up_to(path: str | Path, largest: int) -> bytes:
    """Return the first ``largest`` bytes of a file; raises ``SourceError`` as ``read_file``."""
    with opened(path) as file:
        return file.read(largest)


@contextmanager
def opened(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file to read; raises ``SourceError`` as ``read_file``, also while it is read."""
    try:
        _require_content(path, os.stat(path))
        with open(path, "rb", opener=_open_at_once) as file:
            # Another process may have put something else there.
            _require_content(path, os.fstat(file.fileno()))
            if _NO_WAITING:
                os.set_blocking(file.fileno(), True)
            yield file
    except KbnfError:
        raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SourceError(str(path), reason.lower()) from None


def _require_content(path: str | Path, status: os.stat_result) -> None:
    """Raise ``SourceError`` unless the path is a regular file or an open descriptor."""
    mode = status.st_mode
    # Folders are refused by the system, in its words.
    if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or _descriptor(path) is not None:
        return
    kind = "pipe" if stat.S_ISFIFO(mode) else "socket" if stat.S_ISSOCK(mode) else "device"
    raise SourceError(str(path), f"it is a {kind}")


def write_file(path: str | Path, chunks: Iterable[Chunk]) -> None:
    """Write ``chunks`` after one another as the content of a file.

    Raises ``OSError``, which names ``path``, where that is not possible.
    """
    try:
        _write(Path(path), chunks)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from None


def _write(path: Path, chunks: Iterable[Chunk]) -> None:
    descriptor = _descriptor(path)
    if descriptor is not None:
        with open(os.dup(descriptor), "wb") as file:
            file.writelines(chunks)
        return
    status = _status(path)
    if status is not None and not stat.S_ISREG(status.st_mode):
        with open(os.open(path, os.O_WRONLY), "wb") as file:
            file.writelines(chunks)
        return
    target = Path(os.path.realpath(path))
    if status is not None and not (status.st_mode & 0o222 and os.access(target, os.W_OK)):
        raise PermissionError(errno.EACCES, "the file is read-only")
    content = list(chunks)
    if status is None:
        _replace(target, content, None)
    elif status.st_nlink > 1 or not _is_replaced(target, content, status):
        _write_over(target, content)


def _status(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _is_replaced(target: Path, content: list[Chunk], status: os.stat_result) -> bool:
    """Replace a file, unless its owner or its folder does not permit it."""
    try:
        _replace(target, content, status)
    except PermissionError:
        return False
    return True


def _replace(target: Path, content: list[Chunk], status: os.stat_result | None) -> None:
    """Give ``target`` new content under a new inode, with the mode and owner of ``status``."""
    import secrets

    temporary = target.with_name(f".kbnf-{secrets.token_hex(8)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY
    try:
        with open(os.open(temporary, flags, 0o666 if status is None else 0o600), "wb") as file:
            file.writelines(content)
            _bring_to_disk(file)
        if status is not None:
            _keep(temporary, status)
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _bring_folder_to_disk(target.parent)


def _keep(temporary: Path, status: os.stat_result) -> None:
    """Give a file the owner and the mode of ``status``; the mode last, as chown may clear bits."""
    own = temporary.stat()
    if (own.st_uid, own.st_gid) != (status.st_uid, status.st_gid):
        os.chown(temporary, status.st_uid, status.st_gid)
    temporary.chmod(stat.S_IMODE(status.st_mode))


def _write_over(target: Path, content: list[Chunk]) -> None:
    with target.open("r+b") as file:
        file.writelines(content)
        file.truncate()
        _bring_to_disk(file)


def _bring_to_disk(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _bring_folder_to_disk(folder: Path) -> None:
    """Make a rename last through a power cut, on systems that open folders."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without waiting for the other end of a pipe."""
    return os.open(path, flags | _NO_WAITING)


def _descriptor(path: str | Path) -> int | None:
    """Return which open descriptor of this process ``path`` names, None if it names none."""
    folder = os.path.realpath("/dev/fd")
    absolute = os.path.abspath(path)
    for _ in range(_LINKS):
        parent, name = os.path.split(absolute)
        if name.isdecimal() and os.path.realpath(parent) == folder:
            return int(name)
        try:
            absolute = os.path.join(parent, os.readlink(absolute))
        except OSError:
            return None
    return None


VARIABLE = "KBNF_CACHE_DIR"
"""The environment variable that names the folder; set to nothing, it turns all caches off."""

ABANDONED = 3600
"""Seconds after which a temporary file is one that a process left half written."""


def cache_folder(name: str) -> Path | None:
    """Return the folder of one cache, None if caches are off."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        from platformdirs import user_cache_path

        return user_cache_path("kbnf", appauthor=False) / name
    return Path(wanted) / name if wanted else None


def make_room(folder: Path, suffix: str, largest: int, kept: Path | None = None) -> None:
    """Evict the least recently used entries until all have at most ``largest`` bytes together.

    Entries end with ``suffix``; one may be ``kept`` in any case. So too what a process left half
    written some time ago. Best effort.
    """
    left = largest
    for path, status in sorted(_cached_files(folder), key=lambda entry: -entry[1].st_mtime):
        abandoned = path.suffix == ".tmp" and time.time() - status.st_mtime > ABANDONED
        left -= status.st_size
        if abandoned or (path.suffix == suffix and left < 0 and path != kept):
            with suppress(OSError):
                path.unlink(missing_ok=True)


def _cached_files(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    with suppress(OSError):
        for path in folder.iterdir():
            # Another process may be faster.
            with suppress(OSError):
                if path.is_file():
                    yield path, path.stat()


Load: TypeAlias = Callable[[str], str | None]
"""Returns the text of a file, None if it cannot be read."""


def load_text(path: str) -> str | None:
    """Return the text of a file on disk; None where it cannot be read or is not UTF-8."""
    try:
        data = read_file(path, DEFAULT_LIMITS.source_bytes)
    except SourceError:
        return None
    source, invalid = decode(data, path)
    return None if invalid is not None else source.text


class Imports(NamedTuple):
    """How imports are read: through ``load``, ``anywhere`` or below the grammar's folder only.

    Links in that folder are followed, since its owner made them.
    """

    load: Load = load_text
    anywhere: bool = False

    def permit(self, path: str, grammar: str | None) -> bool:
        """Return whether the text called ``grammar`` may import the file at ``path``."""
        folder = normpath(dirname(grammar or ""))
        prefix = "" if folder == "." else join(folder, "")
        normal = normpath(path)
        rest = normal.removeprefix(prefix)
        inside = normal.startswith(prefix) and not rest.startswith(("../", "/"))
        return self.anywhere or inside

    def keeping(self, files: dict[str, str | None]) -> "Imports":
        """Return the same imports, whose texts are put into ``files`` by path as they are read."""

        def load(path: str) -> str | None:
            files[path] = self.load(path)
            return files[path]

        return self._replace(load=load)


BELOW = Imports()
"""From the grammar's folder and those below it, which is the default."""

ANYWHERE = Imports(anywhere=True)
"""From any folder that the grammar names; for grammars that are the user's own."""
