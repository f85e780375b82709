"""W107 and I108: alternatives that share texts, and those that add none."""

from collections.abc import Iterator
from itertools import combinations
from typing import NamedTuple

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.witness import common_word
from kbnf_core.diagnostics import Diagnostic, Label
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Choice, Grammar, Literal, Node, Sequence, postorder
from kbnf_core.lint.firsts import Firsts
from kbnf_core.lint.limits import stopped_early
from kbnf_core.lint.showing import show
from kbnf_core.lower.analyse import Analysis
from kbnf_core.lower.regular import NotRegularError

MAX_PAIRS = 500
"""Pairs of alternatives of one grammar that are looked at closely."""


def check_overlaps(reading: Reading) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that has a text in common with an earlier one."""
    if reading.grammar is None or reading.analysis is None:
        return
    left = MAX_PAIRS
    for choice, first, second in _candidates(reading.grammar, reading.analysis):
        if left == 0:
            yield stopped_early(reading, choice.span, "too many alternatives", "I108")
            return
        left -= 1
        branches = [branch for node in (first, second) for branch in _regular(reading, node)]
        if len(branches) == 2:
            yield from _compare(reading, *branches)


class _Branch(NamedTuple):
    """An alternative and its automaton."""

    node: Node
    dfa: Dfa


def _candidates(grammar: Grammar, analysis: Analysis) -> Iterator[tuple[Choice, Node, Node]]:
    """Yield the pairs of alternatives that begin alike, or may both be empty."""
    firsts = Firsts(grammar, analysis)
    for name in sorted(analysis.reachable):
        body = grammar.rules[name]
        beginnings = firsts.within(body)
        nullable = {id(node) for node, facts in analysis.within(body) if facts.nullable}
        for choice in postorder(body):
            if not isinstance(choice, Choice):
                continue
            for pair in combinations(choice.branches, 2):
                both_empty = all(id(node) in nullable for node in pair)
                apart = beginnings[id(pair[0])].isdisjoint(beginnings[id(pair[1])])
                # Equal literals are W104's business.
                if all(map(_is_literal, pair)) or (apart and not both_empty):
                    continue
                yield choice, *pair


def _is_literal(node: Node) -> bool:
    return isinstance(node, Literal) or (
        isinstance(node, Sequence) and all(isinstance(part, Literal) for part in node.parts)
    )


def _regular(reading: Reading, node: Node) -> list[_Branch]:
    try:
        return [_Branch(node, reading.regulars.of(node))]
    except NotRegularError:
        return []


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
