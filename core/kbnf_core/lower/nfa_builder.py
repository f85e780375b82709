"""One nonterminal as a nondeterministic automaton, after Thompson.

The construction is top-down with a work list, so that depth costs no stack.
"""

from collections.abc import Mapping
from typing import NamedTuple, TypeGuard, TypeVar

import numpy as np

from kbnf_core.automata.alphabet import class_count
from kbnf_core.automata.dfa import Dfa
from kbnf_core.budget import Budget
from kbnf_core.ir import NEVER, Call, Choice, Literal, Node, Regular, Repeat, Sequence, Token
from kbnf_core.lower.analyse import Analysis
from kbnf_core.lower.nfa import Alphabet, Ids, Nfa, TooManyStatesError

N = TypeVar("N", bound=Nfa)


class Fragment(NamedTuple):
    """An automaton without free edges that is copied as a whole; state 0 is its start.

    ``edges`` are columns, int32[3, n]: source, symbol, target.
    """

    edges: Ids
    accepting: list[int]
    state_count: int


class NfaBuilder:
    """Builds the automaton of one nonterminal; calls of ``inlined`` ones are written out.

    Parts and states are charged to ``budget``, as is what is done with the result.

    ``fragments`` are automata of nonterminals to copy instead; they may be added at any time.
    """

    def __init__(
        self,
        rules: Mapping[str, Node],
        analysis: Analysis,
        alphabet: Alphabet,
        inlined: frozenset[str],
        state_limit: int,
        budget: Budget,
    ) -> None:
        self._rules = rules
        self._analysis = analysis
        self._alphabet = alphabet
        self._inlined = inlined
        self._state_limit = state_limit
        self.budget = budget
        self._columns = alphabet.columns
        self.fragments: dict[str, Fragment] = {}
        self._dfas: dict[int, Fragment] = {}
        self._nfa = Nfa()
        self._work: list[tuple[Node, int, int]] = []

    def build(self, name: str, nfa: N) -> N:
        """Add to ``nfa`` the automaton of ``name``; raise TooManyStatesError beyond the limit."""
        self._nfa = nfa
        self._work = [(self._rules[name], Nfa.START, Nfa.ACCEPT)]
        self.budget.part = name
        while self._work:
            before = nfa.state_count
            self._connect(*self._work.pop())
            self.budget.spend(1 + nfa.state_count - before)
            if nfa.state_count > self._state_limit:
                raise TooManyStatesError(name)
        return nfa

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
                self._nfa.link(begin, self._alphabet.of_token(terminal), end)
                if terminal != NEVER:
                    self._nfa.note(begin, span, 0)
            case Sequence(parts):
                self._connect_sequence(parts, begin, end)
            case Choice(branches):
                self._work.extend((branch, begin, end) for branch in branches)
            case Repeat():
                self._connect_repeat(node, begin, end)

    def _connect_sequence(self, parts: tuple[Node, ...], begin: int, end: int) -> None:
        if not parts:
            self._nfa.free(begin, end)
            return
        for part in parts[:-1]:
            middle = self._nfa.add_states()
            self._work.append((part, begin, middle))
            begin = middle
        self._work.append((parts[-1], begin, end))

    def _connect_literal(self, node: Literal, begin: int, end: int) -> None:
        nfa = self._nfa
        if not node.data:
            nfa.free(begin, end)
            return
        inner = len(node.data) - 1
        first = nfa.add_states(inner)
        sources = [begin, *range(first, first + inner)]
        nfa.sources += sources
        nfa.symbols += node.data.translate(self._columns)
        nfa.targets += [*sources[1:], end]
        nfa.note_text(sources, node.span)

    def _connect_dfa(self, node: Regular, begin: int, end: int) -> None:
        if node.dfa.is_empty:
            return
        fragment = self._dfas.get(id(node.dfa))
        if fragment is None:
            fragment = self._dfas[id(node.dfa)] = _fragment_of(node.dfa, self._alphabet)
        states = self._copy(fragment, begin, end)
        self._nfa.note_all(states, node.span)

    def _copy(self, fragment: Fragment, begin: int, end: int) -> range:
        """Add a copy of an automaton; return its states."""
        nfa = self._nfa
        base = nfa.add_states(fragment.state_count)
        nfa.blocks.append(fragment.edges + np.array([[base], [0], [base]], np.int32))
        nfa.free(begin, base)
        for state in fragment.accepting:
            nfa.free(base + state, end)
        return range(base, base + fragment.state_count)

    def _connect_call(self, node: Call, begin: int, end: int) -> None:
        fragment = self.fragments.get(node.nonterminal)
        if fragment is not None:
            self._copy(fragment, begin, end)
            return
        if node.nonterminal in self._inlined:
            self._work.append((self._rules[node.nonterminal], begin, end))
            return
        facts = self._analysis.facts[node.nonterminal]
        if facts.nullable:
            self._nfa.free(begin, end)
        if facts.filled:
            self._link_call(node, begin, end)

    def _connect_repeat(self, node: Repeat, begin: int, end: int) -> None:
        if node.high is not None and self._is_nullable_call(node.body):
            self._connect_optional(node.body, node.high, begin, end)
            return
        here = begin
        for _ in range(node.low):
            here = self._connect_copy(node.body, here)
        if node.high is None:
            loop = self._nfa.add_states()
            self._nfa.free(here, loop)
            self._work.append((node.body, loop, loop))
            here = loop
        else:
            for _ in range(node.high - node.low):
                self._nfa.free(here, end)
                here = self._connect_copy(node.body, here)
        self._nfa.free(here, end)

    def _is_nullable_call(self, body: Node) -> TypeGuard[Call]:
        return (
            isinstance(body, Call)
            and self._analysis.facts[body.nonterminal].nullable
            and body.nonterminal not in self._inlined
        )

    def _connect_optional(self, body: Call, most: int, begin: int, end: int) -> None:
        """Add up to ``most`` calls that are not empty: no copy is passed over, the end is near."""
        here = begin
        self._nfa.free(here, end)
        for _ in range(most * self._analysis.facts[body.nonterminal].filled):
            there = self._nfa.add_states()
            self._link_call(body, here, there)
            self._nfa.free(there, end)
            here = there

    def _link_call(self, node: Call, begin: int, end: int) -> None:
        self._nfa.link(begin, self._alphabet.of_call(node.nonterminal), end)
        self._nfa.note(begin, node.span, 0)

    def _connect_copy(self, body: Node, begin: int) -> int:
        there = self._nfa.add_states()
        self._work.append((body, begin, there))
        return there


def _fragment_of(dfa: Dfa, alphabet: Alphabet) -> Fragment:
    accepting = [state for state, is_end in enumerate(dfa.accepting) if is_end]
    return Fragment(edge_columns(dfa, alphabet), accepting, dfa.state_count)


def edge_columns(dfa: Dfa, alphabet: Alphabet) -> Ids:
    """Return an automaton's edges, int32[3, n]: source, symbol, target; by source and symbol."""
    rows = np.array(dfa.rows, np.int32).reshape(dfa.state_count, class_count(dfa.classes))
    rows = rows[:, [dfa.classes[byte] for byte in alphabet.first_bytes]]
    source, symbol = np.nonzero(rows >= 0)
    return np.array((source, symbol, rows[source, symbol]), np.int32)
