"""W111: families whose number decides nothing, so that one rule would do for all of them.

Tests: tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.kbnf.tree import Definition, Document, Reference, numbers_in, postorder
from kbnf_core.languages import KBNF
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Rule

RULES = (Rule("W111", "unused-number", "The number of a family decides nothing."),)
NEEDS = Needs.DOCUMENT


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each family that never counts, compares or passes on its number.

    Only authors of KBNF write families; readers of other languages make their columns.
    """
    if subject.reading.language is not KBNF:
        return
    document = subject.reading.document
    effective = _effective(document)
    seen: set[str] = set()
    for definition in document.definitions:
        name = definition.name.value
        if name not in document.families or name in effective or name in seen:
            continue
        seen.add(name)
        yield subject.reading.finding(
            "W111",
            f"the number of `{name}` decides nothing",
            definition.name.span,
            notes=("it is never in a count, never compared, and no family that needs it gets it",),
            helps=(f"define `{name}` without a number: all its rules are alike",),
        )


def _effective(document: Document) -> set[str]:
    """Return the families whose number decides which texts match."""
    callers: dict[str, set[str]] = {}
    pending: list[str] = []
    for definition in document.definitions:
        if _counts(definition):
            pending.append(definition.name.value)
        for node in postorder(definition.body):
            if isinstance(node, Reference) and node.number and node.number.variable:
                callers.setdefault(node.name.value, set()).add(definition.name.value)
    names: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in names:
            names.add(name)
            pending += callers.get(name, ())
    return names


def _counts(definition: Definition) -> bool:
    """Return whether the number is in a count or is compared."""
    return definition.variable is not None and any(
        number.variable is not None
        and (number.relation or number.add < 0 or not isinstance(node, Reference))
        for node in postorder(definition.body)
        for number in numbers_in(node)
    )
