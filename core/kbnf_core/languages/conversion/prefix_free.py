"""Prefix-freeness: no text of a grammar is a prefix of another, so eager finish loses none.

Undecidable for context-free languages in general. ``is_prefix_free`` proves it where one
character is enough to see how a text goes on, as in most formats; ``shortest_longer`` searches
for a text that disproves it.
"""

from collections import deque

import numpy as np
import numpy.typing as npt

from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.states import DEAD, StateTable

Sets = npt.NDArray[np.bool_]
"""bool[nonterminals, symbols]; a symbol is a byte class, or after those a token terminal."""


def is_prefix_free(tables: Tables) -> bool:
    """Return True if no nonempty text is provably a proper prefix of another; False means unknown.

    Each nonterminal has the symbols that it may begin with, and those that may follow a complete
    text of it inside a longer one. Where the ways on from a state differ in their first symbol,
    and nothing that may follow also lengthens what was complete, the way through is unique; then
    a text goes on only with a symbol that lengthens the start.
    """
    begins = _begins(tables)
    lengthens = _lengthens(tables, begins)
    is_unique = all(
        _is_unique(tables, state, begins, lengthens) for state in range(tables.state_count)
    )
    return is_unique and not lengthens[tables.start].any()


def shortest_longer(states: StateTable, most: int) -> bytes | None:
    """Return a shortest text that begins with another, nonempty one; looks at ``most`` states."""
    representatives = np.unique(states.tables.classes, return_index=True)[1].tolist()
    start = (states.initial, False)
    found: dict[tuple[int, bool], bytes] = {start: b""}
    pending = deque([start])
    while pending and len(found) <= most:
        state, passed = pending.popleft()
        prefix = found[state, passed]
        passed = passed or bool(prefix and states.completions(state))
        for byte_class in states.live_classes(state):
            after = (states.step(state, byte_class), passed)
            if after[0] == DEAD or after in found:
                continue
            found[after] = prefix + bytes([representatives[byte_class]])
            if passed and states.completions(after[0]):
                return found[after]
            pending.append(after)
    return None


def _owners(tables: Tables) -> npt.NDArray[np.int64]:
    """Return the nonterminal that each state belongs to, int[states]."""
    order = np.argsort(tables.entry)
    places = np.searchsorted(tables.entry[order], np.arange(tables.state_count), side="right") - 1
    owners: npt.NDArray[np.int64] = order[places]
    return owners


def _ways_on(tables: Tables, state: int, begins: Sets) -> list[Sets]:
    """Return the first symbols of every edge of a state."""
    symbols = begins.shape[1]
    edges = slice(tables.edge_start[state], tables.edge_start[state + 1])
    tokens = slice(tables.token_start[state], tables.token_start[state + 1])
    calls = slice(tables.call_start[state], tables.call_start[state + 1])
    return [
        *(_one(symbols, symbol) for symbol in tables.edge_class[edges].tolist()),
        *(
            _one(symbols, tables.class_count + terminal)
            for terminal in tables.token_terminal[tokens].tolist()
        ),
        *(begins[nonterminal] for nonterminal in tables.call_nonterminal[calls].tolist()),
    ]


def _one(symbols: int, symbol: int) -> Sets:
    row = np.zeros(symbols, np.bool_)
    row[symbol] = True
    return row


def _begins(tables: Tables) -> Sets:
    symbols = tables.class_count + len(tables.token_terminals)
    begins = np.zeros((len(tables.names), symbols), np.bool_)
    changed = True
    while changed:
        before = begins.sum()
        for nonterminal, entry in enumerate(tables.entry.tolist()):
            for way in _ways_on(tables, entry, begins):
                begins[nonterminal] |= way
        changed = begins.sum() != before
    return begins


def _lengthens(tables: Tables, begins: Sets) -> Sets:
    lengthens = np.zeros_like(begins)
    owners = _owners(tables)
    for state in np.flatnonzero(tables.accepting).tolist():
        for way in _ways_on(tables, state, begins):
            lengthens[owners[state]] |= way
    last = [
        (int(owners[state]), int(tables.call_nonterminal[call]))
        for state in range(tables.state_count)
        for call in range(tables.call_start[state], tables.call_start[state + 1])
        if tables.accepting[tables.call_return[call]]
    ]
    changed = True
    while changed:
        before = lengthens.sum()
        for outer, inner in last:
            lengthens[outer] |= lengthens[inner]
        changed = lengthens.sum() != before
    return lengthens


def _is_unique(tables: Tables, state: int, begins: Sets, lengthens: Sets) -> bool:
    ways = _ways_on(tables, state, begins)
    if ways and np.sum(ways, axis=0).max() > 1:
        return False
    return not any(
        (lengthens[tables.call_nonterminal[call]] & way).any()
        for call in range(tables.call_start[state], tables.call_start[state + 1])
        for way in _ways_on(tables, int(tables.call_return[call]), begins)
    )
