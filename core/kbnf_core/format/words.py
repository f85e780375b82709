"""The input of the layout: the words of every definition, and the comments between them."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.languages.kbnf.lexer import Words
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import span_of
from kbnf_core.syntax.statements import Statement as RawStatement

if TYPE_CHECKING:
    from lark import Token


class Gap(NamedTuple):
    """Comments between two words, and the line breaks around them.

    ``breaks`` counts the line breaks in front of each comment and, last, in front of the word:
    one more entry than there are comments.
    """

    comments: tuple[str, ...] = ()
    breaks: tuple[int, ...] = (0,)

    @property
    def has_break(self) -> bool:
        """Whether a line ends here."""
        return any(self.breaks)


class Word(NamedTuple):
    """A word, its type in ``grammar.lark``, and the gap in front of it."""

    type: str
    text: str
    gap: Gap
    span: Span


@dataclass(frozen=True, slots=True)
class Statement:
    """One definition, from its name to its ``;``."""

    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Contents:
    """A whole text: its definitions, and the gap behind the last one."""

    statements: tuple[Statement, ...]
    last: Gap


class KeptWords(Words):
    """Words that are kept, statement by statement, while something else reads them."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.kept: list[list[Token]] = []

    def statement(self) -> RawStatement:
        """Return the next statement, which is kept."""
        statement = super().statement()
        if statement.words:
            self.kept.append(statement.words)
        return statement

    def read_on(self) -> None:
        """Read up to the end of the text."""
        while self.statement().words:
            pass


def contents_of(source: Source, read: KeptWords) -> Contents:
    """Return what has been read of a text without syntax errors. A missing last ``;`` is added."""
    raw = read.kept
    comments = [comment.span for comment in read.comments]
    gaps = _gaps(source, [span_of(word) for words in raw for word in words], comments)
    statements = []
    for words in raw:
        parts = [Word(str(w.type), str(w.value), next(gaps), span_of(w)) for w in words]
        if parts[-1].type != "END":
            end = parts[-1].span.end
            parts.append(Word("END", ";", Gap(), Span(end, end)))
        statements.append(Statement(tuple(parts)))
    return Contents(*_end_lines_with_comments(statements, next(gaps)))


def _gaps(source: Source, words: list[Span], comments: list[Span]) -> Iterator[Gap]:
    """Yield the gap in front of every word, and the one behind the last."""
    start = taken = 0
    for word in [*words, Span(len(source.text), len(source.text))]:
        first = taken
        while taken < len(comments) and comments[taken].start < word.start:
            taken += 1
        if taken == first:  # As most are.
            yield Gap((), (source.text.count("\n", start, word.start),))
        else:
            inside = comments[first:taken]
            stops = [Span(start, start), *inside, word]
            breaks = (source.text.count("\n", a.end, b.start) for a, b in pairwise(stops))
            yield Gap(tuple(map(source.slice, inside)), tuple(breaks))
        start = word.end


def _end_lines_with_comments(
    statements: list[Statement], last: Gap
) -> tuple[tuple[Statement, ...], Gap]:
    """Move a comment that ends a line in front of a ``;`` to behind it, on the same line."""
    moved: list[Statement] = []
    carried: tuple[str, ...] = ()
    following = [*(statement.words[0].gap for statement in statements[1:]), last]
    for statement, behind in zip(statements, following, strict=True):
        first, *middle, end = statement.words
        first = first._replace(gap=_behind(carried, first.gap))
        carried = _movable(end.gap, behind)
        end = end._replace(gap=Gap()) if carried else end
        moved.append(Statement((first, *middle, end)))
    return tuple(moved), _behind(carried, last)


def _movable(gap: Gap, behind: Gap) -> tuple[str, ...]:
    """Return the comments in front of a ``;`` if they end one line, and none behind it does."""
    *before, after = gap.breaks
    ends_one_line = after and not any(before) and "\n" not in "".join(gap.comments)
    is_free = not behind.comments or behind.breaks[0] or not behind.has_break
    return gap.comments if ends_one_line and is_free else ()


def _behind(comments: tuple[str, ...], gap: Gap) -> Gap:
    """Return ``gap`` with ``comments`` in front, at the end of the line."""
    if not comments:
        return gap
    breaks = (*(0 for _ in comments), max(1, gap.breaks[0]), *gap.breaks[1:])
    return Gap((*comments, *gap.comments), breaks)
