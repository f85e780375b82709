"""What running recognisers shows of languages: that texts go on, or on which two of them differ.

*Prefix-freeness*: no text of a grammar is a prefix of another, so eager finish loses none.
Undecidable for context-free languages in general. ``is_prefix_free`` proves it where one
character is enough to see how a text goes on, as in most formats; ``shortest_longer`` searches
for a text that disproves it. ``shortest_difference`` follows the product of two recognisers.

Tests: tests/unit/conversion
"""

from collections.abc import Iterator, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.automata.dfa import first_bytes, join
from kbnf_core.automata.explore import shortest_word_to
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.errors import LimitError

Symbols = int
"""A set of symbols, as bits: the byte classes, and after those the token terminals."""


def is_prefix_free(tables: Tables) -> bool:
    """Return True if no nonempty text is provably a proper prefix of another; False means unknown.

    Each nonterminal has the symbols that it may begin with, and those that may follow a complete
    text of it inside a longer one. Where the ways on from a state differ in their first symbol, and
    no symbol that may follow also lengthens a complete text, the way through is unique; then a text
    goes on only with a symbol that lengthens the start.
    """
    entries = tables.entry.tolist()
    ways_in = [_ways_on(tables, entry) for entry in entries]
    begins = fixpoint(
        {name: ways.callees for name, ways in enumerate(ways_in)},
        0,
        lambda name, values: reduce(or_, ways_in[name].over(values), 0),
    )
    ways = [_ways_on(tables, state).over(begins) for state in range(tables.state_count)]
    lengthens = _lengthens(tables, ways)
    is_unique = all(
        _is_unique(tables, state, ways, lengthens) for state in range(tables.state_count)
    )
    return is_unique and not lengthens[tables.start]


def shortest_longer(states: StateTable, most: int) -> bytes | None:
    """Return a shortest text that begins with another, nonempty one; looks at ``most`` states."""
    representatives = np.unique(states.tables.classes, return_index=True)[1].tolist()
    start = (states.initial, False)

    def is_longer(pair: tuple[int, bool]) -> bool:
        return pair[1] and bool(states.completions(pair[0]))

    def steps(pair: tuple[int, bool]) -> Iterator[tuple[int, tuple[int, bool]]]:
        state, passed = pair
        passed = passed or (pair != start and bool(states.completions(state)))
        for byte_class in states.live_classes(state):
            after = states.step(state, byte_class)
            if after != DEAD:
                yield representatives[byte_class], (after, passed)

    try:
        result = shortest_word_to(start, is_longer, steps, most)
    except LimitError:
        return None
    return result and result[0]


def _owners(tables: Tables) -> npt.NDArray[np.int64]:
    """Return the nonterminal that each state belongs to, int[states]."""
    order = np.argsort(tables.entry)
    owner_indexes = (
        np.searchsorted(tables.entry[order], np.arange(tables.state_count), side="right") - 1
    )
    owners: npt.NDArray[np.int64] = order[owner_indexes]
    return owners


class _WaysOn(NamedTuple):
    """The edges of a state: a symbol each, and the nonterminals that may be called."""

    symbols: list[Symbols]
    callees: list[int]

    def over(self, begins: Mapping[int, Symbols]) -> list[Symbols]:
        """Return the first symbols of every edge."""
        return [*self.symbols, *(begins[callee] for callee in self.callees)]


def _ways_on(tables: Tables, state: int) -> _WaysOn:
    edges = slice(tables.edge_start[state], tables.edge_start[state + 1])
    tokens = slice(tables.token_start[state], tables.token_start[state + 1])
    calls = slice(tables.call_start[state], tables.call_start[state + 1])
    terminals = (
        tables.class_count + terminal for terminal in tables.token_terminal[tokens].tolist()
    )
    symbols = (*tables.edge_class[edges].tolist(), *terminals)
    return _WaysOn([1 << symbol for symbol in symbols], tables.call_nonterminal[calls].tolist())


def _lengthens(tables: Tables, ways: list[list[Symbols]]) -> Mapping[int, Symbols]:
    """Return for each nonterminal the symbols that lengthen a complete text of it."""
    owners = _owners(tables).tolist()
    own = dict.fromkeys(range(len(tables.names)), 0)
    for state in np.flatnonzero(tables.accepting).tolist():
        own[owners[state]] = reduce(or_, ways[state], own[owners[state]])
    last: dict[int, list[int]] = {name: [] for name in own}
    for state in range(tables.state_count):
        for call in range(tables.call_start[state], tables.call_start[state + 1]):
            if tables.accepting[tables.call_return[call]]:
                last[owners[state]].append(int(tables.call_nonterminal[call]))

    def evaluate(name: int, lengthening: Mapping[int, Symbols]) -> Symbols:
        return reduce(or_, (lengthening[callee] for callee in last[name]), own[name])

    return fixpoint(last, 0, evaluate)


def _is_unique(
    tables: Tables, state: int, ways: list[list[Symbols]], lengthens: Mapping[int, Symbols]
) -> bool:
    seen = 0
    for way in ways[state]:
        if seen & way:
            return False
        seen |= way
    return not any(
        lengthens[int(tables.call_nonterminal[call])] & way
        for call in range(tables.call_start[state], tables.call_start[state + 1])
        for way in ways[int(tables.call_return[call])]
    )


MOST_STATES = 1_000
"""Pairs of states that a search looks at."""

MOST_POSITIONS = 32
"""Positions in one state; a search does not go on from states with more."""


def shortest_difference(
    left: StateTable, right: StateTable, most: int = MOST_STATES
) -> tuple[bytes, bool] | None:
    """Return a shortest nonempty text that only one takes, and whether it is the left one.

    None if there is no difference, or none was found within ``most`` pairs of states, leaving out
    very ambiguous positions: a state that contains many positions takes long to leave. Tokens that
    a grammar names by id have no bytes and are not followed.
    """
    left_classes, right_classes = left.tables.classes.tobytes(), right.tables.classes.tobytes()
    columns = [
        (byte, left_classes[byte], right_classes[byte])
        for byte in first_bytes(join([left_classes, right_classes]))
    ]
    start = (left.initial, right.initial)

    def takes(pair: tuple[int, int]) -> tuple[bool, bool]:
        return bool(left.completions(pair[0])), bool(right.completions(pair[1]))

    def differs(pair: tuple[int, int]) -> bool:
        return pair != start and len({*takes(pair)}) > 1

    def steps(pair: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int]]]:
        positions = max(len(left.pairs(pair[0])), len(right.pairs(pair[1])))
        if pair != start and positions > MOST_POSITIONS:
            return
        for byte, left_class, right_class in columns:
            after = (left.step(pair[0], left_class), right.step(pair[1], right_class))
            if after != (DEAD, DEAD):
                yield byte, after

    try:
        result = shortest_word_to(start, differs, steps, most)
    except LimitError:
        return None
    return result and (result[0], takes(result[1])[0])
