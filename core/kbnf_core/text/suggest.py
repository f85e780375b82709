"""Suggestions of names: the known name that a misspelled one resembles most.

Tests: tests/unit/text/test_suggest.py
"""

from collections.abc import Iterable, Sequence

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
