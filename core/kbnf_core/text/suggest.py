"""Suggestions of names: the known name that a misspelled one resembles most.

Tests: tests/unit/text/test_suggest.py
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

COMPARISONS = 50_000
"""Names that are compared; a text in which more are misspelled was cut off or pasted by half."""

_LONGEST = 100
"""Characters of a name that is compared; the comparison takes the square of them."""


class Suggestions:
    """Finds close matches among ``names``, for the first callers only.

    Those that begin with the written name come first; others by Ratcliff & Obershelp (1988).
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._names = [name for name in names if len(name) <= _LONGEST]
        self._left = COMPARISONS

    def closest(self, name: str) -> str | None:
        """Return the most similar name, if any is similar and there was not too much to compare."""
        if self._left <= 0 or len(name) > _LONGEST:
            return None
        from difflib import get_close_matches

        self._left -= len(self._names)
        folded = name.casefold()
        longer = [candidate for candidate in self._names if candidate.casefold().startswith(folded)]
        if longer and len(name) > 1:
            return min(longer, key=lambda candidate: (len(candidate), candidate))
        close = get_close_matches(name, self._names, n=1)
        return close[0] if close else None


_LISTED = 5


def listed(names: Sequence[str]) -> str:
    """Return some names, in backticks, for a message."""
    shown = ", ".join(f"`{name}`" for name in names[:_LISTED])
    return shown if len(names) <= _LISTED else f"{shown} and {len(names) - _LISTED} more"


def edits(first: str, second: str, most: int) -> int:
    """Return how many letters are added, left out, changed or swapped with the next one.

    Any number above ``most`` may stand for a larger one. Takes at most the product of the lengths
    (Damerau & Levenshtein, restricted to adjacent letters).
    """
    before, row = list[int](), list(range(len(second) + 1))
    for number, letter in enumerate(first, 1):
        # No distance is below the least one of the two rows from which it is made.
        if min(row) > most and min(before, default=0) > most:
            return most + 1
        above, before, row = before, row, [number]
        for column, other in enumerate(second, 1):
            cost = min(before[column] + 1, row[-1] + 1, before[column - 1] + (letter != other))
            is_swap = number > 1 and column > 1 and letter == second[column - 2]
            if is_swap and other == first[number - 2]:
                cost = min(cost, above[column - 2] + 1)
            row.append(cost)
    return row[-1]


_SEPARATORS = dict.fromkeys(map(ord, "$_- \t\n"))
"""Characters that are left out of names that are compared."""

_SHORT = 5
"""Letters of a name in which one wrong one is as much as two in others."""


class ComparedName(NamedTuple):
    """A name, as it is compared, and the set of its letters as bits; ``near`` compares two."""

    name: str
    plain: str
    letters: int

    @classmethod
    def of(cls, name: str) -> "ComparedName":
        """Return a name with the data that comparing it needs."""
        plain, letters = _plain(name), 0
        for letter in plain:
            # Two letters that share a bit make names look alike that are not.
            letters |= 1 << (ord(letter) & 31)
        return cls(name, plain, letters)


def near(word: ComparedName, words: Iterable[ComparedName]) -> list[str]:
    """Return the names that are a letter or two off a word, the nearest first."""
    letters, length = word.letters, len(word.plain)
    most = edits_allowed(length)
    # A letter more or less is at most one bit of the set, another letter at most two.
    alike = [
        (edits(word.plain, plain, most), name)
        for name, plain, others in words
        if (letters ^ others).bit_count() <= 2 * most - abs(len(plain) - length) >= most
    ]
    return [name for cost, name in sorted(alike) if cost <= most]


def edits_allowed(length: int) -> int:
    """Return how many letters of a name with this length may be wrong."""
    return 1 if length <= _SHORT else max(2, length // 6)


def _plain(name: str) -> str:
    """Return a name as it is compared: ``max_length`` is ``maxLength``, ``ref`` is ``$ref``."""
    return name.translate(_SEPARATORS).casefold()
