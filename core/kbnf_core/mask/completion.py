"""Ways to the end of a text: a shortest one, the shortest texts of a grammar, texts at random.

A shortest way in bytes follows the lengths that ``recognise/distance.py`` knows. For tokens there
is no such table, as a token may cross any number of rules: the search goes breadth first over
states, all tokens at once, and leaves out states from which even the longest tokens could not reach
the end sooner than the best way known.

The shortest texts come by best-first search over states (A*, Hart et al. 1968). The bound of a
state, how far it is from the end, is exact, so no state is looked at in vain. Bytes that the
grammar tells apart nowhere are one: the most readable stands for all. A text at random is some
steps of a random walk, then the shortest way to the end.
"""

import heapq
from dataclasses import dataclass
from math import ceil, inf
from random import Random

import numpy as np
import numpy.typing as npt

from kbnf_core.budget import Budget
from kbnf_core.errors import EngineError, RejectedError, WorkLimitError
from kbnf_core.mask.bits import Bitmask, unpack
from kbnf_core.mask.successors import Successors
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.vocab.trie import ROOT, fewest_tokens
from kbnf_core.vocab.vocabulary import Vocabulary

MAX_LENGTH = 65_536
"""Bytes; a longer completion is refused, not written out."""

MAX_WORK = 4_000_000
"""Steps of one call: bytes tried, trie nodes looked at, and shares for states."""


@dataclass(frozen=True, slots=True)
class Completion:
    """How a text can end soonest; both ways end where ``Engine.can_finish`` is true.

    ``data``: the fewest bytes, None where every way needs a token terminal. ``tokens``: the
    fewest tokens found, None where none were; they need not spell ``data``. ``is_fewest`` tells
    that no fewer tokens can do it, or with None that no tokens can; it is False only where the
    search gave up (``MAX_WORK``) or was not wanted.
    """

    data: bytes | None
    tokens: tuple[int, ...] | None
    is_fewest: bool


def shortest_completion(
    automaton: TokenAutomaton, position: int, fewest: bool = True, budget: Budget | None = None
) -> Completion:
    """Return the shortest completion of the text at ``position``: b"" where it is complete.

    Without ``fewest`` the tokens that spell the fewest bytes do, where there are such.
    Raises EngineError if it takes more than ``MAX_LENGTH`` bytes, or more steps before they are
    known than ``budget`` has, ``MAX_WORK`` without one.
    """
    if automaton.can_finish(position):
        return Completion(b"", (), True)
    budget = budget or Budget(MAX_WORK)
    try:
        data = _shortest_bytes(automaton, position, budget)
    except WorkLimitError:
        message = f"the shortest completion takes more than {budget.limit:,} steps to find"
        raise EngineError(message) from None
    known = _spell(automaton, position, data)
    if known is not None and not fewest:
        return Completion(data, known, False)
    tokens, is_fewest = _Search(automaton, position, known, budget).run()
    return Completion(data, tokens, is_fewest)


def _shortest_bytes(automaton: TokenAutomaton, position: int, budget: Budget) -> bytes | None:
    """Return the fewest bytes that complete the text at ``position``, which is not complete.

    Of several such texts it is the one with the most readable bytes first. None if there is none.
    """
    left = automaton.bytes_left.length(position, budget)
    if left == inf:
        return None
    if left > MAX_LENGTH:
        raise EngineError(f"the shortest completion takes {left:,.0f} bytes, too many to show")
    ways = readable_bytes(automaton.masks.states.tables.classes)
    found = bytearray()
    for distance in range(int(left) - 1, -1, -1):
        byte, position = _nearer(automaton, position, distance, ways, budget)
        found.append(byte)
    return bytes(found)


def _nearer(
    automaton: TokenAutomaton,
    state: int,
    distance: int,
    ways: list[tuple[int, int]],
    budget: Budget,
) -> tuple[int, int]:
    """Return a byte, and the state after it, that is ``distance`` bytes from the end."""
    states = automaton.masks.states
    share = 1 + len(states.pairs(state))
    for byte_class, byte in ways:
        budget.spend(share)
        after = states.step(state, byte_class)
        if after != DEAD and _distance(automaton, after, budget) == distance:
            return byte, after
    # Transitions that were compiled follow from the tables, as the lengths do.
    raise EngineError("the transitions are not those of the grammar: the artifact was forged")


def _distance(automaton: TokenAutomaton, state: int, budget: Budget) -> float:
    if automaton.masks.is_complete(state):
        return 0
    return automaton.bytes_left.length(state, budget)


def readable_bytes(classes: npt.NDArray[np.uint8]) -> list[tuple[int, int]]:
    """Return each byte class with its most readable byte, in that order."""
    best: dict[int, int] = {}
    for byte in sorted(range(256), key=unreadability):
        best.setdefault(int(classes[byte]), byte)
    return list(best.items())


def unreadability(byte: int) -> tuple[bool, bool, bool, int]:
    """Return a key by which bytes are sorted, the most readable first."""
    character = chr(byte)
    return not 0x20 <= byte < 0x7F, not character.isalnum(), character.isupper(), byte


def _spell(automaton: TokenAutomaton, position: int, data: bytes | None) -> tuple[int, ...] | None:
    """Return the fewest tokens that spell ``data``, cut off where they complete the text."""
    tokens = None if data is None else fewest_tokens(automaton.masks.vocabulary.trie, data)
    if tokens is None:
        return None
    for count, token_id in enumerate(tokens, start=1):
        try:
            position = automaton.step(position, token_id)
        except RejectedError:
            # A token terminal has led on too, to where the text ends within this token.
            return None
        if automaton.can_finish(position):
            return tokens[:count]
    return None


class _Search:
    """Breadth first over states, level by level; ``known`` is a way to the end, or None."""

    def __init__(
        self,
        automaton: TokenAutomaton,
        position: int,
        known: tuple[int, ...] | None,
        budget: Budget,
    ) -> None:
        self._automaton = automaton
        self._known = known
        self._fewer_than = inf if known is None else len(known)
        self._budget = budget
        self._successors = Successors(automaton, self._budget)
        self._left: dict[int, float] = {}
        self._paths: dict[int, tuple[int, ...]] = {position: ()}
        self._longest = max(1, automaton.masks.vocabulary.trie.max_depth)

    def run(self) -> tuple[tuple[int, ...] | None, bool]:
        """Return the fewest tokens, and whether no fewer can be."""
        try:
            return self._search(), True
        except WorkLimitError:
            return self._known, False

    def _search(self) -> tuple[int, ...] | None:
        level = [state for state in self._paths if self._can_improve(state, 0)]
        while level:
            found: list[int] = []
            for state in sorted(level, key=self._length):
                fresh = self._expand(state)
                for after in fresh:
                    if self._automaton.masks.is_complete(after):
                        return self._paths[after]
                found += fresh
            level = [s for s in found if self._can_improve(s, len(self._paths[s]))]
        return self._known

    def _length(self, state: int) -> float:
        """Return the steps left; every pair of the state is looked at, so each is charged."""
        if state not in self._left:
            self._budget.spend(1 + len(self._automaton.masks.states.pairs(state)))
            self._left[state] = self._automaton.steps_left.length(state, self._budget)
        return self._left[state]

    def _expand(self, state: int) -> list[int]:
        """Return the states, not met before, that one more token leads to."""
        before = self._paths[state]
        after = self._successors.after(state)
        fresh = [each for each in after if each not in self._paths]
        self._paths.update((each, (*before, after[each])) for each in fresh)
        return fresh

    def _can_improve(self, state: int, spent: int) -> bool:
        """Tell whether the longest tokens could reach the end sooner than the known way."""
        left = self._length(state)
        return left < inf and spent + ceil(left / self._longest) < self._fewer_than


MOST_WORK = 500_000
"""Steps of one call: bytes tried, and shares for states. Each may leave a text on the front."""


@dataclass(frozen=True, slots=True)
class ShortestTexts:
    """``texts``, the shortest first; ``is_all`` tells that there are no others."""

    texts: tuple[bytes, ...]
    is_all: bool


def shortest_texts(automaton: TokenAutomaton, position: int, count: int) -> ShortestTexts:
    """Return the ``count`` shortest ways in which the text at ``position`` can go on to an end.

    Fewer where there are no more, or where they take more than ``MOST_WORK`` steps to find. Texts
    for which a token must be named are left out.
    """
    search = _BestFirst(automaton, Budget(MOST_WORK))
    found: list[bytes] = []
    try:
        search.begin(position)
        while len(found) < count:
            text = search.next()
            if text is None:
                return ShortestTexts(tuple(found), True)
            found.append(text)
    except WorkLimitError:
        pass
    return ShortestTexts(tuple(found), False)


class _BestFirst:
    """The front of the search: texts by the least length of what they can become.

    An entry is that length, the text in ranks of readability, and the state behind it, None where
    the text is complete and is meant as it is.
    """

    def __init__(self, automaton: TokenAutomaton, budget: Budget) -> None:
        self._automaton = automaton
        self._budget = budget
        self._ways = readable_bytes(automaton.masks.states.tables.classes)
        self._front: list[tuple[float, bytes, int | None]] = []

    def begin(self, position: int) -> None:
        """Start at a position, with the empty text if it is complete."""
        if self._automaton.can_finish(position):
            heapq.heappush(self._front, (0, b"", None))
        if position >= 0:
            self._go_on(b"", position)

    def next(self) -> bytes | None:
        """Return the next text, None where there is none."""
        while self._front:
            _, ranks, state = heapq.heappop(self._front)
            if state is None:
                return bytes(self._ways[rank][1] for rank in ranks)
            self._expand(ranks, state)
        return None

    def _expand(self, ranks: bytes, state: int) -> None:
        masks = self._automaton.masks
        share = 1 + len(masks.states.pairs(state)) + len(ranks) // 64
        for rank, (byte_class, _) in enumerate(self._ways):
            self._budget.spend(share)
            after = masks.states.step(state, byte_class)
            if after == DEAD:
                continue
            longer = ranks + bytes((rank,))
            is_complete = masks.is_complete(after)
            if is_complete:
                heapq.heappush(self._front, (len(longer), longer, None))
            if not (is_complete and self._automaton.rule.ends_at_bytes):
                self._go_on(longer, after)

    def _go_on(self, ranks: bytes, state: int) -> None:
        left = self._automaton.bytes_left.length(state, self._budget)
        if left < inf:
            heapq.heappush(self._front, (len(ranks) + left, ranks, state))


_READABLE = 16
"""Of so many draws, all but one take a printable character of ASCII if there is one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """``tokens`` that were drawn; ``is_complete`` tells whether the text may end behind them."""

    tokens: tuple[int, ...]
    is_complete: bool


def sample(automaton: TokenAutomaton, position: int, random: Random, length: int) -> Sample:
    """Return tokens that can follow at ``position``: ``length`` of them, and then the soonest end.

    Fewer where the text ends before. What is drawn first is the first byte, all that can come
    being equally likely, and then a token that begins with it, so that the many tokens of one
    letter do not drown the few that close a bracket. Most draws keep to bytes that can be read.
    """
    tokens: list[int] = []
    while position >= 0 and len(tokens) < length:
        words = automaton.rule.mask(automaton.masks, position)
        if not words.any():
            return Sample(tuple(tokens), automaton.can_finish(position))
        tokens.append(_draw(automaton.masks.vocabulary, words, random))
        position = automaton.step(position, tokens[-1])
    rest = shortest_completion(automaton, position).tokens
    return Sample((*tokens, *(rest or ())), rest is not None)


def _draw(vocabulary: Vocabulary, words: Bitmask, random: Random) -> int:
    """Return one of the tokens of a mask that allows some; those without bytes are one group."""
    trie = vocabulary.trie
    flags = unpack(words, vocabulary.size)
    # allowed[i]: how many of the first i tokens, in the order of the trie, are allowed.
    allowed = np.concatenate(([0], np.cumsum(flags[trie.token_ids])))
    first = trie.children(ROOT)
    begin, end = trie.token_start[first], trie.token_start[trie.skip[first]]
    groups = np.flatnonzero(allowed[end] > allowed[begin]).tolist()
    if random.randrange(_READABLE):
        groups = [g for g in groups if 0x20 <= trie.byte[first[g]] < 0x7F] or groups
    flags[trie.token_ids] = False
    others = np.flatnonzero(flags).tolist()
    chosen = random.randrange(len(groups) + bool(others))
    if chosen == len(groups):
        return int(random.choice(others))
    group = groups[chosen]
    nth = random.randrange(int(allowed[begin[group]]), int(allowed[end[group]]))
    return int(trie.token_ids[np.searchsorted(allowed, nth, side="right") - 1])
