"""Paths that git ignores: the ``.gitignore`` files that apply to a directory and below it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pathspec

from kbnf_core.errors import SourceError
from kbnf_core.files import read_file

_LARGEST = 2**24
"""Bytes of a ``.gitignore`` that is read."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The patterns of one ``.gitignore``; ``base`` is its directory, absolute and resolved."""

    base: Path
    patterns: pathspec.GitIgnoreSpec

    def verdict(self, path: str) -> bool | None:
        """Return whether the path below ``base`` is ignored, None if no pattern decides."""
        return self.patterns.check_file(path).include


def rules_in(directory: Path) -> tuple[IgnoreRules, ...]:
    """Return the rules that a resolved directory adds: at most one element."""
    file = directory / ".gitignore"
    if not os.path.isfile(file):
        return ()
    try:
        lines = read_file(file, _LARGEST).decode("utf-8", "replace").splitlines()
    except SourceError:
        # As for git, a file that cannot be read has no rules.
        return ()
    return (IgnoreRules(directory, pathspec.GitIgnoreSpec.from_lines(lines)),)


def rules_above(directory: Path) -> tuple[IgnoreRules, ...]:
    """Return the rules of the resolved directories above, from the repository's root down.

    None outside a repository. A directory that is itself ignored was named on purpose, so
    nothing above it counts either.
    """
    above = _parents_in_repository(directory)
    rules = tuple(rule for parent in reversed(above) for rule in rules_in(parent))
    return () if is_ignored(directory, "/", rules) else rules


def is_ignored(path: Path, suffix: str, rules: Sequence[IgnoreRules]) -> bool:
    """Tell whether git ignores the resolved ``path``; ``suffix`` is ``/`` for directories.

    The innermost file that says anything decides.
    """
    for rule in reversed(rules):
        verdict = rule.verdict(path.relative_to(rule.base).as_posix() + suffix)
        if verdict is not None:
            return verdict
    return False


def _parents_in_repository(directory: Path) -> list[Path]:
    """Return the directories above, innermost first, up to the one that holds ``.git``."""
    inside = []
    for parent in (directory, *directory.parents):
        inside.append(parent)
        if (parent / ".git").exists():
            return inside[1:]
    return []
