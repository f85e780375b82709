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
        body = grammar.rules[name]
        for node, behind in parts_and_follow(body, found[name], analysis, firsts):
            if isinstance(node, Call) and not behind <= found[node.nonterminal]:
                found[node.nonterminal] |= behind
                if any(calls(grammar.rules[node.nonterminal])):
                    pending.append(node.nonterminal)
    return found


def parts_and_follow(
    root: Node, behind: Follow, analysis: Analysis, firsts: Firsts
) -> Iterator[tuple[Node, Follow]]:
    """Yield the parts of a rule, and what can follow each; ``behind`` can follow the rule."""
    first = firsts.within(root)
    nullable = {id(node) for node, facts in analysis.within(root) if facts.nullable}
    pending = [(root, behind)]
    while pending:
        node, after = pending.pop()
        yield node, after
        match node:
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
