"""Work as calls of functions, Python's and the C library's: the same on every machine."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def calls(work: Callable[[str], object], text: str) -> int:
    """Return how many functions ``work`` calls."""
    count = 0

    def note(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        work(text)
    finally:
        sys.setprofile(before)
    return count


def growth(work: Callable[[str], object], family: Callable[[int], str], size: int) -> float:
    """Return by what factor the calls grow from ``size`` to twice as much."""
    work(family(3))
    return calls(work, family(2 * size)) / calls(work, family(size))
