"""The deterministic automaton that every regular part of a grammar becomes."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

DEAD = -1


@dataclass(frozen=True, eq=False)
class Dfa:
    """A deterministic automaton over bytes, trimmed: every state can reach acceptance.

    ``classes`` is uint8[256], the byte class of each byte; ``next`` is int32[states, classes],
    ``DEAD`` where no word continues; ``accepting`` is bool[states]. State 0 is the start.
    The empty language has no states at all.
    """

    classes: npt.NDArray[np.uint8]
    next: npt.NDArray[np.int32]
    accepting: npt.NDArray[np.bool_]

    @property
    def state_count(self) -> int:
        """Number of states."""
        return len(self.accepting)

    @property
    def is_empty(self) -> bool:
        """Whether no word at all is accepted."""
        return self.state_count == 0

    @property
    def is_nullable(self) -> bool:
        """Whether the empty word is accepted."""
        return not self.is_empty and bool(self.accepting[0])

    def accepts(self, word: bytes) -> bool:
        """Tell whether ``word`` is in the language."""
        if self.is_empty:
            return False
        state = 0
        for byte in word:
            state = int(self.next[state, self.classes[byte]])
            if state == DEAD:
                return False
        return bool(self.accepting[state])
