"""The subject of a lint: a text and all that is computed of it on demand, and a lint's needs."""

import enum
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import VocabularyError, WorkLimitError
from kbnf_core.frontend import Reading, too_large, too_much_work
from kbnf_core.ir import Grammar
from kbnf_core.limits import DEFAULT_LIMITS
from kbnf_core.lint import LintOptions
from kbnf_core.lower.analyse import Analysis

if TYPE_CHECKING:
    from kbnf_core.lower.tables import Tables
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


class Subject:
    """A text as it was read, and what is asked about it; more is made of it on demand.

    Only a lint that says so in its ``NEEDS`` may use the grammar and all that is made of it.
    """

    def __init__(self, reading: Reading, options: LintOptions) -> None:
        self.reading = reading
        self.options = options

    def has(self, needs: Needs) -> bool:
        """Tell whether a lint with these needs can run."""
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
    def grammar(self) -> Grammar:
        """The meaning of the text."""
        return _there(self.reading.grammar)

    @property
    def analysis(self) -> Analysis:
        """The analysis of the nonterminals."""
        return _there(self.reading.analysis)

    @property
    def tables(self) -> "Tables":
        """The grammar as numbers."""
        return _there(None if isinstance(self._built, Diagnostic) else self._built)

    @cached_property
    def _built(self) -> "Tables | Diagnostic":
        from kbnf_core.lower.build import build_tables
        from kbnf_core.lower.nfa import TooManyStatesError

        try:
            return build_tables(self.grammar, DEFAULT_LIMITS, self.analysis)
        except TooManyStatesError as error:
            return too_large(self.reading, str(error), DEFAULT_LIMITS)
        except WorkLimitError as error:
            return too_much_work(self.reading.document, error, self.reading.meaning)

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


def _there(value: _T | None) -> _T:
    if value is None:
        raise LookupError("a lint uses what it does not say that it needs")
    return value
