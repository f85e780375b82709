"""The subject of a lint: a text and all that is computed of it on demand, and a lint's needs.

Below it are the analyses and words that several lints share: of patterns, bytes and texts.

Tests: tests/unit/lint
"""

import enum
from collections.abc import Iterable, Iterator, Sequence
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from kbnf_core.automata.dfa import join, legible_bytes, separate
from kbnf_core.frontend import EFFORT, Reading, too_large, too_much_work
from kbnf_core.ir import GrammarRules, Literal, Node, Regular, postorder
from kbnf_core.kbnf.tree import Document, Pattern, PatternKind
from kbnf_core.lint import LintOptions
from kbnf_core.lower.facts import Analysis, analyse
from kbnf_core.lower.regular import Regulars
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.diagnostics.segments import in_quotes
from kbnf_core.text.diagnostics.text import count_of
from kbnf_core.text.errors import GrammarError, VocabularyError, WorkLimitError
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Span

if TYPE_CHECKING:
    from kbnf_core.lower.tables import Tables
    from kbnf_core.mask.completion import Completion
    from kbnf_core.mask.masks import Masks
    from kbnf_core.mask.token_automaton import TokenAutomaton
    from kbnf_core.vocab.vocabulary import Vocabulary


_T = TypeVar("_T")


class Needs(enum.Enum):
    """The preconditions of a lint.

    ``DOCUMENT``: a text, whatever is wrong with it. ``GRAMMAR``: a text without errors, with texts
    that end. ``VOCABULARY``: no errors, and a vocabulary that was asked about. ``TABLES``: that
    the tables could be built, and that something was asked that takes them; over bytes without a
    vocabulary.
    """

    DOCUMENT = enum.auto()
    GRAMMAR = enum.auto()
    VOCABULARY = enum.auto()
    TABLES = enum.auto()


COMPILED = 16
"""Steps of compiled code that count as one."""

_BETWEEN_LOOKS = 10_000
"""Steps from one look at the clock to the next."""


class LintBudget(Budget):
    """The work of all lints of a text; raises WorkLimitError where that, or the time, is used up.

    ``why`` says which of the two it was.
    """

    def __init__(self, options: LintOptions) -> None:
        super().__init__(options.work)
        self.why = f"the lints take more than {options.work:,} steps together"
        self._seconds = options.seconds
        self._until = monotonic() + options.seconds
        self._next_look = 0

    def spend(self, steps: int = 1) -> None:
        """Count ``steps``; raise where that is more than is left, or the time is over."""
        super().spend(steps)
        if self.spent >= self._next_look:
            self._next_look = self.spent + _BETWEEN_LOOKS
            if monotonic() > self._until:
                self.why = f"the lints take more than {self._seconds:g} seconds together"
                super().spend(self.left + 1)


class Stop(NamedTuple):
    """A search for ``code`` that was given up at ``span``, and why."""

    code: str
    why: str
    span: Span


class Subject:
    """A text as it was read, and the questions that lints ask; results are made on demand.

    Only a lint that says so in its ``NEEDS`` may use the grammar and all that is made of it.
    Of parts that a conversion generated only errors are reported: nobody wrote them.
    """

    def __init__(self, reading: Reading, options: LintOptions) -> None:
        self.reading = reading
        self.options = options
        self.budget = LintBudget(options)
        self._stops: dict[Stop, None] = {}

    @cached_property
    def has_tree(self) -> bool:
        """Whether there is a tree for lints of notation: that of a tag may pass a limit."""
        try:
            return self.reading.parsed.is_written and self.reading.document is not None
        except GrammarError:
            return False

    @cached_property
    def _generated(self) -> frozenset[Span]:
        return self.reading.document.generated if self.has_tree else frozenset()

    def is_generated(self, finding: Diagnostic) -> bool:
        """Return whether a finding, not an error, is about a part that the author did not write."""
        return finding.severity is not Severity.ERROR and finding.span in self._generated

    def stop(self, code: str, why: str, span: Span) -> None:
        """Note that findings of ``code`` were not looked for everywhere."""
        if span not in self._generated:
            self._stops[Stop(code, why, span)] = None

    def stopped(self) -> Diagnostic | None:
        """Return the finding about all that was not looked for everywhere, None if nothing was."""
        if not self._stops:
            return None
        by_reason: dict[str, list[Stop]] = {}
        for stop in sorted(self._stops):
            by_reason.setdefault(stop.why, []).append(stop)
        if len(by_reason) == 1:
            [why] = by_reason
            span_count = len({stop.span for stop in self._stops})
            notes = (
                [f"the same at {count_of(span_count - 1, 'more place')}"] if span_count > 1 else []
            )
        else:
            why = "the grammar is large"
            notes = [_note(reason, stops) for reason, stops in by_reason.items()]
        codes = {stop.code for stop in self._stops}
        return self.reading.finding(
            "I901",
            f"search limit reached for {_listed(codes)}: {why}",
            min(stop.span for stop in self._stops),
            notes=tuple(notes),
        )

    def has(self, needs: Needs) -> bool:
        """Return whether a lint with these needs can run."""
        if needs is Needs.DOCUMENT:
            return True
        if self.reading.grammar is None:
            return False
        if needs is Needs.GRAMMAR:
            # The rules of an endless grammar are not as they were written.
            return not self.reading.is_endless
        if needs is Needs.VOCABULARY:
            return self.options.vocabulary is not None
        if needs is Needs.TABLES:
            return self.options.needs_tables and self.obstacle is None
        return True

    @property
    def obstacle(self) -> Diagnostic | None:
        """The findings to report where tables are needed and cannot be built."""
        if self.reading.grammar is None or not self.options.needs_tables:
            return None
        return self._built if isinstance(self._built, Diagnostic) else None

    @property
    def grammar(self) -> GrammarRules:
        """The meaning of the text, with the spans of the parts that somebody wrote."""
        return _there(self._meaning[0])

    @property
    def analysis(self) -> Analysis:
        """The analysis of the nonterminals."""
        return _there(self._meaning[1])

    @cached_property
    def _meaning(self) -> tuple[GrammarRules | None, Analysis | None]:
        reading = self.reading
        has_names = reading.parsed.is_written and not reading.is_endless
        grammar = reading.named if has_names else reading.grammar
        if grammar is None or grammar is reading.grammar:
            return reading.grammar, reading.analysis
        return grammar, analyse(grammar)

    @property
    def tables(self) -> "Tables":
        """The grammar as numbers."""
        return _there(None if isinstance(self._built, Diagnostic) else self._built)

    @cached_property
    def regulars(self) -> Regulars:
        """The automata of the grammar's regular parts, made when they are asked for."""
        return Regulars(self.grammar.rules, EFFORT, self.budget)

    @cached_property
    def _built(self) -> "Tables | Diagnostic":
        from kbnf_core.lower.build import build_tables
        from kbnf_core.lower.nfa import TooManyStatesError

        try:
            return build_tables(self.grammar, self.reading.limits, self.analysis)
        except TooManyStatesError as error:
            return too_large(self.reading, str(error))
        except WorkLimitError as error:
            return too_much_work(self.reading.parsed, error)

    @cached_property
    def vocabulary(self) -> "Vocabulary":
        """The vocabulary that was asked about, or that of all bytes."""
        from kbnf_core.vocab.vocabulary import Vocabulary

        return self.options.vocabulary or Vocabulary.bytes()

    @cached_property
    def masks(self) -> "Masks | None":
        """The masks; None where the grammar names tokens that are not there (E604)."""
        from kbnf_core.mask.masks import Masks
        from kbnf_core.recognise.states import StateTable

        try:
            return Masks(StateTable(self.tables), self.vocabulary)
        except VocabularyError:
            return None

    @cached_property
    def automaton(self) -> "TokenAutomaton | None":
        """The masks under the grammar's way to end."""
        from kbnf_core.mask.token_automaton import TokenAutomaton

        return None if self.masks is None else TokenAutomaton(self.masks, self.reading.finish)


def _note(why: str, stops: Sequence[Stop]) -> str:
    span_count = len({stop.span for stop in stops})
    where = f", at {span_count:,} places" if span_count > 1 else ""
    return f"{_listed({stop.code for stop in stops})}: {why}{where}"


def _listed(codes: Iterable[str]) -> str:
    """Return codes as a list for people: ``A``, ``A and B``, ``A, B and C``."""
    *before, last = sorted(codes)
    return f"{', '.join(before)} and {last}" if before else last


def _there(value: _T | None) -> _T:
    if value is None:
        raise LookupError("a lint uses what it does not say that it needs")
    return value


def patterns_in(document: Document) -> Iterator[Pattern]:
    """Yield the regular expressions of a text."""
    for node in document.written_nodes():
        if isinstance(node, Pattern) and node.kind is not PatternKind.SUBSTRINGS:
            yield node


def classes_in(pattern: str) -> Iterator[tuple[int, int]]:
    """Yield where each class begins and ends, brackets included; inner ones are parts of theirs.

    Of a class that is never closed nothing is reported.
    """
    index = 0
    while index < len(pattern):
        if pattern[index] == "\\":
            index += 2
        elif pattern[index] == "[":
            end = _end_of_class(pattern, index)
            if end is None:
                return
            yield index, end
            index = end
        else:
            index += 1


def _end_of_class(pattern: str, start: int) -> int | None:
    depth, index = 0, start
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
        elif char == "[":
            depth += 1
            index += pattern.startswith("^", index + 1)
            # A bracket that closes nothing stands for itself at the beginning.
            index += pattern.startswith("]", index + 1)
        elif char == "]":
            depth -= 1
            if depth == 0:
                return index + 1
        index += 1
    return None


_MAX_SHOWN = 60
_MOST_TOKENS = 12


def show(word: bytes) -> str:
    """Return a text in quotes, its hidden characters escaped, the middle of a long one left out."""
    return in_quotes(word, _MAX_SHOWN)


def show_name(reading: Reading, nonterminal: str) -> str:
    """Return the name of a nonterminal, ``this`` where a conversion generated it."""
    span = reading.name_span(nonterminal)
    nonterminal = reading.document.origins.get(nonterminal, nonterminal)
    written = reading.parsed.source.slice(span)
    # A name may be written with marks around it, as in `?sum` or `<sum>`.
    return f"`{nonterminal}`" if nonterminal and nonterminal in written else "this"


def describe(completion: "Completion", vocabulary: "Vocabulary") -> Iterator[str]:
    """Yield a note about the fewest bytes and one about the fewest tokens, as far as known."""
    if completion.data is not None:
        length = count_of(len(completion.data), "byte")
        yield f"the shortest text has {length}: {show(completion.data)}"
    if completion.tokens is not None:
        count = len(completion.tokens)
        shown = " ".join(_token(vocabulary, token) for token in completion.tokens[:_MOST_TOKENS])
        more = "" if count <= _MOST_TOKENS else " ..."
        verb = "completes" if count == 1 else "complete"
        yield f"{count_of(count, 'token')} {verb} it: {shown}{more}"


def _token(vocabulary: "Vocabulary", token_id: int) -> str:
    data = vocabulary.token(token_id)
    return f"#{token_id}" if data is None else show(data)


TOO_LARGE = f"this needs more than {EFFORT.regex_states:,} states"
"""The reason reported for a regular expression that is not compared with others."""


def spelling_bytes(bodies: Iterable[Node]) -> list[int]:
    """Return a byte of each class of bytes that the terminals in ``bodies`` make, readable ones."""
    leaves = [node for body in bodies for node in postorder(body)]
    dfas = {id(node.dfa): node.dfa for node in leaves if isinstance(node, Regular)}
    written = b"".join(node.data for node in leaves if isinstance(node, Literal))
    return legible_bytes(join([separate(written), *(dfa.classes for dfa in dfas.values())]))
