"""W301: alternatives of the start that eager finish can never reach.

Tests: tests/unit/lint/test_bounds.py, tests/golden/lint
"""

from collections.abc import Iterator

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.config import Finish
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Choice, Node
from kbnf_core.lint.subject import TOO_LARGE, Needs, Subject
from kbnf_core.lower.regular import NotRegularError
from kbnf_core.text.diagnostics import Diagnostic, Rule
from kbnf_core.text.diagnostics.segments import in_quotes
from kbnf_core.text.errors import LimitError

RULES = (
    Rule("W301", "never-reached-alternative", "Eager finish ends before this alternative can."),
)
NEEDS = Needs.GRAMMAR

MAX_BRANCHES = 200
"""Alternatives that are looked at."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each regular alternative all of whose texts begin with a complete one."""
    reading = subject.reading
    if reading.finish is not Finish.EAGER:
        return
    branches = _branches(subject.grammar.rules[reading.start])
    if len(branches) == 1:
        return
    if len(branches) > MAX_BRANCHES:
        subject.stop("W301", "the start has too many alternatives", reading.start_span)
    regular: list[tuple[Node, Dfa]] = []
    for branch in branches[:MAX_BRANCHES]:
        try:
            regular.append((branch, subject.regulars.of(branch)))
        except NotRegularError:
            if subject.regulars.is_regular(branch):
                subject.stop("W301", TOO_LARGE, branch.span)
    try:
        generated = operations.shortest_matches(
            operations.union(*(dfa for _, dfa in regular), limits=EFFORT)
        )
        for branch, dfa in regular:
            subject.budget.spend(generated.state_count)
            if not dfa.is_empty and operations.intersect(dfa, generated, EFFORT).is_empty:
                yield _finding(reading, branch, dfa)
    except LimitError as error:
        why = f"comparing the alternatives of the start takes {error}"
        subject.stop("W301", why, reading.start_span)


def _branches(root: Node) -> list[Node]:
    """Return the alternatives of ``root``, those of nested ones in their place."""
    result: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Choice):
            stack.extend(reversed(node.branches))
        else:
            result.append(node)
    return result


def _finding(reading: Reading, branch: Node, dfa: Dfa) -> Diagnostic:
    word = operations.shortest_word(dfa) or b""
    return reading.finding(
        "W301",
        "this alternative is never generated in full",
        branch.span,
        notes=(
            f"`finish=eager` ends at the first complete text: {in_quotes(word)} is complete"
            " before its end",
        ),
        helps=("set `(* kbnf: finish=eos *)` or `finish=token`, or make no text begin another",),
    )
