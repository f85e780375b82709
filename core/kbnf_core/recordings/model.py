"""A recording as a value (a grammar, a vocabulary, the events of the session), and as JSON lines.

The first line holds the setting: ``{"schema": "kbnf.play/1", "grammar": {"path", "hash"},
"vocabulary": {"path", "fingerprint", "eos"?}, "start", "finish", "mask"}``. Each line after it is
one event: ``{"token": ID, "text"?, "mask"}`` or ``{"hex": "7b22", "mask"}`` for what was accepted,
``{"assert": "allowed" | "rejected", "token": ID}`` or the same with ``hex``. ``text`` is for people
only. Empty lines, and members that are not named here, are ignored.
"""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from kbnf_core.errors import KbnfError

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary

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
