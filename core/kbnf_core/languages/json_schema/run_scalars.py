"""Writes strings and numbers as automata, for grammars that are run and not shown.

The language is that of ``write_scalars``. What that turns into a regular expression, for somebody
to read it into the same automaton again, stays one.
"""

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.to_regex import to_regex
from kbnf_core.languages.json_schema.build_tree import Form, later
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.quoted import quoted
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.write_scalars import ScalarWriter
from kbnf_core.languages.json_schema.writer import Writer


class RunWriter(Writer):
    """Writes rules for a program to run."""

    def __init__(self, document: Document, options: Options, prefix: str = "") -> None:
        super().__init__(document, options, prefix)
        self._scalars = RunScalars(self.prelude, self.rules, self.limits, self.left_out)


class RunScalars(ScalarWriter):
    """Writes sets of strings and numbers as their automata."""

    def _of_any_length(self, part: Restricted, wish: str) -> Form | None:
        del wish
        dfa = part.dfa(self._rules.budget)
        return None if dfa.is_empty else self._automaton(quoted(dfa, self._prelude.spelling))

    def _decimal_texts(self, part: Restricted, wish: str) -> Form | None:
        del wish
        dfa = operations.intersect(part.dfa(self._rules.budget), self._decimals(part))
        return None if dfa.is_empty else self._automaton(dfa)

    def _automaton(self, dfa: Dfa) -> Form:
        pattern = later(lambda: to_regex(dfa))
        self.automata[pattern] = dfa
        return pattern
