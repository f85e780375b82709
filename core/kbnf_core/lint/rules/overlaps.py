"""W107 and I108: alternatives that share texts, and those that add none.

A shortest common text comes from a lazy product. Neither part becomes an automaton. The residual of
a part after some bytes is a set of *rests*, and only those that both parts reach are made: the walk
is over as soon as the parts differ, however large they are.

Tests: tests/unit/lint/test_bounds.py, tests/golden/lint
"""

from bisect import bisect, bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple, TypeAlias

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import DEAD
from kbnf_core.automata.explore import shortest_word_to
from kbnf_core.conversion.families import alternatives_in
from kbnf_core.frontend import EFFORT, Reading
from kbnf_core.ir import Call, Choice, Literal, Node, Regular, Repeat, Sequence, children, postorder
from kbnf_core.lint.subject import TOO_LARGE, Needs, Subject, show, spelling_bytes
from kbnf_core.lower.facts import Firsts
from kbnf_core.lower.regular import NotRegularError
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Label, Rule
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import Span

MOST_RESTS = 20_000
"""Rests of the parts of one grammar, and sets of them that two parts come to."""

_SEARCH = 10
"""Steps that a search takes however soon the parts differ."""

Rests = frozenset[int]

_END = 0


class _Rest(NamedTuple):
    """The rest to match: ``node`` from ``position`` on, and then the rest ``after``.

    ``position`` counts bytes of a literal, parts of a sequence or turns of a repetition, or is a
    state of an automaton.
    """

    node: Node
    position: int
    after: int


class CommonTexts:
    """The walk, for parts of one grammar; ``spelling`` has a byte of every class of bytes.

    Raises LimitError when there are more than ``MOST_RESTS``, WorkLimitError where ``budget`` is
    used up: rests that are come to are steps.
    """

    def __init__(self, rules: Mapping[str, Node], spelling: list[int], budget: Budget) -> None:
        self._rules = rules
        self._spelling = spelling
        self._budget = budget
        # The first, the end, has no node; a place is never looked for there.
        self._rests: list[_Rest | None] = [None]
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._entered: dict[int, Rests] = {}
        self._moved: dict[Rests, Mapping[int, set[int]]] = {}
        self._rows: dict[tuple[int, int], list[tuple[int, int]]] = {}

    def find(self, first: Node, second: Node) -> bytes | None:
        """Return a shortest text of both, None if they have none in common."""
        self._budget.spend(_SEARCH)
        start = (
            self._enter(self._number(first, 0, _END)),
            self._enter(self._number(second, 0, _END)),
        )
        result = shortest_word_to(
            start,
            lambda pair: all(_END in rests for rests in pair),
            self._steps,
            MOST_RESTS,
            "pairs of places",
        )
        return result and result[0]

    def _steps(self, pair: tuple[Rests, Rests]) -> Iterator[tuple[int, tuple[Rests, Rests]]]:
        """Yield the bytes with which both go on, one of those that lead to the same."""
        first, second = pair
        left, right = self._moves(first), self._moves(second)
        seen = set()
        for byte in self._spelling:
            if byte in left and byte in right:
                targets = (frozenset(left[byte]), frozenset(right[byte]))
                self._budget.spend(1 + len(left[byte]) + len(right[byte]))
                if targets not in seen:
                    seen.add(targets)
                    yield byte, (self._enter_all(targets[0]), self._enter_all(targets[1]))

    def _moves(self, rests: Rests) -> Mapping[int, set[int]]:
        if rests not in self._moved:
            self._moved[rests] = self._move(rests)
        return self._moved[rests]

    def _move(self, rests: Rests) -> Mapping[int, set[int]]:
        moves: defaultdict[int, set[int]] = defaultdict(set)
        for number in rests:
            match self._rests[number]:
                case _Rest(Literal(data) as node, offset, after):
                    moves[data[offset]].add(self._number(node, offset + 1, after))
                case _Rest(Regular() as node, offset, after):
                    for byte, target in self._row(node, offset):
                        moves[byte].add(self._number(node, target, after))
        return moves

    def _row(self, node: Regular, state: int) -> list[tuple[int, int]]:
        key = (id(node.dfa), state)
        if key not in self._rows:
            row, classes = node.dfa.rows[state], node.dfa.classes
            self._rows[key] = [
                (byte, row[classes[byte]]) for byte in self._spelling if row[classes[byte]] != DEAD
            ]
        return self._rows[key]

    def _enter_all(self, numbers: Iterable[int]) -> Rests:
        return frozenset().union(*map(self._enter, numbers))

    def _enter(self, number: int) -> Rests:
        """Return the end, or terminals, to which a rest comes without a byte."""
        if number not in self._entered:
            seen = {number}
            stack = [number]
            leaves = set()
            while stack:
                at = stack.pop()
                inner, is_leaf = self._open(at)
                if is_leaf:
                    leaves.add(at)
                fresh = set(inner) - seen
                seen |= fresh
                stack.extend(fresh)
            self._entered[number] = frozenset(leaves)
        return self._entered[number]

    def _open(self, number: int) -> tuple[list[int], bool]:
        """Return the rests that a rest is without a byte, and whether it can take one, or ends."""
        rest = self._rests[number]
        if rest is None:
            return [], True
        node, offset, after = rest
        match node:
            case Literal(data):
                return ([], True) if offset < len(data) else ([after], False)
            case Regular(dfa):
                return [after] * (
                    not dfa.is_empty and bool(dfa.accepting[offset])
                ), not dfa.is_empty
            case Call(name):
                return [self._number(self._rules[name], 0, after)], False
            case Choice(branches):
                return [self._number(branch, 0, after) for branch in branches], False
            case Sequence(children) if offset < len(children):
                then = self._number(node, offset + 1, after)
                return [self._number(children[offset], 0, then)], False
            case Repeat():
                return self._turns(node, offset, after), False
            case _:
                return [after], False

    def _turns(self, node: Repeat[Node], done: int, after: int) -> list[int]:
        result = [after] if done >= node.low else []
        if node.high is None or done < node.high:
            # Of a loop without a bound, the turns beyond the least are all alike.
            then = done if node.high is None and done >= node.low else done + 1
            result.append(self._number(node.body, 0, self._number(node, then, after)))
        return result

    def _number(self, node: Node, offset: int, after: int) -> int:
        key = (id(node), offset, after)
        number = self._numbers.get(key)
        if number is None:
            number = len(self._rests)
            if number > MOST_RESTS:
                raise LimitError("places", MOST_RESTS)
            self._numbers[key] = number
            self._rests.append(_Rest(node, offset, after))
        return number


RULES = (
    Rule("W107", "shadowed-alternative", "Another alternative matches all texts of this one."),
    Rule("I108", "overlapping-alternatives", "Two alternatives match the same text."),
)
NEEDS = Needs.GRAMMAR

_Alternatives: TypeAlias = Mapping[Span, tuple[Span, bool]]


def check(subject: Subject) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that has a text in common with an earlier one.

    Of the earlier ones it names the first. Of an alternative that adds no text nothing more is
    reported: what overlaps with it overlaps with the one that has all of its texts.
    """
    reading = subject.reading
    written = alternatives_in(reading.document)
    has_copies = written is not None
    texts: CommonTexts | None = None
    shadowed: dict[int, _Shadowed] = {}
    reported: set[int] = set()
    for first, second in _candidates(subject, written):
        if not has_copies and (id(first) in shadowed or id(second) in shadowed):
            continue
        if id(second) in reported and not _inside(subject, first, second):
            continue
        texts = texts or _texts(subject)
        try:
            word = texts.find(first, second)
        except LimitError as error:
            subject.stop("I108", f"comparing this takes {error}", second.span)
            continue
        if word is None:
            continue
        inside = _inside(subject, first, second)
        if not inside:
            reported.add(id(second))
            yield _overlapping(reading, first, second, word)
        for inner, outer in inside if has_copies else inside[:1]:
            entry = shadowed.setdefault(id(inner), _Shadowed(inner, {}))
            entry.by.setdefault(outer.span, _shadowed(reading, inner, outer, word))
    yield from _everywhere(subject, written, shadowed.values())


class _Shadowed(NamedTuple):
    """An alternative that adds no text, and a finding for each place of one that has them all."""

    node: Node
    by: dict[Span, Diagnostic]


def _everywhere(
    subject: Subject, written: _Alternatives | None, shadowed: Collection[_Shadowed]
) -> Iterator[Diagnostic]:
    """Yield a finding for each alternative that can go: no copy of it adds a text.

    Of two that say the same the first stays.
    """
    if written is None:
        yield from (next(iter(entry.by.values())) for entry in shadowed)
        return
    elsewhere = _leaves_outside(subject, {id(entry.node) for entry in shadowed})
    by_span: defaultdict[Span, list[_Shadowed]] = defaultdict(list)
    for entry in shadowed:
        by_span[entry.node.span].append(entry)
    gone: set[Span] = set()
    for span in sorted(by_span, reverse=True):
        left = [
            [finding for at, finding in entry.by.items() if at not in gone]
            for entry in by_span[span]
        ]
        copies = elsewhere[bisect_left(elsewhere, (span.start,)) :][:1]
        if written[span][1] and all(left) and all(copy.end > span.end for copy in copies):
            gone.add(span)
            yield left[0][0]


def _leaves_outside(subject: Subject, shadowed: set[int]) -> list[Span]:
    """Return the places, in order, of terminals and calls that are in no shadowed alternative.

    The words of a lexeme are placed where it is used first, as a whole.
    """
    result: list[Span] = []
    bodies = [(name, subject.grammar.rules[name]) for name in subject.analysis.reachable]
    for body in (body for name, body in bodies if body.span != subject.reading.name_span(name)):
        stack = [body]
        while stack:
            node = stack.pop()
            subject.budget.spend()
            if id(node) not in shadowed:
                stack.extend(children(node))
                result.extend(() if children(node) else (node.span,))
    return sorted(result)


def _texts(subject: Subject) -> CommonTexts:
    rules = subject.grammar.rules
    bodies = [rules[name] for name in sorted(subject.analysis.reachable)]
    return CommonTexts(rules, spelling_bytes(bodies), subject.budget)


def _candidates(subject: Subject, written: _Alternatives | None) -> Iterator[tuple[Node, Node]]:
    """Yield the pairs of regular alternatives that begin alike, or may both be empty."""
    grammar, analysis = subject.grammar, subject.analysis
    firsts = Firsts(grammar, analysis)
    for name in sorted(analysis.reachable):
        body = grammar.rules[name]
        choices = [node for node in postorder(body) if isinstance(node, Choice)]
        if not choices:
            continue
        beginnings = firsts.within(body)
        nullable = {id(node) for node, facts in analysis.within(body) if facts.nullable}
        for choice in choices:
            regular = [b for b in choice.branches if subject.regulars.is_regular(b)]
            begins = [beginnings[id(b)] for b in regular]
            is_nullable = [id(b) in nullable for b in regular]
            for i, later in _pairs(regular):
                subject.budget.spend(len(later))
                for j in later:
                    both_empty = is_nullable[i] and is_nullable[j]
                    if (both_empty or not begins[i].isdisjoint(begins[j])) and (
                        written is None or _are_of_one(written, regular[i].span, regular[j].span)
                    ):
                        yield regular[i], regular[j]


def _are_of_one(written: Mapping[Span, tuple[Span, bool]], first: Span, second: Span) -> bool:
    """Return whether two spans are those of alternatives of one choice that somebody wrote."""
    one, other = written.get(first), written.get(second)
    return one is not None and other is not None and one[0] == other[0] and first != second


def _pairs(branches: list[Node]) -> Iterator[tuple[int, Collection[int]]]:
    """Yield the branches, and those after each: all pairs but those of two literals.

    Equal literals are W104's business.
    """
    others = [i for i, branch in enumerate(branches) if not _is_literal(branch)]
    for i, first in enumerate(branches):
        is_literal = _is_literal(first)
        yield i, others[bisect(others, i) :] if is_literal else range(i + 1, len(branches))


def _is_literal(node: Node) -> bool:
    return isinstance(node, Literal) or (
        isinstance(node, Sequence) and all(isinstance(child, Literal) for child in node.operands)
    )


def _inside(subject: Subject, first: Node, second: Node) -> list[tuple[Node, Node]]:
    """Return those of two parts all of whose texts the other has, with that; the second first."""
    try:
        left, right = subject.regulars.of(first), subject.regulars.of(second)
        subject.budget.spend(left.state_count + right.state_count)
        result = [(second, first)] if operations.difference(right, left, EFFORT).is_empty else []
        if operations.difference(left, right, EFFORT).is_empty:
            result.append((first, second))
    except (LimitError, NotRegularError):
        subject.stop("W107", TOO_LARGE, second.span)
        return []
    return result


def _shadowed(reading: Reading, inner: Node, outer: Node, word: bytes) -> Diagnostic:
    return reading.finding(
        "W107",
        "this alternative is redundant",
        inner.span,
        labels=(Label(outer.span, "this one matches all of its texts"),),
        notes=(f"for example {show(word)}",),
        helps=("remove it, or narrow the other one",),
    )


def _overlapping(reading: Reading, first: Node, second: Node, word: bytes) -> Diagnostic:
    return reading.finding(
        "I108",
        f"both alternatives match {show(word)}",
        second.span,
        labels=(Label(first.span, "the other one"),),
    )
