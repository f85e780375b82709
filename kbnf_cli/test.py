"""``kbnf test``: run the examples of grammars.

The results of ``kbnf test`` for one grammar (examples, coverage), and their display.

Tests: tests/cli/test_advice.py, tests/cli/test_any_grammar.py
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kbnf_cli.console import Console, Exit
from kbnf_cli.escaped import escaped
from kbnf_cli.files import CHECKED, STDIN, find_grammars, read_bytes
from kbnf_cli.inputs import GRAMMAR, FileInputs, Inputs, read_vocabulary
from kbnf_cli.mask_report import symbol_at
from kbnf_cli.options import (
    as_value,
    common_options,
    config_options,
    file_options,
    format_option,
    grammar_options,
    schema_options,
    stdin_option,
    vocabulary_options,
)
from kbnf_cli.watching import watch, watch_option
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.diagnostics.formats import JunitCase, junit_text, span_value
from kbnf_core.text.diagnostics.segments import Role, Segment, Segments, visible
from kbnf_core.text.diagnostics.text import location_of, render_concise, render_text
from kbnf_core.text.errors import GrammarError, SourceError
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core import Grammar, Vocabulary
    from kbnf_core.examples.cases import Coverage, Example, ExampleOutcome, Expectation


@dataclass(frozen=True, slots=True)
class Case:
    """One test. ``kind`` is accept, reject or next; ``status`` passed, failed or skipped.

    ``offset``: how many bytes of a text that should be accepted were right, None otherwise.
    """

    kind: str
    name: str
    subject: str
    why: str
    status: str
    message: str
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Covered:
    """The rules and alternatives that the examples of a grammar use, and its text."""

    source: Source
    coverage: "Coverage"


@dataclass(frozen=True, slots=True)
class Suite:
    """The tests of one grammar; ``errors`` say why the grammar cannot be used, if it cannot."""

    name: str
    cases: tuple[Case, ...] = ()
    errors: tuple[Diagnostic, ...] = ()
    covered: Covered | None = None

    def count(self, status: str) -> int:
        """Return the number of tests with this status."""
        return sum(case.status == status for case in self.cases)

    @property
    def fails(self) -> bool:
        """Whether something is wrong."""
        return bool(self.errors) or self.count("failed") > 0


def run_suite(
    console: Console,
    inputs: Inputs,
    path: Path,
    vocabulary: "Vocabulary",
    with_coverage: bool,
) -> Suite:
    """Run all tests of the grammar at ``path``.

    Raises ``ExampleError`` for malformed ones, and ``SourceError`` for files that cannot be read.
    """
    name = inputs.name_of(path).as_posix()
    try:
        grammar = inputs.grammar(path, vocabulary)
    except GrammarError as error:
        return Suite(name, errors=error.diagnostics)
    console.diagnostics(grammar.losses)
    outcomes = _outcomes(grammar, path, vocabulary)
    _note_recordings(console, path)
    covered = _cover(grammar, outcomes) if with_coverage else None
    return Suite(name, tuple(map(_case, outcomes)), (), covered)


def _outcomes(grammar: "Grammar", path: Path, vocabulary: "Vocabulary") -> "list[ExampleOutcome]":
    from kbnf_core import Engine
    from kbnf_core.examples.cases import run_examples

    examples = list(_examples(grammar, path))
    return list(run_examples(Engine(grammar, vocabulary), examples)) if examples else []


def _examples(grammar: "Grammar", path: Path) -> "Iterator[Example | Expectation]":
    from kbnf_core.examples.cases import examples_path, read_comments, read_toml

    beside = examples_path(path)
    if path != STDIN and beside.exists():
        yield from read_toml(_read_text(beside), str(beside))
    if not grammar.language.is_json:
        yield from read_comments(grammar.reading.document)


def _case(outcome: "ExampleOutcome") -> Case:
    from kbnf_core.examples.cases import Example

    example, status = outcome.example, outcome.status.value
    if isinstance(example, Example):
        kind = "accept" if example.accepted else "reject"
        subject = escaped(example.data)
        message, offset = outcome.message, outcome.offset
        return Case(kind, example.name, subject, example.why, status, message, offset)
    symbol = example.symbol if isinstance(example.symbol, int) else escaped(example.symbol)
    subject = f"{symbol} after {escaped(example.after)}"
    return Case("next", example.name, subject, "", status, outcome.message)


def _cover(grammar: "Grammar", outcomes: "list[ExampleOutcome]") -> Covered | None:
    from kbnf_core.examples.cases import Example, Status, cover

    passed = [outcome.example for outcome in outcomes if outcome.status is Status.PASSED]
    texts = [
        example.data for example in passed if isinstance(example, Example) and example.accepted
    ]
    return Covered(grammar.source, cover(grammar.named_rules, texts, _authors_names(grammar)))


_NAME = re.compile(r"[\w-]+")


def _authors_names(grammar: "Grammar") -> dict[str, str | None]:
    """Return the author's name of each rule; None for rules that a conversion made."""
    source = grammar.source
    result = {}
    for name, span in grammar.names.items():
        written = source.slice(span)
        result[name] = written if _NAME.fullmatch(written) else None
    return result


def _note_recordings(console: Console, path: Path) -> None:
    """Name the sessions that earlier versions recorded beside a grammar: they are not run."""
    for file in () if path == STDIN else sorted(path.parent.glob(f"{path.stem}.*")):
        if file.name.endswith(".play.jsonl"):
            console.note(
                f"{file} is not run: write its checks as `[[next]]` examples, which `:assert` of"
                f" `kbnf play` adds, or its lines as a script for `kbnf play {path.name} < SCRIPT`"
            )


def _read_text(file: Path) -> str:
    try:
        return read_bytes(file).decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(str(file), f"it is not UTF-8: {error.reason}") from error


SCHEMA = "kbnf.test/1"

_ROLES = {"failed": Role.ERROR, "skipped": Role.WARNING, "passed": Role.HELP}


def as_text(suites: Sequence[Suite]) -> Segments:
    """Return a line for each grammar, and below it the failed and skipped examples."""
    return [segment for suite in suites for segment in _suite_text(suite)]


def _suite_text(suite: Suite) -> Segments:
    counts = [f"{suite.count(status)} {status}" for status in _ROLES if suite.count(status)]
    head = "error" if suite.errors else ", ".join(counts) or "no examples"
    role = Role.ERROR if suite.fails else Role.TITLE
    lines = [Segment(visible(suite.name), Role.TITLE), Segment(": "), Segment(f"{head}\n", role)]
    for error in suite.errors:
        lines.extend(render_text(error))
    for case in suite.cases:
        lines.extend(_case_text(case))
    if suite.covered is None or not suite.cases:
        return lines
    return [*lines, *_coverage_text(suite.covered)]


def _case_text(case: Case) -> Segments:
    if case.status == "passed":
        return []
    why = f" ({visible(case.why)})" if case.why else ""
    return [
        Segment(f"  {case.status}", _ROLES[case.status]),
        Segment(f" {case.kind} {describe(case)}{why}: {visible(case.message)}\n"),
    ]


def describe(case: Case) -> str:
    """Return where a test is and, shortened, its text."""
    subject = case.subject if len(case.subject) <= 60 else f"{case.subject[:57]}..."
    return f"{visible(case.name)} {subject}".rstrip()


def _coverage_text(covered: Covered) -> Segments:
    coverage, source = covered.coverage, covered.source
    rules, alternatives = len(coverage.rules), len(coverage.alternatives)
    used = alternatives - len(coverage.unused_alternatives)
    lines = [
        f"used: {rules - len(coverage.unused_rules)} of {rules} rules, "
        f"{used} of {alternatives} alternatives",
        *(f"unused rule: {name}" for name in coverage.unused_rules),
    ]
    if coverage.given_up:
        lines.append(
            f"not looked at, for they have too many derivations: {coverage.given_up} examples"
        )
    for alternative in coverage.unused_alternatives:
        if alternative.rule not in coverage.unused_rules:
            text = " ".join(symbol_at(source, alternative.span).split())
            position = location_of(source, alternative.span)
            lines.append(f"unused alternative of {alternative.rule}: {text} at {position}")
    return [Segment(f"  {line}\n") for line in lines]


def as_json(suites: Sequence[Suite]) -> Segments:
    """Return the object that ``schemas/test.schema.json`` describes."""
    summary = {role: sum(suite.count(role) for suite in suites) for role in sorted(_ROLES)}
    value = {
        "schema": SCHEMA,
        "grammars": [_suite_value(suite) for suite in suites],
        "summary": {**summary, "errors": sum(bool(suite.errors) for suite in suites)},
    }
    return [Segment(json.dumps(value, ensure_ascii=False, indent=2) + "\n")]


def _suite_value(suite: Suite) -> dict[str, Any]:
    value: dict[str, Any] = {
        "path": suite.name,
        "errors": [_one_line(error) for error in suite.errors],
        "cases": [_case_value(case) for case in suite.cases],
    }
    if suite.covered is not None:
        value["coverage"] = _coverage_value(suite.covered)
    return value


def _case_value(case: Case) -> dict[str, Any]:
    members = ("kind", "name", "subject", "why", "status", "message", "offset")
    return {name: getattr(case, name) for name in members}


def _coverage_value(covered: Covered) -> dict[str, Any]:
    coverage = covered.coverage
    return {
        "rules": len(coverage.rules),
        "unused_rules": list(coverage.unused_rules),
        "alternatives": len(coverage.alternatives),
        "unused_alternatives": [
            {
                "rule": alternative.rule,
                "span": span_value(covered.source, alternative.span),
            }
            for alternative in coverage.unused_alternatives
        ],
        "given_up": coverage.given_up,
    }


_TAGS = {"passed": "", "failed": "failure", "skipped": "skipped"}


def as_junit(suites: Sequence[Suite]) -> Segments:
    """Return JUnit's XML: a suite for each grammar; a grammar with errors is a failed test."""
    return [Segment(junit_text({"name": "kbnf"}, map(_junit_suite, suites)))]


def _junit_suite(suite: Suite) -> tuple[dict[str, str], str, list[JunitCase]]:
    errors = [
        Case("grammar", error.code, "", "", "failed", _one_line(error)) for error in suite.errors
    ]
    cases = [*suite.cases, *errors]
    name = visible(suite.name)
    attributes = {
        "name": name,
        "tests": str(len(cases)),
        "failures": str(suite.count("failed") + len(errors)),
        "skipped": str(suite.count("skipped")),
    }
    tests: list[JunitCase] = [
        (
            f"{case.kind} {describe(case)}",
            _TAGS[case.status],
            {"message": visible(case.message)},
            None,
        )
        for case in cases
    ]
    return attributes, name, tests


def _one_line(diagnostic: Diagnostic) -> str:
    return "".join(text for text, _ in render_concise(diagnostic)).strip()


@dataclass(frozen=True, kw_only=True)
class SuiteInputs(Inputs, FileInputs):
    """The inputs of a run of ``kbnf test``."""

    reads_several = True


_FORMATS = {"text": as_text, "json": as_json, "junit": as_junit}


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=GRAMMAR)
@format_option(_FORMATS, "Output format.")
@click.option("--coverage", is_flag=True, help="Show which rules and alternatives no example uses.")
@watch_option("Test")
@file_options
@vocabulary_options
@grammar_options
@schema_options
@stdin_option
@config_options
@common_options
@click.pass_obj
@as_value(SuiteInputs)
def test(
    console: Console,
    inputs: SuiteInputs,
    paths: tuple[Path, ...],
    format_: str,
    coverage: bool,
    watches: bool,
) -> int:
    """Run the examples of grammars.

    PATH is a grammar in any supported language, a directory to search (schemas as *.schema.json,
    *.tools.json), or `-` for stdin; the default is the current directory. Examples of
    GRAMMAR.kbnf are in GRAMMAR.examples.toml beside it, and in comments such as (* kbnf: accept
    "text" *) in it. Exits with 1 if one fails.
    """
    paths = paths or (Path(),)
    run = partial(_run, console, inputs, format_, coverage)
    if watches:
        return watch(console, paths, lambda: inputs.choice(CHECKED), run, _beside)
    return run(find_grammars(paths, console.note, inputs.choice(CHECKED)))


def _run(
    console: Console, inputs: Inputs, format_: str, coverage: bool, files: Sequence[Path]
) -> int:
    settings_for = inputs.settings_source()
    vocabulary_for = cache(partial(read_vocabulary, console))
    suites = []
    for path in console.track(files, "testing"):
        settings = settings_for(inputs.name_of(path))
        vocabulary = vocabulary_for(*inputs.vocabulary(settings))
        try:
            suite = run_suite(console, inputs, path, vocabulary, coverage)
        except SourceError as error:
            console.problem(error)
            continue
        suites.append(suite)
    if not suites:
        return Exit.CLEAN
    if not any(suite.cases or suite.errors for suite in suites):
        console.note("no examples: put them into GRAMMAR.examples.toml beside GRAMMAR.kbnf")
    console.data(_FORMATS[format_](suites))
    return Exit.FINDINGS if any(suite.fails for suite in suites) else Exit.CLEAN


def _beside(grammar: Path) -> Iterator[Path]:
    """Yield the files that belong to a grammar by their names, as its examples do."""
    yield from grammar.parent.glob(f"{grammar.stem}.*")
