"""The caches of one grammar: its state table, and token automata by vocabulary and finish."""

from collections.abc import Callable
from threading import RLock
from typing import Protocol

from kbnf_core.config import Finish
from kbnf_core.limits import Limits
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.masks import Masks, StoredMasks
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import StateTable, StoredStates
from kbnf_core.vocab.vocabulary import Vocabulary

MAX_VOCABULARIES = 4
"""Vocabularies for which a grammar caches masks."""

PART_BYTES = 64
"""Estimated size of a pair, an item or a triple of a state."""


class StoredMemo(Protocol):
    """What was computed earlier, as an artifact stores it."""

    def states(self) -> StoredStates:
        """Return the states."""

    def masks(self, vocabulary: Vocabulary) -> StoredMasks | None:
        """Return the masks over ``vocabulary``, None where there are none.

        Raises ``VocabularyError`` where they are for another vocabulary.
        """


class TokenAutomata:
    """The token automata of one grammar; they share its state table and, per vocabulary, its masks.

    Those of the last few vocabularies are cached; an engine holds its own. A full table is reset,
    and drops what an artifact had stored.
    """

    def __init__(
        self, tables: Callable[[], Tables], limits: Limits, stored: StoredMemo | None = None
    ) -> None:
        self._tables = tables
        self._limits = limits
        self._stored = stored
        self._states: StateTable | None = None
        self._automata: dict[Vocabulary, dict[Finish, TokenAutomaton]] = {}
        self._lock = RLock()

    @property
    def known_bytes(self) -> int:
        """The estimated size of all tables and masks, in bytes."""
        states = self._states
        masks = {automaton.masks for each in self._automata.values() for automaton in each.values()}
        table = 0 if states is None else states.next.nbytes + PART_BYTES * states.grown
        return table + sum(each.known_bytes for each in masks)

    def get(self, vocabulary: Vocabulary, finish: Finish) -> TokenAutomaton:
        """Return the token automaton over ``vocabulary``, the same object for equal arguments."""
        with self._lock:
            token_automata = self._of(vocabulary)
            found = token_automata.get(finish)
            if found is None:
                masks = next((automaton.masks for automaton in token_automata.values()), None)
                masks = masks or self._make_masks(vocabulary)
                found = token_automata[finish] = TokenAutomaton(masks, finish, self._limits)
            return found

    def _of(self, vocabulary: Vocabulary) -> dict[Finish, TokenAutomaton]:
        """Return the token automata over a vocabulary, and mark it as last used."""
        token_automata = self._automata.pop(vocabulary, {})
        self._automata[vocabulary] = token_automata
        if len(self._automata) > MAX_VOCABULARIES:
            del self._automata[next(iter(self._automata))]
        return token_automata

    def renew(self, vocabulary: Vocabulary, finish: Finish) -> TokenAutomaton:
        """Return a token automaton that has room; a full table is reset."""
        with self._lock:
            if self.get(vocabulary, finish).masks.is_full:
                self._states = StateTable(self._tables())
                self._stored = None
                self._automata.clear()
            return self.get(vocabulary, finish)

    def _make_masks(self, vocabulary: Vocabulary) -> Masks:
        stored = self._stored.masks(vocabulary) if self._stored else None
        if self._states is None:
            states = self._stored.states() if self._stored else None
            self._states = StateTable(self._tables(), states)
        return Masks(self._states, vocabulary, self._limits, stored)
