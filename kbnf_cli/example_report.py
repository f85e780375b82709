"""The formats of ``kbnf test``."""

import json
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

from kbnf_cli.example_cases import Case, Covered, Suite
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.diagnostics.json import span_value
from kbnf_core.diagnostics.segments import Role, Segment, Segments
from kbnf_core.diagnostics.text import render_concise, render_text
from kbnf_core.diagnostics.visible import visible

SCHEMA = "kbnf.test/1"

_ROLES = {"failed": Role.ERROR, "skipped": Role.WARNING, "passed": Role.HELP}


def as_text(suites: Sequence[Suite]) -> Segments:
    """Return a line for each grammar, and below it what failed or was skipped."""
    return [part for suite in suites for part in _suite_text(suite)]


def _suite_text(suite: Suite) -> Segments:
    counts = [f"{suite.count(each)} {each}" for each in _ROLES if suite.count(each)]
    head = "error" if suite.errors else ", ".join(counts) or "no examples"
    role = Role.ERROR if suite.fails else Role.TITLE
    lines = [Segment(visible(suite.name), Role.TITLE), Segment(": "), Segment(f"{head}\n", role)]
    for error in suite.errors:
        lines.extend(render_text(error))
    for case in suite.cases:
        lines.extend(_case_text(case))
    return lines if suite.covered is None else [*lines, *_coverage_text(suite.covered)]


def _case_text(case: Case) -> Segments:
    if case.status == "passed":
        return []
    why = f" ({visible(case.why)})" if case.why else ""
    return [
        Segment(f"  {case.status}", _ROLES[case.status]),
        Segment(f" {case.kind} {describe(case)}{why}: {visible(case.message)}\n"),
    ]


def describe(case: Case) -> str:
    """Return where a test stands and, shortened, what it is about."""
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
        lines.append(f"not looked at, for they are too long: {coverage.given_up} examples")
    for each in coverage.unused_alternatives:
        if each.rule not in coverage.unused_rules:
            _, line, column = source.position(each.span.start)
            text = " ".join(visible(source.slice(each.span)).split())
            place = f"{visible(source.name)}:{line}:{column}"
            lines.append(f"unused alternative of {each.rule}: {text} at {place}")
    return [Segment(f"  {line}\n") for line in lines]


def as_json(suites: Sequence[Suite]) -> Segments:
    """Return the object that ``schemas/test.schema.json`` describes."""
    summary = {each: sum(suite.count(each) for suite in suites) for each in sorted(_ROLES)}
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
            {"rule": each.rule, "span": span_value(covered.source, each.span)}
            for each in coverage.unused_alternatives
        ],
        "given_up": coverage.given_up,
    }


def as_junit(suites: Sequence[Suite]) -> Segments:
    """Return JUnit's XML: a suite for each grammar; a grammar with errors is a failed test."""
    root = ElementTree.Element("testsuites", name="kbnf")
    for suite in suites:
        root.append(_suite_element(suite))
    ElementTree.indent(root)
    text = ElementTree.tostring(root, encoding="unicode")
    return [Segment(f'<?xml version="1.0" encoding="utf-8"?>\n{text}\n')]


def _suite_element(suite: Suite) -> ElementTree.Element:
    errors = [
        Case("grammar", each.code, "", "", "failed", _one_line(each)) for each in suite.errors
    ]
    cases = [*suite.cases, *errors]
    attributes = {
        "name": visible(suite.name),
        "tests": str(len(cases)),
        "failures": str(suite.count("failed") + len(errors)),
        "skipped": str(suite.count("skipped")),
    }
    element = ElementTree.Element("testsuite", attributes)
    for case in cases:
        name = f"{case.kind} {describe(case)}"
        child = ElementTree.SubElement(
            element, "testcase", name=name, classname=visible(suite.name)
        )
        if case.status != "passed":
            tag = "failure" if case.status == "failed" else "skipped"
            ElementTree.SubElement(child, tag, message=visible(case.message))
    return element


def _one_line(diagnostic: Diagnostic) -> str:
    return "".join(text for text, _ in render_concise(diagnostic)).strip()
