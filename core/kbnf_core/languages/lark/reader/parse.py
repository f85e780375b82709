"""Parses Lark and LLGuidance-Lark: text in, tree and findings out. Never raises.

Each statement is parsed for itself, so that every mistake of a file is found.

A statement ends with its line, unless the next line that has text starts with ``|``. Objects
(``%json {...}``), nested grammars and conditions go on to their closing bracket. Every text
falls into words, so nothing here can fail: what is no word is ``JUNK``.
"""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kbnf_core.kbnf.statements import (
    Metasyntax,
    Mistake,
    Parser,
    Statement,
    Word,
    parse_statements,
    span_of,
    too_deep,
)
from kbnf_core.languages.lark.reader import tree
from kbnf_core.languages.lark.reader.build import Builder
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.json_text import end_of_json
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import Suggestions

_WORDS = re.compile(
    r"""
    (?P<COMMENT>(?://|\#)[^\n]*)
  | (?P<BLANK>(?:[ \t\f\r]|\\[ \t]*\r?\n)+)
  | (?P<LINE>\n)
  | (?P<REGEXP>/(?!/)(?:\\.|[^/\\\n])+/[imslux]*
      |/(?!/)(?:\\.|[^/\\])+?/(?=[imslux]*x)[imslux]*)
  | (?P<STRING>"(?:\\.|[^"\\\n])*"i?)
  | (?P<DIRECTIVE>%[a-z]+)
  | (?P<SPECIAL><[^<>\s]+>)
  | (?P<PARAMETER>::(?![=])[ \t]*)
  | (?P<DEFINE>::=)
  | (?P<COLON>:)
  | (?P<ARROW>->)
  | (?P<COUNT>\{[ \t]*(?:-?\d+[ \t]*(?:,[ \t]*(?:-?\d+)?)?|,[ \t]*-?\d+)[ \t]*\})
  | (?P<TIMES>~(?=[ \t]*-?\d))
  | (?P<TILDE>~)
  | (?P<GRAMMAR>@[A-Za-z0-9_-]+)
  | (?P<NUMBER>[+-]?\d+(?:\.\d+)?(?![A-Za-z_]))
  | (?P<NAME>[A-Za-z_](?:\w|-(?=\w))*)
  | (?P<DOTDOT>\.\.)
  | (?P<DOT>\.)
  | (?P<QUESTION>\?) | (?P<BANG>!) | (?P<STAR>\*) | (?P<PLUS>\+)
  | (?P<LPAR>\() | (?P<RPAR>\)) | (?P<LSQB>\[) | (?P<RSQB>\]) | (?P<LBRACE>\{) | (?P<RBRACE>\})
  | (?P<COMMA>,) | (?P<EQUALS>=) | (?P<VBAR>\|) | (?P<AMPERSAND>&)
  | (?P<JUNK>.)
    """,
    re.VERBOSE | re.DOTALL,
)

_STATEMENTS = {
    "%ignore": "IGNORE",
    "%import": "IMPORT",
    "%declare": "DECLARE",
    "%override": "OVERRIDE",
    "%extend": "EXTEND",
}
_OBJECTS = {"%json": "JSON", "%regex": "REGEX_OBJECT", "%llguidance": "OPTIONS"}

_DIRECTIVE = re.compile("%[a-z]*")
_DIRECTIVES = (*_STATEMENTS, *_OBJECTS, "%lark", "%if")

_STARTS = frozenset(_STATEMENTS.values()) | {"OPTIONS"}

_BLANKS = re.compile(r"\s*")
_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|0x[0-9A-Fa-f]+|\d+")
_CONDITION = re.compile(r"[ \t]*[A-Za-z_][A-Za-z0-9_]*[ \t]*")
_NESTED_PART = re.compile(
    r'"(?:\\.|[^"\\\n])*"|/(?!/)(?:\\.|[^/\\\n])+/|(?://|\#)[^\n]*|[{}]|\n|.', re.DOTALL
)


@dataclass(slots=True)
class _Reader:
    """Reads the words of ``text`` from ``place`` on."""

    text: str
    place: int = 0
    is_unclosed: bool = False

    def words(self) -> Iterator[Word]:
        while self.place < len(self.text):
            match = _WORDS.match(self.text, self.place)
            assert match is not None  # noqa: S101 - the last branch takes any character
            kind = match.lastgroup or "JUNK"
            start, end = match.span()
            if kind == "DIRECTIVE":
                kind, end = self._directive(match[0], end)
            elif kind == "PARAMETER":
                end = self._parameter(end)
            self.place = end
            if kind != "BLANK":
                yield Word(kind, self.text[start:end], start, end)

    def _directive(self, word: str, end: int) -> tuple[str, int]:
        if word in _OBJECTS:
            return self._object(_OBJECTS[word], end)
        if word == "%lark":
            return self._nested(end)
        if word == "%if":
            return self._condition(end)
        return (_STATEMENTS[word], end) if word in _STATEMENTS else ("JUNK", end)

    def _object(self, kind: str, end: int) -> tuple[str, int]:
        """Take the JSON value after the directive; braces without one are junk as a whole."""
        place = _skip_blanks(self.text, end)
        try:
            stop = end_of_json(self.text, place)
        except (json.JSONDecodeError, RecursionError):
            return "JUNK", self._end_of_braces(end) or end
        return kind, stop

    def _nested(self, end: int) -> tuple[str, int]:
        stop = self._end_of_braces(end)
        return ("JUNK", end) if stop is None else ("NESTED", stop)

    def _end_of_braces(self, end: int) -> int | None:
        place = _skip_blanks(self.text, end)
        if self.is_unclosed or not self.text.startswith("{", place):
            return None
        depth = 0
        for part in _NESTED_PART.finditer(self.text, place):
            depth += {"{": 1, "}": -1}.get(part[0], 0)
            if depth == 0:
                return part.end()
        # Looked for once: a text may open many and close none.
        self.is_unclosed = True
        return None

    def _condition(self, end: int) -> tuple[str, int]:
        match = _CONDITION.match(self.text, end)
        if match is None:
            return "JUNK", end
        return "CONDITION", self._arguments(match.end())

    def _parameter(self, end: int) -> int:
        match = _PARAMETER.match(self.text, end)
        return self._arguments(match.end()) if match else end

    def _arguments(self, end: int) -> int:
        """Return the end of the bracketed arguments that start at ``end``, if any do."""
        depth = 0
        for place in range(end, len(self.text)):
            char = self.text[place]
            depth += {"(": 1, ")": -1}.get(char, 0)
            if depth == 0:
                return place + 1 if char == ")" else end
        return end


def _skip_blanks(text: str, place: int) -> int:
    match = _BLANKS.match(text, place)
    return match.end() if match else place


def statements(text: str) -> Iterator[list[Word]]:
    """Yield the words of each statement."""
    words = [word for word in _words(text) if word.type != "COMMENT"]
    current: list[Word] = []
    for index, word in enumerate(words):
        if word.type != "LINE":
            current.append(word)
        elif current and not _goes_on(words, index):
            yield current
            current = []
    if current:
        yield current


def _words(text: str) -> Iterator[Word]:
    return _Reader(text, 1 if text.startswith("\ufeff") else 0).words()


def comments(text: str) -> Iterator[tuple[str, Span]]:
    """Yield the text of each comment, without its mark, and its span; also in nested grammars."""
    has_signs = "#" in text or "//" in text
    for word in _words(text) if has_signs else ():
        if word.type == "COMMENT":
            yield word.value.removeprefix("#").removeprefix("//"), span_of(word)
        elif word.type == "NESTED":
            for part in _NESTED_PART.finditer(word.value):
                if part[0].startswith(("#", "//")):
                    start, end = (span_of(word).start + each for each in part.span())
                    yield part[0].removeprefix("#").removeprefix("//"), Span(start, end)


def is_gbnf(text: str) -> bool:
    """Tell whether a text defines its rules, ``root`` among them, with ``::=`` alone."""
    if "::=" not in text:
        return False
    heads = [words[:2] for words in statements(text) if len(words) > 1]
    signs = {second.type for first, second in heads if first.type == "NAME"}
    return signs == {"DEFINE"} and any(first.value == "root" for first, _ in heads)


def _goes_on(words: list[Word], line: int) -> bool:
    """Tell whether the next line that has text starts with ``|``."""
    following = (words[index].type for index in range(line, len(words)))
    return next((kind for kind in following if kind != "LINE"), "") == "VBAR"


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, and the findings in order of position."""

    document: tree.Document
    diagnostics: tuple[Diagnostic, ...]


@cache
def lark_dialect_parser() -> Parser:
    """Return the parser of one statement."""
    return Parser(Path(__file__).parent, Builder())


def parse_lark(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``; statements with mistakes are left out of the document."""
    split = (Statement(words) for words in statements(source.text))
    read = parse_statements(split, _Lark(source, limits))
    document = tree.Document(source, tuple(read.trees), frozenset(read.broken))
    return Parsed(document, tuple(read.findings))


class _Lark(Metasyntax[tree.Statement]):
    """The statements of a text."""

    def parser(self) -> Parser:
        return lark_dialect_parser()

    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        del statement
        return (too_deep(mistake, self.limits) or _unexpected(self.source, mistake),)

    def names(self, statement: Statement) -> Iterable[str]:
        return (word.value for word in statement.words[:3] if word.type == "NAME")


def _unexpected(source: Source, mistake: Mistake) -> Diagnostic:
    word = mistake.word or Word("$END", "", mistake.span.start, mistake.span.end)
    expected = sorted(_SHOWN[name] for name in mistake.expected if name in _SHOWN)
    found = f"`{word.value}`" if word.value else "the end of the line"
    helps = (f"expected {', '.join(expected)}",) if expected else ()
    message = f"{found} is not allowed here in a Lark grammar"
    if word.type == "DEFINE":
        message = "`::=` does not define Lark rules; this is `:`, or the file is GBNF"
        helps = ("convert GBNF with `kbnf convert --from gbnf FILE`",)
    elif word.type == "JUNK" and word.value == '"':
        return Diagnostic("E004", "this string has no closing quote", source, span_of(word))
    elif word.type == "JUNK" and word.value.startswith("%"):
        directive = _DIRECTIVE.findall(word.value)[0]
        if directive in _OBJECTS:
            return _no_json(source, word, directive)
        close = Suggestions(_DIRECTIVES).closest(directive)
        helps = (f"did you mean `{close}`?",) if close else helps
    return _finding("E001", message, source, word, helps)


def _no_json(source: Source, word: Word, directive: str) -> Diagnostic:
    """Return the finding for a directive with something else than JSON after it."""
    place = _skip_blanks(source.text, span_of(word).start + len(directive))
    helps: tuple[str, ...] = ()
    try:
        end_of_json(source.text, place)
        why = "it is not complete"
    except json.JSONDecodeError as error:
        place, why = error.pos, error.msg.removesuffix(" at")
        if source.text.startswith(("#", "/"), place):
            helps = ("JSON has no comments",)
    except RecursionError:
        why = "it is nested too deeply"
    span = Span(min(place, len(source.text)), min(place + 1, len(source.text)))
    message = f"the JSON of `{directive}` cannot be read: {why}"
    return Diagnostic("E001", message, source, span, helps=helps)


def _finding(
    code: str, message: str, source: Source, word: Word, helps: tuple[str, ...] = ()
) -> Diagnostic:
    span = span_of(word)
    shown = span if span.end > span.start else Span(max(span.start - 1, 0), span.end)
    return Diagnostic(code, message, source, shown, helps=helps)


_SHOWN = {
    "COLON": "`:`",
    "LPAR": "`(`",
    "RPAR": "`)`",
    "RSQB": "`]`",
    "RBRACE": "`}`",
    "VBAR": "`|`",
    "NAME": "a name",
    "STRING": "a string",
    "REGEXP": "a regular expression",
    "NUMBER": "a number",
}
