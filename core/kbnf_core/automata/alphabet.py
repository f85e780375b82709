"""Byte classes: the alphabets of automata over bytes.

Bytes that no edge of an automaton tells apart behave alike, so a table of transitions needs one
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
carried over to it (``dfa.rows_over``). The way back is to merge equal columns
(``kernel.Automata.smallest``).
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import TypeAlias

from kbnf_core.automata.chosen_kernel import AUTOMATA

ByteClasses: TypeAlias = bytes
"""The class of each of the 256 bytes."""

ONE_CLASS: ByteClasses = bytes(256)
"""All bytes are alike."""


def join(parts: Iterable[ByteClasses]) -> ByteClasses:
    """Return the coarsest classes that refine all the given ones.

    They are numbered from 0 without gaps, by first byte. Without any, all bytes are class 0.
    """
    return AUTOMATA.join(list(dict.fromkeys(parts)))


def separate(used: Iterable[int]) -> ByteClasses:
    """Return classes in which every used byte is alone, and all others are together."""
    distinct = sorted(set(used))
    first = 0 if len(distinct) == 256 else 1
    classes = bytearray(256)
    for number, byte in enumerate(distinct, first):
        classes[byte] = number
    return bytes(classes)


def class_count(classes: ByteClasses) -> int:
    """Return the number of classes."""
    return max(classes) + 1


@lru_cache(maxsize=64)
def first_bytes(classes: ByteClasses) -> bytes:
    """Return the first byte of each class."""
    return bytes(map(classes.index, range(class_count(classes))))


def legible_bytes(classes: ByteClasses) -> list[int]:
    """Return a byte of each class: a letter or digit if it has one, else what can be printed."""
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
