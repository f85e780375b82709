"""Positions that no token is long enough to tell apart.

In ``x{0,1000}`` a position far from both bounds behaves like its neighbours for as long as one
token lasts. Refining a partition of all positions for as many rounds as the longest token has
bytes tells which are the same for that long; their item sets can share one walk.
"""

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.tables import Tables


def blocks_of_positions(tables: Tables, rounds: int) -> list[int]:
    """Return for each automaton state its block: equal for ``rounds`` bytes, equal block."""
    sources = np.concatenate((_sources(tables.edge_start), _sources(tables.call_start)))
    # A call is a symbol behind the byte classes.
    calls = tables.class_count + 2 * tables.call_nonterminal + tables.call_tail
    symbols = np.concatenate((tables.edge_class, calls))
    targets = np.concatenate((tables.edge_target, tables.call_return))
    order = np.argsort(sources, kind="stable")
    start = np.searchsorted(sources[order], np.arange(tables.state_count + 1))
    return KERNEL.blocks(
        start.astype(np.int32),
        symbols[order].astype(np.int32),
        targets[order].astype(np.int32),
        tables.accepting.astype(np.uint8),
        rounds,
    )


def _sources(start: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the state that each edge leaves."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))
