"""The artifact reader: sections are verified on loading, those with masks on first use."""

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.manifest import (
    ArtifactError,
    ArtifactWarning,
    Manifest,
    hash_of,
    parse_manifest,
)
from kbnf_core.artifact.reading import StoredReading
from kbnf_core.artifact.snapshot import ArtifactMasks, ArtifactStates
from kbnf_core.artifact.validate import Checker, check_masks, check_states, check_tables
from kbnf_core.config import Finish
from kbnf_core.container import ContainerError, digest, read_container
from kbnf_core.lower.tables import Loops, Tables
from kbnf_core.text.errors import VocabularyError
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source
from kbnf_core.vocab.vocabulary import Vocabulary

Arrays = Mapping[str, npt.NDArray[Any]]

G = TypeVar("G")

Restore: TypeAlias = Callable[[Source, str, Finish, Tables, "Stored", Limits], G]
"""Makes a grammar of its source, start, finish, automata and stored states: ``Grammar.restore``."""


def read_artifact(
    path: str | Path,
    restore: Restore[G],
    limits: Limits,
    read_up_to: int,
    key: str | None = None,
) -> G:
    """Return what ``restore`` makes of an artifact; a larger file is memory-mapped.

    ``key`` is what it must have been compiled for, see ``compile_to``. Raises ``ArtifactError``,
    and ``SourceError`` for a file that cannot be read.
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
    """Return what is in an artifact; raises what ``load_artifact`` raises, and warns of masks."""
    stored = Stored.open(path, 0)
    tables, states, masks = stored.tables, stored.state_arrays, stored.known_masks
    counts = {
        "positions": tables.state_count,
        "byte classes": tables.class_count,
        "item sets": len(states["items.start"]) - 1,
        "states": len(states["pairs.start"]) - 1,
        "walks": len(masks["walks"]) if masks else 0,
        "masks": len(masks["masks.start"]) - 1 if masks else 0,
    }
    return Description(stored.manifest, Path(path).stat().st_size, counts)


class Stored:
    """The stored states and masks of an artifact; see ``mask.token_automaton.StoredMemo``.

    All but the masks is checked when it is made.
    """

    def __init__(self, path: str, manifest: Manifest, arrays: Arrays) -> None:
        self.path = path
        self.manifest = manifest
        self._arrays = arrays
        names = manifest.nonterminals
        table_arrays, self.state_arrays = self._section("tables"), self._section("states")
        self.source = Source(self._text(table_arrays), manifest.text_path)
        checker = Checker(path, {**table_arrays, **self.state_arrays})
        positions, classes = check_tables(checker, len(names), len(manifest.token_terminals))
        self._item_sets = check_states(checker, positions, len(names), classes)
        self.tables = _tables(manifest, table_arrays)

    @classmethod
    def open(cls, path: str | Path, read_up_to: int) -> "Stored":
        """Return what is in a file; raise ArtifactError where it is no usable artifact."""
        try:
            arrays, metadata = read_container(path, read_up_to)
        except ContainerError as error:
            raise ArtifactError(str(path), error.reason) from None
        return cls(str(path), parse_manifest(str(path), metadata), arrays)

    def _section(self, name: str) -> Arrays:
        """Return the arrays of a section; raise ArtifactError unless they are what was written."""
        section = self.manifest.sections.get(name)
        if section is None:
            raise ArtifactError(self.path, f"its section `{name}` is missing")
        arrays = {each: self._arrays[each] for each in section.arrays if each in self._arrays}
        if digest(arrays) != section.digest:
            raise ArtifactError(self.path, f"its section `{name}` is damaged")
        return arrays

    def _text(self, arrays: Arrays) -> str:
        data = Checker(self.path, arrays).array("source", np.uint8).tobytes()
        if hash_of(data) != self.manifest.source_hash:
            raise ArtifactError(self.path, "its grammar is not the one that its hash is of")
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError:
            raise ArtifactError(self.path, "its grammar is not UTF-8") from None

    def states(self) -> ArtifactStates:
        """Return the states."""
        return ArtifactStates(self.tables, self.state_arrays)

    @cached_property
    def reading(self) -> StoredReading:
        """What is known of the text."""
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
        """Return what values are made of; None where the artifact says nothing of that."""
        return self._encoded("values", "values")

    def masks(self, vocabulary: Vocabulary) -> ArtifactMasks | None:
        """Return the masks, or None where the artifact has none that can be used."""
        mark = self.manifest.vocabulary
        if mark is None:
            return None
        if vocabulary.base is not None and vocabulary.base.fingerprint == mark.fingerprint:
            # The same tokens with other ids that end the sequence: the masks may be others.
            return None
        if vocabulary.fingerprint != mark.fingerprint:
            made_for = mark.name or mark.fingerprint
            raise VocabularyError(
                f"{self.path} was compiled for the vocabulary {made_for}, not for"
                f" {vocabulary.name or vocabulary.fingerprint}; compile it again with this one"
            )
        # The fingerprint does not cover what a forged file says beside it.
        if (vocabulary.size, vocabulary.trie.node_count) != (mark.size, mark.nodes):
            self._warn("its vocabulary is not described truthfully")
            return None
        if self.known_masks is None:
            return None
        return ArtifactMasks(self.known_masks, vocabulary)

    @cached_property
    def known_masks(self) -> Arrays | None:
        """The arrays of the masks, checked; None where there are none, or damaged ones."""
        mark = self.manifest.vocabulary
        if mark is None:
            return None
        names = len(self.manifest.nonterminals)
        try:
            arrays = {**self._section("masks"), **self._section("walks")}
            checker = Checker(self.path, {**self.state_arrays, **arrays})
            check_masks(checker, mark.size, mark.nodes, self._item_sets, names)
        except ArtifactError as error:
            self._warn(error.reason)
            return None
        return arrays

    def _warn(self, reason: str) -> None:
        warnings.warn(
            f"the masks in {self.path} are left out and computed again, since {reason}:"
            " compile it again",
            ArtifactWarning,
            stacklevel=2,
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
        loops=Loops(**{each.name: arrays[f"loop.{each.name}"] for each in fields(Loops)}),
    )
