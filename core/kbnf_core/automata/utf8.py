"""From automata over code points to automata over the bytes of UTF-8.

Every state of the code-point automaton becomes a byte state, and between it and its
successors stand states that have read a part of a character. Those are hash-consed bottom up
by what they lead to, so the result is minimal when the code-point automaton is: two of them
accept the same exactly when they need as many continuation bytes and lead to the same.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import Machine
from kbnf_core.automata.partition import Partition

_DEAD_CHILD = 255
_CONTINUATIONS = 64
_BLOCKS = 0x110000 // _CONTINUATIONS


@dataclass(frozen=True, slots=True)
class _Node:
    """A state inside a character: a shape, and what its numbers mean.

    ``shape[i]`` is the place in ``children`` of what continuation byte 0x80 + i leads to; a
    child is a *slot* (one of the successors of the character's start) or, from the number of
    slots on, a node.
    """

    shape: bytes
    children: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Template:
    """The part of a state's successors that lies beyond ASCII: nodes bottom up, lead bytes."""

    nodes: tuple[_Node, ...]
    leads: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class _Layout:
    """How a state reads its next character: nodes bottom up, and ``root`` over all 256 bytes."""

    nodes: tuple[_Node, ...]
    root: _Node


@dataclass(frozen=True, slots=True)
class TaggedDfa:
    """A byte automaton with several starts and tags; ``next`` as in ``Dfa``."""

    classes: npt.NDArray[np.uint8]
    next: npt.NDArray[np.int32]
    tags: tuple[int, ...]
    starts: tuple[int, ...]


def to_bytes(machine: Machine, partition: Partition, limit: int) -> TaggedDfa:
    """Return the byte automaton of a trimmed code-point automaton over ``partition``.

    The states of ``machine`` keep their numbers, the others follow with tag 0. Raises
    LimitError when there are more than ``limit``.
    """
    expansion = _Expansion(partition, len(machine.rows), limit)
    for row in machine.rows:
        expansion.add_state(row)
    classes, table = expansion.table()
    tags = (*machine.tags, *([0] * (len(table) - len(machine.tags))))
    return TaggedDfa(classes, table, tags, tuple(machine.starts))


def to_dfa(machine: Machine, partition: Partition, limit: int) -> Dfa:
    """Return ``to_bytes`` as a Dfa; ``machine`` is trimmed and has one start, state 0."""
    automaton = to_bytes(machine, partition, limit)
    return Dfa(automaton.classes, automaton.next, np.array(automaton.tags, dtype=np.bool_))


class _Expansion:
    """Collects the byte states: first those of the machine, then the nodes."""

    def __init__(self, partition: Partition, states: int, limit: int) -> None:
        self._partition = partition
        self._limit = limit
        self._states = states
        self._layouts: dict[tuple[int, ...], _Layout] = {}
        self._roots: list[tuple[bytes, tuple[int, ...]]] = []
        self._inner: dict[tuple[bytes, tuple[int, ...]], int] = {}

    def add_state(self, row: Sequence[int]) -> None:
        """Add the next state of the machine, with its successor for every block."""
        slots, pattern = _first_occurrences(row)
        layout = self._layouts.get(pattern)
        if layout is None:
            layout = self._layouts[pattern] = _layout(self._partition, pattern)
        resolved = list(slots)
        for node in layout.nodes:
            key = (node.shape, tuple([resolved[child] for child in node.children]))
            resolved.append(self._inner.setdefault(key, self._states + len(self._inner)))
        if self._states + len(self._inner) > self._limit:
            raise LimitError("states", self._limit)
        root = layout.root
        self._roots.append((root.shape, tuple([resolved[child] for child in root.children])))

    def table(self) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int32]]:
        """Return the byte classes, and the successors of all states by class."""
        parts = [*self._roots, *((_pad(shape), children) for shape, children in self._inner)]
        groups: dict[bytes, list[int]] = {}
        for state, (shape, _) in enumerate(parts):
            groups.setdefault(shape, []).append(state)
        classes, representatives = _byte_classes(list(groups))
        table = np.empty((len(parts), len(representatives)), dtype=np.int32)
        for shape, states in groups.items():
            children = np.array([(*parts[state][1], DEAD) for state in states], dtype=np.int32)
            columns = np.frombuffer(shape, dtype=np.uint8)[representatives]
            table[states] = children[:, np.minimum(columns, children.shape[1] - 1)]
        return classes, table


def _pad(shape: bytes) -> bytes:
    """Extend the shape of a node, 64 continuation bytes, to all 256 bytes."""
    return b"\xff" * 0x80 + shape + b"\xff" * 0x40


def _as_bytes(shape: Sequence[int]) -> bytes:
    return bytes([_DEAD_CHILD if child == DEAD else child for child in shape])


def _first_occurrences(row: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the distinct elements of ``row`` but DEAD, and ``row`` written with their places."""
    numbers: dict[int, int] = {}
    pattern = tuple(
        [DEAD if item == DEAD else numbers.setdefault(item, len(numbers)) for item in row]
    )
    return tuple(numbers), pattern


def _byte_classes(shapes: list[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """Return the class of each byte, and a byte of each class, for shapes of 256 bytes."""
    columns = np.frombuffer(b"".join(shapes), dtype=np.uint8).reshape(len(shapes), 256)
    numbers: dict[bytes, int] = {}
    classes = [numbers.setdefault(column.tobytes(), len(numbers)) for column in columns.T]
    _, representatives = np.unique(classes, return_index=True)
    return np.array(classes, dtype=np.uint8), representatives


def _layout(partition: Partition, pattern: tuple[int, ...]) -> _Layout:
    """Return how a state reads its next character; ``pattern`` is the slot of each block."""
    starts: list[int] = []
    slots: list[int] = []
    for start, block in zip(partition.starts, partition.blocks, strict=True):
        slot = pattern[block] if block >= 0 else DEAD
        if not slots or slot != slots[-1]:
            starts.append(start)
            slots.append(slot)
    first = int(np.searchsorted(starts, 0x80, side="right")) - 1
    used, local = _first_occurrences(slots[first:])
    template = _template((0x80, *starts[first + 1 :]), local)
    # The template numbers its slots anew, and its nodes after them; translate both.
    slot_count = max(slots) + 1
    numbers = [*used, *range(slot_count, slot_count + len(template.nodes))]
    nodes = tuple(
        _Node(node.shape, tuple([numbers[child] for child in node.children]))
        for node in template.nodes
    )
    leads = {byte: numbers[child] for byte, child in template.leads}
    row = _lookup(starts, slots, np.arange(0x80)).tolist()
    row += [leads.get(byte, DEAD) for byte in range(0x80, 0x100)]
    children, shape = _first_occurrences(row)
    return _Layout(nodes, _Node(_as_bytes(shape), children))


def _lookup(
    starts: Sequence[int], slots: Sequence[int], points: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    found: npt.NDArray[np.int64] = np.asarray(slots)[
        np.searchsorted(starts, points, side="right") - 1
    ]
    return found


@lru_cache(maxsize=512)
def _template(starts: tuple[int, ...], slots: tuple[int, ...]) -> _Template:
    """Return the template of the code points from U+0080 on; ``starts`` begins there.

    Code points are cut into blocks of 64 (the last continuation byte), these again into rows
    of 64 blocks, and so on; few blocks hold more than one slot.
    """
    nodes = _Nodes(max(slots) + 1)
    blocks = _lookup((0, *starts), (DEAD, *slots), np.arange(_BLOCKS) * _CONTINUATIONS)
    uniform = [nodes.add([slot] * _CONTINUATIONS) for slot in range(nodes.slots)]
    last = np.array([*uniform, DEAD])[blocks]
    mixed = sorted({start >> 6 for start in starts if start & 63})
    points = np.array(mixed, dtype=np.int64)[:, None] * _CONTINUATIONS + np.arange(_CONTINUATIONS)
    rows = _lookup((0, *starts), (DEAD, *slots), points).tolist()
    for block, row in zip(mixed, rows, strict=True):
        last[block] = nodes.add(row)
    # Two-byte leads end where three-byte ones begin; shorter forms are no valid UTF-8.
    two = last[: 0x800 >> 6].tolist()
    last[: 0x800 >> 6] = DEAD
    middle = np.array([nodes.add(row) for row in last.reshape(-1, _CONTINUATIONS).tolist()])
    three = middle[: 0x10000 >> 12].tolist()
    middle[: 0x10000 >> 12] = DEAD
    planes = np.full(5 * _CONTINUATIONS, DEAD)
    planes[: len(middle)] = middle
    four = [nodes.add(row) for row in planes.reshape(-1, _CONTINUATIONS).tolist()]
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

    def template(self, leads: list[tuple[int, int]]) -> _Template:
        """Return the nodes that ``leads`` reach, renumbered without gaps."""
        rows = {number: row for row, number in self._numbers.items() if number != DEAD}
        wanted = {child for _, child in leads}
        for number in reversed(rows):
            if number in wanted:
                wanted.update(rows[number])
        number_of = {slot: slot for slot in range(self.slots)} | {DEAD: DEAD}
        nodes: list[_Node] = []
        for number, row in rows.items():
            if number in wanted:
                children, shape = _first_occurrences([number_of[child] for child in row])
                number_of[number] = self.slots + len(nodes)
                nodes.append(_Node(_as_bytes(shape), children))
        return _Template(tuple(nodes), tuple((byte, number_of[child]) for byte, child in leads))
