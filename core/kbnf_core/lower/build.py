"""The passes from grammar to tables, in order. Two builds, from the same pieces.

``build_tables`` makes the tables that recognition runs on; ``build_plain_tables`` keeps every
nonterminal and every position apart, for explanations.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from kbnf_core.ir import Grammar, Node, Part
from kbnf_core.lower.assemble import assemble, build_pieces, nonterminals_in
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.lower.compact import Piece, compact, spell_out
from kbnf_core.lower.counts import UncountableError, mark_counts
from kbnf_core.lower.facts import Analysis, analyse
from kbnf_core.lower.inline import Inlined, choose_inlined
from kbnf_core.lower.known import Lowered, analyse_unknown, rules_outside, size_of
from kbnf_core.lower.nfa import Alphabet, Place
from kbnf_core.lower.parts import ALONE, Around, group_of, rest_of
from kbnf_core.lower.split import split_large
from kbnf_core.lower.tables import Tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

MANY_EDGES = 100_000
"""Edges from which on what was needed to make them is worth giving back: some 50 bytes each.

Not where most parts were known: that is less, and the next request will need it again.
"""


class PlainTables(NamedTuple):
    """Tables without inlining or merging, and for each state the source of what may come.

    No call is a tail call, so that the nonterminals above a state are known.
    """

    tables: Tables
    places: tuple[tuple[Place, ...], ...]


def build_tables(
    grammar: Grammar,
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
    new = sum(part.lowered is None for part in grammar.parts.values())
    tables = _tables(grammar, limits, analysis, budget, inlined, counted)
    if len(tables.edge_class) >= MANY_EDGES and 2 * new >= len(grammar.parts):
        give_back()
    return tables


@compiled
def give_back() -> None:
    """Return free memory to the system, where the allocator keeps it: it has holes by then."""


def _tables(
    grammar: Grammar,
    limits: Limits,
    analysis: Analysis | None,
    budget: Budget,
    inlined: Inlined | None,
    counted: bool,
) -> Tables:
    if not counted:
        analysis = analysis or analyse(grammar, budget)
        return assemble(*_build(grammar, analysis, limits, budget, ALONE, inlined))
    analysis = analysis or analyse_unknown(grammar, budget)
    around = ALONE
    if grammar.parts:
        outside = rules_outside(grammar, analysis.callees)
        lowered = _lower_parts(grammar, analysis, outside, limits, budget)
        grammar, analysis, around = rest_of(grammar, analysis, outside, lowered)
    return assemble(*_build_counted(grammar, analysis, limits, budget, around))


Built: TypeAlias = tuple[Grammar, Analysis, Alphabet, dict[str, Piece]]
"""What ``assemble`` takes."""


def _lower_parts(
    grammar: Grammar,
    analysis: Analysis,
    outside: Mapping[str, Node],
    limits: Limits,
    budget: Budget,
) -> dict[str, Lowered]:
    """Return what the parts of a grammar are lowered to; what is new is remembered."""
    found: dict[str, Lowered] = {}
    fresh: list[Part] = []
    for name, part in grammar.parts.items():
        known = part.lowered
        if isinstance(known, Lowered) and (known.limits is limits or known.limits == limits):
            budget.spend(known.steps)
            found[name] = known
        else:
            fresh.append(part)
    if fresh:
        before = budget.spent
        group = group_of(fresh, grammar, analysis, outside, found.values(), budget)
        _, analysis, alphabet, pieces = _build_counted(*group[:2], limits, budget, group[2])
        names, steps = tuple(alphabet.nonterminals), (budget.spent - before) // len(fresh)
        for part in fresh:
            own = _reached(part.start, pieces, alphabet, names)
            inside = {name: pieces[name] for name in own if name in pieces}
            called = tuple(name for name in own if name not in pieces)
            facts = analysis.facts[part.start]
            found[part.start] = part.lowered = Lowered(
                limits, facts, alphabet.columns, names, inside, called, steps, size_of(inside)
            )
    return {name: found[name] for name in grammar.parts}


def _reached(
    start: str, pieces: dict[str, Piece], alphabet: Alphabet, names: tuple[str, ...]
) -> list[str]:
    """Return the nonterminals that one calls, itself first."""
    found = {start: None}
    queue = [start]
    for name in queue:
        if name in pieces:
            called = nonterminals_in(pieces[name].symbol, alphabet.class_count, len(names))
            fresh = [names[number] for number in called if names[number] not in found]
            found.update(dict.fromkeys(fresh))
            queue.extend(fresh)
    return queue


def _build_counted(
    grammar: Grammar, analysis: Analysis, limits: Limits, budget: Budget, around: Around
) -> Built:
    """Build a grammar in which repetitions with large bounds are counted, where they can be."""
    left_out: set[str] = set()
    while True:
        marked = mark_counts(grammar, analysis, left_out)
        known = analysis if marked is grammar else around.analyse(marked, budget)
        try:
            return _build(marked, known, limits, budget, around)
        except UncountableError as error:
            left_out.add(str(error).partition("#")[0])


def _build(
    grammar: Grammar,
    analysis: Analysis,
    limits: Limits,
    budget: Budget,
    around: Around,
    inlined: Inlined | None = None,
) -> Built:
    split = split_large(grammar, analysis)
    if split is not grammar:
        grammar, analysis = split, around.analyse(split, budget)
    unions = around.unions(grammar)
    if inlined is None:
        kept = {**around.called, **around.starts, **unions}
        callers = around.callers(name for name in analysis.order if name in grammar.rules)
        inlined = choose_inlined(grammar, analysis, budget, kept, callers)
    alphabet, pieces = build_pieces(
        grammar, analysis, inlined, compact, limits, budget, around, unions
    )
    return grammar, analysis, alphabet, pieces


def build_plain_tables(grammar: Grammar, limits: Limits = DEFAULT_LIMITS) -> PlainTables:
    """Return the tables of ``grammar`` in which every position is a state of its own."""
    budget = Budget(limits.work)
    analysis = analyse(grammar, budget)
    split = split_large(grammar, analysis)
    if split is not grammar:
        grammar, analysis = split, analyse(split, budget)
    alphabet, pieces = build_pieces(grammar, analysis, Inlined(), spell_out, limits, budget)
    tables = assemble(grammar, analysis, alphabet, pieces)
    return PlainTables(_without_tail_calls(tables), _all_places(pieces))


def _all_places(pieces: dict[str, Piece]) -> tuple[tuple[Place, ...], ...]:
    return tuple(place for piece in pieces.values() for place in piece.places)


def _without_tail_calls(tables: Tables) -> Tables:
    return replace(tables, call_tail=np.zeros_like(tables.call_tail))
