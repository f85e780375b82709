"""The artifact writer: one safetensors file, equal bytes for equal input, walks computed ahead."""

from collections.abc import Mapping
from dataclasses import fields
from math import inf
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.manifest import hash_of, manifest_digest
from kbnf_core.artifact.precompute import Made, Precompute, Progress
from kbnf_core.artifact.reading import Readable, pack_reading
from kbnf_core.artifact.snapshot import first_masks, pack_masks, pack_states, pack_walks
from kbnf_core.automata.regex.unicode import regex_version
from kbnf_core.config import Finish
from kbnf_core.container import digest, write_container
from kbnf_core.lower.tables import Loops, Tables
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import StateTable
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source
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


class Named(Protocol):
    """A language."""

    @property
    def name(self) -> str:
        """What it is called."""


class Compilable(Readable, Protocol):
    """The properties of a ``Grammar`` that an artifact is made of."""

    finish: Finish

    @property
    def limits(self) -> Limits:
        """The limits in force."""

    @property
    def start(self) -> str:
        """The start nonterminal."""

    @property
    def language(self) -> Named:
        """The language of the text."""

    @property
    def start_in_kbnf(self) -> str:
        """The start nonterminal in the text that ``to_kbnf`` returns."""

    @property
    def tables(self) -> Tables:
        """The automata."""

    @property
    def values_as_text(self) -> str | None:
        """What values are made of; None where that is JSON."""

    def to_kbnf(self) -> str:
        """Return the grammar as KBNF."""


def compile_to(
    path: str | Path,
    grammar: Compilable,
    vocabulary: Vocabulary | None,
    progress: Progress | None = None,
    key: str | None = None,
    limits: Limits | None = None,
) -> Made:
    """Write the artifact of a grammar with the walks over a vocabulary; return what was made.

    Of ``limits``, the grammar's by default, two bound what is made ahead: ``artifact_work`` and
    ``artifact_bytes``. ``key`` is that of a store, for which ``read_artifact`` asks.
    """
    limits = limits or grammar.limits
    sections = _fixed(grammar)
    room = limits.artifact_bytes - _size(sections) - _HEADER
    share = _WALKS
    while True:
        states, masks, made = StateTable(grammar.tables), None, Made()
        if vocabulary is not None:
            masks = Masks(states, vocabulary)
            walks = Precompute(masks, limits.artifact_work, int(share * room), progress)
            made = walks.run()
        known = _known(states, masks, room)
        size = _size(known)
        if size <= room or made.walks <= _FEWEST_WALKS:
            break
        # Item sets of walks are kept in any case: with fewer walks there are fewer of them.
        share *= max(room, 0) / size * _LESS
    made.states = len(states) - len(known["states"]["pairs.start"]) + 1
    _write(path, grammar, masks, {**sections, **known}, grammar.finish, key)
    return made


_HEADER = 64 * 2**10
"""Bytes that the manifest and the names of arrays may take."""

_WALKS = 3 / 4
"""The share of the room that walks and masks may take; states get what is left."""

_LESS = 3 / 4
"""What is tried of the share that would have fitted, where walks took more than the room."""

_FEWEST_WALKS = 1
"""Walks that are written in any case, for the first mask."""


def write_artifact(
    grammar: Compilable,
    states: StateTable,
    masks: Masks | None,
    path: str | Path,
    finish: Finish | None = None,
) -> None:
    """Write what ``states`` and ``masks`` of ``grammar`` know now."""
    sections = {**_fixed(grammar), **_known(states, masks, inf)}
    _write(path, grammar, masks, sections, finish or grammar.finish, None)


def _fixed(grammar: Compilable) -> dict[str, Arrays]:
    """Return what an artifact has of its grammar, whatever was made ahead."""
    kbnf = grammar.to_kbnf()
    # A text of rules is kept with its places; one of JSON is not: its KBNF has the places.
    is_own = grammar.written_rules is not None
    source = grammar.source if is_own else Source(kbnf, grammar.source.path)
    tables = {"source": _text(source.text), **pack_tables(grammar.tables)}
    reading = pack_reading(grammar, source)
    if source.text != kbnf:
        reading["kbnf"] = _text(kbnf)
    sections: dict[str, Arrays] = {"tables": tables, "reading": reading}
    values = grammar.values_as_text
    if values is not None:
        sections["values"] = {"values": _text(values)}
    return sections


def _text(text: str) -> npt.NDArray[np.uint8]:
    return np.frombuffer(text.encode("utf-8"), np.uint8)


def _size(sections: Mapping[str, Arrays]) -> int:
    return sum(array.nbytes for part in sections.values() for array in part.values())


def _known(states: StateTable, masks: Masks | None, room: float) -> dict[str, Arrays]:
    """Return states and masks, of one moment: other threads add to them meanwhile."""
    with states.lock:
        if masks is None:
            return {"states": pack_states(states, room)}
        # In this order: walks can bring rows of their own, and states.
        walks = pack_walks(masks)
        found = {"walks": walks, "masks": pack_masks(masks)}
        needed = int(walks["walks"][:, 0].max(initial=-1)) + 1
        packed = pack_states(states, room - _size(found), needed)
        return {
            **found,
            "walks": first_masks(walks, len(packed["pairs.start"]) - 1),
            "states": packed,
        }


def _write(
    path: str | Path,
    grammar: Compilable,
    masks: Masks | None,
    sections: Mapping[str, Arrays],
    finish: Finish,
    key: str | None,
) -> None:
    arrays = {name: array for part in sections.values() for name, array in part.items()}
    about = {
        **manifest(grammar, masks, finish, sections),
        "key": key,
        "sections": {name: _section(part) for name, part in sections.items()},
    }
    write_container(path, arrays, {"kbnf": about, "digest": manifest_digest(about)})


def _section(arrays: Arrays) -> Mapping[str, object]:
    return {"arrays": sorted(arrays), "digest": digest(arrays)}


def pack_tables(tables: Tables) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of ``tables`` by their names in the file."""
    return {
        name: getattr(tables, field).astype(np.uint8) if field in FLAGS else getattr(tables, field)
        for field, name in COLUMNS.items()
    } | {f"loop.{each.name}": getattr(tables.loops, each.name) for each in fields(Loops)}


def manifest(
    grammar: Compilable, masks: Masks | None, finish: Finish, sections: Mapping[str, Arrays]
) -> Mapping[str, object]:
    """Return the manifest without its sections; see the package's documentation."""
    tables, path = grammar.tables, grammar.source.path
    is_own = grammar.written_rules is not None
    return {
        "format": FORMAT,
        "tool": __version__,
        "start": grammar.start if is_own else grammar.start_in_kbnf,
        "kbnf_start": grammar.start_in_kbnf,
        "language": grammar.language.name if is_own else None,
        "finish": finish.value,
        "nonterminals": list(tables.names),
        "start_is_nullable": tables.start_is_nullable,
        "token_terminals": [
            {"name": each.name, "ranges": [list(r) for r in each.ranges], "negated": each.negated}
            for each in tables.token_terminals
        ],
        # The name of a file need not be UTF-8.
        "source_path": path and path.encode("utf-8", "backslashreplace").decode(),
        "source_hash": hash_of(sections["tables"]["source"].tobytes()),
        "unicode": regex_version(),
        "vocabulary": _describe(masks.vocabulary) if masks else None,
    }


def _describe(vocabulary: Vocabulary) -> Mapping[str, object]:
    return {
        "name": vocabulary.name,
        "size": vocabulary.size,
        "fingerprint": vocabulary.fingerprint,
        "nodes": vocabulary.trie.node_count,
    }
