"""The artifact writer: one safetensors file, equal bytes for equal input.

Tests: tests/unit/artifact/test_artifact.py
"""

from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.manifest import VocabularyMark, hash_of, manifest_digest
from kbnf_core.artifact.reading import Readable, pack_reading
from kbnf_core.automata.regex.unicode import regex_version
from kbnf_core.config import Finish
from kbnf_core.container import digest, write_container
from kbnf_core.lower.tables import Loops, Tables
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source
from kbnf_core.version import __version__

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
"""Fields of ``Tables`` and the names of their arrays."""


class NamedLanguage(Protocol):
    """A language."""

    @property
    def name(self) -> str:
        """Its name."""


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
    def language(self) -> NamedLanguage:
        """The language of the text."""

    @property
    def start_in_kbnf(self) -> str:
        """The start nonterminal in the text that ``to_kbnf`` returns."""

    @property
    def tables(self) -> Tables:
        """The automata."""

    @property
    def values_as_text(self) -> str | None:
        """The description of values; None where they are JSON."""

    @property
    def vocabulary_mark(self) -> VocabularyMark | None:
        """The vocabulary over which it was read, None where it is for all."""

    def to_kbnf(self) -> str:
        """Return the grammar as KBNF."""


def write_artifact(path: str | Path, grammar: Compilable, key: str | None = None) -> None:
    """Write the artifact of a grammar; ``key`` is that of a store, which readers may require."""
    sections = _sections(grammar)
    arrays = {name: array for section in sections.values() for name, array in section.items()}
    about = {
        **_manifest(grammar, sections["tables"]["source"]),
        "key": key,
        "sections": {name: _section(section) for name, section in sections.items()},
    }
    write_container(path, arrays, {"kbnf": about, "digest": manifest_digest(about)})


def _sections(grammar: Compilable) -> dict[str, Arrays]:
    kbnf = grammar.to_kbnf()
    # A text of rules is kept with its places; one of JSON is not: its KBNF has the places.
    is_own = grammar.has_own_rules
    source = grammar.source if is_own else Source(kbnf, grammar.source.path)
    tables = {"source": _text(source.text), **_pack_tables(grammar.tables)}
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


def _section(arrays: Arrays) -> Mapping[str, object]:
    return {"arrays": sorted(arrays), "digest": digest(arrays)}


def _pack_tables(tables: Tables) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of ``tables`` by their names in the file."""
    return {
        name: getattr(tables, field).astype(np.uint8) if field in FLAGS else getattr(tables, field)
        for field, name in COLUMNS.items()
    } | {
        f"loop.{loop_field.name}": getattr(tables.loops, loop_field.name)
        for loop_field in fields(Loops)
    }


def _manifest(grammar: Compilable, source: npt.NDArray[np.uint8]) -> dict[str, object]:
    """Return the manifest but for the key and the sections; see the package's documentation."""
    tables, path = grammar.tables, grammar.source.path
    is_own = grammar.has_own_rules
    mark = grammar.vocabulary_mark
    return {
        "format": FORMAT,
        "tool": __version__,
        "start": grammar.start if is_own else grammar.start_in_kbnf,
        "kbnf_start": grammar.start_in_kbnf,
        "language": grammar.language.name if is_own else None,
        "finish": grammar.finish.value,
        "nonterminals": list(tables.names),
        "start_is_nullable": tables.start_is_nullable,
        "token_terminals": [
            {
                "name": token_terminal.name,
                "ranges": [list(r) for r in token_terminal.ranges],
                "negated": token_terminal.negated,
            }
            for token_terminal in tables.token_terminals
        ],
        # The name of a file need not be UTF-8.
        "source_path": path and path.encode("utf-8", "backslashreplace").decode(),
        "source_hash": hash_of(source.tobytes()),
        "limits": asdict(grammar.limits),
        "unicode": regex_version(),
        "vocabulary": None if mark is None else asdict(mark),
    }
