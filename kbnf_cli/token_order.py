"""The tokens of a vocabulary in the orders that lists show them in."""

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from kbnf_core.mask.bits import pack, unpack
from kbnf_core.vocab.trie import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kbnf_core.vocab.vocabulary import Vocabulary

_Ids = npt.NDArray[np.int32]


class TokenOrder:
    """All tokens that have bytes: ``by_bytes``, and ``by_length`` (then by their bytes).

    Both are int32; ``first_byte`` is uint8[vocabulary size], by token id.
    """

    def __init__(self, vocabulary: "Vocabulary") -> None:
        trie = vocabulary.trie
        self._size = vocabulary.size
        self.by_bytes: _Ids = trie.token_ids
        nodes = np.repeat(np.arange(trie.node_count), np.diff(trie.token_start))
        self.by_length: _Ids = trie.token_ids[np.argsort(trie.depth[nodes], kind="stable")]
        self.first_byte = np.zeros(self._size, np.uint8)
        for child in trie.children(ROOT).tolist():
            self.first_byte[trie.subtree_ids(child)] = trie.byte[child]

    def split(self, ids: "Sequence[int]") -> tuple[npt.NDArray[np.bool_], list[int]]:
        """Return ``ids`` as flags by token id, and those of them that have no bytes."""
        flags = unpack(pack(list(ids), self._size), self._size)
        others = flags.copy()
        others[self.by_bytes] = False
        return flags, np.flatnonzero(others).tolist()


_ORDERS: "WeakKeyDictionary[Vocabulary, TokenOrder]" = WeakKeyDictionary()


def order_of(vocabulary: "Vocabulary") -> TokenOrder:
    """Return the orders of a vocabulary, the same object each time."""
    found = _ORDERS.get(vocabulary)
    if found is None:
        found = _ORDERS[vocabulary] = TokenOrder(vocabulary)
    return found
