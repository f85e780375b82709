"""Makes expressions of the IR that nobody wrote, flat and without empty parts.

A span is of a part that the author has written; the nodes inside it without a span of their own
belong to it. Nodes without a span anywhere around them were not written.

Many alternatives that are texts are one terminal. The tokens of a vocabulary and the words of a
dictionary are classes: nobody reads about them alternative by alternative, and a node for each
makes every pass a walk over all of them. Their minimal automaton is built at once, from the trie of
the sorted texts, and it is one node with one span, as a regular expression is. The language is the
same. Fewer alternatives stay as they were written, so that findings, coverage and explanations name
the one that is meant.

Tests: tests/unit/test_ir_build.py, tests/unit/languages/json_schema/test_counts_in_patterns.py
"""

from collections.abc import Hashable, Iterable, Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.traversal import fold
from kbnf_core.ir import (
    Call,
    Choice,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
    children,
    rebuild,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.source import NOWHERE, Span

if TYPE_CHECKING:
    from kbnf_core.automata.expression import Expression as Texts

EMPTY: Node = Sequence((), NOWHERE)
"""The empty word, which the other functions leave out."""


def text(value: str) -> Node:
    """Return exactly this text."""
    return Literal(value.encode(), NOWHERE) if value else EMPTY


def call(name: str) -> Node:
    """Return a nonterminal."""
    return Call(name, NOWHERE)


@dataclass(slots=True, eq=False, repr=False)
class Uncompiled(Regular):
    """A regular expression, its ``notation``, that is compiled where its automaton is first used.

    ``parsed`` is the expression, where it is known. Compiling raises LimitError.
    """

    dfa: Dfa = field(init=False)
    parsed: "Texts | None" = None

    def __getattr__(self, name: str) -> Dfa:
        # Called where an attribute has no value yet.
        if name != "dfa":
            raise AttributeError(name)
        compiled = compile_regex(str(self.notation))
        if compiled.dfa is None:
            raise LimitError("states", DEFAULT_LIMITS.regex_states)
        self.dfa = compiled.dfa
        return self.dfa


def pattern(written: str, parsed: "Texts | None" = None) -> Node:
    """Return the texts of a regular expression, which is compiled on demand."""
    return Uncompiled(NOWHERE, written, parsed=parsed)


def sequence(*nodes: Node) -> Node:
    """Return the sequence of the parts; adjacent literals without places are joined."""
    items: list[Node] = []
    for node in nodes:
        inner: tuple[Node, ...] = (node,)
        if type(node) is Sequence and node.notation is None:
            inner = node.operands if node.span is NOWHERE else _inner(node, node.operands)
        if items and inner and type(inner[0]) is Literal and type(items[-1]) is Literal:
            first, second = items[-1], inner[0]
            if first.span is NOWHERE and second.span is NOWHERE:
                items[-1] = Literal(first.data + second.data, NOWHERE)
                inner = inner[1:]
        items += inner
    if not items:
        return EMPTY
    return items[0] if len(items) == 1 else Sequence(tuple(items), NOWHERE)


def alternation(nodes: Iterable[Node]) -> Node:
    """Return the alternation of one or more parts; the empty one makes the others optional."""
    branches: list[Node] = []
    nullable = False
    for node in nodes:
        if node is EMPTY:
            nullable = True
        else:
            branches += _inner(node, node.branches) if isinstance(node, Choice) else (node,)
    if not branches:
        return EMPTY
    whole = branches[0] if len(branches) == 1 else Choice(tuple(branches), NOWHERE)
    return optional(whole) if nullable else whole


def any_of(nodes: Iterable[Node | None]) -> Node | None:
    """Return any one of the parts that there are, each once; None where there is none.

    An empty one beside others stays an alternative, as people write it.
    """
    lists = (node.branches if isinstance(node, Choice) else (node,) for node in nodes if node)
    branches = {id(branch): branch for branch in chain.from_iterable(lists)}.values()
    if all(branch is EMPTY for branch in branches):
        return EMPTY if branches else None
    written = Literal(b"", NOWHERE)
    return alternation(written if branch is EMPTY else branch for branch in branches)


FEW_TEXTS = 1_000
"""Alternatives up to this many are kept one by one."""

MOST_STATES = DEFAULT_LIMITS.regex_states
"""States of an automaton of texts; where it has more they are kept one by one."""


def choice_of(branches: Several[Node], span: Span, budget: Budget) -> Node:
    """Return any one of ``branches``: one terminal where they are many texts; bytes are steps."""
    if len(branches) <= FEW_TEXTS or not all(isinstance(branch, Literal) for branch in branches):
        return Choice(tuple(branches), span)
    words = {branch.data for branch in branches if isinstance(branch, Literal)}
    budget.spend(sum(map(len, words)))
    try:
        return Regular(operations.literals(words, MOST_STATES), span)
    except LimitError:
        return Choice(tuple(branches), span)


def optional(body: Node) -> Node:
    """Return the part or nothing."""
    return repeated(body, 0, 1)


def repeated(body: Node, low: int, high: int | None) -> Node:
    """Return ``low`` to ``high`` times the part."""
    if body is EMPTY or high == 0:
        return EMPTY
    if (low, high) == (1, 1):
        return body
    if type(body) is Repeat and (low, high) == (0, 1) and body.low < 2:
        return body if body.low == 0 else Repeat(body.body, 0, body.high, NOWHERE)
    return Repeat(body, low, high, NOWHERE)


def distinct(nodes: Iterable[Node]) -> Iterable[Node]:
    """Return parts without those that are built like another one."""
    result: dict[Hashable, Node] = {}
    for node in nodes:
        result.setdefault(fold(node, children, structure), node)
    return result.values()


def structure(node: Node, keys: Several[Hashable]) -> Hashable:
    """Return a key of the structure of a node, given those of its parts; places do not count."""
    match node:
        case Literal(data):
            return data
        case Call(name):
            return name
        case Uncompiled(notation=written):
            return "regex", written
        case Regular(dfa):
            return id(dfa)
        case Token(terminal):
            return terminal
        case Repeat(_, low, high):
            return low, high, *keys
        case _:
            return type(node), *keys


def placed(root: Node, span: Span) -> Node:
    """Return an expression at ``span``, if it has no place yet; a call always is."""
    if root is EMPTY or span is NOWHERE or not (root.span is NOWHERE or isinstance(root, Call)):
        return root
    return replace(root, span=span)


def moved(root: Node, names: Mapping[str, str], span: Span = NOWHERE) -> Node:
    """Return an expression of another grammar, at one place, in which names are others."""

    def one(node: Node, operands: list[Node]) -> Node:
        if isinstance(node, Call):
            return Call(names.get(node.nonterminal, node.nonterminal), span)
        node = rebuild(node, operands)
        return node if node.span is span else replace(node, span=span)

    return fold(root, children, one)


def _inner(whole: Node, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
    """Return the parts of an expression as parts of another one."""
    if whole.span is NOWHERE:
        return nodes
    return tuple(replace(node, span=whole.span) if node.span is NOWHERE else node for node in nodes)
