"""Slices: large sets of tokens that many places of many grammars allow as a whole.

Wherever free text can come, nearly all tokens can, and walking them all to find that out is what a
first mask costs most. So the tokens that are read by one small machine, say as characters that
are special in no format, are a *slice*. Where everything that the machine reads can come, the mask
is the slice and what a walk over all other tokens finds. The idea is that of LLGuidance's slicer;
its containment check works on regular expressions, this one on the states of any grammar.
"""

from collections.abc import Sequence
from functools import cached_property
from threading import RLock
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.kernel.interface import Inclusion, LazyTable
from kbnf_core.mask.bits import Bitmask, pack, unpack, word_count
from kbnf_core.vocab.part import Part, part_of
from kbnf_core.vocab.vocabulary import Vocabulary

Machine = npt.NDArray[np.int32]
"""int32[states, 256]: the state after a byte; 0 is dead, 1 the start."""

LENGTHS = (20, 12, 8)
"""Bytes of the longest token in a slice. Few are longer, and they would make every check longer;
the shorter slices serve where a text has a greatest length that is near."""

LEAST_TOKENS = 4_096
"""Tokens that a vocabulary must have for slices to be worth a check in every walk."""


class Slice(NamedTuple):
    """``words``: some tokens that are read by one machine. ``rest``: the trie of all others."""

    words: Bitmask
    rest: Part


class Slices:
    """The slices of one vocabulary, each made when a state first covers it."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._trie = vocabulary.trie
        self._size = vocabulary.size
        self._made: dict[tuple[int, int], Slice] = {}

    def covered_by(self, readers: Sequence[Inclusion], state: int) -> Slice | None:
        """Return a slice of which everything can come in ``state``, without an exit on the way.

        ``readers``: of ``MACHINES``, over the table of ``state``.
        """
        if len(self._trie.token_ids) < LEAST_TOKENS:
            return None
        for number, reader in enumerate(readers):
            covered = reader.covered(state, LENGTHS[0])
            for longest in LENGTHS:
                if longest <= covered:
                    return self._made.get((number, longest)) or self._make(number, longest)
        return None

    def _make(self, number: int, longest: int) -> Slice:
        trie = self._trie
        words = np.zeros(word_count(self._size), np.uint32)
        KERNEL.walker(_MachineTable(MACHINES[number]), trie).walk(1, np.zeros(1, np.int32), words)
        is_read = unpack(words, self._size)[trie.token_ids]
        is_short = np.repeat(trie.depth, np.diff(trie.token_start)) <= longest
        chosen = is_read & is_short
        words = pack(trie.token_ids[chosen], self._size)
        return self._made.setdefault((number, longest), Slice(words, part_of(trie, ~chosen)))


_slices: WeakKeyDictionary[Vocabulary, Slices] = WeakKeyDictionary()


def slices_of(vocabulary: Vocabulary) -> Slices:
    """Return the slices of a vocabulary; all grammars share them."""
    return _slices.setdefault(vocabulary, Slices(vocabulary))


class _MachineTable:
    """A machine in the place of a transition table; all its transitions are known."""

    def __init__(self, machine: Machine) -> None:
        self.next = machine
        self.has_exits = np.zeros(len(machine), np.uint8)
        self.classes = np.arange(256, dtype=np.uint8)
        self.lock = RLock()

    @cached_property
    def explorer(self) -> LazyTable:
        return KERNEL.explorer(self)

    def completions(self, state: int) -> tuple[int, ...]:
        del state
        return ()


def _text() -> Machine:
    r"""Return the machine for well-formed UTF-8 without control characters, ``"`` and ``\\``."""
    machine = np.zeros((9, 256), np.int32)
    machine[1, 0x20:0x7F] = 1
    machine[1, [ord('"'), ord("\\")]] = 0
    # After the first byte of 2, 3 and 4: so many bytes less one are left. Four first bytes narrow
    # the second one: RFC 3629, section 4.
    machine[1, 0xC2:0xE0], machine[1, 0xE1:0xF0], machine[1, 0xF1:0xF4] = 2, 3, 4
    machine[1, [0xE0, 0xED, 0xF0, 0xF4]] = 5, 6, 7, 8
    machine[2, 0x80:0xC0], machine[3, 0x80:0xC0], machine[4, 0x80:0xC0] = 1, 2, 3
    machine[5, 0xA0:0xC0], machine[6, 0x80:0xA0] = 2, 2
    machine[7, 0x90:0xC0], machine[8, 0x80:0x90] = 3, 3
    return machine


def _word() -> Machine:
    """Return the machine for ASCII letters, digits and the underscore."""
    machine = np.zeros((2, 256), np.int32)
    machine[1, [value for value in range(128) if chr(value).isalnum() or value == ord("_")]] = 1
    return machine


MACHINES = (_text(), _word())
