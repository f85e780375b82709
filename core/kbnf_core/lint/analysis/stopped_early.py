"""I901: the note of a lint whose search reached its bound."""

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.source import Span

TOO_LARGE = f"this needs more than {EFFORT.regex_states:,} states"
"""What is said of a regular part that is not compared with others."""


def stopped_early(reading: Reading, span: Span, what: str, code: str) -> Diagnostic:
    """Return the finding that ``what`` was too much; other findings of ``code`` may be missing."""
    return Diagnostic(
        "I901",
        f"{what}, so {code} was not looked for everywhere",
        reading.document.source,
        span,
    )
