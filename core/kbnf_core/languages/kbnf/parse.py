"""Parses KBNF: text in, syntax tree and findings out. Never raises, whatever the text.

Each statement is parsed for itself, so that every mistake of a file is found and none is found
twice. Time is linear in the length of the text. What explains mistakes is imported for the first.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from lark import Lark, Token

from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.languages.kbnf.lexer import DEFINITION_LINE, Words, kbnf_parser
from kbnf_core.languages.kbnf.validate import NUMBERED, check_definition, check_words
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.mistake import Mistake, span_of
from kbnf_core.syntax.parsed import Parsed
from kbnf_core.syntax.statements import (
    NAMES,
    SIGNS,
    Metasyntax,
    Statement,
    parse_statements,
    parse_words,
    too_deep,
)
from kbnf_core.syntax.tree import Definition, Document

if TYPE_CHECKING:
    from kbnf_core.languages.kbnf.explain_foreign import Foreign

MOST_FORMS = 20
"""Mistakes of one definition behind which reading goes on; each takes reading it again."""


def parse_kbnf(
    source: Source, limits: Limits = DEFAULT_LIMITS, words: Words | None = None
) -> Parsed:
    """Parse ``source``, by ``words`` where the caller wants to know them.

    Definitions with mistakes are left out of the document, their names are kept in its
    ``broken_names``. A definition that lacks nothing but its ``;`` (E002, W001) is kept.
    """
    words = words or Words(source.text)
    metasyntax = _Kbnf(source, limits, words)
    read = parse_statements(words.statements(), metasyntax)
    findings = [*read.findings, *metasyntax.unended]
    if words.foreign_comments:
        from kbnf_core.languages.kbnf.explain_foreign import line_comment

        findings += [line_comment(source, span) for span in words.foreign_comments]
    if not (read.trees or findings):
        from kbnf_core.languages.kbnf import explain_statements as about

        findings.append(about.no_rules(source))
    if any(finding.severity is Severity.ERROR for finding in findings):
        from kbnf_core.languages.kbnf.detect import other_language

        foreign = other_language(source)
        if foreign is not None:
            return Parsed(Document(source, (), ()), (foreign,))
    comments = tuple(words.comments)
    document = Document(source, tuple(read.trees), comments, frozenset(read.broken))
    return Parsed(document, tuple(sorted(findings, key=Diagnostic.sort_key)))


class _Kbnf(Metasyntax[Definition]):
    """The statements of a text; ``unended`` are the findings about missing ``;``."""

    def __init__(self, source: Source, limits: Limits, words: Words) -> None:
        super().__init__(source, limits)
        self.unended: list[Diagnostic] = []
        self._words = words
        self._lost = False
        self._angled: list[Diagnostic] = []

    def parser(self) -> Lark:
        return kbnf_parser()

    def intended(self, words: list[Token]) -> list[Token]:
        """Return ``words`` with the slips put right that `check_words` and `_check_end` report."""
        intended = [
            Token.new_borrow_pos("NAME", word.value, word) if word.type == "BAD_NAME" else word
            for word in words
        ]
        if words[1].type != "DEFINE":
            intended[1] = Token.new_borrow_pos("DEFINE", words[1].value, words[1])
        if words[-1].type != "END":
            end = span_of(words[-1]).end
            intended.append(Token("END", "", start_pos=end, end_pos=end))
        return intended

    def refuse(self, statement: Statement) -> Iterable[Diagnostic] | None:
        self._angled = []
        if "JUNK" in statement.kinds:
            from kbnf_core.languages.kbnf.explain_foreign import angled_names

            statement.words, self._angled = angled_names(self.source, statement.words)
        if statement.is_definition:
            return None
        if self._lost:  # It is what remains of a statement that went wrong.
            return ()
        from kbnf_core.languages.kbnf import explain_statements as about

        self._lost = True
        return (about.no_definition(self.source, statement),)

    def validate(self, statement: Statement, tree: Definition) -> Iterator[Diagnostic]:
        return self._checked(statement, tree, self._angled)

    def _checked(
        self, statement: Statement, tree: Definition, foreign: list[Diagnostic]
    ) -> Iterator[Diagnostic]:
        """Yield ``foreign``, and what else is wrong with a statement of which there is a tree."""
        self._lost = False
        self._check_end(statement)
        yield from foreign
        yield from _not_within(check_words(self.source, statement), foreign)
        if not statement.kinds.isdisjoint(NUMBERED):
            yield from check_definition(self.source, tree, self.limits)

    def explain(self, statement: Statement, mistake: Mistake) -> Iterator[Diagnostic]:
        from kbnf_core.languages.kbnf import explain_statements as about
        from kbnf_core.languages.kbnf.explain import explain
        from kbnf_core.languages.kbnf.explain_foreign import foreign_form

        foreign = self._angled.copy()
        while (runaway := self._runaway_string(mistake)) is None:
            form = foreign_form(mistake) if len(foreign) < MOST_FORMS else None
            if form is None:
                break
            foreign.append(form.finding)
            parsed = parse_words(_without(mistake.words, form), self)
            if not isinstance(parsed, Mistake):
                yield from self._checked(statement, parsed, foreign)
                return
            mistake = parsed
        self._lost = True
        yield from foreign
        if runaway is not None:
            yield about.open_string(self.source, runaway)
            return
        for slip in _not_within(check_words(self.source, statement), foreign):
            if slip.span.start < mistake.span.start:
                yield slip
        yield too_deep(mistake, self.limits) or explain(mistake)

    def names(self, statement: Statement) -> Iterator[str]:
        words = statement.words
        for name, sign in pairwise(words):
            if name.type in NAMES and sign.type in SIGNS:
                yield name.value.replace("-", "_")  # As `check_words` would have it written.
        if words[-1].type == "OPEN_COMMENT":
            for line in DEFINITION_LINE.finditer(words[-1].value):
                yield line["name"]

    def _check_end(self, statement: Statement) -> None:
        last = statement.words[-1]
        if last.type == "END":
            return
        from kbnf_core.languages.kbnf import explain_statements as about

        if statement.following is None:
            finding = about.missing_last_semicolon(self.source, last)
        else:
            finding = about.missing_semicolon(self.source, last, statement.following.value)
        self.unended.append(finding)

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
            if self._words.go_back(span_of(word).start + line.start()):
                return word
        return unclosed


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
