"""Stores after fsspec: S3, Google Cloud Storage, Azure, and all others that have a driver.

Object stores show an upload whole or not at all; elsewhere it goes to a temporary name and is
moved. Everything is tried again a few times: an upload that was cut off is an upload that did not
happen.

Tests: tests/unit/store/test_fsspec_store.py, tests/unit/store/test_artifact_store.py
"""

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from importlib import import_module
from queue import Empty, SimpleQueue
from secrets import token_hex
from threading import Thread
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit, urlunsplit

from kbnf_core.store.backend import DAY, TEMPORARY, StoreError
from kbnf_core.text.errors import MissingExtraError

T = TypeVar("T")

TRIES = 6
"""How often something is tried before the store counts as out of reach."""

_FIRST_PAUSE = 0.05
"""Seconds before the second try; each further pause is twice as long."""

PATIENCE = 6.0
"""Seconds after which a store that does not answer counts as out of reach."""

_CONNECT_SECONDS = 3
"""Seconds that a connection may take; an answer may take as long as patience lasts."""

_OBJECT_STORES = frozenset(("abfs", "adl", "az", "gcs", "gs", "memory", "oss", "r2", "s3", "s3a"))

_FINAL = (FileNotFoundError, PermissionError, NotImplementedError, ImportError, ValueError)
"""Errors that another try does not change."""


class FsspecStore:
    """A store at a URL of fsspec's.

    A name and a password in the URL are never shown. Raises ``MissingExtraError`` without fsspec or
    the driver, ``StoreError`` for an invalid URL.
    """

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs
        except ImportError:
            raise MissingExtraError("a store at a URL", "store") from None
        split = urlsplit(url)
        self.name = shown_url(url)
        self._secret = _secret_pattern(url)
        try:
            address, options = _address(url)
            self._fs, self._root = url_to_fs(address, **options)
            if split.scheme in ("s3", "s3a"):
                self._fs.retries = 1
        except ImportError:
            raise MissingExtraError(f"a store at {split.scheme}://", "store") from None
        except Exception as error:
            raise self._error(error) from None
        self._is_object_store = split.scheme in _OBJECT_STORES

    def reach(self, *, may_be_new: bool = False) -> None:
        """Raise where nothing answers, or there is no such folder, which object stores lack."""
        answers: SimpleQueue[dict[str, Any] | StoreError | None] = SimpleQueue()

        def ask() -> None:
            try:
                answers.put(self._try(lambda: self._look(self._root)))
            except StoreError as error:
                answers.put(error)

        # A driver may wait much longer, and cannot be stopped.
        Thread(target=ask, daemon=True).start()
        try:
            answer = answers.get(timeout=PATIENCE)
        except Empty:
            raise StoreError(self.name, f"nothing answers within {PATIENCE:.0f} seconds") from None
        if isinstance(answer, StoreError):
            raise answer
        if answer is None and not (may_be_new or self._is_object_store):
            raise StoreError(self.name, "there is no such folder")

    def _look(self, path: str) -> dict[str, Any]:
        """Return the properties of an object, which asks the store."""
        self._fs.invalidate_cache()
        if self._is_object_store:
            info: dict[str, Any] = self._fs.info(path)
            return info
        # Over HTTP, `exists` and `info` take a server that is away for one that has no such file.
        return {"names": self._fs.ls(path, detail=False)}

    def get(self, key: str, most: int) -> bytes | None:
        """Download a key."""
        data: bytes | None = self._try(lambda: self._fs.cat_file(self._at(key)))
        return None if data is None else data[:most]

    def put_if_absent(self, key: str, data: bytes) -> bool:
        """Upload a content, unless one of its size is there already."""
        if self.size(key) == len(data):
            return False
        self._try(lambda: self._upload(self._at(key), data), least=2)
        return True

    def keys(self, prefix: str) -> Iterator[str]:
        """Yield the keys, temporary names left out."""
        folder = self._at(prefix.rpartition("/")[0]).rstrip("/")
        self._fs.invalidate_cache()
        paths = self._try(lambda: self._find(folder)) or []
        start = len(self._root.rstrip("/")) + 1
        keys = sorted(self._fs._strip_protocol(path)[start:] for path in paths)
        for key in keys:
            if key.startswith(prefix) and TEMPORARY not in key:
                yield key

    def remove(self, key: str) -> None:
        """Remove a key."""
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
        paths = self._try(lambda: self._find(self._root)) or []
        start = len(self._root.rstrip("/")) + 1
        names = [self._fs._strip_protocol(path)[start:] for path in paths]
        old = [name for name in names if TEMPORARY in name and self.age(name) > DAY]
        for draft in old:
            self.remove(draft)
        return len(old)

    def _find(self, folder: str) -> list[str]:
        """Return all that lies below a folder."""
        # By default, a driver that walks treats folders that it cannot list as empty.
        strict = {} if self._is_object_store else {"on_error": "raise"}
        return list(self._fs.find(folder, **strict))

    def _info(self, key: str) -> dict[str, Any]:
        def ask() -> dict[str, Any]:
            self._fs.invalidate_cache()
            result: dict[str, Any] = self._fs.info(self._at(key))
            return result

        return self._try(ask) or {}

    def _upload(self, path: str, data: bytes) -> None:
        if self._is_object_store:
            self._fs.pipe_file(path, data)
            return
        folder, _, _ = path.rpartition("/")
        draft = f"{folder}/{TEMPORARY}{token_hex(8)}"
        self._fs.makedirs(folder, exist_ok=True)
        self._fs.pipe_file(draft, data)
        self._fs.mv(draft, path)

    def _at(self, key: str) -> str:
        return f"{self._root.rstrip('/')}/{key}"

    def _try(self, act: Callable[[], T], least: int = 1) -> T | None:
        """Return the result of ``act`` within a few tries; None where the object does not exist.

        Where that takes more than ``PATIENCE``, there are ``least`` tries.
        """
        pause = _FIRST_PAUSE
        end = time.monotonic() + PATIENCE
        for tried in range(1, TRIES + 1):
            try:
                return act()
            except FileNotFoundError as error:
                if "bucket does not exist" in str(error):
                    raise self._error(error) from None
                return None
            except _FINAL as error:
                raise self._error(error) from None
            except Exception as error:
                if tried == TRIES or (tried >= least and time.monotonic() > end):
                    raise self._error(error) from None
            time.sleep(pause)
            pause *= 2
        return None

    def _error(self, error: Exception) -> StoreError:
        reason = str(error) or type(error).__name__
        return StoreError(self.name, self._secret.sub("***", reason) if self._secret else reason)


def shown_url(url: str) -> str:
    """Return a URL without its name, password, query and fragment."""
    split = urlsplit(url)
    return urlunsplit((split.scheme, split.netloc.rpartition("@")[2], split.path, "", ""))


_SHORT = 8
"""Characters below which a secret may be a word, and a parameter of a query does not count as a
secret.
"""

_TOKEN = 16
"""Characters from which on a name is an access key or a token."""


def _secret_pattern(url: str) -> "re.Pattern[str] | None":
    """Return the pattern of the secrets of a URL: its password, and the parameters of its query.

    A user name is not a secret, unless it is long or comes with its password. Short secrets are
    matched as whole words only: letters that are missing in the middle of others would reveal them.
    """
    split = urlsplit(url)
    account = split.netloc.rpartition("@")[0]
    name, _, password = account.partition(":")
    values = (value for _, value in parse_qsl(split.query) if len(value) >= _SHORT)
    secrets = {account if password else "", password, split.query, *values}
    secrets |= {name} if len(name) >= _TOKEN else set()
    secrets |= {unquote(secret) for secret in secrets}
    patterns = [
        re.escape(secret) if len(secret) >= _SHORT else rf"(?<!\w){re.escape(secret)}(?!\w)"
        for secret in sorted(filter(None, secrets), key=len, reverse=True)
    ]
    return re.compile("|".join(patterns)) if patterns else None


def _address(url: str) -> tuple[str, dict[str, Any]]:
    """Return a URL as fsspec takes it, and the options of its driver.

    S3 wants the access key and its secret by themselves. Requests that are tried again here are not
    tried again by drivers.
    """
    split = urlsplit(url)
    if split.scheme in ("http", "https"):
        seconds = {"sock_connect": _CONNECT_SECONDS, "sock_read": PATIENCE}
        timeout = import_module("aiohttp").ClientTimeout(total=None, **seconds)
        return url, {"client_kwargs": {"timeout": timeout}}
    if split.scheme not in ("s3", "s3a"):
        return url, {}
    config = {
        "connect_timeout": _CONNECT_SECONDS,
        "read_timeout": PATIENCE,
        "retries": {"max_attempts": 0},
    }
    if "@" not in split.netloc:
        return url, {"config_kwargs": config}
    user, _, password = split.netloc.rpartition("@")[0].partition(":")
    account = {"key": unquote(user), "secret": unquote(password)}
    return shown_url(url), {**account, "config_kwargs": config}
