"""Equivalent positions: those that no token of the vocabulary is long enough to tell apart.

In ``x{0,1000}`` a position far from both bounds behaves like its neighbours for as long as one
token lasts. Partition refinement (Moore 1956), stopped after as many rounds as the longest token
has bytes, finds which are equal for that long; their item sets share one walk.
"""

import numpy as np

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.lower.tables import Ids, Tables


def blocks_of_positions(tables: Tables, rounds: int) -> list[int]:
    """Return the block of each automaton state: its class of equivalence for ``rounds`` bytes."""
    source = np.concatenate((_sources(tables.edge_start), _sources(tables.call_start)))
    # A call is a symbol behind the byte classes.
    calls = tables.class_count + 2 * tables.call_nonterminal + tables.call_tail
    symbol = np.concatenate((tables.edge_class, calls)).astype(np.int32)
    target = np.concatenate((tables.edge_target, tables.call_return))
    rows = np.flatnonzero(tables.loops.of >= 0).astype(np.int32)
    if len(rows):
        # A loop has bounds that its rows do not show: each is like itself alone.
        own = (symbol.max(initial=0) + 1 + tables.loops.of[rows]).astype(np.int32)
        source, target = (np.concatenate((each, rows)) for each in (source, target))
        symbol = np.concatenate((symbol, own))
    columns = (source.tobytes(), symbol.tobytes(), target.tobytes())
    return AUTOMATA.blocks(*columns, tables.accepting.tobytes(), rounds)


def _sources(starts: Ids) -> Ids:
    """Return the state of each edge."""
    return np.repeat(np.arange(len(starts) - 1, dtype=np.int32), np.diff(starts))
