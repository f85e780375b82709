"""Closing: whether a grammar has finitely many states, these states, and the reason if not.

States are numbered by content, so a text that comes back to an earlier situation comes back to its
state, and a grammar without recursion in the midst of a rule has finitely many. Such recursion,
``value ::= '[' value ']'``, has a state for every depth; left recursion and tail calls have not.

Distances to the end: the length of a shortest completion of the start, by state
(``kernel/end_costs.pxi``, ``kernel/ends.pxi``).

Tests: tests/unit/kernel
"""

from collections.abc import Callable, Iterable
from math import inf
from typing import NamedTuple

import numpy as np

from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.kernel import NEVER, EndCosts, Ends
from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.states import DEAD, StateTable
from kbnf_core.text.budget import Budget


class DistanceToEnd:
    """The lengths of shortest texts for the states of one table.

    ``token``: what a token terminal counts, infinite where none may occur. ``ends``: the costs.
    """

    def __init__(self, states: StateTable, token: float) -> None:
        self.ends = Ends(states, byte_costs(states.tables, token))

    def length(self, state: int, budget: Budget) -> float:
        """Return the length of the shortest text, not empty, that completes the start.

        Infinite if there is none. Raises WorkLimitError where ``budget`` is used up; edges of stack
        nodes that are not known yet are steps.
        """
        before = self.ends.work
        result = self.ends.filled(state)
        budget.spend(self.ends.work - before)
        return inf if result >= NEVER else result


def byte_costs(tables: Tables, token: float) -> EndCosts:
    """Return the costs of positions in bytes, a token terminal counting ``token``."""
    cost = NEVER if token == inf else int(token)
    named = np.full(len(tables.token_terminals), cost, np.int64)
    return EndCosts(tables, None, np.zeros(256, np.uint8), named)


MOST_STATES = 4096
"""States of a table, unless more are asked for."""

MOST_MEMBERS = 256
"""Parts of a state on average. States of an ambiguous nesting have as many as the text is long."""


class ClosedStates(NamedTuple):
    """The states met, breadth first from the initial one; all there are if ``closed``."""

    states: list[int]
    closed: bool


def close_states(
    states: StateTable,
    most: int,
    classes: Iterable[int],
    by_token: Callable[[int], Iterable[int]],
    eager: bool = False,
) -> ClosedStates:
    """Return the first ``most`` states, or fewer large ones, that bytes and tokens lead to.

    ``classes``: those of the bytes; ``by_token(state)``: the states after tokens that are more than
    their bytes. ``eager``: nothing follows a complete text. All new states together have at most
    ``MOST_MEMBERS`` parts for each of ``most``.
    """
    most_grown = states.grown + MOST_MEMBERS * most
    readable = frozenset(classes)
    met = {states.initial}
    order = [states.initial]
    for state in order:
        if eager and states.explorer.completes(state):
            continue
        after = (
            states.step(state, live_class)
            for live_class in states.live_classes(state)
            if live_class in readable
        )
        for reached in (*after, *by_token(state)):
            if reached != DEAD and reached not in met:
                if len(order) == most or states.grown > most_grown:
                    return ClosedStates(order, False)
                met.add(reached)
                order.append(reached)
    return ClosedStates(order, True)


def close_grammar(tables: Tables, most: int) -> ClosedStates:
    """Return the first ``most`` states of a grammar over every vocabulary that has all bytes."""
    return _close(StateTable(tables), most)


def _close(states: StateTable, most: int) -> ClosedStates:
    def by_token(state: int) -> Iterable[int]:
        return [states.step_token(state, frozenset((t,))) for t in states.token_terminals(state)]

    return close_states(states, most, range(states.tables.class_count), by_token)


def is_prefix_free(tables: Tables, most: int = 500) -> bool:
    """Return whether the states are at most so many, and no text that is complete goes on.

    False where there are more: then it is not known.
    """
    states = StateTable(tables)
    result = _close(states, most)
    ends = filter(states.explorer.completes, result.states)
    return result.closed and not any(states.live_classes(state) for state in ends)


def endless_rules(tables: Tables) -> list[int]:
    """Return the nonterminals that nest: that call themselves, with text before and after.

    There depth has no bound, and every depth is a state. A call in front of all text (left
    recursion) alone goes no deeper, and neither does one after all text (a tail call).
    """
    calls = _calls(tables)
    graph: dict[int, list[int]] = {site: [] for site in range(len(tables.entry))}
    for call in calls:
        graph[call.caller].append(call.callee)
    result: list[int] = []
    for members in cyclic_components(graph):
        within = [site for site in calls if site.caller in members and site.callee in members]
        if any(site.follows for site in within) and any(site.is_followed for site in within):
            result.extend(members)
    return sorted(result)


def why_not_closed(tables: Tables, closing: ClosedStates) -> str:
    """Return in a sentence why a grammar has more states than the limit, and a remedy."""
    beyond = f"it has more than {len(closing.states):,} states"
    nesting = endless_rules(tables)
    if nesting:
        callers = {call.caller for call in _calls(tables) if call.callee in nesting}
        by = _named(tables, sorted(callers - set(nesting)))
        return (
            f"{beyond}, since {_named(tables, nesting)}{by and f' (called by {by})'} can nest"
            " without end; bound the depth, or in a JSON Schema close objects"
            " (`additionalProperties: false`) and give every value a type"
        )
    number, positions = longest_rule(tables)
    name = tables.names[number].partition("#")[0]
    return (
        f"{beyond}; most are in `{name}`, which has {positions:,} positions: lower its bounds"
        " (`{m,n}`, `maxLength`), or allow more states"
    )


def _named(tables: Tables, nonterminals: list[int]) -> str:
    names = list(
        dict.fromkeys(tables.names[nonterminal].partition("#")[0] for nonterminal in nonterminals)
    )
    return ", ".join(f"`{name}`" for name in names[:3]) + (", ..." if names[3:] else "")


def longest_rule(tables: Tables) -> tuple[int, int]:
    """Return the nonterminal with the most positions, and how many: one for each count."""
    times = np.ones(tables.state_count, np.int64)
    inside = np.flatnonzero(tables.loops.of >= 0)
    times[inside] = np.maximum(tables.loops.low, tables.loops.high)[tables.loops.of[inside]]
    counts = [int(times[states_of(tables, entry)].sum()) for entry in tables.entry.tolist()]
    most = max(counts)
    return counts.index(most), most


class _NestedCall(NamedTuple):
    """A call: whether it may follow text of the caller, and be followed by text."""

    caller: int
    callee: int
    follows: bool
    is_followed: bool


def _calls(tables: Tables) -> list[_NestedCall]:
    return [
        _NestedCall(
            caller,
            int(tables.call_nonterminal[call]),
            state != entry,
            not tables.call_tail[call],
        )
        for caller, entry in enumerate(tables.entry.tolist())
        for state in states_of(tables, entry)
        for call in range(tables.call_start[state], tables.call_start[state + 1])
    ]


def states_of(tables: Tables, entry: int) -> list[int]:
    """Return the automaton states of the nonterminal with this entry."""
    met, order = {entry}, [entry]
    for state in order:
        for start, target in (
            (tables.edge_start, tables.edge_target),
            (tables.call_start, tables.call_return),
            (tables.token_start, tables.token_target),
        ):
            after = target[start[state] : start[state + 1]].tolist()
            fresh = [number for number in dict.fromkeys(after) if number not in met]
            met.update(fresh)
            order.extend(fresh)
    return order
