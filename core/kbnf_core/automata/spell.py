"""Spelling the symbols of an automaton in bytes: each becomes the words of a language over bytes.

The languages are finite and disjoint, and no word of any begins another, as those of characters in
UTF-8 or in JSON. So every state of the automaton stays a state, and between it and its successors
are states that have read a part of a word: one for each state of the automaton and each state in
which all languages are read at once (``Letters``), hash-consed bottom up by what they lead to.

Where symbols are sets of code points (``to_bytes``), the words are characters in UTF-8, whose
layout is known: two states inside a character accept the same exactly when they need as many
continuation bytes and lead to the same. So the result is minimal when the code-point automaton is.

Tests: tests/unit/automata/test_spell.py
"""

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import NamedTuple

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import NO_BLOCK, Partition
from kbnf_core.automata.dfa import DEAD, ByteClasses, Dfa, SymbolDfa, first_bytes, join
from kbnf_core.automata.explore import Product, States, explore
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError


class Letters(NamedTuple):
    """All languages read at once, over classes of bytes; words begin at the last state.

    ``edges`` lead to states that come before, by class in order. ``symbols`` has for each state
    the symbol of which it has read a word, else DEAD.
    """

    classes: ByteClasses
    edges: Sequence[Mapping[int, int]]
    symbols: Sequence[int]


def spell(dfa: SymbolDfa, letters: Letters, limit: int, budget: Budget | None = None) -> Dfa:
    """Return the automaton over bytes of one with one start.

    Raises LimitError beyond ``limit`` states, some of which may yet be merged.
    """
    if budget is not None:
        budget.spend(len(dfa.rows) * len(letters.edges))
    result = AUTOMATA.spell(
        dfa.rows, dfa.tags, dfa.starts[0], letters.classes, letters.edges, letters.symbols, limit
    )
    if result is None:
        raise LimitError("states", limit)
    return Dfa(*result)


def letters_of(languages: Sequence[Dfa]) -> Letters:
    """Return the languages of symbols 0, 1, ..., read at once."""
    product = Product(*languages)
    dead = (DEAD,) * len(languages)

    def step(states: States) -> list[States | None]:
        return [None if state == dead else state for state in product.row(states)]

    states, rows = explore([product.start], step)
    order = TopologicalSorter({state: set(row) - {DEAD} for state, row in enumerate(rows)})
    numbers = {state: number for number, state in enumerate(order.static_order())}
    ends = [product.accepting(states[state]) for state in numbers]
    return Letters(
        product.classes,
        [
            {byte: numbers[to] for byte, to in enumerate(rows[state]) if to != DEAD}
            for state in numbers
        ],
        [flags.index(True) if True in flags else DEAD for flags in ends],
    )


_DEAD_CHILD = 255
_CONTINUATIONS = 64
_CELLS = 8
"""Cells of a row that are written in one step."""
_BLOCKS = 0x110000 // _CONTINUATIONS


class _ShapeState(NamedTuple):
    """A state inside a character: a shape, and the meaning of its numbers.

    ``shape[i]`` is the place in ``children`` of what continuation byte 0x80 + i leads to; a
    child is a *slot* (one of the successors of the character's start) or, from the number of
    slots on, a node.
    """

    shape: bytes
    children: tuple[int, ...]


class _Template(NamedTuple):
    """The part of a state's successors that lies beyond ASCII: nodes bottom up, lead bytes."""

    nodes: tuple[_ShapeState, ...]
    leads: tuple[tuple[int, int], ...]


class _CharacterLayout(NamedTuple):
    """How a state reads its next character: nodes bottom up, and ``root`` over all 256 bytes."""

    nodes: tuple[_ShapeState, ...]
    root: _ShapeState


class TaggedDfa(NamedTuple):
    """A byte automaton with several starts and tags; ``classes`` and ``rows`` as in ``Dfa``."""

    classes: ByteClasses
    rows: Sequence[Sequence[int]]
    tags: tuple[int, ...]
    starts: tuple[int, ...]


def to_bytes(dfa: SymbolDfa, partition: Partition, limit: int, budget: Budget) -> TaggedDfa:
    """Return the byte automaton of a trimmed code-point automaton over ``partition``.

    The states of ``dfa`` keep their numbers, the others follow with tag 0. Raises
    LimitError when there are more than ``limit``.
    """
    if dfa.rows and partition.is_ascii:
        budget.spend(len(dfa.rows))
        return _of_ascii(dfa, partition, limit)
    expansion = _Expansion(partition, len(dfa.rows), limit, budget)
    for row in dfa.rows:
        expansion.add_state(row)
    classes, rows = expansion.table()
    tags = (*dfa.tags, *([0] * (len(rows) - len(dfa.tags))))
    return TaggedDfa(classes, rows, tags, tuple(dfa.starts))


def to_dfa(dfa: SymbolDfa, partition: Partition, limit: int, budget: Budget) -> Dfa:
    """Return ``to_bytes`` as a Dfa; ``dfa`` is trimmed and has one start, state 0."""
    automaton = to_bytes(dfa, partition, limit, budget)
    accepting = [bool(tag) for tag in automaton.tags]
    return Dfa(automaton.classes, automaton.rows, accepting, (dfa, partition))


def _of_ascii(dfa: SymbolDfa, partition: Partition, limit: int) -> TaggedDfa:
    """Return ``to_bytes`` where each character is one byte: blocks are sets of bytes already."""
    if len(dfa.rows) > limit:
        raise LimitError("states", limit)
    blocks = [*_spread(partition.starts, partition.blocks, 0, 0x80), *([NO_BLOCK] * 0x80)]
    # The column of NO_BLOCK, -1, is the last one.
    columns = [*zip(*dfa.rows, strict=True), (DEAD,) * len(dfa.rows)]
    numbers: dict[tuple[int, ...], int] = {}
    class_of = {
        block: numbers.setdefault(columns[block], len(numbers)) for block in dict.fromkeys(blocks)
    }
    rows = list(map(list, zip(*numbers, strict=True)))
    return TaggedDfa(
        bytes(map(class_of.__getitem__, blocks)), rows, tuple(dfa.tags), tuple(dfa.starts)
    )


class _Expansion:
    """Collects the byte states: first those of the dfa, then the nodes."""

    def __init__(self, partition: Partition, states: int, limit: int, budget: Budget) -> None:
        self._partition = partition
        self._budget = budget
        self._limit = limit
        self._states = states
        self._layouts: dict[tuple[int, ...], _CharacterLayout] = {}
        self._roots: list[tuple[bytes, tuple[int, ...]]] = []
        self._inner: dict[tuple[bytes, tuple[int, ...]], int] = {}

    def add_state(self, row: Sequence[int]) -> None:
        """Add the next state of the dfa, with its successor for every block."""
        slots, slots_of = _first_occurrences(row)
        pattern = tuple(slots_of)
        layout = self._layouts.get(pattern)
        if layout is None:
            self._budget.spend(len(self._partition.starts))
            layout = self._layouts[pattern] = _layout(self._partition, pattern)
        self._budget.spend(1 + len(layout.nodes))
        resolved = list(slots)
        for node in layout.nodes:
            key = (node.shape, tuple([resolved[child] for child in node.children]))
            resolved.append(self._inner.setdefault(key, self._states + len(self._inner)))
        if self._states + len(self._inner) > self._limit:
            raise LimitError("states", self._limit)
        root = layout.root
        self._roots.append((root.shape, tuple([resolved[child] for child in root.children])))

    def table(self) -> tuple[bytes, list[list[int]]]:
        """Return the byte classes, and the successors of all states by class."""
        nodes = [*self._roots, *((_pad(shape), children) for shape, children in self._inner)]
        shapes = dict.fromkeys(shape for shape, _ in nodes)
        classes = join(shapes)
        firsts = first_bytes(classes)
        self._budget.spend(len(nodes) * (len(firsts) // _CELLS + 1))
        rows: list[list[int]] = []
        for shape, children in nodes:
            # Of 255 places for children the last, 255, is dead.
            following = [*children, *([DEAD] * (_DEAD_CHILD + 1 - len(children)))]
            rows.append([following[index] for index in firsts.translate(shape)])
        return classes, rows


def _pad(shape: bytes) -> bytes:
    """Extend the shape of a node, 64 continuation bytes, to all 256 bytes."""
    return b"\xff" * 0x80 + shape + b"\xff" * 0x40


def _first_occurrences(
    row: Sequence[int], dead: int = DEAD
) -> tuple[tuple[int, ...], Iterator[int]]:
    """Return the distinct elements of ``row`` but DEAD, and ``row`` written with their places."""
    items = dict.fromkeys(row)
    items.pop(DEAD, None)
    indices = {item: index for index, item in enumerate(items)}
    indices[DEAD] = dead
    return tuple(items), map(indices.__getitem__, row)


def _layout(partition: Partition, pattern: tuple[int, ...]) -> _CharacterLayout:
    """Return how a state reads its next character; ``pattern`` is the slot of each block."""
    starts: list[int] = []
    slots: list[int] = []
    for start, block in zip(partition.starts, partition.blocks, strict=True):
        slot = pattern[block] if block >= 0 else DEAD
        if not slots or slot != slots[-1]:
            starts.append(start)
            slots.append(slot)
    first = bisect_right(starts, 0x80) - 1
    used, local = _first_occurrences(slots[first:])
    template = _template((0x80, *starts[first + 1 :]), tuple(local))
    # The template renumbers its slots, and its nodes after them; translate both.
    slot_count = max(slots) + 1
    numbers = [*used, *range(slot_count, slot_count + len(template.nodes))]
    nodes = tuple(
        _ShapeState(node.shape, tuple([numbers[child] for child in node.children]))
        for node in template.nodes
    )
    leads = {byte: numbers[child] for byte, child in template.leads}
    row = _spread(starts, slots, 0, 0x80)
    row += [leads.get(byte, DEAD) for byte in range(0x80, 0x100)]
    children, shape = _first_occurrences(row, _DEAD_CHILD)
    return _CharacterLayout(nodes, _ShapeState(bytes(shape), children))


def _spread(starts: Sequence[int], slots: Sequence[int], low: int, high: int) -> list[int]:
    """Return the slots of the code points from ``low`` to before ``high``, one by one."""
    result: list[int] = []
    index = bisect_right(starts, low) - 1
    while low < high:
        end = min(starts[index + 1], high) if index + 1 < len(starts) else high
        result += [slots[index]] * (end - low)
        low, index = end, index + 1
    return result


@lru_cache(maxsize=512)
def _template(starts: tuple[int, ...], slots: tuple[int, ...]) -> _Template:
    """Return the template of the code points from U+0080 on; ``starts`` begins there.

    Code points are cut into blocks of 64 (the last continuation byte), these again into rows
    of 64 blocks, and so on; few blocks have more than one slot. Remembered: without it patterns
    compile in 1.5 to 3 times the time.
    """
    nodes = _Nodes(max(slots) + 1)
    starts, slots = (0, *starts), (DEAD, *slots)
    uniform = [*(nodes.add([slot] * _CONTINUATIONS) for slot in range(nodes.slots)), DEAD]
    # A block belongs to the slot of its first code point.
    begins = [-(-start // _CONTINUATIONS) for start in starts]
    last = _spread(begins, [uniform[slot] for slot in slots], 0, _BLOCKS)
    for block in sorted({start >> 6 for start in starts if start & 63}):
        low = block * _CONTINUATIONS
        last[block] = nodes.add(_spread(starts, slots, low, low + _CONTINUATIONS))
    # Two-byte leads end where three-byte ones begin; shorter forms are not valid UTF-8.
    two = last[: 0x800 >> 6]
    last[: 0x800 >> 6] = [DEAD] * len(two)
    middle = nodes.add_all(last)
    three = middle[: 0x10000 >> 12]
    middle[: 0x10000 >> 12] = [DEAD] * len(three)
    four = nodes.add_all(middle + [DEAD] * (5 * _CONTINUATIONS - len(middle)))
    leads = [*enumerate(two, 0xC0), *enumerate(three, 0xE0), *enumerate(four, 0xF0)]
    return nodes.template([(byte, child) for byte, child in leads if child != DEAD])


class _Nodes:
    """Hash-consed nodes; numbers below ``slots`` are slots."""

    def __init__(self, slots: int) -> None:
        self.slots = slots
        self._numbers: dict[tuple[int, ...], int] = {(DEAD,) * _CONTINUATIONS: DEAD}

    def add(self, row: list[int]) -> int:
        """Return the number of the node with this row of 64 children; DEAD if all are."""
        return self._numbers.setdefault(tuple(row), self.slots + len(self._numbers) - 1)

    def add_all(self, children: list[int]) -> list[int]:
        """Return the numbers of the nodes whose rows, one after the other, these are."""
        result: list[int] = []
        before: list[int] = []
        for first in range(0, len(children), _CONTINUATIONS):
            row = children[first : first + _CONTINUATIONS]
            # Most rows are like the one before.
            result.append(result[-1] if row == before else self.add(row))
            before = row
        return result

    def template(self, leads: list[tuple[int, int]]) -> _Template:
        """Return the nodes that ``leads`` reach, renumbered without gaps."""
        wanted = {child for _, child in leads}
        made: list[tuple[int, bytes, tuple[int, ...]]] = []
        for row, number in reversed(self._numbers.items()):
            if number in wanted and number != DEAD:
                children, indices = _first_occurrences(row, _DEAD_CHILD)
                made.append((number, bytes(indices), children))
                wanted.update(children)
        number_of = {slot: slot for slot in range(self.slots)} | {DEAD: DEAD}
        nodes: list[_ShapeState] = []
        for number, shape, children in reversed(made):
            number_of[number] = self.slots + len(nodes)
            nodes.append(_ShapeState(shape, tuple([number_of[child] for child in children])))
        return _Template(tuple(nodes), tuple((byte, number_of[child]) for byte, child in leads))
