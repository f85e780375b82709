"""The deterministic automaton that every regular part of a grammar becomes."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

DEAD = -1


class Dfa:
    """A deterministic automaton over bytes, trimmed: every state can reach acceptance.

    ``columns[byte]`` is the class of a byte; ``rows[state][class]`` is the next state, ``DEAD``
    where no word continues; ``ends[state]`` tells whether a word may end. State 0 is the start.
    The empty language has no states at all.

    The same as arrays: ``classes``, uint8[256]; ``next``, int32[states, classes]; ``accepting``,
    bool[states]. An automaton is made of one of the two, and gives the other when asked for it.
    """

    def __init__(
        self,
        classes: "npt.NDArray[np.uint8]",
        next: "npt.NDArray[np.int32]",  # noqa: A002 - as in the field
        accepting: "npt.NDArray[np.bool_]",
    ) -> None:
        self.__dict__.update(classes=classes, next=next, accepting=accepting)
        self.state_count = len(accepting)

    @classmethod
    def of_rows(cls, columns: bytes, rows: Sequence[Sequence[int]], ends: Sequence[bool]) -> "Dfa":
        """Return an automaton made of lists."""
        dfa = object.__new__(cls)
        dfa.__dict__.update(columns=columns, rows=rows, ends=ends)
        dfa.state_count = len(ends)
        return dfa

    @cached_property
    def columns(self) -> bytes:
        """The class of each byte."""
        return self.classes.tobytes()

    @cached_property
    def rows(self) -> Sequence[Sequence[int]]:
        """The next states, by state and class."""
        rows: list[list[int]] = self.next.tolist()
        return rows

    @cached_property
    def ends(self) -> Sequence[bool]:
        """For each state, whether a word may end there."""
        ends: list[bool] = self.accepting.tolist()
        return ends

    @cached_property
    def classes(self) -> "npt.NDArray[np.uint8]":
        """``columns`` as an array."""
        import numpy as np

        return np.frombuffer(self.columns, np.uint8)

    @cached_property
    def next(self) -> "npt.NDArray[np.int32]":
        """``rows`` as an array."""
        import numpy as np

        return np.array(self.rows, np.int32).reshape(self.state_count, max(self.columns) + 1)

    @cached_property
    def accepting(self) -> "npt.NDArray[np.bool_]":
        """``ends`` as an array."""
        import numpy as np

        return np.array(self.ends, np.bool_)

    @property
    def is_empty(self) -> bool:
        """Whether no word at all is accepted."""
        return self.state_count == 0

    @property
    def is_nullable(self) -> bool:
        """Whether the empty word is accepted."""
        return not self.is_empty and bool(self.ends[0])

    def accepts(self, word: bytes) -> bool:
        """Tell whether ``word`` is in the language."""
        if self.is_empty:
            return False
        state = 0
        for byte in word:
            state = self.rows[state][self.columns[byte]]
            if state == DEAD:
                return False
        return bool(self.ends[state])
