"""The search for texts that distinguish two components: shortest first, until there are no more.

Both components are recognised at once: the item sets of ``recognise`` run all their derivations in
parallel, which is the subset construction, made as far as it is needed. A nest is not walked at
each place where it is. What a place needs of it is which of the nests that may occur there a
text between brackets is: its *kind*, a set of nests. For each set that may occur somewhere, a
*level* of its own finds the kinds that there are, each with a shortest text, and every place that
waits for the set goes on with each of them. Levels wait for each other, and for themselves, so
kinds are a least fixpoint: the summaries of Sharir & Pnueli (1981), which make determinised visibly
pushdown automata finite. Where one nest alone may occur there is nothing to find out.

Texts are seen in the order of their lengths (Knuth 1977, "A Generalization of Dijkstra's
Algorithm"). When all nodes have been visited, the languages differ in the witnesses found and in
nothing else; that the search ends is the proof.

Tests: tests/unit/diff
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from math import inf
from typing import NamedTuple, TypeAlias

from kbnf_core.automata.dfa import legible_bytes
from kbnf_core.diff.machine import Machine, write_tables
from kbnf_core.ir import TokenTerminal
from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.closing import byte_costs
from kbnf_core.recognise.states import BOTTOM, DEAD, StateTable
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError

Kind: TypeAlias = frozenset[int]
"""Nests that a text between brackets is, all at once."""

Text: TypeAlias = tuple[bytes | TokenTerminal, ...]
"""A text; tokens that a grammar names by id have no bytes."""

TOP: Kind = frozenset()
"""The level of whole texts."""

LEFT, RIGHT = 0, 1

MOST_BYTES = 100_000
"""The longest witness that is written down; nests double texts easily. A longer one ends a search.
"""

_EXACT = 2**53
"""Lengths are floating-point numbers: up to this one they are exact."""

_POSITIONS = 16
"""Positions of a state that a transition looks at in the time of a step."""


Over: TypeAlias = tuple[bool, bool]
"""Which sides have ended, as eager ones do."""


class _Position(NamedTuple):
    """Where a search is: in a level, at a state of the recogniser; sides that were over before."""

    level: Kind
    state: int
    over: Over = (False, False)


class _Read(NamedTuple):
    """The symbol read on the way to a node: byte class, token or component; or a kind of text."""

    symbol: int
    nests: Kind = frozenset()
    kind: Kind = frozenset()


_START = _Read(-1)


@dataclass(slots=True)
class _SearchLevel:
    """The kinds found for a set of nests, where each was, and the places that wait for more."""

    kinds: dict[Kind, tuple[int, _Position]] = field(default_factory=dict)
    waiting: list[tuple[_Position, Over, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Witness:
    """A text on one side only; ``passed`` are states on the way, and the symbols read there."""

    text: Text
    length: int
    passed: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class SearchOutcome:
    """The result of a search: a shortest text on the left only, and on the right only.

    ``complete`` says that there are no others; if not, all texts of ``below`` bytes and fewer
    have been looked at.
    """

    witnesses: tuple[Witness | None, Witness | None]
    complete: bool
    below: int


class Search:
    """Compares the starts of a machine; ``is_symbol`` as in ``write_tables``, nests always are.

    ``eager[side]`` says that texts of a side end where they are complete first. ``known``
    witnesses are not looked for.
    """

    def __init__(
        self,
        machine: Machine,
        is_symbol: Callable[[int, int], bool],
        texts: "ComponentTexts",
        eager: Over,
        witnesses: Sequence[Witness | None],
        budget: Budget,
    ) -> None:
        self._machine = machine
        self._texts = texts
        self._eager = eager
        self._budget = budget
        self.states = StateTable(write_tables(machine, is_symbol, budget))
        self._first = len(machine.terminals)
        self._levels: dict[Kind, _SearchLevel] = {}
        self._length: dict[_Position, int] = {}
        self._way: dict[_Position, tuple[_Position, _Read]] = {}
        self._heap: list[tuple[int, int, _Position]] = []
        self._order = count()
        self._is_beyond = False
        self._reported: dict[tuple[int, frozenset[int]], frozenset[int]] = {}
        self._witnesses = list(witnesses)

    def run(self) -> SearchOutcome:
        """Search until both sides have a witness, all is seen, or the budget is used up."""
        begin = self._begin(frozenset(self._machine.starts))
        self._reach(_Position(TOP, begin), 0, (_Position(TOP, begin), _START))
        below = -1
        try:
            while self._heap and None in self._witnesses and not self._is_beyond:
                length, _, node = heapq.heappop(self._heap)
                # Entries of the heap are not updated: one of a larger length was replaced.
                if length == self._length[node]:
                    if node.level == TOP:
                        # Lengths leave the heap in order, so all shorter texts have been seen.
                        below = min(length - 1, _EXACT)
                    self._visit(node, length)
        except WorkLimitError:
            return SearchOutcome((self._witnesses[0], self._witnesses[1]), False, below)
        return SearchOutcome((self._witnesses[0], self._witnesses[1]), not self._is_beyond, below)

    def _begin(self, components: Kind) -> int:
        return self.states.enter(sorted(components))

    def _reach(self, node: _Position, length: int, way: tuple[_Position, _Read]) -> None:
        # Dijkstra: a node is reached again only by a shorter way.
        if node.state != DEAD and length < self._length.get(node, length + 1):
            self._length[node] = length
            self._way[node] = way
            heapq.heappush(self._heap, (length, next(self._order), node))

    def _visit(self, node: _Position, length: int) -> None:
        states, state = self.states, node.state
        positions = sum(1 + len(states.items.items(items)) for _, items in states.pairs(state))
        # A step over a state costs as much as it has positions, which ambiguity multiplies.
        self._budget.spend(1 + positions)
        ends = frozenset(states.completions(state))
        over = node.over
        if node.level != TOP:
            if ends:
                # Inside of nests, their ends are kinds of texts between the brackets.
                self._settle(node, ends & node.level, length)
        else:
            over = self._end(node, ends)
            if self._is_pointless(state, over):
                return
        for symbol in states.live_classes(state):
            self._budget.spend(1 + positions // _POSITIONS)
            after = _Position(node.level, states.step(state, symbol), over)
            self._reach(after, length + 1, (node, _Read(symbol)))
        self._visit_symbols(node, over, length)

    def _end(self, node: _Position, ends: Kind) -> Over:
        """Note a difference; return which sides are over."""
        starts = self._machine.starts
        takes = [start in ends and not o for start, o in zip(starts, node.over, strict=True)]
        for side in (LEFT, RIGHT):
            if takes[side] and not takes[1 - side] and self._witnesses[side] is None:
                if self._length[node] > MOST_BYTES:
                    self._is_beyond = True
                else:
                    self._witnesses[side] = self._witness(node)
        ended = zip(node.over, takes, self._eager, strict=True)
        left, right = (before or (now and eager) for before, now, eager in ended)
        return left, right

    def _is_pointless(self, state: int, over: Over) -> bool:
        """Return whether the rest can be on no side, or only on one that has its witness."""
        if all(over):
            return True
        if self._witnesses == [None, None]:
            return False
        alive = self._alive(state)
        sides = [
            side for side in (LEFT, RIGHT) if not over[side] and self._machine.starts[side] in alive
        ]
        return len(sides) < 2 and all(self._witnesses[side] is not None for side in sides)

    def _visit_symbols(self, node: _Position, over: tuple[bool, bool], length: int) -> None:
        groups: dict[int, set[int]] = {}
        for terminal in sorted(self.states.token_terminals(node.state)):
            component = terminal - self._first
            # Nests that open with the same bracket are read together: the bracket does not choose.
            if component in self._machine.nests:
                groups.setdefault(self._machine.nests[component], set()).add(component)
                continue
            size = 1 if component < 0 else self._texts.length(component)
            if size is not None:
                read = _Read(self._texts.class_count + terminal)
                self._go_on(node, over, frozenset((terminal,)), length + size, read)
        for nests in groups.values():
            self._visit_nests(node, over, frozenset(nests), length)

    def _go_on(
        self, node: _Position, over: tuple[bool, bool], terminals: Kind, length: int, read: _Read
    ) -> None:
        self._budget.spend(5)
        after = self.states.step_token(node.state, terminals)
        self._reach(_Position(node.level, after, over), length, (node, read))

    def _visit_nests(
        self, node: _Position, over: tuple[bool, bool], nests: Kind, length: int
    ) -> None:
        level = self._levels.get(nests)
        if level is None:
            level = self._levels[nests] = _SearchLevel()
            # One nest needs no search: its shortest text is known, whatever the other side does.
            if len(nests) > 1:
                begin = _Position(nests, self._begin(nests))
                self._reach(begin, 0, (begin, _START))
        if len(nests) == 1:
            size = self._texts.length(next(iter(nests)))
            if size is not None:
                self._resume(node, over, nests, nests, length + size)
            return
        # Kinds found later resume the callers that wait now; those found before do so at once.
        level.waiting.append((node, over, length))
        for kind, (size, _) in level.kinds.items():
            self._resume(node, over, nests, kind, length + size)

    def _settle(self, node: _Position, kind: Kind, length: int) -> None:
        level = self._levels[node.level]
        # Only the shortest text of a kind can be part of a shortest difference.
        if kind in level.kinds and level.kinds[kind][0] <= length:
            return
        level.kinds[kind] = (length, node)
        for waiting, over, before in level.waiting:
            self._resume(waiting, over, node.level, kind, before + length)

    def _resume(
        self, node: _Position, over: tuple[bool, bool], nests: Kind, kind: Kind, length: int
    ) -> None:
        terminals = frozenset(self._first + nonterminal for nonterminal in kind)
        self._go_on(node, over, terminals, length, _Read(-1, nests, kind))

    def _alive(self, state: int) -> frozenset[int]:
        """Return the starts that have not died."""
        result: frozenset[int] = frozenset()
        for origin, item_set in self.states.pairs(state):
            result |= self._below(origin, self.states.items.reports(item_set))
        return result

    def _below(self, origin: int, reports: frozenset[int]) -> frozenset[int]:
        """Return the starts that something reports to, from stack node to stack node."""
        cached = self._reported.get((origin, reports))
        if cached is not None:
            return cached
        below: set[int] = set()
        seen = {(origin, report) for report in reports}
        queue = list(seen)
        for node, report in queue:
            if node == BOTTOM:
                below.add(report)
                continue
            waiting = self.states.stack.waiting(node, report)
            self._budget.spend(1 + len(waiting) // _POSITIONS)
            fresh = {
                (to, more) for to, items in waiting for more in self.states.items.reports(items)
            }
            queue.extend(fresh - seen)
            seen |= fresh
        self._reported[origin, reports] = frozenset(below)
        return self._reported[origin, reports]

    def _witness(self, node: _Position) -> Witness:
        """Return the text that led to a place; texts between brackets are looked up."""
        texts: list[Text] = []
        passed: list[tuple[int, int]] = []
        stack = [iter(self._reads(node))]
        while stack:
            state, read = next(stack[-1], (DEAD, _START))
            if state == DEAD:
                stack.pop()
            elif len(read.nests) > 1:
                stack.append(iter(self._reads(self._levels[read.nests].kinds[read.kind][1])))
            elif read.nests:
                texts.append(self._texts.of(next(iter(read.nests))))
            else:
                passed.append((state, read.symbol))
                texts.append(self._texts.spelt(read.symbol))
        text = joined(chunk for text_of in texts for chunk in text_of)
        return Witness(text, self._length[node], tuple(passed))

    def _reads(self, node: _Position) -> list[tuple[int, _Read]]:
        """Return the states on the way to a node within its level, and the symbol read there."""
        result: list[tuple[int, _Read]] = []
        before, read = self._way[node]
        while read != _START:
            result.append((before.state, read))
            before, read = self._way[before]
        return result[::-1]


def joined(symbols: Iterable[bytes | TokenTerminal]) -> Text:
    """Return a text in which neighbouring bytes are one piece."""
    result: list[bytes | TokenTerminal] = []
    for symbol in symbols:
        last = result[-1] if result else None
        if isinstance(symbol, bytes) and isinstance(last, bytes):
            result[-1] = last + symbol
        else:
            result.append(symbol)
    return tuple(result)


class ComponentTexts:
    """A shortest text of each component, none for those without any; spelt legibly."""

    def __init__(self, machine: Machine, tables: Tables) -> None:
        self._machine = machine
        self._spelling = [bytes([byte]) for byte in legible_bytes(machine.classes)]
        self.class_count = len(self._spelling)
        self._count = len(machine.accepting)
        self._lengths = byte_costs(tables, 1).costs().tolist()
        self._by_component: dict[int, Text] = {}

    def length(self, component: int) -> int | None:
        """Return the length of a shortest text."""
        result = self._lengths[self._count + component]
        return None if result == inf else int(result)

    def of(self, component: int) -> Text:
        """Return a shortest text, which there must be."""
        stack = [component]
        while stack:
            way = self._way(stack[-1])
            called = (callee for callee in map(self._called, way) if callee is not None)
            missing = [callee for callee in called if callee not in self._by_component]
            if missing:
                stack.extend(missing)
                continue
            chunks = [chunk for symbol in way for chunk in self.spelt(symbol)]
            self._by_component[stack.pop()] = joined(chunks)
        return self._by_component[component]

    def spelt(self, symbol: int) -> Text:
        """Return the text of a symbol: a byte class, a token, or a component that is known."""
        if symbol < self.class_count:
            return (self._spelling[symbol],)
        component = self._called(symbol)
        if component is None:
            return (self._machine.terminals[symbol - self.class_count],)
        return (
            self.of(component)
            if component not in self._by_component
            else self._by_component[component]
        )

    def _called(self, symbol: int) -> int | None:
        component = symbol - self.class_count - len(self._machine.terminals)
        return component if component >= 0 else None

    def _way(self, component: int) -> list[int]:
        """Return the symbols on a shortest way through a component."""
        machine, lengths = self._machine, self._lengths
        first = self.class_count + len(machine.terminals)
        state, left = machine.entry[component], lengths[self._count + component]
        way: list[int] = []
        while left:
            costs = (
                *((symbol, 1.0, to) for symbol, to in machine.steps[state]),
                *((self.class_count + t, 1.0, to) for t, to in machine.tokens[state]),
                *((first + c, lengths[self._count + c], to) for c, to in machine.calls[state]),
            )
            symbol, cost, state = next(step for step in costs if step[1] + lengths[step[2]] == left)
            left -= cost
            way.append(symbol)
        return way
