"""W107 and I108: alternatives that share texts, and those that add none."""

from bisect import bisect
from collections.abc import Iterator

from kbnf_core.automata import operations
from kbnf_core.automata.errors import LimitError
from kbnf_core.diagnostics import Diagnostic, Label, Rule
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Choice, Grammar, Literal, Node, Sequence, postorder
from kbnf_core.lint.analysis.common_texts import CommonTexts
from kbnf_core.lint.analysis.derivations import spelling_bytes
from kbnf_core.lint.analysis.format_text import show
from kbnf_core.lint.analysis.stopped_early import TOO_LARGE, stopped_early
from kbnf_core.lint.subject import Needs, Subject
from kbnf_core.lower.analyse import Analysis
from kbnf_core.lower.first_follow import Firsts
from kbnf_core.lower.regular import NotRegularError

RULES = (
    Rule("W107", "shadowed-alternative", "Another alternative matches all texts of this one."),
    Rule("I108", "overlapping-alternatives", "Two alternatives match the same text."),
)
NEEDS = Needs.GRAMMAR

MAX_PAIRS = 500
"""Pairs of alternatives of one grammar that are looked at closely."""


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that has a text in common with an earlier one."""
    reading, grammar, analysis = subject.reading, subject.grammar, subject.analysis
    texts: CommonTexts | None = None
    left = MAX_PAIRS
    for choice, first, second in _candidates(reading, grammar, analysis):
        if left == 0:
            yield stopped_early(reading, choice.span, "too many alternatives", "I108")
            return
        left -= 1
        texts = texts or _texts(grammar, analysis)
        try:
            word = texts.find(first, second)
        except LimitError as error:
            yield stopped_early(reading, second.span, f"comparing this takes {error}", "I108")
            return
        if word is not None:
            yield from _compare(reading, first, second, word)


def _texts(grammar: Grammar, analysis: Analysis) -> CommonTexts:
    bodies = [grammar.rules[name] for name in sorted(analysis.reachable)]
    return CommonTexts(grammar.rules, spelling_bytes(bodies))


def _candidates(
    reading: Reading, grammar: Grammar, analysis: Analysis
) -> Iterator[tuple[Choice[Node], Node, Node]]:
    """Yield the pairs of regular alternatives that begin alike, or may both be empty."""
    firsts = Firsts(grammar, analysis)
    for name in sorted(analysis.reachable):
        body = grammar.rules[name]
        choices = [node for node in postorder(body) if isinstance(node, Choice)]
        if not choices:
            continue
        beginnings = firsts.within(body)
        nullable = {id(node) for node, facts in analysis.within(body) if facts.nullable}
        for choice in choices:
            regular = [b for b in choice.branches if reading.regulars.is_regular(b)]
            for first, second in _pairs(regular):
                both_empty = id(first) in nullable and id(second) in nullable
                if both_empty or not beginnings[id(first)].isdisjoint(beginnings[id(second)]):
                    yield choice, first, second


def _pairs(branches: list[Node]) -> Iterator[tuple[Node, Node]]:
    """Yield all pairs, in order, but those of two literals: equal ones are W104's business."""
    others = [i for i, branch in enumerate(branches) if not _is_literal(branch)]
    for i, first in enumerate(branches):
        seconds = others[bisect(others, i) :] if _is_literal(first) else range(i + 1, len(branches))
        yield from ((first, branches[j]) for j in seconds)


def _is_literal(node: Node) -> bool:
    return isinstance(node, Literal) or (
        isinstance(node, Sequence) and all(isinstance(part, Literal) for part in node.parts)
    )


def _compare(reading: Reading, first: Node, second: Node, word: bytes) -> Iterator[Diagnostic]:
    """Tell which of two parts with a common text has all texts of the other, if one has."""
    try:
        left, right = reading.regulars.of(first), reading.regulars.of(second)
        if operations.difference(right, left, EFFORT).is_empty:
            yield _shadowed(reading, second, first, word)
        elif operations.difference(left, right, EFFORT).is_empty:
            yield _shadowed(reading, first, second, word)
        else:
            yield _overlapping(reading, first, second, word)
    except (LimitError, NotRegularError):
        yield _overlapping(reading, first, second, word)
        yield stopped_early(reading, second.span, TOO_LARGE, "W107")


def _shadowed(reading: Reading, inner: Node, outer: Node, word: bytes) -> Diagnostic:
    return Diagnostic(
        "W107",
        "this alternative adds no text",
        reading.document.source,
        inner.span,
        labels=(Label(outer.span, "this one matches all of its texts"),),
        notes=(f"for example {show(word)}",),
        helps=("remove it, or narrow the other one",),
    )


def _overlapping(reading: Reading, first: Node, second: Node, word: bytes) -> Diagnostic:
    return Diagnostic(
        "I108",
        f"both alternatives match {show(word)}",
        reading.document.source,
        second.span,
        labels=(Label(first.span, "the other one"),),
    )
