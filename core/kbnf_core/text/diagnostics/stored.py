"""Findings in files: entries of a cache, which come back the same, and baselines of accepted ones.

Unlike ``formats``, which shows findings to other programs, an entry leaves nothing out. The text
that was checked is not stored but given again; other texts, such as imported ones, are. In a
baseline fingerprints stand for findings: they stay the same while the lines around them move.

Tests: tests/unit/text/test_stored.py
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any, TypeAlias

from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, TextEdit
from kbnf_core.text.source import Source, Span

Stored: TypeAlias = dict[str, Any]


def to_stored(diagnostics: Sequence[Diagnostic], source: Source) -> Stored:
    """Return findings about ``source``, and the texts they speak of beside it."""
    texts = {(source.text, source.path): 0}
    rows = [
        _row(
            diagnostic,
            texts.setdefault((diagnostic.source.text, diagnostic.source.path), len(texts)),
        )
        for diagnostic in diagnostics
    ]
    return {"texts": list(texts)[1:], "found": rows}


def from_stored(stored: Stored, source: Source) -> tuple[Diagnostic, ...]:
    """Return the findings again.

    Raises ``LookupError``, ``TypeError`` or ``ValueError`` for a value that is of no findings.
    """
    sources = [source, *(Source(text, path) for text, path in stored["texts"])]
    return tuple(_finding(*row, sources=sources) for row in stored["found"])


def _row(diagnostic: Diagnostic, text: int) -> tuple[object, ...]:
    labels = [(*label.span, label.message) for label in diagnostic.labels]
    fixes = [
        (fix.message, [(*edit.span, edit.replacement) for edit in fix.edits], fix.safe)
        for fix in diagnostic.fixes
    ]
    extent = tuple(diagnostic.span)
    texts = (
        diagnostic.label,
        labels,
        diagnostic.notes,
        diagnostic.helps,
        fixes,
        diagnostic.details,
    )
    return (diagnostic.code, diagnostic.message, text, extent, *texts)


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
    details: Sequence[Sequence[str]],
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
            Fix(words, tuple(TextEdit(Span(start, end), new) for start, end, new in edits), safe)
            for words, edits, safe in fixes
        ),
        tuple((name, value) for name, value in details),
    )


def fingerprints(diagnostics: Iterable[Diagnostic]) -> list[str]:
    """Return 32 hexadecimal digits for each finding, in the given order.

    They depend on the file's name, the code, the text of the line without its indentation, and
    on how many findings before it have all of these in common.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    result = []
    for diagnostic in diagnostics:
        source = diagnostic.source
        line = source.line(source.position(diagnostic.span.start).line).strip()
        key = (source.name, diagnostic.code, line)
        data = "\0".join((*key, str(seen[key]))).encode("utf-8", "surrogatepass")
        result.append(blake2b(data, digest_size=16).hexdigest())
        seen[key] += 1
    return result


SCHEMA = "kbnf.baseline/1"


def write_baseline(diagnostics: Sequence[Diagnostic]) -> str:
    """Return the text of a baseline: one entry for each finding, for people with path and code."""
    entries = [
        {"fingerprint": name, "path": diagnostic.source.name, "code": diagnostic.code}
        for name, diagnostic in zip(fingerprints(diagnostics), diagnostics, strict=True)
    ]
    return json.dumps({"schema": SCHEMA, "findings": entries}, indent=2) + "\n"


def read_baseline(text: str) -> frozenset[str]:
    """Return the fingerprints in a baseline; ValueError for an invalid one."""
    value = json.loads(text)
    if not isinstance(value, dict) or value.get("schema") != SCHEMA:
        raise ValueError(f"this is not a baseline ({SCHEMA})")
    entries = value.get("findings")
    if not isinstance(entries, list) or not all(_is_entry(entry) for entry in entries):
        raise ValueError("`findings` must be a list of objects with a `fingerprint`")
    return frozenset(entry["fingerprint"] for entry in entries)


def without_baseline(
    diagnostics: Sequence[Diagnostic], baseline: frozenset[str]
) -> tuple[Diagnostic, ...]:
    """Return the findings that a baseline does not contain."""
    names = fingerprints(diagnostics)
    return tuple(d for name, d in zip(names, diagnostics, strict=True) if name not in baseline)


def _is_entry(value: object) -> bool:
    return isinstance(value, dict) and isinstance(value.get("fingerprint"), str)
