"""The per-token path of an engine, in plain Python; the compiled kernel has the same class.

Everything that takes more than a lookup is left to two methods that ``Engine`` supplies.
"""

from operator import index
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.result import AcceptTokenResult

_ONGOING = AcceptTokenResult.Ongoing
_FINISHED = AcceptTokenResult.Finished


class EngineCore:
    """A position in a text, and the history that led there."""

    _automaton: Any
    """A ``mask.token_automaton.TokenAutomaton``."""

    _position: int
    _accepted: list[int | bytes]
    _positions: list[int]
    _allowed: npt.NDArray[np.uint32]

    def _use(self, automaton: Any) -> None:
        """Switch to ``automaton``; the caller sets the position."""
        self._automaton = automaton
        self._words = automaton.words
        self._nothing = automaton.no_mask()

    def _position_after(self, token_id: int) -> int:
        """Return the position after a token; raise if the token is not allowed."""
        raise NotImplementedError

    def _mask_here(self) -> npt.NDArray[np.uint32]:
        """Compute the mask of this position on a cache miss."""
        raise NotImplementedError

    def _last_row(self) -> npt.NDArray[np.uint32]:
        """Return the mask row of a position without allowed tokens."""
        raise NotImplementedError

    def _row_of(self, out: Any, row: Any) -> npt.NDArray[np.int32]:
        """Return a row of a bitmask as a one-dimensional array."""
        raise NotImplementedError

    def try_accept_new_token(self, token_id: int) -> AcceptTokenResult:
        """Append a token.

        Raises ``FinishedError``, ``UnknownTokenError`` or ``RejectedError``, tested in that
        order. An empty token changes nothing. The allowed tokens are not recomputed.
        """
        token_id = index(token_id)
        after = self._position_after(token_id)
        self._accepted.append(token_id)
        self._positions.append(self._position)
        self._position = after
        return _ONGOING if after >= 0 else _FINISHED

    def compute_allowed_token_ids(self) -> None:
        """Compute the tokens that can come next; after the end, none."""
        self._allowed = self._find_allowed()

    def fill_bitmask(self, out: Any, row: SupportsIndex | None = None) -> None:
        """Compute what is allowed here and write it as bits into ``out``, or a row of it.

        ``out``: int32, contiguous, one-dimensional, or two-dimensional with ``row``, or one row: a
        NumPy array, a torch tensor, what has the buffer protocol or DLPack. Bit ``id % 32`` of
        word ``id // 32``; surplus words become 0. Where no token can come, these are the ids that
        end the sequence; without any, all ids after the end and none before it. Raises
        ``ValueError`` unless ``out`` has a bit for each id, ``TypeError`` for what is no bitmask.
        """
        from kbnf_core.kernel.numpy_kernel import fill

        out = self._row_of(out, row)
        words = self._find_allowed()
        fill(out, words if words is not self._nothing else self._last_row())
        self._allowed = words

    def _row_words(self) -> npt.NDArray[np.uint32]:
        """Return the words that ``fill_bitmask`` writes."""
        words = self._find_allowed()
        return words if words is not self._nothing else self._last_row()

    def _find_allowed(self) -> npt.NDArray[np.uint32]:
        words: npt.NDArray[np.uint32] | None = self._words.get(self._position)
        return self._mask_here() if words is None else words
