"""The boundary: a text or a token after which the grammar begins, and until which all is free.

While the text has not come, a position is how many of its bytes the last bytes are, the most there
are (Knuth, Morris and Pratt 1977), above all states and counts: ``WAITING`` and a few more. So
waiting is a position like others; copies, rollbacks and drafts need to know nothing of it.

The text may end within a token. What is after it there belongs to the grammar; where the grammar
does not take that, a blank say, it begins after it. A token without bytes counts as its name.
"""

import warnings
from functools import cached_property

import numpy as np

from kbnf_core.mask.bits import Bitmask, pack
from kbnf_core.mask.masks import WAITING
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.text.errors import ConfigError, RejectedError, UnknownTokenError
from kbnf_core.vocab.trie import ABSENT
from kbnf_core.vocab.vocabulary import Vocabulary

After = str | int
"""The text to wait for, or the id of a token."""

Outcome = int | bytes
"""How many bytes of the text have come; or the bytes after it, once it has."""


class AwaitedText:
    """What bytes do to the wait for a text, which is not empty."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._beginnings = tuple(text[:end] for end in range(len(text) - 1, 0, -1))

    def outcome(self, come: int, data: bytes) -> Outcome:
        """Return what ``data`` leads to where ``come`` bytes of the text have come."""
        seen = self.text[:come] + data
        _, found, rest = seen.partition(self.text)
        if found:
            return rest
        return next((len(each) for each in self._beginnings if seen.endswith(each)), 0)

    def touches(self, data: bytes) -> bool:
        """Tell whether ``data`` leads anywhere but to 0 from some position."""
        text = self.text
        return (
            data in text
            or text in data
            or data.startswith(tuple(text[start:] for start in range(1, len(text))))
            or data.endswith(self._beginnings)
        )


def begin_with(automaton: TokenAutomaton, rest: bytes) -> int:
    """Return the position of a grammar after the rest of the token in which the text has come."""
    try:
        return automaton.append(automaton.beginning, rest)
    except RejectedError:
        return automaton.beginning


def rest_behind(automaton: TokenAutomaton, after: str, seen: bytes) -> bytes:
    """Return the bytes after a text that has come, empty where the grammar does not take them."""
    rest = seen.partition(after.encode())[2]
    state, _ = automaton.rule.feed(automaton.masks.states, automaton.masks.states.initial, rest)
    return b"" if state == DEAD else rest


class WaitingAutomaton(TokenAutomaton):
    """A token automaton before which everything is free, until a text or a token has come.

    It shares states and masks with ``grammar``, the token automaton that comes after it.
    """

    def __init__(self, grammar: TokenAutomaton, after: After) -> None:
        super().__init__(grammar.masks, grammar.finish, grammar.limits)
        self._grammar = grammar
        self._token = None if isinstance(after, str) else after
        self._awaited = AwaitedText(after.encode()) if isinstance(after, str) else None

    @property
    def beginning(self) -> int:
        """The position before the first byte."""
        return WAITING

    def can_finish(self, position: int) -> bool:
        """Tell whether the text is over, or may be ended by the end of sequence."""
        return position < WAITING and super().can_finish(position)

    def append(self, position: int, data: bytes) -> int:
        """Return the position after ``data``; raise FinishedError or RejectedError."""
        if position < WAITING:
            return super().append(position, data)
        if self._awaited is None:
            return position
        outcome = self._awaited.outcome(position - WAITING, data)
        if isinstance(outcome, int):
            return WAITING + outcome
        return begin_with(self._grammar, outcome)

    def mask(self, position: int) -> Bitmask:
        """Compute the tokens allowed at a position, bypassing the cache."""
        return self._free if position >= WAITING else super().mask(position)

    def has_tokens(self, position: int) -> bool:
        """Tell whether any token is allowed at a position before the end."""
        return position >= WAITING or super().has_tokens(position)

    def step(self, position: int, token_id: int) -> int:
        """Compute the position after a token, as ``TokenAutomaton.step`` does."""
        if position < WAITING:
            return super().step(position, token_id)
        vocabulary = self.masks.vocabulary
        if token_id not in vocabulary:
            raise UnknownTokenError(token_id)
        if self._awaited is None:
            return self._grammar.beginning if token_id == self._token else position
        return self.append(position, vocabulary.decode((token_id,)))

    def fitting(self, words: Bitmask, position: int, left: int) -> Bitmask:
        """Return the tokens of the mask after which a text can be over in time.

        Of those that wait, that is all but some with which the text comes, and more after it.
        """
        if position < WAITING:
            return super().fitting(words, position, left)
        if self.nearest_end.always_fits(self._grammar.beginning, left):
            return words
        late = [each for each in self._last_tokens if not self._leaves(position, each, left)]
        return words & ~pack(late, self.masks.vocabulary.size) if late else words

    def _leaves(self, position: int, token_id: int, left: int) -> bool:
        after = self.step(position, token_id)
        return after >= WAITING or self.nearest_end.fits(after, left)

    @cached_property
    def _last_tokens(self) -> list[int]:
        """The tokens with which the text can come: those that hold an end of it, or all of it."""
        vocabulary = self.masks.vocabulary
        if self._awaited is None:
            return []
        text, trie, found = self._awaited.text, vocabulary.trie, set(vocabulary.special_ids)
        for start in range(len(text)):
            node = trie.find(text[start:])
            if node != ABSENT:
                found.update(trie.subtree_ids(node).tolist())
        spelled = vocabulary.spellings
        data, ends = spelled.blob.tobytes(), spelled.starts[1:]
        place = data.find(text)
        while place >= 0:
            found.add(int(np.searchsorted(ends, place, side="right")))
            place = data.find(text, place + 1)
        return sorted(found)

    def _find_words(self, position: int) -> Bitmask:
        return self._free if position >= WAITING else super()._find_words(position)

    @cached_property
    def _free(self) -> Bitmask:
        vocabulary = self.masks.vocabulary
        known = np.array([*vocabulary.tokens, *vocabulary.special_ids], np.int32)
        words = pack(known, vocabulary.size)
        words.setflags(write=False)
        return words


def waiting_for(grammar: TokenAutomaton, after: After | None) -> TokenAutomaton:
    """Return what comes after ``after``: the same object as long as one is in use."""
    if after is None:
        return grammar
    found = grammar.behind.get(after)
    return found or grammar.behind.setdefault(after, WaitingAutomaton(grammar, after))


def _can_come(awaited: AwaitedText, vocabulary: Vocabulary) -> bool:
    """Tell whether some tokens spell a text, which may begin and end within one."""
    text = awaited.text
    if all(vocabulary.trie.find(bytes([byte])) != ABSENT for byte in text):
        return True
    names = map(vocabulary.decode, ([each] for each in vocabulary.special_ids))
    pieces = [each for each in (*vocabulary.tokens.values(), *names) if awaited.touches(each)]
    reached, done = {0}, set[int]()
    while reached > done:
        come = min(reached - done)
        done.add(come)
        outcomes = [awaited.outcome(come, data) for data in pieces]
        if any(isinstance(each, bytes) for each in outcomes):
            return True
        reached |= {each for each in outcomes if isinstance(each, int)}
    return False


def checked_after(after: After | None, vocabulary: Vocabulary) -> After | None:
    """Return what is waited for, None for nothing.

    Raises ``ConfigError`` for a token that never comes, and warns of a text that never can.
    """
    if not after and not isinstance(after, int):
        return None
    if isinstance(after, str):
        if not _can_come(AwaitedText(after.encode()), vocabulary):
            message = (
                f"`after` is {after!r}, which no tokens of the vocabulary spell: it never comes"
            )
            warnings.warn(message, stacklevel=4)
        return after
    if after not in vocabulary:
        raise ConfigError(f"`after` is token {after}, which the vocabulary does not have")
    return after
