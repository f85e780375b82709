"""Names that no rule has yet, for rules that are made.

Tests: tests/unit/ir/test_names.py.
"""

from collections.abc import Iterable
from typing import Self


class FreshNames:
    """Gives out names, each once: the wanted one, or it with a number from 2 after ``joint``.

    ``taken`` are never given out. Time is linear in the names that are given out, however many of
    them are wanted alike.
    """

    def __init__(self, taken: Iterable[str] = (), joint: str = "_") -> None:
        self._joint = joint
        # The last number of each name, given out or taken.
        self._last = dict.fromkeys(taken, 1)

    def copy(self) -> Self:
        """Return the same state, to come back to."""
        other = type(self).__new__(type(self))
        other.__dict__.update(self.__dict__, _last=dict(self._last))
        return other

    def take(self, name: str) -> bool:
        """Note that a name is in use; return whether it was not."""
        is_new = name not in self._last
        self._last.setdefault(name, 1)
        return is_new

    def fresh(self, wanted: str) -> str:
        """Return a name like ``wanted`` that was not in use, and is now."""
        name, number = wanted, self._last.get(wanted, 0)
        while name in self._last:
            number += 1
            name = f"{wanted}{self._joint}{number}"
        self._last[wanted] = max(number, 1)
        self._last.setdefault(name, 1)
        return name
