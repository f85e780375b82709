"""The folder of caches: where they are, and how they keep to their size."""

import os
import time
from collections.abc import Iterable
from pathlib import Path

VARIABLE = "KBNF_CACHE_DIR"
"""The environment variable that names the folder; set to nothing, it turns all caches off."""

ABANDONED = 3600
"""Seconds after which a temporary file is one that a process left half written."""


def cache_folder(part: str) -> Path | None:
    """Return the folder of one cache, None if caches are off."""
    wanted = os.environ.get(VARIABLE)
    if wanted is None:
        from platformdirs import user_cache_path

        return user_cache_path("kbnf", appauthor=False) / part
    return Path(wanted) / part if wanted else None


def make_room(folder: Path, suffix: str, largest: int) -> None:
    """Evict the least recently used entries until all have at most ``largest`` bytes together.

    Entries end with ``suffix``. So too what a process left half written some time ago.
    """
    left = largest
    for path, status in sorted(_files(folder), key=lambda found: -found[1].st_mtime):
        abandoned = path.suffix == ".tmp" and time.time() - status.st_mtime > ABANDONED
        left -= status.st_size
        if abandoned or (path.suffix == suffix and left < 0):
            path.unlink(missing_ok=True)


def _files(folder: Path) -> Iterable[tuple[Path, os.stat_result]]:
    for path in folder.iterdir():
        try:
            yield path, path.stat()
        except FileNotFoundError:
            # Another process was faster.
            continue
