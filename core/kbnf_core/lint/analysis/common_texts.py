"""Intersection of two regular parts: a shortest common text, from a lazy product.

Neither part becomes an automaton. The residual of a part after some bytes is a set of *rests*, and
only those that both parts reach are made: the walk is over as soon as the parts differ, however
large they are.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.explore import shortest_word_to
from kbnf_core.ir import Call, Choice, Literal, Node, Regular, Repeat, Sequence

MOST_RESTS = 20_000
"""Rests of the parts of one grammar, and sets of them that two parts come to."""

Rests = frozenset[int]

_END = 0


class _Rest(NamedTuple):
    """What is left to match: ``node`` from ``place`` on, and then the rest ``after``.

    ``place`` counts bytes of a literal, parts of a sequence or turns of a repetition, or is a
    state of an automaton.
    """

    node: Node
    place: int
    after: int


class CommonTexts:
    """The walk, for parts of one grammar; ``spelling`` has a byte of every class of bytes.

    Raises LimitError when there are more than ``MOST_RESTS``.
    """

    def __init__(self, rules: Mapping[str, Node], spelling: list[int]) -> None:
        self._rules = rules
        self._spelling = spelling
        # The first, the end, has no node; a place is never looked for there.
        self._rests: list[_Rest | None] = [None]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._entered: dict[int, Rests] = {}
        self._moved: dict[Rests, Mapping[int, set[int]]] = {}
        self._rows: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def find(self, first: Node, second: Node) -> bytes | None:
        """Return a shortest text of both, None if they have none in common."""
        start = (
            self._enter(self._number(first, 0, _END)),
            self._enter(self._number(second, 0, _END)),
        )
        found = shortest_word_to(
            start,
            lambda pair: all(_END in rests for rests in pair),
            self._steps,
            MOST_RESTS,
            "pairs of places",
        )
        return found and found[0]

    def _steps(self, pair: tuple[Rests, Rests]) -> Iterator[tuple[int, tuple[Rests, Rests]]]:
        """Yield the bytes with which both go on, one of those that lead to the same."""
        first, second = pair
        left, right = self._moves(first), self._moves(second)
        seen = set()
        for byte in self._spelling:
            if byte in left and byte in right:
                targets = (frozenset(left[byte]), frozenset(right[byte]))
                if targets not in seen:
                    seen.add(targets)
                    yield byte, (self._enter_all(targets[0]), self._enter_all(targets[1]))

    def _moves(self, rests: Rests) -> Mapping[int, set[int]]:
        if rests not in self._moved:
            self._moved[rests] = self._move(rests)
        return self._moved[rests]

    def _move(self, rests: Rests) -> Mapping[int, set[int]]:
        moves: defaultdict[int, set[int]] = defaultdict(set)
        for number in rests:
            match self._rests[number]:
                case _Rest(Literal(data) as node, place, after):
                    moves[data[place]].add(self._number(node, place + 1, after))
                case _Rest(Regular() as node, place, after):
                    for byte, target in self._row(node, place):
                        moves[byte].add(self._number(node, target, after))
        return moves

    def _row(self, node: Regular, state: int) -> list[tuple[int, int]]:
        key = (id(node.dfa), state)
        if key not in self._rows:
            row, classes = node.dfa.rows[state], node.dfa.classes
            self._rows[key] = [
                (byte, row[classes[byte]]) for byte in self._spelling if row[classes[byte]] != DEAD
            ]
        return self._rows[key]

    def _enter_all(self, numbers: Iterable[int]) -> Rests:
        return frozenset().union(*map(self._enter, numbers))

    def _enter(self, number: int) -> Rests:
        """Return the end, or terminals, to which a rest comes without a byte."""
        if number not in self._entered:
            seen = {number}
            stack = [number]
            leaves = set()
            while stack:
                at = stack.pop()
                inner, is_leaf = self._open(at)
                if is_leaf:
                    leaves.add(at)
                fresh = set(inner) - seen
                seen |= fresh
                stack.extend(fresh)
            self._entered[number] = frozenset(leaves)
        return self._entered[number]

    def _open(self, number: int) -> tuple[list[int], bool]:
        """Return the rests that a rest is without a byte, and whether it can take one, or ends."""
        rest = self._rests[number]
        if rest is None:
            return [], True
        node, place, after = rest
        match node:
            case Literal(data):
                return ([], True) if place < len(data) else ([after], False)
            case Regular(dfa):
                return [after] * (not dfa.is_empty and bool(dfa.accepting[place])), not dfa.is_empty
            case Call(name):
                return [self._number(self._rules[name], 0, after)], False
            case Choice(branches):
                return [self._number(branch, 0, after) for branch in branches], False
            case Sequence(parts) if place < len(parts):
                then = self._number(node, place + 1, after)
                return [self._number(parts[place], 0, then)], False
            case Repeat():
                return self._turns(node, place, after), False
            case _:
                return [after], False

    def _turns(self, node: Repeat[Node], done: int, after: int) -> list[int]:
        found = [after] if done >= node.low else []
        if node.high is None or done < node.high:
            # Of a loop without a bound, the turns beyond the least are all alike.
            then = done if node.high is None and done >= node.low else done + 1
            found.append(self._number(node.body, 0, self._number(node, then, after)))
        return found

    def _number(self, node: Node, place: int, after: int) -> int:
        key = (id(node), place, after)
        number = self._numbers.setdefault(key, len(self._rests))
        if number == len(self._rests):
            if number > MOST_RESTS:
                raise LimitError("places", MOST_RESTS)
            self._rests.append(_Rest(node, place, after))
        return number
