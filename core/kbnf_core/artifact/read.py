"""The artifact reader: the tables are verified on loading, other sections on first use.

Tests: tests/unit/artifact/test_artifact.py
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.manifest import (
    ArtifactError,
    Manifest,
    VocabularyMark,
    parse_manifest,
    text_of,
)
from kbnf_core.artifact.reading import StoredReading
from kbnf_core.artifact.validate import Checker, check_tables
from kbnf_core.config import Finish
from kbnf_core.container import ContainerError, digest, read_container
from kbnf_core.lower.tables import Loops, Tables
from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.limits import Limits
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source
from kbnf_core.vocab.vocabulary import Vocabulary

Arrays = Mapping[str, npt.NDArray[Any]]

G = TypeVar("G")

Restore: TypeAlias = Callable[[Source, str, Finish, Tables, "Stored", Limits], G]
"""Makes a grammar of its source, start, finish, tables and all else: ``Grammar.restore``."""


def read_artifact(
    path: str | Path,
    restore: Restore[G],
    limits: Limits,
    read_up_to: int,
    key: str | None = None,
) -> G:
    """Return the value that ``restore`` makes of an artifact; a larger file is memory-mapped.

    ``key`` is what it must have been compiled for, see ``write_artifact``. Raises
    ``ArtifactError``, and ``SourceError`` for a file that cannot be read.
    """
    stored = Stored.open(path, read_up_to)
    manifest = stored.manifest
    if key is not None and manifest.key != key:
        raise ArtifactError(str(path), "it was compiled for another source, or other options")
    return restore(stored.source, manifest.start, manifest.finish, stored.tables, stored, limits)


@dataclass(frozen=True, slots=True)
class Description:
    """The manifest of an artifact and the sizes of its parts (counts, and bytes in all)."""

    manifest: Manifest
    size: int
    counts: Mapping[str, int]


def describe_artifact(path: str | Path) -> Description:
    """Return the contents of an artifact; raises what ``load_artifact`` raises."""
    stored = Stored.open(path, 0)
    tables = stored.tables
    counts = {
        "nonterminals": len(tables.names),
        "positions": tables.state_count,
        "byte classes": tables.class_count,
    }
    return Description(stored.manifest, Path(path).stat().st_size, counts)


class Stored:
    """The text and the tables of an artifact; the latter are checked when it is made."""

    def __init__(self, path: str, manifest: Manifest, arrays: Arrays) -> None:
        self.path = path
        self.manifest = manifest
        self._arrays = arrays
        names = manifest.nonterminals
        table_arrays = self._section("tables")
        source = Checker(path, table_arrays).array("source", np.uint8).tobytes()
        self.source = text_of(path, manifest, source)
        check_tables(Checker(path, table_arrays), len(names), len(manifest.token_terminals))
        self.tables = _tables(manifest, table_arrays)

    @classmethod
    def open(cls, path: str | Path, read_up_to: int) -> "Stored":
        """Return the content of a file; raise ArtifactError unless it is a usable artifact."""
        try:
            arrays, metadata = read_container(path, read_up_to)
        except ContainerError as error:
            raise ArtifactError(str(path), error.reason) from None
        return cls(str(path), parse_manifest(str(path), metadata), arrays)

    def _section(self, name: str) -> Arrays:
        """Return the arrays of a section; raise ArtifactError if they were changed since."""
        section = self.manifest.sections.get(name)
        if section is None:
            raise ArtifactError(self.path, f"its section `{name}` is missing")
        arrays = {array: self._arrays[array] for array in section.arrays if array in self._arrays}
        if digest(arrays) != section.digest:
            raise ArtifactError(self.path, f"its section `{name}` is damaged")
        return arrays

    @cached_property
    def reading(self) -> StoredReading:
        """The stored reading of the text."""
        return StoredReading(self.path, self._section("reading"), self.source)

    @property
    def language(self) -> str | None:
        """The name of the language of the text, None for KBNF that was written of another."""
        return self.manifest.language

    def as_kbnf(self) -> tuple[str, str]:
        """Return the grammar as KBNF, and its start."""
        text = self._encoded("reading", "kbnf")
        return self.source.text if text is None else text, self.manifest.kbnf_start

    def _encoded(self, section: str, name: str) -> str | None:
        """Return a text that is stored, None where there is none."""
        if section not in self.manifest.sections:
            return None
        arrays = self._section(section)
        if name not in arrays:
            return None
        try:
            return Checker(self.path, arrays).array(name, np.uint8).tobytes().decode("utf-8")
        except UnicodeDecodeError:
            raise ArtifactError(self.path, f"its section `{section}` is not UTF-8") from None

    def values(self) -> str | None:
        """Return the description of values; None if the artifact has none."""
        return self._encoded("values", "values")

    @property
    def vocabulary_mark(self) -> VocabularyMark | None:
        """The vocabulary over which the grammar was read, None where it is for all."""
        return self.manifest.vocabulary

    def check_vocabulary(self, vocabulary: Vocabulary) -> None:
        """Raise ``VocabularyError`` where the grammar was read over another vocabulary."""
        mark = self.manifest.vocabulary
        if mark is not None and not mark.is_of(vocabulary):
            given = VocabularyMark.of(vocabulary)
            raise VocabularyError(
                f"{self.path} was compiled for the vocabulary {mark.name or mark.fingerprint}, not"
                f" for {given.name or given.fingerprint}; compile it again with this one"
            )


def _tables(manifest: Manifest, arrays: Arrays) -> Tables:
    return Tables(
        names=manifest.nonterminals,
        start=0,
        start_is_nullable=manifest.start_is_nullable,
        classes=arrays["classes"],
        entry=arrays["entry"],
        accepting=arrays["accepting"].view(np.bool_),
        edge_start=arrays["edge.start"],
        edge_class=arrays["edge.class"],
        edge_target=arrays["edge.target"],
        call_start=arrays["call.start"],
        call_nonterminal=arrays["call.nonterminal"],
        call_return=arrays["call.return"],
        call_tail=arrays["call.tail"].view(np.bool_),
        token_start=arrays["token.start"],
        token_terminal=arrays["token.terminal"],
        token_target=arrays["token.target"],
        token_terminals=manifest.token_terminals,
        loops=Loops(**{field.name: arrays[f"loop.{field.name}"] for field in fields(Loops)}),
    )
