"""Stores behind fsspec: S3, Google Cloud Storage, Azure, and what else has a driver.

Object stores show an upload whole or not at all; elsewhere it goes to a temporary name and is
moved. What is read is kept in a local folder, since nothing is ever written twice under a name.
Everything is tried again a few times: an upload that was cut off is an upload that did not happen.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit, urlunsplit

from kbnf_core.errors import MissingExtraError
from kbnf_core.files import write_file
from kbnf_core.store.backend import DAY, TEMPORARY, StoreError

T = TypeVar("T")

TRIES = 6
"""How often something is tried before the store counts as out of reach."""

AT_ONCE = 16
"""Uploads at a time."""

_FIRST_PAUSE = 0.05
"""Seconds before the second try; each further pause is twice as long."""

_OBJECT_STORES = frozenset(("abfs", "adl", "az", "gcs", "gs", "memory", "oss", "r2", "s3", "s3a"))

_FINAL = (FileNotFoundError, PermissionError, NotImplementedError, ImportError, ValueError)
"""Errors that another try does not change."""


class FsspecStore:
    """A store at a URL of fsspec's, with a folder for what was read.

    A name and a password in the URL are never shown. Raises ``MissingExtraError`` without fsspec
    or the driver, ``StoreError`` for a URL that is none.
    """

    def __init__(self, url: str, folder: Path) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtraError("a store at a URL", "store") from None
        parts = urlsplit(url)
        self.name = shown_url(url)
        self._secrets = _secrets(url)
        self._folder = folder
        try:
            place, options = _place(url)
            self._fs, self._root = url_to_fs(place, **options)
        except ImportError:
            raise MissingExtraError(f"a store at {parts.scheme}://", "store") from None
        except Exception as error:
            raise self._error(error) from None
        self._is_object_store = parts.scheme in _OBJECT_STORES
        self._pool = ThreadPoolExecutor(AT_ONCE)

    def reach(self) -> None:
        """Raise where nothing answers."""
        self._try(lambda: self._fs.exists(self._root))

    def get(self, key: str, *, fresh: bool = False) -> Path | None:
        """Return the local copy of a key, which is made now unless it is there."""
        local = self._folder / key
        if fresh or not local.is_file():
            data = self._try(lambda: self._fs.cat_file(self._at(key)))
            if data is None:
                local.unlink(missing_ok=True)
                return None
            self._keep(local, data)
        return local

    def fetch(self, keys: Iterable[str]) -> None:
        """Make local copies of many keys in one go."""
        places = {self._at(key): key for key in keys if not (self._folder / key).is_file()}
        if not places:
            return
        found = self._try(lambda: self._fs.cat(list(places), on_error="omit")) or {}
        for place, data in found.items():
            key = places.get(self._fs._strip_protocol(place))
            if key is not None:
                self._keep(self._folder / key, data)

    def put_if_absent(self, key: str, path: Path) -> bool:
        """Upload a file, unless something of its size is there already."""
        return self._put(key, path.read_bytes()) > 0

    def put_many(self, contents: Mapping[str, bytes]) -> int:
        """Upload contents, ``AT_ONCE`` at a time: what takes time is to wait for answers."""
        return sum(self._pool.map(self._put, contents, contents.values()))

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys, temporary names left out."""
        folder = self._at(prefix.rpartition("/")[0]).rstrip("/")
        self._fs.invalidate_cache()
        found = self._try(lambda: self._fs.find(folder)) or []
        start = len(self._root.rstrip("/")) + 1
        keys = sorted(self._fs._strip_protocol(place)[start:] for place in found)
        for key in keys:
            if key.startswith(prefix) and TEMPORARY not in key:
                yield key

    def remove(self, key: str) -> None:
        """Remove a key, and its local copy."""
        with suppress(OSError):
            (self._folder / key).unlink(missing_ok=True)
        self._try(lambda: self._fs.rm_file(self._at(key)))

    def size(self, key: str) -> int:
        """Return the size of a key."""
        return int(self._info(key).get("size") or 0)

    def age(self, key: str) -> float:
        """Return the seconds since a key was written."""
        info = self._info(key)
        written = info.get("LastModified") or info.get("mtime") or info.get("created")
        if isinstance(written, datetime):
            return (datetime.now(UTC) - written.astimezone(UTC)).total_seconds()
        return time.time() - written if isinstance(written, int | float) else 0.0

    def sweep(self) -> int:
        """Remove temporary files that are older than a day."""
        found = self._try(lambda: self._fs.find(self._root)) or []
        start = len(self._root.rstrip("/")) + 1
        names = [self._fs._strip_protocol(place)[start:] for place in found]
        old = [each for each in names if TEMPORARY in each and self.age(each) > DAY]
        for each in old:
            self.remove(each)
        return len(old)

    def _put(self, key: str, data: bytes) -> int:
        if self.size(key) == len(data):
            return 0
        self._try(lambda: self._upload(self._at(key), data))
        return len(data)

    def _info(self, key: str) -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            self._fs.invalidate_cache()
            found: dict[str, Any] = self._fs.info(self._at(key))
            return found

        return self._try(ask) or {}

    def _upload(self, place: str, data: bytes) -> None:
        if self._is_object_store:
            self._fs.pipe_file(place, data)
            return
        folder, _, _ = place.rpartition("/")
        draft = f"{folder}/{TEMPORARY}{token_hex(8)}"
        self._fs.makedirs(folder, exist_ok=True)
        self._fs.pipe_file(draft, data)
        self._fs.mv(draft, place)

    def _keep(self, local: Path, data: bytes) -> None:
        local.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(local, [data])

    def _at(self, key: str) -> str:
        return f"{self._root.rstrip('/')}/{key}"

    def _try(self, act: Callable[[], T]) -> T | None:
        """Return what ``act`` does in a few tries; None where there is no such thing."""
        pause = _FIRST_PAUSE
        for left in reversed(range(TRIES)):
            try:
                return act()
            except FileNotFoundError as error:
                if "bucket" in str(error).lower():
                    raise self._error(error) from None
                return None
            except _FINAL as error:
                raise self._error(error) from None
            except Exception as error:
                if not left:
                    raise self._error(error) from None
            time.sleep(pause)
            pause *= 2
        return None

    def _error(self, error: Exception) -> StoreError:
        reason = str(error) or type(error).__name__
        for secret in self._secrets:
            reason = reason.replace(secret, "***")
        return StoreError(self.name, reason)


def shown_url(url: str) -> str:
    """Return a URL without its name, password, query and fragment."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _secrets(url: str) -> list[str]:
    """Return what must not be shown of a URL, the longest first."""
    parts = urlsplit(url)
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    found = {user, password, unquote(user), unquote(password), parts.query}
    return sorted(filter(None, found), key=len, reverse=True)


def _place(url: str) -> tuple[str, dict[str, str]]:
    """Return a URL as fsspec takes it: S3 wants the access key and its secret by themselves."""
    parts = urlsplit(url)
    if parts.scheme not in ("s3", "s3a") or "@" not in parts.netloc:
        return url, {}
    user, _, password = parts.netloc.rpartition("@")[0].partition(":")
    return shown_url(url), {"key": unquote(user), "secret": unquote(password)}
