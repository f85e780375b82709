r"""Slices: token subsets admitted as a block where the state accepts the slice's whole language.

Where free text is expected nearly all tokens are viable, and walking them all to find that out
dominates the cost of a cold mask. So the tokens accepted by one small automaton (say, characters
special in no format) form a *slice*, with a trie of its own. Where everything that the automaton
accepts is viable for as many bytes as the longest token below a trie node has, a walk admits all
tokens below the node at once: they are a range in the order of the trie. A string of any length
then costs one inclusion check; one with a bound or a pattern costs what differs, in characters:
where any n characters are viable, the tokens of so many are admitted, and the longer ones walked;
where some characters are refused, the tokens without them; and where of several bytes only some
are (``\s``, ``.``), tokens with such a first byte are walked. The check itself is in ``kernel``.

Each token is in one slice; the last one has the tokens that no automaton accepts, and is walked.
The idea is that of LLGuidance's slicer; its containment check works on regular expressions, this
one on the states of any grammar.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import Parts
from kbnf_core.mask.bits import Bitmask, pack, word_count
from kbnf_core.vocab.trie import Part, TokenTrie, part_of
from kbnf_core.vocab.vocabulary import Vocabulary

Machine = npt.NDArray[np.int32]
"""int32[states, 256]: the state after a byte; 0 is dead, 1 the start."""

LEAST_TOKENS = 4_096
"""Tokens that a vocabulary must have for slices to be worth a check in every walk."""


MOST_SHORT = 64
"""Characters; tokens up to each length up to this have a row in a slice. Few are longer."""


NO_NUMBER = 255
"""The number of no character."""

_FIRST_BYTES = (0xC2, 0xC3, 0xE0, 0xE1, 0xE2, 0xE3, 0xE4, 0xEF, 0xF0)
"""From each of these to the next, first bytes share a number. Spaces beyond ASCII, which patterns
leave out, begin with 0xC2, 0xE1, 0xE2, 0xE3 and 0xEF, separators of lines with 0xE2."""


LEAST_BELOW = 8
"""Tokens below a node for which the characters there are worth a look."""


RUN = 1_024
"""Tokens; setting the bits of so many, one by one, takes longer than two rows do."""


class Slice(NamedTuple):
    """``part``: the trie of some tokens.

    ``blocks``: uint32[k, words], what may be admitted at once: the bits of the tokens of at most
    0, 1, .. ``MOST_SHORT`` characters, and of all of them. A character is what the machine reads
    until it is at its start again. ``characters``: uint64[m, 2], those of each token, a bit for
    each by its number. ``number``: uint8[256], that of the character that begins with a byte,
    ``NO_NUMBER`` without one; those of several bytes share numbers by their first. ``sets``:
    uint64[k, 2], sets of characters by these numbers, and ``below``: uint16[n], the one with those
    below each node; set 0 has all, and stands for any other where few tokens are. ``longer``:
    uint16[n], the characters of several bytes on the way to a node or below it, from the first of
    their numbers on. Without a machine there are none of these.

    ``fronts``: uint32[k, words], the bits of the first 0, 1, 2, .. times ``run`` tokens in the
    order of the trie; what is between two tokens is the difference of two fronts.

    ``machine`` reads them, None where none does. ``reading``: uint8[n], its state at each node.
    ``height``: uint16[n], bytes from each node to the deepest one below it.
    """

    part: Part
    blocks: Bitmask
    characters: npt.NDArray[np.uint64]
    number: npt.NDArray[np.uint8]
    sets: npt.NDArray[np.uint64]
    below: npt.NDArray[np.uint16]
    longer: npt.NDArray[np.uint16]
    fronts: Bitmask
    run: int
    machine: Machine | None
    reading: npt.NDArray[np.uint8]
    height: npt.NDArray[np.uint16]


_parts: WeakKeyDictionary[Vocabulary, Parts] = WeakKeyDictionary()


def parts_of(vocabulary: Vocabulary) -> Parts:
    """Return a vocabulary in slices, as walkers take it; all grammars share it."""
    found = _parts.get(vocabulary)
    if found is None:
        made = Parts(vocabulary.trie, slices_of(vocabulary))
        found = _parts.setdefault(vocabulary, made)
    return found


def slices_of(vocabulary: Vocabulary) -> tuple[Slice, ...]:
    """Return the slices of a vocabulary."""
    trie, size = vocabulary.trie, vocabulary.size
    left = np.ones(len(trie.token_ids), np.bool_)
    node_of_token = np.repeat(np.arange(trie.node_count), np.diff(trie.token_start))
    made = []
    for machine in MACHINES if len(left) >= LEAST_TOKENS else ():
        chosen = left & (_reading(trie, machine)[node_of_token] != 0)
        made.append(_slice(trie, size, chosen, machine))
        left &= ~chosen
    return (*made, _slice(trie, size, left, None))


def _slice(
    trie: TokenTrie, size: int, chosen: npt.NDArray[np.bool_], machine: Machine | None
) -> Slice:
    part = part_of(trie, chosen)
    reading = _reading(part.trie, machine) if machine is not None else np.zeros(0, np.uint8)
    blocks = np.zeros((0, word_count(size)), np.uint32)
    found = _Characters.none()
    if machine is not None:
        blocks = _blocks(part.trie, reading, size)
        found = _characters(part.trie, machine)
    fronts, heights = _fronts(part.trie, size), _heights(part.trie)
    return Slice(part, blocks, *found, fronts, RUN, machine, reading, heights)


class _Characters(NamedTuple):
    """See ``Slice``."""

    characters: npt.NDArray[np.uint64]
    number: npt.NDArray[np.uint8]
    sets: npt.NDArray[np.uint64]
    below: npt.NDArray[np.uint16]
    longer: npt.NDArray[np.uint16]

    @classmethod
    def none(cls) -> "_Characters":
        sets, nodes = np.zeros((0, 2), np.uint64), np.zeros(0, np.uint16)
        return cls(sets, np.full(256, NO_NUMBER, np.uint8), sets, nodes, nodes)


def _fronts(trie: TokenTrie, size: int) -> Bitmask:
    """Return the bits of the first 0, 1, 2, .. runs of tokens."""
    ids, count = trie.token_ids, len(trie.token_ids) // RUN
    runs = [pack(ids[:0], size), *(pack(ids[k * RUN : (k + 1) * RUN], size) for k in range(count))]
    return np.bitwise_or.accumulate(runs)


def _blocks(trie: TokenTrie, reading: npt.NDArray[np.uint8], size: int) -> Bitmask:
    """Return the tokens up to each length, and all; a character that was begun is one."""
    begun = np.zeros(trie.node_count, np.int32)
    for nodes in _levels(trie):
        begun[nodes] = begun[trie.parent[nodes]] + (reading[trie.parent[nodes]] == 1)
    lengths = np.repeat(begun, np.diff(trie.token_start))
    most = min(MOST_SHORT, int(begun.max()))
    added = [pack(trie.token_ids[lengths == length], size) for length in range(most + 1)]
    return np.bitwise_or.accumulate([*added, pack(trie.token_ids, size)])


def numbers_of(machine: Machine) -> npt.NDArray[np.uint8]:
    """Return the number of the character that begins with each byte."""
    number = np.full(256, NO_NUMBER, np.uint8)
    single = np.flatnonzero(machine[1] == 1)
    longer = np.flatnonzero(machine[1] > 1)
    number[single] = np.arange(len(single))
    number[longer] = len(single) + np.searchsorted(_FIRST_BYTES, longer, "right") - 1
    return number


def _characters(trie: TokenTrie, machine: Machine) -> _Characters:
    """Return the characters of tokens and nodes: from the root down, and from the leaves up."""
    number = numbers_of(machine)
    levels = _levels(trie)
    own = [_bits(number[trie.byte], first) for first in (0, 64)]
    path, under = [each.copy() for each in own], [np.zeros_like(each) for each in own]
    for before, after, here in zip(path, under, own, strict=True):
        for nodes in levels:
            before[nodes] |= before[trie.parent[nodes]]
        for nodes in reversed(levels):
            np.bitwise_or.at(after, trie.parent[nodes], after[nodes] | here[nodes])
    large = np.flatnonzero(trie.token_start[trie.skip] - trie.token_start[:-1] >= LEAST_BELOW)
    sets, which = np.unique(np.stack(under, axis=1)[large], axis=0, return_inverse=True)
    below = np.zeros(trie.node_count, np.uint16)
    # So many sets are not met; the others stand for all characters.
    below[large] = np.where(which < 2**16 - 1, which + 1, 0)
    singles = np.count_nonzero(machine[1] == 1)
    low, high = (before | after for before, after in zip(path, under, strict=True))
    longer = high >> np.uint64(singles - 64) if singles >= 64 else low >> np.uint64(singles)
    return _Characters(
        np.repeat(np.stack(path, axis=1), np.diff(trie.token_start), axis=0),
        number,
        np.concatenate((np.full((1, 2), ~np.uint64(0)), sets)),
        below,
        longer.astype(np.uint16),
    )


def _bits(number: npt.NDArray[np.uint8], first: int) -> npt.NDArray[np.uint64]:
    """Return a bit for each number, from the first on; none for what is not within 64."""
    place = number.astype(np.int64) - first
    fits = (place >= 0) & (place < 64) & (number != NO_NUMBER)
    return np.where(fits, np.uint64(1) << np.where(fits, place, 0).astype(np.uint64), np.uint64(0))


def _levels(trie: TokenTrie) -> list[npt.NDArray[np.int64]]:
    """Return the nodes of each depth but the root's."""
    by_depth = np.argsort(trie.depth, kind="stable")
    return np.split(by_depth, np.cumsum(np.bincount(trie.depth))[:-1])[1:]


def _reading(trie: TokenTrie, machine: Machine) -> npt.NDArray[np.uint8]:
    """Return the machine's state at each node."""
    found = np.zeros(trie.node_count, np.uint8)
    found[0] = 1
    for nodes in _levels(trie):
        found[nodes] = machine[found[trie.parent[nodes]], trie.byte[nodes]]
    return found


def _heights(trie: TokenTrie) -> npt.NDArray[np.uint16]:
    deepest = trie.depth.copy()
    for nodes in reversed(_levels(trie)):
        np.maximum.at(deepest, trie.parent[nodes], deepest[nodes])
    return deepest - trie.depth


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


MACHINES = (_word(), _text())
"""The narrower one first: its tokens are left out of the other's slice."""
