"""From automata over the bytes of UTF-8 back to automata over characters: undoes ``utf8``.

A state that is between characters gets one edge for each state that a character leads to;
states inside characters are gone.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from kbnf_core.automata.alphabet import class_count
from kbnf_core.automata.codepoints import ANY, CodePoints, Partition, Range, from_ranges
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.explore import explore

Edge = tuple[CodePoints, int]
"""The characters that lead to a state."""

_Run = tuple[int, int, int]
"""First and last offset among the characters of one length, and the state they lead to."""

# ASCII, continuation bytes, the lead bytes of two, three and four byte characters, what is none.
_BLOCKS = ((0, 0x7F), (0x80, 0xBF), (0xC0, 0xDF), (0xE0, 0xEF), (0xF0, 0xF7), (0xF8, 0xFF))
# Where lead bytes begin, and how many continuation bytes they take.
_LEADS = ((0xC0, 1), (0xE0, 2), (0xF0, 3))
_SHORTEST = (0, 0x80, 0x800, 0x10000)


class NotTextError(ValueError):
    """Some word of the automaton is not valid UTF-8."""


class CharacterDfa(NamedTuple):
    """A deterministic automaton over characters; state 0 is the start, none if nothing matches.

    ``edges[state]`` contains disjoint, nonempty sets, each target once, in order of first
    character.
    """

    edges: tuple[tuple[Edge, ...], ...]
    accepting: tuple[bool, ...]


def to_characters(dfa: Dfa) -> CharacterDfa:
    """Return ``dfa``, trimmed as all are, over characters; NotTextError where it is not text."""
    if dfa.is_empty:
        return CharacterDfa((), ())
    reader = _Reader(dfa) if dfa.spelled is None else _SpelledReader(*dfa.spelled)
    found: list[tuple[Edge, ...]] = []

    def step(state: int) -> list[int]:
        found.append(reader.edges(state))
        return [target for _, target in found[-1]]

    order, rows = explore([0], step)
    if reader.inner & set(order):
        raise NotTextError("a word may end inside a character")
    edges = tuple(
        tuple((points, number) for (points, _), number in zip(held, row, strict=True))
        for held, row in zip(found, rows, strict=True)
    )
    return CharacterDfa(edges, tuple(dfa.accepting[state] for state in order))


class _SpelledReader:
    """Reads characters from states of what was spelled in bytes: none is inside of a character."""

    inner = frozenset[int]()

    def __init__(self, dfa: SymbolDfa, blocks: Partition) -> None:
        self._rows = dfa.rows
        self._ranges = blocks.ranges()
        self._sets: dict[tuple[int, ...], CodePoints] = {}

    def edges(self, state: int) -> tuple[Edge, ...]:
        """Return where each character leads from ``state``."""
        blocks: dict[int, list[int]] = {}
        for block, target in enumerate(self._rows[state]):
            if target != DEAD:
                blocks.setdefault(target, []).append(block)
        return tuple(sorted((self._set(tuple(held)), to) for to, held in blocks.items()))

    def _set(self, blocks: tuple[int, ...]) -> CodePoints:
        found = self._sets.get(blocks)
        if found is None:
            ranges = chain.from_iterable(self._ranges[block] for block in blocks)
            found = self._sets[blocks] = from_ranges(ranges)
        return found


class _Reader:
    """Reads whole characters from states of a byte automaton."""

    def __init__(self, dfa: Dfa) -> None:
        self._accepting = dfa.accepting
        self._classes = dfa.classes
        self._rows = dfa.rows
        self._runs = {low: _columns(dfa.classes, low, high) for low, high in _BLOCKS}
        self._known: dict[tuple[int, int], list[_Run]] = {}
        self._sets: dict[tuple[Range, ...], CodePoints] = {}
        self._long: dict[object, list[_Run]] = {}
        self._of_long = itemgetter(*sorted(set(dfa.classes[0x80:])))
        self._of_no_rest = itemgetter(*sorted({*dfa.classes[:0x80], *dfa.classes[0xC0:]}))
        dead = [DEAD] * class_count(dfa.classes)
        self._no_long, self._only_rest = self._of_long(dead), self._of_no_rest(dead)
        self.inner: set[int] = set()

    def edges(self, state: int) -> tuple[Edge, ...]:
        """Return where each character leads from ``state``."""
        row = self._rows[state]
        ranges: dict[int, list[Range]] = {}
        for low, high, target in self._bytes(row, 0):
            ranges.setdefault(target, []).append((low, high))
        columns = self._of_long(row)
        if columns != self._no_long:
            # States often differ in ASCII alone.
            if columns not in self._long:
                self._long[columns] = list(self._read_long(row))
            for low, high, target in self._long[columns]:
                ranges.setdefault(target, []).append((low, high))
        return tuple(sorted((self._set(tuple(held)), to) for to, held in ranges.items()))

    def _set(self, ranges: tuple[Range, ...]) -> CodePoints:
        """Return a set of characters; the states of an automaton tell few sets apart."""
        found = self._sets.get(ranges)
        if found is None:
            found = self._sets[ranges] = from_ranges(ranges)
        return found

    def _read_long(self, row: Sequence[int]) -> Iterator[_Run]:
        """Yield where characters beyond ASCII lead."""
        if self._bytes(row, 0x80) or self._bytes(row, 0xF8):
            raise NotTextError("a character begins with a byte that begins none")
        for first, length in _LEADS:
            for low, high, inside in self._bytes(row, first):
                for start, end, target in self._rest(low - first, high - first, inside, length):
                    _check(start, end, length)
                    yield start, end, target

    def _bytes(self, row: Sequence[int], first: int) -> list[_Run]:
        """Return the live runs of bytes in the block that begins with one."""
        runs: list[_Run] = []
        for low, high, column in self._runs[first]:
            target = row[column]
            if target != DEAD:
                _extend(runs, low, high, target)
        return runs

    def _rest(self, low: int, high: int, inside: int, length: int) -> Iterator[_Run]:
        """Yield where characters lead of which some bytes lead inside: ``length`` more bytes."""
        size = 1 << 6 * length
        found = [(0, 0, inside)] if length == 0 else self._continue(inside, length)
        if [(start, end) for start, end, _ in found] == [(0, size - 1)]:
            yield low * size, (high + 1) * size - 1, found[0][2]
            return
        for base in range(low * size, (high + 1) * size, size):
            for start, end, target in found:
                yield base + start, base + end, target

    def _continue(self, state: int, length: int) -> list[_Run]:
        """Return where the rest of a character leads, by offset: ``length`` more bytes."""
        known = self._known.get((state, length))
        if known is None:
            known = self._known[state, length] = self._find(state, length)
        return known

    def _find(self, state: int, length: int) -> list[_Run]:
        self.inner.add(state)
        if self._accepting[state]:
            raise NotTextError("a word may end inside a character")
        row = self._rows[state]
        if self._of_no_rest(row) != self._only_rest:
            raise NotTextError("a character may be cut short")
        runs: list[_Run] = []
        for low, high, inside in self._bytes(row, 0x80):
            for run in self._rest(low - 0x80, high - 0x80, inside, length - 1):
                _extend(runs, *run)
        return runs


def _columns(classes: bytes, low: int, high: int) -> list[_Run]:
    """Return the runs of bytes of one class in a range, each with that class."""
    runs: list[_Run] = []
    for byte in range(low, high + 1):
        _extend(runs, byte, byte, classes[byte])
    return runs


def _extend(runs: list[_Run], start: int, end: int, target: int) -> None:
    """Append a run, or lengthen the last one."""
    if runs and runs[-1][1] + 1 == start and runs[-1][2] == target:
        runs[-1] = (runs[-1][0], end, target)
    else:
        runs.append((start, end, target))


def _check(low: int, high: int, length: int) -> None:
    """Refuse what is longer than it need be, a surrogate, or no code point at all."""
    inside = any(first <= low and high <= last for first, last in ANY)
    if low < _SHORTEST[length] or not inside:
        raise NotTextError("bytes that are not a character")
