"""The fallback kernel in NumPy and Python; results are identical to the compiled one's."""

import threading
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.engine_core import EngineCore
from kbnf_core.kernel.forced import PlainForced, PlainTexts
from kbnf_core.kernel.interface import ARRAY_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kbnf_core.kernel.interface import (
        Bitmask,
        Completions,
        Gatherable,
        Ids,
        Pool,
        Slice,
        Table,
        TrieArrays,
        Walked,
    )

__all__ = [
    "NAME",
    "EngineCore",
    "apply",
    "assembler",
    "columns",
    "configurations",
    "explorer",
    "fill",
    "fill_rows",
    "forced",
    "lists",
    "parts",
    "pool",
    "reader",
    "texts",
    "walker",
]

NAME = "numpy"

_DEAD = 0
_MOST_SPARSE = 64
_UNKNOWN = -1


class PlainExplorer:
    """See ``interface.LazyTable``."""

    def __init__(self, table: "Table") -> None:
        self._table = table

    def explore(self, state: int, byte_class: int) -> int:
        """See ``interface.LazyTable``."""
        table = self._table
        table.lock.acquire()
        try:
            found = table.explore_plainly(state, byte_class)
            table.next[state, byte_class] = found
        finally:
            table.lock.release()
        return found

    def live_classes(self, state: int) -> list[int]:
        """See ``interface.LazyTable``."""
        return self._table.live_plainly(state)

    def feed(self, state: int, data: bytes, eager: bool) -> tuple[int, int]:
        """See ``interface.LazyTable``."""
        table = self._table
        for offset, byte_class in enumerate(table.classes[np.frombuffer(data, np.uint8)].tolist()):
            if eager and offset and table.has_completions[state]:
                return _DEAD, offset
            found = int(table.next[state, byte_class])
            state = found if found != _UNKNOWN else self.explore(state, byte_class)
            if state == _DEAD:
                return _DEAD, offset
        return state, len(data)

    def begin(self, item_set: int) -> int:
        """See ``interface.LazyTable``."""
        return self._table.begin_plainly(item_set)

    def enter(self, nonterminals: "Sequence[int]") -> int:
        """See ``interface.LazyTable``."""
        return self._table.enter_plainly(nonterminals)

    def signature(self, item_set: int, blocks: "Ids") -> bytes:
        """See ``interface.LazyTable``."""
        return self._table.signature_plainly(item_set, blocks)

    def sizes(self) -> tuple[int, int]:
        """See ``interface.LazyTable``."""
        return self._table.sizes_plainly()


class PlainSituations:
    """See ``interface.Configurations``."""

    def __init__(self) -> None:
        self._pairs: list[tuple[tuple[int, int], ...]] = []
        self._exits: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[tuple[tuple[int, int], ...], tuple[int, ...]], int] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._pairs)

    def number(self, pairs: tuple[tuple[int, int], ...], completions: tuple[int, ...]) -> int:
        """See ``interface.Configurations``."""
        number = self._numbers.setdefault((pairs, completions), len(self._pairs))
        if number == len(self._pairs):
            self._pairs.append(pairs)
            self._exits.append(completions)
            self.size += len(pairs) + len(completions)
        return number

    def pairs(self, number: int) -> tuple[tuple[int, int], ...]:
        """See ``interface.Configurations``."""
        return self._pairs[number]

    def completions(self, number: int) -> tuple[int, ...]:
        """See ``interface.Configurations``."""
        return self._exits[number]


class PlainLists:
    """See ``interface.Lists``."""

    def __init__(self) -> None:
        self._contents: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self.size = 0

    def __len__(self) -> int:
        return len(self._contents)

    def number(self, values: tuple[int, ...]) -> int:
        """See ``interface.Lists``."""
        number = self._numbers.setdefault(values, len(self._contents))
        if number == len(self._contents):
            self._contents.append(values)
            self.size += len(values)
        return number

    def values(self, number: int) -> tuple[int, ...]:
        """See ``interface.Lists``."""
        return self._contents[number]


class PlainReader:
    """See ``interface.Inclusion``."""

    def __init__(self, table: "Table", machine: "Ids", number: npt.NDArray[np.uint8]) -> None:
        del number
        self._table = table
        self._machine = machine

    def covered(self, state: int, reading: int, most: int) -> int:
        """See ``interface.Inclusion``."""
        seen: set[tuple[int, int]] = set()
        level = {(state, reading)}
        for length in range(most):
            after: set[tuple[int, int]] = set()
            for here, reading in level:
                found = self._read(here, self._machine[reading])
                if found is None:
                    return length
                after |= found
            level = after - seen
            seen |= after
        return most

    def _read(self, state: int, row: "Ids") -> set[tuple[int, int]] | None:
        """Return the pairs after all bytes that ``row`` reads; None if one is not viable."""
        table = self._table
        read = np.flatnonzero(row)
        moves = np.unique(np.stack((table.classes[read], row[read])), axis=1)
        after = _step(table, np.full(moves.shape[1], state, np.int32), moves[0])
        if (after == _DEAD).any() or table.has_completions[after].any():
            return None
        return set(zip(after.tolist(), moves[1].tolist(), strict=True))


class PlainPool:
    """See ``interface.Pool``."""

    def __init__(
        self, known: "Sequence[npt.NDArray[Any]]", parts: "PlainParts | None" = None
    ) -> None:
        self._arrays = list(known)
        self._width = 0 if parts is None else parts.width
        self._lock = threading.Lock()
        self.added_bytes = 0

    def __len__(self) -> int:
        return len(self._arrays)

    def __getitem__(self, number: int) -> npt.NDArray[Any]:
        """See ``interface.Pool``."""
        return self._arrays[number]

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        return {array.tobytes(): number for number, array in enumerate(self._arrays)}

    def number(self, array: npt.NDArray[Any]) -> int:
        """See ``interface.Pool``."""
        content = array.tobytes()
        with self._lock:
            number = self._numbers.setdefault(content, len(self._arrays))
            if number == len(self._arrays):
                self._arrays.append(np.frombuffer(content, array.dtype))
                self.added_bytes += len(content) + ARRAY_BYTES
            return number

    def unite(self, numbers: "Iterable[int]") -> npt.NDArray[Any]:
        """See ``interface.Pool``."""
        words = np.zeros(self._width, np.uint32)
        for number in numbers:
            words |= self[number]
        return words

    def sparse(self, numbers: "Iterable[int]") -> bytes | None:
        """See ``interface.Pool``."""
        words = self.unite(numbers)
        places = np.flatnonzero(words)
        if len(places) > _MOST_SPARSE:
            return None
        return np.stack((places, words.view(np.int32)[places]), axis=1).astype(np.int32).tobytes()


class PlainParts(NamedTuple):
    """See ``interface.Parts``."""

    trie: "TrieArrays"
    slices: "Sequence[Slice]"

    @property
    def width(self) -> int:
        """The number of words of a mask."""
        return int(self.slices[0].blocks.shape[1])

    def row(self, key: bytes) -> "Bitmask":
        """See ``interface.Parts``."""
        pairs = np.frombuffer(key, np.int32).reshape(-1, 2)
        words = np.zeros(self.width, np.uint32)
        words[pairs[:, 0]] = pairs[:, 1].view(np.uint32)
        return words


class PlainWalker:
    """See ``interface.Walker``; one level of the trie at a time, dead branches dropping out."""

    def __init__(self, table: "Table", parts: PlainParts) -> None:
        self._table = table
        self._trie = parts.trie
        self._slices = [
            (each, None if each.machine is None else PlainReader(table, each.machine, each.number))
            for each in parts.slices
        ]
        self.visited = 0

    def find(
        self, item_set: int, roots: int, node_sets: "Pool[np.int32]", rows: "Pool[np.uint32]"
    ) -> "Walked":
        """See ``interface.Walker``."""
        words = np.empty_like(rows[0])
        start = self._table.begin_plainly(item_set)
        completions = self.walk(start, node_sets[roots], words)
        number = node_sets.number
        return rows.number(words), tuple((name, number(at)) for name, at in completions)

    def walk(self, start: int, roots: "Ids", words: "Bitmask") -> "Completions":
        """See ``interface.Walker``."""
        words[:] = 0
        reached = [self._follow(self._trie, roots[roots != 0], start, words)]
        if (roots == 0).any():
            for each, reader in self._slices:
                covered = reader and reader.covered(start, 1, int(each.height[0]))
                if covered is not None and covered >= each.height[0]:
                    words |= each.blocks[-1]
                    continue
                nodes, states = self._follow(each.part.trie, np.zeros(1, np.int32), start, words)
                reached.append((each.part.nodes[nodes], states))
        nodes, at = (np.concatenate(column) for column in zip(*reached, strict=True))
        # Where no token goes on, nobody asks what follows.
        leaving = (self._table.has_completions[at] != 0) & (self._trie.skip[nodes] > nodes + 1)
        return _by_nonterminal(self._table, nodes[leaving], at[leaving])

    def _follow(
        self, trie: "TrieArrays", nodes: "Ids", start: int, words: "Bitmask"
    ) -> "tuple[Ids, Ids]":
        """Return the nodes reached below others, and the states there."""
        table = self._table
        states = np.full(len(nodes), start, np.int32)
        all_nodes, all_states = [nodes[:0]], [states[:0]]
        while len(nodes):
            which, index = _ranges(trie.child_start[nodes], trie.child_start[nodes + 1])
            children = trie.child[index]
            self.visited += len(children)
            after = _step(table, states[which], table.classes[trie.byte[children]])
            living = after != _DEAD
            nodes, states = children[living], after[living]
            all_nodes.append(nodes)
            all_states.append(states)
        reached, at = np.concatenate(all_nodes), np.concatenate(all_states)
        words |= _tokens_at(trie, reached, len(words))
        return reached, at


class PlainGatherer:
    """See ``interface.MaskAssembler``."""

    def __init__(self, masks: "Gatherable") -> None:
        self._masks = masks
        self._walks: dict[tuple[int, int], Walked] = {}
        self._gathered: set[int] = set()
        self.walk_count = 0

    def __len__(self) -> int:
        return len(self._walks)

    def holds_more_than(self, share: float) -> bool:
        """See ``interface.MaskAssembler``."""
        masks = self._masks
        states, parts = masks.states.sizes_plainly()
        added = sum(pool.added_bytes for pool in masks.found)
        return (
            states > share * masks.state_limit
            or parts - masks.states.given > share * masks.part_limit
            or added > share * masks.byte_limit
        )

    def known(self) -> "dict[tuple[int, int], Walked]":
        """See ``interface.MaskAssembler``."""
        return dict(self._walks)

    def gather(self, state: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """See ``interface.MaskAssembler``."""
        self._gathered.add(state)
        return self._masks.gather_plainly(state)

    def mask(self, state: int, more: tuple[int, ...]) -> "Bitmask":
        """See ``interface.MaskAssembler``."""
        rows, _ = self._gather_alone(state)
        return self._masks.union((*rows, *more))

    def prefix_free(self, state: int) -> "Bitmask":
        """See ``interface.MaskAssembler``."""
        return self._masks.cut_off(*self._gather_alone(state), state)

    def _gather_alone(self, state: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        self._masks.states.lock.acquire()
        try:
            return self.gather(state)
        finally:
            self._masks.states.lock.release()

    def gathered(self) -> list[int]:
        """See ``interface.MaskAssembler``."""
        return sorted(self._gathered)

    def walk(self, item_set: int, nodes: int) -> "Walked":
        """See ``interface.MaskAssembler``."""
        found = self._walks.get((item_set, nodes))
        if found is None:
            if len(self._walks) > self._masks.mask_capacity:
                self._walks.clear()
            found = self._masks.recall(item_set, nodes)
            if found is None:
                self.walk_count += 1
                found = self._masks.walker.find(item_set, nodes, *self._masks.found)
            self._walks[item_set, nodes] = found
        return found


explorer = PlainExplorer
configurations = PlainSituations
lists = PlainLists
reader = PlainReader
pool = PlainPool
parts = PlainParts
walker = PlainWalker
assembler = PlainGatherer
texts = PlainTexts
forced = PlainForced


def _step(table: "Table", states: "Ids", classes: npt.NDArray[np.uint8]) -> "Ids":
    after = table.next[states, classes]
    unknown = np.flatnonzero(after == _UNKNOWN)
    if len(unknown):
        width = table.next.shape[1]
        pairs = np.unique(states[unknown].astype(np.int64) * width + classes[unknown])
        for pair in pairs.tolist():
            table.explorer.explore(*divmod(pair, width))
        after = table.next[states, classes]
    return after


def _tokens_at(trie: "TrieArrays", nodes: "Ids", word_count: int) -> "Bitmask":
    starts = trie.token_start
    flags = np.zeros(word_count * 32, np.bool_)
    flags[trie.token_ids[_ranges(starts[nodes], starts[nodes + 1])[1]]] = True
    return np.packbits(flags, bitorder="little").view(np.uint32)


def _ranges(begin: "Ids", end: "Ids") -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return, for all numbers of all ranges in turn, which range it is of, and the number."""
    lengths = (end - begin).astype(np.int64)
    which = np.repeat(np.arange(len(lengths)), lengths)
    first = begin - (np.cumsum(lengths) - lengths)
    numbers: npt.NDArray[np.int64] = np.arange(len(which)) + first[which]
    return which, numbers


def _by_nonterminal(table: "Table", nodes: "Ids", states: "Ids") -> "Completions":
    parts: dict[int, list[Ids]] = {}
    for completions, at in _by_exits(table, nodes, states):
        for nonterminal in completions:
            parts.setdefault(nonterminal, []).append(at)
    return [(name, np.unique(np.concatenate(parts[name]))) for name in sorted(parts)]


def _by_exits(
    table: "Table", nodes: "Ids", states: "Ids"
) -> Iterator[tuple[tuple[int, ...], "Ids"]]:
    """Yield the distinct completions with their nodes; there are few of them."""
    kinds: dict[tuple[int, ...], int] = {}
    kind_of = np.zeros(len(table.has_completions), np.int32)
    for state in np.flatnonzero(np.bincount(states)).tolist():
        kind_of[state] = kinds.setdefault(table.completions(state), len(kinds))
    for completions, kind in kinds.items():
        yield completions, nodes[kind_of[states] == kind]


def columns(
    table: "Table", trie: "TrieArrays", states: "Ids", eager: bool, work: int
) -> "tuple[Ids, Ids] | None":
    """See ``interface.Kernel``: one vector of states for each trie node, each computed once."""
    vectors = _Vectors(table, states, eager)
    classes, depth, skip = table.classes[trie.byte].tolist(), trie.depth.tolist(), trie.skip
    at = [_IDENTITY] * (max(depth) + 1)
    of = np.zeros(len(trie.token_ids), np.int32)
    node = 1
    while node < len(depth):
        after = vectors.step(at[depth[node] - 1], classes[node])
        if vectors.spent > work:
            return None
        if after:
            at[depth[node]] = after
            of[trie.token_start[node] : trie.token_start[node + 1]] = after
        node = node + 1 if after else int(skip[node])
    used, first, number = np.unique(np.append(0, of), return_index=True, return_inverse=True)
    order = np.argsort(first)
    dense = np.array([vectors.dense(each) for each in used[order].tolist()], np.int32)
    return np.argsort(order).astype(np.int32)[number[1:]], dense


_IDENTITY = 1


class _Vectors:
    """Vectors of states by number, a pair (place, state) for each live one; 0 is dead."""

    def __init__(self, table: "Table", states: "Ids", eager: bool) -> None:
        self._table = table
        self._eager = eager
        self._width = len(states)
        self._contents: list[tuple[tuple[int, int], ...]] = [(), tuple(enumerate(states.tolist()))]
        # The identity cannot be found: only there may a complete state go on under ``eager``.
        self._numbers: dict[tuple[tuple[int, int], ...], int] = {(): 0}
        self._after: dict[tuple[int, int], int] = {}
        self.spent = 0

    def step(self, number: int, byte_class: int) -> int:
        """Return the vector after a byte of a class."""
        found = self._after.get((number, byte_class))
        if found is None:
            self.spent += len(self._contents[number]) + 1
            pairs = tuple(self._steps(number, byte_class))
            found = self._numbers.setdefault(pairs, len(self._contents))
            if found == len(self._contents):
                self._contents.append(pairs)
            self._after[number, byte_class] = found
        return found

    def _steps(self, number: int, byte_class: int) -> Iterator[tuple[int, int]]:
        table = self._table
        for place, state in self._contents[number]:
            if self._eager and number != _IDENTITY and table.has_completions[state]:
                continue
            after = int(table.next[state, byte_class])
            if after == _UNKNOWN:
                after = table.explorer.explore(state, byte_class)
            if after != _DEAD:
                yield place, after

    def dense(self, number: int) -> "Ids":
        """Return the state at each place."""
        row = np.zeros(self._width, np.int32)
        for place, state in self._contents[number]:
            row[place] = state
        return row


def unwritten(count: int, width: int) -> "Ids":
    """See ``Kernel``."""
    return np.empty((count, width), np.int32)


def fill(out: npt.NDArray[np.int32], words: "Bitmask") -> None:
    """See ``interface.Kernel.fill``."""
    if out.dtype != np.int32 or out.ndim != 1 or not out.flags.c_contiguous:
        raise ValueError("a bitmask is a contiguous one-dimensional int32 array")
    if len(out) < len(words):
        raise ValueError(f"a bitmask of {len(out)} words is too short for {len(words)}")
    out[: len(words)] = words.view(np.int32)
    out[len(words) :] = 0


def fill_rows(
    out: npt.NDArray[np.int32],
    rows: npt.NDArray[np.int64],
    engines: "list[EngineCore | None]",
    threads: int,
) -> None:
    """See ``interface.Kernel.fill_rows``; one thread does it, since NumPy holds the GIL."""
    del threads
    if out.dtype != np.int32 or out.ndim != 2 or not out.flags.carray:
        raise ValueError("bitmasks are the rows of a contiguous int32 array")
    everything = np.full(out.shape[1], 2**32 - 1, np.uint32)
    masks = [everything if engine is None else engine._row_words() for engine in engines]
    for row, words in zip(rows.tolist(), masks, strict=True):
        if not 0 <= row < len(out):
            raise ValueError(f"the bitmask has no row {row}")
        if out.shape[1] < len(words):
            raise ValueError(f"a bitmask of {out.shape[1]} words is too short for {len(words)}")
    for row, words in zip(rows.tolist(), masks, strict=True):
        fill(out[row], words)


def apply(words: "Bitmask", size: int, logits: npt.NDArray[Any]) -> None:
    """See ``interface.Kernel.apply``."""
    allowed = np.unpackbits(words.view(np.uint8), count=size, bitorder="little")
    logits[:size][allowed == 0] = -np.inf
    logits[size:] = -np.inf
