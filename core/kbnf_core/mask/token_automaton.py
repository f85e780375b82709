"""The token automaton of one (grammar, vocabulary, finish): masks and token transitions, memoised.

``TokenAutomata`` are those of one grammar, with the state table that they share.

A *position* is what an engine keeps: the number of a state, or its complement (``~state``) where
the text is over; where a count does not matter yet, the count is above the state
(``kernel/counting.pxi``). So a token's step is one lookup, by position and token id packed into one
integer.

Memos, in the order in which they are asked. Of a step: the table and the states after tokens
(``TokenSteps``); by position and token what bytes alone do not decide (``after``): special tokens,
token terminals. Of a row: what the mask of a state is written from (``StateMasks``), without which
masks cost 1.2 times as much; where an array is asked for, that of the position (``words``), which
many positions share (``Masks.unions``); and walks by item set, from which all are made. The texts
that a vocabulary's tokenizer cut, for forced tokens, are shared by all grammars (``texts_of``).

Tests: tests/unit/mask
"""

from math import inf
from sys import getsizeof
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary, WeakValueDictionary, proxy

from kbnf_core.config import Finish
from kbnf_core.kernel import Forced, StateMasks, Texts, TokenSteps
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.bits import Bitmask, only_id, pack
from kbnf_core.mask.finish import finish_rule
from kbnf_core.mask.masks import STATE, Masks, state_at
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.collecting import weakly
from kbnf_core.text.errors import FinishedError, RejectedError, UnknownTokenError, VocabularyError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import cached_property, new_rlock
from kbnf_core.text.remembered import LruDict
from kbnf_core.vocab.vocabulary import Vocabulary

if TYPE_CHECKING:
    from kbnf_core.mask.canonical import Narrows
    from kbnf_core.mask.finish import NearestEnd
    from kbnf_core.recognise.closing import DistanceToEnd


TOKEN_BITS = 24
"""Token ids are below 2**24; see ``Vocabulary``."""

_TOKEN_MASK = (1 << TOKEN_BITS) - 1

_NUMBER_BYTES, _STEP_BYTES = 32, 80
"""The memory of a number, and of a step: its key, and a position that may be one of few."""


class TableFullError(Exception):
    """The state table is full and must be replaced. Internal; callers never see it."""


class TokenAutomaton:
    """The data shared by engines of one grammar, vocabulary and way to end.

    ``after[position << TOKEN_BITS | token_id]`` is the position after a token,
    ``words[position]`` the tokens allowed; both raise what the engine's methods raise, and
    TableFullError, as does ``feed``. ``step``, ``append`` and ``mask`` compute the same in a full
    table too, so a caller that has made room still advances by one step when other threads fill it.
    """

    def __init__(self, masks: Masks, finish: Finish, limits: Limits = DEFAULT_LIMITS) -> None:
        self.masks = masks
        self.finish = finish
        self.limits = limits
        self.rule = finish_rule(finish)
        # Weakly: memo and automaton would be a circle, which lives on until a collection.
        self.after: LruDict[int, int] = LruDict(weakly(self._find_after), limits.cached_steps)
        self.state_masks = StateMasks(masks, self.rule)
        self.token_steps = TokenSteps(masks, self.rule)
        self.words: LruDict[int, Bitmask] = LruDict(weakly(self._find_words), masks.mask_capacity)
        self._no_words = masks.no_words
        # By what they wait for: see ``mask/boundary.py``.
        self.behind: WeakValueDictionary[tuple[str | int, int | None], TokenAutomaton]
        self.behind = WeakValueDictionary()
        # What ``mask.ahead`` knows: positions handed to it, and those of the masks that it made
        # and nobody has asked for.
        self.prepared: set[int] = set()
        self.unasked: set[int] = set()

    @property
    def beginning(self) -> int:
        """The position before the first byte."""
        return self.masks.states.initial

    @cached_property
    def bytes_left(self) -> "DistanceToEnd":
        """The bytes that the shortest completions of states take."""
        from kbnf_core.recognise.closing import DistanceToEnd

        return DistanceToEnd(self.masks.states, token=inf)

    def no_mask(self) -> Bitmask:
        """Return the mask in which nothing is allowed; ``words`` has this object for it."""
        return self._no_words

    def last_row(self, position: int) -> Bitmask:
        """Return the mask row of a position without allowed tokens: the ids that end the sequence.

        Without any: all ids where the text is over, since nothing constrains the tokens after it;
        none where it is stuck.
        """
        vocabulary = self.masks.vocabulary
        if vocabulary.eos_token_ids:
            return pack(sorted(vocabulary.eos_token_ids), vocabulary.size)
        if self.can_finish(position):
            return pack(range(vocabulary.size), vocabulary.size)
        return self._no_words

    def feed(self, position: int, data: bytes) -> int:
        """Return the position after ``data``; raise FinishedError or RejectedError."""
        if position >= 0:
            self._make_room()
        return self.append(position, data)

    def append(self, position: int, data: bytes) -> int:
        """Feed bytes as ``feed`` does, also in a full table."""
        if position < 0:
            raise FinishedError
        after = self.masks.counting.feed(position, data, self.rule.ends_at_bytes)
        if after == DEAD:
            state = self.masks.counting.exact(position)
            raise RejectedError(None, data, self.rule.feed(self.masks.states, state, data)[1])
        return self.settle(after) if data else position

    def can_finish(self, position: int) -> bool:
        """Return whether the text is over, or may be ended by the end of sequence."""
        return position < 0 or self.rule.takes_eos(self.masks.is_complete(position))

    def settle(self, position: int) -> int:
        """Return the position, over or not, where a token's end was reached."""
        state = position & STATE
        over = self.rule.ends_at_tokens and self.masks.is_complete(state)
        return ~state if over else position

    def _make_room(self) -> None:
        if self.masks.is_full:
            raise TableFullError

    def _find_words(self, position: int) -> Bitmask:
        if position < 0:
            return self._no_words
        self._make_room()
        return self.mask(position)

    def mask(self, position: int) -> Bitmask:
        """Compute the tokens allowed at a position, bypassing the cache."""
        if position < 0:
            return self._no_words
        return self.masks.union(self.rule.rows(self.masks, position))

    def has_tokens(self, position: int) -> bool:
        """Return whether any token is allowed at a position before the end; no mask is made."""
        return bool(self.rule.rows(self.masks, position))

    def only_token(self, position: int) -> int | None:
        """Return the token allowed at a position, None unless it is just one."""
        return only_id(self.mask(position))

    @cached_property
    def nearest_end(self) -> "NearestEnd":
        """How few tokens end the texts, and which tokens leave enough for that."""
        from kbnf_core.mask.finish import NearestEnd

        return NearestEnd(self.masks, self.rule, weakly(self.step))

    @cached_property
    def narrows(self) -> "Narrows":
        """The tokens after which few are allowed, for canonical masks."""
        from kbnf_core.mask.canonical import Narrows

        leads = self.nearest_end.leads
        return Narrows(self.masks, leads, weakly(self.settle), weakly(self.mask))

    @property
    def estimated_bytes(self) -> int:
        """The memory that is taken beside that of the masks and the table."""
        result = self.state_masks.bytes + self.token_steps.bytes
        result += self.after.bytes_with(_STEP_BYTES) + self.words.bytes_with(_NUMBER_BYTES)
        result += _NUMBER_BYTES * (len(self.prepared) + len(self.unasked))
        result += getsizeof(self.prepared) + getsizeof(self.unasked)
        result += self.forced.bytes if "forced" in self.__dict__ else 0
        result += self.narrows.estimated_bytes if "narrows" in self.__dict__ else 0
        return result + (self.nearest_end.estimated_bytes if "nearest_end" in self.__dict__ else 0)

    def fitting(self, words: Bitmask, position: int, left: int) -> Bitmask:
        """Return the tokens of the mask at a position after which a text can be over in time.

        ``left``: the tokens that are left to it there.
        """
        return words if position < 0 else self.nearest_end.fitting(words, position, left)

    @cached_property
    def forced(self) -> Forced:
        """The finder of forced bytes and tokens, with its caches."""
        return Forced(self, texts_of(self.masks.vocabulary))

    def forced_bytes(self, position: int, limit: int) -> bytes:
        """Return the bytes, at most ``limit``, with which all texts from a position begin."""
        forced = self.forced.bytes_from(state_at(position), limit)
        # Without its count a state is the same as far as a token reaches; more bytes may stop
        # at a bound.
        exact = position <= STATE or not forced
        return forced if exact else self.forced.bytes_from(self._exact(position), limit)

    def forced_tokens(self, position: int, accepted: list[int | bytes], limit: int) -> list[int]:
        """Return the forced tokens after an accepted text, at most ``limit``."""
        forced = self.forced.find(state_at(position), accepted, limit)
        exact = position <= STATE or not forced
        return forced if exact else self.forced.find(self._exact(position), accepted, limit)

    def _exact(self, position: int) -> int:
        return self.masks.counting.exact(position)

    def before_grammar(
        self, position: int, positions: list[int], accepted: list[int | bytes]
    ) -> tuple[int, bytes]:
        """Return how much was accepted before the grammar began, and the rest of the last of it.

        ``positions``: those before each of ``accepted``; ``position``: the one after all.
        """
        del position, positions, accepted
        return 0, b""

    def _find_after(self, key: int) -> int:
        position, token_id = key >> TOKEN_BITS, key & _TOKEN_MASK
        if position >= 0:
            self._make_room()
        return self.step(position, token_id)

    def step(self, position: int, token_id: int) -> int:
        """Compute the position after a token at a position, bypassing the cache.

        Raises FinishedError, RejectedError or UnknownTokenError.
        """
        if position < 0:
            raise FinishedError
        vocabulary = self.masks.vocabulary
        data = vocabulary.token(token_id)
        if data is None and token_id not in vocabulary.special_ids:
            raise UnknownTokenError(token_id)
        if token_id in vocabulary.eos_token_ids and self.can_finish(position):
            return ~position
        if data == b"":
            return position
        return self._follow(position, token_id, data)

    def _follow(self, state: int, token_id: int, data: bytes | None) -> int:
        """Return the place after a token: by its bytes if it has any, and by its id."""
        states = self.masks.states
        after, taken = self.rule.feed(states, state, data) if data else (DEAD, 0)
        terminals = self.masks.terminals.matching(token_id)
        if terminals:
            after = states.merge(after, states.step_token(state, terminals))
        if after == DEAD:
            raise RejectedError(token_id, data or b"", taken)
        return self.settle(after)


MAX_VOCABULARIES = 4
"""Vocabularies for which a grammar caches masks."""


class TokenAutomata:
    """The token automata of one grammar; they share its state table and, per vocabulary, its masks.

    Those of the last few vocabularies are cached; an engine keeps its own. A full table is reset.
    """

    def __init__(self, tables: Tables, limits: Limits) -> None:
        self._tables = tables
        self._limits = limits
        self._states: StateTable | None = None
        self._automata: dict[Vocabulary, dict[Finish, TokenAutomaton]] = {}
        self._lock = new_rlock()

    @property
    def estimated_bytes(self) -> int:
        """The memory that all tables and masks take."""
        automata = [
            automaton
            for by_finish in [*self._automata.values()]
            for automaton in [*by_finish.values()]
        ]
        size = sum(automaton.estimated_bytes for automaton in automata)
        size += sum(masks.estimated_bytes for masks in {automaton.masks for automaton in automata})
        return size + (0 if self._states is None else self._states.explorer.bytes)

    def get(self, vocabulary: Vocabulary, finish: Finish) -> TokenAutomaton:
        """Return the token automaton over ``vocabulary``, the same object for equal arguments."""
        with self._lock:
            token_automata = self._of(vocabulary)
            cached = token_automata.get(finish)
            if cached is None:
                masks = next((automaton.masks for automaton in token_automata.values()), None)
                masks = masks or self._make_masks(vocabulary)
                cached = token_automata[finish] = TokenAutomaton(masks, finish, self._limits)
            return cached

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
                self._states = StateTable(self._tables, self._limits)
                self._automata.clear()
            return self.get(vocabulary, finish)

    def _make_masks(self, vocabulary: Vocabulary) -> Masks:
        if self._states is None:
            self._states = StateTable(self._tables, self._limits)
        return Masks(self._states, vocabulary, self._limits)


MOST_TEXTS = 4_096
"""Encoded texts that a vocabulary remembers; there is little else that grammars share."""

_texts: WeakKeyDictionary[Vocabulary, Texts] = WeakKeyDictionary()


def texts_of(vocabulary: Vocabulary) -> Texts:
    """Return the texts of a vocabulary for forced tokens, the same object each time."""
    cached = _texts.get(vocabulary)
    return cached or _texts.setdefault(vocabulary, Texts(vocabulary, encoded(vocabulary)))


def encoded(vocabulary: Vocabulary) -> LruDict[bytes, tuple[int, ...]]:
    """Return the tokens of texts; none for bytes that are not UTF-8, or cannot be cut."""
    # A reference would keep the vocabulary, by which this is found, for ever.
    weak = proxy(vocabulary)

    def encode(text: bytes) -> tuple[int, ...]:
        try:
            return tuple(weak.encode(text.decode()))
        except (UnicodeDecodeError, VocabularyError):
            return ()

    return LruDict(encode, MOST_TEXTS)
