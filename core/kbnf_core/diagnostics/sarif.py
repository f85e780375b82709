"""Findings as SARIF 2.1.0 (OASIS standard, 2020), for code scanning."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

from kbnf_core.diagnostics.baseline import fingerprints
from kbnf_core.diagnostics.catalogue import CATALOGUE, Rule, Severity, read_page
from kbnf_core.diagnostics.model import Diagnostic, Edit, Fix, Label
from kbnf_core.source import Source, Span
from kbnf_core.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def render_sarif(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the log as text, ASCII only, the same bytes for the same findings.

    Columns are code points, ends exclusive. Relative paths are relative to ``SRCROOT``. The rules
    are those that were found, with their pages as help.
    """
    codes = sorted({diagnostic.code for diagnostic in diagnostics})
    driver = {
        "name": "kbnf",
        "semanticVersion": __version__,
        "rules": [_rule(CATALOGUE[code]) for code in codes],
    }
    names = fingerprints(diagnostics)
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [
            _result(each, codes.index(each.code), name)
            for each, name in zip(diagnostics, names, strict=True)
        ],
    }
    return json.dumps({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
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
        "locations": [{"physicalLocation": _place(diagnostic.source, diagnostic.span)}],
        "relatedLocations": [_related(diagnostic.source, label) for label in diagnostic.labels],
        "partialFingerprints": {"kbnfLine/v1": fingerprint},
        "fixes": [_fix(diagnostic.source, fix) for fix in diagnostic.fixes],
    }


def _related(source: Source, label: Label) -> dict[str, Any]:
    return {"physicalLocation": _place(source, label.span), "message": {"text": label.message}}


def _place(source: Source, span: Span) -> dict[str, Any]:
    return {"artifactLocation": _artifact(source), "region": _region(source, span)}


def _artifact(source: Source) -> dict[str, Any]:
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


def _fix(source: Source, fix: Fix) -> dict[str, Any]:
    replacements = [_replacement(source, edit) for edit in fix.edits]
    change = {"artifactLocation": _artifact(source), "replacements": replacements}
    return {
        "description": {"text": fix.message},
        "artifactChanges": [change],
        "properties": {"safe": fix.safe},
    }


def _replacement(source: Source, edit: Edit) -> dict[str, Any]:
    return {
        "deletedRegion": _region(source, edit.span),
        "insertedContent": {"text": edit.replacement},
    }
