"""W104: the same alternative twice in one rule."""

from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import Alternation, Expression, postorder
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Edit, Fix, Label, Rule
from kbnf_core.text.source import Span

RULES = (Rule("W104", "duplicate-alternative", "A rule has the same alternative twice."),)
NEEDS = Needs.DOCUMENT


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that is again among those of the same rule."""
    reading = subject.reading
    tops: dict[str, dict[str, Span]] = {}
    for definition in reading.document.definitions:
        first = tops.setdefault(definition.name.value, {})
        yield from _repeated(reading, definition.branches, first)
        for node in postorder(definition.body):
            if isinstance(node, Alternation) and node is not definition.body:
                yield from _repeated(reading, node.branches, {})


def _repeated(
    reading: Reading, branches: tuple[Expression, ...], first: dict[str, Span]
) -> Iterator[Diagnostic]:
    before: Expression | None = None
    for branch in branches:
        text = print_expression(branch)
        if text in first:
            yield _duplicate(reading, branch, first[text], before)
        else:
            first[text] = branch.span
        before = branch


def _duplicate(
    reading: Reading, branch: Expression, first: Span, before: Expression | None
) -> Diagnostic:
    fixes: tuple[Fix, ...] = ()
    if before is not None:
        edit = Edit(Span(before.span.end, branch.span.end), "")
        fixes = (Fix("remove the second one", (edit,)),)
    return reading.finding(
        "W104",
        "this alternative is written twice",
        branch.span,
        labels=(Label(first, "first written here"),),
        fixes=fixes,
    )
