"""What a grammar did to a model: logs of log probabilities, replayed against the masks.

A log has, for each token that was taken, the most likely tokens of the unconstrained distribution.
The grammar changed a step where the most likely of these cannot come; the *removed mass* is the
probability of all listed tokens that cannot. Logs are JSON lines: one for each token, or whole
responses as OpenAI, vLLM and llama.cpp's server write them.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import exp
from typing import Any

from kbnf_core.engine import Engine
from kbnf_core.text.errors import EngineError, KbnfError
from kbnf_core.vocab.vocabulary import Vocabulary

SHORTEST_LOOP = 8
"""Tokens of nothing but whitespace, one after the other, that count as a loop."""

_AS_ID = "token_id:"
"""What vLLM puts before ids with ``--return-tokens-as-token-ids``."""


class LogError(KbnfError, ValueError):
    """A log that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        super().__init__(f"line {line}: {reason}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token, by its id, and its log probability; the id is None for one that is not known."""

    token_id: int | None
    logprob: float


@dataclass(frozen=True, slots=True)
class Logged:
    """A token that was taken, and the most likely ones at that step. ``line``: of the log."""

    taken: Candidate
    top: tuple[Candidate, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Change:
    """A step at which the grammar removed the model's choice.

    ``margin``: by how much the log probability of the choice is above that of the most likely
    listed token that can come, None where none is listed. ``removed``: the probability of the
    listed tokens that cannot come. ``is_canonical``: whether the tokenizer itself would write the
    token that was taken there; None where it is not known.
    """

    text: int
    step: int
    choice: int | None
    taken: int | None
    margin: float | None
    removed: float
    rule: str
    is_canonical: bool | None


@dataclass(slots=True)
class Trace:
    """What was found in a log.

    ``removed`` and ``changes_by_rule``: sums by rule, of the removed probability of all steps and
    of the number of changes. ``loops``: the lengths of runs of whitespace tokens. ``rejected``:
    lines whose token the grammar does not take, at which their text was given up.
    """

    texts: int = 0
    steps: int = 0
    forced_bytes: int = 0
    bytes: int = 0
    noncanonical: int = 0
    changes: list[Change] = field(default_factory=list)
    removed: dict[str, float] = field(default_factory=dict)
    loops: list[int] = field(default_factory=list)
    rejected: list[int] = field(default_factory=list)

    @property
    def changes_by_rule(self) -> Counter[str]:
        """The number of changes by rule."""
        return Counter(change.rule for change in self.changes)


def read_log(lines: Iterable[str], vocabulary: Vocabulary) -> Iterator[list[Logged]]:
    """Yield the texts of a log; lines of one token each are one text.

    Raises ``LogError`` for a line that is neither a token nor a response.
    """
    single: list[Logged] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise LogError(number, "this is no JSON") from None
        if not isinstance(value, dict):
            raise LogError(number, "a token or a response is a JSON object")
        reader = _Reader(vocabulary, number)
        texts = reader.texts(value)
        if texts is None:
            single.append(reader.token(value))
            continue
        if single:
            yield single
            single = []
        yield from texts
    if single:
        yield single


class _Reader:
    """Reads one line of a log."""

    def __init__(self, vocabulary: Vocabulary, line: int) -> None:
        self._vocabulary = vocabulary
        self._line = line

    def texts(self, value: Mapping[str, Any]) -> list[list[Logged]] | None:
        """Return the texts of a response, None for what is no response."""
        if "completion_probabilities" in value:
            return [self._tokens(value["completion_probabilities"])]
        if "choices" not in value:
            return None
        texts = []
        for choice in self._list(value["choices"], "`choices`"):
            logs = choice.get("logprobs") if isinstance(choice, dict) else None
            if not isinstance(logs, dict):
                raise LogError(self._line, "a choice of this response has no `logprobs`")
            content = logs.get("content")
            texts.append(self._legacy(logs) if content is None else self._tokens(content))
        return texts

    def _tokens(self, values: Any) -> list[Logged]:
        return [self.token(each) for each in self._list(values, "the log probabilities")]

    def token(self, value: Any) -> Logged:
        """Return the token of a record."""
        taken = self._candidate(value)
        top = value.get("top_logprobs") or ()
        return Logged(
            taken, tuple(map(self._candidate, self._list(top, "`top_logprobs`"))), self._line
        )

    def _legacy(self, logs: Mapping[str, Any]) -> list[Logged]:
        """Return the tokens of a response of OpenAI's older completions."""
        tokens = self._list(logs.get("tokens"), "`tokens`")
        probabilities = self._list(logs.get("token_logprobs"), "`token_logprobs`")
        tops = logs.get("top_logprobs") or [{}] * len(tokens)
        if not len(tokens) == len(probabilities) == len(tops):
            raise LogError(self._line, "`tokens` and `token_logprobs` are not of one length")
        return [
            self.token(
                {
                    "token": token,
                    "logprob": logprob or 0.0,
                    "top_logprobs": [
                        {"token": text, "logprob": each} for text, each in (top or {}).items()
                    ],
                }
            )
            for token, logprob, top in zip(tokens, probabilities, tops, strict=True)
        ]

    def _candidate(self, value: Any) -> Candidate:
        if not isinstance(value, dict) or not isinstance(value.get("logprob"), int | float):
            raise LogError(self._line, "a token has a `logprob`, and an id or a text")
        return Candidate(self._id(value), float(value["logprob"]))

    def _id(self, value: Mapping[str, Any]) -> int | None:
        for name in ("token_id", "id"):
            if isinstance(value.get(name), int) and value[name] >= 0:
                return int(value[name])
        text = value.get("token")
        if not isinstance(text, str):
            raise LogError(self._line, "a token has a `logprob`, and an id or a text")
        if text.startswith(_AS_ID) and text[len(_AS_ID) :].isdecimal():
            return int(text[len(_AS_ID) :])
        special = self._vocabulary.special_id(text)
        if special is not None:
            return special
        spelled = value.get("bytes")
        try:
            data = bytes(spelled) if isinstance(spelled, list) else text.encode()
        except (ValueError, TypeError):
            raise LogError(self._line, "the `bytes` of a token are numbers below 256") from None
        return self._vocabulary.token_id(data)

    def _list(self, value: Any, name: str) -> Sequence[Any]:
        if not isinstance(value, list | tuple):
            raise LogError(self._line, f"{name} of this line are no list")
        return value


def trace(engine: Engine, texts: Iterable[Sequence[Logged]]) -> Trace:
    """Return what the engine's grammar did in the texts of a log; the engine is reset."""
    found = Trace()
    for text in texts:
        _Text(engine, found).follow(text)
    return found


class _Text:
    """One text, followed."""

    def __init__(self, engine: Engine, found: Trace) -> None:
        engine.reset()
        self._engine = engine
        self._vocabulary = engine.vocabulary
        self._rules = engine.follow_rules()
        self._found = found
        self._taken: list[int] = []
        self._blanks = 0

    def follow(self, text: Sequence[Logged]) -> None:
        """Add what is found in a text."""
        found = self._found
        found.texts += 1
        first, noted = found.steps, len(found.changes)
        for step, logged in enumerate(text):
            if self._engine.is_finished():
                break
            self._note(found.texts - 1, step, logged)
            if not self._take(logged.taken.token_id):
                found.rejected.append(logged.line)
                break
            found.steps += 1
        self._end_blanks()
        self._note_canonical(noted, found.steps - first)

    def _note(self, text: int, step: int, logged: Logged) -> None:
        engine = self._engine
        if engine.is_waiting() or not logged.top:
            return
        engine.compute_allowed_token_ids()
        row = engine.allowed_bits()
        listed = [(each, self._is_allowed(row, each.token_id)) for each in logged.top]
        removed = sum(exp(each.logprob) for each, is_allowed in listed if not is_allowed)
        if not removed:
            return
        rule = self._rules.rule()
        self._found.removed[rule] = self._found.removed.get(rule, 0) + removed
        choice, is_allowed = max(listed, key=lambda each: each[0].logprob)
        if is_allowed:
            return
        best = max((each.logprob for each, fits in listed if fits), default=None)
        if best is None and logged.taken.token_id is not None:
            best = logged.taken.logprob
        margin = None if best is None else choice.logprob - best
        taken = logged.taken.token_id
        self._found.changes.append(
            Change(text, step, choice.token_id, taken, margin, removed, rule, None)
        )

    @staticmethod
    def _is_allowed(row: Any, token_id: int | None) -> bool:
        if token_id is None or token_id // 32 >= len(row):
            return False
        return bool(int(row[token_id // 32]) >> token_id % 32 & 1)

    def _take(self, token_id: int | None) -> bool:
        if token_id is None:
            return False
        engine = self._engine
        forced = b"" if engine.is_waiting() else engine.forced_bytes(64)
        was_waiting = engine.is_waiting()
        try:
            engine.try_accept_new_token(token_id)
        except EngineError:
            return False
        if not was_waiting:
            self._rules.append(token_id)
        elif not engine.is_waiting():
            for each in engine.accepted_by_grammar():
                self._rules.append(each)
        self._taken.append(token_id)
        data = self._vocabulary.token(token_id) or b""
        self._found.bytes += len(data)
        self._found.forced_bytes += min(len(forced), len(data))
        if data and not data.strip():
            self._blanks += 1
        else:
            self._end_blanks()
        return True

    def _end_blanks(self) -> None:
        if self._blanks >= SHORTEST_LOOP:
            self._found.loops.append(self._blanks)
        self._blanks = 0

    def _note_canonical(self, noted: int, steps: int) -> None:
        """Tell which tokens the tokenizer would write, once the text is whole."""
        vocabulary = self._vocabulary
        if not vocabulary.can_encode or not steps:
            return
        spelled = [vocabulary.token(each) or b"" for each in self._taken]
        own, place = set(), 0
        for token_id in vocabulary.encode(b"".join(spelled)):
            own.add((place, token_id))
            place += len(vocabulary.token(token_id) or b"")
        is_own, place = [], 0
        for token_id, data in zip(self._taken, spelled, strict=True):
            is_own.append((place, token_id) in own or not data)
            place += len(data)
        self._found.noncanonical += is_own.count(False)
        changes = self._found.changes
        for number in range(noted, len(changes)):
            change = changes[number]
            if change.step < len(is_own):
                changes[number] = replace(change, is_canonical=is_own[change.step])
