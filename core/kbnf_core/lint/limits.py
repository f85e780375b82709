"""I901: what a lint says where it stopped before it had looked at everything."""

from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading
from kbnf_core.source import Span


def stopped_early(reading: Reading, span: Span, what: str, code: str) -> Diagnostic:
    """Return the finding that ``what`` was too much; other findings of ``code`` may be missing."""
    return Diagnostic(
        "I901",
        f"{what}, so {code} was not looked for everywhere",
        reading.document.source,
        span,
    )
