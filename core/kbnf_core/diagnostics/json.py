"""Findings for programs: the documented object of ``kbnf check --format json``.

The shape is published in ``check.schema.json`` beside this file. Positions are those of
``source.Position``; ends are exclusive.
"""

import json
from collections.abc import Iterable
from typing import Any

from kbnf_core.diagnostics.catalogue import Severity
from kbnf_core.diagnostics.model import Diagnostic, Edit, Fix
from kbnf_core.source import Source, Span

SCHEMA = "kbnf.check/1"


def render_json(diagnostics: Iterable[Diagnostic], files: int) -> str:
    """Return the object as text, the same bytes for the same findings; ends with a line break.

    The text is ASCII (other characters are escaped), so no terminal or file encoding can
    spoil it, and a lone surrogate in a grammar does no harm.
    """
    return json.dumps(findings_value(diagnostics, files), indent=2) + "\n"


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
    return {f"{each.label}s": severities.count(each) for each in sorted(Severity, reverse=True)}


def _diagnostic_value(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "name": diagnostic.rule.name,
        "severity": diagnostic.severity.label,
        "message": diagnostic.message,
        "path": diagnostic.source.path,
        "span": span_value(diagnostic.source, diagnostic.span),
        "notes": _notes(diagnostic),
        "fixes": [_fix_value(diagnostic.source, fix) for fix in diagnostic.fixes],
    }


def _notes(diagnostic: Diagnostic) -> list[str]:
    """Return everything that is said beside the message; further places lead with theirs."""
    places = [
        f"{label.message} (line {line}, column {column})"
        for label in diagnostic.labels
        for _, line, column in [diagnostic.source.position(label.span.start)]
    ]
    return [*places, *diagnostic.notes, *(f"help: {text}" for text in diagnostic.helps)]


def _fix_value(source: Source, fix: Fix) -> dict[str, Any]:
    edits = [_edit_value(source, edit) for edit in fix.edits]
    return {"message": fix.message, "safe": fix.safe, "edits": edits}


def _edit_value(source: Source, edit: Edit) -> dict[str, Any]:
    return {"span": span_value(source, edit.span), "replacement": edit.replacement}
