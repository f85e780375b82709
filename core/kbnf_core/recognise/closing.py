"""Closing: whether the states of a grammar are finitely many, which they are, and what if not.

States are numbered by content, so a text that comes back to an earlier situation comes back to its
state, and a grammar without recursion in the midst of a rule has finitely many. Such recursion,
``value ::= '[' value ']'``, has a state for every depth; left recursion and tail calls have not.

Distances to the end: the length of a shortest completion of the start, by state.

Lengths within one nonterminal come from Knuth, "A Generalization of Dijkstra's Algorithm" (1977):
the least cost to acceptance of all automaton states at once, a call costing what its nonterminal
costs. A state of the recogniser adds the cost of what waits for the nonterminals that its items
report, from stack node to stack node down to BOTTOM; that cost is memoised per stack node.

What is counted (``lower.counts``) has lengths by arithmetic: from a row to the end of what is being
repeated, as often the least that is repeated as it still must come, and what comes after.
"""

import heapq
from collections import defaultdict
from collections.abc import Callable, Iterable
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from kbnf_core.ir.analysis import callees_first, cyclic_components
from kbnf_core.lower.tables import Ids, Tables
from kbnf_core.recognise.states import BOTTOM, DEAD, SELF, StateTable
from kbnf_core.text.budget import Budget

Costs = npt.NDArray[np.float64]


class DistanceToEnd:
    """Shortest lengths for the states of one table; edges of infinite cost are never taken.

    ``byte``: float64[byte classes], what a byte of each class counts. ``token``: what a token
    terminal does.
    """

    def __init__(self, states: StateTable, byte: Costs, token: float) -> None:
        self._states = states
        self._rules = _Rules(states.tables, byte, token)
        self._to_end = self._rules.lengths()
        self._beyond = self._rules.filled(self._to_end)
        self._counts = _Counts(states.tables, self._rules, self._to_end)
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
                best = min(best, self._filled(position) + upward.get(report, inf))
        return float(best)

    def most_above(self, state: int, budget: Budget) -> float:
        """Return the greatest length after what any frame of a state's stacks waits for.

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

    def most_open(self, longest: int) -> float:
        """Return a bound of the least length to the end of a nonterminal, from wherever in it.

        See ``most_left_open``.
        """
        return most_left_open(self._states.tables, self._most, longest)

    def _most(self, position: int) -> float:
        """Return the greatest length from a state of the tables, whatever was counted."""
        if self._counts.has(position):
            return self._counts.most(position)
        return float(self._to_end[position])

    def _filled(self, position: int) -> float:
        """Return the least length from a position by way of at least one edge."""
        if self._counts.has(position):
            return self._counts.filled(position)
        return float(self._beyond[position])

    def _length(self, position: int) -> float:
        if self._counts.has(position):
            return self._counts.length(position)
        return float(self._to_end[position])

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
                found[report] = min(found.get(report, inf), self._length(position))
        return found


def most_left_open(tables: Tables, to_end: Callable[[int], float], longest: int) -> float:
    """Return a bound of the least length to the end of a nonterminal, wherever a text within it is.

    That may be in the midst of nonterminals that it calls. Where these nest without end it holds
    after ``longest`` bytes: each opens a nonterminal at most once.
    """
    own: dict[int, float] = {}
    calls: dict[int, dict[int, float]] = {}
    for name, entry in enumerate(tables.entry.tolist()):
        states = states_of(tables, entry)
        own[name] = max(to_end(each) for each in states)
        called = calls[name] = {}
        for state in states:
            for call in range(tables.call_start[state], tables.call_start[state + 1]):
                callee = int(tables.call_nonterminal[call])
                behind = to_end(int(tables.call_return[call]))
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
    entry once more, but not accepting. Of a row of a loop it is the length to the end of what is
    repeated.
    """
    return _Rules(tables, byte, token).lengths()


class _Rules:
    """The reversed tables: for each node, the nodes whose lengths depend on it.

    ``edges[node]`` are (source, cost); ``calls[node]`` are (source, the other part of the sum).
    ``times[node]`` is (source, factor). Behind the nonterminals come three kinds of nodes of
    counts: what each loop repeats, that as often as it must come again, and by row with which one
    begins all from there on.
    """

    def __init__(self, tables: Tables, byte: Costs, token: float) -> None:
        self._tables = tables
        self._byte, self._token = byte, token
        self._first_name = tables.state_count
        self._loop_of = tables.loops.of if len(tables.loops.of) else np.full(self._first_name, -1)
        self._names_at: dict[int, list[int]] = defaultdict(list)
        for name, entry in enumerate(tables.entry.tolist()):
            self._names_at[entry].append(self._first_name + name)
        self.edges: dict[int, set[tuple[int, float]]] = defaultdict(set)
        self.calls: dict[int, set[tuple[int, int]]] = defaultdict(set)
        self.times: dict[int, tuple[int, int]] = {}
        self._count = self._first_name + len(tables.names)
        # What a state is that is entered from outside of its loop; and the rows at which one ends.
        self.entered = np.arange(tables.state_count)
        self._ends: set[int] = set()
        self.again: list[int] = []
        if len(tables.loops.low):
            self._add_loops(tables)
        sources = _sources(tables.edge_start)
        self._add_edges(sources, tables.edge_target, byte[tables.edge_class])
        token_costs = np.full(len(tables.token_target), token)
        self._add_edges(_sources(tables.token_start), tables.token_target, token_costs)
        self._add_calls(tables)

    def _add_loops(self, tables: Tables) -> None:
        loops, first = tables.loops, self._count
        count = len(loops.low)
        self.again = list(range(first, first + count))
        self._count += 2 * count
        for loop, low in enumerate(loops.low.tolist()):
            if low > 1:
                self.times[first + loop] = first + count + loop, low - 1
        for state in np.flatnonzero(
            (loops.begins == 1) & (loops.is_below[loops.row] == 0)
        ).tolist():
            last, loop = int(loops.last[loops.row[state]]), int(loops.of[state])
            self.entered[state] = self._count
            if loops.low[loop] > 1:
                self.calls[first + count + loop].add((self._count, last))
                self.calls[last].add((self._count, first + count + loop))
            else:
                self.edges[last].add((self._count, 0))
            self._count += 1

    def _targets(self, sources: Ids, targets: Ids) -> Ids:
        """Return the nodes that edges lead to, -1 for those that leave a loop."""
        inside = self._loop_of[sources]
        found = np.where(inside >= 0, targets, self.entered[targets])
        leaves = (inside >= 0) & (self._loop_of[targets] != inside)
        return np.where(leaves, -1, found)

    def _sources_of(self, source: int, target: int) -> Iterable[int]:
        """Return the nodes that have an edge; notes rows at which what is repeated ends."""
        loops = self._tables.loops
        if len(loops.of) and loops.of[source] >= 0 and loops.begins[target]:
            self._ends.add(source)
            return (source, *([] if loops.is_below[loops.row[source]] else [self._again(source)]))
        return (source, *self._names_at.get(source, ()))

    def _again(self, row: int) -> int:
        return self.again[int(self._loop_of[row])]

    def _add_edges(self, sources: Ids, targets: Ids, costs: Costs) -> None:
        nodes = self._targets(sources, targets)
        taken = (costs < inf) & (nodes >= 0)
        columns = (column[taken].tolist() for column in (sources, nodes, costs))
        for source, target, cost in zip(*columns, strict=True):
            for each in self._sources_of(source, target):
                self.edges[target].add((each, cost))

    def _add_calls(self, tables: Tables) -> None:
        sources = _sources(tables.call_start)
        nodes = self._targets(sources, tables.call_return)
        called = (tables.call_nonterminal + self._first_name).tolist()
        for source, callee, back in zip(sources.tolist(), called, nodes.tolist(), strict=True):
            for each in self._sources_of(source, back) if back >= 0 else ():
                self.calls[back].add((each, callee))
                self.calls[callee].add((each, back))

    def lengths(self) -> Costs:
        """Return the least length of each node; see ``lengths_to_end``."""
        found = np.full(self._count, inf)
        ends = np.flatnonzero(self._tables.accepting & (self._loop_of < 0)).tolist()
        heap = [(0.0, state) for state in sorted({*ends, *self._ends})]
        while heap:
            length, node = heapq.heappop(heap)
            if found[node] < inf:
                continue
            found[node] = length
            if node in self.times:
                source, factor = self.times[node]
                heapq.heappush(heap, (length * factor, source))
            for source, cost in self.edges[node]:
                heapq.heappush(heap, (length + cost, source))
            for source, other in self.calls[node]:
                if found[other] < inf:
                    heapq.heappush(heap, (length + float(found[other]), source))
        return found

    def filled(self, to_end: Costs) -> Costs:
        """Return float64[states]: the least length to acceptance by way of at least one edge.

        Rows of loops have none.
        """
        lengths = np.full(self._tables.state_count, inf)
        for start, targets, costs in self.costs(to_end):
            sources = _sources(start)
            nodes = self._targets(sources, targets)
            np.minimum.at(lengths, sources, np.where(nodes >= 0, costs + to_end[nodes], inf))
        return lengths

    def costs(self, to_end: Costs) -> Iterable[tuple[Ids, Ids, Costs]]:
        """Yield the edges of each kind: where those of a state start, targets, and costs."""
        tables = self._tables
        yield tables.edge_start, tables.edge_target, self._byte[tables.edge_class]
        tokens = np.full(len(tables.token_target), self._token)
        yield tables.token_start, tables.token_target, tokens
        callee = to_end[tables.call_nonterminal + tables.state_count]
        yield tables.call_start, tables.call_return, callee


class _Counts:
    """The lengths from what is counted, by its name outside: ``row + (1 + count) * states``."""

    def __init__(self, tables: Tables, rules: _Rules, to_end: Costs) -> None:
        self._rules = rules
        self._tables = tables
        self._to_end = to_end
        loops = self._tables.loops
        self._behind = np.full(len(loops.low), inf)
        for row in np.flatnonzero(loops.last >= 0).tolist():
            if to_end[row] < inf:
                self._behind[loops.of[row]] = to_end[loops.last[row]] - to_end[row]

    def has(self, position: int) -> bool:
        """Tell whether a position is counted, or a row of a loop: enough came before."""
        loops = self._tables.loops
        return len(loops.of) > 0 and bool(loops.of[position % self._tables.state_count] >= 0)

    def _place(self, position: int) -> tuple[int, int]:
        """Return the row, and the count."""
        count, row = divmod(position, self._tables.state_count)
        return row, count - 1 if count else int(self._tables.loops.low[self._tables.loops.of[row]])

    def length(self, position: int) -> float:
        """Return the length to acceptance."""
        return self._from(*self._place(position))

    def most(self, position: int) -> float:
        """Return the length to acceptance where nothing was counted yet."""
        return self._from(int(self._tables.loops.row[position]), 0)

    def _from(self, row: int, count: int) -> float:
        loop = int(self._tables.loops.of[row])
        missing = max(0, int(self._tables.loops.low[loop]) - count)
        again = missing * self._to_end[self._rules.again[loop]] if missing else 0
        return float(self._to_end[row] + again + self._behind[loop])

    def filled(self, position: int) -> float:
        """Return the length to acceptance by way of at least one edge."""
        row, count = self._place(position)
        return self._from(row, count) or self._beyond(row, count)

    def _beyond(self, row: int, count: int) -> float:
        """Return the length by way of at least one edge, where there is one of none."""
        best = inf
        for start, targets, costs in self._rules.costs(self._to_end):
            for edge in range(start[row], start[row + 1]):
                best = min(best, float(costs[edge]) + self._after(row, count, int(targets[edge])))
        return best

    def _after(self, row: int, count: int, target: int) -> float:
        loops = self._tables.loops
        loop = int(loops.of[row])
        if loops.of[target] != loop:
            return float(self._to_end[self._rules.entered[target]])
        if not loops.begins[target]:
            return self._from(target, count)
        stands_for = int(loops.row[target])
        if count + 1 == loops.high[loop]:
            return float(self._to_end[loops.last[stands_for]])
        return self._from(stands_for, count + 1)


def _sources(start: Ids) -> Ids:
    """Return the state that each column of ``start`` slices belongs to."""
    return np.repeat(np.arange(len(start) - 1, dtype=np.int32), np.diff(start))


MOST_STATES = 4096
"""States of a table, unless more are asked for."""


class Closing(NamedTuple):
    """The states met, breadth first from the initial one; all there are if ``closed``."""

    states: list[int]
    closed: bool


def close_states(
    states: StateTable,
    most: int,
    classes: Iterable[int],
    by_token: Callable[[int], Iterable[int]],
    eager: bool = False,
) -> Closing:
    """Return the first ``most`` states that bytes of ``classes`` and tokens lead to.

    ``by_token(state)``: the states after tokens that are more than their bytes. ``eager``: nothing
    follows what is complete.
    """
    readable = frozenset(classes)
    met = {states.initial}
    order = [states.initial]
    for state in order:
        if eager and states.explorer.completes(state):
            continue
        after = (
            states.step(state, each) for each in states.live_classes(state) if each in readable
        )
        for found in (*after, *by_token(state)):
            if found != DEAD and found not in met:
                if len(order) == most:
                    return Closing(order, False)
                met.add(found)
                order.append(found)
    return Closing(order, True)


def close_grammar(tables: Tables, most: int) -> Closing:
    """Return the first ``most`` states of a grammar over every vocabulary that has all bytes."""
    states = StateTable(tables)

    def by_token(state: int) -> Iterable[int]:
        return [states.step_token(state, frozenset((t,))) for t in states.token_terminals(state)]

    return close_states(states, most, range(tables.class_count), by_token)


def endless_rules(tables: Tables) -> list[int]:
    """Return the nonterminals that nest: that call themselves, with text before and after.

    There depth has no bound, and every depth is a state. A call in front of all text (left
    recursion) alone goes no deeper, and neither does one after all text (a tail call).
    """
    calls = _calls(tables)
    graph: dict[int, list[int]] = {each: [] for each in range(len(tables.entry))}
    for call in calls:
        graph[call.caller].append(call.callee)
    found: list[int] = []
    for members in cyclic_components(graph):
        within = [each for each in calls if each.caller in members and each.callee in members]
        if any(each.follows for each in within) and any(each.is_followed for each in within):
            found.extend(members)
    return sorted(found)


def why_not_closed(tables: Tables, most: int) -> str:
    """Return in a sentence why a grammar has more than ``most`` states, and what to change."""
    beyond = f"it has more than {most:,} states"
    nesting = endless_rules(tables)
    if nesting:
        callers = {each.caller for each in _calls(tables) if each.callee in nesting}
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
    names = list(dict.fromkeys(tables.names[each].partition("#")[0] for each in nonterminals))
    return ", ".join(f"`{name}`" for name in names[:3]) + (", ..." if names[3:] else "")


def longest_rule(tables: Tables) -> tuple[int, int]:
    """Return the nonterminal with the most positions, and how many: one for each count."""
    times = np.ones(tables.state_count, np.int64)
    inside = np.flatnonzero(tables.loops.of >= 0)
    times[inside] = np.maximum(tables.loops.low, tables.loops.high)[tables.loops.of[inside]]
    counts = [int(times[states_of(tables, entry)].sum()) for entry in tables.entry.tolist()]
    most = max(counts)
    return counts.index(most), most


class _Call(NamedTuple):
    """A call: whether it may follow text of the caller, and be followed by text."""

    caller: int
    callee: int
    follows: bool
    is_followed: bool


def _calls(tables: Tables) -> list[_Call]:
    return [
        _Call(
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
            fresh = [each for each in dict.fromkeys(after) if each not in met]
            met.update(fresh)
            order.extend(fresh)
    return order
