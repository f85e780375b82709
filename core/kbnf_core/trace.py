"""What a grammar did to a model: logs of log probabilities, replayed against the masks.

A log has, for each token that was taken, the most likely tokens of the unconstrained distribution.
The grammar changed a step where the most likely of these cannot occur; the *removed mass* is the
probability of all listed tokens that cannot. Logs are JSON lines: one for each token, or whole
responses as OpenAI, vLLM and llama.cpp's server write them.

A token is judged by its id where the vocabulary has it, and else by its ``bytes``, or its text, as
the log has them: then no vocabulary is needed, and what depends on one is not said.

Tests: tests/cli/test_trace.py, tests/model/test_small_model.py
"""

import json
import re
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
"""The prefix that vLLM puts before ids with ``--return-tokens-as-token-ids``."""

_AS_BYTES = re.compile(r"bytes:(?:\\x[0-9a-f]{2})+")
"""The notation of OpenAI's older completions for a token that is not a text."""

_NAME_OF_END = re.compile(rb"<[^<>]{1,40}>|\[[A-Z_/]{1,40}\]")
"""The name of a special token, as logs write it where a text ends."""

_MEMBER = re.compile(rb'[{,]\s*(?:"([^"\\{}\[\],:]*))?$')
"""Before the name of a member, or within it; also in a string, which only costs a suggestion."""

_NAMES = re.compile(rb'[{,]\s*"([^"\\]*)"\s*:')


class LogError(KbnfError, ValueError):
    """A log that cannot be read; ``line`` counts from 1."""

    def __init__(self, line: int, reason: str) -> None:
        self.line = line
        super().__init__(f"line {line}: {reason}")


@dataclass(frozen=True, slots=True)
class Candidate:
    """A token, and its log probability.

    ``token_id``: None for one that the vocabulary does not have, or without a vocabulary. ``data``:
    its bytes, empty for one that has none.
    """

    token_id: int | None
    logprob: float
    data: bytes

    @property
    def text(self) -> str:
        """Its bytes as a text."""
        return self.data.decode("utf-8", "replace")


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
    listed token that can occur, None where none is listed. ``removed``: the probability of the
    listed tokens that cannot occur. ``is_canonical``: whether the tokenizer itself would write the
    token that was taken there; None where it is not known. ``wanted``: what the choice would have
    made of the name of a member, of JSON, that was being written there; None elsewhere.
    """

    text: int
    step: int
    choice: Candidate
    taken: Candidate
    margin: float | None
    removed: float
    rule: str
    is_canonical: bool | None
    wanted: str | None


@dataclass(slots=True)
class Trace:
    """The findings in a log.

    ``removed`` and ``changes_by_rule``: sums by rule, of the removed probability of all steps and
    of the number of changes. ``loops``: the lengths of runs of whitespace tokens. ``rejected``:
    lines whose token the grammar does not take, at which their text was given up. ``unfinished``:
    texts, by their numbers, that end before the grammar does. ``names``: those of members of JSON
    that were written, with the number of texts.
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
    unfinished: list[int] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)

    @property
    def changes_by_rule(self) -> Counter[str]:
        """The number of changes by rule."""
        return Counter(change.rule for change in self.changes)


@dataclass(frozen=True, slots=True)
class Advice:
    """A change of the grammar that the steps suggest, and at how many of them.

    ``kind``: ``think`` (something before the grammar, as reasoning), ``order`` (``wanted``, another
    member, earlier than ``written``), ``name`` (``wanted`` in place of ``written``).
    """

    kind: str
    wanted: str
    written: str
    count: int


LEAST_ADVICE = 2
"""Steps, of different texts, that make a suggestion."""


def advise(trace: Trace) -> list[Advice]:
    """Return the advice, the most frequent first."""
    seen: dict[tuple[str, str, str], set[int]] = {}
    for change in trace.changes:
        kind, wanted, written = "", change.choice.text.strip(), change.taken.text.strip()
        if not change.step and wanted[:1].isalpha():
            kind, wanted, written = "think", "", ""
        elif change.wanted:
            same = [name for name in trace.names if name.startswith(change.wanted)]
            kind, wanted = ("order", min(same)) if same else ("name", change.wanted)
        if kind:
            seen.setdefault((kind, wanted, written), set()).add(change.text)
    advice = [Advice(*key, len(texts)) for key, texts in seen.items()]
    common = [item for item in advice if item.count >= LEAST_ADVICE]
    return sorted(common, key=lambda item: (-item.count, item.kind, item.wanted))


def read_log(lines: Iterable[str], vocabulary: Vocabulary | None) -> Iterator[list[Logged]]:
    """Yield the texts of a log; lines of one token each are one text.

    Without a vocabulary ids say nothing. Raises ``LogError`` for a line that is neither a token
    nor a response, or has ids alone where there is no vocabulary.
    """
    single: list[Logged] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise LogError(number, "this is not JSON") from None
        if not isinstance(value, dict):
            raise LogError(number, "a token or a response is a JSON object")
        reader = _LogReader(vocabulary, number)
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


class _LogReader:
    """Reads one line of a log."""

    def __init__(self, vocabulary: Vocabulary | None, line: int) -> None:
        self._vocabulary = vocabulary
        self._line = line

    def texts(self, value: Mapping[str, Any]) -> list[list[Logged]] | None:
        """Return the texts of a response, None for a value that is not a response."""
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
        return [self.token(value) for value in self._list(values, "the log probabilities")]

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
                        {"token": text, "logprob": probability}
                        for text, probability in (top or {}).items()
                    ],
                }
            )
            for token, logprob, top in zip(tokens, probabilities, tops, strict=True)
        ]

    def _candidate(self, value: Any) -> Candidate:
        if not isinstance(value, dict) or not isinstance(value.get("logprob"), int | float):
            raise LogError(self._line, "a token has a `logprob`, and an id or a text")
        token_id = self._id(value)
        vocabulary = self._vocabulary
        if token_id is not None and vocabulary is not None:
            return Candidate(token_id, float(value["logprob"]), vocabulary.token(token_id) or b"")
        return Candidate(None, float(value["logprob"]), self._data(value))

    def _id(self, value: Mapping[str, Any]) -> int | None:
        """Return the id of a token that the vocabulary has."""
        vocabulary, text = self._vocabulary, value.get("token")
        given = next((value[name] for name in ("token_id", "id") if name in value), None)
        if isinstance(text, str) and text.startswith(_AS_ID) and text[len(_AS_ID) :].isdecimal():
            given = int(text[len(_AS_ID) :])
        if vocabulary is None:
            return None
        if isinstance(given, int):
            return given if given in vocabulary else None
        special = vocabulary.special_tokens.get(text) if isinstance(text, str) else None
        return vocabulary.get_token_id(self._data(value)) if special is None else special

    def _data(self, value: Mapping[str, Any]) -> bytes:
        """Return the bytes of a token, as the log has them."""
        spelled, text = value.get("bytes"), value.get("token")
        if isinstance(spelled, list):
            try:
                return bytes(spelled)
            except (ValueError, TypeError):
                raise LogError(self._line, "`bytes` of a token are numbers below 256") from None
        if isinstance(text, str) and not text.startswith(_AS_ID):
            if _AS_BYTES.fullmatch(text):
                return bytes.fromhex(text.removeprefix("bytes:").replace("\\x", ""))
            return text.encode("utf-8", "replace")
        if any(isinstance(value.get(name), int) for name in ("token_id", "id")) or text:
            if self._vocabulary is not None:
                return b""
            raise LogError(
                self._line, "this token has an id alone: a vocabulary says what it spells"
            )
        raise LogError(self._line, "a token has a `logprob`, and an id or a text")

    def _list(self, value: Any, name: str) -> Sequence[Any]:
        if not isinstance(value, list | tuple):
            raise LogError(self._line, f"{name} of this line are not a list")
        return value


def trace(engine: Engine, texts: Iterable[Sequence[Logged]]) -> Trace:
    """Return the effects of the engine's grammar in the texts of a log; the engine is reset."""
    result = Trace()
    for text in texts:
        _TracedText(engine, result).follow(text)
    return result


class _TracedText:
    """One text, followed."""

    def __init__(self, engine: Engine, trace: Trace) -> None:
        engine.reset()
        self._engine = engine
        self._vocabulary = engine.vocabulary
        self._rules = engine.follow_rules()
        self._trace = trace
        self._taken: list[Candidate] = []
        self._data = bytearray()
        self._blanks = 0

    def follow(self, text: Sequence[Logged]) -> None:
        """Add the findings in a text."""
        trace, number = self._trace, self._trace.texts
        trace.texts += 1
        first, noted = trace.steps, len(trace.changes)
        for step, logged in enumerate(text):
            if self._is_end(logged.taken):
                break
            self._note(number, step, logged)
            if not self._take(logged.taken):
                trace.rejected.append(logged.line)
                break
            trace.steps += 1
        else:
            if not self._engine.can_finish():
                trace.unfinished.append(number)
        self._end_blanks()
        written = {match[1] for match in _NAMES.finditer(bytes(self._data))}
        trace.names.update(entry.decode("utf-8", "replace") for entry in written)
        self._note_canonical(noted, trace.steps - first)

    def _is_end(self, taken: Candidate) -> bool:
        """Return whether a token says that the text is over, and the grammar is over or may be."""
        if self._has(taken):
            return self._engine.is_finished() and taken.token_id in self._vocabulary.special_ids
        is_named = not taken.data or _NAME_OF_END.fullmatch(taken.data) is not None
        return is_named and self._engine.can_finish() and not self._comes(taken.data)

    def _has(self, entry: Candidate) -> bool:
        return entry.token_id is not None and entry.token_id in self._vocabulary

    def _comes(self, data: bytes) -> bool:
        """Return whether bytes can come here."""
        try:
            self._engine.try_accept_new_bytes(data)
        except EngineError:
            return False
        self._engine.rollback()
        return bool(data)

    def _note(self, text: int, step: int, logged: Logged) -> None:
        engine = self._engine
        if engine.is_waiting() or not logged.top:
            return
        if any(map(self._has, logged.top)):
            engine.compute_allowed_token_ids()
        row = engine.allowed_bits()
        listed = [
            (
                entry,
                self._is_allowed(row, entry.token_id)
                if self._has(entry)
                else self._comes(entry.data) or self._is_end(entry),
            )
            for entry in logged.top
        ]
        removed = sum(exp(entry.logprob) for entry, is_allowed in listed if not is_allowed)
        if not removed:
            return
        rule = self._rules.rule()
        self._trace.removed[rule] = self._trace.removed.get(rule, 0) + removed
        choice, is_allowed = max(listed, key=lambda entry: entry[0].logprob)
        if is_allowed:
            return
        best = max((entry.logprob for entry, fits in listed if fits), default=None)
        if best is None and (self._has(logged.taken) or logged.taken.data):
            best = logged.taken.logprob
        margin = None if best is None else choice.logprob - best
        wanted = self._wanted(choice.data)
        self._trace.changes.append(
            Change(text, step, choice, logged.taken, margin, removed, rule, None, wanted)
        )

    def _wanted(self, choice: bytes) -> str | None:
        """Return the choice for the name of the member that is being written."""
        match = _MEMBER.search(bytes(self._data[-200:]))
        if match is None:
            return None
        name = choice if match[1] is not None else choice.strip().removeprefix(b'"')
        wanted = (match[1] or b"") + name.partition(b'"')[0].strip()
        return wanted.decode("utf-8", "replace") or None

    @staticmethod
    def _is_allowed(row: Any, token_id: int | None) -> bool:
        if token_id is None or token_id // 32 >= len(row):
            return False
        return bool(int(row[token_id // 32]) >> token_id % 32 & 1)

    def _take(self, taken: Candidate) -> bool:
        engine = self._engine
        forced = b"" if engine.is_waiting() else engine.forced_bytes(64)
        was_waiting = engine.is_waiting()
        token_id = taken.token_id
        symbol = token_id if token_id is not None and self._has(taken) else taken.data
        if symbol == b"":
            return False
        try:
            if isinstance(symbol, bytes):
                engine.try_accept_new_bytes(symbol)
            else:
                engine.try_accept_new_token(symbol)
        except EngineError:
            return False
        if not was_waiting:
            self._rules.append(symbol)
        elif not engine.is_waiting():
            for entry in engine.accepted_by_grammar():
                self._rules.append(entry)
        self._taken.append(taken)
        self._data += taken.data
        self._trace.bytes += len(taken.data)
        self._trace.forced_bytes += min(len(forced), len(taken.data))
        if taken.data and not taken.data.strip():
            self._blanks += 1
        else:
            self._end_blanks()
        return True

    def _end_blanks(self) -> None:
        if self._blanks >= SHORTEST_LOOP:
            self._trace.loops.append(self._blanks)
        self._blanks = 0

    def _note_canonical(self, noted: int, steps: int) -> None:
        """Record the tokens that the tokenizer would write, once the text is whole."""
        vocabulary = self._vocabulary
        if not vocabulary.can_encode or not steps or not all(map(self._has, self._taken)):
            return
        data = bytes(self._data)
        written = vocabulary.encode(data)
        if len(vocabulary.decode(written)) != len(data):
            # The prefix that is put before a text (the blank of SentencePiece) comes before this,
            # too.
            written = vocabulary.encode(b"\n" + data)
        own, offset = set(), len(data) - len(vocabulary.decode(written))
        for token_id in written:
            own.add((offset, token_id))
            offset += len(vocabulary.token(token_id) or b"")
        is_own, offset = [], 0
        for entry in self._taken:
            is_own.append((offset, entry.token_id) in own or not entry.data)
            offset += len(entry.data)
        self._trace.noncanonical += is_own.count(False)
        changes = self._trace.changes
        for number in range(noted, len(changes)):
            change = changes[number]
            if change.step < len(is_own):
                changes[number] = replace(change, is_canonical=is_own[change.step])
