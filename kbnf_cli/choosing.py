"""Which files of a directory are grammars: ``exclude``, ``include`` and what others wrote."""

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_core.languages import EXTENSIONS, KBNF

if TYPE_CHECKING:
    import pathspec

    from kbnf_cli.config import Settings, SettingsFor

NEVER = frozenset({"__pypackages__", "node_modules", "site-packages", "venv"})
"""Directories of what others wrote: not looked into, unless ``exclude`` says otherwise."""


@dataclass(frozen=True)
class Patterns:
    """Patterns as in a ``.gitignore`` in the directory ``base``, which is resolved."""

    base: Path
    lines: tuple[str, ...]

    def match(self, path: Path, suffix: str) -> bool:
        """Tell whether a resolved path matches; ``suffix`` is ``/`` for directories."""
        if path == self.base or not path.is_relative_to(self.base):
            return False
        inner = path.relative_to(self.base).as_posix()
        return self._spec.check_file(inner + suffix).include is True

    def compile(self) -> None:
        """Raise ``ValueError`` for a line that is no pattern."""
        _ = self._spec

    @cached_property
    def _spec(self) -> "pathspec.GitIgnoreSpec":
        import pathspec

        return pathspec.GitIgnoreSpec.from_lines(self.lines)


@dataclass(frozen=True, slots=True)
class FileChoice:
    """Says what counts in a directory, by ``extensions`` and the settings of the place.

    ``but`` is left out beside what the settings exclude.
    """

    extensions: Collection[str]
    settings_for: "SettingsFor | None" = None
    but: Patterns | None = None

    def in_directory(self, directory: Path) -> "DirectoryChoice":
        """Return what counts among the entries of a resolved directory."""
        settings = None if self.settings_for is None else self.settings_for(directory / "entry")
        return DirectoryChoice(self.extensions, settings, self.but)

    def drops(self, file: Path) -> bool:
        """Tell whether a file that is named is excluded all the same, as ``force-exclude`` asks."""
        if self.settings_for is None:
            return False
        settings = self.settings_for(file)
        if not settings.force_exclude:
            return False
        choice = DirectoryChoice(self.extensions, settings, self.but)
        return choice.leaves_out(file.resolve(), "")


@dataclass(frozen=True, slots=True)
class DirectoryChoice:
    """What counts among the entries of one directory."""

    extensions: Collection[str]
    settings: "Settings | None"
    but: Patterns | None = None

    def leaves_out(self, entry: Path, suffix: str) -> bool:
        """Tell whether an entry is excluded; ``suffix`` is ``/`` for directories."""
        if self.but is not None and self.but.match(entry, suffix):
            return True
        return self.settings is not None and is_excluded(entry, suffix, self.settings)

    def is_grammar(self, file: Path) -> bool:
        """Tell whether a file is a grammar, by its name.

        ``include`` says which files are grammars, not what other files, such as schemas, are.
        Where it takes one with an extension of no language, that is KBNF.
        """
        include = None if self.settings is None else self.settings.include
        is_other = file.suffix in self.extensions and file.suffix not in EXTENSIONS
        if include is None or is_other:
            return file.suffix in self.extensions
        language = file.suffix if file.suffix in EXTENSIONS else KBNF.extension
        return language in self.extensions and include.match(file, "")


def is_excluded(path: Path, suffix: str, settings: "Settings") -> bool:
    """Tell whether ``exclude`` or ``extend-exclude`` matches a resolved path, or ``NEVER``."""
    if settings.exclude is None:
        if suffix and path.name in NEVER:
            return True
    elif settings.exclude.match(path, suffix):
        return True
    return settings.extend_exclude is not None and settings.extend_exclude.match(path, suffix)
