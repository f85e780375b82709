"""Answers about names: definitions, references, renaming, symbols, completion.

They are given from the newest analysis, carried over to the text as it is now.

Positions: between indices into a text and an editor's lines and units, and between versions.

The protocol counts columns in UTF-16 units unless the client asks for others; everything else here
counts code points.

Tests: tests/lsp
"""

import re
from collections.abc import Callable, Iterable, Iterator

from lsprotocol import types
from lsprotocol.types import Position, PositionEncodingKind, Range

from kbnf_cli.lsp.analysis import TextAnalysis
from kbnf_cli.lsp.workshop import OpenText
from kbnf_core.kbnf.outline import Symbol
from kbnf_core.languages import KBNF, language_of
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source, Span


def _utf8(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_UNITS: dict[str, Callable[[str], int]] = {
    PositionEncodingKind.Utf8.value: _utf8,
    PositionEncodingKind.Utf16.value: _utf16,
    PositionEncodingKind.Utf32.value: len,
}


class ClientPlaces:
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

    The edits since are treated as one change: between the longest common start and the longest
    common end. Places before it stay, those after it move, those in it are lost.
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


_FORMS = {
    "except!('')": "any text in which this one does not occur",
    '#""': "a regular expression",
    '#r""': "a regular expression without escapes of its own",
    '#e""': "a regular expression that ends as early as it can",
    '#ex""': "any text that a regular expression does not match",
    '#substrs""': "any substring of a text",
    '#b""': "bytes",
    '#token""': "a special token",
    "(* kbnf: finish=eos *)": "the model ends the text",
    "(* kbnf: start=start *)": "the nonterminal to start with",
    '(* kbnf: accept "" *)': "an example that is in the language",
    '(* kbnf: reject "" *)': "an example that is not in the language",
}
"""Forms of KBNF that are written with signs, for completion."""

_NAME = re.compile(r"[^\W\d][\w-]*")
_LONGEST_NAME = 1_000
"""Characters of a name that something is renamed to."""
_SHOWN = 60
"""Characters of a name that a message repeats."""


class OpenView:
    """An open text as it is now, with the latest findings in it, in a client's units."""

    def __init__(self, entry: OpenText, analysis: TextAnalysis, encoding: str) -> None:
        self.entry = entry
        self.analysis = analysis
        self.source = (
            analysis.source if entry.is_current else Source(entry.wanted.text, entry.wanted.path)
        )
        self.positions = ClientPlaces(self.source, encoding)

    @cached_property
    def shift(self) -> Shift:
        """The way from the text that was looked at to the one that is there now."""
        return Shift(self.analysis.source.text, self.source.text)

    def range(self, span: Span) -> types.Range | None:
        """Return the range of a span of the analysis, None where it has changed since."""
        now = self.shift.to_later(span)
        return None if now is None else self.positions.range(now)

    def ranges(self, spans: Iterable[Span]) -> Iterator[types.Range]:
        """Yield the ranges of those spans that have not changed since."""
        for span in spans:
            range_ = self.range(span)
            if range_ is not None:
                yield range_

    def index(self, position: types.Position) -> int | None:
        """Return the index into the text that was looked at, None where it has changed since."""
        return self.shift.to_earlier(self.positions.index(position))

    def name_at(self, position: types.Position) -> tuple[str, Span] | None:
        """Return the name of a nonterminal at a position, and where it is there."""
        index = self.index(position)
        outline = self.analysis.outline
        if index is None:
            return None
        named = [
            *((definition.name, definition.span) for definition in outline.definitions),
            *((use.name, use.span) for use in outline.uses),
        ]
        return next((entry for entry in named if entry[1].start <= index <= entry[1].end), None)

    def definitions(self, name: str) -> tuple[Symbol, ...]:
        """Return the definitions of a name."""
        result = self.analysis.outline.definitions
        return tuple(symbol for symbol in result if symbol.name == name)


def definitions(view: OpenView, uri: str, position: types.Position) -> list[types.Location]:
    """Return where the name at a position is defined."""
    named = view.name_at(position)
    spans = [symbol.span for symbol in view.definitions(named[0])] if named else []
    return [types.Location(uri, range_) for range_ in view.ranges(spans)]


def references(
    view: OpenView, uri: str, position: types.Position, with_definitions: bool
) -> list[types.Location]:
    """Return where the name at a position is used."""
    named = view.name_at(position)
    if named is None:
        return []
    uses = [use.span for use in view.analysis.outline.uses if use.name == named[0]]
    spans = [symbol.span for symbol in view.definitions(named[0])] if with_definitions else []
    return [types.Location(uri, range_) for range_ in view.ranges(sorted([*spans, *uses]))]


def rename(
    view: OpenView, uri: str, position: types.Position, name: str
) -> types.WorkspaceEdit | str | None:
    """Return the edits that rename the symbol at a position, or the reason why there are none.

    None where there is nothing to rename. The view must be of the newest version.
    """
    named = view.name_at(position)
    if named is None:
        return None
    old, _ = named
    shown = name if len(name) <= _SHOWN else f"{name[:_SHOWN]}…"
    if len(name) > _LONGEST_NAME:
        return f"`{shown}` is too long: a name has at most {_LONGEST_NAME:,} characters here"
    if _NAME.fullmatch(name) is None:
        return f"`{shown}` is not a name"
    if view.definitions(name):
        return f"`{shown}` is defined already"
    edits = []
    for span in view.analysis.outline.spans_of(old):
        written = view.source.slice(span)
        edits.append(types.TextEdit(view.positions.range(span), written.replace(old, name)))
    return types.WorkspaceEdit({uri: edits})


def symbols(view: OpenView) -> list[types.DocumentSymbol]:
    """Return the definitions of a text in order."""
    result = []
    for symbol in view.analysis.outline.definitions:
        whole, name = view.range(symbol.whole), view.range(symbol.span)
        if whole is not None and name is not None:
            kind = types.SymbolKind.Function
            result.append(types.DocumentSymbol(symbol.name, kind, whole, name))
    return result


def completions(view: OpenView) -> list[types.CompletionItem]:
    """Return the names of a text, and the forms of its language."""
    names = dict.fromkeys(symbol.name for symbol in view.analysis.outline.definitions)
    begins = dict(view.analysis.begins)
    items = [
        types.CompletionItem(
            name, kind=types.CompletionItemKind.Function, detail=_beginning(begins.get(name))
        )
        for name in names
    ]
    if language_of(view.source.path) is KBNF:
        snippet = types.CompletionItemKind.Snippet
        items += [types.CompletionItem(form, kind=snippet, detail=_FORMS[form]) for form in _FORMS]
    return items


def _beginning(begins: str | None) -> str | None:
    return f"begins with {begins}" if begins else None
