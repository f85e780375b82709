"""Assembles the automata of all nonterminals into one set of tables."""

from collections.abc import Mapping
from functools import partial
from itertools import accumulate
from operator import add

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import join, separate
from kbnf_core.automata.kernel import Column
from kbnf_core.ir import NEVER, Grammar, Regular
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.compact import Piece, compact
from kbnf_core.lower.facts import Analysis
from kbnf_core.lower.inline import Inlined
from kbnf_core.lower.nfa import Alphabet, NfaBuilder, TooManyStatesError, edge_columns
from kbnf_core.lower.tables import NO_LOOPS, Ids, Loops, Tables
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import Limits


def number_symbols(grammar: Grammar, analysis: Analysis, inlined: Inlined) -> Alphabet:
    """Return the symbols of everything that the start reaches; ``NEVER`` is the last of them."""
    reached = [name for name in grammar.rules if name in analysis.reachable]
    classes, written, found = lowering.leaves_of([analysis.nodes[name] for name in reached])
    names = [name for name in reached if name not in inlined.names]
    if NEVER in found:
        found = [*(terminal for terminal in found if terminal != NEVER), NEVER]
    terminals = {terminal: number for number, terminal in enumerate(found)}
    joined = join([separate(written), *classes])
    return Alphabet(joined, {name: i for i, name in enumerate(names)}, terminals)


def build_pieces(
    grammar: Grammar,
    analysis: Analysis,
    inlined: Inlined,
    limits: Limits,
    budget: Budget,
) -> tuple[Alphabet, dict[str, Piece]]:
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
    # What cannot be counted is known before all else is built, which would be built anew.
    counted = {
        name: _folded(name, _finished(name, builder), builder)
        for name in lowering.counting_of(names, analysis.nodes)
    }
    pieces: dict[str, Piece] = {}
    queue = [grammar.start]
    queued = set(queue)
    total = 0
    for name in queue:
        body = rules[name]
        if isinstance(body, Regular):
            piece = _piece_of_dfa(body, alphabet)
        else:
            known = counted.get(name)
            piece = known or _folded(name, _finished(name, builder), builder)
        pieces[name] = piece
        total += piece.state_count
        if total > limits.grammar_states:
            raise TooManyStatesError(name)
        called = lowering.nonterminals_in(piece.symbol, alphabet.class_count, len(names))
        fresh = [names[number] for number in called if names[number] not in queued]
        queued.update(fresh)
        queue.extend(fresh)
    return alphabet, pieces


def _finished(name: str, builder: NfaBuilder) -> Piece:
    try:
        return compact(builder, name)
    except LimitError:
        raise TooManyStatesError(name) from None


def _folded(name: str, piece: Piece, builder: NfaBuilder) -> Piece:
    """Return an automaton without the symbols of counts."""
    first = builder.alphabet.first_count
    if not (_ids(piece.symbol) >= first).any():
        return piece
    edges = piece.source, piece.symbol, piece.target
    builder.budget.spend(len(_ids(piece.symbol)))
    found = lowering.fold(name, *edges, piece.accepting, first, list(builder.counts))
    return Piece(*found)


def _piece_of_dfa(body: Regular, alphabet: Alphabet) -> Piece:
    edges = edge_columns(body.dfa, alphabet)
    size = len(edges) // 3
    source, symbol, target = edges[:size], edges[size : 2 * size], edges[2 * size :]
    return Piece(source, symbol, target, bytes(body.dfa.accepting))


def assemble(
    grammar: Grammar, analysis: Analysis, alphabet: Alphabet, pieces: Mapping[str, Piece]
) -> Tables:
    """Return the tables of ``pieces``, numbered one after the other.

    What waits for ``NEVER`` was kept for its sake when the pieces were trimmed; its edges, which
    nothing takes, are left out.
    """
    terminals = tuple(terminal for terminal in alphabet.terminals if terminal != NEVER)
    numbers = [0] * len(alphabet.nonterminals)
    for number, name in enumerate(pieces):
        numbers[alphabet.nonterminals[name]] = number
    listed = list(pieces.values())
    columns = lowering.split_edges(listed, alphabet.class_count, numbers, len(terminals))
    return Tables(
        names=tuple(pieces),
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


def _loops(pieces: list[Piece]) -> Loops:
    if not any(piece.loops for piece in pieces):
        return NO_LOOPS
    starts = list(accumulate((piece.state_count for piece in pieces), initial=0))
    loops = [
        loop.renumbered(partial(add, start))
        for piece, start in zip(pieces, starts, strict=False)
        for loop in piece.loops
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
