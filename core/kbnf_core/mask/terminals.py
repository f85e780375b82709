"""Token terminals against a vocabulary: which ids each one matches."""

from collections.abc import Iterable

import numpy as np

from kbnf_core.ir import TokenTerminal
from kbnf_core.mask.bits import Bitmask, pack, word_count
from kbnf_core.text.errors import VocabularyError
from kbnf_core.vocab.vocabulary import Vocabulary


class TokenTerminals:
    """The token terminals of one grammar, resolved in one vocabulary.

    A name is a special token, or failing that any token that spells it. A negated set matches
    every id of the vocabulary but those listed; end of sequence is left to ``finish``. Empty tokens
    match nothing. Raises VocabularyError where a name, or an id, is beyond the vocabulary.
    """

    def __init__(self, terminals: Iterable[TokenTerminal], vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._ids = [self._resolve(terminal) for terminal in terminals]
        self._words = [pack(sorted(ids), vocabulary.size) for ids in self._ids]

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self) -> frozenset[int]:
        """Return the ids that any of the terminals matches."""
        return frozenset().union(*self._ids)

    def matching(self, token_id: int) -> frozenset[int]:
        """Return the numbers of the terminals that ``token_id`` matches."""
        return frozenset(i for i, ids in enumerate(self._ids) if token_id in ids)

    def mask(self, terminals: Iterable[int]) -> Bitmask:
        """Return the ids that match any of ``terminals``."""
        words = np.zeros(word_count(self._vocabulary.size), np.uint32)
        for terminal in terminals:
            words |= self._words[terminal]
        return words

    def _resolve(self, terminal: TokenTerminal) -> frozenset[int]:
        lacking = lacking_token(terminal, self._vocabulary)
        if lacking is not None:
            raise VocabularyError(f"the vocabulary has no token {lacking}, which the grammar names")
        if terminal.name is not None:
            return self._named(terminal.name)
        known = self._known_ids()
        listed = {
            token_id
            for low, high in terminal.ranges
            for token_id in range(low, min(high + 1, self._vocabulary.size))
        }
        if terminal.negated:
            return known - listed - self._vocabulary.eos_token_ids
        return known & listed

    def _named(self, name: str) -> frozenset[int]:
        special = self._vocabulary.special_tokens.get(name)
        found = self._vocabulary.token_ids(name.encode()) if special is None else (special,)
        return frozenset(found)

    def _known_ids(self) -> frozenset[int]:
        vocabulary = self._vocabulary
        specials = vocabulary.special_tokens.values()
        # The trie holds just the tokens that are not empty.
        return frozenset(
            (*vocabulary.trie.token_ids.tolist(), *specials, *vocabulary.eos_token_ids)
        )


def lacking_token(terminal: TokenTerminal, vocabulary: Vocabulary) -> str | None:
    """Return the name, or the id, in ``terminal`` that ``vocabulary`` has no token for, or None.

    Of ids, just those from its size on; among lower ones it may have gaps, which match nothing.
    """
    name = terminal.name
    if name is not None:
        is_there = name in vocabulary.special_tokens or vocabulary.token_ids(name.encode())
        return None if is_there else repr(name)
    return next((str(low) for low, _ in terminal.ranges if low >= vocabulary.size), None)
