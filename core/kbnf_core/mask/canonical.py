"""Canonical masks: of the tokens that a grammar allows, those that the tokenizer would write.

A model writes best in the tokens that it was trained on. ``kernel/canonical.pxi`` makes, for a
token and the state of the pretokenizer after it, the row of those that the tokenizer may write
next: from merges, and from where words may end (``mask/pretokens.py``). Any token that it writes
is in its row; of others those are missing that no text that follows can make canonical.

Fallback bytes are allowed only where they spell a character without a token. Special tokens, and
those that are searched in texts before they are cut, are always allowed where a text may end. The
first token is judged as after such a one. Where bytes are forced, the token that the tokenizer
writes for them is the only one.

Of other bytes one step is looked ahead (``Narrows``): a token after which the grammar allows few
tokens, and none of them is canonical, is left out as long as another token stays.

Tests: tests/property/test_canonical.py
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise
from random import Random
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import CanonicalRows, splits_of
from kbnf_core.lower.tables import Ids
from kbnf_core.mask.bits import Bitmask, ids_of, pack
from kbnf_core.mask.masks import Masks
from kbnf_core.mask.pretokens import Pretokens, length_of, parted
from kbnf_core.text.collecting import weakly
from kbnf_core.text.remembered import LruDict
from kbnf_core.vocab.byte_pairs import BytePairs, refused
from kbnf_core.vocab.trie import pack_tokens
from kbnf_core.vocab.vocabulary import Vocabulary

MOST_BYTES = 64 * 2**20
"""Of rows that a vocabulary remembers."""

_rows: WeakKeyDictionary[Vocabulary, CanonicalRows] = WeakKeyDictionary()


def rows_of(vocabulary: Vocabulary) -> CanonicalRows:
    """Return the rows over a vocabulary, the same object each time.

    Raises ``ConfigError`` where it is not known what its tokenizer merges, or that is not enough.
    """
    cached = _rows.get(vocabulary)
    if cached is None:
        made = _make(vocabulary, vocabulary.byte_pairs())
        _demand_agreement(made, vocabulary)
        cached = _rows.setdefault(vocabulary, made)
    return cached


SAMPLES = 300
"""Texts of which the tokenizer's own tokens have to be in the masks."""

_WORDS = (
    *("word", "a", "The", "HTML", "It's", "we're", "x'", "naïve", "ſ", "ß", "ʰ", "привет", "你好"),
    *(
        "中",
        "ひ",
        "カ",
        "ב",
        "ك",
        "\u09bf",
        "\u0e31",
        "1",
        "12",
        "123",
        "4567",
        "٣",
        "Ⅷ",
        "²",
        "😀",
    ),
    *(" ", " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\xa0", "\u2003", "\u3000", "\x00"),
    *(*'!/-_(){}<>=,.:&#"', "...", "//", '{"', '":"', "€", "\u200d", "\ufeff"),
)


def _demand_agreement(rows: CanonicalRows, vocabulary: Vocabulary) -> None:
    """Refuse a tokenizer that cuts texts by more than the kinds of a few characters.

    Some cut by scripts, by places, or at single letters (``mask/pretokens.py`` has no states for
    this). Then masks would leave out what they write.
    """
    random = Random(SAMPLES)  # noqa: S311 - the same texts every time
    for _ in range(SAMPLES):
        text = "".join(random.choices(_WORDS, k=random.randint(2, 8)))
        tokens = vocabulary.encode(text)
        spelled = vocabulary.decode(tokens)
        if spelled.strip() != text.encode().strip() and vocabulary.encode(spelled) != tokens:
            # It drops characters, and its tokens spell a text that it cuts otherwise.
            continue
        for index, (token, after) in enumerate(pairwise([*tokens, rows.size])):
            if not rows.goes_on([*tokens[:index]], token, np.array([after], np.int32)):
                raise refused(f"this one cuts {text!r} where the kinds of characters do not say so")


def count_breaks(rows: CanonicalRows, accepted: list[int | bytes], first: int) -> int:
    """Return how many tokens, from the ``first`` on, are not canonical after those before them."""
    return sum(
        not _has(rows.row_after(accepted, index), token)
        for index, token in enumerate(accepted[first:], first)
        if isinstance(token, int)
    )


def _has(row: Bitmask, token_id: int) -> bool:
    return token_id // 32 >= len(row) or bool(int(row[token_id // 32]) >> token_id % 32 & 1)


def _make(vocabulary: Vocabulary, pairs: BytePairs) -> CanonicalRows:
    # Without ids that are special, or end the sequence: no merge writes them.
    merged = {
        token_id: data
        for token_id, data in pairs.spellings.items()
        if vocabulary.token(token_id) == data
    }
    bytes_of = {
        token_id: byte for token_id, byte in pairs.fallback.items() if vocabulary.token(token_id)
    }
    packed = pack_tokens(merged)
    arrays = packed.ids, packed.starts, packed.blob
    others = [token for token in vocabulary.tokens if token not in merged and token not in bytes_of]
    always = pack([*others, *vocabulary.special_ids], vocabulary.size)
    fallback = _Fallback(bytes_of, merged.values(), always)
    cut = {**merged, **{token_id: bytes((byte,)) for token_id, byte in bytes_of.items()}}
    pretokens = None if pairs.cut is None else Pretokens(pairs.cut, cut, vocabulary.size)
    groups = np.zeros(vocabulary.size, np.int32)
    groups[[*cut]] = 1
    return CanonicalRows(
        arrays,
        _merges(pairs, arrays),
        pairs.characters,
        fallback.array(vocabulary.size),
        fallback.after(b""),
        groups if pretokens is None else pretokens.groups,
        pretokens,
        fallback.after,
        MOST_BYTES,
    )


_Arrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.uint8]]


def _merges(pairs: BytePairs, arrays: _Arrays) -> npt.NDArray[np.int32]:
    """Return left and right part, their merge, and its rank; ascending."""
    if pairs.merges is not None:
        listed = np.array(pairs.merges, np.int32).reshape(-1, 3).T
        return np.ascontiguousarray([*listed, np.arange(listed.shape[1])], np.int32)
    splits = splits_of(*arrays, pairs.characters)
    ranks = np.zeros(max(pairs.ranks, default=0) + 1, np.int32)
    ranks[list(pairs.ranks)] = list(pairs.ranks.values())
    rank = ranks[splits[2]]
    order = np.argsort(rank, kind="stable")
    return np.ascontiguousarray([*splits[:, order], rank[order]], np.int32)


class _Fallback:
    """Tokens of one byte, which come where a character has no token."""

    def __init__(
        self, bytes_of: Mapping[int, int], merged: Collection[bytes], always: Bitmask
    ) -> None:
        self._bytes_of = bytes_of
        self._always = always
        characters = [data for data in merged if len(data) == length_of(data)] if bytes_of else []
        self._tokens = Counter(
            character[:end] for character in characters for end in range(1, len(character) + 1)
        )

    def array(self, size: int) -> npt.NDArray[np.int16]:
        """Return by token the byte that it is, -1 for others."""
        result = np.full(size, -1, np.int16)
        result[list(self._bytes_of)] = list(self._bytes_of.values())
        return result

    def after(self, begun: bytes) -> Bitmask:
        """Return the tokens allowed after the first bytes of a character."""
        goes_on = [
            token_id
            for token_id, byte in self._bytes_of.items()
            if self._is_lacking(begun + bytes((byte,)))
        ]
        words = self._always.copy()
        np.bitwise_or.at(words, np.array(goes_on, np.int64) // 32, _bits(goes_on))
        words.setflags(write=False)
        return words

    def _is_lacking(self, begun: bytes) -> bool:
        """Return whether some character that begins so has no token."""
        return self._tokens[begun] < _count_characters(begun)


def _bits(ids: list[int]) -> Bitmask:
    return np.left_shift(np.uint32(1), np.array(ids, np.uint32) % 32, dtype=np.uint32)


def _count_characters(begun: bytes) -> int:
    """Return how many characters begin with some bytes."""
    length = length_of(begun)
    if length == 1 or not 0 < len(begun) <= length or any(byte >> 6 != 2 for byte in begun[1:]):
        return int(length == len(begun) == 1)
    value = begun[0] & 0x7F >> length
    for byte in begun[1:]:
        value = value << 6 | byte & 0x3F
    shift = 6 * (length - len(begun))
    low = max(value << shift, (0x80, 0x800, 0x10000)[length - 2])
    high = min((value + 1) << shift, 0x110000)
    surrogates = max(0, min(high, 0xE000) - max(low, 0xD800))
    return max(0, high - low - surrogates)


MOST_FOLLOWING = 256
"""Tokens of a narrow way: at most so many lead into it, and are allowed next."""

MOST_LEADS = 256
"""States to which the tokens of a position may lead; with more none is looked at."""

MOST_LIVE = 64
"""Byte classes with which a narrow way may go on; with more its mask is not made."""

MOST_REMEMBERED = 4_096
"""Positions of which the narrow ways are remembered."""


class Narrow(NamedTuple):
    """Tokens that lead to one state, int32, and those that are allowed there."""

    tokens: Ids
    following: Ids


class Narrows:
    """The narrow ways of one token automaton, by position.

    ``leads`` returns the tokens of a state by the state that they lead to, ``settle`` the position
    there, over or not, and ``mask`` the tokens allowed at a position.
    """

    def __init__(
        self,
        masks: Masks,
        leads: Callable[[int], dict[int, Ids]],
        settle: Callable[[int], int],
        mask: Callable[[int], Bitmask],
    ) -> None:
        self._masks, self._leads, self._settle, self._mask = masks, leads, settle, mask
        self._narrows: LruDict[int, tuple[Narrow, ...]] = LruDict(
            weakly(self._find), MOST_REMEMBERED
        )

    @property
    def estimated_bytes(self) -> int:
        """The memory that is taken, about."""
        arrays = (ids for narrows in self._narrows.values() for narrow in narrows for ids in narrow)
        return sum(array.nbytes + 100 for array in arrays)

    def leave_out(
        self, words: Bitmask, position: int, rows: CanonicalRows, accepted: list[int | bytes]
    ) -> None:
        """Clear the bits of tokens that no canonical token follows, unless all would be cleared."""
        stuck: list[int] = []
        for tokens, following in self._narrows[position]:
            allowed = tokens[words[tokens >> 5] >> (tokens & 31) & 1 > 0]
            stuck += [
                token_id
                for token_id in allowed.tolist()
                if not rows.goes_on(accepted, token_id, following)
            ]
        if stuck:
            rest = words & ~pack(sorted(stuck), self._masks.vocabulary.size)
            if rest.any():
                words[:] = rest

    def _find(self, position: int) -> tuple[Narrow, ...]:
        leads = self._leads(self._masks.counting.exact(position))
        if len(leads) > MOST_LEADS:
            return ()
        result = (self._narrow(after, tokens) for after, tokens in leads.items())
        return tuple(narrow for narrow in result if narrow is not None)

    def _narrow(self, state: int, tokens: Ids) -> Narrow | None:
        token_of = self._masks.vocabulary.token
        position = self._settle(state)
        # What ends within a character is left to its row.
        if len(tokens) > MOST_FOLLOWING or parted(token_of(int(tokens[0])) or b"")[2]:
            return None
        if position < 0 or len(self._masks.states.live_classes(state)) > MOST_LIVE:
            return None
        following = ids_of(self._mask(position), self._masks.vocabulary.size)
        if not 0 < len(following) <= MOST_FOLLOWING:
            return None
        return Narrow(tokens, following.astype(np.int32))
