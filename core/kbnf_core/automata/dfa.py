"""Deterministic automata: over bytes, what every regular part of a grammar becomes.

A ``Dfa`` is *trimmed*: every state is reached from the start and reaches acceptance, so that a
state that is alive promises a word. With states in breadth-first order it is the canonical
automaton of its language (Myhill-Nerode), and languages are compared by comparing values.

Tables are lists of rows. Small automata are put together faster from lists than from arrays, and
without waiting for NumPy; where whole grammars become arrays (``lower``), rows are converted.

A ``SymbolDfa`` is the more general kind that determinisation and minimisation work on: over
numbered symbols, with several starts and with tags instead of acceptance.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kbnf_core.automata.alphabet import ONE_CLASS, ByteClasses, first_bytes
from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import Partition

DEAD = -1

ACCEPT = 1
"""The tag of automata that only accept or not."""

ROW, CELL = 100, 8
"""Bytes of a row, with the number of its state, and of a cell in it."""


class Dfa:
    """A deterministic automaton over bytes, trimmed: every state can reach acceptance.

    ``classes[byte]`` is the class of a byte; ``rows[state][class]`` is the next state, ``DEAD``
    where no word continues; ``accepting[state]`` says whether a word may end. State 0 is the
    start. The empty language has no states at all. Automata are shared and never mutated.

    ``spelled`` is what was spelled in bytes, where that is known: an automaton over the blocks of a
    partition of code points, whose states are the first ones here.
    """

    __slots__ = ("__weakref__", "accepting", "classes", "rows", "spelled", "state_count")

    def __init__(
        self,
        classes: ByteClasses,
        rows: Sequence[Sequence[int]],
        accepting: Sequence[bool],
        spelled: "Spelled | None" = None,
    ) -> None:
        self.classes = classes
        self.rows = rows
        self.accepting = accepting
        self.spelled = spelled
        self.state_count = len(accepting)

    @property
    def is_empty(self) -> bool:
        """Whether no word at all is accepted."""
        return not self.accepting

    @property
    def size(self) -> int:
        """An estimate of the memory of the rows."""
        return self.state_count * (ROW + CELL * len(self.rows[0])) if self.rows else 0

    @property
    def is_nullable(self) -> bool:
        """Whether the empty word is accepted."""
        return not self.is_empty and self.accepting[0]

    def accepts(self, word: bytes) -> bool:
        """Return whether ``word`` is in the language."""
        if self.is_empty:
            return False
        state = 0
        for symbol in word.translate(self.classes):
            state = self.rows[state][symbol]
            if state == DEAD:
                return False
        return self.accepting[state]


class SymbolDfa(NamedTuple):
    """A deterministic automaton over symbols: ``rows[state][symbol]`` is a state or ``DEAD``.

    A symbol is whatever the caller says: a class of code points, or a class of bytes. A *tag* is a
    set of at most 63 bits that says for what a state accepts (0 for nothing). ``starts`` are
    states, or ``DEAD`` for a start from which nothing is accepted.
    """

    rows: Sequence[Sequence[int]]
    tags: Sequence[int]
    starts: Sequence[int]


Spelled = tuple[SymbolDfa, Partition]
"""An automaton over the blocks of a partition of code points, and that."""


def empty() -> Dfa:
    """Return the automaton of no word at all."""
    return Dfa(ONE_CLASS, [], [])


def rows_over(dfa: Dfa, classes: ByteClasses) -> list[list[int]]:
    """Return ``dfa.rows`` with one column per class of ``classes``, which refine its own."""
    return AUTOMATA.over_columns(dfa.rows, first_bytes(classes).translate(dfa.classes))


def trimmed(
    rows: Sequence[Sequence[int]], accepting: Sequence[bool], classes: ByteClasses
) -> tuple[Dfa, list[int]]:
    """Keep the states that reach an accepting one, in their order; return which those are, too."""
    sources: list[list[int]] = [[] for _ in rows]
    for state, row in enumerate(rows):
        for target in set(row) - {DEAD}:
            sources[target].append(state)
    queue = [state for state, yes in enumerate(accepting) if yes]
    live = set(queue)
    for state in queue:
        fresh = [source for source in sources[state] if source not in live]
        live.update(fresh)
        queue.extend(fresh)
    if 0 not in live:
        return empty(), []
    kept = sorted(live)
    order = {old: new for new, old in enumerate(kept)}
    table = [[order.get(target, DEAD) for target in rows[old]] for old in kept]
    return Dfa(classes, table, [accepting[old] for old in kept]), kept
