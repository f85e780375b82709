"""Waiting: what each token does while all is free, until a text has come that a grammar follows.

The text, ``</think>`` say, may end in the midst of a token; the rest belongs to the grammar. A
position is how many bytes of the text the last bytes are, the most there are (Knuth, Morris and
Pratt 1977). Most tokens lead back to position 0 from all of them; the others are looked at singly.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.vocab.vocabulary import Vocabulary

Outcome = int | bytes
"""The position after a token; or the bytes behind the text, which has come."""


@dataclass(frozen=True, slots=True, eq=False)
class Waits:
    """What tokens do to the wait for a text of ``len(outcomes[0])`` bytes.

    ``outcomes[kind]``: by position, what a token of a kind does; those of kind 0 lead to position
    0. ``kind``: int32[width], -1 for ids that are no token.
    """

    kind: npt.NDArray[np.int32]
    outcomes: list[tuple[Outcome, ...]]


def waits_for(text: bytes, vocabulary: Vocabulary, width: int) -> Waits:
    """Return what each token does; one without bytes counts as its name."""
    kind = np.full(width, -1, np.int32)
    kinds: dict[tuple[Outcome, ...], int] = {(0,) * len(text): 0}
    parts = _Parts(text)
    for token_id, data in _spelled(vocabulary).items():
        outcome = parts.outcome(data)
        kind[token_id] = 0 if outcome is None else kinds.setdefault(outcome, len(kinds))
    return Waits(kind, list(kinds))


def _spelled(vocabulary: Vocabulary) -> dict[int, bytes]:
    nameless = vocabulary.eos_token_ids.union(vocabulary.special_tokens.values())
    names = {each: (vocabulary.token_string(each) or "").encode() for each in nameless}
    return {**vocabulary.tokens, **names}


class _Parts:
    """The parts of a text; tokens that touch none of them do nothing to the wait for it."""

    def __init__(self, text: bytes) -> None:
        self._text = text
        self._beginnings = tuple(text[:end] for end in range(1, len(text)))
        self._ends = tuple(text[start:] for start in range(1, len(text)))

    def outcome(self, data: bytes) -> tuple[Outcome, ...] | None:
        """Return what a token does at each position; None where it leads to 0 from all."""
        text = self._text
        if not (
            data in text
            or text in data
            or data.startswith(self._ends)
            or data.endswith(self._beginnings)
        ):
            return None
        return tuple(self._after(text[:place] + data) for place in range(len(text)))

    def _after(self, seen: bytes) -> Outcome:
        _, found, rest = seen.partition(self._text)
        if found:
            return rest
        ends = (len(each) for each in reversed(self._beginnings) if seen.endswith(each))
        return next(ends, 0)
