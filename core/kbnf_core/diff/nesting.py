"""Visible nesting: cutting grammars at brackets, so that the rest between them is flat.

Where brackets can be reported by the text alone, the grammars are *visibly pushdown* (Alur &
Madhusudan 2004): every grammar opens and closes them at the same places, and languages can be
compared. In JSON a bracket inside a string does not count; so a ``NestingView`` says which bytes
are brackets, and which bytes quote, and a small automaton that all texts share distinguishes quoted
from unquoted.

``cut`` gives each part of a component between matching brackets a component of its own, a nest, and
the place where it is a call of it. This is a balanced grammar (Berstel & Boasson 2002): over
bytes other than brackets, and nests as symbols, its components are flat. That applies only where
every component closes the brackets that it opens, within one way of quoting; others are named, for
the caller to write them out where they are called.

Tests: tests/unit/diff
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from kbnf_core.automata.dfa import first_bytes
from kbnf_core.diff.machine import EDGES, Machine
from kbnf_core.text.budget import Budget

UNQUOTED = 0


@dataclass(frozen=True, slots=True)
class NestingView:
    """Brackets that nest: ``opening[i]`` is closed by ``closing[i]``, outside of ``quotes``.

    A backslash between quotes takes the next byte with it.
    """

    opening: bytes
    closing: bytes
    quotes: bytes = b""

    @property
    def special(self) -> bytes:
        """The bytes that must be told apart."""
        return self.opening + self.closing + self.quotes + b"\\"

    def after(self, context: int, byte: int) -> int:
        """Return the context after a byte; odd ones are between quotes, even ones escaped."""
        if context == UNQUOTED:
            return 1 + 2 * self.quotes.index(byte) if byte in self.quotes else UNQUOTED
        if context % 2 == 0:
            return context - 1
        if byte == ord("\\"):
            return context + 1
        return UNQUOTED if byte == self.quotes[context // 2] else context


VIEWS = (
    NestingView(b"([{", b")]}", b'"'),
    NestingView(b"([{", b")]}", b"\"'"),
    NestingView(b"([{", b")]}"),
    NestingView(b"[{", b"]}", b'"'),
    NestingView(b"[{", b"]}"),
    NestingView(b"(", b")"),
)
"""Ways to look at texts, tried in this order: JSON's, programs', and without quotes."""


class Region(NamedTuple):
    """A component in a context, or, from the state after an opening bracket, its contents."""

    component: int | None
    state: int
    context: int


Node = tuple[int, int]
"""A state of the machine, and a context."""


@dataclass(slots=True)
class _RegionContent:
    """The nodes of a region, the contexts that it ends in, and the bracket that closes it."""

    nodes: dict[Node, None] = field(default_factory=dict)
    ends: dict[int, None] = field(default_factory=dict)
    closes: dict[tuple[int, int], None] = field(default_factory=dict)
    waiting: list[tuple[Region, int | None]] = field(default_factory=list)


class Unbalanced(NamedTuple):
    """The components that do not close their brackets, or not in one way of quoting."""

    components: frozenset[int]


def cut(
    machine: Machine, view: NestingView, owners: list[int], budget: Budget
) -> Machine | Unbalanced:
    """Return ``machine`` with nests, or the components that make it impossible.

    ``owners`` are the components that states belong to. Raises WorkLimitError.
    """
    return _Cut(machine, view, owners, budget).run()


class _Cut:
    def __init__(
        self, machine: Machine, view: NestingView, owners: list[int], budget: Budget
    ) -> None:
        self._machine = machine
        self._owners = owners
        self._budget = budget
        spelling = first_bytes(machine.classes)
        self._opening = {machine.classes[byte] for byte in view.opening}
        self._closing = {machine.classes[byte] for byte in view.closing}
        contexts = range(1 + 2 * len(view.quotes))
        self._after = [[view.after(context, byte) for byte in spelling] for context in contexts]
        self._regions: dict[Region, _RegionContent] = {}
        self._queue: list[tuple[Region, Node]] = []
        self._unbalanced: set[int] = set()

    def run(self) -> Machine | Unbalanced:
        roots = [self._component(start, UNQUOTED) for start in self._machine.starts]
        for region, node in self._queue:
            self._visit(region, *node)
        for region, content in self._regions.items():
            if region.component is not None and len(content.ends) > 1:
                self._unbalanced.add(region.component)
        for root in roots:
            if any(end != UNQUOTED for end in self._regions[root].ends):
                self._unbalanced.add(self._owners[root.state])
        if self._unbalanced:
            return Unbalanced(frozenset(self._unbalanced))
        writer = _NestWriter(
            self._machine, self._opening, self._closing, self._after, self._regions, self._budget
        )
        return writer.run(roots)

    def _component(self, component: int, context: int) -> Region:
        return self._open(Region(component, self._machine.entry[component], context))

    def _open(self, region: Region) -> Region:
        if region not in self._regions:
            self._regions[region] = _RegionContent()
            self._add(region, (region.state, region.context))
        return region

    def _add(self, region: Region, node: Node) -> None:
        nodes = self._regions[region].nodes
        if node not in nodes:
            nodes[node] = None
            self._queue.append((region, node))

    def _visit(self, region: Region, state: int, context: int) -> None:
        machine, content = self._machine, self._regions[region]
        steps, calls = machine.steps[state], machine.calls[state]
        self._budget.spend(1 + (len(steps) + len(calls)) // EDGES)
        if machine.accepting[state]:
            if region.component is None:
                self._unbalanced.add(self._owners[region.state])
            else:
                self._end(content, context)
        for symbol, target in steps:
            self._step(region, (state, context), symbol, target)
        for _, target in machine.tokens[state]:
            self._add(region, (target, context))
        for callee, back in calls:
            called = self._regions[self._component(callee, context)]
            called.waiting.append((region, back))
            self._budget.spend(len(called.ends) // EDGES)
            for end in called.ends:
                self._add(region, (back, end))

    def _step(self, region: Region, node: Node, symbol: int, target: int) -> None:
        context = node[1]
        is_bracket = context == UNQUOTED
        if is_bracket and symbol in self._opening:
            inside = self._open(Region(None, target, UNQUOTED))
            self._regions[inside].waiting.append((region, None))
            self._budget.spend(len(self._regions[inside].closes) // EDGES)
            for _, behind in self._regions[inside].closes:
                self._add(region, (behind, UNQUOTED))
        elif not (is_bracket and symbol in self._closing):
            self._add(region, (target, self._after[context][symbol]))
        elif region.component is None:
            self._close(self._regions[region], symbol, target)
        else:
            self._unbalanced.add(region.component)

    def _end(self, content: _RegionContent, context: int) -> None:
        if context not in content.ends:
            content.ends[context] = None
            self._budget.spend(len(content.waiting) // EDGES)
            for region, back in content.waiting:
                if back is not None:
                    self._add(region, (back, context))

    def _close(self, content: _RegionContent, symbol: int, target: int) -> None:
        if (symbol, target) not in content.closes:
            content.closes[symbol, target] = None
            self._budget.spend(len(content.waiting) // EDGES)
            for region, _ in content.waiting:
                self._add(region, (target, UNQUOTED))


class _Nest(NamedTuple):
    """The text between an opening bracket, which leads to ``inside``, and a closing one."""

    opening: int
    inside: Region
    closing: int
    behind: int


class _NestWriter:
    """Writes regions as components, and each way in and out of one as a nest."""

    def __init__(
        self,
        machine: Machine,
        opening: set[int],
        closing: set[int],
        after: list[list[int]],
        regions: dict[Region, _RegionContent],
        budget: Budget,
    ) -> None:
        self._old = machine
        self._opening = opening
        self._closing = closing
        self._after = after
        self._regions = regions
        self._budget = budget
        self._new = Machine(machine.classes, machine.terminals)
        self._components: dict[Region | _Nest, int] = {}
        self._queue: list[Region | _Nest] = []
        self._final = self._new.add_state(True)

    def run(self, roots: list[Region]) -> Machine:
        left, right = (self._number(root) for root in roots)
        for component in self._queue:
            self._write(component)
        self._new.starts = (left, right)
        return self._new

    def _number(self, component: Region | _Nest) -> int:
        number = self._components.get(component)
        if number is None:
            number = self._components[component] = len(self._components)
            self._new.entry.append(self._new.add_state())
            if isinstance(component, _Nest):
                self._new.nests[number] = component.opening
            self._queue.append(component)
        return number

    def _write(self, component: Region | _Nest) -> None:
        entry = self._new.entry[self._components[component]]
        if isinstance(component, Region):
            region, nest = component, None
            numbers = {(component.state, component.context): entry}
            self._new.accepting[entry] = self._old.accepting[component.state]
        else:
            region, nest, numbers = component.inside, component, {}
        for node in self._regions[region].nodes:
            if node not in numbers:
                accepting = nest is None and self._old.accepting[node[0]]
                numbers[node] = self._new.add_state(accepting)
        if nest is not None:
            inside = numbers[nest.inside.state, UNQUOTED]
            self._new.steps[entry].append((nest.opening, inside))
        for node in self._regions[region].nodes:
            self._write_node(node, numbers, nest)

    def _write_node(self, node: Node, numbers: dict[Node, int], nest: _Nest | None) -> None:
        state, context = node
        here = numbers[node]
        new, old = self._new, self._old
        self._budget.spend(1 + old.edge_count(state) // EDGES)
        for symbol, target in old.steps[state]:
            if context == UNQUOTED and symbol in self._opening:
                inside = Region(None, target, UNQUOTED)
                closes = self._regions[inside].closes
                self._budget.spend(len(closes) // EDGES)
                for closing, behind in closes:
                    called = self._number(_Nest(symbol, inside, closing, behind))
                    new.calls[here].append((called, numbers[behind, UNQUOTED]))
            elif context == UNQUOTED and symbol in self._closing:
                if nest is not None and (symbol, target) == (nest.closing, nest.behind):
                    new.steps[here].append((symbol, self._final))
            else:
                new.steps[here].append((symbol, numbers[target, self._after[context][symbol]]))
        for symbol, target in old.tokens[state]:
            new.tokens[here].append((symbol, numbers[target, context]))
        for callee, back in old.calls[state]:
            region = Region(callee, old.entry[callee], context)
            for end in self._regions[region].ends:
                new.calls[here].append((self._number(region), numbers[back, end]))
