"""Findings as workflow commands of GitHub Actions, which shows them beside the lines."""

from collections.abc import Sequence

from kbnf_core.diagnostics.catalogue import Severity
from kbnf_core.diagnostics.model import Diagnostic
from kbnf_core.diagnostics.visible import visible

SHOWN = 10
"""Annotations of one kind that GitHub shows for a step; it drops others without a word."""

_KINDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """Return a line for each finding, the worst first, and a last one if GitHub drops some."""
    ordered = sorted(diagnostics, key=lambda each: (-each.severity, each.sort_key()))
    lines = [_command(each) for each in ordered]
    counts = [sum(each.severity is severity for each in ordered) for severity in Severity]
    dropped = sum(max(count - SHOWN, 0) for count in counts)
    if dropped:
        lines.append(f"::notice title=kbnf::{dropped} more findings are in the log only")
    return "".join(f"{line}\n" for line in lines)


def _command(diagnostic: Diagnostic) -> str:
    source = diagnostic.source
    start, end = source.position(diagnostic.span.start), source.position(diagnostic.span.end)
    place = {"file": source.name, "line": start.line, "endLine": end.line}
    if start.line == end.line:
        # Of several lines GitHub takes no columns.
        place |= {"col": start.column, "endColumn": max(end.column - 1, start.column)}
    place["title"] = f"{diagnostic.code} {diagnostic.rule.name}"
    settings = ",".join(f"{key}={_property(str(value))}" for key, value in place.items())
    text = "\n".join((diagnostic.message, *diagnostic.notes, *diagnostic.helps))
    return f"::{_KINDS[diagnostic.severity]} {settings}::{_data(text)}"


def _data(text: str) -> str:
    """Return ``text`` as a command holds it; the log is shown in terminals, too."""
    return visible(text).replace("%", "%25").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
