"""The automata kernel: compiled, or, more slowly and with identical results, in plain Python.

Tests: tests/unit/automata/test_kernel.py
"""

from collections.abc import Container, Mapping, Sequence
from typing import Protocol, TypeAlias

DEAD = -1
"""In a row: no word continues."""

ELEMENTS_PER_STATE = 10
"""Mean size of a set of states at which a bound on sets also bounds the time and the memory."""

Table: TypeAlias = tuple[Sequence[Sequence[int]], list[int], list[int]]
"""A deterministic automaton: rows by state and symbol, tags by state, starts."""

Column: TypeAlias = bytes
"""Integers of 32 bits."""

Compacted: TypeAlias = tuple[Column, Column, Column, bytes]
"""A deterministic automaton with start 0: columns of edges (source, symbol, target), by
source and symbol; and for each state a byte that says whether it accepts."""

Automaton: TypeAlias = tuple[bytes, Sequence[Sequence[int]], Sequence[bool]]
"""A deterministic automaton over bytes, as ``Dfa`` has it: classes, rows, accepting states."""


class Automata(Protocol):
    """The operations of a kernel. Tags are bit sets of at most 63 bits; 0 means none.

    ``compact`` and ``blocks`` are for tables, which only the compiled kernels work on: plain Python
    has none.
    """

    def determinise(
        self,
        moves: Sequence[Mapping[int, tuple[int, ...]]],
        tags: Sequence[int],
        starts: Sequence[tuple[int, ...]],
        symbols: int,
        limit: int,
        stop: int,
        work: int,
    ) -> tuple[Table | None, int]:
        """Return the deterministic automaton of one without free edges, not trimmed.

        ``moves[state]`` maps symbols, below ``symbols``, to sorted states; starts are sorted
        states. A subset whose tags meet ``stop`` counts as dead and is not followed. Subsets are
        one where whatever comes leads back to all tags, as after a match that is searched for:
        such a subset contains a state that each symbol leads back to, and to all tags. None where
        there are more than ``limit`` states, or ten times as many elements in all subsets, or
        where more than ``work`` steps would be taken. The number is that of the steps taken: one
        for each subset, and for each edge that leaves one of its states; ``work + 1`` where
        they were too many.
        """

    def minimise(
        self, rows: Sequence[Sequence[int]], tags: Sequence[int], starts: Sequence[int]
    ) -> Table:
        """Return the smallest automaton that accepts the same from every start, trimmed.

        Its states are in breadth-first order, so equal languages have equal results.
        """

    def smallest(
        self, rows: Sequence[Sequence[int]], tags: Sequence[int], start: int, classes: bytes
    ) -> Automaton:
        """Return what ``minimise`` does of an automaton over classes of bytes, with the coarsest.

        Of the classes that it does not tell apart it makes one. They are numbered by first byte.
        """

    def literals(self, words: Sequence[bytes], classes: bytes, limit: int) -> Automaton | None:
        """Return the smallest automaton of some words; None if it has more than ``limit`` states.

        ``classes`` distinguish their bytes, and are numbered by first byte.
        """

    def product(
        self, left: Automaton, right: Automaton, is_in_both: bool, limit: int, work: int
    ) -> tuple[Automaton | None, int]:
        """Return the smallest automaton of the words of ``left`` that are words of ``right``, too.

        Or, unless ``is_in_both``, of those that are not. None where there are more than ``limit``
        pairs of states, or more than ``work`` steps would be taken: a step for each class of each
        pair. The number is that of the steps taken; ``work + 1`` where they were too many.
        """

    def spell(
        self,
        rows: Sequence[Sequence[int]],
        tags: Sequence[int],
        start: int,
        classes: bytes,
        letters: Sequence[Mapping[int, int]],
        symbols: Sequence[int],
        limit: int,
    ) -> Automaton | None:
        """Return the smallest automaton in which symbols are spelt in bytes.

        ``letters`` read a text of one symbol: from the last, each maps classes, in their order, to
        others before it. ``symbols`` has for each the symbol whose text ended there, DEAD inside
        of texts. None beyond ``limit`` states before minimisation.
        """

    def between(
        self, rows: Sequence[Sequence[int]], accepting: Sequence[bool]
    ) -> Sequence[Sequence[int]]:
        """Return the rows of words with a mark before and after: the symbol after all others.

        Two states are added: that after the second mark, and that before the first one.
        """

    def count(
        self,
        targets: Sequence[Sequence[int]],
        shortest: Sequence[int],
        longest: Sequence[int | None],
        low: int,
        high: int,
        stops: Container[int],
        most: int,
        work: int,
    ) -> tuple[tuple[list[tuple[int, int]], list[list[tuple[int, int]]]] | None, int]:
        """Return states with counts of symbols, for the words of ``low`` to ``high`` symbols.

        ``targets`` are those of the edges of each state, from which ``shortest`` to ``longest``
        symbols (None: no bound) lead to an end. No ``high`` is -1. Of each state with its count
        the rows have the edges that can be taken: which, and the number of what they lead to, or
        ``-1 - state`` where the count cannot matter any more. There are none at ``stops``.

        None beyond ``most`` states or ``work`` steps: one for each, and for each of its edges. The
        number is that of the steps taken; ``work + 1`` where they were too many.
        """

    def compact(
        self,
        source: Column,
        symbol: Column,
        target: Column,
        free_source: Column,
        free_target: Column,
        states: int,
        start: int,
        accept: int,
        limit: int,
        closure_limit: int,
        work: int,
    ) -> tuple[Compacted | None, int]:
        """Return the minimal deterministic automaton of one with free edges, trimmed.

        None where subsets pass ``limit``, as in ``determinise``, or where closures have more than
        ten times ``closure_limit`` elements together, or beyond ``work`` steps. Steps are those of
        ``determinise``, the elements of closures, and the edges of the automaton that is minimised.
        If no word is accepted there is no state.
        """

    def blocks(
        self, source: Column, symbol: Column, target: Column, accepting: bytes, rounds: int
    ) -> list[int]:
        """Return the block of each state; those in one are alike for ``rounds`` steps.

        There may be several edges with one symbol from a state. ``accepting`` has a byte for each
        state. Blocks are numbered by their first states.
        """

    def over_columns(self, rows: Sequence[Sequence[int]], columns: bytes) -> list[list[int]]:
        """Return rows of some of their columns."""

    def leave_out(self, rows: list[list[int]], words: Sequence[bytes]) -> Sequence[Sequence[int]]:
        """Return an automaton without some words.

        No state of ``rows`` leads to the first, in which words start. Words are symbols, at least
        one each, and none is the beginning of another. States are added; none of them accepts.
        """

    def join(self, partitions: Sequence[bytes]) -> bytes:
        """Return the coarsest classes that refine all the given ones; see ``dfa.join``."""
