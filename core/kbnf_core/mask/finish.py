"""The three ways to end, as what each decides: how bytes are fed, what is masked, when it is over.

``design/engine.md`` of the project calls this setting ``finish``; see ``config.Finish``.
"""

from typing import Protocol

from kbnf_core.config import Finish
from kbnf_core.mask.bits import Words, pack
from kbnf_core.mask.masks import Masks
from kbnf_core.recognise.states import DEAD, StateTable


class FinishRule(Protocol):
    """What a way to end decides."""

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Return the state after ``data`` and how many bytes could come; DEAD if not all."""

    def mask(self, masks: Masks, state: int) -> Words:
        """Return the tokens allowed in a state."""

    def is_over(self, complete: bool) -> bool:
        """Tell whether a token that leaves the start ``complete`` ends the text."""

    def takes_eos(self, complete: bool) -> bool:
        """Tell whether the end of sequence is allowed where the start is ``complete``."""


class EagerFinish:
    """Over at the first byte that completes the start."""

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed one byte after the other; nothing may follow a complete text."""
        for offset, byte in enumerate(data):
            if offset and states.exits(state):
                return DEAD, offset
            state = states.step(state, int(states.tables.classes[byte]))
            if state == DEAD:
                return DEAD, offset
        return state, len(data)

    def mask(self, masks: Masks, state: int) -> Words:
        """Return the tokens that do not go on behind a complete text."""
        return masks.prefix_free(state)

    def is_over(self, complete: bool) -> bool:
        """Tell that a complete text ends it."""
        return complete

    def takes_eos(self, complete: bool) -> bool:
        """Refuse it: the engine is finished before."""
        del complete
        return False


class TokenFinish(EagerFinish):
    """Over at the first token end at which the start is complete."""

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed all bytes, whatever is complete on the way."""
        return states.feed(state, data)

    def mask(self, masks: Masks, state: int) -> Words:
        """Return the viable tokens."""
        return masks.viable(state)


class EosFinish:
    """Over with the end-of-sequence token only."""

    def feed(self, states: StateTable, state: int, data: bytes) -> tuple[int, int]:
        """Feed all bytes, whatever is complete on the way."""
        return states.feed(state, data)

    def mask(self, masks: Masks, state: int) -> Words:
        """Return the viable tokens, and the end of sequence where the start is complete."""
        words = masks.viable(state)
        if not masks.is_complete(state):
            return words
        vocabulary = masks.vocabulary
        return words | pack(sorted(vocabulary.eos_token_ids), vocabulary.size)

    def is_over(self, complete: bool) -> bool:
        """Tell that no ordinary token ends it."""
        del complete
        return False

    def takes_eos(self, complete: bool) -> bool:
        """Allow the end of sequence where the start is complete."""
        return complete


_RULES: dict[Finish, FinishRule] = {
    Finish.EAGER: EagerFinish(),
    Finish.TOKEN: TokenFinish(),
    Finish.EOS: EosFinish(),
}


def finish_rule(finish: Finish) -> FinishRule:
    """Return what ``finish`` decides."""
    return _RULES[finish]
