"""A grammar that is ready to recognise: read, lowered, and with its memo."""

from collections.abc import Callable
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary

from kbnf_core import ir
from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic, Severity
from kbnf_core.errors import EmptyGrammarError, GrammarError
from kbnf_core.frontend import Reading, name_span, read_grammar
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lower.build import PlainTables, build_plain_tables, build_tables
from kbnf_core.lower.nfa import TooManyStatesError
from kbnf_core.recognise.states import StateTable
from kbnf_core.source import Source

if TYPE_CHECKING:
    from kbnf_core.mask.course import Course
    from kbnf_core.tables import Tables
    from kbnf_core.vocab.vocabulary import Vocabulary

T = TypeVar("T")


class Grammar:
    """A KBNF grammar, immutable but for what it remembers; engines and threads may share one.

    ``start`` and ``finish`` win over the grammar's pragmas; ``path`` is for messages only.
    Raises ``GrammarError`` with all findings, ``EmptyGrammarError`` where no text, or only the
    empty one, matches.
    """

    def __init__(
        self,
        text: str,
        *,
        start: str | None = None,
        finish: Finish | str | None = None,
        path: str | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        wanted = None if finish is None else Finish.parse(finish)
        self.reading = read_grammar(Source(text, path), start, wanted, limits)
        self._limits = limits
        self._states: StateTable | None = None
        self._courses: WeakKeyDictionary[Vocabulary, dict[Finish, Course]] = WeakKeyDictionary()
        self._lock = RLock()
        self._grammar = _usable(self.reading)

    @property
    def source(self) -> Source:
        """The text."""
        return self.reading.document.source

    @property
    def start(self) -> str:
        """The start nonterminal."""
        return self.reading.start

    @property
    def finish(self) -> Finish:
        """The way to end that the grammar asks for."""
        return self.reading.finish

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings found while reading."""
        return self.reading.diagnostics

    @cached_property
    def tables(self) -> "Tables":
        """The automata. Raises ``GrammarError`` (E106) where they pass the limit."""
        return self._build(build_tables)

    @cached_property
    def plain_tables(self) -> "PlainTables":
        """The automata for explanations. Raises ``GrammarError`` (E106) past the limit."""
        return self._build(build_plain_tables)

    def _build(self, build: Callable[[ir.Grammar, Limits], T]) -> T:
        try:
            return build(self._grammar, self._limits)
        except TooManyStatesError as error:
            raise GrammarError([self._too_large(str(error))]) from None

    def course(self, vocabulary: "Vocabulary", finish: Finish) -> "Course":
        """Return what engines over ``vocabulary`` share, the same object for equal arguments.

        While it is in use it may be replaced by a fresh one, see ``renew``.
        """
        with self._lock:
            courses = self._courses.setdefault(vocabulary, {})
            found = courses.get(finish)
            if found is None:
                found = courses[finish] = self._make_course(vocabulary, finish, courses)
            return found

    def renew(self, full: "Course", finish: Finish) -> "Course":
        """Return a course with an empty table in place of ``full``, for all engines that follow."""
        vocabulary = full.masks.vocabulary
        with self._lock:
            if self.course(vocabulary, finish).masks.states is full.masks.states:
                self._states = None
                self._courses.clear()
            return self.course(vocabulary, finish)

    def _make_course(
        self, vocabulary: "Vocabulary", finish: Finish, others: "dict[Finish, Course]"
    ) -> "Course":
        from kbnf_core.mask.course import Course
        from kbnf_core.mask.masks import Masks

        if self._states is None:
            self._states = StateTable(self.tables)
        masks = next((course.masks for course in others.values()), None)
        if masks is None:
            masks = Masks(self._states, vocabulary, self._limits)
        return Course(masks, finish, self._limits)

    def _too_large(self, name: str) -> Diagnostic:
        rule = name.split("#", maxsplit=1)[0]
        return Diagnostic(
            "E106",
            f"the grammar needs more than {self._limits.grammar_states:,} states",
            self.source,
            name_span(self.reading.document, rule),
            label="the limit was passed in this rule",
            helps=("lower its repetition counts, or raise `Limits.grammar_states`",),
        )


def _usable(reading: Reading) -> ir.Grammar:
    """Return the grammar that was read; raise what is wrong with it, errors first."""
    if reading.grammar is not None:
        return reading.grammar
    rest = [d for d in reading.diagnostics if d.severity is not Severity.ERROR]
    only_empty = all(error.code == "E105" for error in reading.errors)
    raise (EmptyGrammarError if only_empty else GrammarError)([*reading.errors, *rest])
