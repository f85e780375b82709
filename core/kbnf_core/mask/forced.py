"""Forced continuations: the bytes, or tokens, with which every text from a position begins.

A byte is forced where no other can come. Forced *tokens* are those that the tokenizer itself writes
for these bytes. What it writes for the last of them depends on what follows: a longer token may
stand there. With every tokenizer here (byte pairs, unigrams, longest match) the tokens up to a
boundary are those of the text up to that boundary. So each place at which a token can begin that
reaches beyond the forced bytes is tried as the last boundary, and the tokens on which all these
encodings agree are certain.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from itertools import takewhile
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.errors import VocabularyError
from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.cache import LruDict
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.vocab.trie import ABSENT, ROOT, TokenTrie
from kbnf_core.vocab.vocabulary import Vocabulary

Context: TypeAlias = tuple[int | bytes, ...]
Flags: TypeAlias = npt.NDArray[np.bool_]

CONTEXT = 8
"""Tokens of the past that are encoded along: the first new token depends on a few at most."""

MOST_BYTES = 1_024
"""Forced bytes that are looked at together; after their tokens it goes on with the next ones."""

MOST_KNOWN = 65_536
"""Positions, and texts before them, that are remembered."""

_CONTINUES = 0b10
"""The first two bits of a byte of UTF-8 that continues a character."""


class Ahead(NamedTuple):
    """What is certain at a position: ``data`` comes, and the text is at ``after`` then.

    ``boundaries`` are the places in ``data`` at which the last boundary of tokens may be.
    ``has_choice``: two tokens can come for certain.
    """

    data: bytes
    after: int
    boundaries: tuple[int, ...]
    has_choice: bool


def forced_bytes(automaton: TokenAutomaton, position: int, limit: int) -> bytes:
    """Return the longest bytes, at most ``limit``, that all texts from ``position`` on begin with.

    It stops where the text may end, and where a token terminal may come.
    """
    return _follow(automaton, position, limit)[0]


def _follow(automaton: TokenAutomaton, position: int, limit: int) -> tuple[bytes, int]:
    """Return the forced bytes, and the position after them."""
    forced = bytearray()
    while len(forced) < limit:
        step = automaton.only_byte[position]
        if step is None:
            break
        byte, position = step
        forced.append(byte)
    return bytes(forced), position


class ForcedTokens:
    """Finds the forced tokens of one token automaton, and remembers them."""

    def __init__(self, automaton: TokenAutomaton) -> None:
        self._automaton = automaton
        self._vocabulary = automaton.masks.vocabulary
        self._ahead: LruDict[int, Ahead] = LruDict(self._look, MOST_KNOWN)
        self._written: LruDict[tuple[int, Context], Sequence[int]] = LruDict(
            self._write, MOST_KNOWN
        )
        self._children = _children_of(self._vocabulary)

    def find(self, position: int, accepted: Sequence[int | bytes], limit: int) -> list[int]:
        """Return the tokens that come from ``position`` on, at most ``limit``.

        Those that the tokenizer writes for the forced bytes after what was ``accepted``, and
        single ones that a mask allows, a mask for each.
        """
        forced: list[int] = []
        before = list(accepted[-CONTEXT:])
        while position >= 0 and len(forced) < limit:
            found = self._next(position, before)
            if not found:
                break
            for token_id in found:
                position = self._automaton.step(position, token_id)
            forced.extend(found)
            before = [*before, *found][-CONTEXT:]
        return forced[:limit]

    def _next(self, position: int, before: Sequence[int | bytes]) -> Sequence[int]:
        ahead = self._ahead[position]
        if ahead.data and self._vocabulary.can_encode:
            written = self._written[position, self._context(before)]
            if written:
                return written
        if ahead.has_choice:
            return ()
        masks = self._automaton.masks
        ids = ids_of(self._automaton.rule.mask(masks, position), self._vocabulary.size)
        return ids.tolist() if len(ids) == 1 else ()

    def _context(self, before: Sequence[int | bytes]) -> Context:
        """Return the end of what comes before, up to a token without bytes."""
        found: list[int | bytes] = []
        for what in reversed(before):
            if not isinstance(what, bytes) and self._vocabulary.token(what) is None:
                break
            found.append(what)
        return tuple(found[::-1])

    def _look(self, position: int) -> Ahead:
        data, after = _follow(self._automaton, position, MOST_BYTES)
        if not data:
            spelt = np.count_nonzero(self._own & self._bytes_at(position))
            return Ahead(data, after, (), bool(spelt > 1))
        return Ahead(data, after, self._boundaries(data, after), self._is_spelt_twice(data))

    def _is_spelt_twice(self, data: bytes) -> bool:
        """Tell whether ``data`` begins with more than one token."""
        node, count = ROOT, 0
        for byte in data:
            node = self._children[node].get(byte, ABSENT)
            if node == ABSENT or count > 1:
                break
            count += len(self._vocabulary.trie.ids(node))
        return count > 1

    @cached_property
    def _own(self) -> Flags:
        """The bytes that are tokens."""
        trie = self._vocabulary.trie
        own = np.zeros(256, np.bool_)
        children = trie.children(ROOT)
        own[trie.byte[children]] = trie.token_start[children + 1] > trie.token_start[children]
        return own

    def _bytes_at(self, position: int) -> Flags:
        """Tell of each byte whether it may come at a position."""
        states = self._automaton.masks.states
        live = np.zeros(states.tables.class_count, np.bool_)
        if position >= 0:
            live[states.live_classes(position)] = True
        return live[states.classes]

    def _boundaries(self, data: bytes, after: int) -> tuple[int, ...]:
        """Return the end of ``data``, and where a token begins that leads on from its end.

        Of those within a character the place before it is taken.
        """
        coming = np.flatnonzero(self._bytes_at(after)).tolist()
        places = {len(data)}
        for place in range(max(0, len(data) - self._longest), len(data)):
            below = self._below(data, place)
            if below and not below.keys().isdisjoint(coming):
                places.add(place)
        return tuple(sorted({_whole_characters(data, place) for place in places}))

    def _below(self, data: bytes, place: int) -> Mapping[int, int]:
        """Return the children of the trie's node for ``data`` from a place on; none without one."""
        below = self._children[ROOT]
        for byte in memoryview(data)[place:]:
            node = below.get(byte)
            if node is None:
                return {}
            below = self._children[node]
        return below

    @cached_property
    def _longest(self) -> int:
        return self._vocabulary.trie.max_depth

    def _write(self, key: tuple[int, Context]) -> Sequence[int]:
        """Return what the tokenizer certainly writes at a position after a context."""
        position, context = key
        ahead = self._ahead[position]
        encodings = []
        for end in ahead.boundaries:
            found = _encode_after(self._vocabulary, context, ahead.data[:end])
            if not found:
                return ()
            encodings.append(found)
        return _shared_start(encodings)


Children: TypeAlias = LruDict[int, dict[int, int]]
"""Of the nodes of a trie that were looked at: their children by byte."""

_children: WeakKeyDictionary[Vocabulary, Children] = WeakKeyDictionary()


def _children_of(vocabulary: Vocabulary) -> Children:
    """Return the children of a vocabulary's nodes; all grammars share them."""
    found = _children.get(vocabulary)
    if found is None:
        found = LruDict(partial(_find_children, vocabulary.trie), MOST_KNOWN)
        found = _children.setdefault(vocabulary, found)
    return found


def _find_children(trie: TokenTrie, node: int) -> dict[int, int]:
    children = trie.children(node)
    return dict(zip(trie.byte[children].tolist(), children.tolist(), strict=True))


def _shared_start(lists: Sequence[Sequence[int]]) -> Sequence[int]:
    """Return the longest list with which all of one or more lists begin."""
    shared = takewhile(lambda column: len(set(column)) == 1, zip(*lists, strict=False))
    return tuple(column[0] for column in shared)


def _whole_characters(data: bytes, end: int) -> int:
    """Return the greatest place up to ``end`` that is not within a character of UTF-8."""
    begin = end
    while begin and data[begin - 1] >> 6 == _CONTINUES:
        begin -= 1
    if begin and data[begin - 1] >= 0xC0:
        begin -= 1
    try:
        data[begin:end].decode()
    except UnicodeDecodeError:
        return begin
    return end


def _encode_after(
    vocabulary: Vocabulary, context: Sequence[int | bytes], data: bytes
) -> list[int] | None:
    """Return the tokens of ``data`` after ``context``; None where none begins with it."""
    before = [
        each if isinstance(each, bytes) else vocabulary.token(each) or b"" for each in context
    ]
    try:
        tokens = vocabulary.encode((b"".join(before) + data).decode("utf-8", "strict"))
    except (UnicodeDecodeError, VocabularyError):
        return None
    found: list[int] = []
    left = len(data)
    while left > 0 and tokens:
        found.append(tokens.pop())
        left -= len(vocabulary.token(found[-1]) or b"")
    found.reverse()
    if left or b"".join(vocabulary.token(each) or b"" for each in found) != data:
        return None
    # The tokenizer must have written the token before as it was accepted.
    last = context[-1] if context else None
    known = tokens[-1] if tokens else None
    return found if isinstance(last, bytes) or known == last else None
