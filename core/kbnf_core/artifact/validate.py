"""Validation of everything read from an artifact, before anything uses it.

The file may be from anywhere, and its digests show damage, not intent. After these checks every
index in it is in range, nothing in it can make the recogniser loop, and what is numbered by its
content when it is restored (item sets, stack nodes, states) gets the numbers that it has in the
file: wrong masks are the worst that a forged file can cause.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.manifest import ArtifactError
from kbnf_core.artifact.snapshot import sparse_pairs
from kbnf_core.mask.bits import word_count
from kbnf_core.mask.masks import EMPTY_ROW
from kbnf_core.recognise.states import BOTTOM, DEAD, EMPTY, INITIAL, SELF, UNKNOWN

Arrays = Mapping[str, npt.NDArray[Any]]

_ROWS = ("of", "row", "twin", "last")

MOST_MOVES = 2**28
"""Transitions of a table, which takes four times so many bytes."""

MOST_COUNTED = 2**30
"""What no bound of a count reaches."""


class Checker:
    """Checks arrays of one file; every failure is an ArtifactError that names the array."""

    def __init__(self, path: str, arrays: Arrays) -> None:
        self._path = path
        self._arrays = arrays

    def require(self, condition: object, name: str, what: str) -> None:
        """Raise unless ``condition`` applies."""
        if not condition:
            raise ArtifactError(self._path, f"the array `{name}` {what}")

    def array(
        self, name: str, dtype: type[np.generic], width: int | None = None
    ) -> npt.NDArray[Any]:
        """Return an array of that type, with rows of ``width`` numbers if one is given."""
        found = self._arrays.get(name)
        self.require(found is not None, name, "is missing")
        assert found is not None  # noqa: S101 - for the type checker: required above
        if found.dtype != dtype:
            self.require(False, name, f"is {found.dtype}, not {dtype.__name__}")
        shape = (-1, *found.shape[1:]) if found.ndim else ()
        self.require(shape == ((-1,) if width is None else (-1, width)), name, "has a wrong shape")
        return found

    def flags(self, name: str) -> npt.NDArray[Any]:
        """Return an array of truth values, stored as bytes."""
        found = self.array(name, np.uint8)
        self.within(name, found, 0, 2)
        return found

    def within(self, name: str, values: npt.NDArray[Any], low: int, end: int) -> None:
        """Require ``low <= value < end`` of all values."""
        if values.size:
            fine = int(values.min()) >= low and int(values.max()) < end
            self.require(fine, name, "points outside of what it points into")

    def lists(
        self, name: str, count: int | None = None, width: int | None = None, dtype: type = np.int32
    ) -> npt.NDArray[Any]:
        """Return the elements of a list of lists after checking where the lists begin."""
        start = self.array(f"{name}.start", np.int32)
        elements = self.array(name, dtype, width)
        self.starts(f"{name}.start", start, len(elements), count)
        return elements

    def starts(self, name: str, start: npt.NDArray[Any], end: int, count: int | None) -> None:
        """Require the beginnings of ``count`` lists over ``end`` elements."""
        self.require(len(start) and start[0] == 0 and start[-1] == end, name, "does not fit")
        self.require(count is None or len(start) == count + 1, name, "has a wrong length")
        self.require((start[1:] >= start[:-1]).all(), name, "goes backwards")

    def ascending(self, name: str) -> None:
        """Require that the elements of each list ascend, none of them twice."""
        elements, start = self._arrays[name], self._arrays[f"{name}.start"]
        fine = _ascends(elements)
        begins = start[(start > 0) & (start < len(elements))]
        fine[begins - 1] = True
        self.require(fine.all(), name, "has a list that does not ascend")

    def not_descending(self, name: str, start: str) -> None:
        """Require that no element of a list is less than the one before."""
        elements, begins = self._arrays[name], self._arrays[start]
        fine = np.append(elements[1:] >= elements[:-1], True)
        fine[begins[begins > 0] - 1] = True
        self.require(fine.all(), name, "has a list that descends")

    def distinct(self, *names: str) -> None:
        """Require that no two numbers have the same lists under all of these names."""
        columns = [_contents(self._arrays[name], self._arrays[f"{name}.start"]) for name in names]
        rows = list(zip(*columns, strict=True))
        self.require(len(set(rows)) == len(rows), names[0], "has the same content twice")

    def begins_empty(self, name: str, number: int) -> None:
        """Require that list ``number`` is there and empty."""
        start = self._arrays[f"{name}.start"]
        fine = len(start) > number + 1 and start[number] == start[number + 1]
        self.require(fine, name, f"does not have the empty list at {number}")


def _ascends(rows: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Tell of each row but the last whether the next one is greater."""
    columns = rows if rows.ndim == 2 else rows[:, None]
    before, after = columns[:-1], columns[1:]
    greater = np.zeros(len(before), np.bool_)
    for column in range(columns.shape[1] - 1, -1, -1):
        same = before[:, column] == after[:, column]
        greater = np.where(same, greater, before[:, column] < after[:, column])
    return greater


def _contents(elements: npt.NDArray[Any], start: npt.NDArray[Any]) -> list[bytes]:
    """Return the bytes of each list."""
    size = elements.itemsize * (elements.shape[1] if elements.ndim > 1 else 1)
    blob = elements.tobytes()
    return [blob[begin:end] for begin, end in pairwise((start.astype(np.int64) * size).tolist())]


def check_tables(checker: Checker, nonterminals: int, terminals: int) -> tuple[int, int]:
    """Check the arrays of the tables; return the numbers of positions and of byte classes."""
    classes = checker.array("classes", np.uint8)
    checker.require(len(classes) == 256, "classes", "does not have 256 entries")
    class_count = int(classes.max()) + 1
    positions = len(checker.flags("accepting"))
    entry = checker.array("entry", np.int32)
    checker.require(len(entry) == nonterminals > 0, "entry", "has a wrong length")
    checker.within("entry", entry, 0, positions)
    _check_edges(checker, "edge", "class", "target", (class_count, positions))
    checker.not_descending("edge.class", "edge.start")
    _check_edges(checker, "call", "nonterminal", "return", (nonterminals, positions))
    _check_edges(checker, "token", "terminal", "target", (terminals, positions))
    tails = checker.flags("call.tail")
    checker.require(
        len(tails) == len(checker.array("call.return", np.int32)), "call.tail", "is off"
    )
    _check_loops(checker, positions)
    return positions, class_count


def _check_loops(checker: Checker, positions: int) -> None:
    """Check what is counted: whatever a count is, the recogniser finds a row for it."""
    of, row, twin, last = (checker.array(f"loop.{x}", np.int32) for x in _ROWS)
    begins, is_below = (checker.flags(f"loop.{x}") for x in ("begins", "is_below"))
    low, high = (checker.array(f"loop.{x}", np.int32) for x in ("low", "high"))
    size = positions if len(low) else 0
    for name, array in zip(
        (*_ROWS, "begins", "is_below"), (of, row, twin, last, begins, is_below), strict=True
    ):
        checker.require(len(array) == size, f"loop.{name}", "has a wrong length")
    checker.require(len(high) == len(low), "loop.high", "has a wrong length")
    checker.within("loop.of", of, -1, len(low))
    checker.within("loop.row", row, 0, positions)
    for name, array in (("loop.twin", twin), ("loop.last", last)):
        checker.within(name, array, -1, positions)
    checker.within("loop.low", low, 0, MOST_COUNTED)
    checker.within("loop.high", high, -1, MOST_COUNTED)
    inside = of >= 0
    fine = (of[row] == of) & (row[row] == row)
    checker.require(fine.all(), "loop.row", "stands for no row of its loop")
    has_twin = twin >= 0
    other = twin[has_twin]
    fine = (of[other] == of[has_twin]) & (is_below[other] != is_below[has_twin])
    checker.require(fine.all(), "loop.twin", "is not a twin")
    checker.require((has_twin | (is_below == 0)).all(), "loop.twin", "is missing")
    first = row[(begins == 1) & inside]
    first = np.where(is_below[first] == 1, twin[first], first)
    checker.require((last[first] >= 0).all(), "loop.last", "is missing")


def _check_edges(
    checker: Checker, kind: str, symbol: str, target: str, ends: tuple[int, int]
) -> None:
    symbols = checker.array(f"{kind}.{symbol}", np.int32)
    targets = checker.array(f"{kind}.{target}", np.int32)
    positions = len(checker.array("accepting", np.uint8))
    start = checker.array(f"{kind}.start", np.int32)
    checker.starts(f"{kind}.start", start, len(symbols), positions)
    checker.require(len(targets) == len(symbols), f"{kind}.{target}", "has a wrong length")
    checker.within(f"{kind}.{symbol}", symbols, 0, ends[0])
    checker.within(f"{kind}.{target}", targets, 0, ends[1])


def check_states(checker: Checker, positions: int, nonterminals: int, class_count: int) -> int:
    """Check item sets, stack nodes and states; return the number of item sets."""
    items = checker.lists("items", dtype=np.int64)
    count, state = np.divmod(items // nonterminals, positions)
    checker.within("items", items, 0, 2**62)
    of, low, high = (checker.array(f"loop.{x}", np.int32) for x in ("of", "low", "high"))
    counted = count > 0
    checker.require(len(of) or not counted.any(), "items", "points outside of what it points into")
    loop = of[state[counted]]
    most = np.where(high[loop] < 0, low[loop], high[loop])
    fine = (loop >= 0) & (count[counted] <= most)
    checker.require(fine.all(), "items", "points outside of what it points into")
    _check_numbered(checker, EMPTY, "items")
    item_sets = len(checker.array("items.start", np.int32)) - 1
    stack_nodes = _check_stack(checker, nonterminals, item_sets)
    pairs = checker.lists("pairs", width=2)
    checker.within("pairs", pairs[:, 0], 0, stack_nodes)
    checker.within("pairs", pairs[:, 1], EMPTY + 1, item_sets)
    states = len(checker.array("pairs.start", np.int32)) - 1
    checker.within("exits", checker.lists("exits", states), 0, nonterminals)
    _check_numbered(checker, DEAD, "pairs", "exits")
    checker.require(states > INITIAL, "pairs", "has too few states")
    _check_moves(checker, states, class_count)
    return item_sets


def _check_moves(checker: Checker, states: int, width: int) -> None:
    """Check the transitions of ``states`` states, as ``snapshot.unpack_moves`` reads them."""
    checker.require(states * width <= MOST_MOVES, "next", "is larger than a table may be")
    elements = checker.lists("next", states)
    start = checker.array("next.start", np.int32)
    length = np.diff(start)
    whole, odd = length == width, (length < width) & (length % 2 == 1)
    checker.require((whole | odd).all(), "next", "has a row of a wrong length")
    checker.within("next", elements[np.repeat(whole, length)], UNKNOWN, states)
    checker.within("next", elements[start[:-1][~whole]], UNKNOWN, DEAD + 1)
    pairs, rows = sparse_pairs(start, elements, width)
    checker.within("next", pairs[:, 0], 0, width)
    checker.within("next", pairs[:, 1], UNKNOWN, states)
    fine = _ascends(np.stack((rows, pairs[:, 0]), axis=1))
    checker.require(fine.all(), "next", "has a row that does not ascend")
    dead = elements[: length[DEAD]]
    checker.require(
        (dead == DEAD).all() if whole[DEAD] else dead.tolist() == [DEAD],
        "next",
        "leaves the dead state",
    )


def _check_numbered(checker: Checker, empty: int, *names: str) -> None:
    """Check what is numbered by its content, with the empty one at ``empty``."""
    for name in names:
        checker.ascending(name)
        checker.begins_empty(name, empty)
    checker.distinct(*names)


def _check_stack(checker: Checker, nonterminals: int, item_sets: int) -> int:
    edges = checker.lists("origins", width=3)
    start = checker.array("origins.start", np.int32)
    checker.within("origins", edges[:, 0], 0, nonterminals)
    checker.within("origins", edges[:, 2], 0, item_sets)
    _check_numbered(checker, BOTTOM, "origins")
    # A node that spoke of a later one could wait for itself in a ring.
    own = np.repeat(np.arange(len(start) - 1), np.diff(start))
    earlier = (edges[:, 1] >= SELF) & (edges[:, 1] < own)
    checker.require(earlier.all(), "origins", "speaks of nodes that do not come before")
    return len(start) - 1


def check_masks(
    checker: Checker, size: int, node_count: int, item_sets: int, nonterminals: int
) -> None:
    """Check walks and masks over a vocabulary of ``size`` ids and a trie of ``node_count``."""
    masks = _check_rows(checker, size)
    nodes = checker.lists("nodes")
    checker.within("nodes", nodes, 0, node_count)
    checker.ascending("nodes")
    node_sets = len(checker.array("nodes.start", np.int32)) - 1
    first = checker.array("nodes.start", np.int32)[:2].tolist()
    checker.require(first == [0, 1] and nodes[0] == 0, "nodes", "does not begin with the root")
    walks = checker.array("walks", np.int32, 3)
    for column, end in enumerate((item_sets, node_sets, masks)):
        checker.within("walks", walks[:, column], 0, end)
    checker.require(_ascends(walks[:, :2]).all(), "walks", "does not ascend")
    completions = checker.lists("walk_exits", len(walks), width=2)
    checker.within("walk_exits", completions[:, 0], 0, nonterminals)
    checker.within("walk_exits", completions[:, 1], 0, node_sets)
    viable = checker.array("viable", np.int32, 2)
    checker.require(_ascends(viable[:, 0]).all(), "viable", "does not ascend")
    checker.within("viable", viable[:, 0], 0, len(checker.array("exits.start", np.int32)) - 1)
    checker.within("viable", viable[:, 1], 0, masks)
    checker.within("completions", checker.lists("completions", len(viable)), 0, node_sets)


def _check_rows(checker: Checker, size: int) -> int:
    """Check masks as ``lists.Rows`` reads them; return their number."""
    width = word_count(size)
    elements = checker.lists("masks", dtype=np.uint32)
    start = checker.array("masks.start", np.int32)
    length = np.diff(start)
    whole = length == width
    sparse = (length < width) & (length % 2 == 0)
    checker.require((whole | sparse).all(), "masks", "has a row of a wrong length")
    pairs = elements[np.repeat(~whole, length)].reshape(-1, 2)
    checker.within("masks", pairs[:, 0], 0, width)
    own = np.repeat(np.arange(len(length)), np.where(whole, 0, length // 2))
    fine = _ascends(np.stack((own, pairs[:, 0]), axis=1))
    checker.require(fine.all(), "masks", "has a row that does not ascend")
    if size % 32:
        last = np.concatenate((elements[start[1:][whole] - 1], pairs[pairs[:, 0] == width - 1, 1]))
        beyond = last >> np.uint32(size % 32)
        checker.require(not beyond.any(), "masks", "has bits beyond the vocabulary")
    checker.begins_empty("masks", EMPTY_ROW)
    return len(length)
