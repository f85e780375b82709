"""Parses GBNF: text in, a syntax tree of KBNF and findings out. Never raises.

The tree has the names and spans of the GBNF text, and the meaning that llama.cpp gives it: of
several definitions of a name the last one holds. Time is linear in the length of the text.
"""

from itertools import pairwise
from typing import cast

from lark import Token
from lark.exceptions import UnexpectedToken

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.languages.gbnf import explain as about
from kbnf_core.languages.gbnf.left_recursion import check_left_recursion
from kbnf_core.languages.gbnf.lexer import Statement, gbnf_parser, split
from kbnf_core.languages.gbnf.names import check_redefinitions, undefined, undefined_finding
from kbnf_core.languages.gbnf.tokens import define_excluded
from kbnf_core.languages.gbnf.validate import check_definition, check_words
from kbnf_core.languages.kbnf.parse import Parsed
from kbnf_core.languages.kbnf.syntax_error import Mistake
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source
from kbnf_core.syntax.suggest import Suggestions
from kbnf_core.syntax.tree import Definition, Document


def parse_gbnf(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``.

    Rules with mistakes are left out of the document, and their names are kept in its
    ``broken_names``, as are names that are used and not defined at all.
    """
    reader = _Reader(source, limits)
    found = split(source.text)
    for statement in found.statements:
        reader.read(statement)
    reader.check_last_lines(found.statements)
    document = reader.document()
    comments = tuple(found.comments)
    document = Document(source, document.definitions, comments, document.broken_names)
    return Parsed(document, tuple(sorted(reader.findings, key=Diagnostic.sort_key)))


class _Reader:
    """Reads the statements of one source, and collects what they yield."""

    def __init__(self, source: Source, limits: Limits) -> None:
        self.findings: list[Diagnostic] = []
        self._source = source
        self._limits = limits
        self._definitions: list[Definition] = []
        self._broken: set[str] = set()

    def read(self, statement: Statement) -> None:
        """Read one rule."""
        if not statement.is_rule:
            self.findings.append(about.no_name(self._source, statement.words[0]))
            return
        name, sign = statement.words[:2]
        if sign.type == "WRONG_SIGN":
            self.findings.append(about.wrong_sign(self._source, sign))
            self._broken.add(name.value)
            return
        parsed = self._parse(statement.words)
        if isinstance(parsed, Diagnostic):
            self.findings.append(parsed)
            self._broken.add(name.value)
            return
        found = [
            *check_words(self._source, statement),
            *check_definition(self._source, parsed, self._limits),
        ]
        self.findings.extend(found)
        self._definitions.append(parsed)

    def check_last_lines(self, statements: list[Statement]) -> None:
        """Report rules that end in ``::=`` or ``|`` before another: there llama.cpp reads on."""
        for statement, _ in pairwise(statements):
            last = statement.words[-1]
            if statement.is_rule and last.type in ("DEFINE", "OR"):
                self.findings.append(about.reads_on(self._source, last))

    def document(self) -> Document:
        """Return the definitions that hold, after checking their names."""
        kept = {definition.name.value: definition for definition in self._definitions}
        defined = frozenset(kept) | self._broken
        missing = undefined(self._definitions, defined)
        suggestions = Suggestions(defined)
        self.findings.extend(check_redefinitions(self._source, self._definitions, kept))
        self.findings.extend(
            undefined_finding(self._source, name, suggestions) for name in missing.values()
        )
        if not (self._definitions or self.findings):
            self.findings.append(about.no_rules(self._source))
        definitions = tuple(d for d in self._definitions if kept[d.name.value] is d)
        self.findings.extend(check_left_recursion(self._source, definitions))
        excluded, losses = define_excluded(self._source, definitions)
        self.findings.extend(losses)
        broken = frozenset(self._broken | set(missing))
        return Document(self._source, (*definitions, *excluded), (), broken)

    def _parse(self, words: list[Token]) -> Definition | Diagnostic:
        parser = gbnf_parser().parse_interactive(start="definition")
        groups: list[int] = []
        for index, word in enumerate(words):
            if len(groups) > self._limits.nesting_depth:
                return about.too_deep(self._source, words[index - 1], self._limits.nesting_depth)
            try:
                parser.feed_token(word)
            except UnexpectedToken:
                return about.explain(Mistake(self._source, words, index, groups))
            if word.type == "LPAR":
                groups.append(index)
            elif word.type == "RPAR":
                groups.pop()
        try:
            return cast(Definition, parser.feed_token(Token("$END", "")))
        except UnexpectedToken:
            return about.explain(Mistake(self._source, words, len(words), groups))
