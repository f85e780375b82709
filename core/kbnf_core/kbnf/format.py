"""Lays out KBNF, the text of an author or a tree: same words, same comments, other blanks.

Definitions start lines, with at most one empty line between them. ``=`` becomes ``::=``, a missing
last ``;`` and line end are added, a byte order mark goes; quotes, escapes, brackets, operators and
commas stay as they were chosen. The text that comes out is laid out already. Words that would move
into or out of a line that a pragma silences are found first.

Layout has three steps. The words of every definition and the comments between them are the input:
those of a text are read (``contents_of``); those of a tree, read from any language, are what
``printer`` makes of it, and spans say where comments and line breaks are (``contents_of_tree``). A
definition becomes a stream of texts, groups and places where lines may end::

    name ::= first second
           | third ( fourth
                   | fifth
                   )*;

Alternatives are on one line, or each on its own; the sign ``|`` is below ``=`` or below the
bracket. Sequences are filled, and so are lists of words (each alternative a text), unless each word
was written on a line of its own. A line break written at one ``|`` of another group is kept at all
of that group. Comments stay between the words between which they are written. Then the ends of
lines are chosen after Derek C. Oppen, "Prettyprinting", TOPLAS 2 (4), 1980: his consistent breaks
separate alternatives, his inconsistent breaks the items of a sequence. Linear in the length of the
stream.

Tests: tests/unit/kbnf/test_layout.py, tests/unit/kbnf/test_layout_of_real_grammars.py
"""

import enum
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kbnf_core.kbnf.pragmas import Ignore, read_pragmas
from kbnf_core.kbnf.printer import BLANK, PrintedWord, print_words
from kbnf_core.kbnf.read import Words, parse_kbnf
from kbnf_core.kbnf.statements import Statement, span_of
from kbnf_core.kbnf.tree import Definition, Document
from kbnf_core.text.diagnostics import Diagnostic, Severity, unreadable
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import NOWHERE, Source, Span

if TYPE_CHECKING:
    from kbnf_core.kbnf.statements import Word


class When(enum.Enum):
    """When a break ends the line."""

    ALWAYS = "always"
    BROKEN = "where its group does not fit on a line"
    FULL = "where what comes up to the next break does not fit"


class Printed(NamedTuple):
    """Something to write as it is."""

    flat: str


class Break(NamedTuple):
    """The end of a line, or else ``flat``."""

    when: When
    flat: str = " "


class Open(NamedTuple):
    """The start of a group; its lines begin ``offset`` columns from here.

    ``is_choice``: the group itself decides whether it is broken; otherwise it is if the one
    around it is.
    """

    is_choice: bool
    offset: int = 0
    flat: str = ""


class Close(NamedTuple):
    """The end of a group."""

    flat: str = ""


class Pad(NamedTuple):
    """A blank where the group is broken."""

    flat: str = ""


Element: TypeAlias = Printed | Break | Open | Close | Pad


class _OpenGroup(NamedTuple):
    """A group being written: where its lines begin, and whether it is broken."""

    indent: int
    broken: bool


def print_elements(elements: list[Element], column: int, width: int, newline: str) -> str:
    """Return the text of ``elements``, which begin in ``column``, within ``width`` if possible."""
    writer = _LineWriter(column, width, newline)
    widths = [*accumulate((len(element.flat) for element in elements), initial=0)]
    for element, room in zip(elements, _rooms(elements, widths, width + 1), strict=True):
        writer.write(element, room)
    return writer.text()


class _Measuring:
    """The state of one open group while the stream is read from its end.

    ``stop`` is the width in front of the next possible break; ``hard`` says whether the group must
    be broken, ``hard_before_stop`` whether something in front of ``stop`` must.
    """

    def __init__(self, stop: int) -> None:
        self.stop = stop
        self.hard = False
        self.hard_before_stop = False


def _rooms(elements: list[Element], before: list[int], most: int) -> list[int]:
    """Return for each piece the columns that have to fit on the line where it is not broken.

    They go up to the next line break that is sure to be possible, and are ``most`` where a line
    must end before that. ``before`` has the flat width of all that precedes each piece.
    """
    rooms: list[int] = []
    groups = [_Measuring(before[-1])]
    for element, width in zip(reversed(elements), reversed(before[:-1]), strict=True):
        group = groups[-1]
        match element:
            case Close():
                groups.append(_Measuring(group.stop))
            case Open():
                groups.pop()
                outer = groups[-1]
                rooms.append(most if group.hard else outer.stop - width)
                outer.hard |= group.hard
                outer.hard_before_stop |= group.hard
                continue
            case Printed(text) if "\n" in text:
                group.hard = True
                for open_group in groups:
                    open_group.stop, open_group.hard_before_stop = width + text.index("\n"), False
        rooms.append(most if group.hard_before_stop else group.stop - width)
        if isinstance(element, Break):
            group.stop, group.hard_before_stop = width, False
            group.hard |= element.when is When.ALWAYS
    return rooms[::-1]


class _LineWriter:
    """The lines so far, and the groups that are open."""

    def __init__(self, column: int, width: int, newline: str) -> None:
        self._column = column
        self._width = width
        self._newline = newline
        self._written: list[str] = []
        self._levels = [_OpenGroup(0, True)]

    def text(self) -> str:
        """Return the text written so far."""
        return "".join(self._written)

    def write(self, element: Element, room: int) -> None:
        """Write a piece that needs ``room`` columns where it does not end the line."""
        level = self._levels[-1]
        match element:
            case Printed(text):
                self._put(text)
            case Pad():
                self._put(" " if level.broken else "")
            case Open(is_choice, offset):
                # A group of alternatives stays on one line if it fits, whatever the group
                # around it does.
                broken = level.broken and not (is_choice and self._fits(room))
                self._levels.append(_OpenGroup(max(0, self._column + offset), broken))
            case Close():
                self._levels.pop()
            case Break(when, flat):
                if self._ends_line(when, room):
                    self._end_line(level.indent)
                else:
                    self._put(flat)

    def _ends_line(self, when: When, room: int) -> bool:
        if when is When.FULL:
            return self._levels[-1].broken and not self._fits(room)
        return when is When.ALWAYS or self._levels[-1].broken

    def _fits(self, room: int) -> bool:
        return self._column + room <= self._width

    def _put(self, text: str) -> None:
        self._written.append(text)
        self._column = len(text) + (-text.rindex("\n") - 1 if "\n" in text else self._column)

    def _end_line(self, indent: int) -> None:
        # No blanks at the end of a line: a pad was written before the break was known.
        while self._written and not self._written[-1].strip(" "):
            self._written.pop()
        self._put(self._newline)
        self._put(" " * indent)


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


_NO_GAP = Gap()


class FormattedWord(NamedTuple):
    """A word, its type in ``grammar.lark``, and the gap in front of it."""

    type: str
    text: str
    gap: Gap
    span: Span


@dataclass(frozen=True, slots=True)
class FormattedStatement:
    """One definition, from its name to its ``;``.

    ``line`` is its text where it is known to be on one line; then only the gap in front of the
    first word is of use.
    """

    words: tuple[FormattedWord, ...]
    line: str | None = None


@dataclass(frozen=True, slots=True)
class FormattedText:
    """A whole text: its definitions, and the gap after the last one."""

    statements: tuple[FormattedStatement, ...]
    last: Gap


class KeptWords(Words):
    """Words that are kept, statement by statement, while something else reads them."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.kept: list[list[Word]] = []

    def statement(self) -> Statement:
        """Return the next statement, which is kept."""
        statement = super().statement()
        if statement.words:
            self.kept.append(statement.words)
        return statement

    def read_on(self) -> None:
        """Read up to the end of the text."""
        while self.statement().words:
            pass


def contents_of(source: Source, read: KeptWords) -> FormattedText:
    """Return the content of a text without syntax errors. A missing last ``;`` is added."""
    raw = read.kept
    comments = [(comment.span, source.slice(comment.span)) for comment in read.comments]
    gaps = _gaps(source, [span_of(word) for words in raw for word in words], comments)
    statements = []
    for words in raw:
        formatted = [
            FormattedWord(str(w.type), str(w.value), next(gaps), span_of(w)) for w in words
        ]
        # The grammar takes a last definition without `;` as well.
        if formatted[-1].type != "END":
            end = formatted[-1].span.end
            formatted.append(FormattedWord("END", ";", Gap(), Span(end, end)))
        statements.append(FormattedStatement(tuple(formatted)))
    return FormattedText(*_end_lines_with_comments(statements, next(gaps)))


def contents_of_tree(
    source: Source, definitions: Iterable[Definition], comments: Iterable[tuple[Span, str]]
) -> FormattedText:
    """Return the content of a tree whose spans are in ``source``, in the order of these.

    ``comments`` have their texts in KBNF. One that is inside a definition stays inside it.
    """
    ordered = sorted(definitions, key=lambda definition: definition.span.start)
    printed = [_words_of(definition, print_words(definition.body)) for definition in ordered]
    gaps = _gaps(source, [word.span for words in printed for word in words], sorted(comments))
    statements = [
        FormattedStatement(
            tuple(FormattedWord(word.type, word.text, next(gaps), word.span) for word in words)
        )
        for words in printed
    ]
    return FormattedText(*_end_lines_with_comments(statements, next(gaps)))


def generated_statement(definition: Definition, remark: str | None) -> FormattedStatement:
    """Return a definition that nobody wrote; ``remark`` is the comment in front of it.

    An empty line is in front of the comment.
    """
    body = print_words(definition.body)
    gap = _NO_GAP if remark is None else Gap((remark,), (2, 1))
    line = f"{definition.title} ::= {''.join([word.text for word in body])};"
    # Most are short. Without this case, a conversion of a schema takes three times as long.
    if len(line) <= WIDTH:
        first = FormattedWord("NAME", definition.title, gap, NOWHERE)
        return FormattedStatement((first,), line)
    words = [
        FormattedWord("NAME", definition.title, gap, NOWHERE),
        FormattedWord("DEFINE", "::=", _NO_GAP, NOWHERE),
        *(FormattedWord(*word[:2], _NO_GAP, NOWHERE) for word in body if word is not BLANK),
        FormattedWord("END", ";", _NO_GAP, NOWHERE),
    ]
    return FormattedStatement(tuple(words))


def _words_of(definition: Definition, body: list[PrintedWord]) -> list[PrintedWord]:
    """Return the words of a definition, whose spans are in order; ``body`` has those of its body.

    A word that was written elsewhere has a span without a length, after the word before it.
    """
    # Some spans of definitions are those of their names.
    start, last = definition.span.start, max(definition.span.end, definition.body.span.end)
    words = [
        PrintedWord("NAME", definition.title, definition.name.span),
        PrintedWord("DEFINE", "::=", NOWHERE),
        *(word for word in body if word is not BLANK),
        PrintedWord("END", ";", Span(last, last)),
    ]
    for index, word in enumerate(words):
        is_next = start <= word.span.start and word.span.end <= last
        words[index] = word._replace(span=word.span if is_next else Span(start, start))
        start = words[index].span.end
    return words


def _gaps(source: Source, words: list[Span], comments: list[tuple[Span, str]]) -> Iterator[Gap]:
    """Yield the gap in front of every word, and the one after the last."""
    start = taken = 0
    for word in [*words, Span(len(source.text), len(source.text))]:
        first = taken
        while taken < len(comments) and comments[taken][0].start < word.start:
            taken += 1
        if taken == first:  # As most are.
            yield Gap((), (_breaks(source, start, word.start),))
        else:
            inside = comments[first:taken]
            stops = [Span(start, start), *(span for span, _ in inside), word]
            breaks = (_breaks(source, a.end, b.start) for a, b in pairwise(stops))
            yield Gap(tuple(text for _, text in inside), tuple(breaks))
        start = word.end


def _breaks(source: Source, start: int, end: int) -> int:
    """Return the line breaks in a range: at most one where a text is in it that has no words."""
    count = source.text.count("\n", start, end)
    return count if count < 2 or not source.text[start:end].strip() else 1


def _end_lines_with_comments(
    statements: list[FormattedStatement], last: Gap
) -> tuple[tuple[FormattedStatement, ...], Gap]:
    """Move a comment that ends a line in front of a ``;`` to after it, on the same line."""
    moved: list[FormattedStatement] = []
    carried: tuple[str, ...] = ()
    following = [*(statement.words[0].gap for statement in statements[1:]), last]
    for statement, behind in zip(statements, following, strict=True):
        first, *middle, end = statement.words
        first = first._replace(gap=_behind(carried, first.gap))
        carried = _movable(end.gap, behind)
        end = end._replace(gap=Gap()) if carried else end
        moved.append(FormattedStatement((first, *middle, end)))
    return tuple(moved), _behind(carried, last)


def _movable(gap: Gap, behind: Gap) -> tuple[str, ...]:
    """Return the comments in front of a ``;`` if they end one line, and none after it does."""
    *before, after = gap.breaks
    ends_one_line = after and not any(before) and "\n" not in "".join(gap.comments)
    has_break = behind.has_break or "\n" in "".join(behind.comments)
    is_free = not behind.comments or behind.breaks[0] or not has_break
    return gap.comments if ends_one_line and is_free else ()


def _behind(comments: tuple[str, ...], gap: Gap) -> Gap:
    """Return ``gap`` with ``comments`` in front, at the end of the line."""
    if not comments:
        return gap
    breaks = (*(0 for _ in comments), max(1, gap.breaks[0]), *gap.breaks[1:])
    return Gap((*comments, *gap.comments), breaks)


_OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_ARGUMENTS = frozenset({"EXCEPT", "TOKEN_OPEN", "COUNT_OPEN"})
_POSTFIX = frozenset({"QUESTION", "STAR", "PLUS", "COUNT_OPEN", "_COMMA"})
_MARKS = frozenset({"REGEX", "EARLY", "COMPLEMENT", "SUBSTRINGS", "BYTES", "TOKEN"})
_CLOSE_TO_NEXT = _MARKS | _ARGUMENTS

_LINE_END = Break(When.ALWAYS)
_BLANK = Printed(" ")
_NOTHING = Printed("")


def lay_out(statement: FormattedStatement) -> list[Element]:
    """Return the stream for a definition, without the gap in front of it."""
    name, sign, *body, end = statement.words
    layout = _DefinitionLayout(_filled_bars(body))
    layout.begin(name, sign)
    for index, word in enumerate(body):
        layout.add(word, body[index + 1 : index + 2])
    layout.end(end)
    return layout.elements


def _filled_bars(body: list[FormattedWord]) -> set[int]:
    """Return the ids of each ``|`` of the groups that are lists of words.

    Ids, since words that nobody wrote are equal where their texts are.
    """
    groups: list[list[FormattedWord]] = [[]]
    inside = groups[:]
    for word in body:
        if word.type in _CLOSING:
            inside.pop()
            continue
        inside[-1].append(word)
        if word.type in _OPENING | _ARGUMENTS:
            inside.append([])
            groups.append(inside[-1])
    return {id(bar) for group in groups if _is_word_list(group) for bar in group[1::2]}


def _is_word_list(group: list[FormattedWord]) -> bool:
    texts, bars = group[::2], group[1::2]
    return (
        all(word.type == "STRING" for word in texts)
        and all(word.type == "_OR" for word in bars)
        and not any(word.gap.comments for word in group)
        and not all(
            bar.gap.has_break or text.gap.has_break
            for bar, text in zip(bars, texts[1:], strict=True)
        )
    )


class _DefinitionLayout:
    """The stream of one definition, while its words are read one by one.

    ``_before`` is the gap before the next symbol. ``_arguments`` is the type of the word whose
    arguments are being read: they are close together.
    """

    def __init__(self, filled: Set[int]) -> None:
        self._filled = filled
        self.elements: list[Element] = []
        self._before: Element | None = None
        self._arguments: str | None = None

    def begin(self, name: FormattedWord, sign: FormattedWord) -> None:
        """Read the left side."""
        self.elements.append(Printed(name.text))
        self._gap(sign.gap, _BLANK)
        self.elements += [
            Printed("::="),
            _BLANK,
            Open(is_choice=True, offset=-2),
            Open(is_choice=False),
        ]

    def end(self, end: FormattedWord) -> None:
        """Read the ``;``."""
        self.elements.append(Close())
        self._stick(end, _NOTHING)
        self.elements.append(Close())

    def add(self, word: FormattedWord, following: list[FormattedWord]) -> None:
        """Read a word of the right side; ``following`` is the next one, or empty."""
        if self._arguments is not None:
            self._argument(word)
        elif word.type == "_OR":
            self._bar(word, following)
        elif word.type in _OPENING:
            self._open(word)
        elif word.type in _CLOSING:
            self._close(word)
        elif word.type in _POSTFIX:
            self._stick(word, _NOTHING)
        else:
            self._symbol(word)

    def _symbol(self, word: FormattedWord) -> None:
        self._gap(word.gap, self._before)
        self.elements.append(Printed(word.text))
        self._before = _NOTHING if word.type in _CLOSE_TO_NEXT else Break(When.FULL)
        self._arguments = word.type if word.type in _ARGUMENTS else None

    def _argument(self, word: FormattedWord) -> None:
        self._gap(word.gap, self._before)
        self.elements.append(Printed(word.text))
        spaced = word.type == "_COMMA" and self._arguments == "EXCEPT"
        self._before = _BLANK if spaced else _NOTHING
        if word.type in _CLOSING:
            self._before, self._arguments = Break(When.FULL), None

    def _bar(self, word: FormattedWord, following: list[FormattedWord]) -> None:
        if id(word) in self._filled:
            before = Break(When.FULL)
        else:
            has_break = any(written.gap.has_break for written in (word, *following))
            before = _LINE_END if has_break else Break(When.BROKEN)
        self.elements.append(Close())
        self._stick(word, before)
        self.elements += [_BLANK, Open(is_choice=False)]
        self._before = None

    def _open(self, word: FormattedWord) -> None:
        self._gap(word.gap, self._before)
        pad = _BLANK if word.type == "LBRACE" else Pad()
        self.elements += [Open(is_choice=True), Printed(word.text), pad, Open(is_choice=False)]
        self._before = None

    def _close(self, word: FormattedWord) -> None:
        self.elements.append(Close())
        self._stick(word, Break(When.BROKEN, " " if word.type == "RBRACE" else ""))
        self.elements.append(Close())
        self._before = Break(When.FULL)

    def _stick(self, word: FormattedWord, before: Element) -> None:
        """Read a word that belongs to the one before it, as do the comments between them."""
        comments, (first, *later) = word.gap.comments, word.gap.breaks
        if comments:
            self.elements.append(_LINE_END if first and any(later) else _BLANK)
            self._comments(word.gap)
        self._put(_LINE_END if comments and word.gap.breaks[-1] else before)
        self.elements.append(Printed(word.text))
        if word.type == "COUNT_OPEN":
            self._before, self._arguments = _NOTHING, word.type

    def _gap(self, gap: Gap, before: Element | None) -> None:
        """Read the gap before a symbol: ``before`` unless there are comments."""
        first, *later = gap.breaks
        if not gap.comments:
            self._put(before)
            return
        if first and any(later):
            self.elements.append(_LINE_END)
        elif before is _NOTHING or (any(later) and before is not None):
            self.elements.append(_BLANK)
        else:
            self._put(before)
        self._comments(gap)
        self.elements.append(_LINE_END if gap.breaks[-1] else _BLANK)

    def _comments(self, gap: Gap) -> None:
        """Read comments, without the gaps before the first and after the last."""
        for index, comment in enumerate(gap.comments):
            if index:
                self.elements.append(_LINE_END if gap.breaks[index] else _BLANK)
            self.elements.append(Printed(comment))

    def _put(self, element: Element | None) -> None:
        if element is not None and element is not _NOTHING:
            self.elements.append(element)


WIDTH = 100
"""Columns that a line should keep to."""


@dataclass(frozen=True, slots=True)
class Formatted:
    """The text, or None and the syntax errors that are in the way."""

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
    # Each round keeps more definitions as they are, so this ends.
    while True:
        text = _write(source, contents, width, kept)
        moved = moved_statements(contents, source, ignores, text) - kept if ignores else set()
        if not moved:
            return Formatted(text)
        kept |= moved


def _write(source: Source, contents: FormattedText, width: int, kept: Set[int]) -> str:
    """Return the text in which the statements with the numbers ``kept`` stay as they are."""
    as_they_are = {number: _as_it_is(source, contents.statements[number]) for number in kept}
    return print_contents(contents, width, _newline(source), as_they_are)


def print_contents(
    contents: FormattedText,
    width: int = WIDTH,
    newline: str = "\n",
    as_they_are: Mapping[int, str] = MappingProxyType({}),
) -> str:
    """Return a text in the canonical layout; ``as_they_are`` has statements that keep theirs."""
    written = _OutputLines(newline)
    for number, statement in enumerate(contents.statements):
        together = {number - 1, number} <= as_they_are.keys()
        written.gap(statement.words[0].gap, together)
        text = as_they_are.get(number, statement.line)
        written.add(text or print_elements(lay_out(statement), written.column, width, newline))
    written.end(contents.last)
    return written.text()


def _newline(source: Source) -> str:
    """Return the line end that the whole text uses; where it uses both, the shorter one."""
    every, long = source.text.count("\n"), source.text.count("\r\n")
    return "\r\n" if long and long == every else "\n"


def _as_it_is(source: Source, statement: FormattedStatement) -> str:
    *_, last, end = statement.words
    behind = source.text[last.span.end : end.span.start]
    if "(*" in behind and not end.gap.comments:
        behind = ""  # The comment in it has moved to after the `;`.
    return source.slice(statement.words[0].span.cover(last.span)) + behind + end.text


class _OutputLines:
    """The text while it is written."""

    def __init__(self, newline: str) -> None:
        self._newline = newline
        self._written: list[str] = []
        self.column = 0

    def text(self) -> str:
        """Return everything."""
        return "".join(self._written)

    def add(self, text: str) -> None:
        """Write a text of part of a line, or of several."""
        self._written.append(text)
        line_start = text.rfind("\n") + 1
        self.column = len(text) - line_start + (0 if line_start else self.column)

    def gap(self, gap: Gap, together: bool) -> None:
        """Write the gap between two definitions, ``together`` on one line if they were."""
        ends_line = self._written and any(gap.breaks)
        self._separate(gap.breaks[0], 0 if together or (gap.comments and ends_line) else 1)
        for comment, breaks in zip(gap.comments, gap.breaks[1:], strict=True):
            self.add(comment)
            self._separate(breaks, 0)

    def end(self, gap: Gap) -> None:
        """Write the gap after the last definition, and the end of the last line."""
        *breaks, _ = gap.breaks
        self.gap(Gap(gap.comments, (*breaks, 1)), together=False)

    def _separate(self, breaks: int, at_least: int) -> None:
        """Write up to two line ends, or a blank; nothing at the start of the text."""
        if self._written:
            self.add(self._newline * min(2, max(breaks, at_least)) or " ")


_WordLine = tuple[int, int, int]
"""A line of a word: number of the statement, number of the word in it, number of the line."""

_END = -1
"""The number of a ``;``."""


def moved_statements(
    before: FormattedText, source: Source, ignores: Sequence[Ignore], text: str
) -> frozenset[int]:
    """Return the numbers of the statements that silenced lines share otherwise in ``text``.

    ``before`` and ``ignores`` are those of ``source``; ``text`` has the same words and comments.
    """
    after, words = Source(text), KeptWords(text)
    words.read_on()
    lines = _lines(before, source)
    new_lines = _lines(contents_of(after, words), after)
    # Pragmas are in the comments; the definitions do not matter here.
    new_ignores = read_pragmas(Document(after, (), tuple(words.comments)))[0].ignores
    moved: set[int] = set()
    for old, new in zip(ignores, new_ignores, strict=True):
        was, is_ = lines[old.line], new_lines[new.line]
        if _without_ends(was) != _without_ends(is_):
            moved |= {statement for statement, _, _ in was | is_}
    return frozenset(moved)


def _without_ends(fragments: set[_WordLine]) -> set[_WordLine]:
    """Return the parts that a finding can begin at, which excludes ``;``."""
    return {fragment for fragment in fragments if fragment[1] != _END}


def _lines(contents: FormattedText, source: Source) -> dict[int, set[_WordLine]]:
    """Return which parts of words are on each 1-based line."""
    lines: dict[int, set[_WordLine]] = defaultdict(set)
    first, counted = 1, 0
    for number, statement in enumerate(contents.statements):
        for index, word in enumerate(statement.words):
            first += source.text.count("\n", counted, word.span.start)
            counted = word.span.start
            word_index = _END if word.type == "END" else index
            for line_number in range(word.text.count("\n") + 1):
                lines[first + line_number].add((number, word_index, line_number))
    return lines
