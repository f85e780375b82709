"""From syntax trees to automata over sets of code points (Thompson 1968).

A fragment is a range of consecutive states, so a counted repetition copies ranges instead of
walking its part of the tree again.
"""

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.regex.syntax import (
    Alternation,
    Assertion,
    Characters,
    Look,
    Node,
    Repetition,
    Sequence,
)

if TYPE_CHECKING:
    from kbnf_core.automata.codepoints import CodePoints


class PatternNfa:
    """An automaton whose states read one character of a set, or check a place, or do nothing.

    ``step[state]`` is (index into ``sets``, target), ``look[state]`` is (assertion, target),
    ``epsilon[state]`` are the states entered freely.
    """

    def __init__(self) -> None:
        self.sets: list[CodePoints] = []
        self.step: list[tuple[int, int] | None] = []
        self.look: list[tuple[Look, int] | None] = []
        self.epsilon: list[list[int]] = []
        self.start = 0
        self.final = 0

    @property
    def has_looks(self) -> bool:
        """Whether there is any assertion."""
        return any(self.look)


class _Fragment(NamedTuple):
    """The states from ``first`` up to where the next fragment began, entered at ``start``."""

    first: int
    start: int
    end: int


def build_nfa(tree: Node, limit: int) -> PatternNfa:
    """Return the automaton of a tree; raises LimitError when it has more than ``limit`` states."""
    builder = _Builder(limit)
    whole = builder.build(tree)
    builder.nfa.start, builder.nfa.final = whole.start, whole.end
    return builder.nfa


class _Builder:
    def __init__(self, limit: int) -> None:
        self.nfa = PatternNfa()
        self._limit = limit
        self._set_numbers: dict[CodePoints, int] = {}

    def build(self, tree: Node) -> _Fragment:
        """Build all fragments, children first; a node is met again when its children are done."""
        work: list[tuple[Node, int | None]] = [(tree, None)]
        done: list[_Fragment] = []
        while work:
            node, first = work.pop()
            if isinstance(node, Characters | Assertion):
                done.append(self._leaf(node))
            elif first is None:
                work.append((node, len(self.nfa.step)))
                work += [(child, None) for child in reversed(_children(node))]
            else:
                count = len(_children(node))
                parts = done[len(done) - count :]
                del done[len(done) - count :]
                done.append(self._join(node, first, parts))
        return done[0]

    def _join(self, node: Node, first: int, parts: list[_Fragment]) -> _Fragment:
        if isinstance(node, Repetition):
            return self._repetition(parts[0], first, node.low, node.high)
        if isinstance(node, Alternation):
            return self._alternation(first, parts)
        return self._sequence(first, parts)

    def _state(self) -> int:
        self._reserve(1)
        self.nfa.step.append(None)
        self.nfa.look.append(None)
        self.nfa.epsilon.append([])
        return len(self.nfa.step) - 1

    def _reserve(self, count: int) -> None:
        if len(self.nfa.step) + count > self._limit:
            raise LimitError("states", self._limit)

    def _leaf(self, node: Characters | Assertion) -> _Fragment:
        start, end = self._state(), self._state()
        if isinstance(node, Assertion):
            self.nfa.look[start] = (node.look, end)
        else:
            number = self._set_numbers.setdefault(node.points, len(self.nfa.sets))
            if number == len(self.nfa.sets):
                self.nfa.sets.append(node.points)
            self.nfa.step[start] = (number, end)
        return _Fragment(start, start, end)

    def _sequence(self, first: int, parts: list[_Fragment]) -> _Fragment:
        if not parts:
            only = self._state()
            return _Fragment(only, only, only)
        for left, right in pairwise(parts):
            self.nfa.epsilon[left.end].append(right.start)
        return _Fragment(first, parts[0].start, parts[-1].end)

    def _alternation(self, first: int, parts: list[_Fragment]) -> _Fragment:
        start, end = self._state(), self._state()
        for part in parts:
            self.nfa.epsilon[start].append(part.start)
            self.nfa.epsilon[part.end].append(end)
        return _Fragment(first, start, end)

    def _repetition(self, part: _Fragment, first: int, low: int, high: int | None) -> _Fragment:
        """Lay out as many copies as can be told apart, and let the rest be skipped or looped."""
        size = len(self.nfa.step) - first
        copies = max(low, 1) if high is None else high
        self._reserve(size * max(copies - 1, 0))
        start, end = self._state(), self._state()
        parts = [part, *(self._copy(part, size) for _ in range(copies - 1))][:copies]
        before = start
        for count, each in enumerate(parts):
            if count >= low:
                self.nfa.epsilon[before].append(end)
            self.nfa.epsilon[before].append(each.start)
            before = each.end
        self.nfa.epsilon[before].append(end)
        if high is None:
            self.nfa.epsilon[before].append(parts[-1].start)
        return _Fragment(first, start, end)

    def _copy(self, part: _Fragment, size: int) -> _Fragment:
        nfa = self.nfa
        shift = len(nfa.step) - part.first
        states = range(part.first, part.first + size)
        nfa.step += [
            edge and (edge[0], edge[1] + shift) for edge in map(nfa.step.__getitem__, states)
        ]
        nfa.look += [
            edge and (edge[0], edge[1] + shift) for edge in map(nfa.look.__getitem__, states)
        ]
        nfa.epsilon += [[to + shift for to in nfa.epsilon[state]] for state in states]
        return _Fragment(part.first + shift, part.start + shift, part.end + shift)


def _children(node: Node) -> tuple[Node, ...]:
    if isinstance(node, Sequence | Alternation):
        return node.items
    return (node.item,) if isinstance(node, Repetition) else ()
