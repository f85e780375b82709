"""Positions: between indices into a text and an editor's lines and units, and between versions.

The protocol counts columns in UTF-16 units unless the client asks for others; everything else here
counts code points.
"""

from collections.abc import Callable

from lsprotocol.types import Position, PositionEncodingKind, Range

from kbnf_core.source import Source, Span


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_UNITS: dict[str, Callable[[str], int]] = {
    PositionEncodingKind.Utf8.value: _utf8,
    PositionEncodingKind.Utf16.value: _utf16,
    PositionEncodingKind.Utf32.value: len,
}


class Places:
    """The places of one text, in the units of one client."""

    def __init__(self, source: Source, encoding: str) -> None:
        self._source = source
        self._units = _UNITS[encoding]

    def position(self, index: int) -> Position:
        """Return the editor's position of a code point."""
        line = self._source.line_number(index)
        start = self._source.line_start(line)
        return Position(line - 1, self._units(self._source.text[start:index]))

    def range(self, span: Span) -> Range:
        """Return the editor's range of a span."""
        return Range(self.position(span.start), self.position(span.end))

    def index(self, position: Position) -> int:
        """Return the code point at an editor's position; past the end of a line is its end."""
        source = self._source
        if position.line >= source.line_count:
            return len(source.text)
        line = source.line(position.line + 1)
        column, units = 0, 0
        while column < len(line) and units < position.character:
            units += self._units(line[column])
            column += 1
        return source.line_start(position.line + 1) + column


class Shift:
    """Carries places of one version of a text over to a later one.

    What was typed since is taken for one change: between the longest common start and the longest
    common end. Places before it stay, those behind it move, those in it are lost.
    """

    def __init__(self, before: str, after: str) -> None:
        self._start = _common(before, after)
        room = min(len(before), len(after)) - self._start
        self._end = len(before) - min(room, _common(before[::-1], after[::-1]))
        self._delta = len(after) - len(before)

    def to_later(self, span: Span) -> Span | None:
        """Return where a span of the earlier text is in the later one."""
        if span.end <= self._start:
            return span
        if span.start >= self._end:
            return Span(span.start + self._delta, span.end + self._delta)
        return None

    def to_earlier(self, index: int) -> int | None:
        """Return where an index of the later text was in the earlier one."""
        if index <= self._start:
            return index
        return index - self._delta if index >= self._end + self._delta else None


def _common(first: str, second: str) -> int:
    """Return the length of the longest common start, by bisection: slices compare quickly."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
