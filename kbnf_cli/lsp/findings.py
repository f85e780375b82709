"""Answers about findings: diagnostics, quick fixes, hovers, lenses of examples, hints.

Tests: tests/lsp/test_workshop.py
"""

from collections.abc import Iterator, Sequence

from lsprotocol import types

from kbnf_cli.lsp.navigation import ClientPlaces, OpenView
from kbnf_cli.lsp.workshop import OpenText
from kbnf_cli.worker import KnownResult, Reason, Unknown
from kbnf_core.text.diagnostics import Diagnostic, Fix, Severity
from kbnf_core.text.diagnostics.catalogue import read_page
from kbnf_core.text.source import Source, Span

SOURCE = "kbnf"

_SEVERITIES = {
    Severity.ERROR: types.DiagnosticSeverity.Error,
    Severity.WARNING: types.DiagnosticSeverity.Warning,
    Severity.INFO: types.DiagnosticSeverity.Information,
}


def diagnostics(entry: OpenText, encoding: str, uri: str) -> list[types.Diagnostic]:
    """Return the findings in the newest version of a text, and a note if these are not all."""
    result = []
    if isinstance(entry.analysed, Unknown):
        is_nothing = entry.analysed.so_far is None
        message = (
            "this text was not analysed" if is_nothing else "this text was checked for errors only"
        )
        result.append(_notice(message, entry.analysed.reason))
    if isinstance(entry.tried, Unknown):
        result.append(_notice("the examples of this text were not run", entry.tried.reason))
    if entry.analysis is not None and entry.is_current:
        client_places = ClientPlaces(entry.analysis.source, encoding)
        result += [_diagnostic(client_places, uri, finding) for finding in entry.analysis.findings]
    return result


def of_engines(
    findings: Sequence[Diagnostic], source: Source, encoding: str, uri: str
) -> list[types.Diagnostic]:
    """Return the findings of engines about a text."""
    client_places = ClientPlaces(source, encoding)
    return [_diagnostic(client_places, uri, finding) for finding in findings]


def _notice(message: str, reason: Reason) -> types.Diagnostic:
    start = types.Position(0, 0)
    return types.Diagnostic(
        types.Range(start, start),
        f"{message}: {reason.value}\nhelp: it is tried again when the text changes",
        severity=types.DiagnosticSeverity.Warning,
        source=SOURCE,
    )


def _diagnostic(client_places: ClientPlaces, uri: str, finding: Diagnostic) -> types.Diagnostic:
    first = f"{finding.message}: {finding.label}" if finding.label else finding.message
    notes = [f"note: {note}" for note in finding.notes]
    helps = [f"help: {help_}" for help_ in finding.helps]
    related = [
        types.DiagnosticRelatedInformation(
            types.Location(uri, client_places.range(label.span)), label.message
        )
        for label in finding.labels
    ]
    return types.Diagnostic(
        client_places.range(finding.span),
        "\n".join((first, *notes, *helps)),
        severity=_SEVERITIES[finding.severity],
        code=finding.code,
        source=SOURCE,
        related_information=related,
    )


def actions(view: OpenView, uri: str, asked: types.Range) -> list[types.CodeAction]:
    """Return the fixes of findings that touch a range."""
    begin, end = view.places.index(asked.start), view.places.index(asked.end)
    result = []
    for finding in view.analysis.findings:
        span = view.shift.to_later(finding.span)
        if span is not None and span.start <= end and begin <= span.end:
            result += [
                action for fix in finding.fixes if (action := _action(view, uri, finding, fix))
            ]
    return result


def _action(view: OpenView, uri: str, finding: Diagnostic, fix: Fix) -> types.CodeAction | None:
    edits = []
    for edit in fix.edits:
        range_ = view.range(edit.span)
        if range_ is None:
            return None
        edits.append(types.TextEdit(range_, edit.replacement))
    title = fix.message if fix.safe else f"{fix.message} (changes what the grammar means)"
    return types.CodeAction(
        f"{finding.code}: {title}",
        kind=types.CodeActionKind.QuickFix,
        edit=types.WorkspaceEdit({uri: edits}),
        is_preferred=fix.safe,
    )


def hover(view: OpenView, position: types.Position) -> types.Hover | None:
    """Return the text shown at a position: of a finding, a pattern, or a name."""
    index = view.index(position)
    if index is None:
        return None
    sections = [*_of_findings(view, index), *_of_patterns(view, index), *_of_names(view, position)]
    text = "\n\n---\n\n".join(dict.fromkeys(sections))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text)) if sections else None


def _of_findings(view: OpenView, index: int) -> Iterator[str]:
    for finding in view.analysis.findings:
        if _holds(finding.span, index):
            yield read_page(finding.rule)


def _of_patterns(view: OpenView, index: int) -> Iterator[str]:
    for span, pattern in view.analysis.outline.patterns:
        if _holds(span, index):
            yield f"The regular expression, as its engine sees it:\n\n{_fenced(pattern)}"


def _of_names(view: OpenView, position: types.Position) -> Iterator[str]:
    named = view.name_at(position)
    if named is None:
        return
    source = view.analysis.source
    written = [source.slice(symbol.whole) for symbol in view.definitions(named[0])]
    if written:
        yield _fenced("\n".join(written))
    begins = dict(view.analysis.begins).get(named[0])
    if begins:
        yield f"Begins with `{begins}`."


def _holds(span: Span, index: int) -> bool:
    return span.start <= index <= span.end


def _fenced(text: str) -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text}\n{fence}"


def lenses(view: OpenView) -> list[types.CodeLens]:
    """Return the outcome of each example, at its comment."""
    code_lenses = []
    tried = view.entry.tried
    for result in tried.value if isinstance(tried, KnownResult) and view.entry.is_current else ():
        title = "✓ as expected" if result.passed else f"✗ {result.text}"
        command = types.Command(title, "")
        range_ = view.places.range(Span(result.index, result.index))
        code_lenses.append(types.CodeLens(range_, command=command))
    return code_lenses


def hints(view: OpenView, asked: types.Range) -> list[types.InlayHint]:
    """Return, after each name that is defined in a range, the bytes that may occur next there."""
    begins = dict(view.analysis.begins)
    result = []
    for symbol in view.analysis.outline.definitions:
        range_ = view.range(symbol.span)
        text = begins.get(symbol.name)
        if range_ is not None and text and asked.start <= range_.end <= asked.end:
            result.append(
                types.InlayHint(
                    range_.end,
                    f"⟨{text}⟩",
                    padding_left=True,
                    tooltip=f"`{symbol.name}` begins with one of these",
                )
            )
    return result
