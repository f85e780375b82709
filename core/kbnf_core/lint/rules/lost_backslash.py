"""W205: character classes that go on where they were meant to end, a backslash being lost."""

from collections.abc import Iterator

from kbnf_core.diagnostics import Diagnostic, Rule
from kbnf_core.frontend import Reading
from kbnf_core.languages import KBNF
from kbnf_core.lint.analysis import classes_in, patterns_in
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.syntax.printer import as_read
from kbnf_core.syntax.tree import Text

RULES = (Rule("W205", "lost-backslash", "A character class goes on where it seems to end."),)
NEEDS = Needs.DOCUMENT

_OPERATORS = frozenset("|()*+?{")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each class that holds the end of one, an operator and a new beginning."""
    reading = subject.reading
    if reading.language is not KBNF:
        return
    for node in patterns_in(reading.document):
        yield from _in_pattern(reading, node.text)


def _in_pattern(reading: Reading, text: Text) -> Iterator[Diagnostic]:
    source = reading.document.source
    for start, end in classes_in(text.value):
        if not _runs_on(text.value[start + 1 : end - 1]):
            continue
        yield Diagnostic(
            "W205",
            "this class goes on behind `\\]`, which does not end it",
            source,
            text.spell(start, end),
            notes=as_read(text, source),
            helps=(
                "a backslash in a class is written `\\\\\\\\`, or `\\\\` in a raw pattern,"
                ' as in `#r"[^\\\\]"`',
            ),
        )


def _runs_on(inner: str) -> bool:
    """Tell whether the first bracket is an escaped one that closes, and others open later."""
    closed = inner.find("\\]")
    opened = inner.find("[", closed)
    is_first = closed >= 0 and "[" not in inner[:closed]
    return is_first and opened >= 0 and not _OPERATORS.isdisjoint(inner[closed:opened])
