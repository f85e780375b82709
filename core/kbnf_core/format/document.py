"""Brings a KBNF text into its canonical layout: same words, same comments, other blanks.

Definitions start lines, with at most one empty line between them. ``=`` becomes ``::=``, a missing
last ``;`` and line end are added, a byte order mark goes; quotes, escapes, brackets, operators and
commas stay as they were chosen. The text that comes out is laid out already.

Words that would move into or out of a line that a pragma silences are found first.
"""

from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass

from kbnf_core.diagnostics import Diagnostic, Severity, unreadable
from kbnf_core.format.layout import lay_out
from kbnf_core.format.printer import print_pieces
from kbnf_core.format.words import Contents, Gap, KeptWords, Statement, contents_of
from kbnf_core.languages.kbnf.parse import parse_kbnf
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.pragmas import Ignore, read_pragmas
from kbnf_core.syntax.tree import Document

WIDTH = 100
"""Columns that a line should keep to."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """The text, or None and the syntax errors that stand in the way."""

    text: str | None
    errors: tuple[Diagnostic, ...] = ()


def format_kbnf(source: Source, width: int = WIDTH, limits: Limits = DEFAULT_LIMITS) -> Formatted:
    """Return ``source`` in the canonical layout; never raises.

    A definition in which another layout would change what an ``ignore[...]`` pragma silences
    keeps the lines that it has.
    """
    finding = unreadable(source, limits.source_bytes)
    if finding is not None:
        return Formatted(None, (finding,))
    words = KeptWords(source.text)
    parsed = parse_kbnf(source, limits, words)
    errors = tuple(d for d in parsed.diagnostics if d.severity is Severity.ERROR)
    if errors:
        return Formatted(None, errors)
    contents = contents_of(source, words)
    ignores = read_pragmas(parsed.document)[0].ignores
    kept: frozenset[int] = frozenset()
    while True:
        text = _write(source, contents, width, kept)
        moved = moved_statements(contents, source, ignores, text) - kept if ignores else set()
        if not moved:
            return Formatted(text)
        kept |= moved


def _write(source: Source, contents: Contents, width: int, kept: Set[int]) -> str:
    """Return the text in which the statements with the numbers ``kept`` stay as they are."""
    newline = _newline(source)
    written = _Lines(newline)
    for number, statement in enumerate(contents.statements):
        written.gap(statement.words[0].gap, together={number - 1, number} <= kept)
        if number in kept:
            written.add(_as_it_is(source, statement))
        else:
            written.add(print_pieces(lay_out(statement), written.column, width, newline))
    written.end(contents.last)
    return written.text()


def _newline(source: Source) -> str:
    """Return the line end that the whole text uses; where it uses both, the shorter one."""
    every, long = source.text.count("\n"), source.text.count("\r\n")
    return "\r\n" if long and long == every else "\n"


def _as_it_is(source: Source, statement: Statement) -> str:
    *_, last, end = statement.words
    behind = source.text[last.span.end : end.span.start]
    if "(*" in behind and not end.gap.comments:
        behind = ""  # The comment in it has moved to behind the `;`.
    return source.slice(statement.words[0].span.cover(last.span)) + behind + end.text


class _Lines:
    """The text while it is written."""

    def __init__(self, newline: str) -> None:
        self._newline = newline
        self._written: list[str] = []
        self.column = 0

    def text(self) -> str:
        """Return everything."""
        return "".join(self._written)

    def add(self, text: str) -> None:
        """Write what takes part of a line, or several."""
        self._written.append(text)
        line_start = text.rfind("\n") + 1
        self.column = len(text) - line_start + (0 if line_start else self.column)

    def gap(self, gap: Gap, together: bool) -> None:
        """Write what stands between two definitions, ``together`` on one line if they were."""
        ends_line = self._written and any(gap.breaks)
        self._separate(gap.breaks[0], 0 if together or (gap.comments and ends_line) else 1)
        for comment, breaks in zip(gap.comments, gap.breaks[1:], strict=True):
            self.add(comment)
            self._separate(breaks, 0)

    def end(self, gap: Gap) -> None:
        """Write what stands behind the last definition, and the end of the last line."""
        *breaks, _ = gap.breaks
        self.gap(Gap(gap.comments, (*breaks, 1)), together=False)

    def _separate(self, breaks: int, at_least: int) -> None:
        """Write up to two line ends, or a blank; nothing at the start of the text."""
        if self._written:
            self.add(self._newline * min(2, max(breaks, at_least)) or " ")


_Part = tuple[int, int, int]
"""A line of a word: number of the statement, number of the word in it, number of the line."""

_END = -1
"""The number of a ``;``."""


def moved_statements(
    before: Contents, source: Source, ignores: Sequence[Ignore], text: str
) -> frozenset[int]:
    """Return the numbers of the statements that silenced lines share otherwise in ``text``.

    ``before`` and ``ignores`` are those of ``source``; ``text`` has the same words and comments.
    """
    after, words = Source(text), KeptWords(text)
    words.read_on()
    lines = _lines(before, source)
    new_lines = _lines(contents_of(after, words), after)
    # What is silenced is in the comments; the definitions are not looked at.
    new_ignores = read_pragmas(Document(after, (), tuple(words.comments)))[0].ignores
    moved: set[int] = set()
    for old, new in zip(ignores, new_ignores, strict=True):
        was, is_ = lines[old.line], new_lines[new.line]
        if _without_ends(was) != _without_ends(is_):
            moved |= {statement for statement, _, _ in was | is_}
    return frozenset(moved)


def _without_ends(parts: set[_Part]) -> set[_Part]:
    """Return the parts that a finding can begin at: a ``;`` is none."""
    return {part for part in parts if part[1] != _END}


def _lines(contents: Contents, source: Source) -> dict[int, set[_Part]]:
    """Return which parts of words stand on each 1-based line."""
    lines: dict[int, set[_Part]] = defaultdict(set)
    first, counted = 1, 0
    for number, statement in enumerate(contents.statements):
        for index, word in enumerate(statement.words):
            first += source.text.count("\n", counted, word.span.start)
            counted = word.span.start
            place = _END if word.type == "END" else index
            for part in range(word.text.count("\n") + 1):
                lines[first + part].add((number, place, part))
    return lines
