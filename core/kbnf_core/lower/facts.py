"""Facts of nonterminals: nullable, productive, reachable; FIRST and FOLLOW.

What a part can derive is two flags: the empty text, and any text at all. Each fact of a nonterminal
changes at most once, so the least fixpoint costs three times the size of the grammar.

``where`` and ``names_where`` decide one such flag for trees of the algebra over leaves of any kind:
rules of lexemes, Python's regular expressions. No other module computes nullable rules, or prunes
unproductive ones.

FIRST and FOLLOW are over bytes: the bytes that parts begin with, and those that can occur after
nonterminals. Both are least fixpoints (Aho, Lam, Sethi & Ullman 2006, 4.4.2): FIRST over the
callees of a rule, FOLLOW over its callers.

Tests: tests/unit/ir/test_facts.py
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple, TypeVar

from kbnf_core.automata import algebra
from kbnf_core.automata.dfa import DEAD, Dfa
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import (
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
    postorder,
    rebuild,
)
from kbnf_core.ir.analysis import callees_first, fixpoint
from kbnf_core.ir.build import any_of, call, repeated, sequence
from kbnf_core.lower.chosen_kernel import compiled
from kbnf_core.text.budget import Budget
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property

N = TypeVar("N")

NO_NAMES: Mapping[str, bool] = MappingProxyType({})


class Facts(NamedTuple):
    """The texts that a node or nonterminal can derive.

    ``nullable``: the empty word; ``filled``: some word that is not empty.
    """

    nullable: bool
    filled: bool

    @property
    def productive(self) -> bool:
        """Whether any word at all is derived."""
        return self.nullable or self.filled


NOTHING = Facts(nullable=False, filled=False)

FACTS = (
    (NOTHING, Facts(nullable=False, filled=True)),
    (Facts(nullable=True, filled=False), Facts(nullable=True, filled=True)),
)
"""All facts there are, by ``nullable`` and ``filled``."""


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """Facts per nonterminal, and the nonterminals that the start can reach.

    ``order`` are the latter, callees first. ``nodes`` are the parts of each rule's body, parts
    before wholes; ``callees`` are what those of them that are calls call.
    """

    facts: Mapping[str, Facts]
    order: list[str]
    nodes: Mapping[str, list[Node]]
    callees: Mapping[str, list[str]]
    # With the nodes, because the number of a node that is gone may come again.
    _cached: dict[int, list[tuple[Node, Facts]]] = field(default_factory=dict, repr=False)

    @cached_property
    def reachable(self) -> frozenset[str]:
        """The nonterminals that the start can reach, itself included."""
        return frozenset(self.order)

    def within(self, root: Node) -> Iterator[tuple[Node, Facts]]:
        """Yield every part of ``root`` with its facts, parts before wholes."""
        if id(root) not in self._cached:
            self._cached[id(root)] = list(_facts_within(postorder(root), self.facts))
        return iter(self._cached[id(root)])


def analyse(grammar: GrammarRules, budget: Budget | None = None) -> Analysis:
    """Return the facts of every nonterminal of ``grammar``; parts looked at are steps."""
    budget = budget or Budget(DEFAULT_LIMITS.work)
    nodes: dict[str, list[Node]] = {}
    callees: dict[str, list[str]] = {}
    for name, body in grammar.rules.items():
        nodes[name], callees[name] = nodes_and_calls(body)
    facts = solve(nodes, callees, budget)
    return Analysis(facts, order_from([grammar.start], callees), nodes, callees)


@compiled
def solve(
    nodes: Mapping[str, list[Node]],
    callees: Mapping[str, list[str]],
    budget: Budget,
) -> dict[str, Facts]:
    """Return the facts of nonterminals by the parts of their bodies."""

    def evaluate(name: str, facts: Mapping[str, Facts]) -> Facts:
        budget.subject = name
        budget.spend(len(nodes[name]))
        return facts_of(nodes[name], facts)

    return fixpoint(callees, NOTHING, evaluate)


@compiled
def order_from(roots: Iterable[str], callees: Mapping[str, list[str]]) -> list[str]:
    """Return ``roots`` and all that they call, callees first."""
    return callees_first(roots, callees)


@compiled
def nodes_and_calls(root: Node) -> tuple[list[Node], list[str]]:
    """Return the parts of a body, parts before wholes, and what those that are calls call."""
    nodes = list(postorder(root))
    return nodes, [node.nonterminal for node in nodes if type(node) is Call]


@compiled
def facts_of(nodes: Iterable[Node], facts: Mapping[str, Facts]) -> Facts:
    """Return the facts of a body, given its parts and the facts of nonterminals so far."""
    for _, fact in _facts_within(nodes, facts):
        last = fact
    return last


def _facts_within(
    nodes: Iterable[Node], facts: Mapping[str, Facts]
) -> Iterator[tuple[Node, Facts]]:
    values: list[Facts] = []
    for node in nodes:
        count = len(children(node))
        if count:
            values[-count:] = [_combine(node, values[-count:], facts)]
        else:
            values.append(_combine(node, [], facts))
        yield node, values[-1]


def _combine(node: Node, operands: list[Facts], facts: Mapping[str, Facts]) -> Facts:
    match node:
        case Call(name):
            return facts[name]
        case Literal(data):
            return FACTS[not data][bool(data)]
        case Sequence():
            return _in_sequence(operands)
        case Choice():
            return _in_choice(operands)
        case Repeat():
            return _repeated(operands[0], node)
        case Regular(dfa):
            return FACTS[dfa.is_nullable][_is_filled(dfa)]
        case Token():
            return FACTS[False][True]


def where(
    nodes: Iterable[N], leaf: Callable[[N], bool], names: Mapping[str, bool] = NO_NAMES
) -> dict[int, bool]:
    """Return by identity which parts of a tree have a property: nullable, or productive.

    ``nodes`` are those of the tree, parts before wholes. It is true of a sequence if it is of all
    parts, of a choice if of one branch, of a repetition also if it may have no turn; ``names`` say
    it of calls (False where they do not), ``leaf`` of other leaves. Linear in the size of the tree.
    """
    truths: dict[int, bool] = {}
    for node in nodes:
        match node:
            case algebra.Sequence():
                is_true = all(truths[id(inner)] for inner in node.operands)
            case algebra.Choice():
                is_true = any(truths[id(branch)] for branch in node.branches)
            case algebra.Repeat():
                is_true = node.low == 0 or truths[id(node.body)]
            case Call(name):
                is_true = names.get(name, False)
            case _:
                is_true = leaf(node)
        truths[id(node)] = is_true
    return truths


def names_where(
    nodes: Mapping[str, Several[N]], leaf: Callable[[N], bool], *, endless: bool = False
) -> dict[str, bool]:
    """Return of which nonterminals it is true, as ``where`` has it for parts.

    ``nodes`` are the parts of each rule's body, parts before wholes; ``leaf`` decides about leaves
    other than calls. A name without a rule has no text. Rules that only call each other have none,
    or, ``endless``, one that never ends.
    """
    callees = {
        name: [node.nonterminal for node in body if isinstance(node, Call)]
        for name, body in nodes.items()
    }

    def evaluate(name: str, changed: Mapping[str, bool]) -> bool:
        body = nodes[name]
        truths = {callee: changed.get(callee, endless) is not endless for callee in callees[name]}
        return where(body, leaf, truths)[id(body[-1])] is not endless

    # From rules of which it is true of none, or, endless, of all, up to those that differ.
    changed = fixpoint(callees, False, evaluate)
    return {name: is_changed is not endless for name, is_changed in changed.items()}


def nullable_names(rules: Mapping[str, Node]) -> set[str]:
    """Return the nonterminals that derive the empty text."""
    nodes = {name: nodes_and_calls(body)[0] for name, body in rules.items()}
    return {name for name, is_true in names_where(nodes, _is_nullable_leaf).items() if is_true}


def nullable_nodes(root: Node, names: Collection[str]) -> dict[int, bool]:
    """Return for every part of ``root``, by identity, whether it derives the empty text.

    ``names`` are the nonterminals that do.
    """
    return where(postorder(root), _is_nullable_leaf, dict.fromkeys(names, True))


def without_empty(
    root: Node, nullable: Mapping[int, bool], nonempty: Callable[[str], str]
) -> Node | None:
    """Return an expression without the empty text; None where it has no other text.

    ``nullable`` is that of ``nullable_nodes``; ``nonempty`` returns the name of the rule that has
    the texts of a nullable rule but the empty one.
    """

    def one(node: Node, operands: list[Node | None]) -> Node | None:
        if not nullable[id(node)]:
            return node
        match node:
            case Call(name):
                return call(nonempty(name))
            case Choice():
                return any_of(operands)
            case Repeat(_, _, high):
                return None if operands[0] is None else repeated(operands[0], 1, high)
            case Sequence():
                # Each branch has one part that is not empty, and none before it.
                return any_of(
                    None if operand is None else sequence(operand, *node.operands[index + 1 :])
                    for index, operand in enumerate(operands)
                )
            case _:
                return None

    return fold(root, children, one)


def _is_nullable_leaf(node: Node) -> bool:
    match node:
        case Literal(data):
            return not data
        case Regular(dfa):
            return dfa.is_nullable
        case _:
            return False


def first_calls(rules: Mapping[str, Node], nullable: Collection[str]) -> dict[str, set[str]]:
    """Return for every rule the nonterminals that it may begin with.

    ``nullable`` are the nonterminals that derive the empty text.
    """
    return {name: _first_calls_of(body, nullable) for name, body in rules.items()}


def _first_calls_of(root: Node, names: Collection[str]) -> set[str]:
    nullable: dict[int, bool] | None = None
    calls: set[str] = set()
    pending = [root]
    while pending:
        node = pending.pop()
        match node:
            case Call(name):
                calls.add(name)
            case Sequence(operands):
                for operand in operands:
                    pending.append(operand)
                    # Most sequences begin with a text, and then nothing else is asked for.
                    if isinstance(operand, Literal) and operand.data:
                        break
                    nullable = nullable_nodes(root, names) if nullable is None else nullable
                    if not nullable[id(operand)]:
                        break
            case _:
                pending.extend(children(node))
    return calls


def useful(rules: Mapping[str, Node], *, endless: bool = False) -> dict[str, Node]:
    """Return the rules that have texts, without the parts that have none.

    With ``endless``, texts that never end are some, too.
    """
    nodes = {name: nodes_and_calls(body)[0] for name, body in rules.items()}
    names = names_where(nodes, _has_text, endless=endless)

    def kept(node: Node, operands: list[Node | None]) -> Node | None:
        some = [operand for operand in operands if operand is not None]
        match node:
            case Call(callee):
                return node if names.get(callee) else None
            case Choice():
                return rebuild(node, some) if some else None
            case Repeat(_, low, _, span):
                return rebuild(node, some) if some else None if low else Sequence((), span)
            case Sequence():
                return rebuild(node, some) if len(some) == len(operands) else None
            case _:
                return node

    reached: dict[str, Node] = {}
    for name, body in rules.items():
        if not names[name]:
            continue
        is_whole = all(where(nodes[name], _has_text, names).values())
        left = body if is_whole else fold(body, children, kept)
        if left is not None:
            reached[name] = left
    return reached


def _has_text(node: object) -> bool:
    """Return True: leaves have texts."""
    del node
    return True


def _in_sequence(operands: list[Facts]) -> Facts:
    nullable, filled = True, False
    for operand in operands:
        if operand is NOTHING:
            return NOTHING
        nullable = nullable and operand.nullable
        filled = filled or operand.filled
    return FACTS[nullable][filled]


def _in_choice(branches: list[Facts]) -> Facts:
    nullable = filled = False
    for branch in branches:
        nullable = nullable or branch.nullable
        filled = filled or branch.filled
    return FACTS[nullable][filled]


def _repeated(body: Facts, node: Repeat[Node]) -> Facts:
    if node.high == 0:
        return FACTS[True][False]
    return FACTS[node.low == 0 or body.nullable][body.filled]


def _is_filled(dfa: Dfa) -> bool:
    """Return whether there is a word but the empty one; all states lead to acceptance."""
    return not dfa.is_empty and any(target != DEAD for target in dfa.rows[0])


Bytes = frozenset[int]

_NO_BYTES: Bytes = frozenset()


class Firsts:
    """FIRST sets over bytes of one grammar, computed for all nonterminals at once."""

    def __init__(self, grammar: GrammarRules, analysis: Analysis) -> None:
        self._analysis = analysis
        self._automata: dict[int, Bytes] = {}
        self._cached: Mapping[str, Bytes] = {}

        def evaluate(name: str, firsts: Mapping[str, Bytes]) -> Bytes:
            self._cached = firsts
            body = grammar.rules[name]
            return self.within(body)[id(body)]

        self._cached = fixpoint(analysis.callees, _NO_BYTES, evaluate)

    def of(self, name: str) -> Bytes:
        """Return the first bytes of a nonterminal."""
        return self._cached[name]

    def within(self, root: Node) -> Mapping[int, Bytes]:
        """Return the first bytes of each part of ``root``, by the part's ``id``."""
        firsts: dict[int, Bytes] = {}
        nullable: set[int] = set()
        for node, facts in self._analysis.within(root):
            firsts[id(node)] = self._combine(node, firsts, nullable)
            if facts.nullable:
                nullable.add(id(node))
        return firsts

    def _combine(self, node: Node, firsts: Mapping[int, Bytes], nullable: set[int]) -> Bytes:
        match node:
            case Literal(data):
                return frozenset(data[:1])
            case Regular(dfa):
                return self._of_automaton(dfa)
            case Call(name):
                return self._cached[name]
            case Sequence(operands):
                return _of_sequence(operands, firsts, nullable)
            case Choice() | Repeat():
                return _NO_BYTES.union(*(firsts[id(operand)] for operand in children(node)))
            case _:
                return _NO_BYTES

    def _of_automaton(self, dfa: Dfa) -> Bytes:
        if id(dfa) not in self._automata:
            row = [] if dfa.is_empty else dfa.rows[0]
            classes = {symbol for symbol, target in enumerate(row) if target != DEAD}
            firsts = frozenset(b for b, symbol in enumerate(dfa.classes) if symbol in classes)
            self._automata[id(dfa)] = firsts
        return self._automata[id(dfa)]


def _of_sequence(
    operands: tuple[Node, ...], first_of: Mapping[int, Bytes], nullable: set[int]
) -> Bytes:
    firsts = _NO_BYTES
    for operand in operands:
        firsts |= first_of[id(operand)]
        if id(operand) not in nullable:
            break
    return firsts


END = 256
"""The sign among the bytes for the end of the text."""

Follow = frozenset[int]


_REST = 257
"""The symbol, among the bytes, of everything that can follow the rule."""


def follow_sets(grammar: GrammarRules, analysis: Analysis, firsts: Firsts) -> Mapping[str, Follow]:
    """Return the FOLLOW set of each nonterminal that the start leads to."""
    uses: dict[str, list[tuple[str, Follow]]] = {name: [] for name in grammar.rules}
    for caller in analysis.reachable:
        nodes = with_follow(grammar.rules[caller], frozenset((_REST,)), analysis, firsts)
        for node, behind in nodes:
            if isinstance(node, Call):
                uses[node.nonterminal].append((caller, behind))

    def evaluate(name: str, follows: Mapping[str, Follow]) -> Follow:
        behind = (
            follows[caller] if _REST in follow else _NO_BYTES for caller, follow in uses[name]
        )
        near = (follow for _, follow in uses[name])
        ends = (END,) if name == grammar.start else ()
        return _NO_BYTES.union(ends, *near, *behind) - {_REST}

    callers = {name: [caller for caller, _ in follows] for name, follows in uses.items()}
    return fixpoint(callers, _NO_BYTES, evaluate)


def with_follow(
    root: Node, behind: Follow, analysis: Analysis, firsts: Firsts
) -> Iterator[tuple[Node, Follow]]:
    """Yield the parts of a rule, and the FOLLOW set of each; ``behind`` is that of the rule."""
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
            case Sequence(operands):
                for operand in reversed(operands):
                    pending.append((operand, after))
                    skipped = after if id(operand) in nullable else frozenset()
                    after = first[id(operand)] | skipped
            case _:
                pass
