"""Parses Lark and LLGuidance-Lark: text in, tree and findings out. Never raises.

Each statement is parsed for itself, so that every mistake of a file is found.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lark import Lark, Token

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.lark.reader import tree
from kbnf_core.languages.lark.reader.build import Builder
from kbnf_core.languages.lark.reader.words import statements
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.mistake import Mistake, span_of
from kbnf_core.syntax.parser import load_parser
from kbnf_core.syntax.statements import Metasyntax, Statement, parse_statements, too_deep


@dataclass(frozen=True, slots=True)
class Parsed:
    """The tree, and the findings in order of position."""

    document: tree.Document
    diagnostics: tuple[Diagnostic, ...]


@cache
def lark_dialect_parser() -> Lark:
    """Return the parser of one statement."""
    return load_parser(Path(__file__).parent, Builder())


def parse_lark(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``; statements with mistakes are left out of the document."""
    split = (Statement(words) for words in statements(source.text))
    read = parse_statements(split, _Lark(source, limits))
    document = tree.Document(source, tuple(read.trees), frozenset(read.broken))
    return Parsed(document, tuple(read.findings))


class _Lark(Metasyntax[tree.Statement]):
    """The statements of a text."""

    def parser(self) -> Lark:
        return lark_dialect_parser()

    def explain(self, statement: Statement, mistake: Mistake) -> Iterable[Diagnostic]:
        del statement
        return (too_deep(mistake, self.limits) or _unexpected(self.source, mistake),)

    def names(self, statement: Statement) -> Iterable[str]:
        return (word.value for word in statement.words[:3] if word.type == "NAME")


def _unexpected(source: Source, mistake: Mistake) -> Diagnostic:
    word = mistake.word or Token("$END", "", start_pos=mistake.span.start, end_pos=mistake.span.end)
    expected = sorted(_SHOWN[name] for name in mistake.expected if name in _SHOWN)
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
