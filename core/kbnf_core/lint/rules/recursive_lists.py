"""I110: recursion that only makes a list, which a loop says more plainly.

Tests: tests/golden/lint
"""

from collections import Counter
from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import (
    Concatenation,
    Definition,
    Expression,
    Reference,
    Repetition,
    Terminal,
    postorder,
)
from kbnf_core.languages import GBNF, KBNF
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit

RULES = (Rule("I110", "recursive-list", "A rule calls itself where a loop would do."),)
NEEDS = Needs.DOCUMENT


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for ``n ::= x n | x``, ``n ::= x y n | x`` and ``n ::= x n | ''``.

    Left recursion is left alone: it mostly decides how operators associate.
    """
    reading = subject.reading
    if reading.language not in (KBNF, GBNF):
        # Elsewhere there are no loops, or they are written in other ways.
        return
    counts = Counter(d.name.value for d in reading.document.definitions)
    for definition in reading.document.definitions:
        if counts[definition.name.value] == 1:
            yield from _in_definition(reading, definition)


def _in_definition(reading: Reading, definition: Definition) -> Iterator[Diagnostic]:
    name = definition.name.value
    branches = sorted(definition.branches, key=lambda branch: not _uses(branch, name))
    match branches:
        case [Concatenation((*items, Reference() as call)), other]:
            if call.name.value != name or _uses(other, name) or any(_uses(i, name) for i in items):
                return
            if call.number is not None and f"{name}{call.number}" != definition.title:
                return  # It is another rule of the family.
            text = _loop(reading, items, other)
            if text is not None:
                yield _finding(reading, definition, call, text)


def _uses(node: Expression, name: str) -> bool:
    return any(isinstance(n, Reference) and n.name.value == name for n in postorder(node))


def _loop(reading: Reading, items: list[Expression], other: Expression) -> str | None:
    """Return the equivalent loop, None unless the other branch ends a list."""
    item = reading.document.source.slice(items[0].span.cover(items[-1].span))
    if len(items) > 1 or isinstance(items[0], Repetition):
        item = f"({item})"
    if isinstance(other, Terminal) and not other.text.value:
        return f"{item}*"
    if print_expression(other) != print_expression(items[0]):
        return None
    return f"{item}+" if len(items) == 1 else f"{item}* {reading.document.source.slice(other.span)}"


def _finding(reading: Reading, definition: Definition, call: Reference, text: str) -> Diagnostic:
    return reading.finding(
        "I110",
        f"`{definition.name.value}` calls itself only to make a list",
        call.span,
        helps=(f"a loop says the same: `{text}`",),
        fixes=(Fix("write a loop", (TextEdit(definition.body.span, text),)),),
    )
