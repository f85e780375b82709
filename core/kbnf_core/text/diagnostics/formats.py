"""Findings for programs: JSON, SARIF 2.1.0 (OASIS 2020), GitHub's annotations, and JUnit's XML.

The shape of the JSON is published in ``check.schema.json`` beside this file. Positions are those of
``source.Position``; ends are exclusive.

Tests: tests/unit/text/test_json.py
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeAlias

from kbnf_core.text.diagnostics import Diagnostic, Fix
from kbnf_core.text.diagnostics.catalogue import CATALOGUE, Rule, Severity, read_page
from kbnf_core.text.diagnostics.segments import plain, visible
from kbnf_core.text.diagnostics.stored import fingerprints
from kbnf_core.text.diagnostics.text import render_text
from kbnf_core.text.source import Source, Span
from kbnf_core.version import __version__

SCHEMA = "kbnf.check/1"


@dataclass(frozen=True, slots=True)
class Survey:
    """The targets that were asked, and their verdicts on each schema.

    ``targets`` are names, versions and settings; ``rows`` are the file, the tool (or ``""``), the
    target and its verdict: ``ok``, ``weak``, ``rejects``, ``refuses`` or ``not installed``.
    """

    targets: tuple[tuple[str, str, str], ...] = ()
    rows: tuple[tuple[str, str, str, str], ...] = ()

    def value(self) -> dict[str, Any]:
        """Return the survey as JSON; without targets it is empty."""
        if not self.targets:
            return {}
        names = ("engine", "version", "settings")
        columns = ("path", "tool", "engine", "verdict")
        return {
            "targets": [dict(zip(names, target, strict=True)) for target in self.targets],
            "matrix": [dict(zip(columns, row, strict=True)) for row in self.rows],
        }

    @property
    def summary(self) -> str:
        """Names and versions in a few words."""
        return ", ".join(f"{name} {version}" for name, version, _ in self.targets)


NOBODY = Survey()


def render_json(diagnostics: Iterable[Diagnostic], files: int, survey: Survey = NOBODY) -> str:
    """Return the object as text, the same bytes for the same findings; ends with a line break.

    The text is ASCII (other characters are escaped), so no terminal or file encoding can
    spoil it, and a lone surrogate in a grammar does no harm.
    """
    return json.dumps({**findings_value(diagnostics, files), **survey.value()}, indent=2) + "\n"


def findings_value(diagnostics: Iterable[Diagnostic], files: int) -> dict[str, Any]:
    """Return the object of ``check.schema.json`` for findings in ``files`` files."""
    ordered = sorted(diagnostics, key=Diagnostic.sort_key)
    return {
        "schema": SCHEMA,
        "diagnostics": [_diagnostic_value(diagnostic) for diagnostic in ordered],
        "summary": {"files": files, **_totals(ordered)},
    }


def span_value(source: Source, span: Span) -> dict[str, dict[str, int]]:
    """Return start and end of a span, each with offset, line and column."""
    start, end = source.position(span.start), source.position(span.end)
    return {"start": start._asdict(), "end": end._asdict()}


def _totals(diagnostics: list[Diagnostic]) -> dict[str, int]:
    severities = [diagnostic.severity for diagnostic in diagnostics]
    return {
        f"{severity.label}s": severities.count(severity)
        for severity in sorted(Severity, reverse=True)
    }


def _diagnostic_value(diagnostic: Diagnostic) -> dict[str, Any]:
    pointer = diagnostic.pointer
    return {
        "code": diagnostic.code,
        "name": diagnostic.rule.name,
        "severity": diagnostic.severity.label,
        "message": diagnostic.message,
        "path": diagnostic.source.path,
        "span": span_value(diagnostic.source, diagnostic.span),
        **({} if pointer is None else {"pointer": pointer}),
        **dict(diagnostic.details),
        "notes": _notes(diagnostic),
        "fixes": [_fix_value(diagnostic.source, fix) for fix in diagnostic.fixes],
    }


def _notes(diagnostic: Diagnostic) -> list[str]:
    """Return everything that is reported beside the message; further places lead with theirs."""
    lines = [
        f"{label.message} (line {line}, column {column})"
        for label in diagnostic.labels
        for _, line, column in [diagnostic.source.position(label.span.start)]
    ]
    return [*lines, *diagnostic.notes, *(f"help: {text}" for text in diagnostic.helps)]


def _fix_value(source: Source, fix: Fix) -> dict[str, Any]:
    edits = [
        {"span": span_value(source, edit.span), "replacement": edit.replacement}
        for edit in fix.edits
    ]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_sarif(diagnostics: Sequence[Diagnostic], survey: Survey = NOBODY) -> str:
    """Return the log as text, ASCII only, the same bytes for the same findings.

    Columns are code points, ends exclusive. Relative paths are relative to ``SRCROOT``. The rules
    are those that were found, with their pages as help.
    """
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    driver = {
        "name": "kbnf",
        "semanticVersion": __version__,
        "rules": [_sarif_rule(CATALOGUE[code]) for code in codes],
    }
    names = fingerprints(diagnostics)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(diagnostic, codes.index(diagnostic.code), name)
            for diagnostic, name in zip(diagnostics, names, strict=True)
        ],
        **({"properties": survey.value()} if survey.targets else {}),
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "help": {"text": rule.summary, "markdown": read_page(rule)},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
    }


def _result(diagnostic: Diagnostic, index: int, fingerprint: str) -> dict[str, Any]:
    remarks = (*diagnostic.notes, *diagnostic.helps)
    return {
        "ruleId": diagnostic.code,
        "ruleIndex": index,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": ". ".join((diagnostic.message, *remarks))},
        "locations": [_sarif_location(diagnostic)],
        "relatedLocations": [
            {
                "physicalLocation": _location(diagnostic.source, label.span),
                "message": {"text": label.message},
            }
            for label in diagnostic.labels
        ],
        "partialFingerprints": {"kbnfLine/v1": fingerprint},
        "fixes": [_sarif_fix(diagnostic.source, fix) for fix in diagnostic.fixes],
        **({"properties": dict(diagnostic.details)} if diagnostic.details else {}),
    }


def _sarif_location(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return the location of a finding, with its JSON Pointer in a text of JSON."""
    location: dict[str, Any] = {"physicalLocation": _location(diagnostic.source, diagnostic.span)}
    if diagnostic.pointer is not None:
        location["logicalLocations"] = [{"fullyQualifiedName": diagnostic.pointer}]
    return location


def _location(source: Source, span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(source), "region": _region(source, span)}


def _artifact(source: Source) -> dict[str, Any]:
    from urllib.parse import quote

    uri = quote(source.name.encode("utf-8", "surrogateescape"))
    if source.name.startswith("/"):
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "SRCROOT"}


def _region(source: Source, span: Span) -> dict[str, int]:
    start, end = source.position(span.start), source.position(span.end)
    return {
        "startLine": start.line,
        "startColumn": start.column,
        "endLine": end.line,
        "endColumn": end.column,
        "charOffset": span.start,
        "charLength": span.end - span.start,
    }


def _sarif_fix(source: Source, fix: Fix) -> dict[str, Any]:
    replacements = [
        {
            "deletedRegion": _region(source, edit.span),
            "insertedContent": {"text": edit.replacement},
        }
        for edit in fix.edits
    ]
    change = {"artifactLocation": _artifact(source), "replacements": replacements}
    return {
        "description": {"text": fix.message},
        "artifactChanges": [change],
        "properties": {"safe": fix.safe},
    }


SHOWN = 10
"""Annotations of one kind that GitHub shows for a step; it drops others without a word."""

_KINDS = {**_LEVELS, Severity.INFO: "notice"}


def render_github(diagnostics: Sequence[Diagnostic], survey: Survey = NOBODY) -> str:
    """Return a line for each finding, the worst first, and a last one if GitHub drops some."""
    ordered = sorted(
        diagnostics, key=lambda diagnostic: (-diagnostic.severity, diagnostic.sort_key())
    )
    lines = [_command(diagnostic) for diagnostic in ordered]
    counts = [
        sum(diagnostic.severity is severity for diagnostic in ordered) for severity in Severity
    ]
    dropped = sum(max(count - SHOWN, 0) for count in counts)
    if dropped:
        lines.append(f"::notice title=kbnf::{dropped} more findings are in the log only")
    if survey.targets:
        lines.append(f"::notice title=kbnf::{_data(f'asked {survey.summary}')}")
    return "".join(f"{line}\n" for line in lines)


def _command(diagnostic: Diagnostic) -> str:
    source = diagnostic.source
    start, end = source.position(diagnostic.span.start), source.position(diagnostic.span.end)
    fields = {"file": source.name, "line": start.line, "endLine": end.line}
    if start.line == end.line:
        # Of several lines GitHub takes no columns.
        fields |= {"col": start.column, "endColumn": max(end.column - 1, start.column)}
    fields["title"] = f"{diagnostic.code} {diagnostic.rule.name}"
    settings = ",".join(f"{key}={_property(str(value))}" for key, value in fields.items())
    text = "\n".join((diagnostic.message, *diagnostic.notes, *diagnostic.helps))
    return f"::{_KINDS[diagnostic.severity]} {settings}::{_data(text)}"


def _data(text: str) -> str:
    """Return ``text`` as a command contains it; the log is shown in terminals, too."""
    return visible(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


JunitCase: TypeAlias = tuple[str, str, dict[str, str], str | None]
"""A test: its title, and unless the tag of its outcome is empty that, its attributes and text."""


def render_junit(diagnostics: Sequence[Diagnostic], files: int, survey: Survey = NOBODY) -> str:
    """Return a suite for each file with findings, a failed test for each of them.

    Files without findings are one passed test together. Control characters, which XML has not,
    are replaced by visible signs.
    """
    ordered = sorted(diagnostics, key=Diagnostic.sort_key)
    groups = groupby(ordered, lambda diagnostic: visible(diagnostic.source.name))
    suites = [(name, name, list(map(_failure, findings))) for name, findings in groups]
    clean = files - len(suites)
    if clean > 0:
        suites.append(("clean", "kbnf", [(f"{clean} without findings", "", {}, None)]))
    count = sum(len(cases) for _, _, cases in suites)
    asked = f" --target {survey.summary}" if survey.targets else ""
    return junit_text(
        {"name": f"kbnf check{asked}", "failures": str(len(ordered)), "tests": str(count)},
        (
            (
                {
                    "name": name,
                    "tests": str(len(cases)),
                    "failures": str(sum(bool(case[1]) for case in cases)),
                },
                class_,
                cases,
            )
            for name, class_, cases in suites
        ),
    )


def _failure(finding: Diagnostic) -> JunitCase:
    _, line, column = finding.source.position(finding.span.start)
    title = f"{finding.code} {finding.rule.name} {line}:{column}"
    attributes = {"type": finding.severity.label, "message": visible(finding.message)}
    return title, "failure", attributes, visible(plain(render_text(finding)))


def junit_text(
    attributes: dict[str, str], suites: Iterable[tuple[dict[str, str], str, list[JunitCase]]]
) -> str:
    """Return JUnit's XML: suites by their attributes, the class of their tests, and the tests."""
    from xml.etree import ElementTree

    root = ElementTree.Element("testsuites", attributes)
    for about, class_, cases in suites:
        suite = ElementTree.SubElement(root, "testsuite", about)
        for title, tag, details, text in cases:
            case = ElementTree.SubElement(suite, "testcase", name=title, classname=class_)
            if tag:
                ElementTree.SubElement(case, tag, details).text = text
    ElementTree.indent(root)
    written = ElementTree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{written}\n'
