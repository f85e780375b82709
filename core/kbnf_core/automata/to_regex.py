"""From automata over the bytes of UTF-8 to regular expressions.

Bytes become characters first, which undoes ``spell``: a state that is between characters gets one
edge for each state that a character leads to; states inside characters are gone. Then states are
eliminated (Brzozowski & McCluskey 1963). States whose elimination makes the text grow least go
first (the weights of Delgado & Morais 2004), which undoes counted chains to counts and acyclic
automata to plain alternatives.

Tests: tests/property/test_automata_to_regex.py
"""

from collections.abc import Iterator, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple

from kbnf_core.automata.algebra import EMPTY, NOTHING
from kbnf_core.automata.codepoints import ANY, CodePoints, Partition, Range, from_ranges
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa, class_count
from kbnf_core.automata.explore import explore
from kbnf_core.automata.expression import Builder, Expression, print_expression
from kbnf_core.text.errors import LimitError

Edge = tuple[CodePoints, int]
"""The characters that lead to a state."""

_Run = tuple[int, int, int]
"""First and last offset among the characters of one length, and the state they lead to."""

# ASCII, continuation bytes, the lead bytes of two, three and four byte characters, invalid bytes.
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
    reader = CharacterEdges(dfa) if dfa.spelled is None else _SpelledReader(*dfa.spelled)
    result: list[tuple[Edge, ...]] = []

    def step(state: int) -> list[int]:
        result.append(reader.edges(state))
        return [target for _, target in result[-1]]

    order, rows = explore([0], step)
    if reader.inner & set(order):
        raise NotTextError("a word may end inside a character")
    edges = tuple(
        tuple((points, number) for (points, _), number in zip(members, row, strict=True))
        for members, row in zip(result, rows, strict=True)
    )
    return CharacterDfa(edges, tuple(dfa.accepting[state] for state in order))


class _SpelledReader:
    """Reads characters from states of the spelled automaton, which are between characters."""

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
        return tuple(sorted((self._set(tuple(points_of)), to) for to, points_of in blocks.items()))

    def _set(self, blocks: tuple[int, ...]) -> CodePoints:
        cached = self._sets.get(blocks)
        if cached is None:
            ranges = chain.from_iterable(self._ranges[block] for block in blocks)
            cached = self._sets[blocks] = from_ranges(ranges)
        return cached


class CharacterEdges:
    """Reads whole characters from states of an automaton over bytes; NotTextError as above."""

    def __init__(self, dfa: Dfa) -> None:
        self._accepting = dfa.accepting
        self._classes = dfa.classes
        self._rows = dfa.rows
        self._runs = {low: _columns(dfa.classes, low, high) for low, high in _BLOCKS}
        self._runs_by_length: dict[tuple[int, int], list[_Run]] = {}
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
        return tuple(sorted((self._set(tuple(points_of)), to) for to, points_of in ranges.items()))

    def _set(self, ranges: tuple[Range, ...]) -> CodePoints:
        """Return a set of characters; the states of an automaton distinguish few sets."""
        cached = self._sets.get(ranges)
        if cached is None:
            cached = self._sets[ranges] = from_ranges(ranges)
        return cached

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
        runs = [(0, 0, inside)] if length == 0 else self._continue(inside, length)
        # Most sets have all characters of a length: one run, and not one for each lead byte.
        if [(start, end) for start, end, _ in runs] == [(0, size - 1)]:
            yield low * size, (high + 1) * size - 1, runs[0][2]
            return
        for base in range(low * size, (high + 1) * size, size):
            for start, end, target in runs:
                yield base + start, base + end, target

    def _continue(self, state: int, length: int) -> list[_Run]:
        """Return where the rest of a character leads, by offset: ``length`` more bytes."""
        cached = self._runs_by_length.get((state, length))
        if cached is None:
            cached = self._runs_by_length[state, length] = self._find(state, length)
        return cached

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
    for column, among in groupby(classes[low : high + 1]):
        end = low + len([*among])
        runs.append((low, end - 1, column))
        low = end
    return runs


def _extend(runs: list[_Run], start: int, end: int, target: int) -> None:
    """Append a run, or lengthen the last one."""
    if runs and runs[-1][1] + 1 == start and runs[-1][2] == target:
        runs[-1] = (runs[-1][0], end, target)
    else:
        runs.append((start, end, target))


def _check(low: int, high: int, length: int) -> None:
    """Refuse an overlong form, a surrogate, or a number beyond the code points."""
    inside = any(first <= low and high <= last for first, last in ANY)
    if low < _SHORTEST[length] or not inside:
        raise NotTextError("bytes that are not a character")


MOST_STATES = 1_000
"""States, over characters, of an automaton that is turned into one expression."""

MOST_LEAVES = 2_000
"""Sets of characters in an expression; a larger one is unreadable, and rules do better."""


def to_regex(dfa: Dfa, most_leaves: int = MOST_LEAVES) -> str:
    """Return a regular expression for ``dfa``, with at most so many sets of characters.

    Raises ``NotTextError`` where a word is not UTF-8, ``LimitError`` where the automaton or the
    expression is too large.
    """
    return print_expression(to_expression(to_characters(dfa), Builder(), most_leaves))


def to_expression(
    dfa: CharacterDfa, builder: Builder, most_leaves: int = MOST_LEAVES
) -> Expression:
    """Return an expression for ``dfa``; raises LimitError as ``to_regex`` does."""
    if len(dfa.edges) > MOST_STATES:
        raise LimitError("states", MOST_STATES)
    if not dfa.edges:
        return NOTHING
    graph = _Graph(dfa, builder, most_leaves)
    while graph.inner:
        graph.eliminate(min(graph.inner, key=graph.weight))
    return graph.whole


class _Graph:
    """States with expressions on their edges, a start without entries and an end without exits."""

    def __init__(self, dfa: CharacterDfa, builder: Builder, most_leaves: int) -> None:
        self._builder = builder
        self._most = most_leaves
        count = len(dfa.edges)
        self._start, self._end = count, count + 1
        self.inner = set(range(count))
        self._out: list[dict[int, Expression]] = [{} for _ in range(count + 2)]
        self._in: list[set[int]] = [set() for _ in range(count + 2)]
        for state, edges in enumerate(dfa.edges):
            for points, target in edges:
                self._join(state, target, builder.characters(points))
            if dfa.accepting[state]:
                self._join(state, self._end, EMPTY)
        self._join(self._start, 0, EMPTY)
        self._weights: dict[int, int] = {}

    @property
    def whole(self) -> Expression:
        """The one edge that is left."""
        return self._out[self._start].get(self._end, NOTHING)

    def _join(self, source: int, target: int, expression: Expression) -> None:
        existing = self._out[source].get(target, NOTHING)
        joined = self._builder.alternation([existing, expression])
        if self._builder.size(joined) > self._most:
            raise LimitError("sets of characters", self._most)
        self._out[source][target] = joined
        self._in[target].add(source)

    def weight(self, state: int) -> int:
        """Return by how much the text grows without ``state``; recomputed when edges changed."""
        cached = self._weights.get(state)
        if cached is None:
            cached = self._weights[state] = self._weigh(state)
        return cached

    def _weigh(self, state: int) -> int:
        size = self._builder.size
        entries = [size(self._out[s][state]) for s in self._in[state] if s != state]
        exits = [size(e) for target, e in self._out[state].items() if target != state]
        loop = size(self._out[state].get(state, EMPTY))
        return (
            sum(entries) * (len(exits) - 1)
            + sum(exits) * (len(entries) - 1)
            + loop * (len(entries) * len(exits) - 1)
        )

    def eliminate(self, state: int) -> None:
        """Let every path through ``state`` be an edge."""
        exits = self._out[state]
        loop = self._builder.star(exits.pop(state, EMPTY))
        entries = self._in[state] - {state}
        for target, after in exits.items():
            # In one order, or the expression would depend on that of a set.
            for source in sorted(entries):
                path = self._builder.sequence([self._out[source][state], loop, after])
                self._join(source, target, path)
        self.inner.discard(state)
        for source in entries:
            del self._out[source][state]
        for target in exits:
            self._in[target].discard(state)
        self._out[state] = {}
        for touched in (*entries, *exits):
            self._weights.pop(touched, None)
