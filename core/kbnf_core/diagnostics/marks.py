"""Underlines: spans turned into lines and columns."""

from dataclasses import dataclass

from kbnf_core.diagnostics.model import Diagnostic
from kbnf_core.diagnostics.segments import Role, severity_role
from kbnf_core.diagnostics.visible import visible
from kbnf_core.source import Source, Span


@dataclass(frozen=True, slots=True)
class Mark:
    """An underlined range: 1-based lines, 0-based columns in code points, ``end`` exclusive.

    The sign is ``^`` for the place itself and ``-`` for places that explain it.
    """

    first: int
    start: int
    last: int
    end: int
    message: str
    sign: str
    role: Role

    @property
    def is_multiline(self) -> bool:
        """Whether the range goes over the end of a line."""
        return self.first != self.last


def marks_of(diagnostic: Diagnostic) -> list[Mark]:
    """Return the marks of a finding: its own first, then the secondary ones."""
    role = severity_role(diagnostic.severity)
    primary = _mark(diagnostic.source, diagnostic.span, diagnostic.label, "^", role)
    return [primary] + [
        _mark(diagnostic.source, label.span, label.message, "-", Role.SECONDARY)
        for label in diagnostic.labels
    ]


def _mark(source: Source, span: Span, message: str, sign: str, role: Role) -> Mark:
    first = source.position(span.start)
    last = source.position(max(span.start, span.end - 1))
    start = first.column - 1
    end = max(last.column - 1 + (span.end > span.start), 0)
    return Mark(first.line, start, last.line, end, " ".join(visible(message).split()), sign, role)
