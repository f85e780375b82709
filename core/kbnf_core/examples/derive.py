"""Earley parsing (1970): finds the states that the derivations of a text go through.

A grammar is one nondeterministic automaton a rule, with every alternative kept apart. An item is a
state and the position at which its rule began. Each remembers what led to it, so that the
derivations can be followed back from the end of the text.
"""

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TypeAlias

from kbnf_core.automata.dfa import DEAD
from kbnf_core.ir import Call, Choice, Grammar, Literal, Node, Regular, Repeat, Sequence, Token
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.split import split_large
from kbnf_core.text.source import Span

Scan: TypeAlias = Literal | Regular


@dataclass(frozen=True, slots=True)
class Alternative:
    """One of several branches at one place of a rule."""

    rule: str
    span: Span


@dataclass(slots=True)
class State:
    """What leads away: without text, over a text, or over a rule, each with a target."""

    epsilons: list[int] = field(default_factory=list)
    scans: list[tuple[Scan, int]] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)


@dataclass(slots=True)
class Graph:
    """``entry[rule]`` is the first state, ``accept`` tells of which rule a state is the last.

    ``alternatives`` tells which alternative begins with a state.
    """

    states: list[State] = field(default_factory=list)
    entry: dict[str, int] = field(default_factory=dict)
    accept: dict[int, str] = field(default_factory=dict)
    alternatives: dict[int, Alternative] = field(default_factory=dict)

    def add_state(self) -> int:
        """Return a new state that leads nowhere."""
        self.states.append(State())
        return len(self.states) - 1


def build_graph(grammar: Grammar) -> Graph:
    """Return the automata of all rules. Token terminals lead nowhere: they have no text."""
    graph = Graph()
    for name, body in split_large(grammar, analyse(grammar)).rules.items():
        begin, end = graph.add_state(), graph.add_state()
        graph.entry[name] = begin
        graph.accept[end] = name
        # Parts that were split off are named after their rule.
        rule = name.partition("#")[0]
        work: list[tuple[Node, int, int]] = [(body, begin, end)]
        while work:
            work.extend(_connect(graph, rule, *work.pop()))
    return graph


def _connect(
    graph: Graph, rule: str, node: Node, begin: int, end: int
) -> list[tuple[Node, int, int]]:
    """Add what leads from ``begin`` over ``node`` to ``end``; return the parts still to add."""
    match node:
        case Literal() | Regular():
            graph.states[begin].scans.append((node, end))
        case Call(name):
            graph.states[begin].calls.append((name, end))
        case Token():
            pass
        case Sequence(parts):
            return _chain(graph, parts, begin, end)
        case Choice(branches):
            return [(branch, _branch(graph, rule, branch, begin), end) for branch in branches]
        case Repeat():
            return _repeat(graph, node, begin, end)
    return []


def _chain(
    graph: Graph, parts: tuple[Node, ...], begin: int, end: int
) -> list[tuple[Node, int, int]]:
    stops = [begin, *(graph.add_state() for _ in parts)]
    graph.states[stops[-1]].epsilons.append(end)
    return list(zip(parts, stops, stops[1:], strict=False))


def _branch(graph: Graph, rule: str, branch: Node, begin: int) -> int:
    state = graph.add_state()
    graph.states[begin].epsilons.append(state)
    if not isinstance(branch, Choice):
        graph.alternatives[state] = Alternative(rule, branch.span)
    return state


def _repeat(graph: Graph, node: Repeat[Node], begin: int, end: int) -> list[tuple[Node, int, int]]:
    optional = 0 if node.high is None else node.high - node.low
    parts = _chain(graph, (node.body,) * (node.low + optional), begin, end)
    for _, state, _ in parts[node.low :]:
        graph.states[state].epsilons.append(end)
    if node.high is None:
        loop = graph.add_state()
        last = parts[-1][2] if parts else begin
        graph.states[last].epsilons.append(loop)
        graph.states[loop].epsilons.append(end)
        parts.append((node.body, loop, loop))
    return parts


MAX_STEPS = 2_000_000
"""Steps after which a text is given up."""

Item: TypeAlias = tuple[int, int]
Place: TypeAlias = tuple[Item, int]
"""An item, and the position in the text at which it is."""


@dataclass(slots=True)
class _Column:
    """The items at one position, the waiting ones by rule, and the rules nullable there."""

    causes: dict[Item, list[tuple[Place, ...]]] = field(default_factory=dict)
    work: list[Item] = field(default_factory=list)
    waiting: dict[str, list[tuple[Item, int]]] = field(default_factory=lambda: defaultdict(list))
    empty: dict[str, Item] = field(default_factory=dict)


def visited_states(graph: Graph, start: str, data: bytes) -> frozenset[int] | None:
    """Return the states that some derivation of ``data`` goes through.

    Empty where there is no derivation; None where finding out takes too long.
    """
    chart = Chart(graph, data, MAX_STEPS)
    if not chart.fill(start):
        return None
    return chart.trace(start)


class Chart:
    """The columns of one text: the items at each position, and what led to them.

    ``unfinished`` are the items whose terminal the rest of the text begins.
    """

    def __init__(self, graph: Graph, data: bytes, max_steps: int) -> None:
        self._graph = graph
        self._data = data
        self._columns = [_Column() for _ in range(len(data) + 1)]
        self._ends: dict[tuple[int, int], list[int]] = {}
        self._reaching: set[tuple[int, int]] = set()
        self._steps = 0
        self._max_steps = max_steps
        self.unfinished: list[Place] = []

    def fill(self, start: str) -> bool:
        """Work out all items; tell whether that came to an end."""
        self._add(0, (self._graph.entry[start], 0), ())
        for position, column in enumerate(self._columns):
            while column.work:
                if self._steps > self._max_steps:
                    return False
                self._advance(position, column.work.pop())
        return True

    def complete(self, start: str) -> list[Place]:
        """Return the items at which the whole text is derived."""
        last = len(self._data)
        return [
            ((state, 0), last)
            for state, rule in self._graph.accept.items()
            if rule == start and (state, 0) in self._columns[last].causes
        ]

    def first_cause(self, place: Place) -> tuple[Place, ...]:
        """Return what led to an item first, none where its rule begins.

        Following first causes comes to an end: each was there before what it led to.
        """
        item, position = place
        return next(iter(self._columns[position].causes[item]), ())

    def callers(self, rule: str, position: int) -> list[Place]:
        """Return the items that wait for a rule which begins at a position."""
        return [(item, position) for item, _ in self._columns[position].waiting[rule]]

    def at_end(self) -> list[Place]:
        """Return the items behind the whole text."""
        last = len(self._data)
        return [(item, last) for item in self._columns[last].causes]

    def trace(self, start: str) -> frozenset[int]:
        """Return the states of the items from which the end of the text is reached."""
        pending = self.complete(start)
        seen = set(pending)
        while pending:
            item, position = pending.pop()
            for cause in self._columns[position].causes[item]:
                fresh = [place for place in cause if place not in seen]
                seen.update(fresh)
                pending.extend(fresh)
        return frozenset(state for (state, _), _ in seen)

    def _add(self, position: int, item: Item, cause: tuple[Place, ...]) -> None:
        self._steps += 1
        column = self._columns[position]
        if item not in column.causes:
            column.causes[item] = []
            column.work.append(item)
        if cause:
            column.causes[item].append(cause)

    def _advance(self, position: int, item: Item) -> None:
        state, origin = item
        here: Place = (item, position)
        moves = self._graph.states[state]
        for target in moves.epsilons:
            self._add(position, (target, origin), (here,))
        for scan, target in moves.scans:
            for end in self._scan_ends(scan, position):
                self._add(end, (target, origin), (here,))
            if (id(scan), position) in self._reaching:
                self.unfinished.append(here)
        for rule, target in moves.calls:
            self._call(position, item, rule, target)
        if state in self._graph.accept:
            self._complete(position, item, self._graph.accept[state])

    def _call(self, position: int, item: Item, rule: str, target: int) -> None:
        column = self._columns[position]
        column.waiting[rule].append((item, target))
        self._add(position, (self._graph.entry[rule], position), ())
        if rule in column.empty:
            self._return(position, item, position, column.empty[rule], target)

    def _complete(self, position: int, item: Item, rule: str) -> None:
        origin = item[1]
        if origin == position:
            self._columns[position].empty[rule] = item
        for caller, target in self._columns[origin].waiting[rule][:]:
            self._return(position, caller, origin, item, target)

    def _return(
        self, position: int, caller: Item, called_at: int, callee: Item, target: int
    ) -> None:
        cause = ((caller, called_at), (callee, position))
        self._add(position, (target, caller[1]), cause)

    def _scan_ends(self, scan: Scan, position: int) -> list[int]:
        key = (id(scan), position)
        if key not in self._ends:
            self._ends[key] = self._find_ends(scan, position)
        return self._ends[key]

    def _find_ends(self, scan: Scan, position: int) -> list[int]:
        if isinstance(scan, Literal):
            found = self._data.startswith(scan.data, position)
            if not found and scan.data.startswith(self._data[position:]):
                self._reaching.add((id(scan), position))
            return [position + len(scan.data)] if found else []
        ends = []
        state = DEAD if scan.dfa.is_empty else 0
        for end in range(position, len(self._data) + 1):
            if state == DEAD:
                break
            self._steps += 1
            if scan.dfa.accepting[state]:
                ends.append(end)
            if end < len(self._data):
                state = scan.dfa.rows[state][scan.dfa.classes[self._data[end]]]
        if state != DEAD:
            self._reaching.add((id(scan), position))
        return ends
