"""Parses Lark and LLGuidance-Lark: text in, tree and findings out. Never raises.

Each statement is parsed for itself, so that every mistake of a file is found.
"""

from dataclasses import dataclass
from functools import cache
from typing import cast

from lark import Lark, Token
from lark.exceptions import UnexpectedToken

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.lark.reader.build import Builder
from kbnf_core.languages.lark.reader.tree import Document, Statement
from kbnf_core.languages.lark.reader.words import span_of, statements
from kbnf_core.languages.load_tables import load_parser
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read, and the findings in order of place."""

    document: Document
    diagnostics: tuple[Diagnostic, ...]


@cache
def lark_dialect_parser() -> Lark:
    """Return the parser of one statement."""
    return load_parser("lark/reader", Builder())


def parse_lark(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``; statements with mistakes are left out of the document."""
    read: list[Statement] = []
    findings: list[Diagnostic] = []
    broken: set[str] = set()
    for words in statements(source.text):
        result = _parse(words, source, limits)
        if isinstance(result, Diagnostic):
            findings.append(result)
            broken.update(word.value for word in words[:3] if word.type == "NAME")
        else:
            read.append(result)
    return Parsed(Document(source, tuple(read), frozenset(broken)), tuple(findings))


def _parse(words: list[Token], source: Source, limits: Limits) -> Statement | Diagnostic:
    parser = lark_dialect_parser().parse_interactive(start="definition")
    depth = 0
    for word in words:
        depth += {"LPAR": 1, "LSQB": 1, "RPAR": -1, "RSQB": -1}.get(word.type, 0)
        if depth > limits.nesting_depth:
            return _finding("E012", "brackets are nested too deeply here", source, word)
        try:
            parser.feed_token(word)
        except UnexpectedToken as error:
            return _unexpected(source, word, error)
    end = span_of(words[-1]).end
    try:
        statement = parser.feed_token(Token("$END", "", start_pos=end, end_pos=end))
    except UnexpectedToken as error:
        return _unexpected(source, Token("$END", "", start_pos=end, end_pos=end), error)
    return cast(Statement, statement)


def _unexpected(source: Source, word: Token, error: UnexpectedToken) -> Diagnostic:
    expected = sorted(_SHOWN[name] for name in error.expected if name in _SHOWN)
    found = f"`{word.value}`" if word.value else "the end of the line"
    helps = (f"expected {', '.join(expected)}",) if expected else ()
    message = f"{found} cannot stand here in a Lark grammar"
    if word.type == "DEFINE":
        message = "`::=` does not define Lark rules; this is `:`, or the file is GBNF"
        helps = ("convert GBNF with `kbnf convert-gbnf`",)
    elif word.type == "JUNK" and word.value == '"':
        return Diagnostic("E004", "this string has no closing quote", source, span_of(word))
    return _finding("E001", message, source, word, helps)


def _finding(
    code: str, message: str, source: Source, word: Token, helps: tuple[str, ...] = ()
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
