"""Types of the fixtures that run the ``kbnf`` command (``tests/cli/conftest.py``)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeAlias


@dataclass(frozen=True)
class Result:
    """What a run left."""

    status: int
    stdout: bytes
    stderr: str

    @property
    def out(self) -> str:
        """Stdout as text."""
        return self.stdout.decode("utf-8")


class Kbnf(Protocol):
    """Runs ``kbnf`` with arguments and stdin."""

    def __call__(self, *arguments: object, stdin: bytes = b"") -> Result:
        """Return what the run left."""


Write: TypeAlias = Callable[[str, str | bytes], Path]
"""Writes a file below the current folder and returns its path, relative to it."""
