"""W107 and I108: alternatives that share texts, and those that add none."""

from collections.abc import Iterator
from itertools import combinations

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.witness import common_word
from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Choice, Literal, Node, Sequence, postorder
from kbnf_core.lint.limits import stopped_early
from kbnf_core.lint.showing import show
from kbnf_core.lower.regular import NotRegularError

MAX_PAIRS = 300
"""Pairs of alternatives of one grammar that are compared in full."""


def check_overlaps(reading: Reading) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that has a text in common with an earlier one."""
    if reading.grammar is None or reading.analysis is None:
        return
    left = MAX_PAIRS
    for name in sorted(reading.analysis.reachable):
        for node in postorder(reading.grammar.rules[name]):
            if not isinstance(node, Choice):
                continue
            for first, second in combinations(_regular_branches(reading, node), 2):
                if not _may_meet(first, second):
                    continue
                if left == 0:
                    yield stopped_early(reading, node.span, "too many alternatives", "I108")
                    return
                left -= 1
                yield from _compare(reading, first, second)


class _Branch:
    """An alternative and its automaton; ``firsts`` are the bytes that its texts begin with."""

    def __init__(self, node: Node, dfa: Dfa) -> None:
        self.node = node
        self.dfa = dfa
        row = dfa.next[0]
        self.firsts = frozenset(byte for byte in range(256) if row[dfa.classes[byte]] != DEAD)
        self.is_literal = _is_literal(node)


def _is_literal(node: Node) -> bool:
    return isinstance(node, Literal) or (
        isinstance(node, Sequence) and all(isinstance(part, Literal) for part in node.parts)
    )


def _regular_branches(reading: Reading, choice: Choice) -> list[_Branch]:
    found = []
    for node in choice.branches:
        try:
            dfa = reading.regulars.of(node)
        except NotRegularError:
            continue
        if not dfa.is_empty:
            found.append(_Branch(node, dfa))
    return found


def _may_meet(first: _Branch, second: _Branch) -> bool:
    """Tell quickly where a comparison is of no use; equal literals are W104's business."""
    if first.is_literal and second.is_literal:
        return False
    if first.dfa.is_nullable and second.dfa.is_nullable:
        return True
    return not first.firsts.isdisjoint(second.firsts)


def _compare(reading: Reading, first: _Branch, second: _Branch) -> Iterator[Diagnostic]:
    try:
        word = common_word(first.dfa, second.dfa, EFFORT)
        if word is None:
            return
        if operations.difference(second.dfa, first.dfa, EFFORT).is_empty:
            yield _shadowed(reading, second, first, word)
        elif operations.difference(first.dfa, second.dfa, EFFORT).is_empty:
            yield _shadowed(reading, first, second, word)
        else:
            yield _overlapping(reading, first, second, word)
    except LimitError as error:
        yield stopped_early(reading, second.node.span, f"comparing this takes {error}", "I108")


def _shadowed(reading: Reading, inner: _Branch, outer: _Branch, word: bytes) -> Diagnostic:
    return Diagnostic(
        "W107",
        "this alternative adds no text",
        reading.document.source,
        inner.node.span,
        labels=(Label(outer.node.span, "this one matches all of its texts"),),
        notes=(f"for example {show(word)}",),
        helps=("remove it, or narrow the other one",),
    )


def _overlapping(reading: Reading, first: _Branch, second: _Branch, word: bytes) -> Diagnostic:
    return Diagnostic(
        "I108",
        f"both alternatives match {show(word)}",
        reading.document.source,
        second.node.span,
        labels=(Label(first.node.span, "the other one"),),
    )
