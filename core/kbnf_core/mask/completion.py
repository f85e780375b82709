"""Ways to the end of a text: a shortest one, the shortest texts of a grammar, texts at random.

A shortest way in bytes follows the lengths of ``recognise/closing.py``, one in tokens those of
``finish.py``.

The shortest texts come by best-first search over states (A*, Hart et al. 1968). The bound of a
state, how far it is from the end, is exact, so no state is looked at in vain. Bytes that the
grammar nowhere distinguishes are one: the most readable stands for all. A text at random is some
steps of a random walk, then the shortest way to the end.

No grammar can keep all names of a JSON object apart. JSON lets a text repeat a name, and most
readers keep the last of such members. So in a text that is JSON from its first byte on, a name that
would repeat another one (``text.member_names``) gives way to the shortest one that does not.

Tests: tests/property/test_completion.py, tests/unit/text/test_member_names.py
"""

import heapq
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from random import Random

import numpy as np
import numpy.typing as npt

from kbnf_core.mask.bits import Bitmask, unpack
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import EngineError, RejectedError, WorkLimitError
from kbnf_core.text.member_names import MemberNames
from kbnf_core.vocab.trie import ROOT, fewest_tokens
from kbnf_core.vocab.vocabulary import Vocabulary

MAX_LENGTH = 65_536
"""Bytes; a longer completion is refused, not written out."""

MAX_WORK = 4_000_000
"""Steps of one call: bytes tried, trie nodes looked at, and shares for states."""

Before = Callable[[], bytes]
"""Returns the text so far, which is read only where names of members may occur after it."""

_QUOTE = ord('"')


@dataclass(frozen=True, slots=True)
class Completion:
    """How a text can end soon; both ways end where ``Engine.can_finish`` is true.

    ``data``: the fewest bytes, None where every way needs a token terminal. ``tokens``: few tokens,
    None where none were found; they need not spell ``data``.

    In a JSON text neither repeats a name of an object, unless no other is found.
    ``before``: the text that is completed, where ``Grammar.complete`` was asked.
    """

    data: bytes | None
    tokens: tuple[int, ...] | None
    before: bytes = b""

    @property
    def text(self) -> str:
        """The whole text; bytes that are not valid UTF-8 are U+FFFD here."""
        return (self.before + (self.data or b"")).decode("utf-8", "replace")


def shortest_completion(
    automaton: TokenAutomaton,
    position: int,
    fewest: bool = True,
    before: Before | None = bytes,
    budget: Budget | None = None,
) -> Completion:
    """Return the shortest completion of the text at ``position``: b"" where it is complete.

    Without ``fewest`` the tokens that spell the fewest bytes do, where there are such. Without
    ``before`` names may repeat.
    Raises EngineError if it takes more than ``MAX_LENGTH`` bytes, or more steps before they are
    known than ``budget`` has, ``MAX_WORK`` without one.
    """
    if automaton.can_finish(position):
        return Completion(b"", ())
    budget = budget or Budget(MAX_WORK)
    try:
        data = _shortest_bytes(automaton, position, budget)
    except WorkLimitError:
        message = f"the shortest completion takes more than {budget.limit:,} steps to find"
        raise EngineError(message) from None
    if data is not None and before is not None and _repeats_name(data, before):
        with suppress(WorkLimitError):
            names = MemberNames(before())
            data = _bytes_with_other_names(automaton, position, names, budget) or data
    spelled = _spell(automaton, position, data)
    if spelled is not None and not fewest:
        return Completion(data, spelled)
    tokens = automaton.nearest_end.way(position)
    if spelled is None or tokens is None:
        return Completion(data, spelled if tokens is None else tokens)
    repeats = _repeats_name(_spelled(automaton.masks.vocabulary, tokens), before)
    return Completion(data, spelled if repeats or len(spelled) <= len(tokens) else tokens)


def _repeats_name(data: bytes, before: Before | None) -> bool:
    """Return whether ``data`` repeats a name in the JSON text that it goes on with, if known."""
    return before is not None and b'"' in data and MemberNames(before()).read(data)


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
    result = bytearray()
    for distance in range(int(left) - 1, -1, -1):
        byte, position = _nearer(automaton, position, distance, ways, budget)
        result.append(byte)
    return bytes(result)


def _bytes_with_other_names(
    automaton: TokenAutomaton, position: int, names: MemberNames, budget: Budget
) -> bytes | None:
    """Return the fewest bytes to the end, with other names in place of those in ``names``.

    Each name in ``names`` is replaced by the shortest other one, if there is one. None if that
    takes too many bytes; raises WorkLimitError.
    """
    ways = readable_bytes(automaton.masks.states.tables.classes)
    result = bytearray()
    # The start of our bytes in a name, and the bytes of the name before them.
    name = 0, position, names.begun
    left = _distance(automaton, position, budget)
    while left and len(result) < MAX_LENGTH:
        byte, position = _nearer(automaton, position, int(left) - 1, ways, budget)
        result.append(byte)
        was_begun = names.begun
        if names.read(bytes((byte,))):
            start, at, begun = name
            other = _other_name(automaton, at, names, begun, budget)
            if other is not None:
                result[start:], position = other
        elif not was_begun and names.begun:
            name = len(result), position, names.begun
        left = _distance(automaton, position, budget)
    return None if left else bytes(result)


def _other_name(
    automaton: TokenAutomaton, position: int, names: MemberNames, begun: bytes, budget: Budget
) -> tuple[bytes, int] | None:
    """Return the shortest rest of a name outside ``names``, and the position after it.

    ``begun`` is the name so far, which an object contains as a whole. None if there is none.
    """
    states = automaton.masks.states
    classes = states.tables.classes
    ways = [(int(classes[byte]), byte) for byte in sorted(range(256), key=unreadability)]
    front: list[tuple[float, bytes, int, bool]] = [(0, b"", position, False)]
    while front:
        _, ranks, state, is_whole = heapq.heappop(front)
        rest = bytes(ways[rank][1] for rank in ranks)
        if is_whole:
            names.add(begun + rest)
            return rest, state
        may_end = not _escapes(begun + rest)
        # A step takes as long as its state has pairs, and its text is copied.
        share = 1 + len(states.pairs(state)) + len(rest) // 64
        by_class: dict[int, tuple[int, float]] = {}
        for rank, (byte_class, byte) in enumerate(ways):
            if byte_class not in by_class:
                budget.spend(share)
                after = states.step(state, byte_class)
                far = inf if after == DEAD else _distance(automaton, after, budget)
                by_class[byte_class] = after, far
            elif not 0x20 <= byte < 0x7F:
                # Of bytes that are alike and cannot be read one is enough.
                continue
            after, far = by_class[byte_class]
            is_end = byte == _QUOTE and may_end
            if far < inf and not (is_end and names.holds(begun + rest + b'"')):
                budget.spend(1)
                longer = ranks + bytes((rank,))
                heapq.heappush(front, (len(longer) + far, longer, after, is_end))
    return None


def _escapes(text: bytes) -> bool:
    """Return whether the part of a string escapes the character after it."""
    return (len(text) - len(text.rstrip(b"\\"))) % 2 == 1


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
    # Lengths follow from transitions, unless the tables are those of no grammar.
    raise EngineError("the tables are those of no grammar: the artifact was forged")


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


MOST_WORK = 500_000
"""Steps of one call: bytes tried, and shares for states. Each may leave a text on the front."""


@dataclass(frozen=True, slots=True)
class ShortestTexts:
    """``texts``, the shortest first; ``is_all`` says that there are no others."""

    texts: tuple[bytes, ...]
    is_all: bool


def shortest_texts(
    automaton: TokenAutomaton, position: int, count: int, before: Before = bytes
) -> ShortestTexts:
    """Return the ``count`` shortest ways in which the text at ``position`` can go on to an end.

    Fewer where there are no more, or where they take more than ``MOST_WORK`` steps to find. Texts
    for which a token must be named are left out; JSON texts that repeat a name come last.
    """
    search = _BestFirst(automaton, Budget(MOST_WORK), MemberNames(before()))
    result: list[bytes] = []
    try:
        search.begin(position)
        while len(result) < count:
            text = search.next()
            if text is None:
                return ShortestTexts(tuple(result), True)
            result.append(text)
    except WorkLimitError:
        if not result:
            # Where names must differ, lengths say little: many texts come before the first.
            with suppress(EngineError):
                data = shortest_completion(automaton, position, False, before).data
                result += [] if data is None else [data]
    return ShortestTexts(tuple(result), False)


class _BestFirst:
    """The front of the search: texts by the least length that they can reach.

    An entry is whether the text repeats a name, that length, the text in ranks of readability, and
    the state after it, None where the text is complete and is meant as it is. ``names`` are those
    of the text so far.
    """

    def __init__(self, automaton: TokenAutomaton, budget: Budget, names: MemberNames) -> None:
        self._automaton = automaton
        self._budget = budget
        self._names = names
        self._ways = readable_bytes(automaton.masks.states.tables.classes)
        self._front: list[tuple[bool, float, bytes, int | None]] = []

    def begin(self, position: int) -> None:
        """Start at a position, with the empty text if it is complete."""
        if self._automaton.can_finish(position):
            heapq.heappush(self._front, (False, 0, b"", None))
        if position >= 0:
            self._go_on(False, b"", position)

    def next(self) -> bytes | None:
        """Return the next text, None where there is none."""
        while self._front:
            repeats, _, ranks, state = heapq.heappop(self._front)
            if state is None:
                return self._text(ranks)
            self._expand(repeats, ranks, state)
        return None

    def _text(self, ranks: bytes) -> bytes:
        return bytes(self._ways[rank][1] for rank in ranks)

    def _expand(self, repeats: bool, ranks: bytes, state: int) -> None:
        masks = self._automaton.masks
        share = 1 + len(masks.states.pairs(state)) + len(ranks) // 64
        for rank, (byte_class, byte) in enumerate(self._ways):
            self._budget.spend(share)
            after = masks.states.step(state, byte_class)
            if after == DEAD:
                continue
            longer = ranks + bytes((rank,))
            again = repeats or (byte == _QUOTE and self._names.copy().read(self._text(longer)))
            is_complete = masks.is_complete(after)
            if is_complete:
                heapq.heappush(self._front, (again, len(longer), longer, None))
            if not (is_complete and self._automaton.rule.ends_at_bytes):
                self._go_on(again, longer, after)

    def _go_on(self, repeats: bool, ranks: bytes, state: int) -> None:
        left = self._automaton.bytes_left.length(state, self._budget)
        if left < inf:
            heapq.heappush(self._front, (repeats, len(ranks) + left, ranks, state))


_READABLE = 16
"""Of so many draws, all but one take a printable character of ASCII if there is one."""


@dataclass(frozen=True, slots=True)
class Sample:
    """``tokens`` that were drawn; ``is_complete`` says whether the text may end after them."""

    tokens: tuple[int, ...]
    is_complete: bool


def sample(
    automaton: TokenAutomaton,
    position: int,
    random: Random,
    length: int,
    before: Before = bytes,
    left: int | None = None,
) -> Sample:
    """Return tokens that can follow at ``position``: ``length`` of them, and then the soonest end.

    Fewer where the text ends before, or a member of a JSON text would repeat a name. The first byte
    is drawn first, all that can occur being equally likely, and then a token that begins with it,
    so that the many tokens of one letter do not drown the few that close a bracket. Most draws keep
    to bytes that can be read. ``left``: how many tokens the text has, the end of sequence among
    them; a token is drawn only if the text can end within the rest. Its end may repeat a name then.
    """
    vocabulary = automaton.masks.vocabulary
    names = MemberNames(before())
    tokens: list[int] = []
    # How many tokens there are, and the position: before the member that is written, if one is,
    # and before each of those that came.
    whole = 0, position
    cuts = [whole]
    while position >= 0 and len(tokens) < length:
        words = automaton.mask(position)
        if left is not None:
            words = automaton.fitting(words, position, left - len(tokens))
        if not words.any():
            return Sample(tuple(tokens), automaton.can_finish(position))
        tokens.append(_draw(vocabulary, words, random))
        position = automaton.step(position, tokens[-1])
        repeats = names.read(vocabulary.decode((tokens[-1],)))
        if repeats or names.is_between:
            cuts.append(whole)
        else:
            whole = len(tokens), position
        if repeats:
            break
    else:
        cuts.append((len(tokens), position))
    if left is not None:
        end = automaton.nearest_end.way(position) if position >= 0 else ()
        return Sample((*tokens, *(end or ())), end is not None)
    return _ended(automaton, tokens, cuts, before)


def _ended(
    automaton: TokenAutomaton, tokens: list[int], cuts: list[tuple[int, int]], before: Before
) -> Sample:
    """Return a sample of the first tokens and the soonest end after them.

    It has as many tokens, of those that ``cuts`` offers, as let it end without repeating a name.
    """
    vocabulary = automaton.masks.vocabulary
    rest: tuple[int, ...] | None = None
    count = 0
    # The longest first; a cut may be listed for several tokens.
    for count, position in reversed(dict.fromkeys(cuts)):
        text = before() + _spelled(vocabulary, tokens[:count])
        rest = shortest_completion(automaton, position, before=partial(bytes, text)).tokens
        if rest is None or not MemberNames(text).read(_spelled(vocabulary, rest)):
            break
    return Sample((*tokens[:count], *(rest or ())), rest is not None)


def _spelled(vocabulary: Vocabulary, tokens: Iterable[int]) -> bytes:
    return vocabulary.decode(tokens)


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
