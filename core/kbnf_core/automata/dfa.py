"""Deterministic automata over bytes, and byte classes, their alphabets.

A ``Dfa``, the form of every regular part of a grammar, is *trimmed*: every state is reached from
the start and reaches acceptance, so that a state that is alive promises a word. With states in
breadth-first order it is the canonical automaton of its language (Myhill-Nerode), and languages are
compared by comparing values.

Tables are lists of rows. Small automata are put together faster from lists than from arrays, and
without waiting for NumPy; where whole grammars become arrays (``lower``), rows are converted.

Bytes that no edge of an automaton distinguishes behave alike, so a table of transitions needs one
column for all of them. This is the alphabet compression of lex (Lesk & Schmidt 1975), and the
``ByteClasses`` of the crate regex-automata. Grammars distinguish few bytes: a table of JSON has
some 20 columns instead of 256, and every construction here is faster by that factor.

An alphabet is a partition of the 256 bytes, kept as 256 bytes: ``classes[byte]`` is the class of
a byte, and the symbol with which rows are indexed. Classes are numbered from 0 without gaps. As
plain bytes they are hashable, compare at once, cost no import of NumPy, and ``bytes.translate``
maps whole texts to symbols.

Partitions are ordered by refinement. Automata over different alphabets are put side by side over
the *coarsest common refinement*, their meet in that order: two bytes share a class exactly where
all the given partitions agree that they are alike. ``join`` makes it; numbered by first bytes it is
unique, so equal languages have equal minimal automata down to the last number. A column of the
refinement is a copy of the column of any of its bytes (``first_bytes``), which is how rows are
carried over to it (``rows_over``). The way back is to merge equal columns
(``kernel.Automata.smallest``).

A ``SymbolDfa`` is the more general kind that determinisation and minimisation work on: over
numbered symbols, with several starts and with tags instead of acceptance.

Tests: tests/unit/automata/test_operations.py, tests/unit/automata/test_spell.py
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.codepoints import Partition

ByteClasses: TypeAlias = bytes
"""The class of each of the 256 bytes."""

ONE_CLASS: ByteClasses = bytes(256)
"""All bytes are alike."""


def join(partitions: Iterable[ByteClasses]) -> ByteClasses:
    """Return the coarsest classes that refine all the given ones.

    They are numbered from 0 without gaps, by first byte. Without any, all bytes are class 0.
    """
    return AUTOMATA.join(list(dict.fromkeys(partitions)))


def separate(used: Iterable[int]) -> ByteClasses:
    """Return classes in which every used byte is alone, and all others are together."""
    distinct = sorted(set(used))
    # Classes have no gaps: with all bytes in use none is left over for class 0.
    first = 0 if len(distinct) == 256 else 1
    classes = bytearray(256)
    for number, byte in enumerate(distinct, first):
        classes[byte] = number
    return bytes(classes)


def class_count(classes: ByteClasses) -> int:
    """Return the number of classes."""
    return max(classes) + 1


def first_bytes(classes: ByteClasses) -> bytes:
    """Return the first byte of each class."""
    return bytes(map(classes.index, range(class_count(classes))))


def legible_bytes(classes: ByteClasses) -> list[int]:
    """Return a byte of each class: a letter or digit if it has one, else a printable byte."""
    chosen: dict[int, int] = {}
    for byte in _MOST_LEGIBLE_FIRST:
        chosen.setdefault(classes[byte], byte)
    return [chosen[number] for number in range(len(chosen))]


def _legibility(byte: int) -> tuple[bool, bool, int]:
    char = chr(byte)
    return (
        not (char.isascii() and char.isalnum()),
        not (char.isascii() and char.isprintable()),
        byte,
    )


_MOST_LEGIBLE_FIRST = sorted(range(256), key=_legibility)


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

    ``spelled`` is the automaton that was spelled in bytes, if it is known: it is over the blocks of
    a partition of code points, whose states are the first ones here.
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
