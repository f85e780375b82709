"""Searching texts for a pattern, with groups, in time that is linear in the text.

The first match is that of Python's ``regex``: the one that begins first, and of those the one
that backtracking finds first, since alternatives are tried in order and repetitions are greedy or
lazy. A place of the program that has failed at a place of the text fails there again, whatever led
to it; so each pair is tried once (Laurikari; RE2's *bit state*), and a pattern that backtracks
without end elsewhere costs its length times that of the text here.

Patterns that depend on more than the text of a match are refused: assertions, look-around, back
references, possessive repetitions and flags. Neither is what matches the empty text.

Tests: tests/unit/automata/test_search.py
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.algebra import Choice, Repeat, fold
from kbnf_core.automata.codepoints import CodePoints
from kbnf_core.automata.regex.parse import parse_regex
from kbnf_core.automata.regex.syntax import (
    TOO_LARGE,
    UNSUPPORTED,
    Assertion,
    CharacterSet,
    LazyRepeat,
    Named,
    Node,
    RegexProblem,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import Limits

MOST_STEPS = 10_000
"""Steps of the program of a pattern, whose counted repetitions are written out."""

_POSITION_WORK = 4
"""Steps of work for a place of a program at a place of a text, which takes some 80 bytes."""

_CLASS = re.compile(r"\\.|\[\^?\]?(?P<members>(?:\\.|[^\]\\])*)\]", re.DOTALL)
_OPERATORS = re.compile(r"\[|&&|--|~~|\|\|")
"""Texts that one dialect reads as an operator of sets, and another one as characters."""


_Matcher: TypeAlias = Callable[[int], int]


class Match(NamedTuple):
    """The place of a match in its text, and those of its named groups that matched."""

    start: int
    end: int
    groups: Mapping[str, str]


class _Step(NamedTuple):
    """The step of a program at one offset.

    ``goes`` are the places to go to, the preferred one first: without ``points`` and ``slot`` at
    once, with ``points`` past a character of these, with ``slot`` after noting where that was.
    """

    goes: tuple[int, ...]
    points: CodePoints | None = None
    slot: int | None = None


class SearchPattern:
    """A pattern that texts are searched for; ``tree`` is its syntax, ``names`` are its groups'."""

    def __init__(self, tree: Node) -> None:
        self.tree = tree
        self.names: list[str] = []
        self._steps: list[_Step] = []
        self._end = self._add(_Step(()))
        self._begin = fold(tree, self._written)(self._end)
        self._memberships: dict[tuple[int, str], bool] = {}
        first = self._reached(self._begin)
        self._first = [number for number in first if self._steps[number].points is not None]

    def find(self, text: str, start: int, budget: Budget) -> Match | None:
        """Return the first match that begins at ``start`` or later."""
        failed: set[int] = set()
        budget.spend(len(text) - start)
        for at in range(start, len(text)):
            if any(self._takes(number, text[at]) for number in self._first):
                result = self._match(text, at, failed, budget)
                if result is not None:
                    return result
        return None

    def match(self, text: str, budget: Budget) -> Match | None:
        """Return the match of a whole text."""
        return self._match(text, 0, set(), budget, is_whole=True)

    def _match(
        self, text: str, start: int, failed: set[int], budget: Budget, *, is_whole: bool = False
    ) -> Match | None:
        slots: list[int | None] = [None] * (2 * len(self.names))
        # Ways that are left to try, and below them what the slots were before.
        waiting: list[tuple[int, int, int | None]] = [(self._begin, start, None)]
        width = len(self._steps)
        while waiting:
            number, at, before = waiting.pop()
            if number < 0:
                slots[~number] = before
                continue
            key = at * width + number
            if key in failed:
                continue
            failed.add(key)
            budget.spend(_POSITION_WORK)
            step = self._steps[number]
            if step.points is not None:
                if at < len(text) and self._takes(number, text[at]):
                    waiting.append((step.goes[0], at + 1, None))
                continue
            if step.slot is not None:
                waiting.append((~step.slot, 0, slots[step.slot]))
                slots[step.slot] = at
            elif number == self._end and (at == len(text) or not is_whole):
                return Match(start, at, self._groups(text, slots))
            waiting += [(target, at, None) for target in reversed(step.goes)]
        return None

    def _groups(self, text: str, slots: list[int | None]) -> dict[str, str]:
        pairs = zip(self.names, slots[::2], slots[1::2], strict=True)
        return {name: text[a:b] for name, a, b in pairs if a is not None and b is not None}

    def _takes(self, number: int, char: str) -> bool:
        key = (number, char)
        if key not in self._memberships:
            points, point = self._steps[number].points or (), ord(char)
            self._memberships[key] = any(low <= point <= high for low, high in points)
        return self._memberships[key]

    def _reached(self, begin: int) -> list[int]:
        """Return the places to which a place leads before a character is read."""
        result = [begin]
        for number in result:
            if self._steps[number].points is None:
                result += [target for target in self._steps[number].goes if target not in result]
        return result

    # The program, from its end: a part is what makes its steps, given those that follow it

    def _add(self, step: _Step) -> int:
        if len(self._steps) > MOST_STEPS:
            message = f"a pattern has at most {MOST_STEPS:,} steps, counts written out"
            raise _PatternError(TOO_LARGE, message)
        self._steps.append(step)
        return len(self._steps) - 1

    def _written(self, node: Node, writers: list[_Matcher]) -> _Matcher:
        match node:
            case CharacterSet(points):
                return lambda after: self._add(_Step((after,), points))
            case Named():
                self.names.append(node.name)
                number = 2 * len(self.names) - 2
                return lambda after: self._add(
                    _Step((writers[0](self._add(_Step((after,), slot=number + 1))),), slot=number)
                )
            case Choice():
                return lambda after: self._add(_Step(tuple(write(after) for write in writers)))
            case Repeat(_, low, high):
                is_lazy = isinstance(node, LazyRepeat)
                return lambda after: self._repeated(writers[0], low, high, after, is_lazy=is_lazy)
            case _:
                return lambda after: self._in_order(writers, after)

    def _in_order(self, writers: list[_Matcher], after: int) -> int:
        for write in reversed(writers):
            after = write(after)
        return after

    def _repeated(
        self, write: _Matcher, low: int, high: int | None, after: int, *, is_lazy: bool
    ) -> int:
        def fork(more: int) -> _Step:
            return _Step((after, more) if is_lazy else (more, after))

        result = after
        if high is None:
            result = self._add(_Step(()))
            self._steps[result] = fork(write(result))
        else:
            for _ in range(high - low):
                result = self._add(fork(write(result)))
        for _ in range(low):
            result = write(result)
        return result


class _PatternError(Exception):
    """A pattern that is not searched for; ``code`` is that of the finding."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def read_pattern(
    pattern: str, limits: Limits
) -> tuple[SearchPattern | None, tuple[RegexProblem, ...]]:
    """Return a pattern of Python's dialect, None where there are problems, and these."""
    tree, problems = parse_regex(pattern, limits, is_searched=True)
    for match in _CLASS.finditer(pattern):
        if _OPERATORS.search(match["members"] or ""):
            message = "operators of sets are not supported here"
            problems += (RegexProblem(UNSUPPORTED, message, *match.span(), "escape the sign"),)
    if problems:
        return None, problems
    try:
        can_be_empty(tree)
        return SearchPattern(tree), ()
    except _PatternError as error:
        return None, (RegexProblem(error.code, str(error), 0, len(pattern)),)


def can_be_empty(tree: Node) -> bool:
    """Return whether a pattern matches the empty text. Raises where dialects differ in that."""

    def is_empty(node: Node, are_empty: list[bool]) -> bool:
        match node:
            case CharacterSet():
                return False
            case Assertion():
                raise _PatternError(UNSUPPORTED, "assertions are not supported here")
            case Choice():
                return any(are_empty)
            case Repeat(_, low):
                if are_empty[0]:
                    message = "repetitions of what can be empty are not supported here"
                    raise _PatternError(UNSUPPORTED, message)
                return low == 0
            case _:
                return all(are_empty)

    return fold(tree, is_empty)
