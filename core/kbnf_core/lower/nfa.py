"""One nonterminal as a nondeterministic automaton over symbols, after Thompson.

Symbols are small integers: byte classes first, then nonterminals, then token terminals (see
``Alphabet``). The construction is top-down with a work list, so that depth costs no stack.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.classes import rows_over
from kbnf_core.errors import KbnfError
from kbnf_core.ir import (
    Call,
    Choice,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    TokenTerminal,
)
from kbnf_core.lower.analyse import Analysis
from kbnf_core.source import Span

Place: TypeAlias = tuple[Span, int]


class TooManyStatesError(KbnfError):
    """A nonterminal needs more states than the limit allows."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The numbering of symbols that all nonterminals of one grammar share."""

    classes: npt.NDArray[np.uint8]
    nonterminals: Mapping[str, int]
    terminals: Mapping[TokenTerminal, int]

    @property
    def class_count(self) -> int:
        """Number of byte classes; their symbols are 0 .. class_count - 1."""
        return int(self.classes.max()) + 1

    def of_call(self, name: str) -> int:
        """Return the symbol of a nonterminal."""
        return self.class_count + self.nonterminals[name]

    def of_token(self, terminal: TokenTerminal) -> int:
        """Return the symbol of a token terminal."""
        return self.class_count + len(self.nonterminals) + self.terminals[terminal]


@dataclass(slots=True)
class Nfa:
    """States 0 (start) and 1 (accepting) and more; ``places`` tell what a state waits for.

    ``edges[s]`` are (symbol, target), ``epsilons[s]`` are targets, and ``places[s]`` are the spans
    of what may come at ``s``, each with the number of its bytes that lie behind.
    """

    edges: list[list[tuple[int, int]]] = field(default_factory=list)
    epsilons: list[list[int]] = field(default_factory=list)
    places: list[list[Place]] = field(default_factory=list)

    START = 0
    ACCEPT = 1

    def add_state(self) -> int:
        """Return a new state without edges."""
        self.edges.append([])
        self.epsilons.append([])
        self.places.append([])
        return len(self.edges) - 1


class NfaBuilder:
    """Builds the automaton of one nonterminal; calls of ``inlined`` ones are written out."""

    def __init__(
        self,
        rules: Mapping[str, Node],
        analysis: Analysis,
        alphabet: Alphabet,
        inlined: frozenset[str],
        state_limit: int,
    ) -> None:
        self._rules = rules
        self._analysis = analysis
        self._alphabet = alphabet
        self._inlined = inlined
        self._state_limit = state_limit
        self._nfa = Nfa()
        self._work: list[tuple[Node, int, int]] = []

    def build(self, name: str) -> Nfa:
        """Return the automaton of ``name``; raise TooManyStatesError beyond the limit."""
        self._nfa = Nfa()
        self._nfa.add_state()
        self._nfa.add_state()
        self._work = [(self._rules[name], Nfa.START, Nfa.ACCEPT)]
        while self._work:
            self._connect(*self._work.pop())
            if len(self._nfa.edges) > self._state_limit:
                raise TooManyStatesError(name)
        return self._nfa

    def _connect(self, node: Node, begin: int, end: int) -> None:
        """Add paths for ``node`` from ``begin`` to ``end``, or put its parts on the work list."""
        match node:
            case Literal():
                self._connect_literal(node, begin, end)
            case Regular():
                self._connect_dfa(node, begin, end)
            case Call():
                self._connect_call(node, begin, end)
            case Token(terminal, span):
                self._nfa.edges[begin].append((self._alphabet.of_token(terminal), end))
                self._nfa.places[begin].append((span, 0))
            case Sequence(parts):
                self._connect_sequence(parts, begin, end)
            case Choice(branches):
                self._work.extend((branch, begin, end) for branch in branches)
            case Repeat():
                self._connect_repeat(node, begin, end)

    def _connect_sequence(self, parts: tuple[Node, ...], begin: int, end: int) -> None:
        if not parts:
            self._nfa.epsilons[begin].append(end)
            return
        for part in parts[:-1]:
            middle = self._nfa.add_state()
            self._work.append((part, begin, middle))
            begin = middle
        self._work.append((parts[-1], begin, end))

    def _connect_literal(self, node: Literal, begin: int, end: int) -> None:
        here = begin
        for offset, byte in enumerate(node.data):
            there = self._nfa.add_state()
            self._nfa.edges[here].append((int(self._alphabet.classes[byte]), there))
            self._nfa.places[here].append((node.span, offset))
            here = there
        self._nfa.epsilons[here].append(end)

    def _connect_dfa(self, node: Regular, begin: int, end: int) -> None:
        base = len(self._nfa.edges)
        rows = rows_over(node.dfa, self._alphabet.classes)
        for row, accepting in zip(rows, node.dfa.accepting.tolist(), strict=True):
            state = self._nfa.add_state()
            live = np.flatnonzero(row >= 0)
            self._nfa.edges[state] = list(
                zip(live.tolist(), (row[live] + base).tolist(), strict=True)
            )
            self._nfa.places[state].append((node.span, 0))
            if accepting:
                self._nfa.epsilons[state].append(end)
        if len(rows):
            self._nfa.epsilons[begin].append(base)

    def _connect_call(self, node: Call, begin: int, end: int) -> None:
        if node.nonterminal in self._inlined:
            self._work.append((self._rules[node.nonterminal], begin, end))
            return
        facts = self._analysis.facts[node.nonterminal]
        if facts.nullable:
            self._nfa.epsilons[begin].append(end)
        if facts.filled:
            symbol = self._alphabet.of_call(node.nonterminal)
            self._nfa.edges[begin].append((symbol, end))
            self._nfa.places[begin].append((node.span, 0))

    def _connect_repeat(self, node: Repeat, begin: int, end: int) -> None:
        here = begin
        for _ in range(node.low):
            here = self._connect_copy(node.body, here)
        if node.high is None:
            loop = self._nfa.add_state()
            self._nfa.epsilons[here].append(loop)
            self._work.append((node.body, loop, loop))
            here = loop
        else:
            for _ in range(node.high - node.low):
                self._nfa.epsilons[here].append(end)
                here = self._connect_copy(node.body, here)
        self._nfa.epsilons[here].append(end)

    def _connect_copy(self, body: Node, begin: int) -> int:
        there = self._nfa.add_state()
        self._work.append((body, begin, there))
        return there
