"""I109: texts with two derivations."""

from collections.abc import Iterator

from kbnf_core.diagnostics import Diagnostic, Rule
from kbnf_core.frontend import Reading, name_span
from kbnf_core.ir import Choice
from kbnf_core.lint.analysis.derivations import STEPS, Ambiguity, Derivations
from kbnf_core.lint.analysis.format_text import show, show_name
from kbnf_core.lint.analysis.stopped_early import stopped_early
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.lower.regular import NotRegularError

RULES = (Rule("I109", "ambiguous", "A text has two derivations."),)
NEEDS = Needs.GRAMMAR

_MAX_SHOWN = 160


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each rule in which a bounded search finds one text derived twice.

    Of alternatives that are regular nothing is said: I108 compares those without a bound.
    """
    reading = subject.reading
    search = Derivations(subject.grammar, subject.analysis.reachable)
    search.run()
    for ambiguity in search.ambiguities.values():
        if not _is_overlap(reading, ambiguity):
            yield _finding(reading, ambiguity)
    if search.stopped_early:
        start = name_span(reading.document, reading.start)
        yield stopped_early(reading, start, f"the search took {STEPS:,} steps", "I109")


def _is_overlap(reading: Reading, ambiguity: Ambiguity) -> bool:
    if not isinstance(ambiguity.node, Choice):
        return False
    try:
        reading.regulars.of(ambiguity.node)
    except NotRegularError:
        return False
    return True


def _finding(reading: Reading, found: Ambiguity) -> Diagnostic:
    return Diagnostic(
        "I109",
        f"{show_name(reading, found.nonterminal)} derives {show(found.text)} in two ways",
        reading.document.source,
        found.node.span,
        notes=(f"either {_cut(found.first)}", f"or {_cut(found.second)}"),
    )


def _cut(derivation: str) -> str:
    return derivation if len(derivation) <= _MAX_SHOWN else f"{derivation[:_MAX_SHOWN]}..."
