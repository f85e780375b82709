"""A proof without automata of the whole grammar that no text of it begins another.

In a strong LL(1) grammar (Rosenkrantz and Stearns 1970) the next byte, or the end of the text,
decides every step. Then a text can only go on behind its end if somewhere both its end and a byte
would do; where no step is like that, no text is a proper prefix of another. Most formats are of
this kind, and proving it here saves building their tables.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import Choice, Grammar, Node, Regular, Repeat, Token, postorder
from kbnf_core.lint.analysis.first_sets import Firsts
from kbnf_core.lint.analysis.follow_sets import END, Follow, follow_sets, parts_and_follow
from kbnf_core.lower.analyse import Analysis

MOST_PARTS = 5_000
"""Parts of a grammar; larger ones are not looked at."""


def is_plainly_prefix_free(grammar: Grammar, analysis: Analysis) -> bool:
    """Return True if the grammar is such a one; False says nothing."""
    bodies = {name: grammar.rules[name] for name in analysis.reachable}
    parts = [node for body in bodies.values() for node in postorder(body)]
    if len(parts) > MOST_PARTS or any(isinstance(node, Token) for node in parts):
        return False
    firsts = Firsts(grammar, analysis)
    follow = follow_sets(grammar, analysis, firsts)
    return all(_rule_decides(body, follow[name], analysis, firsts) for name, body in bodies.items())


def _rule_decides(root: Node, behind: Follow, analysis: Analysis, firsts: Firsts) -> bool:
    first = firsts.within(root)
    nullable = {id(node) for node, facts in analysis.within(root) if facts.nullable}
    return all(
        _decides(node, after, first, nullable)
        for node, after in parts_and_follow(root, behind, analysis, firsts)
    )


def _decides(
    node: Node, after: Follow, first: Mapping[int, Follow], nullable: Collection[int]
) -> bool:
    """Tell whether the next byte decides what to do at a node, which ``after`` can follow.

    ``first`` and ``nullable`` tell of the parts of the rule, by their ``id``.
    """
    match node:
        case Regular(dfa):
            return all(_is_apart(ways, after) for ways in _ways_from_ends(dfa))
        case Choice(branches):
            ways = [first[id(branch)] for branch in branches]
            empty = sum(id(branch) in nullable for branch in branches)
            if empty > 1 or not _are_disjoint(ways):
                return False
            return not empty or _is_apart(frozenset[int]().union(*ways), after)
        case Repeat(body, low, high):
            if id(body) in nullable:
                return False
            return low == high or _is_apart(first[id(body)], after)
        case _:
            return True


def _is_apart(ways: Follow, after: Follow) -> bool:
    """Tell whether one of some bytes, or what comes after, is seen by the next byte."""
    return not ways or (END not in after and ways.isdisjoint(after))


def _are_disjoint(sets: Iterable[Follow]) -> bool:
    seen: set[int] = set()
    for each in sets:
        if not seen.isdisjoint(each):
            return False
        seen |= each
    return True


def _ways_from_ends(dfa: Dfa) -> Iterator[Follow]:
    """Yield, for each state in which a word may end, the bytes with which it goes on."""
    for row, is_end in zip(dfa.rows, dfa.accepting, strict=True):
        if is_end:
            classes = {symbol for symbol, target in enumerate(row) if target != DEAD}
            yield frozenset(b for b, symbol in enumerate(dfa.classes) if symbol in classes)
