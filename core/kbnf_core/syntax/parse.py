"""Parses KBNF: text in, syntax tree and findings out. Never raises, whatever the text.

Each statement is parsed for itself, so that one mistake gives one finding and every mistake of
a file is found. Time is linear in the length of the text.
"""

from dataclasses import dataclass
from typing import cast

from lark import Token
from lark.exceptions import UnexpectedToken

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.source import Source, Span
from kbnf_core.syntax import explain
from kbnf_core.syntax.checks import check_definition, check_word
from kbnf_core.syntax.explain import CLOSER, Mistake
from kbnf_core.syntax.tables import kbnf_parser
from kbnf_core.syntax.tree import Definition, Document
from kbnf_core.syntax.words import DEFINITION_LINE, NAMES, SIGNS, Words, span_of

_RETYPED = {"BAD_NAME": "NAME", "WRONG_SIGN": "DEFINE"}


@dataclass(frozen=True, slots=True)
class Parsed:
    """What was read, and the findings in order of place."""

    document: Document
    diagnostics: tuple[Diagnostic, ...]


def parse_kbnf(source: Source, limits: Limits = DEFAULT_LIMITS) -> Parsed:
    """Parse ``source``. Definitions with mistakes are left out; their names are kept."""
    reader = _Reader(source, limits)
    while words := reader.words.statement():
        reader.read(words)
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
            message = "this file defines no rule"
            finding = Diagnostic("E010", message, self._source, Span(0, 0))
            self._findings.append(finding)
        document = Document(
            self._source,
            tuple(self._definitions),
            tuple(self.words.comments),
            frozenset(self._broken),
        )
        findings = sorted(self._findings, key=Diagnostic.sort_key)
        return Parsed(document, tuple(findings))

    def read(self, words: list[Token]) -> None:
        """Read one statement."""
        if len(words) > 1 and words[0].type in NAMES and words[1].type in SIGNS:
            self._read_definition(words)
        elif not self._lost:
            # Otherwise these are the remains of a statement that went wrong.
            self._give_up(words, explain.headless(self._source, words))

    def _read_definition(self, words: list[Token]) -> None:
        findings = self._check_words(words)
        fit = [_retype(word, index) for index, word in enumerate(words) if word.type != "ODD_BLANK"]
        outcome = self._parse(fit)
        if isinstance(outcome, Diagnostic):
            findings = [f for f in findings if f.span.start < outcome.span.start]
            self._findings.extend(findings)
            self._give_up(words, outcome)
            return
        self._lost = False
        findings.extend(check_definition(self._source, outcome, self._limits))
        if findings:
            self._broken.add(outcome.name.value)
        else:
            self._definitions.append(outcome)
        self._findings.extend(findings)
        if words[-1].type != "END":
            self._findings.append(self._unended(words[-1]))

    def _check_words(self, words: list[Token]) -> list[Diagnostic]:
        findings: list[Diagnostic] = []
        for index, word in enumerate(words):
            before = words[index - 1] if index else None
            if word.type != "WRONG_SIGN" or index == 1:
                findings.extend(check_word(self._source, word, before))
        return findings

    def _parse(self, words: list[Token]) -> Definition | Diagnostic:
        parser = kbnf_parser().parse_interactive(start="definition")
        brackets: list[Token] = []
        for index, word in enumerate(words):
            try:
                parser.feed_token(word)
            except UnexpectedToken:
                return self._mistake(Mistake(self._source, words, index, brackets))
            if word.type in CLOSER:
                brackets.append(word)
                if len(brackets) > self._limits.nesting_depth:
                    depth = self._limits.nesting_depth
                    message = f"brackets are nested deeper than {depth}"
                    return Diagnostic("E012", message, self._source, span_of(word))
            elif word.value in CLOSER.values() and word.type != "STRING":
                brackets.pop()
        if words[-1].type != "END":
            end = span_of(words[-1]).end
            try:
                parser.feed_token(Token("END", "", start_pos=end, end_pos=end))
            except UnexpectedToken:
                return self._mistake(Mistake(self._source, words, len(words), brackets))
        return cast(Definition, parser.feed_eof())

    def _mistake(self, mistake: Mistake) -> Diagnostic:
        for word in mistake.words[: mistake.index + 1]:
            if word.type == "OPEN_STRING":
                return explain.open_string(self._source, word)
            if word.type == "STRING" and "\n" in word.value:
                line = DEFINITION_LINE.search(word.value, word.value.index("\n") + 1)
                if line is not None and "::=" in line[0]:
                    self.words.seek(span_of(word).start + line.start())
                    return explain.open_string(self._source, word)
        return explain.explain(mistake)

    def _unended(self, last: Token) -> Diagnostic:
        following = self.words.following
        if following is None:
            return explain.missing_last_semicolon(self._source, last)
        return explain.missing_semicolon(self._source, last, following.value)

    def _give_up(self, words: list[Token], finding: Diagnostic) -> None:
        self._findings.append(finding)
        self._lost = True
        for name, sign in zip(words, words[1:], strict=False):
            if name.type in NAMES and sign.type in SIGNS:
                self._broken.add(name.value)
        if words[-1].type == "OPEN_COMMENT":
            self._broken.update(DEFINITION_LINE.findall(words[-1].value))


def _retype(word: Token, index: int) -> Token:
    if word.type == "BAD_NAME" or (word.type == "WRONG_SIGN" and index == 1):
        return Token.new_borrow_pos(_RETYPED[word.type], word.value, word)
    return word
