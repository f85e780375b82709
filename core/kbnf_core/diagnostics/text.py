"""Findings for people: the long form with source lines, the one-line form, and the summary."""

from collections import Counter
from collections.abc import Iterable

from kbnf_core.diagnostics.catalogue import Severity
from kbnf_core.diagnostics.excerpt import Excerpt
from kbnf_core.diagnostics.marks import marks_of
from kbnf_core.diagnostics.model import Diagnostic
from kbnf_core.diagnostics.segments import NEWLINE, Role, Segment, Segments, severity_role
from kbnf_core.diagnostics.visible import visible

LINE_WIDTH = 120
"""Cells of a source line that are shown; longer lines are cut around what is marked."""


def render_text(diagnostic: Diagnostic, line_width: int = LINE_WIDTH) -> Segments:
    """Return a finding with its source lines, notes and helps; ends with a line break."""
    excerpt = Excerpt(diagnostic.source, marks_of(diagnostic), line_width)
    indent = " " * excerpt.gutter
    arrow = Segment(f"{indent}--> ", Role.PLACE)
    remarks = _remarks(diagnostic, indent)
    ruler = [Segment(f"{indent} |", Role.PLACE), NEWLINE] if remarks else []
    return [
        *_header(diagnostic),
        NEWLINE,
        arrow,
        Segment(place(diagnostic)),
        NEWLINE,
        *excerpt.segments(),
        *ruler,
        *remarks,
    ]


def render_concise(diagnostic: Diagnostic) -> Segments:
    """Return ``path:line:column: CODE message`` and a line break."""
    role = severity_role(diagnostic.severity)
    message = " ".join(visible(diagnostic.message).split())
    return [
        Segment(f"{place(diagnostic)}: ", Role.PLACE),
        Segment(diagnostic.code, role),
        Segment(f" {message}\n"),
    ]


def place(diagnostic: Diagnostic) -> str:
    """Return ``path:line:column``, 1-based, the column in code points."""
    _, line, column = diagnostic.source.position(diagnostic.span.start)
    return f"{visible(diagnostic.source.name)}:{line}:{column}"


def summarise(diagnostics: Iterable[Diagnostic], files: int) -> str:
    """Return the closing sentence, such as ``2 errors, 1 warning in 3 files``."""
    counts = Counter(diagnostic.severity for diagnostic in diagnostics)
    found = [
        count_of(counts[severity], severity.label)
        for severity in sorted(Severity, reverse=True)
        if counts[severity]
    ]
    return f"{', '.join(found) or 'no problems'} in {count_of(files, 'file')}"


def count_of(number: int, noun: str) -> str:
    """Return the number and its noun, in the plural where it must be."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _header(diagnostic: Diagnostic) -> Segments:
    role = severity_role(diagnostic.severity)
    head = Segment(f"{diagnostic.severity.label}[{diagnostic.code}]", role)
    return [head, Segment(f": {visible(diagnostic.message)}", Role.TITLE)]


def _remarks(diagnostic: Diagnostic, indent: str) -> Segments:
    """Return the ``= note:`` and ``= help:`` lines; a fix that repeats a help is left out."""
    fixes = [fix.message for fix in diagnostic.fixes if fix.message not in diagnostic.helps]
    out: Segments = []
    for note in diagnostic.notes:
        out += _remark("note", Role.NOTE, note, indent)
    for text in (*diagnostic.helps, *fixes):
        out += _remark("help", Role.HELP, text, indent)
    return out


def _remark(word: str, role: Role, text: str, indent: str) -> Segments:
    lead = f"{indent} = "
    below = "\n" + " " * len(f"{lead}{word}: ")
    body = visible(text).replace("\n", below)
    return [Segment(lead, Role.PLACE), Segment(f"{word}:", role), Segment(f" {body}\n")]
