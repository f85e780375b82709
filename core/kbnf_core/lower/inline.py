"""Which parts of rules are nonterminals: large parts are split off, small nonterminals are inlined.

A nonterminal that is used once, or is small and regular, costs less as part of its caller: no
prediction, no completion, and adjacent automata are determinised as one. The choice never changes
the language, and one nonterminal never adds more than 512 states in all its copies.

Free text is an exception: most tokens are viable in it, so that its masks cost most. As long as it
is a nonterminal of its own, all its callers share its positions, and with them one mask.

Large parts get nonterminals of their own, so that counts multiply calls and not states:
``(x{1000} ","){1000}`` would unroll to a million states; with the body as a nonterminal it is
two chains of a thousand. Large automata get one too: they are copied as arrays, never edge by edge.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from collections import Counter
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.ir import (
    Call,
    Counted,
    GrammarRules,
    Node,
    Regular,
    Repeat,
    Sequence,
    children,
    postorder,
    rebuild,
)
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import Analysis
from kbnf_core.text.budget import Budget

LARGE = 1_000
"""States beyond which nothing is written out inside another nonterminal."""

FREE_TEXT = 32
"""Bytes that lead from a state of a cycle to one of it: of so many an automaton is free text."""


class Inlined(NamedTuple):
    """The nonterminals that callers include instead of calling them: ``names``.

    Those of them with several callers are ``copied``, callees first.
    """

    names: frozenset[str] = frozenset()
    copied: tuple[str, ...] = ()


def choose_inlined(grammar: GrammarRules, analysis: Analysis, budget: Budget) -> Inlined:
    """Return the reachable nonterminals to write out; not those that ``split_large`` made."""
    uses = lowering.count_uses(analysis.order, analysis.nodes, analysis.callees)
    among = analysis.order, analysis.nodes, analysis.callees
    inlined = lowering.choose(*among, uses, grammar.start, budget)
    return Inlined(frozenset(inlined), tuple(name for name in inlined if uses.get(name, 0) > 1))


def is_free_text(dfa: Dfa) -> bool:
    """Return whether in a cycle of states many bytes may occur."""
    sizes = Counter(dfa.classes)
    after = {state: set(row) - {DEAD} for state, row in enumerate(dfa.rows)}
    return any(
        sum(sizes[column] for column, target in enumerate(dfa.rows[state]) if target in cycle)
        >= FREE_TEXT
        for cycle in cyclic_components(after)
        for state in cycle
    )


LONG_RUN = 64
"""Optional parts in a row: any later one may occur in place of each, a square of edges."""

BLOCK = 256
"""Copies that are a rule of their own, of which there are copies in turn, and so forth."""

MANY_COPIES = 16_384
"""Copies beyond which they are made by blocks."""

LARGE_REPETITION = 4_096
"""States beyond which the body of a counted repetition is called instead of copied."""


def split_large(grammar: GrammarRules, analysis: Analysis) -> GrammarRules:
    """Return a grammar with the same language in which no rule unrolls to very many states.

    Where none does, that is ``grammar`` itself.
    """
    limits = LONG_RUN, LARGE, LARGE_REPETITION
    large = set(lowering.large_ones(grammar.rules, analysis.nodes, analysis.facts, *limits))
    if not large:
        return grammar
    rules: dict[str, Node] = {}
    for name, body in grammar.rules.items():
        rules[name] = _RuleSplitter(name, rules, analysis).split(body) if name in large else body
    return GrammarRules(grammar.start, rules)


class _RuleSplitter:
    """Splits one rule; the parts split off are added to ``rules``."""

    def __init__(self, name: str, rules: dict[str, Node], analysis: Analysis) -> None:
        self._name = name
        self._rules = rules
        self._analysis = analysis
        self._count = 0

    def split(self, root: Node) -> Node:
        values: list[Node] = []
        optional: list[bool] = []
        for node, facts in self._analysis.within(root):
            first = len(values) - len(children(node))
            # What counts bytes is one automaton.
            is_one = isinstance(node, Counted) and node.by_byte
            whole = node if is_one else rebuild(node, values[first:])
            values[first:] = [self._split_one(whole, optional[first:])]
            optional[first:] = [facts.nullable]
        return values.pop()

    def _split_one(self, node: Node, optional: list[bool]) -> Node:
        if isinstance(node, Regular) and node.dfa.state_count > LARGE:
            return self._call(node)
        if isinstance(node, Sequence) and sum(optional) > LONG_RUN:
            return self._group(node, optional)
        if type(node) is not Repeat:
            return node
        copies = max(node.low, node.high or 1)
        if copies > MANY_COPIES and not optional[0]:
            return self._in_blocks(node)
        if not isinstance(node.body, Call):
            if copies > LONG_RUN and optional[0]:
                return Repeat(self._call(node.body), node.low, node.high, node.span)
            size = lowering.estimate_size(postorder(node.body), {}, ())
            if copies > 1 and size * copies > LARGE_REPETITION:
                return Repeat(self._call(node.body), node.low, node.high, node.span)
        return node

    def _group(self, node: Sequence[Node], optional: list[bool]) -> Sequence[Node]:
        """Call the optional parts in a row by groups, and those by groups in turn."""
        grouped: list[Node] = []
        flags = zip(optional, node.operands, strict=True)
        for is_optional, run in groupby(flags, key=itemgetter(0)):
            items = [operand for _, operand in run]
            while is_optional and len(items) > LONG_RUN:
                starts = range(0, len(items), LONG_RUN)
                groups = (tuple(items[at : at + LONG_RUN]) for at in starts)
                items = [self._call(Sequence(group, node.span)) for group in groups]
            grouped.extend(items)
        return Sequence(tuple(grouped), node.span)

    def _in_blocks(self, node: Repeat[Node]) -> Node:
        """Write copies by blocks, blocks of blocks and so on."""
        unit = node.body if isinstance(node.body, Call) else self._call(node.body)
        blocks: list[Node] = [unit]
        while BLOCK ** len(blocks) <= max(node.low, node.high or 0):
            blocks.append(self._call(Repeat(blocks[-1], BLOCK, BLOCK, node.span)))

        def exactly(count: int) -> list[Node]:
            factors: list[Node] = []
            for level in reversed(range(len(blocks))):
                whole, count = divmod(count, BLOCK**level)
                if whole:
                    factors.append(Repeat(blocks[level], whole, whole, node.span))
            return factors

        def at_most(count: int) -> list[Node]:
            """Fewer whole blocks than fit, and then at most the rest."""
            factors: list[Node] = []
            for level in reversed(range(1, len(blocks))):
                whole, rest = divmod(count, BLOCK**level)
                # With all whole blocks, a number of copies whose remainder is above ``rest`` would
                # have no way.
                if whole > 1:
                    factors.append(Repeat(blocks[level], 0, whole - 1, node.span))
                    count = BLOCK**level + rest
            return [*factors, Repeat(unit, 0, count, node.span)]

        more: list[Node] = [Repeat(unit, 0, None, node.span)]
        if node.high is not None:
            more = at_most(node.high - node.low)
        return Sequence((*exactly(node.low), *more), node.span)

    def _call(self, body: Node) -> Call:
        self._count += 1
        name = f"{self._name}#{self._count}"
        self._rules[name] = body
        return Call(name, body.span)
