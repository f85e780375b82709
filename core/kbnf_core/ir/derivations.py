"""Random texts of a grammar, by derivation, so that they show what the grammar allows.

A draw expands rules from the start, left to right. Alternatives of one choice are equally likely;
an optional part is written with probability 1/2; a loop goes on with a chance that falls as the
draw runs out of its allowance. In a regular part the walk chooses among the characters that its
automaton distinguishes, so that the one that closes a string is not drowned by the many that go on.
Fixed text costs nothing: only choices do. The parts of a sequence share the rest of the allowance,
and each leaves its own rest to those after it; a part without any takes its shortest form. So the
first list of a text does not starve the last.

Tests: tests/unit/ir
"""

from collections.abc import Collection, Mapping, Sequence
from math import inf, log2
from random import Random
from typing import TypeAlias

from kbnf_core.automata.algebra import fold
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import (
    NEVER,
    Call,
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Token,
    TokenTerminal,
    calls,
)
from kbnf_core.ir import Sequence as Parts
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.text.budget import Budget

Chunk: TypeAlias = bytes | TokenTerminal


class Derivations:
    """Random derivations of one grammar.

    With ``ascii_only`` those without other bytes, and none that uses a rule of ``without``.
    """

    def __init__(
        self, grammar: GrammarRules, *, ascii_only: bool = False, without: Collection[str] = ()
    ) -> None:
        self._grammar = grammar
        self._bytes = 0x80 if ascii_only else 0x100
        self._walks: dict[int, _RandomWords] = {}
        self._least: dict[int, float] = {}
        callees = {
            name: [call.nonterminal for call in calls(body)] for name, body in grammar.rules.items()
        }

        def least(name: str, sizes: Mapping[str, float]) -> float:
            if name in without:
                return inf
            # A call counts one, so that the shortest derivation of a rule never goes in a circle.
            return 1 + fold(
                grammar.rules[name], lambda node, operands: self._size(node, operands, sizes)
            )

        self.is_empty = fixpoint(callees, inf, least)[grammar.start] == inf

    def draw(self, random: Random, length: int, budget: Budget) -> list[Chunk]:
        """Return the pieces of a text, neighbouring bytes as one.

        ``length`` is the number of choices after which the shortest form is taken. Raises
        ``WorkLimitError``.
        """
        left = length
        chunks: list[Chunk] = []
        run = bytearray()
        # Each node with the share of ``left`` that is kept for the nodes after it.
        stack: list[tuple[Node, float]] = [(self._grammar.rules[self._grammar.start], 0.0)]
        while stack:
            budget.spend()
            node, kept = stack.pop()
            own = left - kept
            match node:
                case Literal(data):
                    budget.spend(len(data))
                    run += data
                case Regular(dfa):
                    word = self._walk(dfa).draw(random, length)
                    budget.spend(len(word))
                    run += word
                case Token(terminal):
                    if run:
                        chunks.append(bytes(run))
                        run.clear()
                    chunks.append(terminal)
                case Call(name):
                    stack.append((self._grammar.rules[name], kept))
                case Parts(operands):
                    stack += _shared(operands, own, kept)
                case Choice():
                    branches = self._branches(node, is_short=own <= 0)
                    left -= len(branches) > 1 and own > 0
                    stack.append((random.choice(branches), kept))
                case Repeat(body, low, high):
                    budget.spend(low)
                    most = inf if high is None else high - low
                    extra = 0 if self._least[id(body)] == inf else _rounds(random, most, own)
                    left -= extra
                    stack += _shared((body,) * (low + extra), max(0, own - extra), kept)
        return [*chunks, bytes(run)] if run else chunks

    def _branches(self, node: Choice[Node], is_short: bool) -> list[Node]:
        """Return the branches with texts, or only those with the shortest derivation."""
        sizes = [self._least[id(branch)] for branch in node.branches]
        most = min(sizes) if is_short else max(size for size in sizes if size < inf)
        return [branch for branch, size in zip(node.branches, sizes, strict=True) if size <= most]

    def _walk(self, dfa: Dfa) -> "_RandomWords":
        if id(dfa) not in self._walks:
            self._walks[id(dfa)] = _RandomWords(dfa, self._bytes)
        return self._walks[id(dfa)]

    def _size(self, node: Node, operands: list[float], sizes: Mapping[str, float]) -> float:
        """Return the size of the shortest derivation of a part, and remember it."""
        match node:
            case Literal(data):
                size: float = len(data) if max(data, default=0) < self._bytes else inf
            case Regular(dfa):
                size = inf if dfa.is_empty else self._walk(dfa).shortest
            case Token(terminal):
                size = inf if terminal is NEVER else 1
            case Call(name):
                size = sizes[name]
            case Parts():
                size = sum(operands)
            case Choice():
                size = min(operands, default=inf)
            case Repeat(_, low, _):
                size = low * operands[0] if low else 0
        self._least[id(node)] = size
        return size


def _shared(operands: Sequence[Node], own: float, kept: float) -> list[tuple[Node, float]]:
    """Return the parts of a sequence, the last first, each with the allowance left for the rest."""
    free = sum(not isinstance(factor, Literal) for factor in operands)
    share = max(0.0, own) / (free or 1)
    shared: list[tuple[Node, float]] = []
    for operand in reversed(operands):
        shared.append((operand, kept))
        kept += 0 if isinstance(operand, Literal) else share
    return shared


def _rounds(random: Random, most: float, own: float) -> int:
    """Return how many rounds beyond the least a loop makes, with ``own`` choices left to it."""
    chance = 0.5 if most == 1 else 1 - 1 / (2 + own / 16)
    rounds = 0
    while rounds < most and rounds < own and random.random() < chance:
        rounds += 1
    return rounds


_READABLE = 16
"""Of so many characters, all but one are printable characters of ASCII where there are some."""

_PRINTABLE = range(0x20, 0x7F)


class _RandomWords:
    """Random words of one automaton, of bytes below ``size``, where there is one.

    A move is a target with the bytes that lead there.
    """

    def __init__(self, dfa: Dfa, size: int) -> None:
        self._dfa = dfa
        self._size = size
        self._moves: dict[int, list[tuple[int, bytes]]] = {}
        self._left = _lengths_to_end(dfa, size)
        self.shortest = self._left[0] if self._left and self._left[0] >= 0 else inf

    def draw(self, random: Random, length: int) -> bytes:
        """Return a word; after ``length`` choices it ends the shortest way."""
        dfa, word, state, choices = self._dfa, bytearray(), 0, 0
        leave = 1 / (1 + length / 8)
        while True:
            moves = self._moves_of(state)
            if dfa.accepting[state] and (not moves or choices >= length or random.random() < leave):
                return bytes(word)
            if choices >= length:
                nearer = self._left[state] - 1
                moves = [move for move in moves if self._left[move[0]] == nearer]
            choices += dfa.accepting[state] or len(moves) > 1 or len(moves[0][1]) > 1
            state, byte = _step(random, moves)
            word.append(byte)

    def _moves_of(self, state: int) -> list[tuple[int, bytes]]:
        if state not in self._moves:
            row = self._dfa.rows[state]
            targets: dict[int, list[int]] = {}
            for byte, byte_class in enumerate(self._dfa.classes[: self._size]):
                if row[byte_class] != DEAD and self._left[row[byte_class]] >= 0:
                    targets.setdefault(row[byte_class], []).append(byte)
            self._moves[state] = [(target, bytes(data)) for target, data in targets.items()]
        return self._moves[state]


def _step(random: Random, moves: list[tuple[int, bytes]]) -> tuple[int, int]:
    """Return a target and a byte; a target counts by the logarithm of the bytes that lead to it."""
    if random.randrange(_READABLE):
        readable = [
            (target, bytes(byte for byte in data if byte in _PRINTABLE)) for target, data in moves
        ]
        moves = [move for move in readable if move[1]] or moves
    weights = [1 + log2(len(data)) for _, data in moves]
    target, data = random.choices(moves, weights)[0]
    return target, random.choice(data)


def _lengths_to_end(dfa: Dfa, size: int) -> list[int]:
    """Return the length of the shortest way to acceptance from each state, -1 without one."""
    classes = set(dfa.classes[:size])
    sources: list[set[int]] = [set() for _ in dfa.accepting]
    for state, row in enumerate(dfa.rows):
        for target in {row[byte_class] for byte_class in classes} - {DEAD}:
            sources[target].add(state)
    left = [0 if accepts else -1 for accepts in dfa.accepting]
    queue = [state for state, accepts in enumerate(dfa.accepting) if accepts]
    for state in queue:
        for source in sources[state]:
            if left[source] < 0:
                left[source] = left[state] + 1
                queue.append(source)
    return left
