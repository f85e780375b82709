"""The boundary: a text or a token after which the grammar begins, and until which all is free.

While the text has not come, a position is how many of its bytes the last bytes are, the most there
are (Knuth, Morris and Pratt 1977), above all states and counts: ``WAITING`` and a few more. So
waiting is a position like others; copies, rollbacks and drafts need to know nothing of it.

The text may end within a token. The rest of the token belongs to the grammar; if the grammar does
not accept the rest (a blank, say), it begins after the token. A token without bytes counts as its
name. No token ends the sequence before the text is complete, except for one that completes it.

Where the free tokens are bounded, a position counts them, too: ``WAITING``, and above the bytes
that have come the tokens that were written. After the last of them only tokens can occur that spell
the text alone, or end it, and after which fewer are missing than before (``_StopSpelling``); one of
them always can.

Tests: tests/unit/mask/test_boundary.py
"""

import warnings
from bisect import bisect_left
from collections.abc import Iterator
from math import inf
from operator import index
from typing import NamedTuple, SupportsIndex
from weakref import WeakKeyDictionary

import numpy as np

from kbnf_core.mask.bits import Bitmask, pack, unpack
from kbnf_core.mask.masks import WAITING
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.text.errors import ConfigError, RejectedError, UnknownTokenError
from kbnf_core.text.locks import cached_property
from kbnf_core.text.suggest import edits
from kbnf_core.vocab.trie import ABSENT
from kbnf_core.vocab.vocabulary import Vocabulary, spelled

After = str | int
"""The text to wait for, or the id of a token."""

Outcome = int | bytes
"""How many bytes of the text have come; or the bytes after it, once it has."""

MOST_FREE = 1 << 24
"""The largest bound of tokens before a grammar: positions have room for no more."""


class Boundary(NamedTuple):
    """A boundary before a grammar: text or token, and how many free tokens, None for any number."""

    after: After
    tokens: int | None = None


class AwaitedText:
    """The automaton of the wait for a text, which is not empty."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._beginnings = tuple(text[:end] for end in range(len(text) - 1, 0, -1))

    def outcome(self, come: int, data: bytes) -> Outcome:
        """Return the state after ``data`` where ``come`` bytes of the text have come."""
        # Bytes before those are part of no beginning: ``come`` is the most there are.
        seen = self.text[:come] + data
        _, result, rest = seen.partition(self.text)
        return rest if result else next(self._begun_by(seen), 0)

    def begun(self, come: int) -> tuple[int, ...]:
        """Return how many bytes of the text the last bytes are, all numbers there are."""
        return (*self._begun_by(self.text[:come]), 0)

    def _begun_by(self, seen: bytes) -> Iterator[int]:
        return (len(beginning) for beginning in self._beginnings if seen.endswith(beginning))

    def ends(self, vocabulary: Vocabulary) -> frozenset[int]:
        """Return the tokens that end the sequence without the text, which cannot occur before."""
        ids = vocabulary.eos_token_ids
        return frozenset(
            token_id for token_id in ids if self.text not in vocabulary.decode((token_id,))
        )

    def names(self, vocabulary: Vocabulary) -> list[tuple[int, bytes]]:
        """Return the special tokens that can occur before, and their names."""
        ids = sorted(vocabulary.special_ids - self.ends(vocabulary))
        return [(token_id, vocabulary.decode((token_id,))) for token_id in ids]

    def touches(self, data: bytes) -> bool:
        """Return whether ``data`` leads anywhere but to 0 from some position."""
        text = self.text
        return (
            data in text
            or text in data
            or data.startswith(tuple(text[start:] for start in range(1, len(text))))
            or data.endswith(self._beginnings)
        )


_MUCH = 1 << 20
"""The cost of a token that continues after the text: more than any that spell it alone."""


class _StopSpelling:
    """How tokens spell a text and nothing before it; the last one may go on after it.

    It always may, but is counted on only where the text cannot be spelled alone: the rest of the
    token may lead to a state for which no budget suffices.
    """

    def __init__(self, awaited: AwaitedText, vocabulary: Vocabulary) -> None:
        self._awaited, self._vocabulary = awaited, vocabulary
        self._names = awaited.names(vocabulary)
        length = len(awaited.text)
        self._from = [inf] * length + [0]
        for start in reversed(range(length)):
            costs = (cost + self._from[end] for end, cost, _ in self._tokens(start))
            self._from[start] = min(costs, default=inf)

    def _tokens(self, start: int) -> Iterator[tuple[int, int, list[int]]]:
        """Yield the tokens that spell the text from a place on, where they end, and their cost."""
        rest, trie = self._awaited.text[start:], self._vocabulary.trie
        for count in range(1, len(rest) + 1):
            node = trie.find(rest[:count])
            if node == ABSENT:
                break
            if len(ids := trie.ids(node)):
                yield start + count, 1, ids.tolist()
            if count == len(rest) and len(ids := trie.subtree_ids(node)):
                yield start + count, _MUCH, ids.tolist()
        for token_id, name in self._names:
            if name and (rest.startswith(name) or name.startswith(rest)):
                end = start + min(len(name), len(rest))
                yield end, 1 if rest.startswith(name) else _MUCH, [token_id]

    def fewest(self, come: int) -> float:
        """Return the fewest tokens that are missing where ``come`` bytes have come."""
        return min(self._from[begun] for begun in self._awaited.begun(come))

    def _nearer(self, come: int) -> Iterator[tuple[int, list[int]]]:
        """Yield the tokens with which the text comes nearer, with the places that they begin at."""
        fewest = self.fewest(come)
        for start in self._awaited.begun(come):
            for end, _, ids in self._tokens(start):
                if self._from[end] < fewest:
                    yield start, ids

    def next_tokens(self, come: int) -> list[int]:
        """Return the tokens with which the text comes nearer."""
        return [token_id for _, ids in self._nearer(come) for token_id in ids]

    def next_bytes(self, come: int) -> list[int]:
        """Return the bytes that they begin with."""
        return sorted({self._awaited.text[start] for start, _ in self._nearer(come)})

    def comes_nearer(self, come: int, data: bytes) -> bool:
        """Return whether the text comes nearer by bytes."""
        text, fewest = self._awaited.text, self.fewest(come)
        for start in self._awaited.begun(come):
            count = min(len(data), len(text) - start)
            if (
                count
                and text.startswith(data[:count], start)
                and self._from[start + count] < fewest
            ):
                return True
        return False


def begin_with(automaton: TokenAutomaton, rest: bytes) -> int:
    """Return the position of a grammar after the rest of the token in which the text has come."""
    try:
        return automaton.append(automaton.beginning, rest)
    except RejectedError:
        return automaton.beginning


class WaitingAutomaton(TokenAutomaton):
    """A token automaton before which everything is free, until a text or a token has come.

    It shares states and masks with ``grammar``, the token automaton that comes after it. Raises
    ``ConfigError`` where free tokens are bounded and no tokens spell the text.
    """

    def __init__(self, grammar: TokenAutomaton, boundary: Boundary) -> None:
        super().__init__(grammar.masks, grammar.finish, grammar.limits)
        after, self._most = boundary
        self._grammar = grammar
        self._token = None if isinstance(after, str) else after
        self._awaited = AwaitedText(after.encode()) if isinstance(after, str) else None
        self._stride = 1 if self._awaited is None else len(self._awaited.text)
        self._forced_words: dict[int, Bitmask] = {}
        if self._most is not None and self._awaited is not None and self._spelling.fewest(0) == inf:
            raise ConfigError(f"`after_tokens`: no tokens of the vocabulary spell {after!r} alone")

    @property
    def beginning(self) -> int:
        """The position before the first byte."""
        return WAITING

    @cached_property
    def _ends(self) -> frozenset[int]:
        """The tokens that end the sequence, and the wait does not."""
        vocabulary = self.masks.vocabulary
        if self._awaited is None:
            return vocabulary.eos_token_ids - {self._token}
        return self._awaited.ends(vocabulary)

    @cached_property
    def _spelling(self) -> _StopSpelling:
        assert self._awaited is not None  # noqa: S101 - asked where a text is awaited
        return _StopSpelling(self._awaited, self.masks.vocabulary)

    def is_bounded(self, position: int) -> bool:
        """Return whether the free tokens are used up, and the grammar has not begun."""
        return position >= WAITING and (position - WAITING) // self._stride == self._most

    def expected(self, position: int) -> tuple[tuple[tuple[int, int], ...], str]:
        """Return the ranges of bytes that can occur before the grammar, and the reason."""
        after = self._token if self._awaited is None else self._awaited.text.decode()
        if not self.is_bounded(position):
            return ((0, 255),), f"all but an end is free until {after!r} has come"
        reason = (
            f"{self._most:,} tokens came before {after!r}: only tokens that lead to it are allowed"
        )
        if self._awaited is None:
            return (), reason
        come = (position - WAITING) % self._stride
        return tuple((value, value) for value in self._spelling.next_bytes(come)), reason

    def forced_bytes(self, position: int, limit: int) -> bytes:
        """Return the forced bytes of the grammar; before it nothing is forced."""
        return b"" if position >= WAITING else super().forced_bytes(position, limit)

    def forced_tokens(self, position: int, accepted: list[int | bytes], limit: int) -> list[int]:
        """Return the forced tokens of the grammar; before it nothing is forced."""
        return [] if position >= WAITING else super().forced_tokens(position, accepted, limit)

    def before_grammar(
        self, position: int, positions: list[int], accepted: list[int | bytes]
    ) -> tuple[int, bytes]:
        """Return how much was waiting for the grammar, and what the last token has of its text."""
        waited = bisect_left(positions, 1, key=lambda earlier: earlier < WAITING)
        if self._awaited is None or position >= WAITING:
            return waited, b""
        # The text ends in the last waiting token: as many bytes before that as it is long suffice.
        vocabulary, text = self.masks.vocabulary, self._awaited.text
        first, missing = waited - 1, len(text)
        while first > 0 and missing > 0:
            first -= 1
            missing -= len(spelled(vocabulary, accepted[first : first + 1]))
        rest = spelled(vocabulary, accepted[first:waited]).partition(text)[2]
        state, _ = self.rule.feed(self.masks.states, self.masks.states.initial, rest)
        return waited, b"" if state == DEAD else rest

    def can_finish(self, position: int) -> bool:
        """Return whether the text is over, or may be ended by the end of sequence."""
        return position < WAITING and super().can_finish(position)

    def append(self, position: int, data: bytes) -> int:
        """Return the position after ``data``; raise FinishedError or RejectedError."""
        if position < WAITING:
            return super().append(position, data)
        return self._wait(position, None, data)

    def mask(self, position: int) -> Bitmask:
        """Compute the tokens allowed at a position, bypassing the cache."""
        if position < WAITING:
            return super().mask(position)
        if not self.is_bounded(position):
            return self._free
        cached = self._forced_words.get(position)
        if cached is None:
            come = (position - WAITING) % self._stride
            token = [] if self._token is None else [self._token]
            cached = pack(token or self._spelling.next_tokens(come), self.masks.vocabulary.size)
            cached.setflags(write=False)
            self._forced_words[position] = cached
        return cached

    def has_tokens(self, position: int) -> bool:
        """Return whether any token is allowed at a position before the end."""
        return position >= WAITING or super().has_tokens(position)

    def step(self, position: int, token_id: int) -> int:
        """Compute the position after a token, as ``TokenAutomaton.step`` does."""
        if position < WAITING:
            return super().step(position, token_id)
        vocabulary = self.masks.vocabulary
        if token_id not in vocabulary:
            raise UnknownTokenError(token_id)
        data = vocabulary.decode((token_id,))
        if token_id in self._ends:
            raise RejectedError(token_id, data, 0)
        return self._wait(position, token_id, data)

    def _wait(self, position: int, token_id: int | None, data: bytes) -> int:
        """Return the position after a token, or bytes (None), that come before the grammar."""
        spent, come = divmod(position - WAITING, self._stride)
        is_bounded, awaited = spent == self._most, self._awaited
        if awaited is None:
            if token_id == self._token:
                return self._grammar.beginning
            outcome: Outcome = 0
        else:
            outcome = awaited.outcome(come, data)
        if is_bounded and data and (awaited is None or not self._spelling.comes_nearer(come, data)):
            raise RejectedError(token_id, data, 0)
        if not isinstance(outcome, int):
            return begin_with(self._grammar, outcome)
        if data and self._most is not None and not is_bounded:
            spent += 1
        return WAITING + spent * self._stride + outcome

    def fitting(self, words: Bitmask, position: int, left: int) -> Bitmask:
        """Return the tokens of the mask after which a text can be over in time.

        Of those that wait, that is all but some with which the text comes, and more after it.
        """
        if position < WAITING:
            return super().fitting(words, position, left)
        if self.nearest_end.always_fits(self._grammar.beginning, left):
            return words
        can_come = np.flatnonzero(unpack(words & self._last_words, self.masks.vocabulary.size))
        late = [
            token_id for token_id in can_come.tolist() if not self._leaves(position, token_id, left)
        ]
        return words & ~pack(late, self.masks.vocabulary.size) if late else words

    def _leaves(self, position: int, token_id: int, left: int) -> bool:
        after = self.step(position, token_id)
        return after >= WAITING or self.nearest_end.fits(after, left)

    @cached_property
    def _last_words(self) -> Bitmask:
        """The tokens that can complete the text: those that contain an end of it, or all of it."""
        vocabulary = self.masks.vocabulary
        if self._awaited is None:
            return pack((), vocabulary.size)
        text, trie, result = self._awaited.text, vocabulary.trie, set(vocabulary.special_ids)
        for start in range(len(text)):
            node = trie.find(text[start:])
            if node != ABSENT:
                result.update(trie.subtree_ids(node).tolist())
        spelled = vocabulary.spellings
        data, ends = spelled.blob.tobytes(), spelled.starts[1:]
        offset = data.find(text)
        while offset >= 0:
            # A hit may also go on in the next token: then this one is judged in vain (``_leaves``).
            result.add(int(np.searchsorted(ends, offset, side="right")))
            offset = data.find(text, offset + 1)
        return pack(sorted(result), vocabulary.size)

    @cached_property
    def _free(self) -> Bitmask:
        vocabulary = self.masks.vocabulary
        all_ids = np.array([*vocabulary.tokens, *vocabulary.special_ids], np.int32)
        words = pack(all_ids, vocabulary.size) & ~pack(sorted(self._ends), vocabulary.size)
        words.setflags(write=False)
        return words


def waiting_for(grammar: TokenAutomaton, boundary: Boundary | None) -> TokenAutomaton:
    """Return the automaton for the text after a boundary, one object for all that use it."""
    if boundary is None:
        return grammar
    cached = grammar.behind.get(boundary)
    return cached or grammar.behind.setdefault(boundary, WaitingAutomaton(grammar, boundary))


def _can_come(awaited: AwaitedText, vocabulary: Vocabulary) -> bool:
    """Return whether some tokens spell a text, which may begin and end within one."""
    text = awaited.text
    if all(vocabulary.trie.find(bytes([byte])) != ABSENT for byte in text):
        return True
    names = (name for _, name in awaited.names(vocabulary))
    touching = [token for token in (*vocabulary.tokens.values(), *names) if awaited.touches(token)]
    reached, done = {0}, set[int]()
    while reached > done:
        come = min(reached - done)
        done.add(come)
        outcomes = [awaited.outcome(come, data) for data in touching]
        if any(isinstance(outcome, bytes) for outcome in outcomes):
            return True
        reached |= {outcome for outcome in outcomes if isinstance(outcome, int)}
    return False


_hints: WeakKeyDictionary[Vocabulary, dict[str, str]] = WeakKeyDictionary()
"""What to say of texts that were waited for, for the life of a vocabulary; a few are."""

_MOST_HINTS = 64

_MOST_EDITS = 2
"""Letters in which a misspelt special token differs from the right one."""


def _hint(after: str, vocabulary: Vocabulary) -> str:
    """Return the reason why a boundary text is unlikely to be generated; empty if it is likely."""
    hints = _hints.setdefault(vocabulary, {})
    if after not in hints:
        if len(hints) >= _MOST_HINTS:
            hints.clear()
        hints[after] = _find_hint(after, vocabulary)
    return hints[after]


def _find_hint(after: str, vocabulary: Vocabulary) -> str:
    if not _can_come(AwaitedText(after.encode()), vocabulary):
        return "no tokens of the vocabulary spell it, so it never comes"
    names = [*map(vocabulary.token_string, vocabulary.special_ids)]
    if after in names or vocabulary.trie.find(after.encode()) != ABSENT:
        return ""
    most = min(_MOST_EDITS, len(after) // 4)
    for name in names:
        if name and abs(len(name) - len(after)) <= most and edits(name, after, most) <= most:
            return f"the vocabulary has the special token {name!r}; was that meant?"
    return ""


def checked_after(
    after: After | None, tokens: SupportsIndex | None, vocabulary: Vocabulary
) -> Boundary | None:
    """Return the boundary to wait for, or None.

    Raises ``ConfigError`` for a token that never comes and for a bound of nothing, and warns of a
    text that never can, or is nearly that of a special token.
    """
    most = None if tokens is None else index(tokens)
    if not after and not isinstance(after, int):
        if most is not None:
            raise ConfigError("`after_tokens` bounds the tokens before `after`, which is not given")
        return None
    if most is not None and not 0 <= most <= MOST_FREE:
        raise ConfigError(f"`after_tokens` is {most}, not a number from 0 to {MOST_FREE:,}")
    if isinstance(after, str):
        if hint := _hint(after, vocabulary):
            warnings.warn(f"`after` is {after!r}: {hint}", stacklevel=3)
    elif after not in vocabulary:
        raise ConfigError(f"`after` is token {after}, which the vocabulary does not have")
    return Boundary(after, most)
