"""Canonical masks: of the tokens that a grammar allows, those that the tokenizer would write.

A model writes best in the tokens that it was trained on. ``kernel/canonical.pxi`` makes, for a
token and those before it, the row of those that the tokenizer may write next: from merges, and
from what the pretokenizer does. That depends on kinds of characters, not on each: tokens are
grouped by their *shape*, and one token of each group is tried. It is tried after two tokens of
the past, since a word may have begun before the last of them, and after more where these are parts
of a character.

The last of several blanks is often a word of its own, but only where something else follows. So it
may occur apart from the blanks before it, and then what follows has to end the word there: that is
*owed*. Not even the end of the text may occur before.

Fallback bytes come only where they spell a character without a token. What is special, or found in
texts before they are cut, always comes. The first token is judged as after such a one. Where bytes
are forced, the token that the tokenizer writes for them is the only one; a beginning that leads to
no canonical token further on is seen only there.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from itertools import accumulate
from weakref import WeakKeyDictionary, ref

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import CanonicalRows, splits_of
from kbnf_core.mask.bits import Bitmask, pack
from kbnf_core.vocab.byte_pairs import BytePairs, Cut
from kbnf_core.vocab.trie import pack_tokens
from kbnf_core.vocab.vocabulary import Vocabulary

MOST_BYTES = 64 * 2**20
"""Of rows that a vocabulary remembers."""

_CUT, _JOINED, _APART, _OWED = range(4)
"""Of ``kernel/canonical.pxi``: what a pretokenizer does to a token after others."""

_WHOLE, _SINGLE_BLANK, _IN_CHARACTER = range(3)
"""Of ``kernel/canonical.pxi``: kinds of tokens."""

_FOLLOWING = "a1!"
"""What may end a run of blanks: then its last is a word, if it does not begin that of these."""

_rows: WeakKeyDictionary[Vocabulary, CanonicalRows] = WeakKeyDictionary()


def rows_of(vocabulary: Vocabulary) -> CanonicalRows:
    """Return the rows over a vocabulary, the same object each time.

    Raises ``ConfigError`` where it is not known what its tokenizer merges, or that is not enough.
    """
    found = _rows.get(vocabulary)
    return found or _rows.setdefault(vocabulary, _make(vocabulary, vocabulary.byte_pairs()))


def count_breaks(rows: CanonicalRows, accepted: list[int | bytes], first: int) -> int:
    """Return how many tokens, from the ``first`` on, are not canonical after those before them."""
    return sum(
        not _has(rows.row_after(accepted, place), token)
        for place, token in enumerate(accepted[first:], first)
        if isinstance(token, int)
    )


def _has(row: Bitmask, token_id: int) -> bool:
    return token_id // 32 >= len(row) or bool(int(row[token_id // 32]) >> token_id % 32 & 1)


def _make(vocabulary: Vocabulary, pairs: BytePairs) -> CanonicalRows:
    pieces = {each: data for each, data in pairs.pieces.items() if vocabulary.token(each) == data}
    bytes_of = {each: byte for each, byte in pairs.fallback.items() if vocabulary.token(each)}
    packed = pack_tokens(pieces)
    arrays = packed.ids, packed.starts, packed.blob
    others = [each for each in vocabulary.tokens if each not in pieces and each not in bytes_of]
    always = pack([*others, *vocabulary.special_ids], vocabulary.size)
    fallback = _Fallback(bytes_of, pieces.values(), always)
    shapes = _Shapes(vocabulary.size)
    shapes.contexts[[*pieces, *bytes_of]] = 1
    if pairs.cut is not None:
        shapes.find(pieces)
    return CanonicalRows(
        arrays,
        _merges(pairs, arrays),
        pairs.characters,
        fallback.array(vocabulary.size),
        fallback.after(b""),
        shapes.contexts,
        shapes.kinds,
        shapes.groups,
        None if pairs.cut is None else _Verdicts(pairs.cut, vocabulary, shapes.texts),
        fallback.after,
        MOST_BYTES,
    )


_Arrays = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.uint8]]


def _merges(pairs: BytePairs, arrays: _Arrays) -> npt.NDArray[np.int32]:
    """Return left and right part, what they make, and the rank; ascending."""
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
        self, bytes_of: Mapping[int, int], pieces: Collection[bytes], always: Bitmask
    ) -> None:
        self._bytes_of = bytes_of
        self._always = always
        characters = [each for each in pieces if len(each) == _length_of(each)] if bytes_of else []
        self._tokens = Counter(each[:end] for each in characters for end in range(1, len(each) + 1))

    def array(self, size: int) -> npt.NDArray[np.int16]:
        """Return by token the byte that it is, -1 for others."""
        found = np.full(size, -1, np.int16)
        found[list(self._bytes_of)] = list(self._bytes_of.values())
        return found

    def after(self, begun: bytes) -> Bitmask:
        """Return what may come after the first bytes of a character, with what always does."""
        goes_on = [
            each
            for each, byte in self._bytes_of.items()
            if self._is_lacking(begun + bytes((byte,)))
        ]
        words = self._always.copy()
        np.bitwise_or.at(words, np.array(goes_on, np.int64) // 32, _bits(goes_on))
        words.setflags(write=False)
        return words

    def _is_lacking(self, begun: bytes) -> bool:
        """Tell whether some character that begins so has no token."""
        return self._tokens[begun] < _count_characters(begun)


def _bits(ids: list[int]) -> Bitmask:
    return np.left_shift(np.uint32(1), np.array(ids, np.uint32) % 32, dtype=np.uint32)


def _length_of(data: bytes) -> int:
    """Return the length of the character that begins with the first byte; 0 for none."""
    first = data[0] if data else 0xFF
    if first < 0x80:
        return 1
    return 0 if first < 0xC2 or first > 0xF4 else 2 + (first >= 0xE0) + (first >= 0xF0)


def _count_characters(begun: bytes) -> int:
    """Return how many characters begin with some bytes."""
    length = _length_of(begun)
    if length == 1 or not 0 < len(begun) <= length or any(each >> 6 != 2 for each in begun[1:]):
        return int(length == len(begun) == 1)
    value = begun[0] & 0x7F >> length
    for each in begun[1:]:
        value = value << 6 | each & 0x3F
    shift = 6 * (length - len(begun))
    low = max(value << shift, (0x80, 0x800, 0x10000)[length - 2])
    high = min((value + 1) << shift, 0x110000)
    surrogates = max(0, min(high, 0xE000) - max(low, 0xD800))
    return max(0, high - low - surrogates)


_RUN = re.compile(r"(.)\1{2,}", re.DOTALL)
_SCRIPT = re.compile("([oM]{3})[oM]+([oM])")
_SUFFIX = re.compile("(?:^|['\u2019])([sdmt]|(?:re|ve|ll)\\w?)", re.IGNORECASE)
_FILL = b"\x94" * 3
"""Bytes that make a letter or a sign, but no blank, of a character that is cut."""


def shape_of(text: str) -> str:
    """Return what matters of a text to pretokenizers.

    Kinds of characters, runs of one kind as two, but of digits as they are up to four; letters
    where an apostrophe may make a suffix of them (``'s``, ``'re``).
    """
    kinds = _RUN.sub(_shortened, _SCRIPT.sub(r"\1\2", text.translate(_KINDS)))
    found = _SUFFIX.findall(text)
    suffixes = (each[:2].lower() + "+" * (len(each) > 2) for each in found)
    return f"{kinds}|{','.join(suffixes)}" if found else kinds


def _shortened(run: re.Match[str]) -> str:
    return run[1] * (min(len(run[0]), 4) if run[1] == "N" else 2)


class _Kinds(dict[int, str]):
    """The kinds of characters by their numbers, found as they come."""

    def __missing__(self, number: int) -> str:
        kind = self[number] = _kind(chr(number))
        return kind


def _kind(character: str) -> str:
    if character in "'/\n\r\t ":
        return character
    if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
        return "\v"
    kind = unicodedata.category(character)
    if kind[0] == "L":
        return {"Ll": "l", "Lu": "U", "Lt": "U", "Lm": "m"}.get(kind, "o")
    return "p" if kind[0] in "PS" else kind[0]


_KINDS = _Kinds()


def _parted(data: bytes) -> tuple[bytes, str, bytes]:
    """Return the bytes before the first whole character, the whole ones, and those after them."""
    begin = 0
    while begin < len(data) and data[begin] >> 6 == 2:
        begin += 1
    for end in range(len(data), max(begin, len(data) - 3) - 1, -1):
        try:
            return data[:begin], data[begin:end].decode(), data[end:]
        except UnicodeDecodeError:
            continue
    return data[:begin], data[begin:].decode("utf-8", "ignore"), b""


class _Shapes:
    """Numbers of tokens that are alike to a pretokenizer.

    ``contexts``: of tokens of the past, 0 for what separates texts. ``groups``: of those that come;
    ``texts`` has one of each, the shortest, from the second on. ``kinds``: whether tokens are one
    blank, or parts of characters.
    """

    def __init__(self, size: int) -> None:
        self.contexts = np.zeros(size, np.int32)
        self.groups = np.zeros(size, np.int32)
        self.kinds = np.zeros(size, np.uint8)
        self.texts = [b""]

    def find(self, pieces: Mapping[int, bytes]) -> None:
        """Give tokens their numbers."""
        contexts: dict[object, int] = {}
        groups: dict[object, int] = {}
        for each, data in pieces.items():
            first, whole, last = _parted(data)
            shape = shape_of(whole)
            context = first, shape, last
            if first or not whole:
                self.kinds[each] = _IN_CHARACTER
            elif len(whole) == 1 and whole.isspace() and not last:
                self.kinds[each] = _SINGLE_BLANK
            self.contexts[each] = contexts.setdefault(context, len(contexts) + 1)
            known = len(groups)
            filled = (last + _FILL)[: _length_of(last)] if last else b""
            key = first, shape, shape_of(filled.decode("utf-8", "replace"))
            number = self.groups[each] = groups.setdefault(key, known + 1)
            text = first + whole.encode() + filled
            if number > known:
                self.texts.append(text)
            elif len(text) < len(self.texts[number]):
                self.texts[number] = text


class _Verdicts:
    """What a pretokenizer does to tokens of each group behind others."""

    def __init__(self, cut: Cut, vocabulary: Vocabulary, texts: list[bytes]) -> None:
        self._cut = cut
        # A reference would keep the vocabulary, by which the rows are found, for ever.
        self._vocabulary: Callable[[], Vocabulary | None] = ref(vocabulary)
        self._count = len(texts)
        raw = {place for place, text in enumerate(texts) if text and text[0] >> 6 == 2}
        self._raw = [(place, texts[place]) for place in raw]
        self._whole = [
            (place, text.decode("utf-8", "replace"))
            for place, text in enumerate(texts)
            if text and place not in raw
        ]

    def __call__(self, past: tuple[int, ...], is_owed: bool) -> npt.NDArray[np.uint8]:
        vocabulary = self._vocabulary()
        tokens = [vocabulary.token(each) or b"" for each in past] if vocabulary else []
        data = b"".join(tokens)
        cut_off, whole, begun = _parted(data)
        # Of a character of which the beginning is further back: most are signs.
        before = "\U0001f600" * bool(cut_off)
        seen = before + whole
        ends = {
            len(before) + len(_parted(data[:end])[1])
            for end in accumulate(map(len, tokens))
            if end <= len(cut_off) or not _parted(data[:end])[2]
        }
        known = list(self._cut(seen)) if seen else []
        # What joins a character that is not begun, or goes on with none, spells no text.
        verdicts = np.full(self._count, _JOINED, np.uint8)
        if begun:
            for place, rest in self._raw:
                cuts = self._cut(seen + (begun + rest).decode("utf-8", "ignore"))
                if not ends.issuperset({*cuts}.difference(known)):
                    verdicts[place] = _CUT
            return verdicts
        for place, text in self._whole:
            verdicts[place] = self._judge(seen, known, ends, text, is_owed)
        return verdicts

    def _judge(self, seen: str, known: list[int], ends: set[int], text: str, is_owed: bool) -> int:
        """Return the verdict of a text behind a past, with the ends of its words and its tokens."""
        here, cuts = len(seen), self._cut(seen + text)
        if is_owed and here - 1 not in cuts:
            return _CUT
        if cuts and cuts[-1] == here and cuts[:-1] == known:
            return _APART
        if cuts == known and seen:
            is_blank = len(text) == 1 and text.isspace()
            return _OWED if is_blank and self._may_end(seen, text) else _JOINED
        # A word that ends where a token of the past does matters to neither.
        if not {*known} <= {*cuts} or not ends.issuperset({*cuts}.difference(known)):
            return _CUT
        return _APART if here in cuts or not seen else _JOINED

    def _may_end(self, seen: str, blank: str) -> bool:
        """Tell whether a blank is a word where something else follows."""
        here = len(seen)
        return any({here, here + 1} <= {*self._cut(seen + blank + each)} for each in _FOLLOWING)
