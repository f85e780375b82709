"""Grammars with mistakes, and what is said about them, in place.

A golden file holds cases, divided by lines of ``====``. Lines of the grammar start with ``| ``
(they are joined by line feeds, none at the end). A line that starts with ``! `` marks places in
the line above: ``^`` for the finding, ``-`` for its labels, ``>`` for an empty span; help and
fixes follow. The last line tells the names of what was read and of what is broken.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.limits import Limits
from kbnf_core.text.source import Source, Span

FILES = sorted(file.name for file in Path(__file__).parent.glob("*.txt"))
DIVIDER = "====\n"
LIMITS = Limits(nesting_depth=4)


@pytest.mark.parametrize("name", FILES)
def test_findings(name: str, golden: Callable[[str, str], None]) -> None:
    file = Path(__file__).parent / name
    cases = file.read_bytes().decode().split(DIVIDER)
    golden(name, DIVIDER.join(map(_annotated, cases)))


def _annotated(case: str) -> str:
    lines = case.split("\n")
    source = Source("\n".join(line[2:] for line in lines if line.startswith("| ")), "FILE")
    parsed = parse_kbnf(source, LIMITS)
    out: list[str] = []
    for number in range(1, source.line_count + 1):
        out.append("| " + source.line(number))
        for finding in parsed.diagnostics:
            out.extend(_marks(source, finding, number))
    read = " ".join(d.name.value for d in parsed.document.definitions)
    broken = " ".join(sorted(parsed.document.broken_names))
    return "\n".join([*out, f"= read: {read}; broken: {broken}", ""])


def _marks(source: Source, finding: Diagnostic, number: int) -> list[str]:
    marks = []
    if source.position(finding.span.start).line == number:
        marks.append(f"{_carets(source, finding.span, '^')} {finding.code} {finding.message}")
        marks.extend(_details(finding))
    marks.extend(
        f"{_carets(source, label.span, '-')} {finding.code}: {label.message}"
        for label in finding.labels
        if source.position(label.span.start).line == number
    )
    return [f"! {mark}" for mark in marks]


def _details(finding: Diagnostic) -> list[str]:
    label = [f"  here: {finding.label}"] if finding.label else []
    fixes = [f"  fix: {fix.message} {[tuple(e.span) for e in fix.edits]}" for fix in finding.fixes]
    return [*label, *(f"  help: {text}" for text in finding.helps), *fixes]


def _carets(source: Source, span: Span, mark: str) -> str:
    start = source.position(span.start)
    width = min(span.end, source.line_start(start.line) + len(source.line(start.line))) - span.start
    return " " * (start.column - 1) + (mark * max(width, 1) if span.end > span.start else ">")
