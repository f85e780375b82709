"""W106: loops whose body is nullable, and rules that derive themselves alone (cycles).

Tests: tests/unit/lint/test_bounds.py, tests/golden/lint
"""

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from kbnf_core.frontend import Reading
from kbnf_core.ir import Call, Choice, Node, Repeat, Sequence
from kbnf_core.kbnf import tree
from kbnf_core.lint.subject import Needs, Subject, show_name
from kbnf_core.lower.facts import Analysis, Facts
from kbnf_core.text.diagnostics import Diagnostic, Fix, Rule, TextEdit
from kbnf_core.text.source import Span

RULES = (Rule("W106", "empty-loop", "A loop can go round without consuming anything."),)
NEEDS = Needs.GRAMMAR

MAX_CYCLES = 20
"""Cycles that are reported; a grammar with more has seen enough."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each such loop. They are harmless to recognition, but rarely meant."""
    reading, grammar, analysis = subject.reading, subject.grammar, subject.analysis
    becomes: dict[str, set[str]] = {}
    for name, body in grammar.rules.items():
        facts: dict[int, Facts] = {}
        for node, node_facts in analysis.within(body):
            facts[id(node)] = node_facts
            if isinstance(node, Repeat) and node.high is None and facts[id(node.body)].nullable:
                yield _loop(reading, node)
        becomes[name] = set(_alone(body, facts, analysis))
    cycles = list(_cycles(becomes))
    for cycle in cycles[:MAX_CYCLES]:
        yield _cycle(reading, cycle)
    if len(cycles) > MAX_CYCLES:
        first = reading.name_span(cycles[-1][0])
        subject.stop("W106", "too many rules become themselves", first)


def _alone(root: Node, facts: dict[int, Facts], analysis: Analysis) -> Iterator[str]:
    """Yield the nonterminals that can be all that ``root`` consists of."""
    stack = [root]
    while stack:
        match stack.pop():
            case Call(name):
                if analysis.facts[name].productive:
                    yield name
            case Repeat(body, low):
                if low <= 1 or facts[id(body)].nullable:
                    stack.append(body)
            case Choice(branches):
                stack.extend(branches)
            case Sequence(children):
                filled = [node for node in children if not facts[id(node)].nullable]
                stack.extend(filled if len(filled) == 1 else children if not filled else ())


def _cycles(becomes: dict[str, set[str]]) -> Iterator[list[str]]:
    """Yield cycles until there are none, or one more than are reported."""
    for _ in range(MAX_CYCLES + 1):
        try:
            TopologicalSorter(becomes).prepare()
        except CycleError as error:
            cycle: list[str] = error.args[1]
            yield cycle[:0:-1]
            becomes[cycle[1]].discard(cycle[0])
        else:
            return


def _loop(reading: Reading, node: Repeat[Node]) -> Diagnostic:
    return reading.finding(
        "W106",
        "this loop can go round without consuming anything",
        node.span,
        label="what is repeated may be empty",
        helps=("repeat something that is never empty: `(x?)*` is `x*`",),
        fixes=_fixes(reading, node.span),
    )


def _fixes(reading: Reading, span: Span) -> tuple[Fix, ...]:
    """Return the fix if the repeated expression is optional as a whole."""
    for node in reading.written.get(span, ()):
        if not isinstance(node, tree.Bracket | tree.Repetition):
            continue
        compulsory = _compulsory(node.body)
        if compulsory and isinstance(node, tree.Repetition) and node.low:
            compulsory.append(TextEdit(node.operator, "*"))
        if compulsory:
            return (Fix("leave only the outer one optional", tuple(compulsory)),)
    return ()


def _compulsory(node: tree.Expression) -> list[TextEdit]:
    """Return the edits that make an optional or repeated expression occur once, if it is one."""
    while isinstance(node, tree.Bracket) and node.kind is tree.BracketKind.GROUP:
        node = node.body
    match node:
        case tree.Repetition(_, 0, high, operator) if high in (1, None):
            return [TextEdit(operator, "")]
        case tree.Bracket(_, _, (start, end)):
            return [TextEdit(Span(start, start + 1), "("), TextEdit(Span(end - 1, end), ")")]
        case _:
            return []


def _cycle(reading: Reading, cycle: list[str]) -> Diagnostic:
    first = min(range(len(cycle)), key=lambda i: reading.name_span(cycle[i]))
    names = [*cycle[first:], *cycle[:first], cycle[first]]
    return reading.finding(
        "W106",
        f"{show_name(reading, names[0])} can become itself without consuming anything",
        reading.name_span(names[0]),
        notes=("the way round: " + " -> ".join(names),),
    )
