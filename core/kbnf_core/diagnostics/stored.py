"""Findings as plain values, as JSON has them: kept in a file, they come back the same.

Unlike ``json.py``, which shows findings to other programs, nothing is left out or computed. The
text that was checked is not stored but given again; other texts, such as imported ones, are.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias

from kbnf_core.diagnostics.model import Diagnostic, Edit, Fix, Label
from kbnf_core.source import Source, Span

Stored: TypeAlias = dict[str, Any]


def to_stored(found: Sequence[Diagnostic], source: Source) -> Stored:
    """Return findings about ``source``, and the texts they speak of beside it."""
    texts = {(source.text, source.path): 0}
    rows = [
        _row(each, texts.setdefault((each.source.text, each.source.path), len(texts)))
        for each in found
    ]
    return {"texts": list(texts)[1:], "found": rows}


def from_stored(stored: Stored, source: Source) -> tuple[Diagnostic, ...]:
    """Return the findings again.

    Raises ``LookupError``, ``TypeError`` or ``ValueError`` for a value that is of no findings.
    """
    sources = [source, *(Source(text, path) for text, path in stored["texts"])]
    return tuple(_finding(*row, sources=sources) for row in stored["found"])


def _row(each: Diagnostic, text: int) -> tuple[object, ...]:
    labels = [(*label.span, label.message) for label in each.labels]
    fixes = [
        (fix.message, [(*edit.span, edit.replacement) for edit in fix.edits], fix.safe)
        for fix in each.fixes
    ]
    extent = tuple(each.span)
    said = (each.label, labels, each.notes, each.helps, fixes)
    return (each.code, each.message, text, extent, *said)


def _finding(
    code: str,
    message: str,
    text: int,
    span: Sequence[int],
    label: str,
    labels: Sequence[Any],
    notes: Sequence[str],
    helps: Sequence[str],
    fixes: Sequence[Any],
    *,
    sources: Sequence[Source],
) -> Diagnostic:
    return Diagnostic(
        code,
        message,
        sources[text],
        Span(*span),
        label,
        tuple(Label(Span(start, end), words) for start, end, words in labels),
        tuple(notes),
        tuple(helps),
        tuple(
            Fix(words, tuple(Edit(Span(start, end), new) for start, end, new in edits), safe)
            for words, edits, safe in fixes
        ),
    )
