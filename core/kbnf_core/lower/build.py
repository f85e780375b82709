"""From a grammar to the tables that recognition runs on: the passes in order, and the last of them.

The automata of all nonterminals are made one by one (``nfa``) and assembled into one set of tables.

Tests: tests/unit/test_build.py
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import accumulate
from operator import add
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import join, separate
from kbnf_core.automata.kernel import Column
from kbnf_core.ir import NEVER, GrammarRules, Node, Regular
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.circles import contract_circles
from kbnf_core.lower.counts import UncountableError, mark_counts
from kbnf_core.lower.facts import Analysis, analyse
from kbnf_core.lower.inline import Inlined, choose_inlined, split_large
from kbnf_core.lower.nfa import (
    Alphabet,
    ClosedAutomaton,
    NfaBuilder,
    TooManyStatesError,
    compact,
    edge_columns,
)
from kbnf_core.lower.tables import NO_LOOPS, Ids, Loops, Tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits


def number_symbols(grammar: GrammarRules, analysis: Analysis, inlined: Inlined) -> Alphabet:
    """Return the symbols of everything that the start reaches."""
    reached = [name for name in grammar.rules if name in analysis.reachable]
    names = (name for name in reached if name not in inlined.names)
    return alphabet_of([analysis.nodes[name] for name in reached], names)


def alphabet_of(bodies: list[list[Node]], nonterminals: Iterable[str]) -> Alphabet:
    """Return the symbols of the parts of some rules; ``NEVER`` is the last of them."""
    classes, written, listed = lowering.leaves_of(bodies)
    if NEVER in listed:
        listed = [*(terminal for terminal in listed if terminal != NEVER), NEVER]
    terminals = {terminal: number for number, terminal in enumerate(listed)}
    joined = join([separate(written), *classes])
    return Alphabet(joined, {name: i for i, name in enumerate(nonterminals)}, terminals)


def build_automata(
    grammar: GrammarRules,
    analysis: Analysis,
    inlined: Inlined,
    limits: Limits,
    budget: Budget,
) -> tuple[Alphabet, dict[str, ClosedAutomaton]]:
    """Return the automata of the nonterminals that are called, the start first.

    Raises TooManyStatesError when all together pass ``limits.grammar_states``, WorkLimitError where
    ``budget`` is used up, and UncountableError.
    """
    alphabet = number_symbols(grammar, analysis, inlined)
    names = list(alphabet.nonterminals)
    rules = dict(grammar.rules)
    builder = NfaBuilder(rules, analysis, alphabet, inlined.names, limits.grammar_states, budget)
    for name in inlined.copied:
        # An automaton is copied as it is.
        if not isinstance(rules[name], Regular):
            builder.fragments[name] = _finished(name, builder).fragment
    # Find the counts that cannot be kept before all else is built, which would be built again.
    counted = {
        name: _folded(name, _finished(name, builder), builder)
        for name in lowering.counting_of(names, analysis.nodes)
    }
    automata: dict[str, ClosedAutomaton] = {}
    queue = [grammar.start]
    queued = set(queue)
    total = 0
    for name in queue:
        body = rules[name]
        if isinstance(body, Regular):
            automaton = _closed_automaton(body, alphabet)
        else:
            counted_automaton = counted.get(name)
            automaton = counted_automaton or _folded(name, _finished(name, builder), builder)
        automata[name] = automaton
        total += automaton.state_count
        if total > limits.grammar_states:
            raise TooManyStatesError(name)
        called = lowering.nonterminals_in(automaton.symbol, alphabet.class_count, len(names))
        fresh = [names[number] for number in called if names[number] not in queued]
        queued.update(fresh)
        queue.extend(fresh)
    return alphabet, automata


def _finished(name: str, builder: NfaBuilder) -> ClosedAutomaton:
    try:
        return compact(builder, name)
    except LimitError:
        raise TooManyStatesError(name) from None


def _folded(name: str, automaton: ClosedAutomaton, builder: NfaBuilder) -> ClosedAutomaton:
    """Return an automaton without the symbols of counts."""
    first = builder.alphabet.first_count
    if not (_ids(automaton.symbol) >= first).any():
        return automaton
    edges = automaton.source, automaton.symbol, automaton.target
    builder.budget.spend(len(_ids(automaton.symbol)))
    result = lowering.fold(name, *edges, automaton.accepting, first, list(builder.counts))
    return ClosedAutomaton(*result)


def _closed_automaton(body: Regular, alphabet: Alphabet) -> ClosedAutomaton:
    edges = edge_columns(body.dfa, alphabet)
    size = len(edges) // 3
    source, symbol, target = edges[:size], edges[size : 2 * size], edges[2 * size :]
    return ClosedAutomaton(source, symbol, target, bytes(body.dfa.accepting))


def assemble(
    grammar: GrammarRules,
    analysis: Analysis,
    alphabet: Alphabet,
    automata: Mapping[str, ClosedAutomaton],
) -> Tables:
    """Return the tables of ``automata``, numbered one after the other.

    What waits for ``NEVER`` was kept for its sake when the pieces were trimmed; its edges, which
    nothing takes, are left out.
    """
    terminals = tuple(terminal for terminal in alphabet.terminals if terminal != NEVER)
    numbers = [0] * len(alphabet.nonterminals)
    for number, name in enumerate(automata):
        numbers[alphabet.nonterminals[name]] = number
    listed = list(automata.values())
    columns = lowering.split_edges(listed, alphabet.class_count, numbers, len(terminals))
    return Tables(
        names=tuple(automata),
        start=0,
        start_is_nullable=analysis.facts[grammar.start].nullable,
        classes=np.frombuffer(alphabet.columns, np.uint8),
        entry=_ids(columns[0]),
        accepting=_flags(columns[1]),
        edge_start=_ids(columns[2]),
        edge_class=_ids(columns[3]),
        edge_target=_ids(columns[4]),
        call_start=_ids(columns[5]),
        call_nonterminal=_ids(columns[6]),
        call_return=_ids(columns[7]),
        call_tail=_flags(columns[8]),
        token_start=_ids(columns[9]),
        token_terminal=_ids(columns[10]),
        token_target=_ids(columns[11]),
        token_terminals=terminals,
        loops=_loops(listed),
    )


def _loops(automata: list[ClosedAutomaton]) -> Loops:
    if not any(automaton.loops for automaton in automata):
        return NO_LOOPS
    starts = list(accumulate((automaton.state_count for automaton in automata), initial=0))
    loops = [
        loop.renumbered(partial(add, start))
        for automaton, start in zip(automata, starts, strict=False)
        for loop in automaton.loops
    ]
    of, twin, last = np.full((3, starts[-1]), -1, np.int32)
    row, (begins, is_below) = np.arange(starts[-1], dtype=np.int32), np.zeros((2, starts[-1]), "u1")
    for number, loop in enumerate(loops):
        rows, below = list(loop.rows), list(loop.below)
        standing, stands_for = np.array(loop.begins, np.int32).T
        row[standing], begins[standing] = stands_for, 1
        of[[*rows, *below, *standing.tolist()]] = number
        last[rows], is_below[below] = loop.last, 1
        if below:
            twin[rows], twin[below] = below, rows
    low = np.array([loop.low for loop in loops], np.int32)
    high = np.array([-1 if loop.high is None else loop.high for loop in loops], np.int32)
    return Loops(of, row, twin, last, begins, is_below, low, high)


def _ids(column: Column) -> Ids:
    return np.frombuffer(column, np.int32)


def _flags(column: bytes) -> npt.NDArray[np.bool_]:
    return np.frombuffer(column, np.bool_)


MANY_EDGES = 100_000
"""Edges from which on it pays to give back the memory used to make them: some 50 bytes each."""


def build_tables(
    grammar: GrammarRules,
    limits: Limits = DEFAULT_LIMITS,
    analysis: Analysis | None = None,
    budget: Budget | None = None,
    inlined: Inlined | None = None,
    counted: bool = False,
) -> Tables:
    """Return the tables of ``grammar``; raise TooManyStatesError or WorkLimitError.

    ``analysis`` is that of ``grammar``, if it was computed already. ``inlined`` are nonterminals to
    write out, where the choice is not left to the build; none of them may call itself. With
    ``counted`` repetitions with large bounds are loops that the recogniser counts, see
    ``lower.counts``; without, every count is a state.
    """
    budget = budget or Budget(limits.work)
    analysis = analysis or analyse(grammar, budget)
    if counted:
        built = _build_counted(grammar, analysis, limits, budget)
    else:
        built = _build(grammar, analysis, limits, budget, inlined)
    tables = assemble(*built)
    if len(tables.edge_class) >= MANY_EDGES:
        lowering.give_back()
    return tables


Built: TypeAlias = tuple[GrammarRules, Analysis, Alphabet, dict[str, ClosedAutomaton]]
"""The arguments of ``assemble``."""


def _build_counted(
    grammar: GrammarRules, analysis: Analysis, limits: Limits, budget: Budget
) -> Built:
    """Build a grammar in which repetitions with large bounds are counted, where they can be."""
    left_out: set[str] = set()
    counts_bytes = True
    while True:
        marked = mark_counts(grammar, analysis, left_out, counts_bytes)
        facts = analysis if marked is grammar else analyse(marked, budget)
        try:
            return _build(marked, facts, limits, budget)
        except UncountableError as error:
            name = str(error).partition("#")[0]
            if name in left_out or marked.rules[name] is grammar.rules[name]:
                # The count is in the states written out there.
                counts_bytes = False
            left_out.add(name)


def _build(
    grammar: GrammarRules,
    analysis: Analysis,
    limits: Limits,
    budget: Budget,
    inlined: Inlined | None = None,
) -> Built:
    for change in (contract_circles, split_large):
        changed = change(grammar, analysis)
        if changed is not grammar:
            grammar, analysis = changed, analyse(changed, budget)
    if inlined is None:
        inlined = choose_inlined(grammar, analysis, budget)
    else:
        copied = tuple(name for name in inlined.copied if name in analysis.reachable)
        inlined = inlined._replace(copied=copied)
    alphabet, automata = build_automata(grammar, analysis, inlined, limits, budget)
    return grammar, analysis, alphabet, automata
