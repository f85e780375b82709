"""Pages of the manual as text: the part of roff's ``man`` macros that ``man/`` uses.

One source for ``man kbnf.5`` and ``kbnf help language``, which needs neither ``man`` nor a
checkout.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kbnf_core.diagnostics.segments import NEWLINE, Role, Segment, Segments

_FONTS = {"B": Role.TITLE, "I": Role.SECONDARY, "R": Role.PLAIN, "P": Role.PLAIN}
_SIGNS = {"aq": "'", "dq": '"', "ha": "^", "ti": "~"}
_ESCAPE = re.compile(
    r"\\(?:f(?P<font>[BIRP])|\((?P<sign>..)|\[u(?P<code>[0-9A-F]{4,6})\]|(?P<char>.))"
)
_ARGUMENT = re.compile(r'"((?:[^"\\]|\\.)*)"|((?:\\.|\S)+)')
_FIXED_BLANK = "\xa0"
_TEXT, _BODY = 4, 8
"""Columns at which text begins, and what stands below a tag."""

Word = tuple[Segment, ...]
"""What is never broken."""


def page_title(roff: str) -> str:
    """Return what the NAME of a page says that it is about."""
    line = roff.partition(".SH NAME\n")[2].partition("\n")[0]
    return "".join(part.text for part in _inline(line.partition(r" \- ")[2]))


def render_page(roff: str, width: int) -> Segments:
    """Return a page as text, its paragraphs at most ``width`` columns wide."""
    page = _Page(width)
    lines = iter(roff.splitlines())
    for line in lines:
        page.add(line, lines)
    page.end_paragraph()
    return page.out


@dataclass
class _Page:
    """The text so far, and the paragraph that is being collected."""

    width: int
    out: Segments = field(default_factory=list)
    _words: list[Word] = field(default_factory=list)
    _indent: int = _TEXT

    def add(self, line: str, rest: Iterator[str]) -> None:
        """Take a line of the page, and those that belong to it."""
        name, arguments = _macro(line)
        match name:
            case "TH":
                pass
            case "SH":
                self._begin(_TEXT)
                self.out += [*_gap(self.out), Segment(" ".join(arguments), Role.TITLE), NEWLINE]
            case "PP":
                self._begin(_TEXT)
                self._empty_line()
            case "TP":
                self._begin(_TEXT)
                self._empty_line()
                self._words += _words(_styled(next(rest, "")))
                self._begin(_BODY)
            case "EX":
                self._verbatim(rest)
            case _:
                self._words += _words(_styled(line))

    def end_paragraph(self) -> None:
        """Lay out what was collected."""
        column = 0
        for word in self._words:
            length = sum(len(part.text) for part in word)
            if column and column + 1 + length > self.width:
                self.out.append(NEWLINE)
                column = 0
            lead = " " if column else " " * self._indent
            self.out += [Segment(lead), *word]
            column += len(lead) + length
        if self._words:
            self.out.append(NEWLINE)
        self._words = []

    def _begin(self, indent: int) -> None:
        self.end_paragraph()
        self._indent = indent

    def _empty_line(self) -> None:
        # Not behind a heading, which stands close to what it heads.
        if len(self.out) > 1 and self.out[-2].role is not Role.TITLE:
            self.out += _gap(self.out)

    def _verbatim(self, rest: Iterator[str]) -> None:
        self.end_paragraph()
        self._empty_line()
        for line in rest:
            if line == ".EE":
                return
            text = "".join(part.text for part in _inline(line))
            self.out.append(Segment(f"{' ' * _BODY}{text}\n" if text else "\n"))


def _gap(out: Segments) -> Segments:
    return [NEWLINE] if out and not _ends_empty(out) else []


def _ends_empty(out: Segments) -> bool:
    return len(out) > 1 and out[-1] == NEWLINE and out[-2].text.endswith("\n")


def _macro(line: str) -> tuple[str, list[str]]:
    """Return the name of a macro, empty for text, and its arguments."""
    if not line.startswith("."):
        return "", []
    name, _, rest = line[1:].partition(" ")
    return name, [quoted or bare for quoted, bare in _ARGUMENT.findall(rest)]


def _styled(line: str) -> Segments:
    """Return a line of text, or a macro that sets fonts, as pieces."""
    name, arguments = _macro(line)
    if not name:
        return _inline(line)
    if len(name) == 1:
        return _inline(" ".join(arguments), _FONTS[name])
    fonts = [_FONTS[each] for each in name]
    pieces = (_inline(text, fonts[i % 2]) for i, text in enumerate(arguments))
    return [part for piece in pieces for part in piece]


def _inline(text: str, role: Role = Role.PLAIN) -> Segments:
    """Return a text with its escapes resolved."""
    out: Segments = []
    end = 0
    for found in _ESCAPE.finditer(text):
        out.append(Segment(text[end : found.start()], role))
        end = found.end()
        if found["font"]:
            role = _FONTS[found["font"]]
        else:
            out.append(Segment(_character(found), role))
    out.append(Segment(text[end:], role))
    return [part for part in out if part.text]


def _character(found: re.Match[str]) -> str:
    if found["sign"]:
        return _SIGNS[found["sign"]]
    if found["code"]:
        return chr(int(found["code"], 16))
    return {"e": "\\", "&": "", " ": _FIXED_BLANK}.get(found["char"], found["char"])


def _words(pieces: Segments) -> Iterator[Word]:
    """Split pieces at their blanks."""
    word: list[Segment] = []
    for text, role in pieces:
        first, *others = (each.replace(_FIXED_BLANK, " ") for each in text.split(" "))
        if first:
            word.append(Segment(first, role))
        for other in others:
            if word:
                yield tuple(word)
            word = [Segment(other, role)] if other else []
    if word:
        yield tuple(word)
