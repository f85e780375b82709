"""An engine that misbehaves when it is asked to, as an adapter of `kbnf_core.targets.engines`.

It takes every JSON text, whatever the schema says: so it enforces nothing. What is written in the
schema makes it refuse (`look-ahead`), end its process (`kill`; `leave`: soon), take for ever
(`sleep`; `spin`: with Python's lock), or fail while it reads (`broken`).
"""

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kbnf_cli.checking import FileCheck, FileReport
from kbnf_core.targets.engines import Adapter, EngineReader, RefusedError
from kbnf_core.text.errors import SourceError


class _Fake:
    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        del language, options
        if "(?=" in text:
            raise RefusedError(f"look-ahead in {text}")
        if "kill" in text:
            sys.stderr.write("these were its last words\n")
            sys.stderr.flush()
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        if "sleep" in text:
            time.sleep(1_000)
        if "leave" in text:
            threading.Timer(0.01, os._exit, (0,)).start()
        if "spin" in text:
            pow(3, 3**17)
        return _FakeReader(text)


class _FakeReader:
    def __init__(self, schema: str) -> None:
        self._schema = schema

    def read(self, data: bytes) -> int | None:
        if "broken" in self._schema:
            raise ValueError("something is wrong inside")
        try:
            json.loads(data)
        except ValueError:
            return 0
        return None


class _ByType:
    def compile(self, language: str, text: str, options: Mapping[str, Any]) -> EngineReader:
        del language, options
        if _is_refused(json.loads(text)):
            raise RefusedError("unsupported structure")
        return _FakeReader("")


def _is_refused(node: Any) -> bool:
    if isinstance(node, list):
        return any(map(_is_refused, node))
    if not isinstance(node, dict):
        return False
    if "patternProperties" in node or (node and not node.keys() & {"type", "a", "b"}):
        return True
    return any(map(_is_refused, node.values()))


def load() -> Adapter:
    """Load it."""
    return _Fake()


def load_by_type() -> Adapter:
    """Load one that refuses each keyword where there is no type, and some everywhere."""
    return _ByType()


def load_none() -> Adapter:
    """Fail to load it."""
    raise ImportError("no such engine")


def killed_while_loading() -> Adapter:
    """End the process instead."""
    sys.stderr.write("out of memory\n")
    sys.stderr.flush()
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
    raise AssertionError("this process has ended")


class KillingCheck(FileCheck):
    """A check of files that ends the process at one of them."""

    def __reduce__(self) -> tuple[object, ...]:
        return KillingCheck, (self._console, self._asked)

    def __call__(self, path: Path) -> FileReport | SourceError:
        """Check a file."""
        if path.name == "g07.kbnf":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return super().__call__(path)
