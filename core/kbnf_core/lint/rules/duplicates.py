"""W104: the same alternative twice in one rule.

Tests: tests/golden/lint
"""

from collections.abc import Iterator, Mapping

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.build import nothing
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import Alternation, Expression, postorder
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Label, Rule, TextEdit
from kbnf_core.text.source import NOWHERE, Span

RULES = (Rule("W104", "duplicate-alternative", "A rule has the same alternative twice."),)
NEEDS = Needs.DOCUMENT

_LEFT_OUT = print_expression(nothing(NOWHERE))
"""What readers write for each part that they leave out, whatever it was."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that is again among those of the same rule."""
    reading = subject.reading
    if reading.document.alternatives is not None:
        yield from _written_twice(reading, reading.document.alternatives)
        return
    tops: dict[str, dict[str, Span]] = {}
    for definition in reading.document.written:
        first = tops.setdefault(definition.name.value, {})
        yield from _repeated(reading, definition.branches, first)
        for node in postorder(definition.body):
            if isinstance(node, Alternation) and node is not definition.body:
                yield from _repeated(reading, node.branches, {})


def _written_twice(
    reading: Reading, alternatives: Mapping[Span, tuple[Span, bool]]
) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative of the author's text whose text is another's."""
    first: dict[tuple[Span, str], Span] = {}
    for span, (choice, _) in sorted(alternatives.items()):
        original = first.setdefault((choice, reading.document.source.slice(span)), span)
        if original is not span:
            yield _duplicate(reading, span, original, None)


def _repeated(
    reading: Reading, branches: tuple[Expression, ...], first: dict[str, Span]
) -> Iterator[Diagnostic]:
    before: Expression | None = None
    for branch in branches:
        text = print_expression(branch)
        if text == _LEFT_OUT:
            continue
        if text in first:
            yield _duplicate(reading, branch.span, first[text], before)
        else:
            first[text] = branch.span
        before = branch


def _duplicate(reading: Reading, span: Span, first: Span, before: Expression | None) -> Diagnostic:
    fixes: tuple[Fix, ...] = ()
    if before is not None:
        edit = TextEdit(Span(before.span.end, span.end), "")
        fixes = (Fix("remove the second one", (edit,)),)
    return reading.finding(
        "W104",
        "this alternative is written twice",
        span,
        labels=(Label(first, "first written here"),),
        fixes=fixes,
    )
