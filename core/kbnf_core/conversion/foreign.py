"""What readers of the grammars of other tools share: findings, losses, tokens as patterns.

A part without an equivalent is an error, or, where losses are permitted, a loss. More than a few of
one kind are one finding, at the first place: a grammar may have thousands of them. A token is
one regular expression where it has one: its parts are folded to an expression of characters, which
is printed, compiled and, where it is one text, written as that.

Tests: tests/unit/conversion
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from kbnf_core.automata.algebra import EMPTY
from kbnf_core.automata.expression import Builder, print_expression
from kbnf_core.automata.expression import Expression as Texts
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.conversion.automata import only_text
from kbnf_core.conversion.scannerless import Scannerless, TokenKind, without_lexer
from kbnf_core.ir.names import FreshNames
from kbnf_core.kbnf import build
from kbnf_core.kbnf.parsed import Loss, Parsed, Request
from kbnf_core.kbnf.tree import Comment, Definition, Document, Expression
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.source import Source, Span
from kbnf_core.text.suggest import listed

_APART = 5
"""Findings of one kind that are reported each at its place."""

_SUBJECT = re.compile("`([^`]*)`")
"""What a message is about; messages of one kind differ in this."""

UNSUPPORTED, APPROXIMATE = "E451", "W451"


class ForeignReader(ABC):
    """Reads one grammar to rules over characters; ``names`` are those of its rules.

    ``made`` gives names to rules that nobody wrote.
    """

    def __init__(self, source: Source, request: Request) -> None:
        self.source = source
        self.request = request
        self.budget = Budget(request.limits.work)
        self.findings: list[Diagnostic] = []
        self.losses: list[Loss] = []
        self.comments: list[Comment] = []
        self.names: set[str] = set()
        self.made = FreshNames()
        self.broken: set[str] = set()
        self.builder = Builder()
        self._refused: list[Loss] = []

    @abstractmethod
    def rules(self) -> Scannerless | None:
        """Return the rules; None where findings say why there are none. Raises WorkLimitError."""

    def read(self) -> Parsed:
        """Return the grammar. Raises WorkLimitError."""
        result, start = self.rules() or Scannerless([], ""), self.request.start
        document = Document(
            self.source,
            tuple(result.definitions),
            tuple(self.comments),
            frozenset(self.broken),
            result.generated,
        )
        begin = result.start if start is None or start in self.names else start
        refused = [loss.diagnostic(self.source) for loss in _few(self._refused)]
        findings = tuple(sorted([*self.findings, *refused], key=Diagnostic.sort_key))
        return Parsed(document, findings, begin or None, tuple(_few(self.losses)))

    def start(self, default: str) -> str:
        """Return the rule that a text matches: the one that was asked for, if there is one."""
        start = self.request.start
        return start if start is not None and start in self.names else default

    @property
    def has_errors(self) -> bool:
        """Whether a finding is an error."""
        return any(finding.severity is Severity.ERROR for finding in self.findings)

    def error(self, code: str, message: str, span: Span, *helps: str) -> None:
        """Report an error."""
        self.findings.append(Diagnostic(code, message, self.source, span, helps=helps))

    def refuse(
        self, message: str, span: Span, *helps: str, instead: str = "matches nothing"
    ) -> None:
        """Report a part without an equivalent: an error, or a loss where permitted."""
        if self.request.lossy:
            self.loose(f"{message}: it {instead}", span)
        else:
            help_ = f"`kbnf convert --lossy` writes a grammar in which it {instead}"
            self._refused.append(Loss(UNSUPPORTED, message, span, helps=(*helps, help_)))

    def loose(self, message: str, span: Span) -> None:
        """Report a loss."""
        self.losses.append(Loss(APPROXIMATE, message, span))

    def nothing(self, message: str, span: Span, *helps: str) -> Expression:
        """Report a part without an equivalent, and return what matches nothing in its place."""
        self.refuse(message, span, *helps)
        return build.nothing(span)

    def pattern(self, texts: Texts, span: Span) -> Expression:
        """Return characters as one symbol: a text, or a pattern with its automaton."""
        return build.text("", span) if texts is EMPTY else self.regex(print_expression(texts), span)

    def regex(self, pattern: str, span: Span) -> Expression:
        """Return a pattern with its automaton; one of one text as that."""
        dfa = compile_regex(pattern, self.request.limits).dfa
        word = None if dfa is None else only_text(dfa)
        return (
            replace(build.regex(pattern, span), dfa=dfa) if word is None else build.text(word, span)
        )

    def without_lexer(
        self,
        rules: Sequence[Definition],
        tokens: Sequence[TokenKind],
        start: str,
        everywhere: Collection[str] | None = None,
    ) -> Scannerless:
        """Return the rules to which the start leads. Raises WorkLimitError."""
        limits, budget = self.request.limits, self.budget
        result = without_lexer(rules, tokens, start, limits, budget, everywhere)
        self.losses += result.losses
        return result


def _few(losses: Sequence[Loss]) -> Iterator[Loss]:
    """Yield losses once; of a kind with many only the first one, which names the next ones."""
    kinds: dict[tuple[str, str], list[Loss]] = {}
    for loss in dict.fromkeys(losses):
        kinds.setdefault((loss.code, _SUBJECT.sub("", loss.message)), []).append(loss)
    for same in kinds.values():
        if len(same) <= _APART:
            yield from same
            continue
        same.sort(key=lambda reported: reported.span.start)
        matches = (_SUBJECT.search(other.message) for other in same)
        subjects = [*dict.fromkeys(match[1] for match in matches if match)][1:]
        more = f"and {len(same) - 1:,} more of this kind"
        more += f": {listed(subjects)}" if subjects else ""
        yield same[0]._replace(notes=(*same[0].notes, more))
