"""FIRST sets over bytes: a quick test whether two parts can share a text."""

from collections.abc import Mapping

from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.ir import (
    Call,
    Choice,
    Grammar,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    calls,
    children,
)
from kbnf_core.ir.analysis import fixpoint
from kbnf_core.lower.analyse import Analysis

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

        callees = {
            name: [call.nonterminal for call in calls(body)] for name, body in grammar.rules.items()
        }
        self._known = fixpoint(callees, _NONE, evaluate)

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
