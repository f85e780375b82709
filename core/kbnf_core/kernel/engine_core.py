"""The position in a text, plainly: what an engine does for every token, in Python.

Everything that takes more than a lookup is left to two methods that ``Engine`` supplies.
"""

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from kbnf_core.kernel.result import AcceptTokenResult

_ONGOING = AcceptTokenResult.Ongoing
_FINISHED = AcceptTokenResult.Finished


class EngineCore:
    """A place in a text, and the way that led there; the compiled kernel has the same class."""

    _automaton: Any
    """A ``mask.automaton.TokenAutomaton``."""

    _position: int
    _accepted: list[int | bytes]
    _positions: list[int]
    _allowed: npt.NDArray[np.uint32]

    def _use(self, automaton: Any) -> None:
        """Go on with ``automaton``; the place is for the caller to set."""
        self._automaton = automaton
        self._words = automaton.words

    def _position_after(self, token_id: int) -> int:
        """Return the place after a token; raise if it cannot come."""
        raise NotImplementedError

    def _mask_here(self) -> npt.NDArray[np.uint32]:
        """Return what is allowed here, where it was not known."""
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
        """Work out which tokens can come next; after the end, none."""
        self._allowed = self._find_allowed()

    def fill_bitmask(self, out: npt.NDArray[np.int32]) -> None:
        """Compute what is allowed here and write it as bits into ``out``, int32[words].

        Bit ``id % 32`` of word ``id // 32``; surplus words become 0. Raises ``ValueError`` unless
        ``out`` is one-dimensional contiguous int32 with a bit for each id.
        """
        from kbnf_core.kernel.numpy_kernel import fill

        words = self._find_allowed()
        fill(out, words)
        self._allowed = words

    def _find_allowed(self) -> npt.NDArray[np.uint32]:
        words: npt.NDArray[np.uint32] | None = self._words.get(self._position)
        return self._mask_here() if words is None else words
