"""What the lints that need masks share: a grammar in use, with one vocabulary."""

from functools import cached_property

from kbnf_core.errors import VocabularyError
from kbnf_core.frontend import Reading
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import StateTable
from kbnf_core.vocab.vocabulary import Vocabulary


class Generation:
    """The ``tables`` of a grammar, and its ``masks`` and ``automaton`` over ``vocabulary``."""

    def __init__(self, reading: Reading, tables: Tables, vocabulary: Vocabulary) -> None:
        self.reading = reading
        self.tables = tables
        self.vocabulary = vocabulary

    @cached_property
    def masks(self) -> Masks | None:
        """The masks; None where the grammar names tokens that are not there (E604)."""
        try:
            return Masks(StateTable(self.tables), self.vocabulary)
        except VocabularyError:
            return None

    @cached_property
    def automaton(self) -> TokenAutomaton | None:
        """The masks under the grammar's way to end."""
        return None if self.masks is None else TokenAutomaton(self.masks, self.reading.finish)
