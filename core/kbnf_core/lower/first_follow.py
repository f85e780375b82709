"""FIRST and FOLLOW sets over bytes: what parts begin with, and what can occur after nonterminals.

Both are least fixpoints (Aho, Lam, Sethi & Ullman 2006, 4.4.2): FIRST over what a rule calls,
FOLLOW over what calls it.
"""

from collections.abc import Iterator, Mapping

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import Call, Choice, Grammar, Literal, Node, Regular, Repeat, Sequence, children
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.lower.facts import Analysis

Bytes = frozenset[int]

_NONE: Bytes = frozenset()


class Firsts:
    """FIRST sets over bytes of one grammar, computed for all nonterminals at once."""

    def __init__(self, grammar: Grammar, analysis: Analysis) -> None:
        self._analysis = analysis
        self._automata: dict[int, Bytes] = {}
        self._known: Mapping[str, Bytes] = {}

        def evaluate(name: str, known: Mapping[str, Bytes]) -> Bytes:
            self._known = known
            body = grammar.rules[name]
            return self.within(body)[id(body)]

        self._known = fixpoint(analysis.callees, _NONE, evaluate)

    def of(self, name: str) -> Bytes:
        """Return the first bytes of a nonterminal."""
        return self._known[name]

    def within(self, root: Node) -> Mapping[int, Bytes]:
        """Return the first bytes of each part of ``root``, by the part's ``id``."""
        found: dict[int, Bytes] = {}
        nullable: set[int] = set()
        for node, facts in self._analysis.within(root):
            found[id(node)] = self._combine(node, found, nullable)
            if facts.nullable:
                nullable.add(id(node))
        return found

    def _combine(self, node: Node, found: Mapping[int, Bytes], nullable: set[int]) -> Bytes:
        match node:
            case Literal(data):
                return frozenset(data[:1])
            case Regular(dfa):
                return self._of_automaton(dfa)
            case Call(name):
                return self._known[name]
            case Sequence(parts):
                return _of_sequence(parts, found, nullable)
            case Choice() | Repeat():
                return _NONE.union(*(found[id(part)] for part in children(node)))
            case _:
                return _NONE

    def _of_automaton(self, dfa: Dfa) -> Bytes:
        if id(dfa) not in self._automata:
            row = [] if dfa.is_empty else dfa.rows[0]
            classes = {symbol for symbol, target in enumerate(row) if target != DEAD}
            found = frozenset(b for b, symbol in enumerate(dfa.classes) if symbol in classes)
            self._automata[id(dfa)] = found
        return self._automata[id(dfa)]


def _of_sequence(parts: tuple[Node, ...], found: Mapping[int, Bytes], nullable: set[int]) -> Bytes:
    firsts = _NONE
    for part in parts:
        firsts |= found[id(part)]
        if id(part) not in nullable:
            break
    return firsts


END = 256
"""The sign among the bytes for the end of the text."""

Follow = frozenset[int]


_REST = 257
"""Stands among the bytes for whatever can follow the rule."""


def follow_sets(grammar: Grammar, analysis: Analysis, firsts: Firsts) -> Mapping[str, Follow]:
    """Return what can follow each nonterminal that the start leads to."""
    uses: dict[str, list[tuple[str, Follow]]] = {name: [] for name in grammar.rules}
    for caller in analysis.reachable:
        parts = parts_and_follow(grammar.rules[caller], frozenset((_REST,)), analysis, firsts)
        for node, behind in parts:
            if isinstance(node, Call):
                uses[node.nonterminal].append((caller, behind))

    def evaluate(name: str, known: Mapping[str, Follow]) -> Follow:
        behind = (known[caller] if _REST in each else _NONE for caller, each in uses[name])
        near = (each for _, each in uses[name])
        ends = (END,) if name == grammar.start else ()
        return _NONE.union(ends, *near, *behind) - {_REST}

    callers = {name: [caller for caller, _ in found] for name, found in uses.items()}
    return fixpoint(callers, _NONE, evaluate)


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
