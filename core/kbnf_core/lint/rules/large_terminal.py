"""W701: terminals with very large automata, and the counted repetition that causes it.

Tests: tests/golden/lint
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Regular, postorder
from kbnf_core.kbnf import tree
from kbnf_core.lint.subject import Needs, Subject, patterns_in
from kbnf_core.text.diagnostics import Diagnostic, Label, Rule

RULES = (Rule("W701", "large-terminal", "A terminal needs very many states."),)
NEEDS = Needs.GRAMMAR

MANY_STATES = 2_000
"""States of one terminal beyond which it is worth a warning."""

_MAX_COUNTS = 8
"""Counts of one pattern that are tried as the culprit."""

_SMALL = replace(EFFORT, regex_states=20_000)
_COUNT = re.compile(r"(?<!\\)\{\d+(?:,\d*)?\}")


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each terminal with more states than ``MANY_STATES``."""
    reading = subject.reading
    patterns = {node.span: node.text for node in patterns_in(reading.document)}
    for body in subject.grammar.rules.values():
        for node in postorder(body):
            # The automaton of many texts is as large as they are, and has no count to be lowered.
            # The bytes of an exception are counted, and no states.
            if (
                isinstance(node, Regular)
                and (node.bounded[0] if node.bounded else node.dfa).state_count > MANY_STATES
                and not _is_choice(reading, node)
            ):
                yield _finding(reading, node, patterns.get(node.span))


def _is_choice(reading: Reading, node: Regular) -> bool:
    return any(
        isinstance(expression, tree.Alternation)
        for expression in reading.written.get(node.span, ())
    )


def _finding(reading: Reading, node: Regular, text: tree.Text | None) -> Diagnostic:
    culprit = None if text is None else _culprit(text)
    return reading.finding(
        "W701",
        f"this terminal needs {node.dfa.state_count:,} states",
        node.span,
        labels=() if culprit is None else (culprit,),
        helps=("lower its counts, or make it a rule: `x{m,n}` of a rule is counted, not copied",),
    )


def _culprit(text: tree.Text) -> Label | None:
    """Return the count without which the fewest states are left."""
    tried: list[tuple[int, int, int]] = []
    for count in list(_COUNT.finditer(text.value))[:_MAX_COUNTS]:
        without = f"{text.value[: count.start()]}{{1}}{text.value[count.end() :]}"
        dfa = compile_regex(without, _SMALL).dfa
        if dfa is not None:
            tried.append((dfa.state_count, *count.span()))
    if not tried:
        return None
    left, start, end = min(tried)
    return Label(text.spell(start, end), f"with `{{1}}` here, {left:,} states are left")
