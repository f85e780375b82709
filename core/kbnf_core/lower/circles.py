"""Circles of rules that only pass on: one rule instead of all that derive each other alone.

``a ::= 'x' | b;  b ::= c?;  c ::= a | 'y';`` have one language, since each of them derives each
other one and nothing beside it. Called in a row, every one of n such rules is predicted inside of
every other one, so that a state has n squared parts. They are contracted before automata are made,
as unit rules are in textbooks (Hopcroft, Motwani & Ullman 2006, 7.1.3). Positions
(``lower.positions``) keep the rules apart, since trees name them.

A rule *passes on* to another one where it may derive that one and nothing beside it: by a branch,
or with parts around the call that may be empty.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from collections.abc import Iterable, Mapping

from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.ir import Call, Choice, GrammarRules, Node, Repeat, Sequence, children
from kbnf_core.ir.build import moved
from kbnf_core.lower.chosen_kernel import lowering
from kbnf_core.lower.facts import Analysis


def contract_circles(grammar: GrammarRules, analysis: Analysis) -> GrammarRules:
    """Return the grammar with one rule for each circle of several that pass on to each other.

    It is ``grammar`` itself where there is none. Rules that nothing calls any more are kept.
    """
    names = lowering.passing_on(analysis.order, analysis.nodes, analysis.facts)
    circles = _circles({name: names.intersection(analysis.callees[name]) for name in names})
    if not circles:
        return grammar
    among = {name for circle in circles for name in circle}
    passed = {name: among.intersection(_passed_on(name, analysis)) for name in among}
    circles = _circles(passed)
    if not circles:
        return grammar
    order = {name: number for number, name in enumerate(grammar.rules)}
    chosen: dict[str, str] = {}
    for circle in circles:
        first = grammar.start if grammar.start in circle else min(circle, key=order.__getitem__)
        chosen |= dict.fromkeys(circle, first)
    rules = {name: moved(body, chosen) for name, body in grammar.rules.items()}
    for circle in circles:
        first = chosen[min(circle)]
        bodies = [rules[name] for name in sorted(circle, key=order.__getitem__)]
        rules[first] = _joined(first, bodies)
    return GrammarRules(grammar.start, rules)


def _circles(graph: Mapping[str, Iterable[str]]) -> list[frozenset[str]]:
    return [circle for circle in cyclic_components(graph) if len(circle) > 1]


def _passed_on(name: str, analysis: Analysis) -> frozenset[str]:
    """Return the rules to which a rule passes on."""
    values: list[tuple[frozenset[str], bool]] = []
    for node, facts in analysis.within(analysis.nodes[name][-1]):
        count = len(children(node))
        first = len(values) - count
        values[first:] = [(_of(node, values[first:]), facts.nullable)]
    return values[0][0]


def _of(node: Node, operands: list[tuple[frozenset[str], bool]]) -> frozenset[str]:
    """Return the rules to which a part passes on, given those of its own parts."""
    match node:
        case Call(name):
            return frozenset({name})
        case Choice():
            return frozenset().union(*(passed for passed, _ in operands))
        case Sequence():
            filled = [passed for passed, is_nullable in operands if not is_nullable]
            if len(filled) > 1:
                return frozenset()
            return filled[0] if filled else frozenset().union(*(passed for passed, _ in operands))
        case Repeat(low=low, high=high):
            passed, is_nullable = operands[0]
            return passed if high != 0 and (low < 2 or is_nullable) else frozenset()
        case _:
            return frozenset()


def _joined(name: str, bodies: list[Node]) -> Node:
    """Return the union of all bodies of a circle, without the branches that only pass on."""
    branches = [
        branch
        for body in bodies
        for branch in (body.branches if isinstance(body, Choice) else (body,))
        if not (isinstance(branch, Call) and branch.nonterminal == name)
    ]
    return Choice(tuple(branches), bodies[0].span)
