"""One nonterminal as a nondeterministic automaton over symbols, after Thompson.

Symbols are small integers: byte classes first, then nonterminals, then token terminals (see
``Alphabet``). The construction is top-down with a work list, so that depth costs no stack. Edges
are kept in columns, so that whole automata are copied, and epsilon edges removed
(``lower.compact``), by array operations; ``automata.nfa`` is the same construction over lists.
"""

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import Dfa, first_bytes
from kbnf_core.automata.kernel import Column
from kbnf_core.ir import (
    Call,
    Choice,
    Counted,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    TokenTerminal,
)
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import Analysis
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import KbnfError

Ids = npt.NDArray[np.int32]

Bounds: TypeAlias = tuple[int, int | None]
"""Of a repetition: the least and the largest number."""


class TooManyStatesError(KbnfError):
    """A nonterminal needs more states than the limit allows."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """The numbering of symbols that all nonterminals of one grammar share.

    ``columns[byte]`` is the class of a byte.
    """

    columns: bytes
    nonterminals: Mapping[str, int]
    terminals: Mapping[TokenTerminal, int]

    @cached_property
    def class_count(self) -> int:
        """Number of byte classes; their symbols are 0 .. class_count - 1."""
        return len(self.first_bytes)

    @cached_property
    def first_bytes(self) -> bytes:
        """A byte of each class."""
        return first_bytes(self.columns)

    @cached_property
    def call_symbols(self) -> Mapping[str, int]:
        """The symbols of nonterminals."""
        first = self.class_count
        return {name: first + i for name, i in self.nonterminals.items()}

    def of_token(self, terminal: TokenTerminal) -> int:
        """Return the symbol of a token terminal."""
        return self.class_count + len(self.nonterminals) + self.terminals[terminal]

    @property
    def first_count(self) -> int:
        """The first symbol of counts; see ``lower.counts``."""
        return self.class_count + len(self.nonterminals) + len(self.terminals)


class Nfa:
    """A growing automaton: states 0 (start) and 1 (accepting) and more, edges in columns.

    An edge goes from ``sources[i]`` over ``symbols[i]`` to ``targets[i]``, a free one from
    ``free_sources[i]`` to ``free_targets[i]``. ``blocks`` contains more edges, whole automata of
    them: columns one above the other, int32[3, n].
    """

    START = 0
    ACCEPT = 1

    def __init__(self) -> None:
        self.state_count = 2
        self.sources: list[int] = []
        self.symbols: list[int] = []
        self.targets: list[int] = []
        self.free_sources: list[int] = []
        self.free_targets: list[int] = []
        self.blocks: list[Ids] = []

    def add_states(self, count: int = 1) -> int:
        """Add states without edges; return the number of the first."""
        first = self.state_count
        self.state_count += count
        return first

    def link(self, source: int, symbol: int, target: int) -> None:
        """Add an edge."""
        self.sources.append(source)
        self.symbols.append(symbol)
        self.targets.append(target)

    def free(self, source: int, target: int) -> None:
        """Let ``target`` be entered freely from ``source``."""
        self.free_sources.append(source)
        self.free_targets.append(target)

    def columns(self) -> Ids:
        """Return all edges, int32[3, n]."""
        single = np.array((self.sources, self.symbols, self.targets), np.int32)
        return np.concatenate((single, *self.blocks), axis=1) if self.blocks else single


class Fragment(NamedTuple):
    """An automaton without free edges that is copied as a whole; state 0 is its start.

    ``edges`` are three columns one after the other: source, symbol, target.
    """

    edges: Column
    accepting: list[int]
    state_count: int


class NfaBuilder:
    """Builds the automaton of one nonterminal; calls of ``inlined`` ones are written out.

    Parts and states are charged to ``budget``, as is what is done with the result.

    ``fragments`` are automata of nonterminals to copy instead; they may be added at any time.
    ``automata`` are those of regular parts, by identity.
    """

    def __init__(
        self,
        rules: MutableMapping[str, Node],
        analysis: Analysis,
        alphabet: Alphabet,
        inlined: frozenset[str],
        state_limit: int,
        budget: Budget,
    ) -> None:
        self.rules = rules
        self.analysis = analysis
        self.alphabet = alphabet
        self.inlined = inlined
        self.state_limit = state_limit
        self.budget = budget
        self.fragments: dict[str, Fragment] = {}
        self.automata: dict[int, Fragment] = {}
        # What is counted, by its bounds: its number.
        self.counts: dict[Bounds, int] = {}
        self._nfa: Nfa
        self._work: list[tuple[Node, int, int]] = []

    def build(self, name: str) -> Nfa:
        """Return the automaton of ``name``; raise TooManyStatesError beyond the limit."""
        nfa = self._nfa = Nfa()
        self._work = [(self.rules[name], Nfa.START, Nfa.ACCEPT)]
        self.budget.part = name
        while self._work:
            before = nfa.state_count
            self._connect(*self._work.pop())
            self.budget.spend(1 + nfa.state_count - before)
            self.check(name, nfa.state_count)
        return nfa

    def check(self, name: str, states: int) -> None:
        """Raise TooManyStatesError where a nonterminal has more states than the limit."""
        if states > self.state_limit:
            raise TooManyStatesError(name)

    def _connect(self, node: Node, begin: int, end: int) -> None:
        """Add paths for ``node`` from ``begin`` to ``end``, or put its parts on the work list."""
        match node:
            case Literal():
                self._connect_literal(node, begin, end)
            case Regular():
                self._connect_dfa(node, begin, end)
            case Call():
                self._connect_call(node, begin, end)
            case Token(terminal):
                self._nfa.link(begin, self.alphabet.of_token(terminal), end)
            case Sequence(parts):
                self._connect_sequence(parts, begin, end)
            case Choice(branches):
                self._work.extend((branch, begin, end) for branch in branches)
            case Counted():
                self._connect_count(node, begin, end)
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
        nfa.symbols += node.data.translate(self.alphabet.columns)
        nfa.targets += [*sources[1:], end]

    def _connect_dfa(self, node: Regular, begin: int, end: int) -> None:
        if node.dfa.is_empty:
            return
        self._copy(self.fragment_of(node.dfa), begin, end)

    def fragment_of(self, dfa: Dfa) -> Fragment:
        """Return an automaton, which must stay alive, over the symbols of the grammar."""
        found = self.automata.get(id(dfa))
        if found is None:
            accepting = [state for state, is_end in enumerate(dfa.accepting) if is_end]
            found = Fragment(edge_columns(dfa, self.alphabet), accepting, dfa.state_count)
            self.automata[id(dfa)] = found
        return found

    def _copy(self, fragment: Fragment, begin: int, end: int) -> None:
        """Add a copy of an automaton."""
        nfa = self._nfa
        base = nfa.add_states(fragment.state_count)
        edges = np.frombuffer(fragment.edges, np.int32).reshape(3, -1)
        nfa.blocks.append(edges + np.array([[base], [0], [base]], np.int32))
        nfa.free(begin, base)
        for state in fragment.accepting:
            nfa.free(base + state, end)

    def _connect_call(self, node: Call, begin: int, end: int) -> None:
        fragment = self.fragments.get(node.nonterminal)
        if fragment is not None:
            self._copy(fragment, begin, end)
            return
        if node.nonterminal in self.inlined:
            self._work.append((self.rules[node.nonterminal], begin, end))
            return
        facts = self.analysis.facts[node.nonterminal]
        if facts.nullable:
            self._nfa.free(begin, end)
        if facts.filled:
            self._link_call(node, begin, end)

    def _connect_repeat(self, node: Repeat[Node], begin: int, end: int) -> None:
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

    def count_symbol(self, bounds: Bounds) -> int:
        """Return the first of the three symbols of a count; see ``lower.counts``."""
        return self.alphabet.first_count + 3 * self.counts.setdefault(bounds, len(self.counts))

    def _connect_count(self, node: Counted[Node], begin: int, end: int) -> None:
        nfa, symbol = self._nfa, self.count_symbol((node.low, node.high))
        if node.by_byte:
            self._connect_bytes(node, symbol, begin, end)
            return
        head = nfa.add_states(2)
        nfa.link(begin, symbol, head)
        nfa.link(head + 1, symbol + 1, head)
        nfa.link(head, symbol + 2, end)
        self._work.append((node.body, head, head + 1))

    def _connect_bytes(self, node: Counted[Node], symbol: int, begin: int, end: int) -> None:
        """Connect a count of bytes: a head for each state of the automaton, then a state behind."""
        assert isinstance(node.body, Regular)  # noqa: S101 - so it was made
        nfa, fragment = self._nfa, self.fragment_of(node.body.dfa)
        heads = nfa.add_states(2 * fragment.state_count)
        behind = heads + fragment.state_count
        edges = np.frombuffer(fragment.edges, np.int32).reshape(3, -1)
        nfa.blocks.append(edges + np.array([[heads], [0], [behind]], np.int32))
        nfa.link(begin, symbol, heads)
        for state in range(fragment.state_count):
            nfa.link(behind + state, symbol + 1, heads + state)
            nfa.link(heads + state, symbol + 2, end)

    def _is_nullable_call(self, body: Node) -> TypeGuard[Call]:
        return (
            isinstance(body, Call)
            and self.analysis.facts[body.nonterminal].nullable
            and body.nonterminal not in self.inlined
        )

    def _connect_optional(self, body: Call, most: int, begin: int, end: int) -> None:
        """Add up to ``most`` calls that are not empty: no copy is passed over, the end is near."""
        here = begin
        self._nfa.free(here, end)
        for _ in range(most * self.analysis.facts[body.nonterminal].filled):
            there = self._nfa.add_states()
            self._link_call(body, here, there)
            self._nfa.free(there, end)
            here = there

    def _link_call(self, node: Call, begin: int, end: int) -> None:
        self._nfa.link(begin, self.alphabet.call_symbols[node.nonterminal], end)

    def _connect_copy(self, body: Node, begin: int) -> int:
        there = self._nfa.add_states()
        self._work.append((body, begin, there))
        return there


Connected: TypeAlias = tuple[int, Column, Column, Column, Column, Column]
"""The number of states, then the edges' columns (source, symbol, target), then the free edges'."""


def edge_columns(dfa: Dfa, alphabet: Alphabet) -> Column:
    """Return an automaton's edges: source, symbol, target; by source and symbol."""
    return lowering.edges_of(dfa.rows, dfa.classes, alphabet.first_bytes)
