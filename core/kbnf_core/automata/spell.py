"""Spells the symbols of an automaton: each becomes the words of a language over bytes.

The languages are finite and disjoint, and no word of any begins another, as those of characters in
UTF-8 or in JSON. So every state of the automaton stays a state, and between it and its successors
are states that have read a part of a word: one for each state of the automaton and each state in
which all languages are read at once (``Letters``), hash-consed bottom up by what they lead to.
"""

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import NamedTuple

from kbnf_core.automata.alphabet import ByteClasses
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.explore import explore
from kbnf_core.automata.product import Product, States
from kbnf_core.text.budget import Budget


class Letters(NamedTuple):
    """All languages read at once, over classes of bytes; words begin at the last state.

    ``edges`` lead to states that come before, by class in order. ``symbols`` has for each state
    the symbol of which it has read a word, else DEAD.
    """

    classes: ByteClasses
    edges: Sequence[Mapping[int, int]]
    symbols: Sequence[int]


def spell(dfa: SymbolDfa, letters: Letters, limit: int, budget: Budget | None = None) -> Dfa:
    """Return the automaton over bytes of one with one start.

    Raises LimitError beyond ``limit`` states, some of which may yet be merged.
    """
    if budget is not None:
        budget.spend(len(dfa.rows) * len(letters.edges))
    found = AUTOMATA.spell(
        dfa.rows, dfa.tags, dfa.starts[0], letters.classes, letters.edges, letters.symbols, limit
    )
    if found is None:
        raise LimitError("states", limit)
    return Dfa(*found)


def letters_of(languages: Sequence[Dfa]) -> Letters:
    """Return the languages of symbols 0, 1, ..., read at once."""
    product = Product(*languages)
    dead = (DEAD,) * len(languages)

    def step(states: States) -> list[States | None]:
        return [None if each == dead else each for each in product.row(states)]

    states, rows = explore([product.start], step)
    order = TopologicalSorter({state: set(row) - {DEAD} for state, row in enumerate(rows)})
    numbers = {state: number for number, state in enumerate(order.static_order())}
    ends = [product.accepting(states[state]) for state in numbers]
    return Letters(
        product.classes,
        [
            {byte: numbers[to] for byte, to in enumerate(rows[state]) if to != DEAD}
            for state in numbers
        ],
        [flags.index(True) if True in flags else DEAD for flags in ends],
    )
