"""Recording an engine's history, and the hashes of grammar and masks stored with it."""

import copy
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from kbnf_core.mask.bits import word_count
from kbnf_core.recordings.model import Assertion, Recording, Setting, Step, What

if TYPE_CHECKING:
    from kbnf_core.engine import Engine

_HASH_BYTES = 16


def grammar_hash(text: str) -> str:
    """Return 32 hexadecimal digits for a grammar's text (BLAKE2b of its UTF-8)."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH_BYTES).hexdigest()


def mask_hash(engine: "Engine") -> str:
    """Return 32 hexadecimal digits for the tokens allowed at the engine's position.

    BLAKE2b of the mask's words, little-endian uint32, bit ``id % 32`` of word ``id // 32``.
    """
    words = np.zeros(word_count(engine.vocabulary.size), np.int32)
    engine.fill_bitmask(words)
    return blake2b(words.astype("<i4").tobytes(), digest_size=_HASH_BYTES).hexdigest()


def accept(engine: "Engine", what: What) -> None:
    """Append a token or bytes; raises what the engine raises."""
    if isinstance(what, int):
        engine.try_accept_new_token(what)
    else:
        engine.try_accept_new_bytes(what)


def record(
    engine: "Engine",
    grammar: str,
    vocabulary: str,
    eos: tuple[int, ...] | None = None,
    assertions: Mapping[int, Sequence[Assertion]] | None = None,
) -> Recording:
    """Return the play that leads from the beginning to the engine's position.

    ``grammar``, ``vocabulary`` and ``eos`` are those of ``Setting``; ``assertions`` were made after
    that many steps. The engine stays where it is.
    """
    player = copy.copy(engine)
    player.reset()
    made = assertions or {}
    beginning = mask_hash(player)
    events: list[Step | Assertion] = [*made.get(0, ())]
    for count, what in enumerate(engine.accepted, start=1):
        accept(player, what)
        events += [Step(what, mask_hash(player)), *made.get(count, ())]
    setting = Setting(
        grammar,
        grammar_hash(engine.grammar.source.text),
        vocabulary,
        engine.vocabulary.fingerprint,
        eos,
        engine.grammar.start,
        engine.finish.value,
    )
    return Recording(setting, beginning, tuple(events))
