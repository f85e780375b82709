"""One source line as it is shown: hidden characters made visible, far ends cut off."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from kbnf_core.diagnostics.visible import cells, glyph

ELLIPSIS = "..."


class LineView:
    """A line of source, at most about ``width`` cells wide around the columns of interest.

    ``text`` is what to print; ``cell(column)`` tells above which cell of it a column stands.
    """

    def __init__(self, line: str, focus: tuple[int, int], width: int) -> None:
        glyphs, self._edges = _measured(line)
        begin, end = self._window(focus, width)
        self._begin = self._edges[begin]
        self._length = self._edges[end] - self._begin
        self._lead = ELLIPSIS if begin > 0 else ""
        tail = ELLIPSIS if end < len(glyphs) else ""
        self.text = self._lead + "".join(glyphs[begin:end]) + tail

    def cell(self, column: int) -> int:
        """Return the cell of a 0-based column; what was cut off counts as at the cut."""
        edge = self._edges[min(column, len(self._edges) - 1)]
        return len(self._lead) + min(max(edge - self._begin, 0), self._length)

    def _window(self, focus: tuple[int, int], width: int) -> tuple[int, int]:
        """Return the half-open range of columns to show: all, or ``width`` cells round focus."""
        edges = self._edges
        last = len(edges) - 1
        if edges[-1] <= width:
            return 0, last
        low, high = (edges[min(column, last)] for column in focus)
        spare = max(width - (high - low), width // 4)
        left = min(max(low - spare // 2, 0), edges[-1] - width)
        return bisect_left(edges, left), bisect_right(edges, left + width) - 1


@lru_cache(maxsize=4)
def _measured(line: str) -> tuple[Sequence[str], Sequence[int]]:
    """Return what is shown for each character, and the cell at which each begins and the last ends.

    Remembered, since a file that is one long line has all its findings there.
    """
    if line.isascii() and line.isprintable():
        return line, range(len(line) + 1)
    glyphs = [glyph(character) for character in line]
    return glyphs, list(accumulate(map(cells, glyphs), initial=0))
