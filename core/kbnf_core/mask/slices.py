"""Slices: token subsets admitted as a block where the state accepts the slice's whole language.

Where free text is expected nearly all tokens are viable, and walking them all to find that out
dominates the cost of a cold mask. So the tokens accepted by one small automaton (say, characters
special in no format) form a *slice*, with a trie of its own. Where everything that the automaton
accepts is viable for as many bytes as the longest token below a trie node has, a walk admits all
tokens below the node at once: they are a range in the order of the trie. A string of any length
then costs one inclusion check; one with a bound or with excluded values costs what differs: where
all is viable for n bytes, the tokens of so many bytes are admitted, and the longer ones walked.

Each token is in one slice; the last one has the tokens that no automaton accepts, and is walked.
The idea is that of LLGuidance's slicer; its containment check works on regular expressions, this
one on the states of any grammar.
"""

from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.chosen import KERNEL
from kbnf_core.kernel.interface import Parts
from kbnf_core.mask.bits import Bitmask, pack
from kbnf_core.vocab.trie import Part, TokenTrie, part_of
from kbnf_core.vocab.vocabulary import Vocabulary

Machine = npt.NDArray[np.int32]
"""int32[states, 256]: the state after a byte; 0 is dead, 1 the start."""

LEAST_TOKENS = 4_096
"""Tokens that a vocabulary must have for slices to be worth a check in every walk."""


MOST_SHORT = 64
"""Characters; tokens up to each length up to this have a row in a slice. Few are longer."""


RUN = 1_024
"""Tokens; setting the bits of so many, one by one, takes longer than two rows do."""


class Slice(NamedTuple):
    """``part``: the trie of some tokens.

    ``blocks``: uint32[k, words], what may be admitted at once: the bits of the tokens of at most
    0, 1, .. ``MOST_SHORT`` characters, and of all of them. A character is what the machine reads
    until it is at its start again. ``having``: uint32[k, words], the bits of those that have a
    character; first, by their bytes, those of one byte, then any longer one. Without a machine
    there are neither.

    ``fronts``: uint32[k, words], the bits of the first 0, 1, 2, .. times ``run`` tokens in the
    order of the trie; what is between two tokens is the difference of two fronts.

    ``machine`` reads them, None where none does. ``reading``: uint8[n], its state at each node.
    ``height``: uint16[n], bytes from each node to the deepest one below it.
    """

    part: Part
    blocks: Bitmask
    having: Bitmask
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
        made = KERNEL.parts(vocabulary.trie, slices_of(vocabulary))
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
    blocks = having = np.zeros((0, (size + 31) // 32), np.uint32)
    if machine is not None:
        blocks, having = _blocks(part.trie, reading, size), _having(part.trie, machine, size)
    fronts = _fronts(part.trie, size)
    return Slice(part, blocks, having, fronts, RUN, machine, reading, _heights(part.trie))


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


def _having(trie: TokenTrie, machine: Machine, size: int) -> Bitmask:
    """Return the bits of the tokens that have each character."""
    single = np.flatnonzero(machine[1] == 1)
    number = np.full(256, len(single))
    number[single] = np.arange(len(single))
    has = np.zeros((trie.node_count, len(single) + 1), np.bool_)
    for nodes in _levels(trie):
        has[nodes] = has[trie.parent[nodes]]
        has[nodes, number[trie.byte[nodes]]] = True
    of_tokens = np.repeat(has, np.diff(trie.token_start), axis=0)
    return np.stack([pack(trie.token_ids[column], size) for column in of_tokens.T])


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
