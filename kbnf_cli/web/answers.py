"""What the page shows of a grammar and a text: made in a worker process, of plain values.

Nothing is read but the vocabularies that the command line named, and every list is bounded.
"""

import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from heapq import nsmallest
from typing import TYPE_CHECKING, Any

from kbnf_cli.console import Console
from kbnf_cli.escaped import describe_bytes, escaped
from kbnf_cli.inputs import read_vocabulary
from kbnf_cli.options import FINISHES
from kbnf_core.config import Finish
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import KbnfError, RejectedError
from kbnf_core.text.imports import Imports
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core import Engine, Explanation, Grammar, Vocabulary
    from kbnf_core.examples.coverage import Derivations
    from kbnf_core.frontend import Reading
    from kbnf_core.recognise.explain import LivePlace

LIMITS = Limits(
    source_bytes=200_000,
    regex_states=50_000,
    grammar_states=200_000,
    cached_states=20_000,
    cached_steps=20_000,
    mask_bytes=8 * 2**20,
    work=4_000_000,
)
"""Those of a grammar on the page: about two seconds of work."""

MAX_TEXT = 20_000
"""Characters of a text."""

_MAX_WORD = 1_000
"""Characters of what is asked about or searched for, and of a name."""

_MAX_STEPS = 500_000
"""Steps of deriving a text; one that takes more has no colours."""

_MAX_STATES = 20_000
"""States of a grammar whose texts are derived."""

_FINDINGS, _TOKENS, _PLACES, _RULES = 100, 200, 8, 2_000
"""Entries that a list shows."""

_CLIPPED = 1_500
"""Characters of a message that are shown."""

_NO_FILES = Imports(load=lambda _: None)
"""KBNF imports nothing; should it ever, a page does not."""

VocabularyName = tuple[str, tuple[int, ...]]
"""A file or ``bytes``, and the stop ids that replace its own."""


class BadQuestionError(ValueError):
    """What was sent is no question; the message says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """A grammar and a text; ``why`` asks about a token, ``find`` picks tokens of the mask."""

    grammar: str
    text: str
    start: str
    finish: str
    why: str
    find: str
    vocabulary: VocabularyName


def read_question(value: object, vocabularies: dict[str, VocabularyName]) -> Question:
    """Return the question in a JSON value; raise ``BadQuestionError`` for anything else."""
    if not isinstance(value, dict):
        raise BadQuestionError("an object is needed")
    grammar = _text(value, "grammar", LIMITS.source_bytes)
    text = _text(value, "text", MAX_TEXT)
    start, finish, why, find, name = (
        _text(value, key, _MAX_WORD) for key in ("start", "finish", "why", "find", "vocabulary")
    )
    if finish not in ("", *FINISHES):
        raise BadQuestionError("there is no such way to finish")
    if name not in vocabularies:
        raise BadQuestionError("there is no such vocabulary")
    return Question(grammar, text, start, finish, why, find, vocabularies[name])


def _text(value: dict[Any, Any], key: str, limit: int) -> str:
    text = value.get(key, "")
    if not isinstance(text, str):
        raise BadQuestionError(f"`{key}` must be a text")
    if len(text) > limit:
        raise BadQuestionError(f"`{key}` has more than {limit:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadQuestionError(f"`{key}` contains half a character") from None
    return text


def answer(question: Question) -> Iterator[dict[str, Any]]:
    """Yield what there is to show, each time more of it; ``trouble`` is why that is not all.

    ``findings`` are the errors alone until ``is_checked`` is there.
    """
    shown: dict[str, Any] = {}
    try:
        for part in _parts(question):
            shown = {**shown, **part}
            yield shown
    except (KbnfError, MemoryError, RecursionError) as error:
        yield {**shown, "trouble": _trouble(error)}


def _trouble(error: BaseException) -> str:
    return _clip(str(error)) or f"this is too much for the page ({type(error).__name__})"


def _parts(question: Question) -> Iterator[dict[str, Any]]:
    asked = question.grammar, question.start, question.finish
    reading = _read(*asked)
    names = dict.fromkeys(each.name.value for each in reading.document.definitions)
    yield {
        "rules": [_clip(name) for name in [*names][:_RULES]],
        "start": _clip(reading.start),
        "finish": reading.finish.value,
        **_findings(reading.errors),
    }
    yield {**_findings(_check(*asked)), "is_checked": True}
    if not reading.errors:
        yield _look(question, _use(*asked))


@lru_cache(maxsize=2)
def _read(text: str, start: str, finish: str) -> "Reading":
    from kbnf_core.frontend import read_grammar

    source = Source(text, "grammar.kbnf")
    wanted = Finish.parse(finish) if finish else None
    return read_grammar(source, start or None, wanted, LIMITS, imports=_NO_FILES)


@lru_cache(maxsize=2)
def _check(text: str, start: str, finish: str) -> list[Diagnostic]:
    from kbnf_core.lint.check import findings_of

    return [each for each in findings_of(_read(text, start, finish)) if each.source.text == text]


@dataclass(frozen=True, slots=True)
class _Usable:
    """A grammar without errors, and how its texts are derived, unless it is too large for that."""

    grammar: "Grammar"
    derivations: "Derivations | None"


@lru_cache(maxsize=2)
def _use(text: str, start: str, finish: str) -> _Usable:
    from kbnf_core import Grammar
    from kbnf_core.examples.coverage import Derivations

    reading = _read(text, start, finish)
    grammar = Grammar.of(reading, LIMITS)
    is_small = grammar.tables.state_count <= _MAX_STATES
    if reading.grammar is None or reading.is_endless or not is_small:
        return _Usable(grammar, None)
    return _Usable(grammar, Derivations(reading.grammar))


@lru_cache(maxsize=8)
def _vocabulary(name: VocabularyName) -> "Vocabulary":
    return read_vocabulary(Console(), *name)


def _look(question: Question, usable: _Usable) -> dict[str, Any]:
    """Return what there is to show of the text."""
    from kbnf_core import Engine

    source = usable.grammar.source
    engine = Engine(usable.grammar, _vocabulary(question.vocabulary))
    data = question.text.encode()
    taken, rejection = _feed(engine, data)
    shown: dict[str, Any] = {
        "text": _coloured(usable.derivations, question.text, data[:taken]),
        "status": _status(engine, rejection),
        "rejection": None if rejection is None else _explained(rejection, source),
    }
    shown["mask"] = _mask(engine, question.find)
    if question.why:
        token = re.fullmatch(r"#(\d{1,8})", question.why)
        what = int(token[1]) if token else question.why
        explained = _explained(engine.why(what), source)
        shown["why"] = {"asked": _name(engine.vocabulary, what), **explained}
    return shown


def _feed(engine: "Engine", data: bytes) -> "tuple[int, Explanation | None]":
    """Feed as much of a text as can come; return how much, and why not all of it."""
    if not data:
        return 0, None
    try:
        engine.try_accept_new_bytes(data)
    except RejectedError as error:
        why, taken = engine.why(data), error.byte_offset
        if taken:
            engine.try_accept_new_bytes(data[:taken])
        return taken, why
    return len(data), None


def _status(engine: "Engine", rejection: "Explanation | None") -> str:
    if rejection is not None:
        return "rejected"
    if engine.is_finished():
        return "finished"
    if engine.can_finish():
        return "complete"
    return "stuck" if engine.is_stuck() else "ongoing"


def _coloured(derivations: "Derivations | None", text: str, taken: bytes) -> dict[str, Any]:
    """Return the accepted part of a text in parts with their rules, and the rest."""
    accepted = taken.decode("utf-8", "ignore")
    parts = None if derivations is None else derivations.parts(taken, _MAX_STEPS)
    if parts is None:
        return {"parts": [[accepted, -1]], "paths": [], "rest": text[len(accepted) :]}
    decoder = getincrementaldecoder("utf-8")("ignore")
    paths: dict[tuple[str, ...], int] = {}
    pieces = [
        [decoder.decode(taken[part.start : part.end]), paths.setdefault(part.rules, len(paths))]
        for part in parts
    ]
    return {
        "parts": [piece for piece in pieces if piece[0]],
        "paths": [[name[:80] for name in path] for path in paths],
        "rest": text[len(accepted) :],
    }


def _mask(engine: "Engine", find: str) -> dict[str, Any]:
    """Return the mask: the tokens of its smaller side, or those that are searched for."""
    vocabulary = engine.vocabulary
    engine.compute_allowed_token_ids()
    allowed = set(engine.get_allowed_token_ids_from_last_computation())
    every = _all_ids(vocabulary)
    # Before the end of a text, special tokens that nothing names are refused: they count, too.
    refused = len(every) - len(allowed)
    side = "found" if find else "allowed" if len(allowed) <= refused else "refused"
    if find:
        listed = [each for each in every if find in _name(vocabulary, each)]
    else:
        listed = [each for each in every if (each in allowed) is (side == "allowed")]
    first = nsmallest(_TOKENS, listed, key=lambda each: _order(vocabulary, each))
    return {
        "allowed": len(allowed),
        "total": len(every),
        "side": side,
        "count": len(listed),
        "tokens": [
            {
                "id": each,
                "text": _clip(_name(vocabulary, each)),
                "special": vocabulary.is_special(each),
                "allowed": each in allowed,
            }
            for each in first
        ],
    }


def _all_ids(vocabulary: "Vocabulary") -> list[int]:
    return [each for each in range(vocabulary.size) if each in vocabulary]


def _order(vocabulary: "Vocabulary", token_id: int) -> tuple[bool, int, bytes, int]:
    """Return the key that sorts special tokens first, then short ones."""
    data = vocabulary.token(token_id) or b""
    return not vocabulary.is_special(token_id), len(data), data, token_id


def _name(vocabulary: "Vocabulary", what: int | str) -> str:
    if isinstance(what, str):
        return escaped(what.encode())
    if vocabulary.is_special(what):
        return vocabulary.token_string(what) or "end of sequence"
    return escaped(vocabulary.token(what) or b"")


def _explained(why: "Explanation", source: Source) -> dict[str, Any]:
    places = sorted(why.places, key=lambda place: (place.span, place.rules))
    return {
        "allowed": why.allowed,
        "reason": _clip(why.reason),
        "expected": _clip(describe_bytes(why.expected)) if places else "",
        "places": list(_places(places, source)),
        "more": max(0, len(places) - _PLACES),
    }


def _places(places: "Iterable[LivePlace]", source: Source) -> Iterator[dict[str, Any]]:
    for place, _ in zip(places, range(_PLACES), strict=False):
        yield {
            "path": [name[:80] for name in place.rules],
            "symbol": _clip(source.slice(place.span), 80),
            **_at(source, place.span),
        }


def _findings(found: Sequence[Diagnostic]) -> dict[str, Any]:
    return {
        "findings": [_finding(each) for each in found[:_FINDINGS]],
        "more": max(0, len(found) - _FINDINGS),
    }


def _finding(finding: Diagnostic) -> dict[str, Any]:
    label = f": {finding.label}" if finding.label else ""
    return {
        "code": finding.code,
        "name": finding.rule.name,
        "severity": finding.severity.label,
        "message": _clip(finding.message + label),
        "notes": [_clip(each) for each in finding.notes],
        "helps": [_clip(each) for each in finding.helps],
        "fixes": [
            {
                "message": _clip(fix.message),
                "safe": fix.safe,
                "edits": [
                    {**_at(finding.source, edit.span), "replacement": edit.replacement}
                    for edit in fix.edits
                ],
            }
            for fix in finding.fixes
        ],
        **_at(finding.source, finding.span),
    }


def _at(source: Source, span: Span) -> dict[str, int]:
    """Return a place as the page counts it, in UTF-16, and as people do."""
    _, line, column = source.position(span.start)
    start = _units(source.text[: span.start])
    end = start + _units(source.slice(span))
    return {"start": start, "end": end, "line": line, "column": column}


def _units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def _clip(text: str, limit: int = _CLIPPED) -> str:
    return text if len(text) <= limit else f"{text[: limit - 1]}…"
