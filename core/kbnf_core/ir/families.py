"""Rules that a text gives rise to and does not write one by one: families, parameters, templates.

A family is a rule with a number, ``block@n`` in KBNF or ``block::_`` in LLGuidance's Lark; a
template is a rule with arguments. Each stands for many rules of the grammar, of which only those
are made that the start reaches. ``Members`` is the list of those that a reader still has to make:
each once, the one that was called last first. Their number is limited, and the limit is checked
when a rule is called, before it is made.

Tests: tests/unit/ir/test_families.py
"""

from collections.abc import Iterator
from typing import Generic, TypeVar

from kbnf_core.text.errors import LimitError

_T = TypeVar("_T")

MARK = "@"
"""Joins the name of a family and a number in the name of a rule."""


def member_name(family: str, number: int) -> str:
    """Return the name of a rule of a family, as ``block@4``."""
    return f"{family}{MARK}{number}"


def family_of(name: str) -> str:
    """Return the name that is defined where a rule has the name ``name``."""
    return name.partition(MARK)[0]


class TooManyMembersError(LimitError):
    """More rules than allowed; ``family`` is the one that the limit was passed in."""

    def __init__(self, family: str, most: int) -> None:
        super().__init__("rules", most)
        self.family = family


class Members(Generic[_T]):
    """The rules that are called, each with the data that its reader needs to make it.

    Iterating takes them out, the newest first; adding while iterating is the normal use.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._names: set[str] = set()
        self._pending: list[_T] = []

    def __iter__(self) -> Iterator[_T]:
        while self._pending:
            yield self._pending.pop()

    def add(self, name: str, member: _T, family: str) -> None:
        """Ask for the rule ``name`` of ``family``, unless it was asked for before.

        Raises TooManyMembersError.
        """
        if name in self._names:
            return
        if len(self._names) >= self._most:
            raise TooManyMembersError(family, self._most)
        self._names.add(name)
        self._pending.append(member)
