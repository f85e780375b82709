"""The texts that all words of automata begin with, and an index of automata by them.

Of many automata few pairs share a word or its beginning, as of keywords or of patterns of names:
an index finds those that may, so that no other pair is compared. Sets of automata, and of bytes,
are the bits of one number.

Tests: tests/unit/languages/lark/test_beginnings.py
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache, reduce
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
"""Bytes of a beginning that are compared; more of them would only leave out more automata."""


class Beginnings:
    """An index of automata by the text that all words begin with.

    A word of one automaton begins a word of another only where one of the two texts begins with
    the other: of n keywords, for example, each is compared with few. An automaton is its number in
    ``dfas``, a set of them the bits of one number.
    """

    def __init__(self, dfas: Iterable[Dfa]) -> None:
        self._equal: dict[bytes, int] = {}
        self._longer: dict[bytes, int] = {}
        for number, dfa in enumerate(dfas):
            text = beginning(dfa)[:_MOST_COMPARED]
            self._equal[text] = self._equal.get(text, 0) | 1 << number
            for length in range(len(text) + 1):
                shorter = text[:length]
                self._longer[shorter] = self._longer.get(shorter, 0) | 1 << number

    def near(self, dfa: Dfa) -> int:
        """Return the automata that ``dfa`` may share a word, or the beginning of one, with."""
        text = beginning(dfa)[:_MOST_COMPARED]
        shorter = (self._equal.get(text[:length], 0) for length in range(len(text)))
        return reduce(or_, shorter, self._longer.get(text, 0))
