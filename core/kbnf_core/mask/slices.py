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
Most of these are some text and then a quote, a backslash or a control character: a *tail*. Where
any characters of text lead to one position, the tails are walked from there, each once for all the
tokens that end with it.
The idea is that of LLGuidance's slicer; its containment check works on regular expressions, this
one on the states of any grammar.

Tests: tests/unit/test_slices.py, tests/unit/kernel/test_walks.py
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel import (
    SliceSet,
    count_starts,
    deepest_below,
    mark_tokens,
    read_down,
    unite_down_and_up,
)
from kbnf_core.mask.bits import Bitmask, pack, word_count
from kbnf_core.vocab.stored import checked_trie, trie_to_arrays
from kbnf_core.vocab.trie import TokenTrie, TrieSubset, build_trie, subset_of
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


class Slice(NamedTuple):
    """``subset``: the trie of some tokens.

    ``blocks``: uint32[k, words], the sets that may be admitted at once: the bits of the tokens of
    at most 0, 1, .. ``MOST_SHORT`` characters, and of all of them. A character is the text that the
    machine reads until it is at its start again. ``number``: uint8[256], that of the character that
    begins with a byte, ``NO_NUMBER`` without one; those of several bytes share numbers by their
    first. ``having``: uint32[c, words], the tokens that have each character, by its number.
    ``sets``: uint64[k, 2], sets of characters, a bit for each by its number, and ``below``:
    uint16[n], the one with those below each node; set 0 has all, and represents those beyond
    ``uint16``. ``around``: uint64[n, 2], those on the way to each node or below it. Without a
    machine there are none of the others.

    ``machine`` reads them, None where none does. ``reading``: uint8[n], its state at each node.
    ``height``: uint16[n], bytes from each node to the deepest one below it.

    Without a machine there are ``around``, the characters before tails, and ``height``, which is
    ``ENDLESS`` where some token at the node or below it has no tail.
    """

    subset: TrieSubset
    blocks: Bitmask
    number: npt.NDArray[np.uint8]
    having: Bitmask
    sets: npt.NDArray[np.uint64]
    below: npt.NDArray[np.uint16]
    around: npt.NDArray[np.uint64]
    machine: Machine | None
    reading: npt.NDArray[np.uint8]
    height: npt.NDArray[np.uint16]


class Tails(NamedTuple):
    """The texts after the tail's beginning in tokens of the last slice.

    ``trie``: the tails, and what they begin with; its token ids are places in the other arrays.
    ``nodes``: int32[k], the node of the whole trie after each tail of each text. ``before``:
    uint64[k, 2], the characters of that text.
    """

    trie: TokenTrie
    nodes: npt.NDArray[np.int32]
    before: npt.NDArray[np.uint64]


class Slices(NamedTuple):
    """A vocabulary: its slices, and the tails of the last one."""

    slices: tuple[Slice, ...]
    tails: Tails


ENDLESS = 2**16 - 1
"""A height beyond all lengths of tokens."""

_laid_out: WeakKeyDictionary[Vocabulary, SliceSet] = WeakKeyDictionary()


def slice_set_of(vocabulary: Vocabulary) -> SliceSet:
    """Return a vocabulary in slices, as walkers take it; all grammars share it."""
    cached = _laid_out.get(vocabulary)
    if cached is None:
        made = SliceSet(vocabulary.trie, *_slices_of(vocabulary))
        cached = _laid_out.setdefault(vocabulary, made)
    return cached


def _slices_of(vocabulary: Vocabulary) -> Slices:
    """Return the slices of a vocabulary, from disk if the vocabulary is kept there."""
    entry = vocabulary.entry.beside("slices") if vocabulary.entry else None
    result = entry.recall(lambda arrays: from_arrays(arrays, vocabulary)) if entry else None
    if result is None:
        result = slices_of(vocabulary)
        if entry:
            entry.keep(to_arrays(result))
    return result


def to_arrays(slices: Slices) -> dict[str, npt.NDArray[Any]]:
    """Return the arrays of which ``from_arrays`` makes equal slices."""
    tails = slices.tails
    arrays = trie_to_arrays(tails.trie, "tails")
    arrays |= {"tails.nodes": tails.nodes, "tails.before": tails.before}
    for index, slice_ in enumerate(slices.slices):
        arrays |= trie_to_arrays(slice_.subset.trie, f"{index}.trie")
        arrays[f"{index}.nodes"] = slice_.subset.nodes
        arrays |= {f"{index}.{name}": getattr(slice_, name) for name in _STORED}
    return arrays


def from_arrays(arrays: Mapping[str, npt.NDArray[Any]], vocabulary: Vocabulary) -> Slices:
    """Return the slices in ``arrays``, which are worked on from then on.

    Raises ``KeyError``, ``VocabularyError`` or ``ValueError`` unless they are all there, and each
    number in them is within its range: a walk over them reads nothing outside.
    """
    machines = (*(MACHINES if len(vocabulary.trie.token_ids) >= LEAST_TOKENS else ()), None)
    slices = (
        _from_arrays(arrays, str(index), machine, vocabulary)
        for index, machine in enumerate(machines)
    )
    return Slices(tuple(slices), _tails_from_arrays(arrays, vocabulary))


def _tails_from_arrays(arrays: Mapping[str, npt.NDArray[Any]], vocabulary: Vocabulary) -> Tails:
    nodes, before = arrays["tails.nodes"], arrays["tails.before"]
    trie = checked_trie(arrays, max(len(nodes), 1), "tails")
    fits = nodes.dtype == np.int32 and nodes.ndim == 1 and _are_nodes(nodes, vocabulary)
    fits &= len(trie.token_ids) == len(nodes)
    fits &= before.dtype == np.uint64 and before.shape == (len(nodes), 2)
    if not (fits and trie.max_depth <= vocabulary.trie.max_depth):
        raise ValueError("stored tails are damaged")
    return Tails(trie, nodes, before)


def _are_nodes(nodes: npt.NDArray[np.int32], vocabulary: Vocabulary) -> bool:
    return not nodes.size or bool(nodes.min() >= 0 and nodes.max() < vocabulary.trie.node_count)


def _from_arrays(
    arrays: Mapping[str, npt.NDArray[Any]],
    prefix: str,
    machine: Machine | None,
    vocabulary: Vocabulary,
) -> Slice:
    trie, nodes = checked_trie(arrays, vocabulary.size, f"{prefix}.trie"), arrays[f"{prefix}.nodes"]
    result = {name: arrays[f"{prefix}.{name}"] for name in _STORED}
    count, words = trie.node_count, word_count(vocabulary.size)
    read = 0 if machine is None else count
    numbers = numbers_of(machine) if machine is not None else np.full(256, NO_NUMBER, np.uint8)
    rows = _count(numbers)
    expected: dict[str, tuple[type[np.generic], tuple[int | None, ...]]] = {
        "blocks": (np.uint32, (None, words)),
        "number": (np.uint8, (256,)),
        "having": (np.uint32, (rows, words if rows else 0)),
        "sets": (np.uint64, (None, 2)),
        "below": (np.uint16, (read,)),
        "around": (np.uint64, (count, 2)),
        "reading": (np.uint8, (read,)),
        "height": (np.uint16, (count,)),
    }
    fits = nodes.dtype == np.int32 and nodes.shape == (count,)
    for name, (kind, shape) in expected.items():
        array = result[name]
        lengths = zip(array.shape, shape, strict=True) if array.ndim == len(shape) else [(0, 1)]
        fits &= array.dtype == kind and all(b is None or a == b for a, b in lengths)
    fits &= _are_nodes(nodes, vocabulary)
    if machine is not None:
        fits &= bool(result["below"].max(initial=0) < len(result["sets"]))
        fits &= bool(result["reading"].max(initial=0) < len(machine))
        fits &= len(result["blocks"]) > 1 and bool((result["number"] == numbers).all())
    if not fits:
        raise ValueError("stored slices are damaged")
    return Slice(TrieSubset(trie, nodes), machine=machine, **result)


def slices_of(vocabulary: Vocabulary) -> Slices:
    """Return the slices of a vocabulary."""
    trie, size = vocabulary.trie, vocabulary.size
    left = np.ones(len(trie.token_ids), np.bool_)
    node_of_token = np.repeat(np.arange(trie.node_count), np.diff(trie.token_start))
    made = []
    for machine in MACHINES if len(left) >= LEAST_TOKENS else ():
        chosen = left & (_reading(trie, machine)[node_of_token] != 0)
        made.append(_slice(trie, size, chosen, machine))
        left &= ~chosen
    rest, tails = _rest(trie, size, left)
    return Slices((*made, rest), tails)


def _slice(trie: TokenTrie, size: int, chosen: npt.NDArray[np.bool_], machine: Machine) -> Slice:
    subset = subset_of(trie, chosen)
    reading = _reading(subset.trie, machine)
    blocks = _blocks(subset.trie, reading, size)
    result = _characters(subset.trie, machine, size)
    return Slice(subset, blocks, *result, machine, reading, _heights(subset.trie))


def _rest(trie: TokenTrie, size: int, chosen: npt.NDArray[np.bool_]) -> tuple[Slice, Tails]:
    """Return the slice that no machine reads, and its tails; of few tokens nothing is a tail."""
    subset = subset_of(trie, chosen)
    small = subset.trie
    behind = np.zeros(small.node_count, np.bool_)
    if len(trie.token_ids) >= LEAST_TOKENS:
        behind = _reading(small, _ENDING) == len(_ENDING) - 1
    own = _own(small, numbers_of(_TEXT))
    # Tails are walked byte by byte; the sets are of the texts before them.
    own[behind] = 0
    way, under = unite_down_and_up(small.parent, own)
    others = ~np.repeat(behind, np.diff(small.token_start))
    others_before = np.concatenate(([0], np.cumsum(others)))
    has_others = (
        others_before[small.token_start[small.skip]] > others_before[small.token_start[:-1]]
    )
    characters = _Characters.empty()._replace(around=way | under)
    slice_ = Slice(
        subset,
        np.zeros((0, word_count(size)), np.uint32),
        *characters,
        None,
        np.zeros(0, np.uint8),
        np.where(has_others, np.uint16(ENDLESS), _heights(small)),
    )
    ends = np.flatnonzero(behind)
    spelled = build_trie(dict(enumerate(_spelled(small, behind))))
    return slice_, Tails(spelled, subset.nodes[ends], way[ends])


def _spelled(trie: TokenTrie, behind: npt.NDArray[np.bool_]) -> list[bytes]:
    """Return the bytes on the way to each node after a text, from the end of that text on."""
    result: dict[int, bytes] = {}
    for node in np.flatnonzero(behind).tolist():
        result[node] = result.get(int(trie.parent[node]), b"") + bytes([trie.byte[node]])
    return list(result.values())


class _Characters(NamedTuple):
    """See ``Slice``."""

    number: npt.NDArray[np.uint8]
    having: Bitmask
    sets: npt.NDArray[np.uint64]
    below: npt.NDArray[np.uint16]
    around: npt.NDArray[np.uint64]

    @classmethod
    def empty(cls) -> "_Characters":
        rows, sets = np.zeros((0, 0), np.uint32), np.zeros((0, 2), np.uint64)
        return cls(np.full(256, NO_NUMBER, np.uint8), rows, sets, np.zeros(0, np.uint16), sets)


def _blocks(trie: TokenTrie, reading: npt.NDArray[np.uint8], size: int) -> Bitmask:
    """Return the tokens up to each length, and all; a character that was begun is one."""
    begun = count_starts(trie.parent, reading)
    # As 16 bits, which is what NumPy sorts without comparing.
    lengths = np.repeat(begun.astype(np.uint16), np.diff(trie.token_start))
    order = trie.token_ids[np.argsort(lengths, kind="stable")]
    counts = np.bincount(lengths, minlength=MOST_SHORT + 2)
    most = min(MOST_SHORT, int(begun.max()))
    added = np.split(order, np.cumsum(counts))[: most + 1]
    rows = np.zeros((most + 2, word_count(size)), np.uint32)
    for index, ids in enumerate((*added, trie.token_ids)):
        np.bitwise_or(rows[index - 1] if index else 0, pack(ids, size), out=rows[index])
    return rows


def numbers_of(machine: Machine) -> npt.NDArray[np.uint8]:
    """Return the number of the character that begins with each byte."""
    number = np.full(256, NO_NUMBER, np.uint8)
    single = np.flatnonzero(machine[1] == 1)
    longer = np.flatnonzero(machine[1] > 1)
    number[single] = np.arange(len(single))
    number[longer] = len(single) + np.searchsorted(_FIRST_BYTES, longer, "right") - 1
    return number


def _count(number: npt.NDArray[np.uint8]) -> int:
    """Return how many numbers characters have."""
    return len(set(number.tolist()) - {NO_NUMBER})


def _characters(trie: TokenTrie, machine: Machine, size: int) -> _Characters:
    """Return the characters of tokens and nodes: from the root down, and from the leaves up."""
    number = numbers_of(machine)
    own = _own(trie, number)
    way, under = unite_down_and_up(trie.parent, own)
    sets, which = _distinct(under)
    # So many sets are not met; the others stand for all characters.
    below = np.where(which < 2**16 - 1, which + 1, 0).astype(np.uint16)
    having = np.zeros((_count(number), word_count(size)), np.uint32)
    mark_tokens(np.repeat(way, np.diff(trie.token_start), axis=0), trie.token_ids, having)
    sets = np.concatenate((np.full((1, 2), ~np.uint64(0)), sets))
    return _Characters(number, having, sets, below, way | under)


def _own(trie: TokenTrie, number: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return the character that begins at each node, as a set: uint64[n, 2]."""
    own: npt.NDArray[np.uint64] = np.stack([_bits(number, first) for first in (0, 64)], axis=1)
    return own[trie.byte]


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
    """Return a bit for each number, from the first on; 0 for numbers outside of the 64."""
    shift = number.astype(np.int64) - first
    fits = (shift >= 0) & (shift < 64) & (number != NO_NUMBER)
    return np.where(fits, np.uint64(1) << np.where(fits, shift, 0).astype(np.uint64), np.uint64(0))


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


def _ending(machine: Machine) -> Machine:
    """Return the machine that reads texts of some characters of another, and then anything else.

    It is in the last state after the text.
    """
    rows = len(machine)
    read = np.where(machine == 1, rows, machine)
    behind = np.where(read[1] == 0, rows + 1, read[1])
    return np.vstack((read, behind, np.full(256, rows + 1))).astype(np.int32)


_TEXT = _text()

_ENDING = _ending(_TEXT)

MACHINES = (_word(), _TEXT)
"""The narrower one first: its tokens are left out of the other's slice."""

_STORED = ("blocks", "number", "having", "sets", "below", "around", "reading", "height")
"""The arrays of a slice beside those of its trie."""
