"""Findings of targets about schemas: engines that are asked, and services by what they document.

A target is an engine (``engines``) or a hosted service. ``check_targets`` asks all targets of a
``Panel`` about each schema of a text, which is a JSON Schema or a list of tools.

Tests: tests/unit/targets/test_exam.py
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import product
from statistics import median
from typing import Any, TypeVar

from kbnf_core.grammar import Grammar
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST, Language, detect
from kbnf_core.languages.json_schema import Service
from kbnf_core.languages.json_schema.advice import AS_OF, STRICT, check_service
from kbnf_core.languages.json_schema.keywords import Problem
from kbnf_core.languages.tools.forms import OF_SERVICES, refusals, tools_of
from kbnf_core.targets import ALL, HOST_NAMES, SERVICE_NAMES, engines_of
from kbnf_core.targets.engines import ENGINES
from kbnf_core.targets.exam import (
    Exam,
    Examined,
    Fault,
    Finding,
    examine,
    examine_grammar,
    reads_grammars,
)
from kbnf_core.targets.judges import Json, pointer_to, shown
from kbnf_core.targets.process import (
    Asked,
    NotInstalledError,
    installed,
    not_installed,
    version_of,
)
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.files import BELOW, Imports
from kbnf_core.text.source import Source, Span

CODES = {Fault.REFUSES: "E503", Fault.WEAK: "W504", Fault.REJECTS: "W505", Fault.COST: "I506"}

_SECONDS = 1.0
_RATIO = 10
_NOTABLE_SECONDS, _NOTABLE_BYTES = 0.1, 100 << 20
"""Costs below which ratios say nothing."""


@dataclass(frozen=True, slots=True)
class PanelTarget:
    """The version of an engine that a panel asks, or the date of a service's document."""

    name: str
    version: str
    how: str

    @property
    def summary(self) -> str:
        """The target in a few words."""
        return f"{self.name} {self.version} ({self.how})"


NOT_INSTALLED = "not installed"


@dataclass(frozen=True, slots=True)
class Row:
    """What a target did with a schema: ``ok``, ``weak``, ``rejects`` or ``refuses``.

    That of an engine that was not asked is ``not installed``.
    """

    tool: str
    target: str
    verdict: str


@dataclass(frozen=True, slots=True)
class Checked:
    """The findings about a text, and a row for each schema and target."""

    findings: tuple[Diagnostic, ...] = ()
    rows: tuple[Row, ...] = ()


T = TypeVar("T")


class Panel:
    """The targets of a run; engines are asked in one process each.

    ``names`` are those of engines, hosts and services, and ``all`` for the engines. Raises
    ``NotInstalledError`` for one that is not installed; of ``all``, or of a host's engines, those
    that are installed are enough, and ``missing`` are the others. One that is
    installed and cannot be loaded is asked no more, and no target any longer: ``failures`` have the
    reasons.
    """

    def __init__(self, names: Sequence[str]) -> None:
        wanted: dict[str, str] = {}
        there = installed()
        missing: list[str] = []
        for name in names:
            engines = engines_of(ENGINES if name == ALL else (name,))
            if name == ALL or name in HOST_NAMES:
                missing += [engine_name for engine_name in engines if engine_name not in there]
                engines = {
                    engine_name: engines[engine_name]
                    for engine_name in engines
                    if engine_name in there
                }
                if not engines:
                    raise NotInstalledError(not_installed(missing))
            for engine_name, note in engines.items():
                wanted[engine_name] = "; ".join(filter(None, (wanted.get(engine_name), note)))
        self.missing = tuple(dict.fromkeys(missing))
        self.targets = tuple(_target(name, note) for name, note in wanted.items())
        self.failures: list[str] = []
        self._asked = {name: Asked(name) for name in wanted if name in ENGINES}

    def results(self, examine: Callable[[Asked], T | None]) -> list[T]:
        """Return the results of asking each engine, all of them at the same time."""

        def ask(asked: Asked) -> T | NotInstalledError | None:
            try:
                return examine(asked)
            except NotInstalledError as error:
                return error

        engines = list(self._asked.values())
        if not engines:
            return []
        with ThreadPoolExecutor(len(engines)) as threads:
            answers = list(threads.map(ask, engines))
        result = []
        for asked, answer in zip(engines, answers, strict=True):
            if isinstance(answer, NotInstalledError):
                del self._asked[asked.name]
                self.targets = tuple(
                    engine_name for engine_name in self.targets if engine_name.name != asked.name
                )
                self.failures.append(str(answer))
            elif answer is not None:
                result.append(answer)
        return result

    @property
    def services(self) -> list[Service]:
        """The services."""
        return [Service(service.name) for service in self.targets if service.name in SERVICE_NAMES]

    def close(self) -> None:
        """End the processes."""
        for asked in self._asked.values():
            asked.close()


def _target(name: str, note: str) -> PanelTarget:
    if name in SERVICE_NAMES:
        return PanelTarget(name, AS_OF[Service(name)], "as documented then")
    how = ENGINES[name].defaults
    return PanelTarget(name, version_of(name), f"{how}; {note}" if note else how)


HAVE_SCHEMAS = (JSON_SCHEMA, TOOL_LIST)
"""The languages whose texts are asked about schema by schema; others are as grammars."""


def ask_installed(text: str, path: str) -> tuple[Checked, tuple[PanelTarget, ...]]:
    """Ask the engines that are installed about a text in any language, and return which were asked.

    Where the text has errors, nothing is found here. Raises ``NotInstalledError`` where no engine
    is installed, or can be loaded.
    """
    language = detect(text, path)
    panel = Panel([ALL])
    try:
        if language in HAVE_SCHEMAS:
            checked = check_targets(Source(text, path, is_json=True), language, panel)
        else:
            checked = check_grammar(Grammar.read(text, language, path=path, lossy=True), panel)
    except GrammarError:
        checked = Checked()
    finally:
        panel.close()
    if panel.failures and not panel.targets:
        raise NotInstalledError(panel.failures[0])
    return checked, panel.targets


def check_targets(
    source: Source,
    language: Language,
    panel: Panel,
    imports: Imports = BELOW,
    *,
    closed: bool | None = None,
) -> Checked:
    """Ask the targets of a panel about each schema of a text that ``is_json``.

    ``imports`` says which files it may refer to. ``closed`` is the option of JSON Schemas: no
    engine has to take members that the schema does not name. None is the default of the language.
    """
    closed = language is TOOL_LIST if closed is None else closed
    strict = _strict_tools(source) if language is TOOL_LIST else {""}
    findings: list[Diagnostic] = []
    rows: list[Row] = []
    schemas = list(schemas_of(source, language, imports))
    exams = [Exam(schema, closed=closed) for _, _, schema in schemas]
    # No engine waits for another one: each goes through all schemas.
    by_engine = panel.results(lambda asked: [examine(exam, asked) for exam in exams])
    for number, (tool, prefix, _) in enumerate(schemas):
        results = [finding[number] for finding in by_engine]
        for result in results:
            rows.append(Row(tool, result.engine, result.verdict))
            reported = (*result.findings, *costs(result, results))
            findings += [diagnostic(source, finding, prefix, tool) for finding in reported]
            if result.stopped:
                message = f"{result.engine} was not asked about all of the schema: it takes long"
                findings.append(Diagnostic("I901", message, source, source.locate(prefix)))
        for service in panel.services:
            asks = service not in STRICT or tool in strict
            problems = check_service(exams[number].judges.document, service) if asks else []
            rows.append(Row(tool, service.value, "refuses" if problems else "ok"))
            findings += [_refused(source, service, problem, prefix, tool) for problem in problems]
        rows += [Row(tool, name, NOT_INSTALLED) for name in panel.missing]
    if language is TOOL_LIST:
        findings += _names_refused(source, panel.services)
    return Checked(tuple(_not_ignored(findings, source)), tuple(rows))


def _refused(
    source: Source, service: Service, problem: Problem, prefix: str, tool: str
) -> Diagnostic:
    """Return a finding of what a service refuses."""
    pointer = prefix + problem.pointer
    return Diagnostic(
        problem.code,
        f"{pointer or 'the whole schema'}: {problem.message}",
        source,
        source.locate(pointer),
        notes=(f"as {service.value} documented it on {AS_OF[service]}",),
        helps=(problem.help,) if problem.help else (),
        details=_details(service.value, AS_OF[service], "refuses", pointer, "", None, tool),
    )


def _strict_tools(source: Source) -> set[str]:
    """Return the names of the tools that ask for the strict mode of a service."""
    try:
        tools = tools_of(json.loads(source.text)).tools
    except (ValueError, RecursionError):
        return set()
    return {tool.name for tool in tools if tool.strict is not None}


def _names_refused(source: Source, services: Sequence[Service]) -> Iterator[Diagnostic]:
    """Yield what services refuse in names and outermost schemas, whatever the form of the list."""
    try:
        tools = tools_of(json.loads(source.text)).tools
    except (ValueError, RecursionError):
        return
    for tool, service in product(tools, services):
        form = OF_SERVICES.get(service)
        for problem in refusals(tool, form) if form else ():
            yield _refused(source, service, problem, "", tool.name)


def check_grammar(grammar: Grammar, panel: Panel) -> Checked:
    """Ask the engines of a panel about a grammar, those that read any."""
    source, start = grammar.source, grammar.reading.start_span
    findings: list[Diagnostic] = []
    rows: list[Row] = []
    for result in panel.results(partial(examine_grammar, grammar)):
        rows.append(Row("", result.engine, result.verdict))
        findings += [diagnostic(source, finding, span=start) for finding in result.findings]
    rows += [Row("", name, NOT_INSTALLED) for name in panel.missing if reads_grammars(name)]
    return Checked(tuple(findings), tuple(rows))


def schemas_of(
    source: Source, language: Language, imports: Imports = BELOW
) -> Iterator[tuple[str, str, Json]]:
    """Yield the schemas of a text: the tool's name where it is one's, the pointer, the schema."""
    try:
        value = json.loads(language.self_contained(source.text, source.path, imports))
    except (ValueError, RecursionError):
        return
    if language is TOOL_LIST:
        for tool in tools_of(value).tools:
            if tool.schema is not None:
                # Counts that Gemini has as texts are read as exact numbers.
                schema = json.loads(json.dumps(tool.schema, default=int))
                yield tool.name, tool.schema_pointer, schema
    elif isinstance(value, dict | bool):
        yield "", "", value


def costs(result: Examined, results: Sequence[Examined]) -> Iterator[Finding]:
    """Yield what a schema costs an engine, where that is much beside the others, or at all."""
    answer = result.answer
    if not answer.takes:
        return
    others = [other.answer for other in results if other is not result and other.answer.takes]
    seconds = median(other.seconds for other in others) if others else 0.0
    used = median(other.bytes for other in others) if others else 0
    words = []
    is_slower = answer.seconds > _NOTABLE_SECONDS and answer.seconds > _RATIO * seconds > 0
    if answer.seconds > _SECONDS or is_slower:
        words.append(f"{answer.seconds:.1f} s to compile")
    if answer.bytes > _NOTABLE_BYTES and answer.bytes > _RATIO * used > 0:
        words.append(f"{answer.bytes >> 20:,} MB of memory")
    if words:
        name, number = result.engine, result.version
        yield Finding(name, number, Fault.COST, "", words=" and ".join(words))


def diagnostic(
    source: Source, finding: Finding, prefix: str = "", tool: str = "", span: Span | None = None
) -> Diagnostic:
    """Return a finding as one about the text, where the schema is at the pointer ``prefix``.

    With ``span`` the text is a grammar, and the finding is shown there.
    """
    pointer = prefix + finding.pointer
    engine = f"{finding.engine} {finding.version}"
    notes: tuple[str, ...] = ()
    document = shown(finding.witness or "")
    subject = "the schema" if span is None else "the grammar"
    match finding.fault:
        case Fault.REFUSES:
            of_tool = f" of the tool `{tool}`" if tool else ""
            message = f"{engine} refuses {subject}{of_tool}: {finding.words}"
            if span is None:
                notes = (f"the smallest part that it refuses: {shown(finding.part)}",)
        case Fault.WEAK if span is None:
            keyword = f"`{finding.keyword}`" if finding.keyword else "this"
            message = f"{engine} does not enforce {keyword}: it accepts {document}"
        case Fault.WEAK:
            message = f"{engine} accepts {document}, which the grammar does not allow"
        case Fault.REJECTS:
            message = f"{engine} rejects {document}, which {subject} allows"
            notes = (finding.words,) if finding.words else ()
        case Fault.COST:
            message = f"{engine} takes {finding.words}"
    identity = (finding.engine, finding.version, finding.fault.value, pointer, finding.keyword)
    return Diagnostic(
        CODES[finding.fault],
        message,
        source,
        source.locate(pointer) if span is None else span,
        notes=notes,
        details=_details(*identity, finding.witness, tool),
    )


def _details(
    engine: str,
    version: str,
    fault: str,
    pointer: str,
    keyword: str,
    witness: str | None,
    tool: str,
) -> tuple[tuple[str, str], ...]:
    given = [("engine", engine), ("version", version), ("fault", fault), ("pointer", pointer)]
    given += [("keyword", keyword)] if keyword else []
    given += [] if witness is None else [("witness", witness)]
    given += [("tool", tool)] if tool else []
    return tuple(given)


_IGNORE = re.compile(r"kbnf:\s*ignore\[([\w\s,]*)\]")


def _not_ignored(findings: Sequence[Diagnostic], source: Source) -> Iterator[Diagnostic]:
    """Yield what no pragma silences: `"$comment": "kbnf: ignore[CODE]"`, in its schema."""
    silenced = list(_pragmas(source))
    for finding in findings:
        pointer = dict(finding.details).get("pointer", "")
        if not any(
            finding.code in codes and f"{pointer}/".startswith(f"{silenced_at}/")
            for silenced_at, codes in silenced
        ):
            yield finding


def _pragmas(source: Source) -> Iterator[tuple[str, frozenset[str]]]:
    if "kbnf:" not in source.text:
        return
    pending: list[tuple[str, Any]] = [("", json.loads(source.text))]
    while pending:
        pointer, value = pending.pop()
        if isinstance(value, dict):
            match = _IGNORE.search(str(value.get("$comment", "")))
            if match is not None:
                yield pointer, frozenset(code.strip() for code in match[1].split(","))
            pending += [(pointer + pointer_to(key), inner) for key, inner in value.items()]
        elif isinstance(value, list):
            pending += [(pointer + pointer_to(key), inner) for key, inner in enumerate(value)]
