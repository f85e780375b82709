"""The passes from grammar to the tables that recognition runs on, in order."""

from typing import TypeAlias

from kbnf_core.ir import Grammar
from kbnf_core.lower.assemble import assemble, build_pieces
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.compact import Piece
from kbnf_core.lower.counts import UncountableError, mark_counts
from kbnf_core.lower.facts import Analysis, analyse
from kbnf_core.lower.inline import Inlined, choose_inlined
from kbnf_core.lower.nfa import Alphabet
from kbnf_core.lower.split import split_large
from kbnf_core.lower.tables import Tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

MANY_EDGES = 100_000
"""Edges from which on what was needed to make them is worth giving back: some 50 bytes each."""


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
    analysis = analysis or analyse(grammar, budget)
    if counted:
        built = _build_counted(grammar, analysis, limits, budget)
    else:
        built = _build(grammar, analysis, limits, budget, inlined)
    tables = assemble(*built)
    if len(tables.edge_class) >= MANY_EDGES:
        lowering.give_back()
    return tables


Built: TypeAlias = tuple[Grammar, Analysis, Alphabet, dict[str, Piece]]
"""What ``assemble`` takes."""


def _build_counted(grammar: Grammar, analysis: Analysis, limits: Limits, budget: Budget) -> Built:
    """Build a grammar in which repetitions with large bounds are counted, where they can be."""
    left_out: set[str] = set()
    counts_bytes = True
    while True:
        marked = mark_counts(grammar, analysis, left_out, counts_bytes)
        known = analysis if marked is grammar else analyse(marked, budget)
        try:
            return _build(marked, known, limits, budget)
        except UncountableError as error:
            name = str(error).partition("#")[0]
            if name in left_out or marked.rules[name] is grammar.rules[name]:
                # It is in what was written out there.
                counts_bytes = False
            left_out.add(name)


def _build(
    grammar: Grammar,
    analysis: Analysis,
    limits: Limits,
    budget: Budget,
    inlined: Inlined | None = None,
) -> Built:
    split = split_large(grammar, analysis)
    if split is not grammar:
        grammar, analysis = split, analyse(split, budget)
    if inlined is None:
        inlined = choose_inlined(grammar, analysis, budget)
    alphabet, pieces = build_pieces(grammar, analysis, inlined, limits, budget)
    return grammar, analysis, alphabet, pieces
