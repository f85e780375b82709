"""Nondeterministic automata: Thompson's construction, and the way to minimal deterministic ones.

Thompson's construction (1968) makes the automaton of an expression part by part. Every part becomes
a *fragment*, some states with one entry and one exit, and every operator joins the fragments of its
operands by epsilon edges, which read nothing. So the automaton has at most two states for each
operator and the sum of the sizes of its leaves, however deep they are nested.

What a leaf is differs: a word, an automaton that exists already, or an edge over any symbol
(regular expressions number their sets of characters, and their assertions, and say later what they
mean). The operators are the same everywhere. The states of a fragment are consecutive numbers, so
a counted repetition copies ranges instead of walking its part of the tree again.

Before the subset construction epsilon edges are removed: a state is replaced by its *closure*, the
states that are entered together with it. States that neither read nor accept are left out of
closures, so that subsets contain only what distinguishes them.

The subset construction (Rabin & Scott 1959) follows sets of states, with a bound on their number
and on the memory, as there may be exponentially many. Minimisation merges states that accept the
same, and numbers the rest breadth first: the one smallest automaton of a language, numbered in one
way. Both are the kernel's (``kernel.Automata``).

Tests: tests/unit/automata/test_explore.py, tests/unit/automata/test_operations.py
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.dfa import ACCEPT, DEAD, ByteClasses, Dfa, SymbolDfa, class_count
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS

_ELEMENTS_PER_STATE = 10
"""Mean size of a closure at which the bound on states also bounds the memory."""


class Nfa(NamedTuple):
    """A nondeterministic automaton without epsilon edges.

    ``moves[state]`` maps a symbol to the sorted states it leads to; ``tags[state]`` is a bit
    set, as in ``SymbolDfa``; each of ``starts`` is one sorted set of start states.
    """

    moves: Sequence[Mapping[int, tuple[int, ...]]]
    tags: Sequence[int]
    starts: Sequence[tuple[int, ...]]


class EpsilonNfa:
    """A growing automaton: ``edges[state]`` are symbols and targets, ``epsilon`` is free.

    ``limit`` bounds the states; LimitError is raised when it is passed.
    """

    def __init__(self, limit: int) -> None:
        self.edges: list[Sequence[tuple[int, int]]] = []
        self.epsilon: list[list[int]] = []
        self._limit = limit

    def __len__(self) -> int:
        return len(self.edges)

    def add(self, edges: Sequence[tuple[int, int]] = ()) -> int:
        """Add a state and return its number."""
        self.reserve(1)
        self.edges.append(edges)
        self.epsilon.append([])
        return len(self.edges) - 1

    def reserve(self, count: int) -> None:
        """Raise LimitError if so many more states are too many."""
        if len(self.edges) + count > self._limit:
            raise LimitError("states", self._limit)

    def link(self, source: int, target: int) -> None:
        """Let ``target`` be entered freely from ``source``."""
        self.epsilon[source].append(target)

    def without_epsilon(self, start: int, tags: Sequence[int]) -> Nfa:
        """Return the same automaton without epsilon edges; only useful states appear in sets."""
        useful = [bool(edges or tag) for edges, tag in zip(self.edges, tags, strict=True)]
        closures = Closures(self.epsilon, useful, self._limit)
        # Most states are entered alone.
        entered: list[tuple[int, ...] | None] = [
            None if free else (state,) if useful[state] else ()
            for state, free in enumerate(self.epsilon)
        ]
        moves: list[dict[int, tuple[int, ...]]] = []
        for edges in self.edges:
            move: dict[int, tuple[int, ...]] = {}
            for symbol, target in edges:
                after = entered[target]
                if after is None:
                    after = entered[target] = closures.of(target)
                move[symbol] = after
            moves.append(move)
        return Nfa(moves, tags, [closures.of(start)])


class Closures:
    """The epsilon closure of a state, memoised.

    ``useful[state]`` says whether it has an edge or a tag; others are left out of closures.
    The states entered are charged to ``budget``.
    """

    def __init__(
        self,
        epsilon: Sequence[Sequence[int]],
        useful: Sequence[bool],
        limit: int,
        budget: Budget | None = None,
    ) -> None:
        self._epsilon = epsilon
        self._useful = useful
        self._closures: dict[int, tuple[int, ...]] = {}
        self._limit = limit
        self._elements = 0
        self._budget = budget

    def of(self, state: int) -> tuple[int, ...]:
        """Return the sorted useful states entered together with ``state``, itself included."""
        cached = self._closures.get(state)
        if cached is None:
            cached = self._closures[state] = self._search(state)
        return cached

    def _search(self, state: int) -> tuple[int, ...]:
        entered = {state}
        queue = [state]
        while queue:
            for target in self._epsilon[queue.pop()]:
                if target not in entered:
                    entered.add(target)
                    queue.append(target)
        self._elements += len(entered)
        if self._budget is not None:
            self._budget.spend(len(entered))
        if self._elements > _ELEMENTS_PER_STATE * self._limit:
            raise LimitError("states", self._limit)
        return tuple(sorted(filter(self._useful.__getitem__, entered)))


class Fragment(NamedTuple):
    """The states from ``first`` up to where the next fragment began; one entry, one exit."""

    first: int
    start: int
    end: int


class Thompson:
    """The states so far; the newest fragment is the last of them.

    Raises LimitError beyond ``limit`` states.
    """

    def __init__(self, limit: int) -> None:
        self.nfa = EpsilonNfa(limit)

    def symbol(self, symbol: int) -> Fragment:
        """Return the fragment of one symbol."""
        start = self.nfa.add(((symbol, len(self.nfa) + 1),))
        return Fragment(start, start, self.nfa.add())

    def word(self, symbols: Iterable[int]) -> Fragment:
        """Return the fragment of one symbol after the other."""
        first = len(self.nfa)
        for target, symbol in enumerate(symbols, first + 1):
            self.nfa.add(((symbol, target),))
        return Fragment(first, first, self.nfa.add())

    def automaton(self, rows: Sequence[Sequence[int]], accepting: Sequence[bool]) -> Fragment:
        """Return the fragment of an automaton that exists already; without states, of nothing."""
        first = len(self.nfa)
        self.nfa.reserve(len(rows))
        for row in rows:
            edges = [(symbol, first + to) for symbol, to in enumerate(row) if to != DEAD]
            self.nfa.edges.append(edges)
        self.nfa.epsilon += [[] for _ in rows]
        end = self.nfa.add()
        for state, is_end in enumerate(accepting, first):
            if is_end:
                self.nfa.link(state, end)
        return Fragment(first, first if rows else self.nfa.add(), end)

    def sequence(self, fragments: Sequence[Fragment]) -> Fragment:
        """Return one part after the other; of none, the empty word."""
        if not fragments:
            return self.word(())
        for left, right in pairwise(fragments):
            self.nfa.link(left.end, right.start)
        return Fragment(fragments[0].first, fragments[0].start, fragments[-1].end)

    def alternation(self, branches: Sequence[Fragment]) -> Fragment:
        """Return any one of the parts; of none, nothing at all."""
        start, end = self.nfa.add(), self.nfa.add()
        for branch in branches:
            self.nfa.link(start, branch.start)
            self.nfa.link(branch.end, end)
        return Fragment(branches[0].first if branches else start, start, end)

    def repetition(self, fragment: Fragment, low: int, high: int | None) -> Fragment:
        """Lay out as many copies as differ, and let the rest be skipped or looped."""
        size = len(self.nfa) - fragment.first
        copies = max(low, 1) if high is None else high
        self.nfa.reserve(size * max(copies - 1, 0))
        # A new entry: `a*` leads back to its own, and `(a*b)?`, skipped there, would match `a`.
        start, end = self.nfa.add(), self.nfa.add()
        turns = [fragment, *(self._copy(fragment, size) for _ in range(copies - 1))][:copies]
        before = start
        for count, turn in enumerate(turns):
            if count >= low:
                self.nfa.link(before, end)
            self.nfa.link(before, turn.start)
            before = turn.end
        self.nfa.link(before, end)
        if high is None:
            self.nfa.link(before, turns[-1].start)
        return Fragment(fragment.first, start, end)

    def _copy(self, fragment: Fragment, size: int) -> Fragment:
        nfa = self.nfa
        by = len(nfa) - fragment.first
        states = slice(fragment.first, fragment.first + size)
        nfa.edges += [[(symbol, to + by) for symbol, to in edges] for edges in nfa.edges[states]]
        nfa.epsilon += [[to + by for to in free] for free in nfa.epsilon[states]]
        return Fragment(fragment.first + by, fragment.start + by, fragment.end + by)

    def finish(self, whole: Fragment, classes: ByteClasses, limit: int) -> Dfa:
        """Return the minimal automaton of ``whole``, whose symbols are classes of bytes."""
        tags = [0] * len(self.nfa)
        tags[whole.end] = ACCEPT
        nfa = self.nfa.without_epsilon(whole.start, tags)
        return from_symbols(determinise(nfa, class_count(classes), limit), classes)


def determinise(
    nfa: Nfa, symbols: int, limit: int, stop: int = 0, budget: Budget | None = None
) -> SymbolDfa:
    """Return the deterministic automaton of ``nfa``, not yet trimmed.

    A subset whose tags meet ``stop`` counts as dead and is not followed. Raises LimitError
    when there are more than ``limit`` states, or ten times as many elements in all subsets,
    and also, without a budget, beyond as many steps as ``Limits.work`` has by default. Raises
    WorkLimitError where ``budget`` is used up.
    """
    left = DEFAULT_LIMITS.work if budget is None else budget.left
    result, steps = AUTOMATA.determinise(
        nfa.moves, nfa.tags, nfa.starts, symbols, limit, stop, left
    )
    if budget is not None:
        budget.spend(steps)
    if steps > left:
        raise LimitError("steps of work", left)
    if result is None:
        raise LimitError("states", limit)
    return SymbolDfa(*result)


def minimise(dfa: SymbolDfa, budget: Budget | None = None) -> SymbolDfa:
    """Return the smallest automaton that accepts the same from every start, trimmed.

    States are in breadth-first order, so equal languages have equal automata. What it costs is
    nearly linear, so the size of its input is what ``budget`` is charged.
    """
    if budget is not None and dfa.rows:
        budget.spend(len(dfa.rows) * len(dfa.rows[0]))
    return SymbolDfa(*AUTOMATA.minimise(dfa.rows, dfa.tags, dfa.starts))


def from_symbols(dfa: SymbolDfa, classes: ByteClasses, budget: Budget | None = None) -> Dfa:
    """Return the minimal automaton of one with one start, whose symbols are classes of bytes."""
    if budget is not None and dfa.rows:
        budget.spend(len(dfa.rows) * len(dfa.rows[0]))
    return Dfa(*AUTOMATA.smallest(dfa.rows, dfa.tags, dfa.starts[0], classes))


def ending_in(states: Iterable[int], rows: Sequence[Sequence[int]], classes: ByteClasses) -> Dfa:
    """Return the minimal automaton of the words that lead from state 0 to any of ``states``."""
    ends = set(states)
    return from_symbols(SymbolDfa(rows, [int(s in ends) for s in range(len(rows))], [0]), classes)


def states_within(states: int, memory: int | None, width: int) -> int:
    """Return the smaller bound on states: ``states``, or ``memory`` bytes with rows of ``width``.

    A transition takes four bytes.
    """
    return states if memory is None else min(states, memory // (4 * width))
