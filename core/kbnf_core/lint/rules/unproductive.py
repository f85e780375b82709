"""W103: rules and alternatives that can never be completed, and are therefore ignored.

Tests: tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.frontend import Reading
from kbnf_core.ir import Call, Choice, GrammarRules, Node, calls
from kbnf_core.lint.subject import Needs, Subject, show_name
from kbnf_core.lower.facts import Analysis, Facts
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.source import Span

RULES = (Rule("W103", "unproductive", "A rule or alternative can never be completed."),)
NEEDS = Needs.GRAMMAR


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each rule, and each alternative of other rules, that derives nothing.

    A rule of a family has copies, one for each number; it is reported where none derives a text.
    """
    reading, grammar, analysis = subject.reading, subject.grammar, subject.analysis
    productive: set[Span] = set()
    findings: list[Diagnostic] = []
    for name in grammar.rules:
        if not analysis.facts[name].productive:
            findings.append(_rule(reading, name))
        else:
            productive.add(reading.name_span(name))
            findings += _alternatives(reading, grammar, analysis, name, productive)
    has_copies = reading.has_families
    yield from (finding for finding in findings if not (has_copies and finding.span in productive))


def _rule(reading: Reading, name: str) -> Diagnostic:
    return reading.finding(
        "W103",
        f"{show_name(reading, name)} can never be completed",
        reading.name_span(name),
        notes=("everything that leads here is ignored",),
        helps=("give it an alternative that does not call itself",),
    )


def _alternatives(
    reading: Reading, grammar: GrammarRules, analysis: Analysis, name: str, productive: set[Span]
) -> Iterator[Diagnostic]:
    """Yield the findings of a rule; add the spans of alternatives that derive a text."""
    facts: dict[int, Facts] = {}
    for node, node_facts in analysis.within(grammar.rules[name]):
        facts[id(node)] = node_facts
        if not isinstance(node, Choice):
            continue
        for branch in node.branches:
            if facts[id(branch)].productive:
                productive.add(branch.span)
            elif node_facts.productive:
                yield _alternative(reading, branch, analysis)


def _alternative(reading: Reading, branch: Node, analysis: Analysis) -> Diagnostic:
    culprit = _culprit(branch, analysis)
    label = f"`{culprit.nonterminal}` has no end" if culprit else ""
    return reading.finding(
        "W103",
        "this alternative can never be completed",
        branch.span,
        label=label,
        notes=("the alternative is ignored",),
    )


def _culprit(branch: Node, analysis: Analysis) -> Call | None:
    dead = (call for call in calls(branch) if not analysis.facts[call.nonterminal].productive)
    return next(dead, None)
