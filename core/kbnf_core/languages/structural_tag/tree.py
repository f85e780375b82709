"""The tree of KBNF that people read of a structural tag, made of the rules that are run.

The rules of formats are written as they are run. Those of a schema or a grammar are written as
their own languages write them, under the names that they have where they are run; rules that only
the tree has, such as those of formats of strings, get names that begin with that of the first.
Rules that several schemas have in common are written once: they are shared where they and all their
callees have the same names and texts.

Tests: tests/unit/languages/test_tag_rules.py
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from kbnf_core import ir
from kbnf_core.automata.to_regex import NotTextError, to_regex
from kbnf_core.conversion.rewrite import at, placed, rename
from kbnf_core.ir.analysis import reachable
from kbnf_core.ir.names import HintedNames
from kbnf_core.kbnf import build
from kbnf_core.kbnf.build import Form, definition, escaped
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.kbnf.tree import (
    Definition,
    Exception_,
    Name,
    Pattern,
    PatternKind,
    Reference,
    uses_in,
)
from kbnf_core.languages.json_schema.keywords import ProblemError
from kbnf_core.languages.json_schema.rules import NAMES
from kbnf_core.languages.structural_tag.contents import (
    START,
    Avoiding,
    RuleSet,
    report_problem,
)
from kbnf_core.languages.structural_tag.read import UNSUPPORTED, TagReport
from kbnf_core.text.errors import LimitError
from kbnf_core.text.source import NOWHERE

_MOST_SHARED = 32
"""Rules that a shared rule calls, directly or not, at most."""


class TagTree:
    """Writes the rules of a tag as a tree.

    Expressions that take too much to write are in the errors of ``report``.
    """

    def __init__(self, rule_sets: Sequence[RuleSet], report: TagReport) -> None:
        self._rule_sets = rule_sets
        self._report = report
        run = frozenset(name for rule_set in rule_sets for name, _ in rule_set.rules)
        self._fresh = HintedNames("", run).fresh
        # The first rules of schemas that were written for others.
        self._instead: dict[str, str] = {}
        self._embedded: dict[int, list[tuple[str, Form]]] = {}
        self._shared_names: dict[frozenset[tuple[str, str]], str] = {}
        self._written: set[str] = set()
        # In the order in which they took their names: the first of several has none with a number.
        for rule_set in reversed(rule_sets):
            if rule_set.read is not None:
                self._embed(rule_set)

    def definitions(self) -> tuple[Definition, ...]:
        """Return the rules that the start leads to, each at its place."""
        written = [
            (*rule, rule_set.pointer)
            for rule_set in self._rule_sets
            for rule in self._rules_of(rule_set)
        ]
        called: dict[str, set[str]] = {}
        for name, body, _ in written:
            called.setdefault(name, set()).update(_called_in(body))
        used = reachable([START], called)
        span_of = self._report.span
        spans = [(name, body, span_of(where)) for name, body, where in written if name in used]
        return tuple(placed(definition(name, body, span), at(span)) for name, body, span in spans)

    def _rules_of(self, rule_set: RuleSet) -> Iterable[tuple[str, Form]]:
        """Return the rules of a set, but those that were written for another one."""
        if rule_set.read is not None:
            return self._embedded[id(rule_set)]
        [(name, body)] = rule_set.rules
        return [(name, self._form(rule_set, body))]

    def _embed(self, rule_set: RuleSet) -> None:
        """Write a schema or a grammar under names of its own; rules written before are shared."""
        assert rule_set.read is not None  # noqa: S101 - the caller has checked it
        self._embedded[id(rule_set)] = []
        try:
            start, definitions, run = rule_set.read(partial(self._form, rule_set))
        except ProblemError as error:
            report_problem(self._report, error.problem, "")
            return
        texts: dict[str, list[str]] = {}
        calls: dict[str, set[str]] = {}
        for rule in definitions:
            name = rule.name.value
            texts.setdefault(name, []).append(print_expression(rule.body))
            calls.setdefault(name, set()).update(_called_in(rule.body))
        bodies = [rule.body for rule in definitions if rule.name.value == start]
        if len(bodies) == 1 and isinstance(bodies[0], Reference):
            # The rule that does what the start does.
            start = bodies[0].name.value
        first, _ = rule_set.rules[0]
        kept, names = self._shared(start, {**run, start: first}, texts, calls)
        for rule in definitions:
            if rule.name.value in kept:
                body = rename(rule, names).body
                self._embedded[id(rule_set)].append((names[rule.name.value], body))
        self._instead[first] = names[start]

    def _shared(
        self,
        start: str,
        run: Mapping[str, str],
        texts: Mapping[str, Sequence[str]],
        calls: Mapping[str, set[str]],
    ) -> tuple[set[str], dict[str, str]]:
        """Return which rules ``start`` needs that were not written before, and names of all.

        ``run`` are the names of rules that are run.
        """
        reached = _reached(start, calls)
        # Callees outside of the rules are shared already, and keep their names.
        chosen = {name: name for name in reached if name not in calls}
        kept: set[str] = set()
        for name in (start, *calls):
            if name in chosen or name not in reached:
                continue
            shape = _shape(name, texts, calls)
            shared = self._shared_names.get(shape) if shape else None
            if shared is None:
                kept.add(name)
                shared = run.get(name)
                if shared is None or shared in self._written:
                    shared = self._fresh(name if name in NAMES else f"{run[start]}_{name}")
                self._written.add(shared)
                if shape:
                    self._shared_names[shape] = shared
            chosen[name] = shared
        return kept, chosen

    def _form(self, rule_set: RuleSet, node: ir.Node) -> Form:
        """Return an expression as a tree."""
        try:
            return build.of_ir(node, self._leaf, branches=list)
        except (LimitError, NotTextError):
            message = "the texts that lead to a part of this are too many to be written"
            self._report.error(rule_set.pointer, message, code=UNSUPPORTED)
            return build.EMPTY

    def _leaf(self, node: ir.Regular | ir.Call) -> Form:
        if isinstance(node, ir.Call):
            return build.call(self._instead.get(node.nonterminal, node.nonterminal))
        return leaf_of(node)


def leaf_of(node: ir.Regular | ir.Call) -> Form:
    """Return a call, or an automaton as it is written. Raises LimitError or NotTextError."""
    if isinstance(node, ir.Call):
        return build.call(node.nonterminal)
    match node.notation:
        case Avoiding(most=most, stop=stop) if stop:
            return Exception_(Name(stop, NOWHERE), most, NOWHERE)
        case Avoiding((word,)):
            return Exception_(build.text(word, NOWHERE), 0, NOWHERE)
        case Avoiding(words):
            pattern = build.text_of("|".join(map(escaped, words)))
            return Pattern(PatternKind.COMPLEMENT, pattern, NOWHERE, dfa=node.dfa)
        case str() as pattern:
            return replace(build.regex(pattern), dfa=node.dfa)
        case _:
            return replace(build.regex(to_regex(node.dfa)), dfa=node.dfa)


def _called_in(body: Form) -> set[str]:
    """Return the rules that an expression calls or excludes."""
    return {name.value for name in uses_in(body)}


def _reached(start: str, calls: Mapping[str, set[str]], most: int | None = None) -> set[str]:
    """Return ``start`` and all its callees; a few more than ``most`` at most."""
    waiting = [start]
    seen = {start}
    while waiting and (most is None or len(seen) <= most):
        new = calls.get(waiting.pop(), set()) - seen
        seen |= new
        waiting += new
    return seen


def _shape(
    name: str, texts: Mapping[str, Sequence[str]], calls: Mapping[str, set[str]]
) -> frozenset[tuple[str, str]] | None:
    """Return the names and texts of a rule and its callees; None for many callees."""
    seen = _reached(name, calls, _MOST_SHARED)
    if len(seen) > _MOST_SHARED:
        return None
    rules = [(callee, text) for callee in seen for text in texts.get(callee, ())]
    return frozenset([*rules, ("", name)])
