"""Findings for people: with their source lines, in the manner of rustc, on one line, and summed up.

A mark within one line is underlined, its message to the right of the underline or hanging
below it. A mark over several lines gets a bar in a margin of its own, left of the code::

     1 |   start ::= ('a'
       |  ___________^
     2 | |   'b';
       | |______^ this bracket is not closed

Tests: tests/unit/text/test_text.py, tests/unit/text/test_excerpt.py
"""

import math
import textwrap
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, groupby

from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.catalogue import Severity
from kbnf_core.text.diagnostics.segments import (
    NEWLINE,
    Role,
    Segment,
    Segments,
    cells,
    glyph,
    severity_role,
    visible,
)
from kbnf_core.text.source import Source, Span


@dataclass(frozen=True, slots=True)
class Underline:
    """An underlined range: 1-based lines, 0-based columns in code points, ``end`` exclusive.

    The sign is ``^`` for the place itself and ``-`` for places that explain it.
    """

    first: int
    start: int
    last: int
    end: int
    message: str
    sign: str
    role: Role

    @property
    def is_multiline(self) -> bool:
        """Whether the range goes over the end of a line."""
        return self.first != self.last


def marks_of(diagnostic: Diagnostic) -> list[Underline]:
    """Return the marks of a finding: its own first, then the secondary ones."""
    role = severity_role(diagnostic.severity)
    primary = _mark(diagnostic.source, diagnostic.span, diagnostic.label, "^", role)
    return [primary] + [
        _mark(diagnostic.source, label.span, label.message, "-", Role.SECONDARY)
        for label in diagnostic.labels
    ]


def _mark(source: Source, span: Span, message: str, sign: str, role: Role) -> Underline:
    first = source.position(span.start)
    last = source.position(max(span.start, span.end - 1))
    start = first.column - 1
    end = max(last.column - 1 + (span.end > span.start), 0)
    return Underline(
        first.line, start, last.line, end, " ".join(visible(message).split()), sign, role
    )


ELLIPSIS = "..."


class LineView:
    """A line of source, at most about ``width`` cells wide around the columns of interest.

    ``text`` is what to print; ``cell(column)`` says above which cell of it a column is.
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
        """Return the cell of a 0-based column; text that was cut off counts as at the cut."""
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
    """Return the text shown for each character, and the cells where they begin and the last ends.

    Remembered, since a file that is one long line has all its findings there.
    """
    if line.isascii() and line.isprintable():
        return line, range(len(line) + 1)
    glyphs = [glyph(character) for character in line]
    return glyphs, list(accumulate(map(cells, glyphs), initial=0))


LINE_WIDTH = 120
"""Cells of a source line that are shown where the output has no width of its own."""

_NARROWEST = 20
"""Cells of a source line that are shown in any case, however narrow the output."""

_WHOLE = 6
"""Marks of at most this many lines are shown whole; of longer ones, the first and last two."""


class _Row:
    """One line of output being drawn: single-cell signs, then at most one message."""

    def __init__(self) -> None:
        self._signs: dict[int, tuple[str, Role]] = {}
        self._tail: tuple[int, Segment] | None = None

    def put(self, cell: int, sign: str, role: Role) -> None:
        self._signs[cell] = (sign, role)

    def fill(self, start: int, end: int, sign: str, role: Role) -> None:
        for cell in range(start, end):
            self.put(cell, sign, role)

    def end_with(self, cell: int, text: str, role: Role) -> None:
        if text:
            self._tail = (cell, Segment(text, role))

    def segments(self) -> Segments:
        length = max(self._signs, default=-1) + 1
        drawn = [self._signs.get(cell, (" ", Role.PLAIN)) for cell in range(length)]
        runs = groupby(drawn, key=lambda pair: pair[1])
        segments = [Segment("".join(sign for sign, _ in run), role) for role, run in runs]
        if self._tail is not None:
            cell, message = self._tail
            segments += [Segment(" " * (cell - length)), message]
        return segments


class Excerpt:
    """Draws the lines of ``source`` that contain ``marks``.

    Longer lines are cut around the marked range, so that they fit an output of ``width`` cells.
    """

    def __init__(self, source: Source, marks: Sequence[Underline], width: int | None) -> None:
        self._source = source
        self._marks = marks
        tall = [mark for mark in marks if mark.is_multiline]
        tall.sort(key=lambda mark: (mark.first, -mark.last))
        self._margins = {id(mark): column for column, mark in enumerate(tall)}
        self._tall = tall
        self._indent = len(tall) + 1 if tall else 0
        self.gutter = len(str(max(mark.last for mark in marks)))
        self._columns = None if width is None else width - self.gutter - len(" | ")
        self._width = LINE_WIDTH if width is None else self._room(width)

    def segments(self) -> Segments:
        """Return the excerpt, each line ended."""
        out = [*self._gutter(), NEWLINE]
        previous: int | None = None
        for number in _shown_lines(self._marks):
            if previous is not None and number > previous + 1:
                out += [*self._gap(number), NEWLINE]
            out += self._line(number)
            previous = number
        return out

    def _room(self, width: int) -> int:
        """Return the cells of source that fit, with ``...`` at both ends, beside the gutter."""
        return max(width - self.gutter - len(" | ") - self._indent - 2 * len(ELLIPSIS), _NARROWEST)

    def _gutter(self, number: int | None = None) -> Segments:
        label = "" if number is None else str(number)
        return [Segment(f"{label:>{self.gutter}} |", Role.PLACE)]

    def _gap(self, before: int) -> Segments:
        row = _Row()
        self._bars(row, [mark for mark in self._tall if mark.first < before <= mark.last])
        dots = Segment(f"{'...':<{self.gutter + 3}}", Role.PLACE)
        bars = row.segments()
        return [dots, *bars] if bars else [Segment("...", Role.PLACE)]

    def _line(self, number: int) -> Segments:
        view = LineView(self._source.line(number), self._focus(number), self._width)
        tall = [mark for mark in self._tall if mark.first < number <= mark.last]
        code = _Row()
        self._bars(code, tall)
        code.end_with(self._indent, view.text, Role.PLAIN)
        out = self._output(code, number)
        here = [mark for mark in self._marks if not mark.is_multiline and mark.first == number]
        for row in _underlines(view, here, self._indent, self._columns):
            self._bars(row, tall)
            out += self._output(row)
        for mark in self._tall:
            if number in (mark.first, mark.last):
                out += self._output(self._corner(mark, number, view, tall))
        return out

    def _corner(self, mark: Underline, number: int, view: LineView, tall: list[Underline]) -> _Row:
        """Draw where a tall mark starts or ends; ``tall``, the open ones, is kept up to date."""
        row = _Row()
        starts = number == mark.first
        edge = view.cell(mark.start) if starts else max(view.cell(mark.end) - 1, 0)
        row.fill(self._margins[id(mark)] + 1, self._indent + edge, "_", mark.role)
        row.put(self._indent + edge, mark.sign, mark.role)
        self._bars(row, tall)
        if starts:
            tall.append(mark)
        else:
            tall.remove(mark)
            row.end_with(self._indent + edge + 2, mark.message, mark.role)
        return row

    def _bars(self, row: _Row, tall: Iterable[Underline]) -> None:
        for mark in tall:
            row.put(self._margins[id(mark)], "|", mark.role)

    def _output(self, row: _Row, number: int | None = None) -> Segments:
        drawn = row.segments()
        space = [Segment(" ")] if drawn else []
        return [*self._gutter(number), *space, *drawn, NEWLINE]

    def _focus(self, number: int) -> tuple[int, int]:
        """Return the columns of line ``number`` that must be in sight."""
        edges = [mark.start for mark in self._marks if mark.first == number]
        edges += [mark.end for mark in self._marks if mark.last == number]
        return min(edges, default=0), max(edges, default=0)


def _shown_lines(marks: Iterable[Underline]) -> list[int]:
    """Return the line numbers to show; a gap of one line is filled rather than elided."""
    wanted: set[int] = set()
    for mark in marks:
        lines = range(mark.first, mark.last + 1)
        wanted.update(lines if len(lines) <= _WHOLE else [*lines[:2], *lines[-2:]])
    return sorted(wanted | {line + 1 for line in wanted if line + 2 in wanted})


def _underlines(
    view: LineView, marks: list[Underline], indent: int, columns: int | None
) -> list[_Row]:
    """Return the rows below a line of code: underlines, then hanging messages.

    A message that would pass ``columns`` cells hangs further left.
    """
    if not marks:
        return []
    placed = [_columns_of(view, mark, indent) for mark in marks]
    placed.sort(key=lambda item: (item[0], item[1]))
    under = _Row()
    for start, end, mark in sorted(placed, key=lambda item: item[2].sign == "^"):
        under.fill(start, end, mark.sign, mark.role)
    end = max(end for _, end, _ in placed)
    hanging = [item for item in placed if item[2].message]
    room = math.inf if columns is None else columns
    if hanging and hanging[-1][1] == end and end + 1 + cells(hanging[-1][2].message) <= room:
        mark = hanging.pop()[2]
        under.end_with(end + 1, mark.message, mark.role)
    return [under, *_hang(hanging, room)]


def _columns_of(view: LineView, mark: Underline, indent: int) -> tuple[int, int, Underline]:
    start, end = view.cell(mark.start), view.cell(mark.end)
    return indent + start, indent + max(end, start + 1), mark


def _hang(placed: list[tuple[int, int, Underline]], room: float) -> list[_Row]:
    """Return rows that lead from underlines down to their messages, the rightmost first."""
    rows = []
    for count in range(len(placed), 0, -1):
        start, _, mark = placed[count - 1]
        if count == len(placed):
            rows.append(_stems(placed))
        others = [item for item in placed[: count - 1] if item[0] < start]
        row = _stems(others)
        leftmost = max((other + 2 for other, _, _ in others), default=0)
        row.end_with(
            int(max(min(start, room - cells(mark.message)), leftmost)), mark.message, mark.role
        )
        rows.append(row)
    return rows


def _stems(placed: Iterable[tuple[int, int, Underline]]) -> _Row:
    row = _Row()
    for start, _, mark in placed:
        row.put(start, "|", mark.role)
    return row


"""Characters of prose that a line has in any case, however narrow the output."""

FIXABLE = "[*]"
"""The mark of a finding that ``--fix`` fixes."""


def render_text(
    diagnostic: Diagnostic, width: int | None = None, *, is_fixable: bool = False
) -> Segments:
    """Return a finding with its source lines, notes and helps; ends with a line break.

    In an output of ``width`` cells, source lines are cut to fit and prose is wrapped at words;
    without it, source lines have ``excerpt.LINE_WIDTH`` and prose stays as it is.
    """
    excerpt = Excerpt(diagnostic.source, marks_of(diagnostic), width)
    indent = " " * excerpt.gutter
    arrow = Segment(f"{indent}--> ", Role.PLACE)
    remarks = _remarks(diagnostic, indent, width)
    ruler = [Segment(f"{indent} |", Role.PLACE), NEWLINE] if remarks else []
    return [
        *_header(diagnostic, width, is_fixable),
        NEWLINE,
        arrow,
        Segment(location_of(diagnostic.source, diagnostic.span)),
        NEWLINE,
        *excerpt.segments(),
        *ruler,
        *remarks,
    ]


def render_concise(diagnostic: Diagnostic, *, is_fixable: bool = False) -> Segments:
    """Return ``path:line:column: CODE message`` and a line break."""
    role = severity_role(diagnostic.severity)
    message = " ".join((*([FIXABLE] if is_fixable else []), *visible(diagnostic.message).split()))
    return [
        Segment(f"{location_of(diagnostic.source, diagnostic.span)}: ", Role.PLACE),
        Segment(diagnostic.code, role),
        Segment(f" {message}\n"),
    ]


def location_of(source: Source, span: Span) -> str:
    """Return ``path:line:column`` of the start of a span, 1-based, the column in code points."""
    _, line, column = source.position(span.start)
    return f"{visible(source.name)}:{line}:{column}"


def summarise(diagnostics: Iterable[Diagnostic], files: int) -> str:
    """Return the closing sentence, such as ``2 errors, 1 warning in 3 files``."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    result = [
        count_of(counts[severity], severity.label)
        for severity in sorted(Severity, reverse=True)
        if counts[severity]
    ]
    return f"{', '.join(result) or 'no problems'} in {count_of(files, 'file')}"


def count_of(number: int, noun: str) -> str:
    """Return the number and its noun, in the plural where it must be."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _header(diagnostic: Diagnostic, width: int | None, is_fixable: bool) -> Segments:
    head = f"{diagnostic.severity.label}[{diagnostic.code}]"
    mark = f" {FIXABLE}" if is_fixable else ""
    message = _wrapped(visible(diagnostic.message), "", len(f"{head}{mark}: "), width)
    return [
        Segment(head, severity_role(diagnostic.severity)),
        *([Segment(mark, Role.HELP)] if mark else []),
        Segment(f": {message}", Role.TITLE),
    ]


def _remarks(diagnostic: Diagnostic, indent: str, width: int | None) -> Segments:
    """Return the ``= note:`` and ``= help:`` lines; the effect of a fix replaces a help."""
    helps = diagnostic.helps or tuple(fix.message for fix in diagnostic.fixes[:1])
    out: Segments = []
    for note in diagnostic.notes:
        out += _remark("note", Role.NOTE, note, indent, width)
    for text in helps:
        out += _remark("help", Role.HELP, text, indent, width)
    return out


def _remark(word: str, role: Role, text: str, indent: str, width: int | None) -> Segments:
    lead = f"{indent} = "
    below = " " * len(f"{lead}{word}: ")
    body = _wrapped(visible(text), below, len(below), width)
    return [Segment(lead, Role.PLACE), Segment(f"{word}:", role), Segment(f" {body}\n")]


def _wrapped(text: str, below: str, taken: int, width: int | None) -> str:
    """Return text whose further lines begin with ``below``, none longer than ``width``.

    ``taken`` characters of the first line are in use. Words are never broken, and blanks inside
    lines stay, since they may be part of a text of the grammar.
    """
    lines = text.split("\n")
    if width is None:
        return f"\n{below}".join(lines)
    room = max(width, taken + _NARROWEST)
    first = textwrap.TextWrapper(
        room,
        initial_indent=" " * taken,
        subsequent_indent=below,
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        expand_tabs=False,
    )
    rest = copy(first)
    rest.initial_indent = below
    wrapped = [
        "\n".join(wrapper.wrap(line)) or wrapper.initial_indent
        for wrapper, line in zip((first, *[rest] * (len(lines) - 1)), lines, strict=True)
    ]
    return "\n".join(wrapped)[taken:]
