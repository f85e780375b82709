"""Replays a recording and reports the first divergence."""

import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbnf_core.errors import EngineError
from kbnf_core.recordings.model import Assertion, Recording, Step, What
from kbnf_core.recordings.record import accept, grammar_hash, mask_hash

if TYPE_CHECKING:
    from kbnf_core.engine import Engine


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first divergence of a replay: ``event`` is its index, -1 for the beginning.

    ``kind`` is ``vocabulary`` (another one: its token ids mean other things, so nothing was
    played), ``rejected`` (a step is not accepted any more), ``mask`` (other tokens are allowed),
    or ``assertion``. ``message`` is for people.
    """

    event: int
    kind: str
    message: str


@dataclass(frozen=True, slots=True)
class Replay:
    """``engine`` is at the position after the last accepted step."""

    engine: "Engine"
    divergences: tuple[Divergence, ...]
    is_grammar_changed: bool


def replay(play: Recording, engine: "Engine") -> Replay:
    """Replay ``play`` from the beginning on a copy of ``engine``, which does not move.

    A rejected step ends it; other masks and failed assertions do not. A grammar whose text has
    changed is no divergence by itself: recordings exist to show what that changes.
    """
    player = copy.copy(engine)
    player.reset()
    setting = play.setting
    changed = grammar_hash(engine.grammar.source.text) != setting.grammar_hash
    if engine.vocabulary.fingerprint != setting.fingerprint:
        message = (
            f"the vocabulary's fingerprint is {engine.vocabulary.fingerprint}, "
            f"the play was made with {setting.fingerprint}"
        )
        return Replay(player, (Divergence(-1, "vocabulary", message),), changed)
    return Replay(player, tuple(_play(play, player)), changed)


def _play(play: Recording, player: "Engine") -> list[Divergence]:
    found = _compare(-1, player, play.mask)
    for index, event in enumerate(play.events):
        if isinstance(event, Assertion):
            found += _check(index, player, event)
            continue
        refused = _refusal(index, player, event)
        if refused is not None:
            return [*found, refused]
        found += _compare(index, player, event.mask)
    return found


def _refusal(index: int, player: "Engine", step: Step) -> Divergence | None:
    try:
        accept(player, step.what)
    except EngineError as error:
        return Divergence(index, "rejected", str(error))
    return None


def _compare(index: int, player: "Engine", mask: str) -> list[Divergence]:
    if mask_hash(player) == mask:
        return []
    count = len(player.get_allowed_token_ids_from_last_computation())
    message = f"other tokens are allowed here than before (now {count:,})"
    return [Divergence(index, "mask", message)]


def _check(index: int, player: "Engine", assertion: Assertion) -> list[Divergence]:
    if can_come(player, assertion.what) == assertion.allowed:
        return []
    verdict = "is not allowed here" if assertion.allowed else "is allowed here"
    return [Divergence(index, "assertion", f"{show(assertion.what)} {verdict}")]


def can_come(engine: "Engine", what: What) -> bool:
    """Tell whether a token is in the mask, or bytes are viable; the engine does not move.

    A token that the vocabulary does not have, or that is empty, cannot.
    """
    if isinstance(what, int):
        engine.compute_allowed_token_ids()
        return what in engine.get_allowed_token_ids_from_last_computation()
    try:
        copy.copy(engine).try_accept_new_bytes(what)
    except EngineError:
        return False
    return bool(what)


def show(what: What) -> str:
    """Return the name of a token or bytes in a message."""
    return f"token {what}" if isinstance(what, int) else repr(what)
