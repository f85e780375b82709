"""Regular parts of a grammar as one automaton, for questions that recognition does not ask."""

from collections.abc import Iterator, Mapping

from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.ir import (
    Call,
    Choice,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    calls,
    children,
    postorder,
)
from kbnf_core.limits import DEFAULT_LIMITS, Limits


class NotRegularError(Exception):
    """A part that calls itself or takes tokens by id, or whose automaton passes the limit."""


class Regulars:
    """The automata of regular parts of one grammar; each nonterminal is converted once.

    Nonterminals are written out, so only those that do not call themselves have an automaton.
    """

    def __init__(self, rules: Mapping[str, Node], limits: Limits = DEFAULT_LIMITS) -> None:
        self._rules = rules
        self._limits = limits
        self._known: dict[str, Dfa | None] = {}
        # With the node, because the number of a node that is gone may come again.
        self._parts: dict[int, tuple[Node, Dfa | None]] = {}

    def of(self, root: Node) -> Dfa:
        """Return the language of ``root``; raise NotRegularError where it has no automaton."""
        if id(root) not in self._parts:
            self._prepare(root)
            self._parts[id(root)] = (root, self._try(root))
        dfa = self._parts[id(root)][1]
        if dfa is None:
            raise NotRegularError
        return dfa

    def _prepare(self, root: Node) -> None:
        """Convert what ``root`` calls, callees first."""
        stack: list[tuple[str, Iterator[Call]]] = [("", calls(root))]
        open_names = {""}
        while stack:
            name, pending = stack[-1]
            callee = next((c.nonterminal for c in pending if c.nonterminal not in self._known), "")
            if not callee:
                stack.pop()
                open_names.discard(name)
                if name and name not in self._known:
                    self._known[name] = self._try(self._rules[name])
            elif callee in open_names:
                # All that are open lead to the cycle, so none of them is regular.
                self._known.update(dict.fromkeys(open_names - {""}))
            else:
                open_names.add(callee)
                stack.append((callee, calls(self._rules[callee])))

    def _try(self, root: Node) -> Dfa | None:
        try:
            return self._convert(root)
        except NotRegularError:
            return None

    def _convert(self, root: Node) -> Dfa:
        values: list[Dfa] = []
        try:
            for node in postorder(root):
                first = len(values) - len(children(node))
                values[first:] = [self._combine(node, values[first:])]
        except LimitError:
            raise NotRegularError from None
        return values.pop()

    def _combine(self, node: Node, parts: list[Dfa]) -> Dfa:
        match node:
            case Literal(data):
                return operations.literal(data)
            case Regular(dfa):
                return _within(dfa, self._limits)
            case Call(name):
                return self._callee(name)
            case Sequence():
                return operations.concatenate(*parts, limits=self._limits)
            case Choice():
                return operations.union(*parts, limits=self._limits)
            case Repeat(_, low, high):
                return operations.repeat(parts[0], low, high, self._limits)
            case _:
                raise NotRegularError

    def _callee(self, name: str) -> Dfa:
        dfa = self._known[name]
        if dfa is None:
            raise NotRegularError
        return dfa


def _within(dfa: Dfa, limits: Limits) -> Dfa:
    if dfa.state_count > limits.regex_states:
        raise NotRegularError
    return dfa
