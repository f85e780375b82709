"""One nonterminal as an automaton over symbols: nondeterministic, then minimal where affordable.

Symbols are small integers: byte classes first, then nonterminals, then token terminals (see
``Alphabet``). Recursion does not matter here: a call is one symbol. Thompson's construction is
top-down with a work list, so that depth costs no stack. Edges are kept in columns, so that whole
automata are copied, and epsilon edges removed, by array operations; ``automata.nfa`` is the same
construction over lists.

The subset construction makes item sets small and their number few; when it would grow too much, the
states are kept and only the epsilons removed, which recognition handles as well.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from array import array
from collections.abc import Mapping, MutableMapping
from collections.abc import Sequence as Several
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.dfa import Dfa, first_bytes
from kbnf_core.automata.kernel import Column
from kbnf_core.automata.nfa import Closures
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
from kbnf_core.lower.counts import Loop
from kbnf_core.lower.facts import Analysis
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.locks import cached_property

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


class GrowingNfa:
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


class SharedFragment(NamedTuple):
    """An automaton without free edges that is copied as a whole; state 0 is its start.

    ``edges`` are three columns one after the other: source, symbol, target.
    """

    edges: Column
    accepting: list[int]
    state_count: int


class NfaBuilder:
    """Builds the automaton of one nonterminal; calls of ``inlined`` ones are written out.

    Parts and states are charged to ``budget``, as is the work on the result.

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
        self.fragments: dict[str, SharedFragment] = {}
        self.automata: dict[int, SharedFragment] = {}
        # The number of each counted repetition, by its bounds.
        self.counts: dict[Bounds, int] = {}
        self._nfa: GrowingNfa
        self._work: list[tuple[Node, int, int]] = []

    def build(self, name: str) -> GrowingNfa:
        """Return the automaton of ``name``; raise TooManyStatesError beyond the limit."""
        nfa = self._nfa = GrowingNfa()
        self._work = [(self.rules[name], GrowingNfa.START, GrowingNfa.ACCEPT)]
        self.budget.subject = name
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
            case Sequence(operands):
                self._connect_sequence(operands, begin, end)
            case Choice(branches):
                self._work.extend((branch, begin, end) for branch in branches)
            case Counted():
                self._connect_count(node, begin, end)
            case Repeat():
                self._connect_repeat(node, begin, end)

    def _connect_sequence(self, operands: tuple[Node, ...], begin: int, end: int) -> None:
        if not operands:
            self._nfa.free(begin, end)
            return
        for operand in operands[:-1]:
            middle = self._nfa.add_states()
            self._work.append((operand, begin, middle))
            begin = middle
        self._work.append((operands[-1], begin, end))

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

    def fragment_of(self, dfa: Dfa) -> SharedFragment:
        """Return an automaton, which must stay alive, over the symbols of the grammar."""
        cached = self.automata.get(id(dfa))
        if cached is None:
            accepting = [state for state, is_end in enumerate(dfa.accepting) if is_end]
            cached = SharedFragment(edge_columns(dfa, self.alphabet), accepting, dfa.state_count)
            self.automata[id(dfa)] = cached
        return cached

    def _copy(self, fragment: SharedFragment, begin: int, end: int) -> None:
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
        """Connect a count of bytes: a head for each state of the automaton, then a state after."""
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


@dataclass(slots=True, eq=False)
class ClosedAutomaton:
    """One nonterminal's automaton as columns of edges; ``accepting`` has a byte for each state.

    It is never changed (that it is not
    frozen makes it quicker to make: there are hundreds in a set of tools).
    """

    source: Column
    symbol: Column
    target: Column
    accepting: bytes
    loops: Several[Loop] = ()

    @property
    def state_count(self) -> int:
        """Number of states."""
        return len(self.accepting)

    @property
    def fragment(self) -> SharedFragment:
        """The automaton, to be copied."""
        accepting = [state for state, is_end in enumerate(self.accepting) if is_end]
        return SharedFragment(self.source + self.symbol + self.target, accepting, self.state_count)


class Automaton(NamedTuple):
    """States 0 .. n-1, 0 the start; ``edges[s]`` maps a symbol to its targets."""

    edges: Several[Mapping[int, tuple[int, ...]]]
    accepting: Several[bool]


CLOSURE_LIMIT = 1_000_000
"""Bound on the size of all epsilon closures of one nonterminal together, in tens of states."""

GROWTH = 4
"""The subset construction may make this many times the states of its input."""


def compact(builder: NfaBuilder, name: str) -> ClosedAutomaton:
    """Return the minimal deterministic automaton, or ``spell_out``'s when it grows too much.

    Places are not kept: states that are the same in every other way are one. Raises LimitError
    where ``spell_out`` does.
    """
    states, source, symbol, target, free_source, free_target = lowering.connect(builder, name)
    result, steps = AUTOMATA.compact(
        source,
        symbol,
        target,
        free_source,
        free_target,
        states,
        GrowingNfa.START,
        GrowingNfa.ACCEPT,
        # A handful of states may grow by more than the factor, and costs nothing.
        GROWTH * states + 16,
        CLOSURE_LIMIT,
        builder.budget.left,
    )
    builder.budget.spend(steps)
    return spell_out(builder, name) if result is None else _minimal_automaton(*result)


def _minimal_automaton(
    source: Column, symbol: Column, target: Column, accepting: bytes
) -> ClosedAutomaton:
    # Where no word is accepted the start is left, alone.
    accepting = accepting or b"\0"
    return ClosedAutomaton(source, symbol, target, accepting)


def spell_out(builder: NfaBuilder, name: str) -> ClosedAutomaton:
    """Return the automaton with the same states, trimmed, in which every edge takes a symbol.

    Raises LimitError where too much is entered freely from too many states.
    """
    nfa = builder.build(name)
    return _closed(trim(_remove_epsilons(nfa, builder.budget)))


def _remove_epsilons(nfa: GrowingNfa, budget: Budget) -> Automaton:
    leaving: list[list[tuple[int, int]]] = [[] for _ in range(nfa.state_count)]
    for source, symbol, target in nfa.columns().T.tolist():
        leaving[source].append((symbol, target))
    free: list[list[int]] = [[] for _ in leaving]
    for source, target in zip(nfa.free_sources, nfa.free_targets, strict=True):
        free[source].append(target)
    useful = [bool(edges) or state == GrowingNfa.ACCEPT for state, edges in enumerate(leaving)]
    closures = Closures(free, useful, CLOSURE_LIMIT, budget)
    kept = [state for state, edges in enumerate(leaving) if edges or state <= GrowingNfa.ACCEPT]
    numbers = {state: number for number, state in enumerate(kept)}
    edges: list[Mapping[int, tuple[int, ...]]] = []
    for state in kept:
        row: dict[int, dict[int, None]] = {}
        for symbol, target in leaving[state]:
            targets = row.setdefault(symbol, {})
            entered = closures.of(target)
            budget.spend(len(entered))
            targets.update((numbers[s], None) for s in entered if s in numbers)
        edges.append({symbol: tuple(targets) for symbol, targets in row.items()})
    accepting = [state == GrowingNfa.ACCEPT for state in kept]
    return _with_one_start(Automaton(edges, accepting), closures, numbers)


def _with_one_start(
    automaton: Automaton, closures: Closures, numbers: Mapping[int, int]
) -> Automaton:
    """Let state 0 have the edges and acceptance of everything in its closure."""
    starts = [numbers[s] for s in closures.of(GrowingNfa.START) if s in numbers]
    row: dict[int, dict[int, None]] = {}
    for state in starts:
        for symbol, targets in automaton.edges[state].items():
            row.setdefault(symbol, {}).update(dict.fromkeys(targets))
    edges = [{symbol: tuple(targets) for symbol, targets in row.items()}, *automaton.edges[1:]]
    accepting = [any(automaton.accepting[s] for s in starts), *automaton.accepting[1:]]
    return Automaton(edges, accepting)


def trim(automaton: Automaton) -> Automaton:
    """Return the part from which acceptance can be reached, and that the start can reach.

    The start is always kept, even where nothing at all is accepted.
    """
    keep = _reaching_acceptance(automaton) | {0}
    order = [0]
    seen = {0}
    for state in order:
        for targets in automaton.edges[state].values():
            fresh = [t for t in targets if t in keep and t not in seen]
            order.extend(dict.fromkeys(fresh))
            seen.update(fresh)
    return _renumber(automaton, order)


def _reaching_acceptance(automaton: Automaton) -> set[int]:
    sources: list[list[int]] = [[] for _ in automaton.edges]
    for state, row in enumerate(automaton.edges):
        for targets in row.values():
            for target in targets:
                sources[target].append(state)
    seen = {state for state, accepting in enumerate(automaton.accepting) if accepting}
    stack = list(seen)
    while stack:
        fresh = [source for source in sources[stack.pop()] if source not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return seen


def _renumber(automaton: Automaton, order: list[int]) -> Automaton:
    numbers = {state: number for number, state in enumerate(order)}
    edges = []
    for state in order:
        row = {}
        for symbol, targets in automaton.edges[state].items():
            kept = tuple(numbers[target] for target in targets if target in numbers)
            if kept:
                row[symbol] = kept
        edges.append(row)
    accepting = [automaton.accepting[state] for state in order]
    return Automaton(edges, accepting)


def _closed(automaton: Automaton) -> ClosedAutomaton:
    triples = [
        (state, symbol, target)
        for state, row in enumerate(automaton.edges)
        for symbol in sorted(row)
        for target in row[symbol]
    ]
    source, symbol, target = (
        array("i", [triple[column] for triple in triples]).tobytes() for column in range(3)
    )
    return ClosedAutomaton(source, symbol, target, bytes(automaton.accepting))
