"""The kernel without a compiler: the same, in NumPy and Python."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.engine_core import EngineCore

if TYPE_CHECKING:
    from kbnf_core.kernel.interface import Bitmask, Exits, Gatherable, Ids, Table, TrieArrays

__all__ = [
    "NAME",
    "EngineCore",
    "apply",
    "assembler",
    "configurations",
    "explorer",
    "fill",
    "fill_rows",
    "reader",
    "walker",
]

NAME = "numpy"

_DEAD = 0
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

    def feed(self, state: int, data: bytes, eager: bool) -> tuple[int, int]:
        """See ``interface.LazyTable``."""
        table = self._table
        for offset, byte_class in enumerate(table.classes[np.frombuffer(data, np.uint8)].tolist()):
            if eager and offset and table.has_exits[state]:
                return _DEAD, offset
            found = int(table.next[state, byte_class])
            state = found if found != _UNKNOWN else self.explore(state, byte_class)
            if state == _DEAD:
                return _DEAD, offset
        return state, len(data)

    def begin(self, item_set: int) -> int:
        """See ``interface.LazyTable``."""
        return self._table.begin_plainly(item_set)

    def signature(self, item_set: int, blocks: "Ids") -> bytes:
        """See ``interface.LazyTable``."""
        return self._table.signature_plainly(item_set, blocks)


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


class PlainReader:
    """See ``interface.Inclusion``."""

    def __init__(self, table: "Table", machine: "Ids") -> None:
        self._table = table
        self._machine = machine

    def covered(self, state: int, most: int) -> int:
        """See ``interface.Inclusion``."""
        seen: set[tuple[int, int]] = set()
        level = {(state, 1)}
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
        """Return the pairs after all bytes that ``row`` reads; None if one of them is not free."""
        table = self._table
        read = np.flatnonzero(row)
        moves = np.unique(np.stack((table.classes[read], row[read])), axis=1)
        after = _step(table, np.full(moves.shape[1], state, np.int32), moves[0])
        if (after == _DEAD).any() or table.has_exits[after].any():
            return None
        return set(zip(after.tolist(), moves[1].tolist(), strict=True))


class PlainWalker:
    """See ``interface.Walker``; one level of the trie at a time, dead branches dropping out."""

    def __init__(self, table: "Table", trie: "TrieArrays") -> None:
        self._table = table
        self._trie = trie

    def walk(self, start: int, roots: "Ids", words: "Bitmask") -> "Exits":
        """See ``interface.Walker``."""
        trie, table = self._trie, self._table
        nodes, states = roots, np.full(len(roots), start, np.int32)
        all_nodes, all_states = [nodes[:0]], [states[:0]]
        while len(nodes):
            which, index = _ranges(trie.child_start[nodes], trie.child_start[nodes + 1])
            children = trie.child[index]
            after = _step(table, states[which], table.classes[trie.byte[children]])
            living = after != _DEAD
            nodes, states = children[living], after[living]
            all_nodes.append(nodes)
            all_states.append(states)
        reached, at = np.concatenate(all_nodes), np.concatenate(all_states)
        words[:] = _tokens_at(trie, reached, len(words))
        leaving = table.has_exits[at] != 0
        return _by_nonterminal(table, reached[leaving], at[leaving])


class PlainGatherer:
    """See ``interface.MaskAssembler``."""

    def __init__(self, masks: "Gatherable") -> None:
        self.gather = masks.gather_plainly


explorer = PlainExplorer
configurations = PlainSituations
reader = PlainReader
walker = PlainWalker
assembler = PlainGatherer


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


def _by_nonterminal(table: "Table", nodes: "Ids", states: "Ids") -> "Exits":
    parts: dict[int, list[Ids]] = {}
    for completions, at in _by_exits(table, nodes, states):
        for nonterminal in completions:
            parts.setdefault(nonterminal, []).append(at)
    return [(name, np.unique(np.concatenate(parts[name]))) for name in sorted(parts)]


def _by_exits(
    table: "Table", nodes: "Ids", states: "Ids"
) -> Iterator[tuple[tuple[int, ...], "Ids"]]:
    """Yield the distinct exits with the nodes at which they are; there are few of them."""
    kinds: dict[tuple[int, ...], int] = {}
    kind_of = np.zeros(len(table.has_exits), np.int32)
    for state in np.flatnonzero(np.bincount(states)).tolist():
        kind_of[state] = kinds.setdefault(table.completions(state), len(kinds))
    for completions, kind in kinds.items():
        yield completions, nodes[kind_of[states] == kind]


def fill(out: npt.NDArray[np.int32], words: "Bitmask") -> None:
    """See ``interface.Kernel.fill``."""
    if out.dtype != np.int32 or out.ndim != 1 or not out.flags.c_contiguous:
        raise ValueError("a bitmask is a contiguous one-dimensional int32 array")
    if len(out) < len(words):
        raise ValueError(f"a bitmask of {len(out)} words is too short for {len(words)}")
    out[: len(words)] = words.view(np.int32)
    out[len(words) :] = 0


def fill_rows(
    out: npt.NDArray[np.int32], rows: npt.NDArray[np.int64], masks: list["Bitmask"]
) -> None:
    """See ``interface.Kernel.fill_rows``."""
    if out.dtype != np.int32 or out.ndim != 2 or not out.flags.c_contiguous:
        raise ValueError("bitmasks are the rows of a contiguous int32 array")
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
