"""The three ways to finish: each decides how bytes are fed, what is masked, when a text is over.

See ``config.Finish``.
"""

from typing import Protocol

from kbnf_core.config import Finish
from kbnf_core.mask.masks import Masks, Rows
from kbnf_core.recognise.states import StateTable


class FinishPolicy(Protocol):
    """The decisions of one way to finish.

    ``ends_at_bytes``: whether the text is over with the first byte that completes the start, and
    ``ends_at_tokens``: with the first token after which the start is complete.
    """

    ends_at_bytes: bool
    ends_at_tokens: bool

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Return the state after ``data`` and the number of bytes consumed; DEAD if not all."""

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the numbers of the masks that together have the tokens allowed in a state."""

    def takes_eos(self, complete: bool) -> bool:
        """Return whether the end of sequence is allowed where the start is ``complete``."""


class EagerFinish:
    """Over at the first byte that completes the start."""

    ends_at_bytes = True
    ends_at_tokens = True

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed one byte after the other; nothing may follow a complete text."""
        return states.feed_eagerly(state, data)

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the tokens that do not extend a complete text."""
        return masks.prefix_free(state)

    def takes_eos(self, complete: bool) -> bool:
        """Refuse it: the engine is finished before."""
        del complete
        return False


class TokenFinish(EagerFinish):
    """Over at the first token end at which the start is complete."""

    ends_at_bytes = False

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed all bytes, whatever is complete on the way."""
        return states.feed(state, data)

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the viable tokens."""
        return masks.viable(state)


class EosFinish:
    """Over with the end-of-sequence token only."""

    ends_at_bytes = False
    ends_at_tokens = False

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed all bytes, whatever is complete on the way."""
        return states.feed(state, data)

    def rows(self, masks: Masks, state: int) -> Rows:
        """Return the viable tokens, and the end of sequence where the start is complete."""
        return masks.viable_or_eos(state) if masks.is_complete(state) else masks.viable(state)

    def takes_eos(self, complete: bool) -> bool:
        """Allow the end of sequence where the start is complete."""
        return complete


_RULES: dict[Finish, FinishPolicy] = {
    Finish.EAGER: EagerFinish(),
    Finish.TOKEN: TokenFinish(),
    Finish.EOS: EosFinish(),
}


def finish_rule(finish: Finish) -> FinishPolicy:
    """Return what ``finish`` decides."""
    return _RULES[finish]
