"""Snapshots: a recogniser's states and a grammar's masks as arrays, and back."""

from collections.abc import Mapping
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.lists import (
    Rows,
    pack_arrays,
    pack_lists,
    pack_tuples,
    pack_words,
    table,
)
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.masks import Masks, Viable
from kbnf_core.mask.trie_walk import Walk, found_before
from kbnf_core.recognise.states import Contents, StateTable

Arrays = Mapping[str, npt.NDArray[Any]]


def pack_states(states: StateTable) -> dict[str, npt.NDArray[Any]]:
    """Return the whole state table as arrays."""
    numbers = range(len(states))
    arrays: dict[str, npt.NDArray[Any]] = {}
    items = [states.items.items(i) for i in range(len(states.items))]
    arrays["items.start"], arrays["items"] = pack_lists(items, np.int64)
    stack = [states.stack.edges(i) for i in range(len(states.stack))]
    arrays["origins.start"], arrays["origins"] = pack_tuples(stack, 3)
    arrays["pairs.start"], arrays["pairs"] = pack_tuples([states.pairs(i) for i in numbers], 2)
    arrays["exits.start"], arrays["exits"] = pack_lists([states.completions(i) for i in numbers])
    arrays["next"] = states.next[: len(states)]
    return arrays


def pack_walks(masks: Masks) -> dict[str, npt.NDArray[Any]]:
    """Return every cached walk and mask of ``masks``, by row numbers."""
    rows, sets = masks.found.rows, masks.found.node_sets
    walks = sorted(masks.known_walks().items())
    viable = sorted(masks.known_viable().items())
    arrays: dict[str, npt.NDArray[Any]] = {
        "walks": table([(*key, walk.row) for key, walk in walks], 3),
        "viable": table(
            [(state, rows.number(masks.union(each.rows))) for state, each in viable], 2
        ),
    }
    ended = [walk.completions for _, walk in walks]
    arrays["walk_exits.start"], arrays["walk_exits"] = pack_tuples(ended, 2)
    completions = [each.completions for _, each in viable]
    arrays["completions.start"], arrays["completions"] = pack_lists(completions)
    arrays["nodes.start"], arrays["nodes"] = pack_arrays([sets[i] for i in range(len(sets))])
    return arrays


def pack_masks(masks: Masks) -> dict[str, npt.NDArray[Any]]:
    """Return the masks themselves."""
    rows = masks.found.rows
    start, words = pack_words([rows[i] for i in range(len(rows))])
    return {"masks.start": start, "masks": words}


class ArtifactStates:
    """The states of an artifact; see ``recognise.states.StoredStates``."""

    def __init__(self, tables: Tables, arrays: Arrays) -> None:
        self._tables = tables
        self._arrays = arrays
        self.next = np.array(arrays["next"])
        self.has_completions = (np.diff(arrays["exits.start"]) > 0).astype(np.uint8)

    def contents(self) -> Contents:
        """Return the configurations, under the numbers that ``validate`` has checked."""
        found = Contents(self._tables)
        for items in _lists(self._arrays, "items"):
            found.items.number(items)
        for edges in _lists(self._arrays, "origins"):
            found.stack.intern(edges)
        pairs, completions = _lists(self._arrays, "pairs"), _lists(self._arrays, "exits")
        for content in zip(pairs, completions, strict=True):
            found.configurations.number(*content)
        return found


class ArtifactMasks:
    """The walks and masks of an artifact; see ``mask.masks.StoredMasks``."""

    def __init__(self, arrays: Arrays, width: int) -> None:
        self._arrays = arrays
        bounds = pairwise(arrays["nodes.start"].tolist())
        nodes = [arrays["nodes"][a:b] for a, b in bounds]
        rows = Rows(arrays["masks.start"], arrays["masks"], width)
        self.found = found_before(nodes, rows, width)

    @cached_property
    def walks(self) -> dict[tuple[int, int], Walk]:
        """The walks by item set and node set."""
        completions = _lists(self._arrays, "walk_exits")
        rows = self._arrays["walks"].tolist()
        return {
            (item_set, nodes): Walk(row, out)
            for (item_set, nodes, row), out in zip(rows, completions, strict=True)
        }

    @cached_property
    def viable(self) -> dict[int, Viable]:
        """The viable tokens by state."""
        completions = _lists(self._arrays, "completions")
        rows = self._arrays["viable"].tolist()
        return {
            state: Viable((row,) if row else (), at)
            for (state, row), at in zip(rows, completions, strict=True)
        }


def _lists(arrays: Arrays, name: str) -> list[Any]:
    """Return a list of lists as tuples, of numbers or of tuples of numbers."""
    rows = arrays[name].tolist()
    values = rows if arrays[name].ndim == 1 else [tuple(row) for row in rows]
    return [tuple(values[a:b]) for a, b in pairwise(arrays[f"{name}.start"].tolist())]
