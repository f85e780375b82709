"""W101 and W102: nonterminals that nothing uses, and those that the start cannot reach.

Tests: tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.ir.analysis import reachable
from kbnf_core.kbnf.tree import Definition, Document, uses_in
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.text.diagnostics import Diagnostic, Label, Rule, Severity
from kbnf_core.text.source import Span

RULES = (
    Rule("W101", "unused-nonterminal", "A nonterminal is defined but never used."),
    Rule("W102", "unreachable-nonterminal", "A nonterminal cannot be reached from the start."),
)
NEEDS = Needs.DOCUMENT


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each definition that does not take part in the language.

    A file with syntax errors has no findings: the names in its broken rules are unknown. For a
    language that is converted, the reader reports the rules that it leaves out.
    """
    reading = subject.reading
    if reading.language.is_converted:
        return
    document = reading.document
    if document.broken_names or _has_syntax_errors(reading):
        return
    uses = _uses(document)
    if reading.start not in uses:
        # That is an error of its own, and nothing is known to be left out.
        return
    reached = reachable([reading.start], uses)
    users = _users(uses)
    # A name that begins with an undefined one is most likely the intended one.
    undefined = tuple(used for uses_ in uses.values() for used in uses_ if used not in uses)
    for name, span in sorted(document.first_names.items(), key=lambda item: item[1]):
        if name in reached or name in document.predefined or name.startswith(undefined):
            continue
        if name not in users:
            yield _unused(document, name, span)
        else:
            yield _unreachable(document, name, span, reading.start, users[name])


def _has_syntax_errors(reading: Reading) -> bool:
    return any(
        d.severity is Severity.ERROR and d.code.startswith("E0") for d in reading.diagnostics
    )


def _uses(document: Document) -> dict[str, set[str]]:
    uses: dict[str, set[str]] = {}
    for definition in document.definitions:
        uses.setdefault(definition.name.value, set()).update(_used_in(definition))
    return uses


def _used_in(definition: Definition) -> Iterator[str]:
    # bnf_sampler's `<except!([name])>` asks the vocabulary what a rule begins with.
    if "(" in definition.name.value:
        from kbnf_core.languages.bnf.parse import excluded_rule

        excluded = excluded_rule(definition.name.value)
        if excluded is not None:
            yield excluded
    yield from (name.value for name in uses_in(definition.body))


def _users(uses: dict[str, set[str]]) -> dict[str, str]:
    """Return for each name that others use the first of them, by the alphabet."""
    result: dict[str, str] = {}
    for user in sorted(uses, reverse=True):
        result.update(dict.fromkeys(uses[user] - {user}, user))
    return result


def _unused(document: Document, name: str, span: Span) -> Diagnostic:
    return Diagnostic(
        "W101",
        f"the nonterminal `{name}` is never used",
        document.source,
        span,
        helps=("remove it, or use it in a rule that the start can reach",),
    )


def _unreachable(document: Document, name: str, span: Span, start: str, user: str) -> Diagnostic:
    return Diagnostic(
        "W102",
        f"the nonterminal `{name}` cannot be reached from `{start}`",
        document.source,
        span,
        labels=(
            Label(document.first_names[user], "used only here, which cannot be reached either"),
        ),
    )
