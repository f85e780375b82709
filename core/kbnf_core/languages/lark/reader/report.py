"""The report of a conversion: errors, losses, and notes that change nothing.

Tests: tests/unit/languages/lark
"""

from dataclasses import dataclass, field

from kbnf_core.conversion.rewrite import Placing
from kbnf_core.kbnf.parsed import DifferingText, Loss
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.source import Source, Span

INVALID = "E421"
IMPORT = "E422"
UNSUPPORTED = "E423"
LEXING = "W421"
APPROXIMATE = "W422"
NEVER = "W423"
COLLISION = "W424"
DIALECT = "I421"


class LarkRefusedError(Exception):
    """A part that leaves no grammar: a finding, to which the reader of the part adds its place."""

    def __init__(self, code: str, message: str, *helps: str) -> None:
        super().__init__(message)
        self.code = code
        self.helps = helps


def check_counts(low: int, high: int | None, most: int | None) -> None:
    """Refuse a repetition with impossible counts, or more than ``most`` rounds."""
    if low < 0:
        raise LarkRefusedError("E013", f"range start must be >= 0, got {low}")
    if high is not None and high < low:
        raise LarkRefusedError("E013", f"range end must be >= start, got ({low}, {high})")
    if most is not None and max(low, high or 0) > most:
        raise LarkRefusedError("E013", f"counts go up to {most:,}")


@dataclass(slots=True)
class Report:
    """Findings about one Lark file; spans of imported files become those of the import."""

    source: Source
    errors: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    remark: str = ""
    """What to say at the head of the result."""
    _reported: set[tuple[str, Span]] = field(default_factory=set)

    def error(self, code: str, message: str, span: Span, *helps: str) -> None:
        """Note something that leaves no grammar."""
        if self._is_new(message, span):
            self.errors.append(Diagnostic(code, message, self.source, span, helps=helps))

    def refused(self, error: LarkRefusedError, span: Span) -> None:
        """Note a part that was refused."""
        self.error(error.code, str(error), span, *error.helps)

    def note(self, code: str, message: str, span: Span, *helps: str) -> None:
        """Note something about the original that the conversion keeps."""
        if self._is_new(message, span):
            self.notes.append(Diagnostic(code, message, self.source, span, helps=helps))

    def loss(
        self, code: str, message: str, span: Span, example: DifferingText | None = None
    ) -> None:
        """Note something that the conversion does not keep."""
        if self._is_new(message, span):
            self.losses.append(Loss(code, message, span, example))

    def add(self, other: "Report", where: Placing = lambda span: span) -> None:
        """Note everything that ``other`` has noted, of this source or an embedded text."""
        self.remark = other.remark or self.remark
        for error in other.errors:
            self.error(error.code, error.message, where(error.span), *error.helps)
        for note in other.notes:
            self.note(note.code, note.message, where(note.span), *note.helps)
        for loss in other.losses:
            self.loss(loss.code, loss.message, where(loss.span), loss.example)

    def _is_new(self, message: str, span: Span) -> bool:
        key = (message, span)
        new = key not in self._reported
        self._reported.add(key)
        return new
