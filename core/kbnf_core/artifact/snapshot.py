"""Snapshots: a recogniser's states and a grammar's masks as arrays, and back.

Lists of lists are two arrays, as in CSR: offsets, one more than lists, and elements.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain, pairwise
from math import inf
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from kbnf_core.lower.tables import Tables
from kbnf_core.mask.bits import word_count
from kbnf_core.mask.masks import Masks, Viable, Walk, found_before
from kbnf_core.recognise.states import DEAD, INITIAL, UNKNOWN, Contents, StateTable
from kbnf_core.vocab.vocabulary import Vocabulary

Ids = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint32]


def pack_lists(
    lists: Sequence[Sequence[int]], dtype: type[np.signedinteger[Any]] = np.int32
) -> tuple[Ids, npt.NDArray[Any]]:
    """Return (start, elements) of lists of numbers."""
    return starts_of(lists), np.array(list(chain.from_iterable(lists)), dtype)


def pack_tuples(lists: Sequence[Sequence[tuple[int, ...]]], width: int) -> tuple[Ids, Ids]:
    """Return (start, rows) of lists of tuples of ``width`` numbers."""
    return starts_of(lists), table(chain.from_iterable(lists), width)


def pack_arrays(parts: Sequence[Ids]) -> tuple[Ids, Ids]:
    """Return (start, elements) of arrays."""
    return starts_of(parts), np.concatenate([np.zeros(0, np.int32), *parts])


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


def packed_size(row: Words) -> int:
    """Return the bytes that ``pack_words`` takes for a row, with its start."""
    return 4 + 4 * min(len(row), 2 * int(np.count_nonzero(row)))


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


def starts_of(lists: Sequence[Sequence[Any] | Ids]) -> Ids:
    """Return where each of some lists begins, and where the last one ends."""
    start = np.zeros(len(lists) + 1, np.int32)
    np.cumsum([len(items) for items in lists], out=start[1:])
    return start


Arrays = Mapping[str, npt.NDArray[Any]]


def pack_states(
    states: StateTable, room: float = inf, needed: int = 0
) -> dict[str, npt.NDArray[Any]]:
    """Return the state table as arrays: of its states, the first that fit in ``room`` bytes.

    The first ``needed`` item sets are kept in any case, and the initial state.
    """
    numbers = range(len(states))
    arrays: dict[str, npt.NDArray[Any]] = {}
    items = [states.items.items(i) for i in range(len(states.items))]
    arrays["items.start"], arrays["items"] = pack_lists(items, np.int64)
    stack = [states.stack.edges(i) for i in range(len(states.stack))]
    arrays["origins.start"], arrays["origins"] = pack_tuples(stack, 3)
    arrays["pairs.start"], arrays["pairs"] = pack_tuples([states.pairs(i) for i in numbers], 2)
    arrays["exits.start"], arrays["exits"] = pack_lists([states.completions(i) for i in numbers])
    next_ = states.next
    start, moves = pack_moves(next_)
    count = _most_states(arrays, start, room, needed)
    if count < len(next_):
        arrays = _first_states(arrays, count, needed)
        next_ = next_[:count]
        start, moves = pack_moves(np.where(next_ < count, next_, UNKNOWN))
    return {**arrays, "next.start": start, "next": moves}


def _most_states(arrays: Arrays, moves: Ids, room: float, needed: int) -> int:
    """Return how many states have room, with the item sets and stack nodes that they speak of."""
    pairs, start = arrays["pairs"], arrays["pairs.start"]
    cost = 12.0 * np.arange(1, len(start)) + 8 * start[1:] + 4 * arrays["exits.start"][1:]
    cost += 4 * moves[1:]
    sets, nodes = arrays["items.start"], arrays["origins.start"]
    kept = np.maximum(_most_before(pairs[:, 0], start), 0)
    cost += 12 * nodes[kept + 1] + 4 * kept
    kept_sets = np.maximum(_most_before(pairs[:, 1], start), needed - 1)
    after = _most_before(arrays["origins"][:, 2], nodes)
    kept_sets = np.maximum(kept_sets, after[kept])
    cost += 8 * sets[kept_sets + 1] + 4 * kept_sets
    return max(int(np.searchsorted(cost, room, side="right")), INITIAL + 1)


def _most_before(values: Ids, start: Ids) -> Ids:
    """Return the largest value of each list and those before it, -1 where there are none."""
    most: Ids = np.concatenate([np.full(1, -1, np.int32), np.maximum.accumulate(values)])
    found: Ids = most[start[1:]]
    return found


def _first_states(arrays: Arrays, count: int, needed: int) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of the first states, with the item sets and stack nodes in use."""
    found = {**_first(arrays, "pairs", count), **_first(arrays, "exits", count)}
    nodes = int(found["pairs"][:, 0].max(initial=0)) + 1
    found |= _first(arrays, "origins", nodes)
    sets = max(needed - 1, *(int(each.max(initial=0)) for each in _sets_of(found))) + 1
    return {**_first(arrays, "items", sets), **found}


def _sets_of(arrays: Arrays) -> tuple[Ids, Ids]:
    return arrays["pairs"][:, 1], arrays["origins"][:, 2]


def _first(arrays: Arrays, name: str, count: int) -> dict[str, npt.NDArray[Any]]:
    start = arrays[f"{name}.start"][: count + 1]
    return {f"{name}.start": start, name: arrays[name][: start[-1]]}


def pack_moves(moves: Ids) -> tuple[Ids, Ids]:
    """Return (start, elements) of a transition table, most rows as what differs from most.

    Such a row begins with what most of its classes lead to, DEAD or UNKNOWN; (class, state) pairs
    for all others follow. A row for which that is not shorter is itself.
    """
    width = moves.shape[1]
    dead, unknown = ((moves == each).sum(axis=1) for each in (DEAD, UNKNOWN))
    most = np.where(dead >= unknown, DEAD, UNKNOWN).astype(np.int32)
    sparse = 1 + 2 * (width - np.maximum(dead, unknown))
    is_whole = sparse >= width
    length = np.where(is_whole, width, sparse)
    start = np.concatenate(([0], np.cumsum(length))).astype(np.int32)
    elements = np.zeros(start[-1], np.int32)
    begins = start[:-1]
    elements[(begins[is_whole, None] + np.arange(width)).ravel()] = moves[is_whole].ravel()
    elements[begins[~is_whole]] = most[~is_whole]
    rows, classes = np.nonzero((moves != most[:, None]) & ~is_whole[:, None])
    place = np.arange(len(rows)) - np.searchsorted(rows, np.arange(len(moves)))[rows]
    at = begins[rows] + 1 + 2 * place
    elements[at], elements[at + 1] = classes, moves[rows, classes]
    return start, elements


def unpack_moves(start: Ids, elements: Ids, width: int) -> Ids:
    """Return the transition table that ``pack_moves`` has packed; ``validate`` has checked it."""
    length, begins = np.diff(start), start[:-1]
    is_whole = length == width
    moves = np.repeat(elements[begins][:, None], width, axis=1)
    moves[is_whole] = elements[(begins[is_whole, None] + np.arange(width)).ravel()].reshape(
        -1, width
    )
    pairs, rows = sparse_pairs(start, elements, width)
    moves[rows, pairs[:, 0]] = pairs[:, 1]
    return moves


def sparse_pairs(start: Ids, elements: Ids, width: int) -> tuple[Ids, Ids]:
    """Return the (class, state) pairs of rows that are not whole, and the row of each."""
    length = np.diff(start)
    count = np.where(length == width, 0, length // 2)
    rows = np.repeat(np.arange(len(length)), count)
    own = np.arange(len(rows)) - np.repeat(np.cumsum(count) - count, count)
    at = start[:-1][rows] + 1 + 2 * own
    return np.stack((elements[at], elements[at + 1]), axis=1), rows


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


def first_masks(walks: Arrays, states: int) -> Arrays:
    """Return what ``pack_walks`` has returned without the masks of later states."""
    count = int(np.searchsorted(walks["viable"][:, 0], states))
    return {**walks, **_first(walks, "completions", count), "viable": walks["viable"][:count]}


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
        self.next = unpack_moves(arrays["next.start"], arrays["next"], tables.class_count)
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
