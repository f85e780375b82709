"""W301: alternatives of the start that eager finish can never reach."""

from collections.abc import Iterator
from dataclasses import replace

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.frontend import Reading
from kbnf_core.ir import Choice, Node
from kbnf_core.limits import DEFAULT_LIMITS
from kbnf_core.lower.regular import NotRegularError, to_dfa

EFFORT = replace(DEFAULT_LIMITS, regex_states=5_000)
"""Automata beyond this are left alone: the check then says nothing."""

MAX_BRANCHES = 200
"""A start with more alternatives is left alone."""


def check_never_reached(reading: Reading) -> Iterator[Diagnostic]:
    """Yield a finding for each regular alternative all of whose texts begin with a complete one."""
    if reading.grammar is None or reading.finish is not Finish.EAGER:
        return
    rules = reading.grammar.rules
    regular: list[tuple[Node, Dfa]] = []
    for branch in _branches(rules[reading.start])[:MAX_BRANCHES]:
        try:
            regular.append((branch, to_dfa(branch, rules, EFFORT)))
        except NotRegularError:
            continue
    try:
        generated = operations.shortest_matches(
            operations.union(*(dfa for _, dfa in regular), limits=EFFORT)
        )
        for branch, dfa in regular:
            if not dfa.is_empty and operations.intersect(dfa, generated, EFFORT).is_empty:
                yield _finding(reading, branch, dfa)
    except LimitError:
        return


def _branches(root: Node) -> list[Node]:
    """Return the alternatives of ``root``, those of nested ones in their place."""
    found: list[Node] = []
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, Choice):
            stack.extend(reversed(node.branches))
        else:
            found.append(node)
    return found


def _finding(reading: Reading, branch: Node, dfa: Dfa) -> Diagnostic:
    word = operations.shortest_word(dfa) or b""
    shown = word.decode("utf-8", "backslashreplace")
    return Diagnostic(
        "W301",
        "this alternative is never generated in full",
        reading.document.source,
        branch.span,
        notes=(
            f"`finish=eager` ends at the first complete text: {shown!r} is over before its end",
        ),
        helps=("set `(* kbnf: finish=eos *)` or `finish=token`, or make no text begin another",),
    )
