"""Parses KBNF: text in, syntax tree and findings out. Never raises, whatever the text.

Each statement is parsed for itself, so that every mistake of a file is found and none is found
twice. Time is linear in the length of the text. What explains mistakes is imported for the first.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, cast

from lark import Token
from lark.exceptions import UnexpectedToken

from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.languages.kbnf.lexer import DEFINITION_LINE, NAMES, SIGNS, Statement, Words, span_of
from kbnf_core.languages.kbnf.syntax_error import CLOSERS, CLOSING, Mistake
from kbnf_core.languages.kbnf.validate import check_definition, check_words
from kbnf_core.languages.load_tables import kbnf_parser
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.tree import Definition, Document

if TYPE_CHECKING:
    from kbnf_core.languages.kbnf.explain_foreign import Foreign


MOST_FORMS = 20
"""Mistakes of one definition behind which reading goes on; each takes reading it again."""


class Parsed(NamedTuple):
    """What was read, and the findings in order of place."""

    document: Document
    diagnostics: tuple[Diagnostic, ...]


def parse_kbnf(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``.

    Definitions with mistakes are left out of the document, their names are kept in its
    ``broken_names``. A definition that lacks nothing but its ``;`` (E002, W001) is kept.
    """
    reader = _Reader(source, limits)
    while (statement := reader.words.statement()).words:
        reader.read(statement)
    return reader.result()


class _Reader:
    """Reads the statements of one source, and collects what they yield."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.words = Words(source.text)
        self._source = source
        self._limits = limits
        self._definitions: list[Definition] = []
        self._findings: list[Diagnostic] = []
        self._broken: set[str] = set()
        self._lost = False

    def result(self) -> Parsed:
        """Return what has been read."""
        if not (self._definitions or self._findings):
            from kbnf_core.languages.kbnf import explain_statements as about

            self._findings.append(about.no_rules(self._source))
        if any(finding.severity is Severity.ERROR for finding in self._findings):
            from kbnf_core.languages.kbnf.detect import other_language

            foreign = other_language(self._source)
            if foreign is not None:
                return Parsed(Document(self._source, (), ()), (foreign,))
        document = Document(
            self._source,
            tuple(self._definitions),
            tuple(self.words.comments),
            frozenset(self._broken),
        )
        return Parsed(document, tuple(sorted(self._findings, key=Diagnostic.sort_key)))

    def read(self, statement: Statement) -> None:
        """Read one statement."""
        angled: list[Diagnostic] = []
        if any(word.value == "<" for word in statement.words):
            from kbnf_core.languages.kbnf.explain_foreign import angled_names

            statement.words, angled = angled_names(self._source, statement.words)
        if statement.is_definition:
            self._read_definition(statement, angled)
        elif not self._lost:
            from kbnf_core.languages.kbnf import explain_statements as about

            # Otherwise it is what remains of a statement that went wrong.
            self._give_up(statement, about.no_definition(self._source, statement))

    def _read_definition(self, statement: Statement, foreign: list[Diagnostic]) -> None:
        parsed = self._parse(_as_intended(statement.words))
        while isinstance(parsed, Mistake):
            from kbnf_core.languages.kbnf.explain_foreign import foreign_form

            form = foreign_form(parsed) if len(foreign) < MOST_FORMS else None
            if form is None or self._runaway_string(parsed) is not None:
                self._findings.extend(foreign)
                self._report_mistake(statement, parsed, foreign)
                return
            foreign.append(form.finding)
            parsed = self._parse(_without(parsed.words, form))
        self._lost = False
        findings = [
            *foreign,
            *_not_within(check_words(self._source, statement), foreign),
            *check_definition(self._source, parsed, self._limits),
        ]
        if findings:
            self._findings.extend(findings)
            self._broken.add(parsed.name.value)
        else:
            self._definitions.append(parsed)
        self._check_end(statement)

    def _check_end(self, statement: Statement) -> None:
        last = statement.words[-1]
        if last.type == "END":
            return
        from kbnf_core.languages.kbnf import explain_statements as about

        if statement.following is None:
            finding = about.missing_last_semicolon(self._source, last)
        else:
            finding = about.missing_semicolon(self._source, last, statement.following.value)
        self._findings.append(finding)

    def _parse(self, words: list[Token]) -> Definition | Mistake:
        parser = kbnf_parser().parse_interactive(start="definition")
        brackets: list[int] = []
        end = span_of(words[-1]).end
        ending = Token("END", "", start_pos=end, end_pos=end)
        given = words if words[-1].type == "END" else [*words, ending]
        for index, word in enumerate(given):
            if len(brackets) > self._limits.nesting_depth:
                return Mistake(self._source, words, index - 1, brackets)
            try:
                parser.feed_token(word)
            except UnexpectedToken:
                return Mistake(self._source, words, index, brackets)
            if word.type in CLOSERS:
                brackets.append(index)
            elif word.type in CLOSING:
                brackets.pop()
        return cast(Definition, parser.feed_token(Token("$END", "")))

    def _report_mistake(
        self, statement: Statement, mistake: Mistake, before: list[Diagnostic]
    ) -> None:
        from kbnf_core.languages.kbnf import explain_statements as about
        from kbnf_core.languages.kbnf.explain import explain

        runaway = self._runaway_string(mistake)
        if runaway is not None:
            self._give_up(statement, about.open_string(self._source, runaway))
            return
        if len(mistake.open_brackets) > self._limits.nesting_depth:
            limit = self._limits.nesting_depth
            finding = about.too_deep(self._source, mistake.words[mistake.index], limit)
        else:
            finding = explain(mistake)
        self._findings.extend(
            slip
            for slip in _not_within(check_words(self._source, statement), before)
            if slip.span.start < mistake.span.start
        )
        self._give_up(statement, finding)

    def _runaway_string(self, mistake: Mistake) -> Token | None:
        """Return the quoted text that lacks its closing quote, if that explains the mistake.

        Where a later quote closed it by accident, it has swallowed the start of a definition:
        reading goes on there.
        """
        unclosed = next((word for word in mistake.words if word.type == "OPEN_STRING"), None)
        for word in mistake.words[: mistake.index + 1]:
            line_break = word.value.find("\n") if word.type in ("STRING", "RAW") else -1
            if line_break < 0:
                continue
            line = DEFINITION_LINE.search(word.value, line_break + 1)
            if line is None or (line["sign"] != "::=" and unclosed is None):
                continue
            if self.words.go_back(span_of(word).start + line.start()):
                return word
        return unclosed

    def _give_up(self, statement: Statement, finding: Diagnostic) -> None:
        self._findings.append(finding)
        self._lost = True
        words = statement.words
        self._broken.update(_defined_by(words))
        if words[-1].type == "OPEN_COMMENT":
            lines = DEFINITION_LINE.finditer(words[-1].value)
            self._broken.update(line["name"] for line in lines)


def _defined_by(words: list[Token]) -> Iterator[str]:
    """Yield the names in front of a sign."""
    for name, sign in pairwise(words):
        if name.type in NAMES and sign.type in SIGNS:
            yield name.value


def _without(words: list[Token], form: "Foreign") -> list[Token]:
    """Return ``words`` with a name, or a bar, in the place of those of another language."""
    first = words[form.first]
    kind = "_OR" if first.value == "/" else "NAME"
    return [
        *words[: form.first],
        Token.new_borrow_pos(kind, first.value, first),
        *words[form.behind :],
    ]


def _not_within(findings: Iterable[Diagnostic], others: list[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings that are not about a part of what another one is about."""
    for finding in findings:
        if not any(o.span.start <= finding.span.start < o.span.end for o in others):
            yield finding


def _as_intended(words: list[Token]) -> list[Token]:
    """Return ``words`` with the slips put right that `check_words` reports."""
    intended = [
        Token.new_borrow_pos("NAME", word.value, word) if word.type == "BAD_NAME" else word
        for word in words
    ]
    intended[1] = Token.new_borrow_pos("DEFINE", words[1].value, words[1])
    return intended
