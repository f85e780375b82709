"""Forced continuations: the bytes, or tokens, with which every text from a position begins.

A byte is forced where no other can come. Forced *tokens* are those that the tokenizer itself writes
for these bytes. What it writes for the last of them depends on what follows: a longer token may
stand there. With every tokenizer here (byte pairs, unigrams, longest match) the tokens up to a
boundary are those of the text up to that boundary. So each place at which a token can begin that
reaches beyond the forced bytes is tried as the last boundary, and the tokens on which all these
encodings agree are certain.
"""

from collections.abc import Sequence
from itertools import accumulate
from typing import NamedTuple, TypeAlias
from weakref import WeakKeyDictionary, proxy

from kbnf_core.errors import VocabularyError
from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.mask.bits import only_id
from kbnf_core.mask.cache import LruDict
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.vocab.vocabulary import Vocabulary

Context: TypeAlias = tuple[int | bytes, ...]

CONTEXT = 8
"""Tokens of the past that are encoded along: the first new token depends on a few at most."""

MOST_BYTES = 1_024
"""Forced bytes that are looked at together; after their tokens it goes on with the next ones."""

MOST_KNOWN = 65_536
"""Positions, and texts before them, that are remembered."""

MOST_TEXTS = 4_096
"""Encoded texts that a vocabulary remembers; there is little else that grammars share."""

_CONTINUES = 0b10
"""The first two bits of a byte of UTF-8 that continues a character."""


class Certain(NamedTuple):
    """``tokens`` come for certain; the text is at ``after`` then."""

    tokens: tuple[int, ...]
    after: int


NOTHING = Certain((), DEAD)


class ForcedTokens:
    """Finds the forced bytes and tokens of one token automaton, and remembers the tokens."""

    def __init__(self, automaton: TokenAutomaton) -> None:
        self._automaton = automaton
        self._masks = automaton.masks
        self._vocabulary = automaton.masks.vocabulary
        self._forced = KERNEL.forced(automaton.masks.states, self._vocabulary.trie)
        self._open: LruDict[int, bool] = LruDict(self._is_open, MOST_KNOWN)
        self._written: LruDict[tuple[int, Context], Certain] = LruDict(self._write, MOST_KNOWN)
        self._single: LruDict[int, Certain] = LruDict(self._find_single, MOST_KNOWN)
        self._texts = _texts_of(self._vocabulary)

    def bytes_from(self, position: int, limit: int) -> bytes:
        """Return the longest bytes, at most ``limit``, that all texts from a position begin with.

        It stops where the text may end, and where a token terminal may come.
        """
        return self._follow(position, limit)[0]

    def find(self, position: int, accepted: Sequence[int | bytes], limit: int) -> list[int]:
        """Return the tokens that come from ``position`` on, at most ``limit``.

        Those that the tokenizer writes for the forced bytes after what was ``accepted``, and
        single ones that can come alone.
        """
        forced: list[int] = []
        while position >= 0 and len(forced) < limit and not self._open[position]:
            written = NOTHING
            if self._vocabulary.can_encode:
                before = [*accepted[-CONTEXT:], *forced[-CONTEXT:]][-CONTEXT:]
                written = self._written[position, self._texts.context(before)]
            found, position = written if written.tokens else self._single[position]
            if not found:
                break
            forced.extend(found)
        return forced[:limit]

    def _follow(self, position: int, limit: int) -> tuple[bytes, list[int]]:
        """Return the forced bytes, and the state after each."""
        if self._automaton.can_finish(position):
            return b"", []
        return self._forced.follow(position, limit)

    def _is_open(self, position: int) -> bool:
        """Tell whether nothing is certain at a position, whatever came before."""
        return not self._follow(position, 1)[0] and not self._single[position].tokens

    def _find_single(self, position: int) -> Certain:
        """Return the one token that can come; nothing where there are several."""
        automaton = self._automaton
        if self._masks.states.token_terminals(position):
            only = only_id(automaton.rule.mask(self._masks, position))
            ids = [] if only is None else [only]
        else:
            ids = self._forced.tokens(position, automaton.rule.ends_at_bytes)
            if automaton.can_finish(position):
                ids = [*ids, *self._vocabulary.eos_token_ids]
        if len(ids) != 1:
            return NOTHING
        return Certain((ids[0],), automaton.step(position, ids[0]))

    def _write(self, key: tuple[int, Context]) -> Certain:
        """Return what the tokenizer certainly writes at a position after a context."""
        position, context = key
        data, states = self._follow(position, MOST_BYTES)
        if not data:
            return NOTHING
        found = self._find_certain(context, data, self._automaton.settle(states[-1]))
        if not found:
            return NOTHING
        # Where the forced bytes were looked at whole, none is certain after the last of these
        # tokens: the encodings part there.
        return self._keep(context, found, states, is_whole=len(data) < MOST_BYTES)

    def _find_certain(self, context: Context, data: bytes, after: int) -> tuple[int, ...]:
        """Return the tokens on which the encodings up to each possible last boundary agree."""
        ends = self._forced.boundaries(data, max(after, DEAD))
        ends = sorted({_whole_characters(data, end) for end in ends})
        if not ends[0]:
            return ()
        longest = ends.pop()
        shared = self._texts.encode_after(context, data[:longest])
        known = self._texts.boundaries(shared)
        for end in reversed(ends):
            # The tokens up to a boundary are those of the text up to there.
            if end in known:
                shared = shared[: known[end]]
            else:
                shared = _shared_start(shared, self._texts.encode_after(context, data[:end]))
        return shared

    def _keep(
        self, context: Context, found: tuple[int, ...], states: Sequence[int], *, is_whole: bool
    ) -> Certain:
        """Return tokens of forced bytes with the position after them, and remember what is between.

        Whoever asks before every token asks there next.
        """
        *between, last = self._texts.boundaries(found)
        after = self._automaton.settle(states[last - 1])
        whole = (*context, *found)
        begin = len(context) + 1
        for count, end in enumerate(between, 1):
            position = states[end - 1]
            before = whole[max(0, begin + count - 1 - CONTEXT) : begin + count - 1]
            self._open[position] = False
            self._written[position, before] = Certain(found[count:], after)
        if is_whole:
            self._written[after, whole[-CONTEXT:]] = NOTHING
        return Certain(found, after)


class _Texts:
    """What a vocabulary's tokens spell, and texts that its tokenizer cut; all grammars share it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        # A reference would keep the vocabulary, by which this is found, for ever.
        self._vocabulary = proxy(vocabulary)
        self._special = vocabulary.eos_token_ids.union(vocabulary.special_tokens.values())
        self._spelled: LruDict[int, bytes] = LruDict(self._spell, MOST_KNOWN)
        self._encoded: LruDict[bytes, tuple[int, ...]] = LruDict(self._encode, MOST_TEXTS)

    def context(self, before: Sequence[int | bytes]) -> Context:
        """Return the end of what comes before, up to a token without bytes."""
        if self._special.isdisjoint(before):
            return tuple(before)
        places = [place for place, what in enumerate(before, 1) if what in self._special]
        return tuple(before[places[-1] :])

    def boundaries(self, tokens: Sequence[int]) -> dict[int, int]:
        """Return how many tokens end at each place in the text of ``tokens`` where some do."""
        ends = accumulate([len(self._spelled[each]) for each in tokens])
        return {end: count for count, end in enumerate(ends, 1)}

    def encode_after(self, context: Context, data: bytes) -> tuple[int, ...]:
        """Return the tokens of ``data`` after ``context``; none where none begins with it."""
        before = [each if isinstance(each, bytes) else self._spelled[each] for each in context]
        tokens = self._encoded[b"".join(before) + data]
        found = tokens[self._end_of_context(tokens, context, len(data)) :]
        return found if b"".join([self._spelled[each] for each in found]) == data else ()

    def _end_of_context(self, tokens: tuple[int, ...], context: Context, left: int) -> int:
        """Return how many tokens the context has; all where none ends with it."""
        if tokens[: len(context)] == context:
            return len(context)
        # A context that begins within a text may be cut in another way at its beginning.
        count = len(tokens)
        while left > 0 and count:
            count -= 1
            left -= len(self._spelled[tokens[count]])
        # The tokenizer must have written the token before as it was accepted.
        last = context[-1] if context else None
        is_same = isinstance(last, bytes) or tokens[count - 1 : count] == (last,)
        return count if is_same and not left else len(tokens)

    def _spell(self, token_id: int) -> bytes:
        return self._vocabulary.token(token_id) or b""

    def _encode(self, text: bytes) -> tuple[int, ...]:
        try:
            return tuple(self._vocabulary.encode(text.decode()))
        except (UnicodeDecodeError, VocabularyError):
            return ()


_texts: WeakKeyDictionary[Vocabulary, _Texts] = WeakKeyDictionary()


def _texts_of(vocabulary: Vocabulary) -> _Texts:
    found = _texts.get(vocabulary)
    return found or _texts.setdefault(vocabulary, _Texts(vocabulary))


def _shared_start(one: tuple[int, ...], other: tuple[int, ...]) -> tuple[int, ...]:
    """Return the longest tuple with which both begin."""
    pairs = enumerate(zip(one, other, strict=False))
    return one[: next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))]


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
