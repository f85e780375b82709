"""Recordings of sessions (plays): made of an engine's history, written, replayed and compared.

A recording is a grammar, a vocabulary and the events of a session. It is written as lines of JSON,
the setting first: ``{"schema": "kbnf.play/1", "grammar": {"path", "hash"},
"vocabulary": {"path", "fingerprint", "eos"?}, "start", "finish", "mask"}``. Each line after it is
one event: ``{"token": ID, "text"?, "mask"}`` or ``{"hex": "7b22", "mask"}`` for what was accepted,
``{"assert": "allowed" | "rejected", "token": ID}`` or the same with ``hex``. ``text`` is for people
only. Empty lines, and members that are not named here, are ignored.
"""

import copy
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from kbnf_core.mask.bits import word_count
from kbnf_core.text.errors import EngineError, KbnfError

if TYPE_CHECKING:
    from kbnf_core.engine import Engine
    from kbnf_core.vocab.vocabulary import Vocabulary


What: TypeAlias = int | bytes
"""A token by its id, or plain bytes."""


@dataclass(frozen=True, slots=True)
class Step:
    """``what`` was accepted; ``mask`` is the hash of the tokens allowed after it."""

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
    ``grammar_hash`` and ``fingerprint`` say whether they are still the same.
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


SCHEMA = "kbnf.play/1"

_HASH = re.compile(r"[0-9a-f]{32}")
_FINISHES = ("eager", "token", "eos")


class RecordingError(KbnfError, ValueError):
    """A text that is no recording; ``line`` is the first bad one, counted from 1."""

    def __init__(self, name: str, line: int, reason: str) -> None:
        self.line = line
        self.reason = reason
        super().__init__(f"{name}:{line}: {reason}")


def write_recording(play: Recording, vocabulary: "Vocabulary") -> str:
    """Return the lines of a play; ``vocabulary`` spells the tokens for readers."""
    lines = [_setting_value(play), *(_event_value(event, vocabulary) for event in play.events)]
    return "".join(json.dumps(line) + "\n" for line in lines)


def read_recording(text: str, name: str = "<play>") -> Recording:
    """Return the play in a text; raise PlayError, in which ``name`` stands for the file."""
    lines = [(n, line) for n, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if not lines:
        raise RecordingError(name, 1, "it is empty")
    readers = [_Reader(name, number, line) for number, line in lines]
    setting, mask = readers[0].setting()
    return Recording(setting, mask, tuple(reader.event() for reader in readers[1:]))


def _setting_value(play: Recording) -> dict[str, Any]:
    setting = play.setting
    vocabulary: dict[str, Any] = {
        "path": setting.vocabulary,
        "fingerprint": setting.fingerprint,
    }
    if setting.eos is not None:
        vocabulary["eos"] = list(setting.eos)
    return {
        "schema": SCHEMA,
        "grammar": {"path": setting.grammar, "hash": setting.grammar_hash},
        "vocabulary": vocabulary,
        "start": setting.start,
        "finish": setting.finish,
        "mask": play.mask,
    }


def _event_value(event: Step | Assertion, vocabulary: "Vocabulary") -> dict[str, Any]:
    value: dict[str, Any] = {}
    if isinstance(event, Assertion):
        value["assert"] = "allowed" if event.allowed else "rejected"
    if isinstance(event.what, bytes):
        value["hex"] = event.what.hex()
    else:
        value |= {"token": event.what, "text": vocabulary.token_string(event.what)}
    if isinstance(event, Step):
        value["mask"] = event.mask
    return value


class _Reader:
    """Parses one line; every method raises PlayError with the line's number."""

    def __init__(self, name: str, number: int, line: str) -> None:
        self._name = name
        self._number = number
        try:
            self._value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._error(f"not JSON: {error}") from None
        if not isinstance(self._value, dict):
            raise self._error("not a JSON object")

    def setting(self) -> tuple[Setting, str]:
        """Return the setting and the hash of the first mask."""
        value = self._value
        if value.get("schema") != SCHEMA:
            raise self._error(f"not a play: `schema` should be {SCHEMA!r}")
        grammar, vocabulary = self._object("grammar"), self._object("vocabulary")
        finish = self._text(value, "finish")
        if finish not in _FINISHES:
            raise self._error(f"`finish` should be one of {', '.join(_FINISHES)}")
        setting = Setting(
            self._text(grammar, "path"),
            self._hash(grammar, "hash"),
            self._text(vocabulary, "path"),
            self._hash(vocabulary, "fingerprint"),
            self._eos(vocabulary),
            self._text(value, "start"),
            finish,
        )
        return setting, self._hash(value, "mask")

    def event(self) -> Step | Assertion:
        """Return the step or assertion."""
        verdict = self._value.get("assert")
        if verdict is None:
            return Step(self._what(), self._hash(self._value, "mask"))
        if verdict not in ("allowed", "rejected"):
            raise self._error("`assert` should be allowed or rejected")
        return Assertion(self._what(), verdict == "allowed")

    def _what(self) -> What:
        token = self._value.get("token")
        if type(token) is int and token >= 0:
            return token
        if token is not None:
            raise self._error("`token` should be a token id")
        try:
            return bytes.fromhex(self._text(self._value, "hex"))
        except ValueError:
            raise self._error("`hex` should be hexadecimal digits, or give a `token`") from None

    def _object(self, key: str) -> dict[str, Any]:
        value = self._value.get(key)
        if not isinstance(value, dict):
            raise self._error(f"`{key}` should be an object")
        return value

    def _text(self, value: dict[str, Any], key: str) -> str:
        text = value.get(key)
        if not isinstance(text, str):
            raise self._error(f"`{key}` should be a text")
        return text

    def _hash(self, value: dict[str, Any], key: str) -> str:
        text = self._text(value, key)
        if not _HASH.fullmatch(text):
            raise self._error(f"`{key}` should be 32 hexadecimal digits")
        return text

    def _eos(self, vocabulary: dict[str, Any]) -> tuple[int, ...] | None:
        ids = vocabulary.get("eos")
        if ids is None:
            return None
        if not isinstance(ids, list) or not all(type(each) is int and each >= 0 for each in ids):
            raise self._error("`eos` should be a list of token ids")
        return tuple(ids)

    def _error(self, reason: str) -> RecordingError:
        return RecordingError(self._name, self._number, reason)


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
    """Return whether a token is in the mask, or bytes are viable; the engine does not move.

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
