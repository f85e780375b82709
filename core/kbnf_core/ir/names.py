"""Names that no rule has yet, for rules that are made.

Tests: tests/unit/ir/test_names.py.
"""

import re
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


_NO_NAME = re.compile(r"_*[^A-Za-z0-9_]+_*")
_LONGEST, _LEAST = 48, 16
"""Characters of a name that are kept, and of a hint in a name that begins with a long one."""


class HintedNames(FreshNames):
    """Generates unique identifiers that begin with ``prefix``, and go on with ``own``."""

    def __init__(self, prefix: str, reserved: frozenset[str], own: str = "") -> None:
        super().__init__(prefix + name for name in reserved)
        self._prefix = prefix + own
        self._most = max(_LEAST, _LONGEST - len(own)) if own else _LONGEST
        self._joint_before_digit = "" if own else "_"

    def fresh(self, hint: str) -> str:
        """Return an identifier like ``hint`` that was not given out before."""
        base = _NO_NAME.sub("_", hint).strip("_")[: self._most] or "rule"
        joint = self._joint_before_digit if base[0].isdigit() else ""
        return super().fresh(f"{self._prefix}{joint}{base}")
