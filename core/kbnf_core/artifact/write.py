"""The artifact writer: one safetensors file, equal bytes for equal input, all walks computed ahead.

Walks depend on item sets, not on input. The exploration follows item sets instead of texts: every
state one byte after an item set yields further ones, until there are no new ones. Then
completions are followed to every item set that can wait for them.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact import FORMAT
from kbnf_core.artifact.manifest import hash_of, manifest_digest
from kbnf_core.artifact.snapshot import pack_masks, pack_states, pack_walks
from kbnf_core.automata.regex.unicode import regex_version
from kbnf_core.config import Finish
from kbnf_core.container import digest, write_container
from kbnf_core.lower.tables import Loops, Tables
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import BOTTOM, EMPTY, StateTable
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

Progress = Callable[[int, int], None]
"""Called with the number of walks done, and of those known to be needed."""


class Compilable(Protocol):
    """The properties of a ``Grammar`` that an artifact is made of."""

    source: Source
    finish: Finish

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
) -> None:
    """Write the artifact of a grammar with all walks over a vocabulary.

    ``key`` is that of a store, for which ``read_artifact`` asks.
    """
    if vocabulary is None:
        write_artifact(grammar, StateTable(grammar.tables), None, path, key=key)
        return
    masks = Masks(StateTable(grammar.tables), vocabulary)
    precompute(masks, progress)
    write_artifact(grammar, masks.states, masks, path, key=key)


def write_artifact(
    grammar: Compilable,
    states: StateTable,
    masks: Masks | None,
    path: str | Path,
    finish: Finish | None = None,
    key: str | None = None,
) -> None:
    """Write what ``states`` and ``masks`` of ``grammar`` know now."""
    sections: dict[str, Arrays] = {
        "tables": {
            "source": np.frombuffer(grammar.to_kbnf().encode("utf-8"), np.uint8),
            **pack_tables(grammar.tables),
        },
        "states": pack_states(states),
    }
    values = grammar.values_as_text
    if values is not None:
        sections["values"] = {"values": np.frombuffer(values.encode("utf-8"), np.uint8)}
    if masks:
        # In this order: walks can bring rows of their own.
        sections["walks"] = pack_walks(masks)
        sections["masks"] = pack_masks(masks)
    arrays = {name: array for part in sections.values() for name, array in part.items()}
    about = {
        **manifest(grammar, masks, finish or grammar.finish),
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


def manifest(grammar: Compilable, masks: Masks | None, finish: Finish) -> Mapping[str, object]:
    """Return the manifest without its sections; see the package's documentation."""
    tables, path = grammar.tables, grammar.source.path
    return {
        "format": FORMAT,
        "tool": __version__,
        "start": grammar.start_in_kbnf,
        "finish": finish.value,
        "nonterminals": list(tables.names),
        "start_is_nullable": tables.start_is_nullable,
        "token_terminals": [
            {"name": each.name, "ranges": [list(r) for r in each.ranges], "negated": each.negated}
            for each in tables.token_terminals
        ],
        # The name of a file need not be UTF-8.
        "source_path": path and path.encode("utf-8", "backslashreplace").decode(),
        "source_hash": hash_of(grammar.to_kbnf().encode("utf-8")),
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


MAX_WALKS = 20_000
"""Walks to precompute at most; the rest of a larger grammar is computed on demand."""


def precompute(masks: Masks, progress: Progress | None = None) -> None:
    """Compute the walks that ``masks`` can need, and the mask of the initial state."""
    masks.viable(masks.states.initial)
    known = _walk_item_sets(masks, progress)
    _walk_exits(masks, known, progress)


def _walk_item_sets(masks: Masks, progress: Progress | None) -> list[int]:
    """Walk every item set from the trie's root; return them in the order they were met."""
    found: list[int] = []
    seen = {EMPTY}
    # What is far from all bounds of a count has the same walk and goes on in the same way.
    far = masks.counting.far_items
    scanner = _Scanner(masks.states)
    done = 0
    while done < MAX_WALKS:
        fresh = set(map(far, scanner.scan())) - seen
        found.extend(sorted(fresh))
        seen |= fresh
        if done == len(found):
            break
        _step(masks.states, found[done])
        masks.walk(found[done])
        done += 1
        if progress:
            progress(done, len(found))
    return found[:done]


def _step(states: StateTable, item_set: int) -> None:
    """Find the states one byte after an item set."""
    state = states.explorer.begin(item_set)
    for byte_class in states.explorer.live_classes(state):
        states.explorer.after(state, byte_class)


class _Scanner:
    """Scans a growing table for reachable item sets."""

    def __init__(self, states: StateTable) -> None:
        self._states = states
        self._next_state = 0
        self._next_node = 0

    def scan(self) -> set[int]:
        """Return the item sets of the states and stack nodes added since the last call."""
        found = {
            item_set
            for state in range(self._next_state, len(self._states))
            for _, item_set in self._states.pairs(state)
        }
        self._next_state = len(self._states)
        stack = self._states.stack
        for stack_node in range(self._next_node, len(stack)):
            # What waits goes on as soon as a nonterminal ends, perhaps with the token.
            found.update(
                self._states.items.without_ends(after) for _, _, after in stack.edges(stack_node)
            )
        self._next_node = len(stack)
        return found


def _walk_exits(masks: Masks, item_sets: list[int], progress: Progress | None) -> None:
    """Walk from every completion on, for every item set that waits for it somewhere."""
    waiting = _waiting(masks)
    work = [exit_ for item_set in item_sets for exit_ in masks.walk(item_set).completions]
    seen = set(work)
    done = len(item_sets)
    while work:
        nonterminal, nodes = work.pop()
        for after in waiting.get(nonterminal, ()):
            if done == MAX_WALKS:
                return
            fresh = [exit_ for exit_ in masks.walk(after, nodes).completions if exit_ not in seen]
            # What completes at once leaves from the same nodes.
            completed = masks.states.items.completions(after)
            fresh += [(more, nodes) for more in completed if (more, nodes) not in seen]
            seen.update(fresh)
            work.extend(fresh)
            done += 1
            if progress:
                progress(done, done + len(work))


def _waiting(masks: Masks) -> dict[int, list[int]]:
    """Return, per nonterminal, the item sets that wait for it in any stack node."""
    waiting: dict[int, dict[int, None]] = {}
    stack = masks.states.stack
    for stack_node in range(BOTTOM + 1, len(stack)):
        for nonterminal, _, after in stack.edges(stack_node):
            waiting.setdefault(nonterminal, {})[after] = None
    return {nonterminal: list(sets) for nonterminal, sets in waiting.items()}
