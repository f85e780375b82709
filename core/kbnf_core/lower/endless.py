"""Grammars without any finite text that can go on for ever, as ``start ::= 'a' start;``.

A part is *endless* if it has an infinite text: it loops over a text that is not empty, or calls an
endless part after parts that have finite texts, and consumes something again and again on the way.
(Going round without consuming anything is not a text: ``start ::= start 'a';`` is not endless.)

Where the start has no finite text but is endless, its infinite texts are what the grammar means.
(One text is enough, be it the empty one, for endless texts beside it to be cut.) The passes after
this one know finite texts only, so each endless part gets finite ones: the text so far, and then
``NEVER``, a terminal that matches no token. A text is viable if it begins one of those; and as
nothing matches ``NEVER``, none is ever complete.

Tests: tests/unit/test_endless.py
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import ACCEPT, DEAD, Dfa, SymbolDfa
from kbnf_core.automata.nfa import from_symbols
from kbnf_core.automata.traversal import cyclic_components, fold
from kbnf_core.ir import (
    NEVER,
    Call,
    Choice,
    GrammarRules,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    children,
    rebuild,
)
from kbnf_core.lower.facts import Analysis, Facts, analyse
from kbnf_core.text.budget import Budget
from kbnf_core.text.source import Span

_SUFFIX, _PREFIX = "#endless", "#prefix"
"""Of the nonterminals for the infinite texts of one that has finite ones, too, and for prefixes."""


def endless_grammar(
    grammar: GrammarRules, analysis: Analysis, budget: Budget
) -> GrammarRules | None:
    """Return a grammar whose texts, up to ``NEVER``, begin the infinite texts of ``grammar``.

    Its start has no finite text, not even the empty one. None where it has no infinite one.
    Raises WorkLimitError where ``budget`` is used up.
    """
    return _Endless(grammar, analysis, budget).rewrite()


def viable_prefixes(grammar: GrammarRules) -> GrammarRules:
    """Return a grammar whose texts are the viable prefixes of one from ``endless_grammar``."""
    analysis = analyse(grammar)
    rules = dict(grammar.rules)
    pending = [grammar.start]
    for name in pending:
        body = grammar.rules[name]
        facts = {id(node): facts for node, facts in analysis.within(body)}
        rules[name + _PREFIX] = fold(body, children, partial(_prefixes_within, facts=facts)) or body
        calls = (node.nonterminal for node in analysis.nodes[name] if isinstance(node, Call))
        pending.extend(dict.fromkeys(call for call in calls if call not in pending))
    return GrammarRules(grammar.start + _PREFIX, rules)


def _prefixes_within(
    node: Node, operands: list[Node | None], facts: Mapping[int, Facts]
) -> Node | None:
    """Return the prefixes of the texts of a part, None where it has none."""
    if not facts[id(node)].productive:
        return None
    match node:
        case Literal(data, span):
            return Regular(_all_accepting(operations.literal(data)), span)
        case Regular(dfa, span):
            return Regular(_all_accepting(dfa), span)
        case Token(terminal, span):
            return Repeat(node, 0, 0 if terminal is NEVER else 1, span)
        case Call(name, span):
            return Call(name + _PREFIX, span)
        case Choice(_, span):
            return _choice(operands, span)
        case Sequence((), span):
            return node
        case Sequence():
            return _in_sequence(node, operands, facts)
        case Repeat(body, _, high, span):
            turns = Repeat(body, 0, None if high is None else max(high - 1, 0), span)
            return Repeat(Sequence((turns, operands[0] or body), span), 0, min(high or 1, 1), span)


def _all_accepting(dfa: Dfa) -> Dfa:
    return from_symbols(SymbolDfa(dfa.rows, [ACCEPT] * dfa.state_count, [0]), dfa.classes)


def infinite_texts(grammar: GrammarRules) -> GrammarRules | None:
    """Return rules of the infinite texts that a grammar from ``endless_grammar`` begins.

    In place of ``NEVER`` they call themselves again and again, as other languages need it. None
    where a regular expression loops at the end of such a text.
    """
    rules: dict[str, Node] = {}
    loops: list[Node] = []

    def combine(node: Node, operands: list[Node | None]) -> Node | None:
        match node:
            case Sequence((*_, Token(terminal))) if terminal is NEVER:
                *before, last = node.operands[:-1]
                some = [operand for operand in operands[: len(before)] if operand]
                if not isinstance(last, Repeat):
                    loops.append(last)
                if not isinstance(last, Repeat) or len(some) < len(before):
                    return None
                name = f"{_SUFFIX}{len(rules)}"
                rules[name] = Sequence((last.body, Call(name, last.span)), last.span)
                return Sequence((*some, Call(name, last.span)), node.span)
            case Choice(_, span):
                return _choice(operands, span)
            case Token(terminal) if terminal is NEVER:
                return None
            case _:
                some = [operand for operand in operands if operand]
                return rebuild(node, some) if len(some) == len(operands) else None

    for name, body in grammar.rules.items():
        infinite = fold(body, children, combine)
        if infinite is None or loops:
            return None
        rules[name] = infinite
    return GrammarRules(grammar.start, rules)


class _Endless:
    def __init__(self, grammar: GrammarRules, analysis: Analysis, budget: Budget) -> None:
        self._grammar = grammar
        self._analysis = analysis
        self._budget = budget
        self._cycles: dict[int, Dfa | None] = {}

    def rewrite(self) -> GrammarRules | None:
        """Return the grammar of the beginnings of infinite texts, if the start has any."""
        endless = self._endless()
        if self._grammar.start not in endless:
            return None
        rules = dict(self._grammar.rules)
        for name in sorted(endless):
            body = rules[name]
            ways = [self._prefixes(name, endless), Token(NEVER, body.span)]
            rules[self._renamed(name)] = Choice(tuple(way for way in ways if way), body.span)
        return GrammarRules(self._grammar.start, rules)

    def _renamed(self, name: str) -> str:
        return name + _SUFFIX if self._analysis.facts[name].productive else name

    def _endless(self) -> frozenset[str]:
        """Return the nonterminals that have an infinite text."""
        graph: dict[str, set[str]] = {name: set() for name in self._grammar.rules}
        consuming: set[tuple[str, str]] = set()
        result: set[str] = set()
        for name, nodes in self._analysis.nodes.items():
            self._budget.subject = name
            self._budget.spend(len(nodes))
            for callee, consumes in self._ways(name):
                if callee is None:
                    result.add(name)
                    continue
                graph[name].add(callee)
                if consumes:
                    consuming.add((name, callee))
        for names in cyclic_components(graph):
            if any(a in names and b in names for a, b in consuming):
                result |= names
        return _leading_to(result, graph)

    def _ways(self, name: str) -> Iterator[tuple[str | None, bool]]:
        """Yield the calls of a rule after parts that have finite texts, None for a loop.

        With each call, whether something that is not empty can be before it.
        """
        stack = [(self._grammar.rules[name], False)]
        facts = self._facts(self._grammar.rules[name])
        while stack:
            node, consumes = stack.pop()
            match node:
                case Call(callee):
                    yield callee, consumes
                case Choice(branches):
                    stack.extend((branch, consumes) for branch in branches)
                case Sequence(operands):
                    for operand in operands:
                        stack.append((operand, consumes))
                        if not facts[id(operand)].productive:
                            break
                        consumes = consumes or facts[id(operand)].filled
                case Repeat(body, _, high) if high != 0:
                    filled = facts[id(body)].filled
                    if high is None and filled:
                        yield None, True
                    stack.append((body, consumes or (filled and high != 1)))
                case Regular(dfa) if self._turning(dfa):
                    yield None, True

    def _facts(self, root: Node) -> Mapping[int, Facts]:
        return {id(node): facts for node, facts in self._analysis.within(root)}

    def _prefixes(self, name: str, endless: frozenset[str]) -> Node | None:
        """Return the beginnings of the infinite texts of a rule, up to ``NEVER``."""
        body = self._grammar.rules[name]
        facts = self._facts(body)
        values: list[Node | None] = []
        for node in self._analysis.nodes[name]:
            self._budget.spend()
            first = len(values) - len(children(node))
            values[first:] = [self._prefixes_of(node, values[first:], facts, endless)]
        return values.pop()

    def _prefixes_of(
        self,
        node: Node,
        operands: list[Node | None],
        facts: Mapping[int, Facts],
        endless: frozenset[str],
    ) -> Node | None:
        match node:
            case Call(name, span):
                return Call(self._renamed(name), span) if name in endless else None
            case Choice(_, span):
                return _choice(operands, span)
            case Sequence():
                return _in_sequence(node, operands, facts, _without_loops)
            case Repeat(body, _, high, span) if high != 0:
                turns = Repeat(body, 0, None if high is None else high - 1, span)
                ways = [operands[0] and Sequence((turns, operands[0]), span)]
                if high is None and facts[id(body)].filled:
                    ways.append(Sequence((turns, Token(NEVER, span)), span))
                return _choice(ways, span)
            case Regular(dfa, span):
                turning = self._turning(dfa)
                if turning is None:
                    return None
                return Sequence((Regular(turning, span), Token(NEVER, span)), span)
            case _:
                return None

    def _turning(self, dfa: Dfa) -> Dfa | None:
        if id(dfa) not in self._cycles:
            self._budget.spend(1 + dfa.state_count)
            self._cycles[id(dfa)] = _up_to_cycles(dfa)
        return self._cycles[id(dfa)]


def _leading_to(names: Iterable[str], graph: Mapping[str, Iterable[str]]) -> frozenset[str]:
    """Return ``names`` and everything from which the graph leads to them."""
    callers: dict[str, list[str]] = {}
    for caller, callees in graph.items():
        for callee in callees:
            callers.setdefault(callee, []).append(caller)
    result = set(names)
    stack = list(result)
    while stack:
        fresh = set(callers.get(stack.pop(), ())) - result
        result |= fresh
        stack.extend(fresh)
    return frozenset(result)


def _up_to_cycles(dfa: Dfa) -> Dfa | None:
    """Return the words of an automaton that lead onto a cycle; None if it has none."""
    graph = {state: set(row) - {DEAD} for state, row in enumerate(dfa.rows)}
    turning = frozenset[int]().union(*cyclic_components(graph))
    if not turning:
        return None
    tags = [int(state in turning) for state in range(dfa.state_count)]
    return from_symbols(SymbolDfa(dfa.rows, tags, [0]), dfa.classes)


def _choice(ways: Iterable[Node | None], span: Span) -> Node | None:
    some = tuple(way for way in ways if way is not None)
    return Choice(some, span) if len(some) > 1 else some[0] if some else None


def _in_sequence(
    node: Sequence[Node],
    endless: list[Node | None],
    facts: Mapping[int, Facts],
    before_others: Callable[[Node, Node | None], Node | None] = lambda _, way: way,
) -> Node | None:
    """Return the ways to begin an infinite text: in any part after those that are finite.

    ``before_others`` returns what counts of a part's ways where a later part has some, too.
    """
    last = next(
        (i for i, operand in enumerate(node.operands) if not facts[id(operand)].productive),
        len(node.operands) - 1,
    )
    rest: Node | None = None
    for operand, way in zip(
        reversed(node.operands[: last + 1]), reversed(endless[: last + 1]), strict=True
    ):
        after = rest.operands if isinstance(rest, Sequence) else (rest,)
        behind = rest and Sequence((operand, *after), node.span)
        here = before_others(operand, way) if rest else way
        rest = _choice((here, behind), node.span)
    return rest


def _without_loops(node: Node, way: Node | None) -> Node | None:
    """Return the infinite texts of a part without those that its finite ones begin, too."""
    match node:
        case Regular():
            return None
        case Repeat():
            ways = way.branches if isinstance(way, Choice) else (way,)
            return _choice((option for option in ways if not _is_loop(option)), node.span)
    return way


def _is_loop(way: Node | None) -> bool:
    """Return whether a way goes round in a part that can end after each turn."""
    return isinstance(way, Sequence) and isinstance(way.operands[-1], Token)
