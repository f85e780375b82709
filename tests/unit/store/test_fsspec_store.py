"""Stores at URLs: what is away is an error soon, and messages hide secrets, not letters."""

import threading
from typing import Any

import pytest

from kbnf_core.store import fsspec_store
from kbnf_core.store.backend import StoreError
from kbnf_core.store.fsspec_store import FsspecStore

pytest.importorskip("fsspec")


class Away:
    """A driver whose server is away: it raises, waits, or takes what it cannot list for empty."""

    def __init__(self, error: Exception | None) -> None:
        self._error = error
        self.asked = 0

    def invalidate_cache(self) -> None:
        """Do nothing."""

    def exists(self, place: str) -> bool:
        """Do as fsspec does over HTTP."""
        del place
        return False

    def ls(self, place: str, **_: Any) -> list[str]:
        """Ask the server."""
        self.asked += 1
        if self._error is None:
            threading.Event().wait(30)
        raise self._error or OSError(place)

    info = ls

    def find(self, place: str, on_error: str = "omit") -> list[str]:
        """Do as fsspec does where it walks."""
        try:
            return self.ls(place)
        except OSError:
            if on_error == "raise":
                raise
            return []


def store(error: Exception | None, url: str = "memory://x") -> FsspecStore:
    made = FsspecStore(url)
    made._fs = Away(error)
    made._is_object_store = False
    return made


def test_a_server_that_refuses_is_no_empty_store(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsspec_store, "_FIRST_PAUSE", 0.0)
    away = store(ConnectionRefusedError("refused"))
    with pytest.raises(StoreError, match="refused"):
        away.reach()
    with pytest.raises(StoreError, match="refused"):
        list(away.keys("inputs/"))
    assert away._fs.asked == 2 * fsspec_store.TRIES


def test_a_server_that_does_not_answer_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsspec_store, "PATIENCE", 0.05)
    with pytest.raises(StoreError, match="nothing answers within 0 seconds"):
        store(None).reach()


def test_tries_end_when_patience_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fsspec_store, "PATIENCE", -1.0)
    monkeypatch.setattr(fsspec_store, "_FIRST_PAUSE", 0.0)
    away = store(ConnectionError("cut"))
    with pytest.raises(StoreError, match="cut"):
        list(away.keys("inputs/"))
    assert away._fs.asked == 1


def test_only_what_may_be_new_need_not_be_there() -> None:
    missing = store(FileNotFoundError("x"))
    with pytest.raises(StoreError, match="no such folder"):
        missing.reach()
    missing.reach(may_be_new=True)


def test_a_key_that_is_missing_in_a_store_called_bucket_is_missing() -> None:
    assert list(store(FileNotFoundError("bucket/x")).keys("inputs/")) == []
    gone = store(FileNotFoundError("The specified bucket does not exist"))
    with pytest.raises(StoreError, match="bucket"):
        list(gone.keys("inputs/"))


@pytest.mark.parametrize(
    ("url", "message", "shown"),
    [
        ("memory://u:pw@x/y", "Connection refused by u: pw", "Connection refused by u: ***"),
        (
            "memory://u:e@x",
            "Connection refused: memory://u:e@x",
            "Connection refused: memory://***@x",
        ),
        ("memory://nosuch:longpassword@x", "no nosuch in xlongpasswordx", "no nosuch in x***x"),
        ("memory://u:p%40ss@x", "wrong: p@ss, p%40ss", "wrong: ***, ***"),
        ("memory://AKIAIOSFODNN7EXAMPLE:s3@x", "key=AKIAIOSFODNN7EXAMPLE", "key=***"),
        ("memory://x/y?token=abcdefgh12&v=1", "HTTP/1.1 abcdefgh12", "HTTP/1.1 ***"),
        ("memory://user@x", "user is not known", "user is not known"),
    ],
)
def test_messages_hide_secrets_and_nothing_else(url: str, message: str, shown: str) -> None:
    made = FsspecStore(url)
    assert made._error(OSError(message)).reason == shown
