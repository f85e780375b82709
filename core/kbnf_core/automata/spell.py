"""Spells the symbols of an automaton: each becomes the words of a language over bytes.

The languages are disjoint, and no word of any begins another, as those of characters in UTF-8 or
in JSON. So every state of the automaton stays a state, and between it and its successors stand
states that have read a part of a word. Few states differ in which of their successors are the same,
so those parts are laid out once for all states that do not; and they are hash-consed bottom up by
what they lead to, so that the result is minimal where the automaton is.
"""

from collections.abc import Callable, Sequence
from operator import itemgetter

from kbnf_core.automata.alphabet import class_count
from kbnf_core.automata.determinise import minimise
from kbnf_core.automata.dfa import DEAD, Dfa, SymbolDfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.explore import explore
from kbnf_core.automata.product import Product, States
from kbnf_core.budget import Budget

_Row = Callable[[tuple[int, ...]], tuple[int, ...]]
"""Makes the row of a state of its children, behind which comes DEAD."""

_Node = tuple[_Row, tuple[int, ...]]
"""A state and its children: slots (the successors of a symbol's start) or, after those, nodes."""


def spell(dfa: SymbolDfa, languages: Sequence[Dfa], limit: int, budget: Budget) -> Dfa:
    """Return the automaton over bytes of a trimmed one with one start, state 0.

    Raises LimitError beyond ``limit`` states.
    """
    letters = _Letters(languages)
    layouts: dict[tuple[int, ...], list[_Node]] = {}
    roots: list[_Node] = []
    inner: dict[_Node, int] = {}
    for row in dfa.rows:
        slots, pattern = _first_occurrences(row)
        nodes = layouts.get(pattern)
        if nodes is None:
            nodes = layouts[pattern] = letters.layout(pattern, len(slots))
            budget.spend(letters.size)
        budget.spend(len(nodes))
        resolved = list(slots)
        for make, children in nodes[:-1]:
            node = make, tuple([resolved[child] for child in children])
            resolved.append(inner.setdefault(node, len(dfa.rows) + len(inner)))
        make, children = nodes[-1]
        roots.append((make, tuple([resolved[child] for child in children])))
        if len(dfa.rows) + len(inner) > limit:
            raise LimitError("states", limit)
    rows = [make((*children, DEAD)) for make, children in (*roots, *inner)]
    ends = [bool(tag) for tag in dfa.tags]
    return Dfa(letters.classes, rows, ends + [False] * len(inner))


class _Letters:
    """All languages read at once; ``size``: edges of their automaton."""

    def __init__(self, languages: Sequence[Dfa]) -> None:
        product = Product(*languages)
        dead = (DEAD,) * len(languages)

        def step(states: States) -> list[States | None]:
            return [None if each == dead else each for each in product.row(states)]

        states, self._rows = explore([product.start], step)
        self._symbols = [
            flags.index(True) if True in flags else None for flags in map(product.accepting, states)
        ]
        self.classes = product.classes
        self._makers: dict[tuple[int, ...], _Row] = {}
        self.size = len(self._rows) * class_count(self.classes)

    def layout(self, pattern: tuple[int, ...], slots: int) -> list[_Node]:
        """Return the nodes, bottom up, that read a word; ``pattern`` has each symbol's slot."""
        wanted = [0 if symbol is None else pattern[symbol] + 1 for symbol in self._symbols]
        rows, tags, _ = minimise(SymbolDfa(self._rows, wanted, [0]))
        if not rows:
            return [self._node((DEAD,) * class_count(self.classes))]
        numbers = {state: tag - 1 for state, tag in enumerate(tags) if tag} | {DEAD: DEAD}
        nodes: list[_Node] = []
        waiting = [state for state, tag in enumerate(tags) if not tag]
        while waiting:
            ready = [state for state in waiting if numbers.keys() >= set(rows[state])]
            found = [self._node([numbers[target] for target in rows[state]]) for state in ready]
            numbers.update({state: slots + i for i, state in enumerate(ready, len(nodes))})
            nodes += found
            waiting = [state for state in waiting if state not in numbers]
        return nodes

    def _node(self, row: Sequence[int]) -> _Node:
        children, shape = _first_occurrences(row)
        return self._makers.setdefault(shape, _taking(shape)), children


def _taking(places: tuple[int, ...]) -> _Row:
    if len(places) == 1:
        return lambda children: (children[places[0]],)
    return itemgetter(*places)


def _first_occurrences(row: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the distinct elements of ``row`` but DEAD, and ``row`` written with their places."""
    numbers: dict[int, int] = {}
    pattern = tuple(
        [DEAD if item == DEAD else numbers.setdefault(item, len(numbers)) for item in row]
    )
    return tuple(numbers), pattern
