"""Shared mask rows: masks of few tokens, kept once a vocabulary for all grammars.

Nearly all masks of a grammar that nobody has seen are masks that another grammar had before: a
quote, a comma or a closing bracket, in each way to go on. A row is known by its content, so
whoever works it out again gets the same array, and touches no new memory for it. Rows of many
tokens stay with their grammar.
"""

from weakref import WeakKeyDictionary

import numpy as np

from kbnf_core.mask.bits import Bitmask, word_count
from kbnf_core.mask.cache import LruDict
from kbnf_core.mask.slices import parts_of
from kbnf_core.vocab.vocabulary import Vocabulary

SHARED_BYTES = 1 << 24
"""The size of all shared rows of one vocabulary, at most."""

Rows = LruDict[bytes, Bitmask]
"""Rows by what ``Pool.sparse`` says of them."""

_rows: WeakKeyDictionary[Vocabulary, Rows] = WeakKeyDictionary()


def shared_rows(vocabulary: Vocabulary) -> Rows:
    """Return the shared rows of a vocabulary."""
    found = _rows.get(vocabulary)
    if found is None:
        blocks = parts_of(vocabulary).blocks
        room = SHARED_BYTES // (4 * word_count(vocabulary.size) + 1)
        rows: Rows = LruDict(lambda key: _row(key, blocks), room)
        found = _rows.setdefault(vocabulary, rows)
    return found


def _row(key: bytes, blocks: Bitmask) -> Bitmask:
    content = np.frombuffer(key, np.int32)
    chosen = int(content[:2].view(np.uint64)[0])
    words = np.zeros(blocks.shape[1], np.uint32)
    for number in range(len(blocks)):
        if chosen >> number & 1:
            words |= blocks[number]
    words[content[2::2]] |= content[3::2].view(np.uint32)
    words.setflags(write=False)
    return words
