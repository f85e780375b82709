"""Where a pretokenizer may end words, as an automaton over kinds of characters.

A pretokenizer cuts a text into words by regular expressions, and tokens are merged within words
alone. Whether a word ends at a place can depend on what follows: of blanks the last one belongs to
the word after it, but not to a line break. So a *state* is the text since the last certain boundary
(one that any following text leaves there), and the conditions of the tokens so far on the offsets
in it where a word may end: none may end within a token, and one has to end between two tokens that
would have been merged. A token is refused only where no text that follows agrees with that.

The following text is tried: a few texts represent all (``_FOLLOWING``). Characters of one kind are
one, and long texts are shortened where that changes no boundary. So there are a few hundred states,
made on demand, and each step is a lookup.

A token may end within a character. Then the kinds of all characters that begin so are possible.

Tests: tests/property/test_canonical.py, tests/unit/mask/test_pretokens.py.
"""

import re
import unicodedata
from collections.abc import Mapping, Set
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.vocab.byte_pairs import Cut

CUT, JOINED, APART = range(3)
"""Of ``kernel/canonical.pxi``: what a pretokenizer does to a token after others."""

_FREE, _WITHIN, _ENDED = range(3)
"""What tokens ask of a place: nothing, that no word ends there, that one ends there."""

MOST_STATES = 2**15
"""States beyond which all are forgotten, of some 500 bytes each with the steps to them."""

DEAD = -1
"""Not a state: no text that follows agrees with the tokens."""

INITIAL = 0
"""The state at the beginning of a text, and where a word ends for certain."""

_APOSTROPHES = frozenset("'\u2019")
_SUFFIXES = frozenset("sdmtrevlSDMTREVL")
"""Letters of which an apostrophe may make a word of its own (``'s``, ``'re``)."""

_SUFFIXED = ("'", "'r", "'v", "'l", "\u2019", "\u2019r", "a'", "a'r", "a'l")
"""Texts that may be the beginnings of such words."""

_KEPT = frozenset("'\u2019/\n\r\t ")
_LONGEST = 6

_FOLLOWING = (
    *("", "a", "A", "\u4e00", "\u0301", "1", "!", "'", "/", " ", "\n", "\r", "\t", "\x0b"),
    *(" a", " !", " 1", " \n", " '", "  ", "\ta", "!a", "'s", "s", "re", "e", "\n\n", "\n ", "\na"),
    *(
        "sa",
        "rea",
        "ea",
        "la",
        "aA",
        "Aa",
        "11",
        "111",
        "!!",
        "!\n",
        "  a",
        "  \n",
        "/a",
        "\u0301a",
        "\x0ba",
        "\n  a",
    ),
)
"""Texts that stand for all that may follow; those of them are tried that differ somewhere."""


class _CharacterKinds(dict[int, str]):
    """The kinds of characters by their numbers, found as they come."""

    def __missing__(self, number: int) -> str:
        kind = self[number] = _kind_of(chr(number))
        return kind


_KINDS = _CharacterKinds()


def kind_of(character: str) -> str:
    """Return the character that stands for those of the same kind."""
    return _KINDS[ord(character)]


def _kind_of(character: str) -> str:
    if character in _KEPT:
        return character
    if character.isspace() and character not in "\x1c\x1d\x1e\x1f":
        return "\x0b"
    kind = unicodedata.category(character)
    if character.isascii() and kind in _ASCII:
        return _ASCII[kind]
    if kind == "Lo" and "\u3040" <= character <= "\u9fff":
        return "\u4e00" if character >= "\u3400" else "\u3042"
    return _CATEGORIES.get(kind) or _CATEGORIES.get(kind[0], "\x00")


_ASCII = {"Ll": "a", "Lu": "A", "Nd": "1"}
_CATEGORIES = {"Ll": "\xe9", "Lu": "\xc9", "Lt": "\xc9", "Lm": "\u02b0", "Lo": "\u05d0"}
_CATEGORIES |= {"Nd": "\u0663", "N": "\xb2", "M": "\u0301", "P": "!", "S": "+"}


def _ends_suffix(before: str, character: str) -> bool:
    """Return whether a letter may be one of a suffix, after some characters."""
    begun = before[-2:-1] if before[-1:] in _SUFFIXES else before[-1:]
    return character in _SUFFIXES and begun in _APOSTROPHES


_RUN = re.compile("([^1\u0663\xb2])\\1{2,}|([1\u0663\xb2])\\2{4,}", re.DOTALL)
_SCRIPT = re.compile("([\u05d0\u0301]{3})[\u05d0\u0301]+([\u05d0\u0301])")


def form_of(text: str) -> str:
    """Return the form of a token's text: kinds of characters, two in a row, and possible suffixes.

    Of digits up to four in a row. A letter that the text begins with may be a suffix after another
    token.
    """
    ends = [index for index, character in enumerate(text) if character in _APOSTROPHES]
    near = {0, *(() if text[:1] not in _SUFFIXES else (1,))} | {
        index + after for index in ends for after in (1, 2)
    }
    kinds = text.translate(_KINDS)
    for index in near:
        if text[index : index + 1] in _SUFFIXES:
            kinds = kinds[:index] + text[index] + kinds[index + 1 :]
    shorter = _SCRIPT.sub(r"\1\2", kinds)
    return _RUN.sub(lambda run: 2 * run[1] if run[1] else 4 * run[2], shorter)


def parted(data: bytes) -> tuple[bytes, str, bytes]:
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


def length_of(data: bytes) -> int:
    """Return the length of the character that begins with the first byte; 0 for none."""
    first = data[0] if data else 0xFF
    if first < 0x80:
        return 1
    return 0 if first < 0xC2 or first > 0xF4 else 2 + (first >= 0xE0) + (first >= 0xF0)


@cache
def _kinds_after(begun: bytes) -> frozenset[str]:
    """Return the kinds of characters that begin with some bytes; of many a sample."""
    open_bits = 6 * (length_of(begun) - len(begun))
    value = begun[0] & 0x7F >> length_of(begun)
    for byte in begun[1:]:
        value = value << 6 | byte & 0x3F
    first, last = value << open_bits, min((value + 1) << open_bits, 0x110000)
    step = max(1, (last - first) // 64) if begun[0] >= 0xF0 else 1
    numbers = (code for code in range(first, last, step) if not 0xD800 <= code < 0xE000)
    return frozenset(map(kind_of, map(chr, numbers)))


class _PretokenState(NamedTuple):
    """The text since the last certain boundary, and the conditions on offsets in it.

    ``asked``: offsets where a word may but need not end, from the end of the text on (-1 is before
    the last character), each with ``_WITHIN`` or ``_ENDED``. ``begun``: the bytes of an incomplete
    character; ``mark`` is the condition on the offset before it.
    """

    text: str = ""
    asked: tuple[tuple[int, int], ...] = ()
    begun: bytes = b""
    mark: int = _FREE


class _FormNode:
    """Of the tree of the forms of tokens: its children, and the groups that end there."""

    def __init__(self) -> None:
        self.children: dict[str, _FormNode] = {}
        self.groups: list[int] = []


_Form = tuple[bytes, str, bytes]
_Ends = tuple[frozenset[int], ...]


class Pretokens:
    """The automaton of one pretokenizer over the tokens of a vocabulary.

    ``groups``: int32[tokens], the number of those that are alike, 0 for what separates texts.
    """

    def __init__(self, cut: Cut, merged: Mapping[int, bytes], size: int) -> None:
        self._cut = cut
        self.groups = np.zeros(size, np.int32)
        self._forms: list[_Form] = [(b"", "", b"")]
        self._tree = _FormNode()
        # Groups of tokens that begin within a character.
        self._inner: list[int] = []
        self._number_forms(merged)
        self._states = [_PretokenState()]
        self._numbers = {self._states[0]: INITIAL}
        self._steps: dict[tuple[int, str, int], int] = {}
        self._following: tuple[str, ...] = _FOLLOWING
        self._following = self._differing()
        # By text, where words end; by that, the first text, which stands for all.
        self._ends_by_text: dict[str, _Ends] = {}
        self._texts: dict[_Ends, str] = {}
        # By first character and the state after it, the groups that may come.
        self._lasting: dict[tuple[str, int], npt.NDArray[np.int32]] = {}
        # So that no later state takes long.
        for character in self._tree.children:
            self.verdicts(self._step(INITIAL, character, _FREE))

    @property
    def is_full(self) -> bool:
        """Whether there are so many states that they are to be forgotten."""
        return len(self._states) > MOST_STATES

    def forget(self) -> None:
        """Forget all states, and the steps to them."""
        del self._states[1:]
        self._numbers = {self._states[0]: INITIAL}
        self._steps.clear()
        self._lasting.clear()

    def _number_forms(self, merged: Mapping[int, bytes]) -> None:
        numbers: dict[_Form, int] = {}
        for token, data in merged.items():
            first, whole, last = parted(data)
            form = first, form_of(whole), last
            number = self.groups[token] = numbers.setdefault(form, len(self._forms))
            if number == len(self._forms):
                self._forms.append(form)
                if first:
                    self._inner.append(number)
                else:
                    self._node_of(form[1]).groups.append(number)

    def _node_of(self, text: str) -> _FormNode:
        node = self._tree
        for character in text:
            node = node.children.setdefault(character, _FormNode())
        return node

    def _differing(self) -> tuple[str, ...]:
        """Return the following texts, less those that distinguish neither texts nor boundaries."""
        texts = {text for _, text, _ in self._forms if 0 < len(text) <= 3}.union(_SUFFIXED)
        texts.update(2 * character for character in _FOLLOWING)
        rows = [self._ends_of(text) for text in sorted(texts - {""})]
        columns = [*zip(*rows, strict=True)]
        kept: dict[_Ends, int] = {}
        for number, column in enumerate(columns):
            kept.setdefault(tuple(ends & _BEFORE for ends in column), number)
        chosen, most = [*kept.values()], 0
        for number in [-1, *(index for index in range(len(columns)) if index not in kept.values())]:
            longer = chosen if number < 0 else [*chosen, number]
            count = len({tuple(row[index] for index in longer) for row in rows})
            if count > most:
                chosen, most = longer, count
        return tuple(_FOLLOWING[index] for index in chosen)

    def _ends_of(self, text: str) -> _Ends:
        """Return the offsets at which words end, from the text's end on, by the following text."""
        size = len(text)
        return tuple(
            frozenset(end - size for end in (*self._cut(text + after), *([size] * (not after))))
            for after in self._following
        )

    def _ends(self, text: str) -> _Ends:
        cached = self._ends_by_text.get(text)
        if cached is None:
            cached = self._ends_by_text[text] = self._ends_of(text)
        return cached

    def may_end(self, state: int) -> bool:
        """Return whether the text may end in a state."""
        here = self._states[state]
        ends = {end - len(here.text) for end in self._cut(here.text)}
        return not here.begun and _agrees(here.asked, ends)

    def after(self, state: int, group: int, is_joined: bool) -> int:
        """Return the state after a token; ``is_joined``: merges leave it apart in a word, too."""
        result = self._read(state, group, _FREE if is_joined else _ENDED, _WITHIN)
        # What no text agrees with begins anew.
        for within in (_WITHIN, _FREE):
            if result == DEAD:
                result = self._read(INITIAL, group, _FREE, within)
        return max(result, INITIAL)

    def _read(self, state: int, group: int, mark: int, within: int) -> int:
        first, text, last = self._forms[group]
        here = self._states[state]
        if first or here.begun:
            state, mark = self._resume(here, first, is_last=not (text or last)), within
            if state == DEAD or self._states[state].begun:
                return state
        for character in text:
            state = self._step(state, character, mark)
            if state == DEAD:
                return DEAD
            mark = within
        return self._begin(state, last, mark) if last else state

    def _begin(self, state: int, begun: bytes, mark: int) -> int:
        """Return the state after the first bytes of a character."""
        if not self._may_begin(state, begun, mark):
            return DEAD
        here = self._states[state]
        is_text = bool(length_of(begun))
        return (
            self._number(_PretokenState(here.text, here.asked, begun, mark)) if is_text else INITIAL
        )

    def _may_begin(self, state: int, begun: bytes, mark: int) -> bool:
        """Return whether a character may begin so; bytes that begin no character spell no text."""
        kinds = _kinds_after(begun) if length_of(begun) else ()
        return not kinds or any(self._step(state, kind, mark) != DEAD for kind in kinds)

    def _resume(self, here: _PretokenState, more: bytes, is_last: bool) -> int:
        """Return the state after more bytes of a character; the initial one without a character."""
        whole = here.begun + more
        state = self._number(_PretokenState(here.text, here.asked))
        if not (here.begun and more) or len(whole) > length_of(whole):
            return INITIAL
        if len(whole) < length_of(whole):
            return self._begin(state, whole, here.mark) if is_last else INITIAL
        try:
            return self._step(state, kind_of(whole.decode()), here.mark)
        except UnicodeDecodeError:
            return INITIAL

    def verdicts(self, state: int) -> npt.NDArray[np.uint8]:
        """Return by group whether its tokens are allowed: never, where merges allow, or always."""
        result = np.full(len(self._forms), CUT, np.uint8)
        # What begins within a character, and what does not go on with one, spells no text.
        result[self._inner] = JOINED
        if self._states[state].begun:
            result[:] = JOINED
            dead = (
                inner_group
                for inner_group in self._inner
                if self._read(state, inner_group, _FREE, _WITHIN) == DEAD
            )
            result[[*dead]] = CUT
            return result
        for mark, verdict in ((_FREE, JOINED), (_ENDED, APART)):
            for group in self._tree.groups:
                if self._may_begin(state, self._forms[group][2], mark):
                    result[group] = verdict
            for character in self._tree.children:
                after = self._step(state, character, mark)
                if after != DEAD:
                    result[self._lasting_of(character, after)] = verdict
        return result

    def _lasting_of(self, first: str, state: int) -> npt.NDArray[np.int32]:
        """Return the groups of tokens of a first character that may come, from the state after."""
        cached = self._lasting.get((first, state))
        if cached is None:
            groups = []
            waiting = [(self._tree.children[first], state)]
            while waiting:
                node, here = waiting.pop()
                for group in node.groups:
                    last = self._forms[group][2]
                    if not last or self._may_begin(here, last, _WITHIN):
                        groups.append(group)
                for character, child in node.children.items():
                    after = self._step(here, character, _WITHIN)
                    if after != DEAD:
                        waiting.append((child, after))
            cached = self._lasting[first, state] = np.array(groups, np.int32)
        return cached

    def _step(self, state: int, character: str, mark: int) -> int:
        """Return the state after a character, ``mark`` being asked of the place before it."""
        key = state, character, mark
        cached = self._steps.get(key)
        if cached is None:
            cached = self._steps[key] = self._find_step(self._states[state], character, mark)
        return cached

    def _find_step(self, here: _PretokenState, character: str, mark: int) -> int:
        if not here.text and mark == _WITHIN:
            return DEAD
        if not _ends_suffix(here.text, character):
            character = kind_of(character)
        ends = self._ends(here.text + character)
        marked = (*here.asked, (0, mark)) if here.text and mark != _FREE else here.asked
        asked = tuple((offset - 1, mark_there) for offset, mark_there in marked)
        if not any(_agrees(asked, ends_of_text) for ends_of_text in ends):
            return DEAD
        since = _since_certain(ends)
        text = here.text + character
        text = text if since < 0 else text[len(text) - since :]
        if not text:
            return INITIAL
        ends = self._ends(text)
        end_offsets = frozenset.union(*ends) - {0}
        text = self._texts.setdefault(ends, text)
        kept = tuple((offset, mark_there) for offset, mark_there in asked if offset in end_offsets)
        return self._number(_PretokenState(text, kept))

    def _number(self, state: _PretokenState) -> int:
        result = self._numbers.setdefault(state, len(self._states))
        if result == len(self._states):
            self._states.append(state)
        return result


_BEFORE = frozenset(range(-_LONGEST, 1))


def _agrees(asked: tuple[tuple[int, int], ...], ends: Set[int]) -> bool:
    return all((offset in ends) == (mark == _ENDED) for offset, mark in asked)


def _since_certain(ends: _Ends) -> int:
    """Return the characters after the last boundary before all that are not certain; -1: none."""
    certain, result = frozenset.intersection(*ends), -1
    for end in sorted(frozenset.union(*ends)):
        if end > 0 or end not in certain:
            break
        result = -end
    return result
