"""Parses the dialect of bnf_sampler: text in, a syntax tree of KBNF and findings out.

Never raises. Names keep what stands between their brackets; ``any!`` and ``except!(..)``, which
take a token of the vocabulary, have the definitions of ``bnf_vocabulary``.
"""

from functools import cache
from typing import cast

from lark import Lark, Token
from lark.exceptions import UnexpectedToken
from lark.lexer import LexerState

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.bnf.build import BnfBuilder
from kbnf_core.languages.bnf.escapes import pieces
from kbnf_core.languages.bnf.vocabulary import define_vocabulary, is_vocabulary
from kbnf_core.languages.kbnf.lexer import span_of
from kbnf_core.languages.kbnf.parse import Parsed
from kbnf_core.languages.kbnf.syntax_error import shown
from kbnf_core.languages.load_tables import load_parser
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax.tree import Definition, Document

_OPEN = {"OPEN_STRING": "this text is never closed", "OPEN_NAME": "this name is never closed"}


@cache
def bnf_parser() -> Lark:
    """Return the parser of the dialect."""
    return load_parser("bnf", BnfBuilder())


def parse_bnf(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``; productions with mistakes are left out, as in ``parse_kbnf``.

    No limit applies: nothing in the dialect nests.
    """
    del limits
    definitions: list[Definition] = []
    findings: list[Diagnostic] = []
    broken: set[str] = set()
    for words in _split(source.text):
        parsed = _parse(source, words)
        if isinstance(parsed, Diagnostic):
            findings.append(parsed)
            broken.update(word.value[1:-1] for word in words[:1] if word.type == "NAME")
        elif not is_vocabulary(parsed.name.value):
            definitions.append(parsed)
        findings.extend(_check_texts(source, words))
    if not (definitions or findings):
        findings.append(Diagnostic("E010", "this file defines no rule", source, Span(0, 0)))
    made, losses = define_vocabulary(source, definitions)
    findings.extend(losses)
    document = Document(source, (*definitions, *made), (), frozenset(broken))
    return Parsed(document, tuple(sorted(findings, key=Diagnostic.sort_key)))


def _split(text: str) -> list[list[Token]]:
    """Return the words of each production; what stands before the first is one of its own."""
    thread = bnf_parser().parse_interactive(text, start="aside").lexer_thread
    words = list(thread.lexer.lex(cast(LexerState, thread.state), None))
    productions: list[list[Token]] = []
    ended = True
    for index, word in enumerate(words):
        following = words[index + 1].type if index + 1 < len(words) else ""
        begins = word.type == "NAME" and following == "DEFINE"
        if begins or ended:
            productions.append([])
        productions[-1].append(word)
        ended = word.type == "END"
    return productions


def _parse(source: Source, words: list[Token]) -> Definition | Diagnostic:
    parser = bnf_parser().parse_interactive(start="definition")
    for word in words:
        try:
            parser.feed_token(word)
        except UnexpectedToken:
            return _unexpected(source, word)
    try:
        return cast(Definition, parser.feed_token(Token("$END", "")))
    except UnexpectedToken:
        end = span_of(words[-1]).end
        helps = ("an alternative holds at least one name or text",)
        message = "this production is not complete"
        return Diagnostic("E011", message, source, Span(end, end), helps=helps)


def _unexpected(source: Source, word: Token) -> Diagnostic:
    if word.type in _OPEN:
        start = span_of(word).start
        return Diagnostic("E004", _OPEN[word.type], source, Span(start, start + 1))
    message = f"{shown(word.value)} cannot stand here"
    helps = ("a production is written `<name>::='text'<name>|...`; there are no comments",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps)


def _check_texts(source: Source, words: list[Token]) -> list[Diagnostic]:
    found = []
    for word in words:
        if word.type == "STRING" and "\\" in word.value:
            for piece in pieces(word.value[1:-1], span_of(word).start + 1):
                if piece.data is None:
                    message = f"{shown(source.slice(piece.span))} is not an escape"
                    helps = (r"there are \t \n \r \xHH \uHHHH, and \ before any ASCII character",)
                    found.append(Diagnostic("E007", message, source, piece.span, helps=helps))
    return found
