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

from collections.abc import Iterable
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import Parts, count_starts, deepest_below, read_down, unite_down_and_up
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
    return _growing(
        (ids[max(k, 0) * RUN : (k + 1) * RUN] for k in range(-1, count)), count + 1, size
    )


def _blocks(trie: TokenTrie, reading: npt.NDArray[np.uint8], size: int) -> Bitmask:
    """Return the tokens up to each length, and all; a character that was begun is one."""
    begun = count_starts(trie.parent, reading)
    # As 16 bits, which is what NumPy sorts without comparing.
    lengths = np.repeat(begun.astype(np.uint16), np.diff(trie.token_start))
    order = trie.token_ids[np.argsort(lengths, kind="stable")]
    counts = np.bincount(lengths, minlength=MOST_SHORT + 2)
    most = min(MOST_SHORT, int(begun.max()))
    added = np.split(order, np.cumsum(counts))[: most + 1]
    return _growing((*added, trie.token_ids), most + 2, size)


def _growing(added: Iterable[npt.NDArray[np.int32]], count: int, size: int) -> Bitmask:
    """Return ``count`` rows: the bits of the first ids, of them and the next ones, and so on."""
    rows = np.zeros((count, word_count(size)), np.uint32)
    for place, ids in enumerate(added):
        np.bitwise_or(rows[place - 1] if place else 0, pack(ids, size), out=rows[place])
    return rows


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
    own = np.stack([_bits(number, first) for first in (0, 64)], axis=1)[trie.byte]
    way, under = unite_down_and_up(trie.parent, own)
    large = np.flatnonzero(trie.token_start[trie.skip] - trie.token_start[:-1] >= LEAST_BELOW)
    sets, which = _distinct(under[large])
    below = np.zeros(trie.node_count, np.uint16)
    # So many sets are not met; the others stand for all characters.
    below[large] = np.where(which < 2**16 - 1, which + 1, 0)
    singles = np.count_nonzero(machine[1] == 1)
    low, high = (way | under).T
    longer = high >> np.uint64(singles - 64) if singles >= 64 else low >> np.uint64(singles)
    return _Characters(
        np.repeat(way, np.diff(trie.token_start), axis=0),
        number,
        np.concatenate((np.full((1, 2), ~np.uint64(0)), sets)),
        below,
        longer.astype(np.uint16),
    )


def _distinct(
    sets: npt.NDArray[np.uint64],
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
    """Return the sets that differ, and which one each is."""
    order = np.lexsort(sets.T)
    ordered = sets[order]
    is_new = np.append(True, (ordered[1:] != ordered[:-1]).any(axis=1))[: len(ordered)]
    which = np.empty(len(sets), np.int64)
    which[order] = np.cumsum(is_new) - 1
    return ordered[is_new], which


def _bits(number: npt.NDArray[np.uint8], first: int) -> npt.NDArray[np.uint64]:
    """Return a bit for each number, from the first on; none for what is not within 64."""
    place = number.astype(np.int64) - first
    fits = (place >= 0) & (place < 64) & (number != NO_NUMBER)
    return np.where(fits, np.uint64(1) << np.where(fits, place, 0).astype(np.uint64), np.uint64(0))


def _reading(trie: TokenTrie, machine: Machine) -> npt.NDArray[np.uint8]:
    """Return the machine's state at each node."""
    return read_down(trie.parent, trie.byte, machine)


def _heights(trie: TokenTrie) -> npt.NDArray[np.uint16]:
    return deepest_below(trie.parent, trie.depth) - trie.depth


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
