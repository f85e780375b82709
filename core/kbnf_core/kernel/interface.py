"""What a kernel offers, and what it needs of the values it works on."""

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Ids = npt.NDArray[np.int32]
Words = npt.NDArray[np.uint32]
Exits = tuple[Ids, Ids]
"""(trie nodes with an exit, the state at each of them)"""


class Transitions(Protocol):
    """A transition table that grows while it is used; see ``recognise.states.StateTable``."""

    next: Ids
    has_exits: npt.NDArray[np.uint8]

    def step(self, state: int, byte_class: int) -> int:
        """Return the state after a byte of ``byte_class``, and note it in ``next``."""


class Explorable(Protocol):
    """A transition table that can work out its transitions itself, in Python."""

    def explore_plainly(self, state: int, byte_class: int) -> int:
        """Return the state after a byte of ``byte_class``."""


class TrieArrays(Protocol):
    """The arrays of a ``vocab.trie.TokenTrie`` that a walk reads."""

    @property
    def byte(self) -> npt.NDArray[np.uint8]:
        """Return uint8[n], the byte that leads to the node."""

    @property
    def skip(self) -> Ids:
        """Return int32[n], the first node behind the subtree."""

    @property
    def depth(self) -> npt.NDArray[np.uint16]:
        """Return uint16[n], bytes from the root."""

    @property
    def child_start(self) -> Ids:
        """Return int32[n + 1]."""

    @property
    def child(self) -> Ids:
        """Return int32[n - 1]."""

    @property
    def token_start(self) -> Ids:
        """Return int32[n + 1]."""

    @property
    def token_ids(self) -> Ids:
        """Return int32[m]."""


class Kernel(Protocol):
    """What both kernels offer."""

    NAME: str

    def explorer(self, table: Explorable) -> Callable[[int, int], int]:
        """Return the function that works out the transitions of ``table``, a StateTable.

        Its results are those of ``explore_plainly``. The caller holds the table's lock.
        """

    def walk(
        self,
        table: Transitions,
        trie: TrieArrays,
        classes: npt.NDArray[np.uint8],
        start: int,
        roots: Ids,
        words: Words,
    ) -> Exits:
        """Follow trie and table below each of ``roots``, in each from state ``start``.

        ``classes`` is uint8[256], the class of each byte. The tokens whose node was reached are
        written to ``words``, which is overwritten whole. Returns the nodes at which a
        state with exits was reached, and these states, in no particular order.
        """

    def fill(self, out: npt.NDArray[np.int32], words: Words) -> None:
        """Copy ``words`` to the front of ``out``, and zeros to the rest.

        Raises ValueError unless ``out`` is one-dimensional contiguous int32 and long enough.
        """

    def apply(self, words: Words, size: int, logits: npt.NDArray[Any]) -> None:
        """Set logits whose bit is not set, and all from ``size`` on, to minus infinity, in place.

        ``logits`` is contiguous, writable, one-dimensional float32 or float64, at least ``size``.
        """
