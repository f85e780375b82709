"""Snapshots: a recogniser's states and a grammar's masks as arrays, and back.

Lists of lists are two arrays, as in CSR: offsets, one more than lists, and elements.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from kbnf_core.lower.tables import Tables
from kbnf_core.mask.bits import word_count
from kbnf_core.mask.masks import Masks, Viable
from kbnf_core.mask.walks import Walk, found_before
from kbnf_core.recognise.states import Contents, StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Ids = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint32]


def pack_lists(
    lists: Sequence[Sequence[int]], dtype: type[np.signedinteger[Any]] = np.int32
) -> tuple[Ids, npt.NDArray[Any]]:
    """Return (start, elements) of lists of numbers."""
    return _starts(lists), np.array(list(chain.from_iterable(lists)), dtype)


def pack_tuples(lists: Sequence[Sequence[tuple[int, ...]]], width: int) -> tuple[Ids, Ids]:
    """Return (start, rows) of lists of tuples of ``width`` numbers."""
    return _starts(lists), table(chain.from_iterable(lists), width)


def pack_arrays(parts: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Return (start, elements) of arrays."""
    return _starts(parts), np.concatenate([np.zeros(0, np.int32), *parts])


def table(rows: Iterable[tuple[int, ...]], width: int) -> Ids:
    """Return int32[rows, width]."""
    return np.array(list(rows), np.int32).reshape(-1, width)


def pack_words(rows: Sequence[Words]) -> tuple[Ids, Words]:
    """Return (start, elements) of rows of bits, mostly zero ones as pairs; ``Rows`` reads them."""
    start, elements = pack_arrays([_sparse(row).view(np.int32) for row in rows])
    return start, elements.view(np.uint32)


def _sparse(row: Words) -> Words:
    """Return (index, word) pairs for the nonzero words where that is shorter, else the row."""
    index = np.flatnonzero(row)
    if 2 * len(index) >= len(row):
        return row
    return np.stack((index.astype(np.uint32), row[index]), axis=1).reshape(-1)


class Rows(Sequence[Words]):
    """Rows of ``width`` words that ``pack_words`` has packed; each is unpacked when it is read."""

    def __init__(self, start: Ids, elements: Words, width: int) -> None:
        self._start = start
        self._elements = elements
        self._width = width

    def __len__(self) -> int:
        return len(self._start) - 1

    @overload
    def __getitem__(self, number: int) -> Words: ...

    @overload
    def __getitem__(self, number: slice) -> list[Words]: ...

    def __getitem__(self, number: int | slice) -> Words | list[Words]:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not 0 <= number < len(self):
            raise IndexError(number)
        content = self._elements[self._start[number] : self._start[number + 1]]
        if len(content) == self._width:
            return content
        row = np.zeros(self._width, np.uint32)
        row[content[::2]] = content[1::2]
        return row


def _starts(lists: Sequence[Sequence[Any] | Ids]) -> Ids:
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(items) for items in lists], out=start[1:])
    return start


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
    arrays["next"] = states.next
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
        self.next = arrays["next"]
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

    def __init__(self, arrays: Arrays, vocabulary: Vocabulary) -> None:
        self._arrays = arrays
        bounds = pairwise(arrays["nodes.start"].tolist())
        nodes = [arrays["nodes"][a:b] for a, b in bounds]
        rows = Rows(arrays["masks.start"], arrays["masks"], word_count(vocabulary.size))
        self.found = found_before(nodes, rows, vocabulary)

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
