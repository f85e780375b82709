"""Parses the dialect of bnf_sampler: text in, a syntax tree of KBNF and findings out.

Never raises. Names keep what is between their brackets; ``any!`` and ``except!(..)``, which take a
token of the vocabulary, have the definitions of ``vocabulary``. The dialect writes lists as rules
that call themselves; they become loops.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from kbnf_core.kbnf.build import repeated, sequence
from kbnf_core.kbnf.parsed import Parsed
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.statements import (
    Lexer,
    Metasyntax,
    Mistake,
    Parser,
    Statement,
    Word,
    parse_statements,
    shown,
    span_of,
)
from kbnf_core.kbnf.tree import Definition, Document, Expression, Reference, Sequence, uses_in
from kbnf_core.languages.bnf.build import BnfBuilder, pieces
from kbnf_core.languages.bnf.vocabulary import (
    define_vocabulary,
    fill_vocabulary,
    is_vocabulary,
    without_asked,
)
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def with_loops(document: Document) -> Document:
    """Return a tree with ``n ::= x n | x`` as ``x+``, and ``n ::= x y n | x`` as a loop."""
    counts = Counter(each.name.value for each in document.definitions)
    return replace(
        document,
        definitions=tuple(
            _loop(each) if counts[each.name.value] == 1 else each for each in document.definitions
        ),
    )


def _loop(definition: Definition) -> Definition:
    name, span = definition.name.value, definition.body.span
    match sorted(definition.branches, key=lambda branch: not _calls(branch, name)):
        case [Sequence((*items, Reference(called))), other] if (
            called.value == name
            and not any(_calls(each, name) for each in (*items, other))
            and print_expression(other) == print_expression(items[0])
        ):
            body = (
                repeated(other, 1, None, span)
                if len(items) == 1
                else sequence(
                    repeated(sequence(*items, span=span), 0, None, span), other, span=span
                )
            )
            return replace(definition, body=body)
    return definition


def _calls(node: Expression, name: str) -> bool:
    return any(used.value == name for used in uses_in(node))


_OPEN = {"OPEN_STRING": "this text is never closed", "OPEN_NAME": "this name is never closed"}


@cache
def bnf_parser() -> Parser:
    """Return the parser of the dialect."""
    return Parser(Path(__file__).parent, BnfBuilder())


def parse_bnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, vocabulary: "Vocabulary | None" = None
) -> Parsed:
    """Parse ``source``; productions with mistakes are left out, as in ``parse_kbnf``.

    ``vocabulary`` has the tokens that ``<any!>`` and ``<except!(..)>`` take.
    """
    read = parse_statements(_split(source.text), _Bnf(source, limits))
    definitions = [each for each in read.trees if not is_vocabulary(each.name.value)]
    findings = read.findings
    if not (definitions or findings):
        findings.append(Diagnostic("E010", "this file defines no rule", source, Span(0, 0)))
    made, losses, wrong = define_vocabulary(source, definitions)
    findings.extend(wrong)
    generated: frozenset[Span] = frozenset()
    if vocabulary is not None and not findings:
        rough = Document(source, (*definitions, *made), ())
        made = fill_vocabulary(rough, made, vocabulary, limits)
        losses, generated = [], frozenset(each.span for each in made)
        definitions = without_asked(definitions)
    document = Document(
        source,
        (*definitions, *made),
        (),
        frozenset(read.broken),
        generated,
        frozenset(each.name.value for each in made),
    )
    found = tuple(sorted(findings, key=Diagnostic.sort_key))
    return Parsed(document, found, losses=tuple(losses))


class _Bnf(Metasyntax[Definition]):
    """The productions of a text."""

    def parser(self) -> Parser:
        return bnf_parser()

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        yield _unexpected(self.source, mistake)
        yield from _check_texts(self.source, statement.words)

    def validate(self, statement: Statement, tree: Definition) -> Iterable[Diagnostic]:
        del tree
        return _check_texts(self.source, statement.words)

    def names(self, statement: Statement) -> Iterator[str]:
        return (name[1:-1] for name in super().names(statement))


def _split(text: str) -> list[Statement]:
    """Return the productions; what is before the first is one of its own."""
    words = list(Lexer(bnf_parser(), text).words())
    productions: list[Statement] = []
    ended = True
    for index, word in enumerate(words):
        following = words[index + 1].type if index + 1 < len(words) else ""
        begins = word.type == "NAME" and following == "DEFINE"
        if begins or ended:
            productions.append(Statement())
        productions[-1].words.append(word)
        ended = word.type == "END"
    return productions


def _unexpected(source: Source, mistake: Mistake) -> Diagnostic:
    word = mistake.word
    if word is None:
        helps = ("an alternative contains at least one name or text",)
        message = "this production is not complete"
        return Diagnostic("E011", message, source, mistake.span, helps=helps)
    if word.type in _OPEN:
        start = span_of(word).start
        return Diagnostic("E004", _OPEN[word.type], source, Span(start, start + 1))
    message = f"{shown(word.value)} is not allowed here"
    helps = ("a production is written `<name>::='text'<name>|...`; there are no comments",)
    return Diagnostic("E001", message, source, span_of(word), helps=helps)


def _check_texts(source: Source, words: list[Word]) -> list[Diagnostic]:
    found = []
    for word in words:
        if word.type == "STRING" and "\\" in word.value:
            for piece in pieces(word.value[1:-1], span_of(word).start + 1):
                if piece.data is None:
                    message = f"{shown(source.slice(piece.span))} is not an escape"
                    helps = (r"there are \t \n \r \xHH \uHHHH, and \ before any ASCII character",)
                    found.append(Diagnostic("E007", message, source, piece.span, helps=helps))
    return found
