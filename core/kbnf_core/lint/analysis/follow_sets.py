"""FOLLOW sets over bytes: what can come behind a nonterminal, in any text."""

from collections.abc import Iterator, Mapping

from kbnf_core.ir import Call, Choice, Grammar, Node, Repeat, Sequence, calls
from kbnf_core.lint.analysis.first_sets import Firsts
from kbnf_core.lower.analyse import Analysis

END = 256
"""Stands among the bytes for the end of the text."""

Follow = frozenset[int]


def follow_sets(grammar: Grammar, analysis: Analysis, firsts: Firsts) -> Mapping[str, Follow]:
    """Return what can follow each nonterminal that the start leads to."""
    found: dict[str, Follow] = {name: frozenset() for name in grammar.rules}
    found[grammar.start] = frozenset((END,))
    pending = [name for name in grammar.rules if name in analysis.reachable]
    while pending:
        name = pending.pop()
        for callee, behind in _of_calls(grammar.rules[name], found[name], analysis, firsts):
            if not behind <= found[callee]:
                found[callee] |= behind
                if any(True for _ in calls(grammar.rules[callee])):
                    pending.append(callee)
    return found


def _of_calls(
    root: Node, behind: Follow, analysis: Analysis, firsts: Firsts
) -> Iterator[tuple[str, Follow]]:
    """Yield the calls in a rule, and what can follow each; ``behind`` can follow the rule."""
    first = firsts.within(root)
    nullable = {id(node) for node, facts in analysis.within(root) if facts.nullable}
    pending = [(root, behind)]
    while pending:
        node, after = pending.pop()
        match node:
            case Call(name):
                yield name, after
            case Choice(branches):
                pending += [(branch, after) for branch in branches]
            case Repeat(body, high=high):
                again = frozenset() if high == 1 else first[id(body)]
                pending.append((body, after | again))
            case Sequence(parts):
                for part in reversed(parts):
                    pending.append((part, after))
                    skipped = after if id(part) in nullable else frozenset()
                    after = first[id(part)] | skipped
            case _:
                pass
