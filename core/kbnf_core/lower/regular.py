"""Regular parts of a grammar as one automaton, for questions that recognition does not ask.

A whole part becomes one nondeterministic automaton, made deterministic once. Its leaves are
literals and automata that exist already: a regular expression's, or that of a nonterminal.

Tests: tests/unit/kernel/test_lowering.py, tests/property
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping

from kbnf_core.automata.dfa import Dfa, join, rows_over, separate
from kbnf_core.automata.nfa import Fragment, Thompson
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
    calls,
    children,
    postorder,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import cached_property

_NFA_STATES = 4
"""States before making deterministic, for each that the result may have."""


class NotRegularError(Exception):
    """A part that calls itself or takes tokens by id, or whose automaton passes the limit."""


class Regulars:
    """The automata of regular parts of one grammar; each nonterminal is converted once.

    Nonterminals are written out, so only those that do not call themselves have an automaton.
    Automata are charged to ``budget``, an automaton beyond the limit as the largest within it.
    """

    def __init__(
        self,
        rules: Mapping[str, Node],
        limits: Limits = DEFAULT_LIMITS,
        budget: Budget | None = None,
    ) -> None:
        self._rules = rules
        self._limits = limits
        self._budget = budget or Budget(limits.work)
        self._by_name: dict[str, Dfa | None] = {}
        # With the node, because the number of a node that is gone may come again.
        self._roots: dict[int, tuple[Node, Dfa | None]] = {}

    def is_regular(self, root: Node) -> bool:
        """Return whether ``root`` is regular; its automaton, not made here, may be too large."""
        return not any(
            isinstance(node, Token)
            or (isinstance(node, Call) and node.nonterminal not in self._order)
            for node in postorder(root)
        )

    def of(self, root: Node) -> Dfa:
        """Return the language of ``root``; raise NotRegularError where it has no automaton."""
        if id(root) not in self._roots:
            dfa = self._convert(root) if self.is_regular(root) else None
            self._roots[id(root)] = (root, dfa)
        dfa = self._roots[id(root)][1]
        if dfa is None:
            raise NotRegularError
        return dfa

    @cached_property
    def _order(self) -> Mapping[str, int]:
        """The regular nonterminals, numbered so that callees come first (Kahn 1962)."""
        missing: dict[str, int] = {}
        callers: defaultdict[str, list[str]] = defaultdict(list)
        for name, body in self._rules.items():
            callees = {call.nonterminal for call in calls(body)}
            for callee in callees:
                callers[callee].append(name)
            # What takes tokens by id waits for ever.
            takes_tokens = any(isinstance(node, Token) for node in postorder(body))
            missing[name] = len(callees) + takes_tokens
        result = [name for name, count in missing.items() if not count]
        for name in result:
            for caller in callers[name]:
                missing[caller] -= 1
                if not missing[caller]:
                    result.append(caller)
        return {name: number for number, name in enumerate(result)}

    def _convert(self, root: Node) -> Dfa | None:
        for name in sorted(self._callees(root), key=self._order.__getitem__):
            if name not in self._by_name:
                self._by_name[name] = self._try(self._rules[name])
        return self._try(root)

    def _callees(self, root: Node) -> set[str]:
        """Return every nonterminal that ``root`` leads to."""
        result: set[str] = set()
        stack = [root]
        while stack:
            fresh = (
                {call.nonterminal for call in calls(stack.pop())} - result - self._by_name.keys()
            )
            result |= fresh
            stack.extend(self._rules[name] for name in fresh)
        return result

    def _try(self, root: Node) -> Dfa | None:
        limit = self._limits.regex_states
        try:
            dfa = automaton_of(root, self._callee, limit)
        except (NotRegularError, LimitError):
            self._budget.spend(_NFA_STATES * limit)
            return None
        self._budget.spend(_NFA_STATES * dfa.state_count)
        return dfa

    def _callee(self, name: str) -> Dfa:
        dfa = self._by_name[name]
        if dfa is None:
            raise NotRegularError
        return dfa


def automaton_of(root: Node, callee: Callable[[str], Dfa], limit: int) -> Dfa:
    """Return the minimal automaton of ``root``, which has no token terminal.

    ``callee`` gives the automaton of a nonterminal. Raises LimitError beyond ``limit`` states.
    """
    dfas = {id(node): dfa for node, dfa in _automata(root, callee)}
    if any(dfa.state_count > limit for dfa in dfas.values()):
        raise LimitError("states", limit)
    written = b"".join(node.data for node in postorder(root) if isinstance(node, Literal))
    classes = join([separate(written), *(dfa.classes for dfa in dfas.values())])
    thompson = Thompson(_NFA_STATES * limit)

    def combine(node: Node, fragments: list[Fragment]) -> Fragment:
        match node:
            case Literal(data):
                return thompson.word(data.translate(classes))
            case Sequence():
                return thompson.sequence(fragments)
            case Choice():
                return thompson.alternation(fragments)
            case Repeat(_, low, high):
                return thompson.repetition(fragments[0], low, high)
            case _:
                dfa = dfas[id(node)]
                return thompson.automaton(rows_over(dfa, classes), dfa.accepting)

    return thompson.finish(fold(root, children, combine), classes, limit)


def _automata(root: Node, callee: Callable[[str], Dfa]) -> Iterator[tuple[Node, Dfa]]:
    for node in postorder(root):
        match node:
            case Regular(dfa):
                yield node, dfa
            case Call(name):
                yield node, callee(name)
