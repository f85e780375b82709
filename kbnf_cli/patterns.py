"""Patterns that choose among files, as in a ``.gitignore``."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pathspec


@dataclass(frozen=True)
class Patterns:
    """Patterns as in a ``.gitignore`` in the directory ``base``, which is resolved."""

    base: Path
    lines: tuple[str, ...]

    def match(self, path: Path, suffix: str) -> bool:
        """Return whether a resolved path matches; ``suffix`` is ``/`` for directories."""
        return self.verdict(path, suffix) is True

    def verdict(self, path: Path, suffix: str) -> bool | None:
        """Return what the last pattern says that matches, None if there is none."""
        if path == self.base or not path.is_relative_to(self.base):
            return None
        inner = path.relative_to(self.base).as_posix()
        return self._spec.check_file(inner + suffix).include

    def compile(self) -> None:
        """Raise ``ValueError`` for a line that is no pattern."""
        _ = self._spec

    @cached_property
    def _spec(self) -> "pathspec.GitIgnoreSpec":
        import pathspec

        return pathspec.GitIgnoreSpec.from_lines(self.lines)
