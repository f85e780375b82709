"""The files of vocabularies: in folders, in Hugging Face's local cache, and parsed ones in ours.

Models are found in Hugging Face's cache by name; nothing is ever downloaded. It has the layout
``models--OWNER--NAME/snapshots/COMMIT/FILES``, and in ``refs/main`` the commit of the branch
(``huggingface_hub``, "Understand caching").

An entry of the cache of parsed vocabularies is a container (``kbnf_core.container``), ready to be
memory-mapped, and named after the *identity* of the file that was read: its real path, size, time
and inode, the same of the companion files, the stop ids asked for, and the version of the reader.
Data computed from a vocabulary alone are *beside* it, in an entry with the same identity. A damaged
entry, or one with another identity, is a miss. Entries are written atomically, so any number of
processes may read and write them; beyond a total size, the least recently used are evicted.

Tests: tests/unit/vocab/test_cache.py
"""

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from kbnf_core.text.errors import KbnfError, VocabularyError
from kbnf_core.text.files import cache_folder, make_room, read_up_to
from kbnf_core.version import __version__

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[Any]


_USUAL_NAMES = ("tokenizer.json", "tekken.json", "tokenizer.model")

FILES_BESIDE = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
"""The files that are read along with a ``tokenizer.json``."""


def file_of(path: Path) -> Path:
    """Return the vocabulary file in a folder, or ``path`` itself unless it is a folder."""
    if not path.is_dir():
        return path
    for name in _USUAL_NAMES:
        if (path / name).is_file():
            return path / name
    raise VocabularyError(f"{path} is a folder without {', '.join(_USUAL_NAMES)}")


# Compiled where they are used: nearly always a vocabulary is a file.
_NAME = r"(?a)[A-Za-z0-9_][\w.-]*(?:/[A-Za-z0-9_][\w.-]*)?"
_FOLDER = "models--"
_COMMIT = "[0-9a-f]{1,64}"


def hub_folder() -> Path:
    """Return where the cache is, whether it is there or not."""
    for variable, below in (
        ("HF_HUB_CACHE", ""),
        ("HUGGINGFACE_HUB_CACHE", ""),
        ("HF_HOME", "hub"),
        ("XDG_CACHE_HOME", "huggingface/hub"),
    ):
        value = os.environ.get(variable)
        if value:
            return Path(value).expanduser() / below
    return Path("~/.cache/huggingface/hub").expanduser()


def cached_models() -> list[str]:
    """Return the names of the models in the cache that have a tokenizer, sorted."""
    try:
        folders = [entry.name for entry in hub_folder().iterdir()]
    except OSError:
        return []
    names = (folder.removeprefix(_FOLDER).replace("--", "/", 1) for folder in sorted(folders))
    return [name for name in names if cached_vocabulary(name) is not None]


def cached_vocabulary(name: str) -> Path | None:
    """Return the vocabulary's file of a model, that of its branch first; None if there is none."""
    if re.fullmatch(_NAME, name) is None:
        return None
    model = hub_folder() / f"{_FOLDER}{name.replace('/', '--')}"
    for snapshot in _snapshots(model):
        try:
            return file_of(snapshot)
        except VocabularyError:
            continue
    return None


def _snapshots(model: Path) -> Iterator[Path]:
    folder = model / "snapshots"
    try:
        main = read_up_to(model / "refs" / "main", 100).decode("ascii").strip()
        if re.fullmatch(_COMMIT, main) and (folder / main).is_dir():
            yield folder / main
    except (OSError, ValueError):
        pass
    try:
        others = sorted(
            folder.iterdir(), key=lambda snapshot: (-snapshot.stat().st_mtime, snapshot.name)
        )
    except OSError:
        return
    yield from (snapshot for snapshot in others if snapshot.is_dir())


T = TypeVar("T")

LARGEST_TOTAL = 2**29
"""The total size of all entries, in bytes; 131,072 tokens take 9 million, and 20 beside them."""

SMALLEST_FILE = 2**16
"""In bytes; a smaller file is read as fast as an entry."""

SETTLED = 2.0
"""Seconds after which the modification time of a file distinguishes any later change."""

FORMAT = 6
"""Of the entries; raised whenever they, or what the loaders return, change."""

SUFFIX = ".vocabulary"


class CacheEntry(NamedTuple):
    """A slot of the cache; ``identity``: the JSON of the files that its vocabulary is read from."""

    path: Path
    identity: str

    def beside(self, name: str) -> "CacheEntry":
        """Return the slot of data computed from the vocabulary, by their name."""
        return CacheEntry(self.path.with_name(f"{self.path.stem}-{name}{SUFFIX}"), self.identity)

    def recall(self, read: "Callable[[Mapping[str, Array]], T]") -> T | None:
        """Return the value that ``read`` makes of the arrays here, None on a miss."""
        from kbnf_core.container import checksum, read_container

        try:
            arrays, metadata = read_container(self.path)
            if metadata != self._metadata(checksum(arrays)):
                return None
            result = read(arrays)
            os.utime(self.path)
        except (KbnfError, OSError, LookupError, TypeError, ValueError):
            return None
        return result

    def keep(self, arrays: "Mapping[str, Array]") -> None:
        """Store arrays. Best effort; evicts old entries."""
        from kbnf_core.container import checksum, write_container

        metadata = self._metadata(checksum(arrays))
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_container(self.path, arrays, metadata)
            make_room(self.path.parent, SUFFIX, LARGEST_TOTAL)
        except OSError:
            # The vocabulary is usable even if the cache cannot be written.
            return

    def _metadata(self, checksum: int) -> dict[str, object]:
        return {"format": FORMAT, "identity": self.identity, "checksum": checksum}


def find_entry(file: Path, eos: Collection[int] | None) -> CacheEntry | None:
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
    return CacheEntry(folder / f"{digest}{SUFFIX}", identity)


def _identity(file: Path, eos: Collection[int] | None) -> list[object]:
    beside = [_look(file.parent / name) for name in FILES_BESIDE]
    stops = None if eos is None else sorted(eos)
    return [file.name, os.path.realpath(file), _look(file), beside, stops]


def _look(file: Path) -> list[int]:
    """Return the data that change with a file; none for a file that does not exist."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return []
    return [status.st_size, status.st_mtime_ns, status.st_ino]
