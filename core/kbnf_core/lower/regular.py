"""Regular parts of a grammar as one automaton, for questions that recognition does not ask."""

from collections.abc import Mapping

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


def to_dfa(root: Node, rules: Mapping[str, Node], limits: Limits = DEFAULT_LIMITS) -> Dfa:
    """Return the language of ``root`` as an automaton; raise NotRegularError where there is none.

    Nonterminals are written out, so only those that do not call themselves will do.
    """
    known: dict[str, Dfa] = {}
    for name in _callees_first(root, rules):
        known[name] = _convert(rules[name], known, limits)
    return _convert(root, known, limits)


def _callees_first(root: Node, rules: Mapping[str, Node]) -> list[str]:
    order: list[str] = []
    open_names: set[str] = set()
    stack = [("", calls(root))]
    while stack:
        name, pending = stack[-1]
        callee = next((c.nonterminal for c in pending if c.nonterminal not in order), None)
        if callee is None:
            order.append(name)
            open_names.discard(name)
            stack.pop()
        elif callee in open_names:
            raise NotRegularError
        else:
            open_names.add(callee)
            stack.append((callee, calls(rules[callee])))
    return order[:-1]


def _convert(root: Node, known: Mapping[str, Dfa], limits: Limits) -> Dfa:
    values: list[Dfa] = []
    try:
        for node in postorder(root):
            first = len(values) - len(children(node))
            values[first:] = [_combine(node, values[first:], known, limits)]
    except LimitError:
        raise NotRegularError from None
    return values.pop()


def _combine(node: Node, parts: list[Dfa], known: Mapping[str, Dfa], limits: Limits) -> Dfa:
    match node:
        case Literal(data):
            return operations.literal(data)
        case Regular(dfa):
            return dfa
        case Call(name):
            return known[name]
        case Sequence():
            return operations.concatenate(*parts, limits=limits)
        case Choice():
            return operations.union(*parts, limits=limits)
        case Repeat(_, low, high):
            return operations.repeat(parts[0], low, high, limits)
        case _:
            raise NotRegularError
