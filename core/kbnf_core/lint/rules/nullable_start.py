"""W105: a start that matches the empty text, where generation cannot end before the first byte.

Tests: tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.config import Finish
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Rule

RULES = (
    Rule("W105", "nullable-start", "The start matches the empty text, which cannot be generated."),
)
NEEDS = Needs.GRAMMAR


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding unless ``finish=eos``, which can end an empty text."""
    reading = subject.reading
    if reading.finish is Finish.EOS:
        return
    if subject.analysis.facts[reading.start].nullable:
        yield reading.finding(
            "W105",
            f"the start nonterminal `{reading.start}` matches the empty text",
            reading.start_span,
            notes=(f"with `finish={reading.finish.value}` at least one byte is generated",),
            helps=("make one part compulsory, or set `(* kbnf: finish=eos *)`",),
        )
