"""W004: texts in three quotes, which are texts between two empty ones.

Tests: tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.tree import Concatenation, Terminal
from kbnf_core.languages import KBNF
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.source import Span

RULES = (Rule("W004", "triple-quotes", "Three quotes do not begin a text."),)
NEEDS = Needs.DOCUMENT


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each text that touches an empty one on either side."""
    reading = subject.reading
    if reading.language is not KBNF:
        return
    for node in reading.document.nodes():
        if isinstance(node, Concatenation):
            for first, middle, last in zip(
                node.items, node.items[1:], node.items[2:], strict=False
            ):
                if (
                    isinstance(first, Terminal)
                    and isinstance(middle, Terminal)
                    and isinstance(last, Terminal)
                    and first.text.value == last.text.value == ""
                    and first.span.end == middle.span.start
                    and middle.span.end == last.span.start
                ):
                    yield _finding(reading, middle, Span(first.span.start, last.span.end))


def _finding(reading: Reading, middle: Terminal, span: Span) -> Diagnostic:
    written = reading.document.source.slice(middle.span)
    fix = Fix(f"write `{written}`", (TextEdit(span, written),))
    return reading.finding(
        "W004",
        "three quotes do not begin a text",
        span,
        notes=(f"this is an empty text, {written}, and an empty text",),
        helps=(f"write `{written}`: line breaks are allowed in every text",),
        fixes=(fix,),
    )
