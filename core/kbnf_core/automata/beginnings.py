"""The texts that all words of automata begin with, and an index of automata by them.

Of many automata few pairs share a word or its beginning, as of keywords or of patterns of names:
an index finds those that may, so that no other pair is compared. Sets of automata, and of bytes,
are the bits of one number.

Tests: tests/unit/languages/lark/test_beginnings.py
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
from itertools import chain
from operator import or_

from kbnf_core.automata.dfa import DEAD, ByteClasses, Dfa


@lru_cache(maxsize=256)
def members(mask: int) -> tuple[int, ...]:
    """Return the numbers in a set; the same few sets are asked about again and again."""
    result = []
    # A scan of digits, as each shift would copy the number.
    digits = f"{mask:b}"[::-1]
    index = digits.find("1")
    while index >= 0:
        result.append(index)
        index = digits.find("1", index + 1)
    return tuple(result)


@lru_cache(maxsize=4096)
def exits(dfa: Dfa) -> tuple[int, ...]:
    """Return, for each state, the bytes that lead on."""
    live = [bytes([_ONE if target != DEAD else _ZERO for target in row]) for row in dfa.rows]
    # Many states lead on by the same classes.
    masks = {digits: _bytes_of(digits, dfa.classes) for digits in set(live)}
    return tuple(map(masks.__getitem__, live))


def _leading_on(row: Sequence[int], classes: ByteClasses) -> int:
    """Return the bytes whose class leads to a state: the digits of a number, byte 0 the last."""
    return _bytes_of(bytes([_ONE if target != DEAD else _ZERO for target in row]), classes)


def _bytes_of(digits: bytes, classes: ByteClasses) -> int:
    """Return the bytes of the classes that have a digit one."""
    return int(classes.translate(digits.ljust(256))[::-1], 2)


_ZERO, _ONE = b"01"


@lru_cache(maxsize=4096)
def first_bytes(dfa: Dfa) -> int:
    """Return the bytes that words start with."""
    return 0 if dfa.is_empty else _leading_on(dfa.rows[0], dfa.classes)


def beginning(dfa: Dfa) -> bytes:
    """Return the longest text that every word begins with."""
    result = bytearray()
    state, bits = 0, exits(dfa)
    seen = {state}
    while not dfa.is_empty and not dfa.accepting[state] and bits[state].bit_count() == 1:
        result.append(bits[state].bit_length() - 1)
        state = dfa.rows[state][dfa.classes[result[-1]]]
        if state in seen:
            break
        seen.add(state)
    return bytes(result)


_MOST_COMPARED = 32
"""Bytes of words that are compared; more of them would only leave out more automata."""

_WIDEST = 16
"""States after the same number of bytes; beyond it the words are too different to compare."""


def openings(dfa: Dfa) -> list[int]:
    """Return the bytes at each of the first positions, as far as every word goes, up to a bound."""
    result: list[int] = []
    level = set[int]() if dfa.is_empty else {0}
    while 0 < len(level) <= _WIDEST and len(result) < _MOST_COMPARED:
        if any(dfa.accepting[state] for state in level):
            break
        rows = [dfa.rows[state] for state in level]
        result.append(reduce(or_, (_leading_on(row, dfa.classes) for row in rows)))
        level = set(chain.from_iterable(rows)) - {DEAD}
    return result


class Beginnings:
    """An index of automata by the bytes at the first positions of their words.

    A word of one automaton begins a word of another only where both may have the same byte at each
    position that all words of both have: of n keywords, for example, each is compared with few. An
    automaton is its number in ``dfas``, a set of them the bits of one number.
    """

    def __init__(self, dfas: Iterable[Dfa]) -> None:
        uses: dict[Dfa, int] = {}
        self._all = 0
        for number, dfa in enumerate(dfas):
            uses[dfa] = uses.get(dfa, 0) | 1 << number
            self._all |= 1 << number
        self._positions: list[_ByteIndex] = []
        for dfa, numbers in uses.items():
            for at, among in enumerate(openings(dfa)):
                if at == len(self._positions):
                    self._positions.append(_ByteIndex())
                self._positions[at].add(among, numbers)

    def near(self, dfa: Dfa) -> int:
        """Return the automata that ``dfa`` may share a word, or the beginning of one, with."""
        result = self._all
        for position, among in zip(self._positions, openings(dfa), strict=False):
            result &= ~position.elsewhere(among)
        return result


class _ByteIndex:
    """The automata whose words all have a byte at one position, by the bytes that it may be."""

    def __init__(self) -> None:
        self._automata: dict[int, int] = {}
        self._elsewhere: dict[int, int] = {}

    def add(self, among: int, numbers: int) -> None:
        """Note automata that have one of the bytes ``among`` here."""
        self._automata[among] = self._automata.get(among, 0) | numbers

    def elsewhere(self, among: int) -> int:
        """Return the automata that have none of the bytes ``among`` here, but others."""
        if among not in self._elsewhere:
            apart = (numbers for other, numbers in self._automata.items() if not other & among)
            self._elsewhere[among] = reduce(or_, apart, 0)
        return self._elsewhere[among]
