"""Distances to the end: the length of a shortest completion of the start, by state.

Lengths within one nonterminal come from Knuth, "A Generalization of Dijkstra's Algorithm" (1977):
the least cost to acceptance of all automaton states at once, a call costing what its nonterminal
costs. A state of the recogniser adds the cost of what waits for the nonterminals that its items
report, from stack node to stack node down to BOTTOM; that cost is memoised per stack node.
"""

import heapq
from collections import defaultdict
from math import inf

import numpy as np
import numpy.typing as npt

from kbnf_core.budget import Budget
from kbnf_core.ir.analysis import callees_first, cyclic_components
from kbnf_core.lower.tables import Ids, Tables
from kbnf_core.recognise.closing import states_of
from kbnf_core.recognise.states import BOTTOM, SELF, StateTable

Costs = npt.NDArray[np.float64]


class DistanceToEnd:
    """Shortest lengths for the states of one table; edges of infinite cost are never taken.

    ``byte``: float64[byte classes], what a byte of each class counts. ``token``: what a token
    terminal does.
    """

    def __init__(self, states: StateTable, byte: Costs, token: float) -> None:
        self._states = states
        self.to_end = lengths_to_end(states.tables, byte, token)
        self._beyond = _filled_lengths(states.tables, self.to_end, byte, token)
        self._upward: dict[int, dict[int, float]] = {BOTTOM: {states.tables.start: 0}}
        self._left: dict[int, dict[int, float]] = {}
        self._above: dict[int, float] = {BOTTOM: 0}

    def length(self, state: int, budget: Budget) -> float:
        """Return the length of the shortest text, not empty, that completes the start.

        Infinite if there is none. Raises WorkLimitError where ``budget`` is used up; edges of stack
        nodes that are not known yet are steps.
        """
        best = inf
        for stack_node, item_set in self._states.pairs(state):
            upward = self._up_from(stack_node, budget)
            for item in self._states.items.items(item_set):
                position, report = self._states.items.unpack(item)
                best = min(best, self._beyond[position] + upward.get(report, inf))
        return float(best)

    def most_above(self, state: int, budget: Budget) -> float:
        """Return the greatest length behind what any frame of a state's stacks waits for.

        Raises WorkLimitError as ``length`` does.
        """
        nodes = {stack_node for stack_node, _ in self._states.pairs(state)}
        return max((self._above_from(each, budget) for each in nodes), default=0)

    def _above_from(self, root: int, budget: Budget) -> float:
        stack = [root]
        while stack:
            stack_node = stack[-1]
            outer = {edge[1] for edge in self._states.stack.edges(stack_node)} - {SELF}
            budget.spend(1 + len(outer))
            missing = [each for each in outer if each not in self._above]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            own = max(self._up_from(stack_node, budget).values(), default=0)
            self._above[stack_node] = max([own, *(self._above[each] for each in outer)])
        return self._above[root]

    def _up_from(self, root: int, budget: Budget) -> dict[int, float]:
        """Return the length after each nonterminal completes into ``root``."""
        if root in self._upward:
            return self._upward[root]
        stack = [root]
        while stack:
            stack_node = stack[-1]
            edges = self._states.stack.edges(stack_node)
            budget.spend(1 + len(edges))
            outer = {edge[1] for edge in edges} - {SELF}
            missing = [each for each in outer if each not in self._upward]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            if stack_node not in self._upward:
                self._upward[stack_node] = self._find_upward(stack_node, budget)
        return self._upward[root]

    def _find_upward(self, stack_node: int, budget: Budget) -> dict[int, float]:
        """Relax the lengths to a fixpoint: items predicted together wait for each other."""
        lengths: dict[int, float] = {}
        changed = True
        while changed:
            changed = False
            for nonterminal, outer, after in self._states.stack.edges(stack_node):
                known = lengths if outer == SELF else self._upward[outer]
                left_in = self._left_in(after)
                budget.spend(1 + len(left_in))
                ways = (left + known.get(r, inf) for r, left in left_in.items())
                found = min(ways, default=inf)
                if found < lengths.get(nonterminal, inf):
                    lengths[nonterminal] = found
                    changed = True
        return lengths

    def _left_in(self, item_set: int) -> dict[int, float]:
        """Return, by nonterminal, the length within it from the items of a set."""
        found = self._left.get(item_set)
        if found is None:
            found = self._left[item_set] = {}
            for item in self._states.items.items(item_set):
                position, report = self._states.items.unpack(item)
                found[report] = min(found.get(report, inf), float(self.to_end[position]))
        return found


def most_left_open(tables: Tables, to_end: Costs, longest: int) -> float:
    """Return a bound of the least length to the end of a nonterminal, wherever a text within it is.

    That may be in the midst of nonterminals that it calls. Where these nest without end it holds
    behind ``longest`` bytes: each opens a nonterminal at most once.
    """
    own: dict[int, float] = {}
    calls: dict[int, dict[int, float]] = {}
    for name, entry in enumerate(tables.entry.tolist()):
        states = states_of(tables, entry)
        own[name] = max(float(to_end[each]) for each in states)
        called = calls[name] = {}
        for state in states:
            for call in range(tables.call_start[state], tables.call_start[state + 1]):
                callee = int(tables.call_nonterminal[call])
                behind = float(to_end[tables.call_return[call]])
                called[callee] = max(called.get(callee, 0), behind)
    if any(cyclic_components(calls)):
        once = sum(max(called.values(), default=0) for called in calls.values())
        return max(own.values()) + (longest + 1) * once
    most: dict[int, float] = {}
    for name in callees_first(calls, calls):
        within = (most[callee] + behind for callee, behind in calls[name].items())
        most[name] = max([own[name], *within])
    return max(most.values())


def lengths_to_end(tables: Tables, byte: Costs, token: float) -> Costs:
    """Return float64[states]: the least length from each state to acceptance, 0 if it accepts.

    Behind the automaton's states come the nonterminals, each as the nonempty text of it: its
    entry once more, but not accepting.
    """
    count = tables.state_count
    lengths = np.full(count + len(tables.names), inf)
    rules = _Rules(tables, byte, token)
    heap = [(0.0, int(state)) for state in np.flatnonzero(tables.accepting)]
    while heap:
        length, node = heapq.heappop(heap)
        if lengths[node] < inf:
            continue
        lengths[node] = length
        for source, cost in rules.edges[node]:
            heapq.heappush(heap, (length + cost, source))
        for source, other in rules.calls[node]:
            if lengths[other] < inf:
                heapq.heappush(heap, (length + float(lengths[other]), source))
    return lengths


class _Rules:
    """The reversed tables: for each node, the nodes whose lengths depend on it.

    ``edges[node]`` are (source, cost); ``calls[node]`` are (source, the other part of the sum).
    """

    def __init__(self, tables: Tables, byte: Costs, token: float) -> None:
        self._first_name = tables.state_count
        self._names_at: dict[int, list[int]] = defaultdict(list)
        for name, entry in enumerate(tables.entry.tolist()):
            self._names_at[entry].append(self._first_name + name)
        self.edges: dict[int, set[tuple[int, float]]] = defaultdict(set)
        self.calls: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self._add_edges(_sources(tables.edge_start), tables.edge_target, byte[tables.edge_class])
        token_costs = np.full(len(tables.token_target), token)
        self._add_edges(_sources(tables.token_start), tables.token_target, token_costs)
        self._add_calls(tables)

    def _add_edges(self, sources: Ids, targets: Ids, costs: Costs) -> None:
        taken = costs < inf
        columns = (column[taken].tolist() for column in (sources, targets, costs))
        for source, target, cost in zip(*columns, strict=True):
            for each in (source, *self._names_at.get(source, ())):
                self.edges[target].add((each, cost))

    def _add_calls(self, tables: Tables) -> None:
        sources, returns = _sources(tables.call_start).tolist(), tables.call_return.tolist()
        called = (tables.call_nonterminal + self._first_name).tolist()
        for source, callee, back in zip(sources, called, returns, strict=True):
            for each in (source, *self._names_at.get(source, ())):
                self.calls[back].add((each, callee))
                self.calls[callee].add((each, back))


def _filled_lengths(tables: Tables, to_end: Costs, byte: Costs, token: float) -> Costs:
    """Return float64[states]: the least length to acceptance by way of at least one edge."""
    lengths = np.full(tables.state_count, inf)
    callee = to_end[tables.call_nonterminal + tables.state_count]
    for start, costs in (
        (tables.edge_start, byte[tables.edge_class] + to_end[tables.edge_target]),
        (tables.token_start, token + to_end[tables.token_target]),
        (tables.call_start, callee + to_end[tables.call_return]),
    ):
        np.minimum.at(lengths, _sources(start), costs)
    return lengths


def _sources(start: Ids) -> Ids:
    """Return the state that each column of ``start`` slices belongs to."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))
