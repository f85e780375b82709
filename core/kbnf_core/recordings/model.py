"""A recording as a value: a grammar, a vocabulary, and the events of the session."""

from dataclasses import dataclass
from typing import TypeAlias

What: TypeAlias = int | bytes
"""A token by its id, or plain bytes."""


@dataclass(frozen=True, slots=True)
class Step:
    """``what`` was accepted; ``mask`` is the hash of the tokens allowed behind it."""

    what: What
    mask: str


@dataclass(frozen=True, slots=True)
class Assertion:
    """An assertion between two steps: ``what`` is allowed here, or rejected."""

    what: What
    allowed: bool


@dataclass(frozen=True, slots=True)
class Setting:
    """What a play was made with.

    ``grammar`` and ``vocabulary`` are paths, relative to the play's own folder, or ``bytes`` for
    the built-in vocabulary; ``eos`` are stop ids given in place of its own (None if none were).
    ``grammar_hash`` and ``fingerprint`` tell whether they are still the same.
    """

    grammar: str
    grammar_hash: str
    vocabulary: str
    fingerprint: str
    eos: tuple[int, ...] | None
    start: str
    finish: str


@dataclass(frozen=True, slots=True)
class Recording:
    """``mask`` is the hash of the tokens allowed at the beginning."""

    setting: Setting
    mask: str
    events: tuple[Step | Assertion, ...]
