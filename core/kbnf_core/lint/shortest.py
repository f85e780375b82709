"""The length in bytes of the shortest text of each nonterminal."""

import math
from collections import defaultdict, deque
from collections.abc import Callable, Collection

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import (
    Call,
    Choice,
    Grammar,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    TokenTerminal,
    calls,
    children,
    postorder,
)

Lengths = dict[str, float]


def shortest_lengths(
    grammar: Grammar,
    missing: Collection[int] = (),
    has_token: Callable[[TokenTerminal], bool] = lambda _: True,
) -> Lengths:
    """Return the least number of bytes of each nonterminal, infinity where there is no text.

    Texts with a byte of ``missing``, or with a token that ``has_token`` denies, do not count; a
    token terminal counts as no bytes. The least fixpoint by a worklist (Knuth 1977 does the same
    with a queue ordered by length).
    """
    callers = defaultdict(set)
    for name, body in grammar.rules.items():
        for call in calls(body):
            callers[call.nonterminal].add(name)
    lengths: Lengths = dict.fromkeys(grammar.rules, math.inf)
    measure = _Measure(lengths, frozenset(missing), has_token)
    queue = deque(grammar.rules)
    waiting = set(queue)
    while queue:
        name = queue.popleft()
        waiting.discard(name)
        length = measure.of(grammar.rules[name])
        if length < lengths[name]:
            lengths[name] = length
            again = callers[name] - waiting
            queue.extend(sorted(again))
            waiting |= again
    return lengths


class _Measure:
    """The shortest length of a node, as far as those of the nonterminals are known."""

    def __init__(
        self,
        lengths: Lengths,
        missing: frozenset[int],
        has_token: Callable[[TokenTerminal], bool],
    ) -> None:
        self._lengths = lengths
        self._missing = missing
        self._has_token = has_token
        self._automata: dict[int, float] = {}

    def of(self, root: Node) -> float:
        values: list[float] = []
        for node in postorder(root):
            first = len(values) - len(children(node))
            values[first:] = [self._combine(node, values[first:])]
        return values.pop()

    def _combine(self, node: Node, parts: list[float]) -> float:
        match node:
            case Literal(data):
                return math.inf if self._missing.intersection(data) else len(data)
            case Regular(dfa):
                return self._in_automaton(dfa)
            case Call(name):
                return self._lengths[name]
            case Sequence():
                return sum(parts)
            case Choice():
                return min(parts, default=math.inf)
            case Repeat(_, low):
                return low * parts[0] if low else 0
            case _:
                return 0 if self._has_token(node.terminal) else math.inf

    def _in_automaton(self, dfa: Dfa) -> float:
        if id(dfa) not in self._automata:
            self._automata[id(dfa)] = _shortest(dfa, self._missing)
        return self._automata[id(dfa)]


def _shortest(dfa: Dfa, missing: frozenset[int]) -> float:
    """Return the distance from the start to the nearest accepting state."""
    if dfa.is_empty:
        return math.inf
    symbols = sorted({int(dfa.classes[byte]) for byte in range(256) if byte not in missing})
    rows = dfa.next[:, symbols].tolist()
    front, seen, length = {0}, {0}, 0
    while front:
        if any(dfa.accepting[state] for state in front):
            return length
        front = {target for state in front for target in rows[state] if target != DEAD} - seen
        seen |= front
        length += 1
    return math.inf
