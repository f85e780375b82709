"""The artifact writer: one safetensors file, equal bytes for equal input."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.manifest import hash_of, manifest_digest
from kbnf_core.artifact.precompute import Progress, precompute
from kbnf_core.artifact.snapshot import pack_masks, pack_states, pack_walks
from kbnf_core.automata.regex.tables import REGEX_VERSION
from kbnf_core.config import Finish
from kbnf_core.container import digest, write_container
from kbnf_core.grammar import Grammar
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import StateTable
from kbnf_core.version import __version__
from kbnf_core.vocab.vocabulary import Vocabulary

Arrays = Mapping[str, npt.NDArray[Any]]

FLAGS = ("accepting", "call_tail")
"""Fields of ``Tables`` that are stored as bytes."""

COLUMNS = {
    "classes": "classes",
    "entry": "entry",
    "accepting": "accepting",
    "edge_start": "edge.start",
    "edge_class": "edge.class",
    "edge_target": "edge.target",
    "call_start": "call.start",
    "call_nonterminal": "call.nonterminal",
    "call_return": "call.return",
    "call_tail": "call.tail",
    "token_start": "token.start",
    "token_terminal": "token.terminal",
    "token_target": "token.target",
}
"""Fields of ``Tables`` and what their arrays are called."""


def compile_artifact(
    grammar: str | Grammar,
    vocabulary: Vocabulary | None,
    path: str | Path,
    *,
    progress: Progress | None = None,
) -> None:
    """Write the artifact of a grammar to ``path``, with the masks over ``vocabulary`` if given.

    Equal input gives equal bytes. The file appears whole or not at all. Raises ``GrammarError``
    for a grammar that cannot be used and ``OSError`` where the file cannot be written.
    """
    if isinstance(grammar, str):
        grammar = Grammar(grammar)
    if vocabulary is None:
        write_artifact(grammar, StateTable(grammar.tables), None, path)
        return
    masks = Masks(StateTable(grammar.tables), vocabulary)
    precompute(masks, progress)
    write_artifact(grammar, masks.states, masks, path)


def write_artifact(
    grammar: Grammar,
    states: StateTable,
    masks: Masks | None,
    path: str | Path,
    finish: Finish | None = None,
) -> None:
    """Write what ``states`` and ``masks`` of ``grammar`` know now."""
    sections: dict[str, Arrays] = {
        "tables": {
            "source": np.frombuffer(grammar.source.text.encode("utf-8"), np.uint8),
            **pack_tables(grammar.tables),
        },
        "states": pack_states(states),
    }
    if masks:
        # In this order: walks can bring rows of their own.
        sections["walks"] = pack_walks(masks)
        sections["masks"] = pack_masks(masks)
    arrays = {name: array for part in sections.values() for name, array in part.items()}
    fields = {
        **manifest(grammar, masks, finish or grammar.finish),
        "sections": {name: _section(part) for name, part in sections.items()},
    }
    write_container(path, arrays, {"kbnf": fields, "digest": manifest_digest(fields)})


def _section(arrays: Arrays) -> Mapping[str, object]:
    return {"arrays": sorted(arrays), "digest": digest(arrays)}


def pack_tables(tables: Tables) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of ``tables`` by their names in the file."""
    return {
        name: getattr(tables, field).astype(np.uint8) if field in FLAGS else getattr(tables, field)
        for field, name in COLUMNS.items()
    }


def manifest(grammar: Grammar, masks: Masks | None, finish: Finish) -> Mapping[str, object]:
    """Return the manifest without its sections; see the package's documentation."""
    tables = grammar.tables
    source = grammar.source
    return {
        "format": FORMAT,
        "tool": __version__,
        "start": grammar.start,
        "finish": finish.value,
        "nonterminals": list(tables.names),
        "start_is_nullable": tables.start_is_nullable,
        "token_terminals": [
            {"name": each.name, "ranges": [list(r) for r in each.ranges], "negated": each.negated}
            for each in tables.token_terminals
        ],
        "source_path": source.path,
        "source_hash": hash_of(source.text.encode("utf-8")),
        "unicode": REGEX_VERSION,
        "vocabulary": _describe(masks.vocabulary) if masks else None,
    }


def _describe(vocabulary: Vocabulary) -> Mapping[str, object]:
    return {
        "name": vocabulary.name,
        "size": vocabulary.size,
        "fingerprint": vocabulary.fingerprint,
        "nodes": vocabulary.trie.node_count,
    }
