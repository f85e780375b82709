"""Grammars compiled to artifacts on disk, and loaded from them.

Tests: tests/unit/artifact/test_artifact.py
"""

import sys
from os import PathLike
from pathlib import Path
from types import UnionType

from kbnf_core.artifact.read import read_artifact
from kbnf_core.artifact.write import write_artifact
from kbnf_core.grammar import Grammar
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.vocab.vocabulary import Vocabulary


def compile_artifact(
    grammar: str | Grammar,
    vocabulary: Vocabulary | None,
    path: str | Path,
    *,
    key: str | None = None,
) -> None:
    """Write the artifact of a grammar to ``path``: its text and its tables, for any vocabulary.

    ``vocabulary`` has no effect: KBNF names tokens, and a grammar whose text stands for tokens was
    read over their vocabulary. ``key`` is that of a store, which ``load_artifact`` may require.
    Equal input gives equal bytes. The file appears whole or not at all. Raises ``GrammarError`` for
    a grammar that cannot be used and ``OSError`` where the file cannot be written.
    """
    grammar = Grammar.from_any(grammar)
    _check_kind("vocabulary", vocabulary, Vocabulary | None)
    _check_kind("path", path, str | PathLike)
    write_artifact(path, grammar, key)


def load_artifact(
    path: str | Path,
    limits: Limits = DEFAULT_LIMITS,
    *,
    map: bool | None = None,  # noqa: A002 - the word for it
    key: str | None = None,
) -> Grammar:
    """Return the grammar of an artifact.

    A file of up to ``limits.artifact_read`` bytes is read, a larger one is memory-mapped; ``map``
    decides otherwise. A mapped file is shared by processes and loaded as it is used, but a process
    that shortens it, or overwrites it in place as ``cp new old`` does, *ends every process that
    has it mapped* (SIGBUS) or changes its masks: replace it by renaming, as
    ``compile_artifact`` does.

    ``key``: what it must have been compiled for, see ``compile_artifact``.

    A forged file cannot crash the process or run code, but nothing shows that its tables are those
    of its source: what it allows is as trustworthy as its author.

    Raises ``ArtifactError`` for a file that is truncated, damaged, foreign or of another format,
    and ``SourceError`` for one that cannot be read. A grammar whose text stands for tokens is for
    the vocabulary over which it was read: an engine over another one is a ``VocabularyError``.
    """
    _check_kind("path", path, str | PathLike)
    _check_kind("limits", limits, Limits, "the vocabulary is given to the `Engine`")
    read_up_to = limits.artifact_read if map is None else 0 if map else sys.maxsize
    return read_artifact(path, Grammar.restore, limits, read_up_to, key)


def _check_kind(name: str, value: object, kind: type | UnionType, hint: str = "") -> None:
    """Raise ``ConfigError`` for an argument of another kind, as when two were swapped."""
    if not isinstance(value, kind):
        wanted = kind.__name__ if isinstance(kind, type) else str(kind)
        advice = f"; {hint}" if hint else ""
        raise ConfigError(f"`{name}` must be {wanted}, not {type(value).__name__}{advice}")
