"""Forced continuations: the bytes, or tokens, with which every text from a position begins.

A byte is forced where no other can come. Forced *tokens* are those that the tokenizer itself writes
for these bytes. What it writes for the last of them depends on what follows: a longer token may
stand there. With every tokenizer here (byte pairs, unigrams, longest match) the tokens up to a
boundary are those of the text up to that boundary. So each place at which a token can begin that
reaches beyond the forced bytes is tried as the last boundary, and the tokens on which all these
encodings agree are certain.
"""

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import takewhile
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

from kbnf_core.errors import VocabularyError
from kbnf_core.mask.bits import only_id
from kbnf_core.mask.cache import LruDict
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.vocab.trie import ABSENT, ROOT, TokenTrie
from kbnf_core.vocab.vocabulary import Vocabulary

Context: TypeAlias = tuple[int | bytes, ...]

CONTEXT = 8
"""Tokens of the past that are encoded along: the first new token depends on a few at most."""

MOST_BYTES = 1_024
"""Forced bytes that are looked at together; after their tokens it goes on with the next ones."""

MOST_KNOWN = 65_536
"""Positions, and texts before them, that are remembered."""

_CONTINUES = 0b10
"""The first two bits of a byte of UTF-8 that continues a character."""


class Ahead(NamedTuple):
    """What is certain at a position: ``data`` comes.

    ``boundaries`` are the places in ``data`` at which the last boundary of tokens may be.
    """

    data: bytes
    boundaries: tuple[int, ...]


class Certain(NamedTuple):
    """``tokens`` come for certain; the text is at ``after`` then."""

    tokens: tuple[int, ...]
    after: int


NOTHING = Certain((), DEAD)


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
        self._written: LruDict[tuple[int, Context], Certain] = LruDict(self._write, MOST_KNOWN)
        self._single: LruDict[int, Certain] = LruDict(self._find_single, MOST_KNOWN)
        self._coming: LruDict[tuple[int, ...], frozenset[int]] = LruDict(self._unite, MOST_KNOWN)
        self._trie = _trie_of(self._vocabulary)

    def find(self, position: int, accepted: Sequence[int | bytes], limit: int) -> list[int]:
        """Return the tokens that come from ``position`` on, at most ``limit``.

        Those that the tokenizer writes for the forced bytes after what was ``accepted``, and
        single ones that a mask allows, a mask for each.
        """
        forced: list[int] = []
        only_byte = self._automaton.only_byte
        while position >= 0 and len(forced) < limit:
            written = NOTHING
            if only_byte[position] is not None and self._vocabulary.can_encode:
                before = [*accepted[-CONTEXT:], *forced[-CONTEXT:]][-CONTEXT:]
                written = self._written[position, self._context(before)]
            found, after = written if written.tokens else self._single[position]
            if not found:
                break
            position = after
            forced.extend(found)
        return forced[:limit]

    def _find_single(self, position: int) -> Certain:
        """Return the one token that can come; nothing where there are several."""
        ids = self._first_tokens(position)
        if ids is None:
            only = only_id(self._automaton.rule.mask(self._automaton.masks, position))
            ids = [] if only is None else [only]
        if len(ids) != 1:
            return NOTHING
        return Certain((ids[0],), self._automaton.step(position, ids[0]))

    def _first_tokens(self, position: int) -> list[int] | None:
        """Return the tokens that can come, some where they are several; None: a mask tells."""
        if self._automaton.only_byte[position] is None:
            return [] if self._begins_several(position) else None
        # The text that is forced begins with all of them, unless they reach beyond it.
        data = _follow(self._automaton, position, self._trie.max_depth)[0]
        node, ids = ROOT, list[int]()
        for byte in data:
            node = self._trie.children[node].get(byte, ABSENT)
            if node == ABSENT or len(ids) > 1:
                return ids
            ids += self._vocabulary.trie.ids(node).tolist()
        is_known = len(ids) > 1 or not self._trie.children[node]
        return ids if is_known else None

    def _context(self, before: Sequence[int | bytes]) -> Context:
        """Return the end of what comes before, up to a token without bytes."""
        texts = self._trie.texts
        for place in range(len(before), 0, -1):
            what = before[place - 1]
            if not isinstance(what, bytes) and texts[what] is None:
                return tuple(before[place:])
        return tuple(before)

    def _look(self, position: int) -> Ahead:
        data, after = _follow(self._automaton, position, MOST_BYTES)
        return Ahead(data, self._boundaries(data, after))

    def _begins_several(self, position: int) -> bool:
        """Tell whether more than one byte that is a token may come."""
        count = 0
        for byte_class in self._classes_at(position):
            count += self._own[byte_class]
            if count > 1:
                return True
        return False

    @cached_property
    def _own(self) -> list[int]:
        """How many bytes of each class are tokens."""
        own = self._trie.own
        return [sum(byte in own for byte in each) for each in self._automaton.bytes_of]

    def _classes_at(self, position: int) -> Sequence[int]:
        """Return the classes of the bytes that may come at a position."""
        return self._automaton.masks.states.live_classes(position) if position >= 0 else ()

    def _boundaries(self, data: bytes, after: int) -> tuple[int, ...]:
        """Return the end of ``data``, and where a token begins that leads on from its end.

        Of those within a character the place before it is taken.
        """
        coming = self._coming[tuple(self._classes_at(after))]
        places = {len(data)}
        for place in range(max(0, len(data) - self._trie.max_depth), len(data)):
            if not coming.isdisjoint(self._trie.behind[data[place:]]):
                places.add(place)
        return tuple(sorted({_whole_characters(data, place) for place in places}))

    def _unite(self, classes: tuple[int, ...]) -> frozenset[int]:
        """Return the bytes of several classes."""
        return frozenset(byte for number in classes for byte in self._automaton.bytes_of[number])

    def _write(self, key: tuple[int, Context]) -> Certain:
        """Return what the tokenizer certainly writes at a position after a context."""
        position, context = key
        ahead = self._ahead[position]
        if not ahead.boundaries[0]:
            return NOTHING
        encodings = []
        for end in ahead.boundaries:
            found = self._encode_after(context, ahead.data[:end])
            if not found:
                return NOTHING
            encodings.append(found)
        shared = _shared_start(encodings)
        return self._pass(position, context, shared) if shared else NOTHING

    def _pass(self, position: int, context: Context, found: tuple[int, ...]) -> Certain:
        """Return tokens of forced bytes with the position after them, and remember what is between.

        Whoever asks before every token asks there next. Where the forced bytes were looked at
        whole, none is certain after the last of these tokens: the encodings part there.
        """
        is_whole = len(self._ahead[position].data) < MOST_BYTES
        places: list[tuple[int, Context]] = []
        for token_id in found:
            for _ in self._trie.texts[token_id] or b"":
                step = self._automaton.only_byte[position]
                assert step is not None  # noqa: S101 - these bytes are forced
                position = step[1]
            context = (*context, token_id)[-CONTEXT:]
            places.append((position, context))
        for count, place in enumerate(places[:-1], 1):
            self._written[place] = Certain(found[count:], position)
        if is_whole:
            self._written[places[-1]] = NOTHING
        return Certain(found, position)

    def _encode_after(self, context: Sequence[int | bytes], data: bytes) -> list[int] | None:
        """Return the tokens of ``data`` after ``context``; None where none begins with it."""
        texts = self._trie.texts
        before = [each if isinstance(each, bytes) else texts[each] or b"" for each in context]
        try:
            tokens = self._vocabulary.encode((b"".join(before) + data).decode("utf-8", "strict"))
        except (UnicodeDecodeError, VocabularyError):
            return None
        found: list[int] = []
        left = len(data)
        while left > 0 and tokens:
            found.append(tokens.pop())
            left -= len(texts[found[-1]] or b"")
        found.reverse()
        if left or b"".join([texts[each] or b"" for each in found]) != data:
            return None
        # The tokenizer must have written the token before as it was accepted.
        last = context[-1] if context else None
        known = tokens[-1] if tokens else None
        return found if isinstance(last, bytes) or known == last else None


class _Trie:
    """What was looked up in a vocabulary: bytes by token, nodes by the bytes that lead there.

    ``texts`` are the bytes of tokens, ``children`` those of nodes, by byte; ``behind`` are the
    children of the node that some bytes lead to, none without one. ``own`` are the bytes that are
    tokens, ``max_depth`` the length of the longest token.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self.texts: LruDict[int, bytes | None] = LruDict(vocabulary.token, MOST_KNOWN)
        self.children: LruDict[int, dict[int, int]] = LruDict(
            partial(_find_children, vocabulary.trie), MOST_KNOWN
        )
        trie = vocabulary.trie
        self.max_depth = trie.max_depth
        self.own = {byte for byte, node in self.children[ROOT].items() if len(trie.ids(node))}
        self.behind: LruDict[bytes, dict[int, int]] = LruDict(self._find_behind, MOST_KNOWN)

    def _find_behind(self, data: bytes) -> dict[int, int]:
        below = self.children[ROOT]
        for byte in data:
            node = below.get(byte)
            if node is None:
                return {}
            below = self.children[node]
        return below


_tries: WeakKeyDictionary[Vocabulary, _Trie] = WeakKeyDictionary()


def _trie_of(vocabulary: Vocabulary) -> _Trie:
    """Return what was looked up in a vocabulary; all grammars share it."""
    found = _tries.get(vocabulary)
    return found or _tries.setdefault(vocabulary, _Trie(vocabulary))


def _find_children(trie: TokenTrie, node: int) -> dict[int, int]:
    children = trie.children(node)
    return dict(zip(trie.byte[children].tolist(), children.tolist(), strict=True))


def _shared_start(lists: Sequence[Sequence[int]]) -> tuple[int, ...]:
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
