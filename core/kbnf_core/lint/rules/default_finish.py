"""I309: grammars that end as the configuration of their project says, and nothing of their own.

Tests: tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.source import Span

RULES = (Rule("I309", "default-finish", "The end of texts is set by the configuration alone."),)
NEEDS = Needs.GRAMMAR


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding where the library alone would end texts in another way."""
    reading = subject.reading
    if not reading.finish_is_default or reading.finish is reading.language.finish:
        return
    pragma = f"(* kbnf: finish={reading.finish.value} *)"
    fix = Fix(f"write `{pragma}`", (TextEdit(Span(0, 0), f"{pragma}\n"),))
    yield reading.finding(
        "I309",
        f"`finish={reading.finish.value}` comes from the configuration alone",
        reading.start_span,
        notes=(
            "a program that reads this file, as `Engine(text)`, reads no configuration and has"
            f" `finish={reading.language.finish.value}`; artifacts carry what is in force",
        ),
        helps=(fix.message,),
        fixes=(fix,),
    )
