"""What an engine must answer, token by token: the three ways to finish, by their definitions."""

from dataclasses import dataclass, replace
from enum import Enum

from kbnf_testing.earley import Recogniser
from kbnf_testing.grammar import word_of
from kbnf_testing.vocabulary import Tokens


class Outcome(Enum):
    """What offering a token leads to."""

    ONGOING = "Ongoing"
    FINISHED = "Finished"
    REJECTED = "Rejected"
    UNKNOWN = "Unknown"
    AFTER_END = "AfterEnd"


ACCEPTED = frozenset({Outcome.ONGOING, Outcome.FINISHED})


@dataclass(frozen=True, slots=True)
class Position:
    """Where a generation is.

    ``histories`` are the viable words that the tokens so far can be read as (more than one only
    where a token can stand for itself as well as for its bytes).
    """

    histories: frozenset[str] = frozenset({""})
    finished: bool = False


@dataclass(frozen=True, slots=True)
class ReferenceEngine:
    """A grammar and a vocabulary under one way to finish (``eager``, ``token`` or ``eos``)."""

    recogniser: Recogniser
    tokens: Tokens
    finish: str

    def can_finish(self, position: Position) -> bool:
        """Return whether the text may end here: it is over, or ``eos`` could end it."""
        return position.finished or (self.finish == "eos" and self.is_complete(position))

    def is_complete(self, position: Position) -> bool:
        """Return whether the text so far is in the language."""
        return any(self.recogniser.contains(word) for word in position.histories)

    def offer(self, position: Position, token_id: int) -> tuple[Outcome, Position]:
        """Return the outcome of a token, and the position after it (unchanged if refused)."""
        if position.finished:
            return Outcome.AFTER_END, position
        if token_id not in self.tokens:
            return Outcome.UNKNOWN, position
        if token_id in self.tokens.eos:
            return self._end(position)
        if self.tokens.ordinary.get(token_id) == b"":
            return Outcome.ONGOING, position
        return self._read(position, list(self.tokens.readings(token_id)))

    def offer_bytes(self, position: Position, data: bytes) -> tuple[Outcome, Position]:
        """Return the outcome of plain bytes."""
        if position.finished:
            return Outcome.AFTER_END, position
        if data == b"":
            return Outcome.ONGOING, position
        return self._read(position, [word_of(data)])

    def allowed(self, position: Position) -> list[int]:
        """Return the ids in a mask: those that can be accepted, empty tokens left out."""
        return [
            token_id
            for token_id in self.tokens.ids()
            if self.tokens.ordinary.get(token_id) != b""
            and self.offer(position, token_id)[0] in ACCEPTED
        ]

    def _end(self, position: Position) -> tuple[Outcome, Position]:
        if self.can_finish(position):
            return Outcome.FINISHED, replace(position, finished=True)
        return Outcome.REJECTED, position

    def _read(self, position: Position, readings: list[str]) -> tuple[Outcome, Position]:
        words = frozenset(
            history + reading
            for reading in readings
            if not self._ends_inside(position, reading)
            for history in position.histories
            if self.recogniser.viable(history + reading)
        )
        if not words:
            return Outcome.REJECTED, position
        after = Position(words)
        if self.finish != "eos" and self.is_complete(after):
            return Outcome.FINISHED, replace(after, finished=True)
        return Outcome.ONGOING, after

    def _ends_inside(self, position: Position, reading: str) -> bool:
        """Return whether ``eager`` would be finished before the last symbol of ``reading``."""
        return self.finish == "eager" and any(
            self.recogniser.contains(history + reading[:end])
            for history in position.histories
            for end in range(1, len(reading))
        )
