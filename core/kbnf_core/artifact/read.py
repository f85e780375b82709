"""Reading artifacts."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.errors import ArtifactError
from kbnf_core.artifact.manifest import Manifest, VocabularyMark, parse_manifest
from kbnf_core.artifact.snapshot import ArtifactMasks, ArtifactStates
from kbnf_core.artifact.validate import Checker, check_masks, check_states, check_tables
from kbnf_core.container import ContainerError, read_container
from kbnf_core.errors import VocabularyError
from kbnf_core.grammar import Grammar
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.tables import Tables
from kbnf_core.vocab.vocabulary import Vocabulary

Arrays = Mapping[str, npt.NDArray[Any]]

__all__ = ["FORMAT", "ArtifactError", "Description", "describe_artifact", "load_artifact"]


def load_artifact(path: str | Path, limits: Limits = DEFAULT_LIMITS) -> Grammar:
    """Return the grammar of an artifact, with everything that was worked out for it.

    The file is memory-mapped, so it must not be changed in place while the grammar is in use;
    writing it anew is fine. Raises ``ArtifactError`` for a file that is truncated, damaged, foreign
    or of a newer format, and ``SourceError`` for one that cannot be read. An engine over another
    vocabulary than the one the masks are for is refused with ``VocabularyError``.
    """
    manifest, arrays = _read(path)
    source = Source(_text(str(path), arrays), manifest.source_path)
    tables = _tables(manifest, arrays)
    stored = _Stored(str(path), manifest.vocabulary, tables, arrays)
    return Grammar.restore(source, manifest.start, manifest.finish, tables, stored, limits)


@dataclass(frozen=True, slots=True)
class Description:
    """What an artifact says of itself, and how large its parts are (counts, and bytes in all)."""

    manifest: Manifest
    size: int
    counts: Mapping[str, int]


def describe_artifact(path: str | Path) -> Description:
    """Return what is in an artifact; raises what ``load_artifact`` raises."""
    manifest, arrays = _read(path)
    counts = {
        "positions": len(arrays["accepting"]),
        "byte classes": int(arrays["classes"].max()) + 1,
        "item sets": len(arrays["items.start"]) - 1,
        "states": len(arrays["next"]),
        "walks": len(arrays["walks"]) if manifest.vocabulary else 0,
        "masks": len(arrays["masks"]) if manifest.vocabulary else 0,
    }
    return Description(manifest, Path(path).stat().st_size, counts)


def _read(path: str | Path) -> tuple[Manifest, Arrays]:
    """Return the manifest and the arrays, all of them checked."""
    name = str(path)
    try:
        arrays, metadata = read_container(path)
    except ContainerError as error:
        raise ArtifactError(name, error.reason) from None
    manifest = parse_manifest(name, metadata.get("kbnf"))
    checker = Checker(name, arrays)
    checker.array("source", np.uint8)
    nonterminals = len(manifest.nonterminals)
    positions, classes = check_tables(checker, nonterminals, len(manifest.token_terminals))
    item_sets = check_states(checker, positions, nonterminals, classes)
    if manifest.vocabulary is not None:
        mark = manifest.vocabulary
        check_masks(checker, mark.size, mark.nodes, item_sets, nonterminals)
    return manifest, arrays


def _text(path: str, arrays: Arrays) -> str:
    try:
        return arrays["source"].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        raise ArtifactError(path, "its grammar is not UTF-8") from None


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
    )


class _Stored:
    """What an artifact remembers; see ``mask.courses.StoredMemo``."""

    def __init__(
        self, path: str, vocabulary: VocabularyMark | None, tables: Tables, arrays: Arrays
    ) -> None:
        self._path = path
        self._vocabulary = vocabulary
        self._tables = tables
        self._arrays = arrays

    def states(self) -> ArtifactStates:
        """Return the states."""
        return ArtifactStates(self._tables, self._arrays)

    def masks(self, vocabulary: Vocabulary) -> ArtifactMasks | None:
        """Return the masks, or None where the artifact was made without a vocabulary."""
        if self._vocabulary is None:
            return None
        if vocabulary.fingerprint != self._vocabulary.fingerprint:
            made_for = self._vocabulary.name or self._vocabulary.fingerprint
            raise VocabularyError(
                f"{self._path} was compiled for the vocabulary {made_for}, not for"
                f" {vocabulary.name or vocabulary.fingerprint}; compile it again with this one"
            )
        # The fingerprint does not cover what a forged file says beside it.
        if (self._vocabulary.size, self._vocabulary.nodes) != (
            vocabulary.size,
            vocabulary.trie.node_count,
        ):
            raise ArtifactError(self._path, "its vocabulary is not described truthfully")
        return ArtifactMasks(self._arrays)
