"""Validation of everything read from an artifact, before anything uses it.

The file may be from anywhere, and its digests show damage, not intent. After these checks every
index in it is in range, and nothing in it can make the recogniser loop: wrong masks are the worst
that a forged file can cause.

Tests: tests/unit/artifact
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.artifact.manifest import ArtifactError

Arrays = Mapping[str, npt.NDArray[Any]]

_ROWS = ("of", "row", "twin", "last")

MOST_COUNTED = 2**30
"""A number above all bounds of counts."""


class Checker:
    """Checks arrays of one file; every failure is an ArtifactError that names the array."""

    def __init__(self, path: str, arrays: Arrays) -> None:
        self._path = path
        self._arrays = arrays

    def require(self, condition: object, name: str, fault: str) -> None:
        """Raise unless ``condition`` applies."""
        if not condition:
            raise ArtifactError(self._path, f"the array `{name}` {fault}")

    def array(
        self, name: str, dtype: type[np.generic], width: int | None = None
    ) -> npt.NDArray[Any]:
        """Return an array of that type, with rows of ``width`` numbers if one is given."""
        array = self._arrays.get(name)
        self.require(array is not None, name, "is missing")
        assert array is not None  # noqa: S101 - for the type checker: required above
        if array.dtype != dtype:
            self.require(False, name, f"is {array.dtype}, not {dtype.__name__}")
        shape = (-1, *array.shape[1:]) if array.ndim else ()
        self.require(shape == ((-1,) if width is None else (-1, width)), name, "has a wrong shape")
        return array

    def flags(self, name: str) -> npt.NDArray[Any]:
        """Return an array of truth values, stored as bytes."""
        result = self.array(name, np.uint8)
        self.within(name, result, 0, 2)
        return result

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

    def not_descending(self, name: str, start: str) -> None:
        """Require that no element of a list is less than the one before."""
        elements, begins = self._arrays[name], self._arrays[start]
        fine = np.append(elements[1:] >= elements[:-1], True)
        fine[begins[begins > 0] - 1] = True
        self.require(fine.all(), name, "has a list that descends")


def check_tables(checker: Checker, nonterminals: int, terminals: int) -> None:
    """Check the arrays of the tables."""
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
    starts = [checker.array(f"{kind}.start", np.int32) for kind in ("edge", "call", "token")]
    # The state before the first byte would be the dead one.
    goes_on = any(start[entry[0]] < start[entry[0] + 1] for start in starts)
    checker.require(goes_on, "entry", "begins where nothing is allowed")
    tails = checker.flags("call.tail")
    checker.require(
        len(tails) == len(checker.array("call.return", np.int32)), "call.tail", "is off"
    )
    _check_loops(checker, positions)


def _check_loops(checker: Checker, positions: int) -> None:
    """Check counted loops: for every value of a count, the recogniser finds a row."""
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
