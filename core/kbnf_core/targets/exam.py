"""A schema, or a grammar, and an engine: what the engine refuses, does not enforce, and rejects.

``Exam`` contains the questions about a schema, made once for all engines: its judges, documents
that cover it, and witnesses. ``examine`` asks an engine. Every fault is asked again before it is
returned, and judged by two (``judges``): one that cannot be replayed is dropped.

A grammar in another language than the engine's is converted to it (``examine_grammar``). Its texts
are the shortest ones and some at random; near misses are texts with a byte changed, left out or
added that the grammar does not have.

Tests: tests/unit/targets/test_exam.py, tests/unit/targets/test_process.py
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from math import inf
from random import Random
from typing import Any

from kbnf_core.convert import convert
from kbnf_core.grammar import Grammar
from kbnf_core.languages import GBNF, LARK, Language
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.judges import (
    GrammarTexts,
    Json,
    Judges,
    at,
    compact,
    pointer_to,
    removed,
    replaced,
    spellings,
)
from kbnf_core.targets.process import Asked, EngineAnswer, EngineFailedError, How, version_of
from kbnf_core.targets.refusals import refused_fragments
from kbnf_core.targets.values import Values, Visit, declares, required_first, visits
from kbnf_core.targets.violations import InvalidDocument, Violations
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.json_text import steps_of
from kbnf_core.text.locks import cached_property, new_rlock
from kbnf_core.text.source import pointers

SECONDS = 1.5
"""The processor time after which no more is asked about a schema that an engine has compiled."""

_MOST_FAULTS = 40
_TO_VIOLATE = 2.0
"""Seconds for making witnesses."""

_EXACT = 2**53
_SHRINKING = 120
_MOST_REPEATED = 6
"""Rejected documents with a known explanation, after which the search ends."""


class Fault(Enum):
    """A difference between a schema and an engine."""

    REFUSES = "refuses"
    WEAK = "weak"
    REJECTS = "rejects"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Finding:
    """A fault of an engine with a schema, at ``pointer`` (of the keyword, where there is one).

    ``witness`` is a document's text: one that is accepted wrongly, or rejected. ``words`` are the
    engine's, or a description; ``subschema`` is the smallest schema that is refused.
    """

    engine: str
    version: str
    fault: Fault
    pointer: str
    keyword: str = ""
    witness: str | None = None
    words: str = ""
    subschema: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """What an engine did with a schema: ``verdict`` is the worst fault, or ``ok``.

    ``stopped`` says that time was over before all was asked; ``answer`` is the engine's to the
    whole schema.
    """

    engine: str
    version: str
    findings: tuple[Finding, ...]
    answer: EngineAnswer
    stopped: bool = False

    @property
    def verdict(self) -> str:
        """``refuses``, ``weak``, ``rejects`` or ``ok``: the worst that was found."""
        faults = {finding.fault for finding in self.findings}
        worst = (Fault.REFUSES, Fault.WEAK, Fault.REJECTS)
        return next((fault.value for fault in worst if fault in faults), "ok")


class Exam:
    """What engines are asked about a schema, which is a JSON value.

    Valid documents of a ``closed`` schema have only members that it names. ``by_ours`` is False
    where the engine that is asked is our own, which cannot be a judge then. Several threads may
    ask: ``documents`` and ``witnesses`` are made under the ``lock``, so that they are made once.
    """

    def __init__(self, schema: Json, *, closed: bool = False, by_ours: bool = True) -> None:
        self.schema = schema
        self.closed = closed
        self.text = json.dumps(schema)
        self.judges = Judges(schema, self.text, by_ours=by_ours)
        self.lock = new_rlock()
        self._values = Values(self.judges)

    @cached_property
    def documents(self) -> list[Json]:
        """Valid documents: those that cover the schema, its own examples, and some at random."""
        made = self._values.documents()
        ours = self._usual()
        if ours is not None:
            random = Random(0)  # noqa: S311 - the same documents each time
            lengths = (8, 24, 60, 160) if len(made) > 2 else (8,) * 4 + (16, 24, 40, 60, 90, 160)
            for text in ours.drawn(lengths, random):
                try:
                    made.append(json.loads(text, parse_float=_number, parse_int=_integer))
                except ValueError:
                    continue
        by_text = {compact(document): document for document in made}
        valid = [
            document for text, document in by_text.items() if self.judges.are_for(document, text)
        ]
        return [d for d in valid if not (self.closed and undeclared(self.judges, d))]

    def _usual(self) -> GrammarTexts | None:
        """Return the documents as programs write them, None where we cannot keep the schema."""
        try:
            return GrammarTexts(Grammar.from_json_schema(self.text))
        except KbnfError:
            return None

    def spelling(self, asked: Asked, document: Json) -> str | None:
        """Return a text of a document that an engine takes, None where it takes none.

        Its spelling of blanks and escapes, and its order of members, do not count as faults.
        """
        result = next(filter(asked.accepts, spellings(document)), None)
        if result is not None:
            return result
        ordered = required_first(self.judges, document)
        is_other = compact(ordered) != compact(document)
        return next(filter(asked.accepts, spellings(ordered)), None) if is_other else None

    def takes(self, asked: Asked, document: Json) -> bool:
        """Return whether an engine takes a document in a spelling that it may write."""
        return self.spelling(asked, document) is not None

    @cached_property
    def violations(self) -> Violations:
        """The witnesses, from changes of the documents."""
        until = time.thread_time() + _TO_VIOLATE
        return Violations(self.judges, self._values, self.documents, until)

    @cached_property
    def witnesses(self) -> list[InvalidDocument]:
        """Documents that are invalid for one keyword each, a few for each keyword and pointer."""
        return self.violations.all()


def _number(text: str) -> float | int:
    """Return a number that is whole as an integer: their spelling does not count."""
    value = float(text)
    return int(value) if value.is_integer() and abs(value) < _EXACT else value


def _integer(text: str) -> int:
    """Return an integer that all readers of JSON agree about. Raises ``ValueError`` for others."""
    value = int(text)
    if abs(value) >= _EXACT:
        raise ValueError("an integer that many programs round")
    return value


def examine(exam: Exam, asked: Asked, seconds: float = SECONDS) -> Examined:
    """Ask an engine about a schema. Raises ``NotInstalledError`` where it cannot be asked."""
    asked.open()
    return _Examination(exam, asked, seconds).run()


class _Examination:
    def __init__(self, exam: Exam, asked: Asked, seconds: float) -> None:
        self._exam = exam
        self._asked = asked
        self._seconds = seconds
        self._until = inf
        is_listed = asked.adapter is None
        self._opens = ENGINES[asked.name].opens if is_listed else None
        self._version = version_of(asked.name) if is_listed else ""
        self._findings: list[Finding] = []
        self._stopped = False

    def run(self) -> Examined:
        answer = self._asked.compile(self._exam.text)
        # Time of processors, of both processes: an engine is not late because the machine is busy.
        self._until = time.thread_time() + self._asked.spent() + self._seconds
        with self._asked.less_time_than(answer):
            if not answer.takes:
                self._refusals(answer)
            else:
                self._weak()
                self._rejects()
        return Examined(
            self._asked.name, self._version, tuple(self._findings), answer, self._stopped
        )

    def _is_over(self) -> bool:
        spent = time.thread_time() + self._asked.spent()
        over = spent > self._until or len(self._findings) >= _MOST_FAULTS
        self._stopped = self._stopped or over
        return over

    def _add(
        self,
        fault: Fault,
        pointer: str,
        keyword: str,
        witness: str | None,
        words: str = "",
        subschema: str = "",
    ) -> None:
        finding = Finding(
            self._asked.name, self._version, fault, pointer, keyword, witness, words, subschema
        )
        reported = {(earlier.fault, earlier.pointer, earlier.keyword) for earlier in self._findings}
        if (fault, pointer, keyword) not in reported:
            self._findings.append(finding)

    def _refusals(self, answer: EngineAnswer) -> None:
        for refused in refused_fragments(self._exam.schema, self._asked, answer, self._is_over):
            words = refused.answer.words
            if refused.answer.how is not How.REFUSES:
                words = f"it {refused.answer.how.value}: {words}"
            subschema = json.dumps(refused.subschema, ensure_ascii=False)
            self._add(Fault.REFUSES, refused.pointer, refused.keyword, None, words, subschema)

    # What it does not enforce

    def _weak(self) -> None:
        named: set[tuple[str, str]] = set()
        with self._exam.lock:
            witnesses = self._exam.witnesses
        for witness in witnesses:
            if self._is_over():
                return
            key = witness.pointer, witness.keyword
            if key in named or not self._is_weak(witness):
                continue
            named.add(key)
            smaller = self._shrunk_witness(witness)
            pointer = smaller.keyword_pointer
            self._add(Fault.WEAK, pointer, smaller.keyword, self._spelling(smaller.document))

    def _is_weak(self, witness: InvalidDocument) -> bool:
        """Return whether the engine takes a witness, and two judges refuse it."""
        text = self._spelling(witness.document)
        alone = self._exam.violations.is_ours_alone(witness)
        return text is not None and self._exam.judges.are_against(
            witness.document, text, ours_alone=alone
        )

    def _spelling(self, document: Json) -> str | None:
        return self._exam.spelling(self._asked, document)

    def _takes(self, document: Json) -> bool:
        return self._spelling(document) is not None

    def _shrunk_witness(self, witness: InvalidDocument) -> InvalidDocument:
        def holds(document: Json) -> bool:
            smaller = replace(witness, document=document)
            return self._is_weak(smaller) and self._exam.violations.is_one(smaller)

        return replace(witness, document=shrunk(witness.document, holds, self._is_over))

    # What it rejects

    def _rejects(self) -> None:
        explained: list[Callable[[Json], bool]] = []
        with self._exam.lock:
            documents = self._exam.documents
        for document in documents:
            if self._is_over() or len(explained) - len(self._findings) > _MOST_REPEATED:
                return
            if self._takes(document) or any(fits(document) for fits in explained):
                continue
            smallest = shrunk(document, self._is_rejected, self._is_over)
            if not any(fits(smallest) for fits in explained):
                explained.append(self._explain(smallest))

    def _is_rejected(self, document: Json) -> bool:
        # The engine answers sooner than the judges.
        return not self._takes(document) and self._exam.judges.are_for(document, compact(document))

    def _explain(self, document: Json) -> Callable[[Json], bool]:
        """Report a rejected document; return a test of whether the same explains another one."""
        ordered = required_first(self._exam.judges, document)
        try:
            stop, ordered_stop = map(self._stop, (document, ordered))
        except EngineFailedError as error:
            words = f"it fails while it reads the document: {error}"
            self._add(Fault.REJECTS, "", "", compact(document), words)
            return lambda _: False
        if stop is None or ordered_stop is None:
            return lambda _: False
        # The engine gets further with required members first: it is not their order that is
        # explained.
        if ordered_stop > stop:
            document, stop = ordered, ordered_stop
        text = compact(document)
        path = _path_at(text, stop)
        reached = [
            visit
            for visit in visits(self._exam.judges, document)
            if visit.path == path[: len(visit.path)]
        ]
        opened = self._opened(document, reached)
        if opened is not None:
            return opened
        visit, keyword = self._blame(document, stop, reached)
        pointer = visit.pointer + (pointer_to(keyword) if keyword else "")
        self._add(Fault.REJECTS, pointer, keyword, text, f"it stops at byte {stop}")

        def explains(other: Json) -> bool:
            if not keyword:
                return False
            return self._takes_by(json.dumps(removed(self._exam.schema, pointer)), {}, other)

        return explains

    def _stop(self, document: Json) -> int | None:
        """Return how many bytes of a document the engine takes, None for all. Raises what it does.

        Blanks and escapes are written in one way.
        """
        return self._asked.reads(compact(document))

    def _takes_by(self, text: str, options: dict[str, Any], document: Json) -> bool:
        """Return whether the engine takes a document by another schema, or with options."""
        # An engine has one schema at a time, so that its own is compiled again.
        answer = self._asked.compile(text, options=options)
        taken = answer.takes and self._takes(document)
        self._asked.compile(self._exam.text)
        return taken

    def _opened(self, document: Json, reached: list[Visit]) -> Callable[[Json], bool] | None:
        """Report, once, that objects are closed that do not say so; None where that is not it."""
        closed = undeclared(self._exam.judges, document)
        bare = _without_all(document, closed)
        if not closed or not self._takes(bare):
            return None
        option = self._opens
        words = "objects that do not say `additionalProperties` are closed"
        if option is not None and self._takes_by(self._exam.text, dict([option]), document):
            words += f"; its option `{option[0]}={option[1]}` opens them"
        text = compact(document)
        pointer = next((visit_.pointer for visit_ in reached if visit_.path == closed[0][0]), "")
        self._add(Fault.REJECTS, pointer, "additionalProperties", text, words)

        def explains(other: Json) -> bool:
            more = undeclared(self._exam.judges, other)
            return bool(more) and self._takes(_without_all(other, more))

        return explains

    def _blame(self, document: Json, stop: int, reached: list[Visit]) -> tuple[Visit, str]:
        """Return the place and keyword without which the engine takes the document.

        Where there is none, several parts are at fault: then it is one without which the engine
        reads past where it stops.
        """
        reach_of: dict[str, float] = {}

        def reach(pointer: str, schema: Json) -> float:
            path = tuple(steps_of(pointer))
            changed = json.dumps(replaced(self._exam.schema, path, schema))
            if changed not in reach_of:
                reach_of[changed] = -1 if self._is_over() else self._reach(changed, document)
            return reach_of[changed]

        for least in (len(compact(document).encode("utf-8", "surrogatepass")), stop):
            for visit in reversed(reached):
                keyword = _blamed(visit, lambda *changed, most=least: reach(*changed) > most)
                if self._is_over():
                    return reached[-1], ""
                if keyword is not None:
                    return visit, keyword
        # Not even the type alone is read as it should be.
        return reached[-1], "type" if "type" in reached[-1].schema else ""

    def _reach(self, schema: str, document: Json) -> float:
        """Return how many bytes of a document the engine takes by a schema, more than all for all.

        Nothing is less than none.
        """
        taken: int | None = -1
        if self._asked.compile(schema).takes:
            try:
                taken = self._stop(document)
            except EngineFailedError:
                taken = -1
        self._asked.compile(self._exam.text)
        return inf if taken is None else taken


def _blamed(visit: Visit, passes: Callable[[str, Json], bool]) -> str | None:
    """Return the keyword of a schema that is to blame, `""` for all of it; None if none is.

    ``passes`` says whether the engine reads on with another schema at a pointer.
    """
    schema, pointer = visit.schema, visit.pointer
    bare = {"type": schema["type"]} if "type" in schema else {}
    if not schema and passes(pointer, {"enum": [visit.value]}):
        return ""
    if len(schema) > len(bare) and passes(pointer, bare):
        for keyword in _from_inside(visit):
            if not passes(pointer, {**bare, keyword: schema[keyword]}):
                return keyword
    for keyword in _from_inside(visit):
        if passes(pointer, {name: inner for name, inner in schema.items() if name != keyword}):
            return keyword
    return None


def _from_inside(visit: Visit) -> Iterator[str]:
    """Yield the keywords of a schema that can be to blame, those that assert first."""
    applied = ("properties", "items", "$ref", "$defs", "definitions", "type")
    silent = ("$schema", "$id", "id", "title", "description", "$comment", "examples", "default")
    keywords = [keyword for keyword in visit.schema if keyword not in silent]
    yield from sorted(keywords, key=lambda keyword: keyword in applied)


def _path_at(text: str, stop: int) -> tuple[str | int, ...]:
    """Return the path of the value that is being written at a byte of a document."""
    offset = len(text.encode("utf-8", "surrogatepass")[:stop].decode("utf-8", "ignore"))
    nearest = ""
    for pointer, span in pointers(text):
        if span.start <= offset:
            nearest = pointer
    value = json.loads(text)
    path: list[str | int] = []
    for step in steps_of(nearest):
        key: str | int = int(step) if isinstance(value, list) else step
        path.append(key)
        try:
            value = value[key]
        except LookupError:
            break
    return tuple(path)


def undeclared(judges: Judges, document: Json) -> list[tuple[tuple[str | int, ...], str]]:
    """Return the members, by path and name, of which no schema says anything."""
    declared: dict[tuple[str | int, ...], list[Visit]] = {}
    for visit in visits(judges, document):
        if isinstance(visit.value, dict):
            declared.setdefault(visit.path, []).append(visit)
    return [
        (path, name)
        for path, inner in declared.items()
        for name in inner[0].value
        if not any(declares(visit.schema, name) for visit in inner)
    ]


def _without_all(document: Json, members: list[tuple[tuple[str | int, ...], str]]) -> Json:
    for path, name in members:
        document = _without_member(document, path, name)
    return document


def _without_member(document: Json, path: tuple[str | int, ...], name: str) -> Json:
    pointer = pointer_to(*path)
    try:
        inner = at(document, pointer)
    except LookupError:
        return document
    fewer = {key: inner for key, inner in inner.items() if key != name}
    return replaced(document, path, fewer)


def shrunk(document: Json, holds: Callable[[Json], bool], is_over: Callable[[], bool]) -> Json:
    """Return a smaller document, for which ``holds`` is true, by leaving out and shortening."""
    left = _SHRINKING
    changed = True
    while changed and left > 0:
        changed = False
        for smaller in _smaller(document):
            left -= 1
            if left <= 0 or is_over():
                return document
            if holds(smaller):
                document, changed = smaller, True
                break
    return document


def _smaller(document: Json) -> Iterator[Json]:
    """Yield documents with less: large parts are left out first, and then values made simple."""
    paths = list(_paths(document))
    for path in paths:
        value = at(document, pointer_to(*path))
        if isinstance(value, dict):
            if len(value) > 3:
                names = list(value)
                half = len(names) // 2
                for kept in (names[:half], names[half:]):
                    yield replaced(document, path, {name: value[name] for name in kept})
            for name in value:
                yield replaced(
                    document, path, {key: inner for key, inner in value.items() if key != name}
                )
        elif isinstance(value, list):
            for index in range(min(len(value), 6)):
                yield replaced(document, path, [*value[:index], *value[index + 1 :]])
    for path in paths:
        value = at(document, pointer_to(*path))
        for simple in _simpler(value):
            yield replaced(document, path, simple)


def _simpler(value: Json) -> Iterator[Json]:
    if isinstance(value, dict | list):
        if value:
            yield from (0, "", type(value)())
    elif isinstance(value, str):
        if len(value) > 8:
            yield from (value[: len(value) // 2], value[len(value) // 2 :])
        if value and len(value) <= 40:
            yield ""
            yield from (value[:index] + value[index + 1 :] for index in range(min(len(value), 8)))
    elif isinstance(value, int | float) and value not in (0, True, False):
        yield 0


def _paths(document: Json) -> Iterator[tuple[str | int, ...]]:
    pending: list[tuple[tuple[str | int, ...], Json]] = [((), document)]
    while pending:
        path, value = pending.pop(0)
        yield path
        if isinstance(value, dict):
            pending += [((*path, name), inner) for name, inner in value.items()]
        elif isinstance(value, list):
            pending += [((*path, index), inner) for index, inner in enumerate(value[:8])]


LANGUAGES = {"gbnf": GBNF, "lark": LARK}
"""The languages of engines' grammars."""

_SHORTEST = 8
_LENGTHS = (6, 12, 24, 48, 96)
_MISSES = 40
_MOST = 3
"""Texts of a kind that are reported."""


def reads_grammars(name: str) -> bool:
    """Return whether an engine has a language of grammars."""
    return ENGINES[name].language is not None


def examine_grammar(grammar: Grammar, asked: Asked) -> Examined | None:
    """Ask an engine about a grammar; None where that cannot be written in the engine's language.

    The end of generation does not matter here: engines offer their end at every complete text.
    Raises ``NotInstalledError``.
    """
    name = ENGINES[asked.name].language
    if name is None:
        return None
    text = _written(grammar, LANGUAGES[name])
    if text is None:
        return None
    version = version_of(asked.name)
    answer = asked.compile(text, name)
    if not answer.takes:
        words = answer.words
        if answer.how is not How.REFUSES:
            words = f"it {answer.how.value}: {words}"
        refusal = Finding(asked.name, version, Fault.REFUSES, "", words=words)
        return Examined(asked.name, version, (refusal,), answer)
    return Examined(asked.name, version, tuple(_differences(grammar, asked, version)), answer)


def _written(grammar: Grammar, language: Language) -> str | None:
    if grammar.language is language:
        return grammar.source.text
    try:
        made = convert(grammar.source.text, grammar.language, language, start=grammar.start)
    except KbnfError:
        return None
    return made.text if all(loss.code == "W403" for loss in made.losses) else None


def _differences(grammar: Grammar, asked: Asked, version: str) -> Iterator[Finding]:
    texts = GrammarTexts(grammar)
    random = Random(0)  # noqa: S311 - the same texts each time
    passed_texts = dict.fromkeys((*texts.shortest(_SHORTEST), *texts.drawn(_LENGTHS, random)))
    rejected = [text for text in passed_texts if texts.has(text) and not asked.accepts(text)]
    misses = dict.fromkeys(near_misses(list(passed_texts), random))
    taken = [text for text in misses if not texts.has(text) and asked.accepts(text)]
    for fault, differing in ((Fault.REJECTS, rejected), (Fault.WEAK, taken)):
        for text in sorted(differing, key=len)[:_MOST]:
            yield Finding(asked.name, version, fault, "", witness=text)


def near_misses(texts: list[str], random: Random) -> Iterator[str]:
    """Yield texts that differ from known ones in a character."""
    letters = sorted({letter for text in texts for letter in text} | set('a0 ".\n'))
    for _ in range(_MISSES if texts else 0):
        text = random.choice(texts)
        index = random.randrange(len(text) + 1)
        letter = random.choice(letters)
        yield from (
            text[:index] + letter + text[index:],
            text[:index] + letter + text[index + 1 :],
            text[:index] + text[index + 1 :],
        )
