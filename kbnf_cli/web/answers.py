"""The page's data about a grammar: findings, other languages, diagrams, as plain values.

The static page runs this module in the browser, so it imports neither NumPy nor compiled modules.
Questions that need the engine (texts, tokens, other engines) are in ``engine_answers``, which the
server's worker process runs. Nothing is read but the vocabularies that the command line named, and
every list is bounded.

Tests: tests/web/test_static.py, tests/web/test_server.py
"""

import tomllib
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Reading, read_grammar
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kernel import has_engine
from kbnf_core.languages import KBNF, LANGUAGES, Language, detect, named
from kbnf_core.shipped import grammar_file, grammar_names
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError, KbnfError
from kbnf_core.text.files import Imports
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

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

MAX_TEXTS = 100
"""Texts that are tested."""

_MAX_WORD = 1_000
"""Characters of a question, a search term or a name."""

_FINDINGS, _RULES, _DIAGRAMS, _LINES = 100, 2_000, 200, 2_000
"""Entries that a list shows."""

_EXAMPLES, _SHORT = 4, 200
"""Texts of a kind that come with an example, and the characters of one."""

_CLIPPED = 1_500
"""Characters of a message that are shown."""

_NO_FILES = Imports(load=lambda _: None)
"""No grammar of the page reads a file; the grammars of Lark are there."""

WRITTEN = tuple(language for language in LANGUAGES if language.is_target)
"""The languages that a grammar is converted to; KBNF's own texts are formatted."""

_FINISHES = {finish.value for finish in Finish}

_WITHOUT_ENGINE = ("findings", "explanation", "diagram")
_BY_ENGINE = ("texts", "samples", "tokens", "targets")
"""Views that need no engine, and those that need one."""

VocabularyName = tuple[str, tuple[int, ...]]
"""A file or ``bytes``, and the stop ids that replace its own."""


class BadQuestionError(ValueError):
    """An invalid question was sent; the message says why."""


@dataclass(frozen=True, slots=True)
class Question:
    """A grammar, and the views to ``show`` besides its findings.

    That is nothing (``findings``), ``explanation`` (its rules in words), ``diagram``, the name of a
    language to write it in, ``texts`` (whether these fit, and the tree of the ``chosen`` one),
    ``samples`` (by ``seed``), ``tokens`` (those allowed after ``text``; ``why`` asks about a token,
    ``find`` picks some) or ``targets``.
    """

    grammar: str
    language: str = KBNF.name
    start: str = ""
    finish: str = ""
    show: str = "findings"
    texts: tuple[str, ...] = ()
    chosen: int = 0
    seed: int = 0
    text: str = ""
    why: str = ""
    find: str = ""
    vocabulary: VocabularyName = field(default=("bytes", ()))


Shown = Mapping[str, Callable[[Question, Reading], Any]]
"""The functions that make the answers of some kinds."""

NOTHING: Shown = MappingProxyType({})


def read_question(value: object, vocabularies: dict[str, VocabularyName]) -> Question:
    """Return the question in a JSON value; raise ``BadQuestionError`` for anything else."""
    if not isinstance(value, dict):
        raise BadQuestionError("an object is needed")
    grammar = _text(value, "grammar", LIMITS.source_bytes)
    text = _text(value, "text", MAX_TEXT)
    keys = ("start", "finish", "show", "why", "find", "language", "vocabulary")
    start, finish, show, why, find, language, name = (_text(value, k, _MAX_WORD) for k in keys)
    if finish and finish not in _FINISHES:
        raise BadQuestionError("there is no such way to finish")
    if language and language not in languages():
        raise BadQuestionError("there is no such language")
    if show and show not in (*_WITHOUT_ENGINE, *_BY_ENGINE, *(w.name for w in WRITTEN)):
        raise BadQuestionError("there is nothing such to show")
    if name and name not in vocabularies:
        raise BadQuestionError("there is no such vocabulary")
    return Question(
        grammar,
        language or KBNF.name,
        start,
        finish,
        show or "findings",
        _texts(value.get("texts", [])),
        _number(value, "chosen"),
        _number(value, "seed"),
        text,
        why,
        find,
        vocabularies[name] if name else next(iter(vocabularies.values())),
    )


def _text(value: dict[Any, Any], key: str, limit: int) -> str:
    return _checked(value.get(key, ""), key, limit)


def _checked(text: object, key: str, limit: int) -> str:
    if not isinstance(text, str):
        raise BadQuestionError(f"`{key}` must be a text")
    if len(text) > limit:
        raise BadQuestionError(f"`{key}` has more than {limit:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadQuestionError(f"`{key}` contains half a character") from None
    return text


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or len(value) > MAX_TEXTS:
        raise BadQuestionError(f"`texts` must be a list of at most {MAX_TEXTS} texts")
    return tuple(_checked(text, "texts", MAX_TEXT) for text in value)


def _number(value: dict[Any, Any], key: str) -> int:
    number = value.get(key, 0)
    if not isinstance(number, int) or not 0 <= number < 2**31:
        raise BadQuestionError(f"`{key}` must be a number")
    return number


def languages() -> list[str]:
    """Return the names of the languages that can be read here: without the engine, the plain."""
    plain = [language.name for language in LANGUAGES if language.extension and not language.is_json]
    return plain + [language.name for language in LANGUAGES if language.is_json and has_engine()]


def answer(question: Question, by_engine: Shown = NOTHING) -> Iterator[dict[str, Any]]:
    """Yield the views, each time more of them; ``trouble`` is the reason why some are missing.

    ``findings`` are the errors alone until ``is_checked`` is there; ``by_engine`` makes what takes
    the engine.
    """
    shown: dict[str, Any] = {}
    try:
        for fields in _views(question, by_engine):
            shown = {**shown, **fields}
            yield shown
    except (KbnfError, MemoryError, RecursionError) as error:
        yield {**shown, "trouble": _trouble(error)}


def _trouble(error: BaseException) -> str:
    return clip(str(error)) or f"this is too much for the page ({type(error).__name__})"


def _views(question: Question, by_engine: Shown) -> Iterator[dict[str, Any]]:
    reading = read(question.language, question.grammar, question.start, question.finish)
    yield {
        "rules": _rules(reading),
        "start": clip(reading.start),
        "finish": reading.finish.value,
        "other": _other_language(reading),
        **findings(reading.errors),
    }
    asked = question.language, question.grammar, question.start, question.finish
    yield {**findings(_check(*asked)), "is_checked": True}
    if reading.errors:
        return
    if question.show == "explanation":
        yield {"explanation": _explanation(reading)}
    elif question.show == "diagram":
        yield {"diagrams": _diagrams(reading)}
    elif question.show in by_engine:
        yield {question.show: by_engine[question.show](question, reading)}
    elif (target := named(question.show)) is not None:
        yield {"written": _written(reading, target)}


@lru_cache(maxsize=2)
def read(language: str, text: str, start: str, finish: str) -> Reading:
    """Return the reading of a grammar on the page."""
    chosen = named(language) or KBNF
    source = Source(text, f"grammar{chosen.extension or '.json'}")
    wanted = Finish.parse(finish) if finish else None
    return read_grammar(source, chosen, Request(start or None, wanted, LIMITS, _NO_FILES))


@lru_cache(maxsize=2)
def _check(language: str, text: str, start: str, finish: str) -> list[Diagnostic]:
    from kbnf_core.lint.check import findings_of

    result = findings_of(read(language, text, start, finish))
    return [finding for finding in result if finding.source.text == text]


def _other_language(reading: Reading) -> str:
    """Return the language that a text with errors is in, where that is another one."""
    result = detect(reading.parsed.source.text, "") if reading.errors else reading.language
    return result.name if result is not reading.language and result.name in languages() else ""


def _rules(reading: Reading) -> list[dict[str, Any]]:
    """Return the rules in written order, with the places of their first definitions."""
    source = reading.parsed.source
    spans: dict[str, Span] = {}
    definitions = reading.document.definitions if reading.parsed.is_written else ()
    for definition in definitions[:_RULES]:
        spans.setdefault(definition.name.value, definition.span)
    return [{"name": clip(name), **span_fields(source, span)} for name, span in spans.items()]


def _written(reading: Reading, target: Language) -> dict[str, Any]:
    """Return a grammar in another language, or in the canonical layout of its own."""
    if reading.language is target:
        return {"text": _formatted(reading), "losses": [], "language": target.name}
    from kbnf_core.convert import convert

    source = reading.parsed.source
    try:
        done = convert(
            source.text,
            reading.language,
            target,
            path=source.path,
            start=reading.start if reading.language.start != reading.start else None,
            imports=_NO_FILES,
            limits=LIMITS,
        )
    except GrammarError as error:
        return {"text": None, "losses": list(map(_finding, error.diagnostics[:_FINDINGS]))}
    losses = [loss.diagnostic(source) for loss in done.losses[:_FINDINGS]]
    return {"text": done.text, "losses": list(map(_finding, losses)), "language": target.name}


def _formatted(reading: Reading) -> str | None:
    """Return a text of KBNF in its canonical layout; other languages have none."""
    if reading.language is not KBNF:
        return reading.parsed.source.text
    from kbnf_core.kbnf.format import format_kbnf

    return format_kbnf(reading.document.source).text


def _diagrams(reading: Reading) -> list[dict[str, Any]]:
    """Return railroad diagrams, each an ``svg`` element without style, with the rule's name."""
    from kbnf_core.kbnf.diagram import Drawing, collect_rules

    document = reading.document
    names = {"xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": "http://www.w3.org/1999/xlink"}
    return [
        {
            "rule": rule.name,
            "used_by": list(rule.used_by),
            "svg": Drawing(rule, document.written_in, "#rule-{}").svg(**names),
        }
        for rule in collect_rules(document)[:_DIAGRAMS]
    ]


def _explanation(reading: Reading) -> list[dict[str, Any]]:
    """Return the rules in words: a name, and lines with their depths and places, for each."""
    from kbnf_core.kbnf.describe import describe

    document, explained, left = reading.document, list[dict[str, Any]](), _LINES
    for definition in document.definitions:
        lines = list(islice(describe(definition.body, document.origins), left))
        left -= len(lines)
        name = definition.name.value
        written = document.origins.get(name, name)
        if lines and written:
            rows = [
                {
                    "depth": line.depth,
                    "words": clip(line.words),
                    **span_fields(document.source, line.span),
                }
                for line in lines
            ]
            explained.append({"rule": clip(written), "lines": rows})
    return explained


def findings(diagnostics: Sequence[Diagnostic]) -> dict[str, Any]:
    """Return the first findings as the page shows them, and how many more there are."""
    return {
        "findings": [_finding(finding) for finding in diagnostics[:_FINDINGS]],
        "more": max(0, len(diagnostics) - _FINDINGS),
    }


def _finding(finding: Diagnostic) -> dict[str, Any]:
    label = f": {finding.label}" if finding.label else ""
    return {
        "code": finding.code,
        "name": finding.rule.name,
        "severity": finding.severity.label,
        "message": clip(finding.message + label),
        "notes": [clip(note) for note in finding.notes],
        "helps": [clip(help_text) for help_text in finding.helps],
        "fixes": [
            {
                "message": clip(fix.message),
                "safe": fix.safe,
                "edits": [
                    {**span_fields(finding.source, edit.span), "replacement": edit.replacement}
                    for edit in fix.edits
                ],
            }
            for fix in finding.fixes
        ],
        **span_fields(finding.source, finding.span),
    }


def span_fields(source: Source, span: Span) -> dict[str, int]:
    """Return a place as the page counts it, in UTF-16, and as people do."""
    _, line, column = source.position(span.start)
    start, end = (units(source.text, offset) for offset in span)
    return {"start": start, "end": end, "line": line, "column": column}


def units(text: str, index: int) -> int:
    """Return where UTF-16 has the code point at ``index``."""
    return index + bisect_left(_long_characters(text), index)


@lru_cache(maxsize=4)
def _long_characters(text: str) -> list[int]:
    return [index for index, character in enumerate(text) if character > "\uffff"]


def clip(text: str, limit: int = _CLIPPED) -> str:
    """Return a text, cut where it is longer than a message should be."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def begin() -> dict[str, Any]:
    """Return the choices of the page, whatever it begins with."""
    files = {name: grammar_file(name) for name in grammar_names()}
    return {
        "examples": {
            name: {"grammar": file.read_text(encoding="utf-8"), "texts": texts_beside(file)}
            for name, file in files.items()
            if file is not None
        },
        "languages": languages(),
        "written": [language.name for language in WRITTEN],
    }


def texts_beside(file: Path) -> list[tuple[str, bool]]:
    """Return the first texts of the examples beside a grammar, if there are any."""
    beside = file.with_suffix(".examples.toml")
    return texts_of(beside.read_text(encoding="utf-8")) if beside.is_file() else []


def texts_of(examples: str) -> list[tuple[str, bool]]:
    """Return some short texts of a file of examples, and whether each must fit."""
    try:
        cases = tomllib.loads(examples)
    except ValueError:
        return []
    return [
        (text, key == "accept")
        for key in ("accept", "reject")
        for text in islice(filter(_is_short, map(_text_of, cases.get(key, []))), _EXAMPLES)
    ]


def _text_of(case: Any) -> Any:
    return case.get("text") if isinstance(case, dict) else case


def _is_short(text: Any) -> bool:
    return isinstance(text, str) and 0 < len(text) <= _SHORT
