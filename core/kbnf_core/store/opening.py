"""Stores by their URLs: a folder, or whatever fsspec knows."""

import hashlib
import os
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock

from kbnf_core.cache_folder import cache_folder
from kbnf_core.store.artifact_store import ArtifactStore
from kbnf_core.store.backend import Backend, DirectoryStore
from kbnf_core.store.cache import LocalCache


def open_store(url: str | Path, cache: Path | None = None) -> ArtifactStore:
    """Return the store at a URL or in a folder; one for each URL in a process.

    ``cache`` is the folder of its local cache, by default one among the user's caches. Raises
    ``MissingExtraError`` for a URL where fsspec is not installed, ``StoreError`` for one that it
    does not know.
    """
    # What is open in a process is of no use to those that it forks.
    with _lock:
        return _open(str(url), cache, os.getpid())


_lock = Lock()
"""So that threads that open a store at the same time get one."""


@lru_cache(maxsize=16)
def _open(url: str, cache: Path | None, process: int) -> ArtifactStore:
    del process
    folder = cache or _default_cache() / _digest(url)
    return ArtifactStore(_backend(url, folder), LocalCache(folder / "artifacts"))


def _backend(url: str, folder: Path) -> Backend:
    scheme, sign, place = url.partition("://")
    if not sign:
        return DirectoryStore(url)
    if scheme == "file":
        return DirectoryStore(place)
    from kbnf_core.store.fsspec_store import FsspecStore

    return FsspecStore(url, folder / "parts")


def _default_cache() -> Path:
    return cache_folder("stores") or Path(mkdtemp(prefix="kbnf-"))


def _digest(url: str) -> str:
    return hashlib.blake2b(url.encode(), digest_size=8).hexdigest()
