"""Thompson's construction for a whole regular part: one automaton, made deterministic once.

A leaf is a literal, or an automaton that exists already: a regular expression's, or that of a
nonterminal.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from kbnf_core.automata.columns import join, rows_over, separate, width
from kbnf_core.automata.determinise import determinise
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.epsilon import EpsilonNfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.machine import ACCEPT
from kbnf_core.automata.operations import from_machine
from kbnf_core.ir import Call, Choice, Literal, Node, Regular, Repeat, Sequence, children, postorder

_NFA_STATES = 4
"""States before making deterministic, for each that the result may have."""


def automaton_of(root: Node, callee: Callable[[str], Dfa], limit: int) -> Dfa:
    """Return the minimal automaton of ``root``, which has no token terminal.

    ``callee`` gives the automaton of a nonterminal. Raises LimitError beyond ``limit`` states.
    """
    leaves = {id(node): _dfa(node, callee) for node in postorder(root)}
    construction = _Construction(
        join(
            [
                separate(
                    b"".join(node.data for node in postorder(root) if isinstance(node, Literal))
                ),
                *(dfa.columns for dfa in leaves.values() if dfa is not None),
            ]
        ),
        limit,
    )
    values: list[_Fragment] = []
    for node in postorder(root):
        first = len(values) - len(children(node))
        values[first:] = [construction.add(node, values[first:], leaves[id(node)])]
    return construction.finish(values.pop())


def _dfa(node: Node, callee: Callable[[str], Dfa]) -> Dfa | None:
    match node:
        case Regular(dfa):
            return dfa
        case Call(name):
            return callee(name)
        case _:
            return None


class _Fragment(NamedTuple):
    """States from ``first`` on: where they are entered, and where the part is complete."""

    first: int
    start: int
    ends: list[int]


class _Construction:
    """The states so far; the newest fragment is the last of them."""

    def __init__(self, columns: bytes, limit: int) -> None:
        self._columns = columns
        self._limit = limit
        self._nfa = EpsilonNfa(_NFA_STATES * limit)

    def add(self, node: Node, parts: list[_Fragment], dfa: Dfa | None) -> _Fragment:
        """Return the fragment of ``node``, made of those of its parts, or of its automaton."""
        match node:
            case Literal(data):
                return self._word(data)
            case Sequence():
                return self._sequence(parts)
            case Choice():
                return self._choice(parts)
            case Repeat(_, low, high):
                return self._repetition(parts[0], low, high)
            case _ if dfa is not None:
                return self._automaton(dfa)
            case _:
                raise AssertionError("a token terminal has no automaton")

    def finish(self, whole: _Fragment) -> Dfa:
        """Return the minimal automaton of ``whole``."""
        tags = [0] * len(self._nfa.moves)
        for state in whole.ends:
            tags[state] = ACCEPT
        nfa = self._nfa.without_epsilon(whole.start, tags)
        machine = determinise(nfa, width(self._columns), self._limit)
        return from_machine(machine, self._columns)

    def _word(self, data: bytes) -> _Fragment:
        first = len(self._nfa.moves)
        for index, symbol in enumerate(map(self._columns.__getitem__, data), start=first + 1):
            self._nfa.add({symbol: index})
        return _Fragment(first, first, [self._nfa.add({})])

    def _automaton(self, dfa: Dfa) -> _Fragment:
        if dfa.state_count > self._limit:
            raise LimitError("states", self._limit)
        if dfa.is_empty:
            state = self._nfa.add({})
            return _Fragment(state, state, [])
        first = len(self._nfa.moves)
        for row in rows_over(dfa, self._columns):
            self._nfa.add({symbol: first + to for symbol, to in enumerate(row) if to != DEAD})
        return _Fragment(first, first, [first + at for at, end in enumerate(dfa.ends) if end])

    def _sequence(self, parts: list[_Fragment]) -> _Fragment:
        if not parts:
            return self._word(b"")
        for before, after in pairwise(parts):
            self._nfa.link(before.ends, after.start)
        return _Fragment(parts[0].first, parts[0].start, parts[-1].ends)

    def _choice(self, parts: list[_Fragment]) -> _Fragment:
        start = self._nfa.add({})
        for part in parts:
            self._nfa.link([start], part.start)
        first = parts[0].first if parts else start
        return _Fragment(first, start, [end for part in parts for end in part.ends])

    def _repetition(self, turn: _Fragment, low: int, high: int | None) -> _Fragment:
        """Lay out as many turns as are counted; the last one may come again without a bound."""
        size = len(self._nfa.moves) - turn.first
        count = max(low, 1) if high is None else high
        if count * size > _NFA_STATES * self._limit:
            raise LimitError("states", self._limit)
        turns = [turn, *(self._copy(turn, size) for _ in range(count - 1))][:count]
        start = self._nfa.add({})
        ends = [start] if low == 0 else []
        before = [start]
        for number, each in enumerate(turns, start=1):
            self._nfa.link(before, each.start)
            before = each.ends
            ends += before if number >= low else []
        if high is None:
            self._nfa.link(turns[-1].ends, turns[-1].start)
        return _Fragment(turn.first, start, ends)

    def _copy(self, turn: _Fragment, size: int) -> _Fragment:
        """Return a copy of ``turn``, of which ``size`` states are the newest or were it."""
        by = len(self._nfa.moves) - turn.first
        for state in range(turn.first, turn.first + size):
            moves = {symbol: to + by for symbol, to in self._nfa.moves[state].items()}
            copy = self._nfa.add(moves)
            self._nfa.epsilon[copy].extend(to + by for to in self._nfa.epsilon[state])
        return _Fragment(turn.first + by, turn.start + by, _moved(turn.ends, by))


def _moved(states: Iterable[int], by: int) -> list[int]:
    return [state + by for state in states]
