"""Recursive state machines: both grammars as one set of automata that call each other.

A machine has the content of ``lower.tables``, as lists that are easily taken apart, for two
grammars over one alphabet (Alur et al., "Analysis of Recursive State Machines", 2005). A
*component* is the automaton of a nonterminal. A *nest* is a component made by ``nesting``: the text
between two brackets, with both. A call reads at least one byte.

``merge`` makes one state of those that do the same (bisimulation, by partition refinement), so that
whatever both grammars have in common is there once, and is equal without being compared.

All that makes a machine counts the edges that it looks at, and raises WorkLimitError where its
budget is used up.

Tests: tests/unit/diff
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from kbnf_core.automata.chosen_kernel import AUTOMATA
from kbnf_core.automata.dfa import ByteClasses, class_count, first_bytes, join, separate
from kbnf_core.ir import TokenTerminal
from kbnf_core.lower.tables import Ids, Tables
from kbnf_core.text.budget import Budget

EDGES = 16
"""Edges that are looked at in about the time that a search takes for a step."""

Edges = list[tuple[int, int]]
"""Of a state: the symbol that is read or the component that is called, and the state after it."""


@dataclass(slots=True)
class Machine:
    """States with three kinds of edges, as in ``Tables``; ``starts`` are the components compared.

    ``nests`` maps the components that are nests to the class of their first byte.
    """

    classes: ByteClasses
    terminals: tuple[TokenTerminal, ...]
    starts: tuple[int, int] = (0, 0)
    entry: list[int] = field(default_factory=list)
    accepting: list[bool] = field(default_factory=list)
    steps: list[Edges] = field(default_factory=list)
    calls: list[Edges] = field(default_factory=list)
    tokens: list[Edges] = field(default_factory=list)
    nests: dict[int, int] = field(default_factory=dict)

    def add_state(self, accepting: bool = False) -> int:
        """Add a state without edges and return its number."""
        self.accepting.append(accepting)
        self.steps.append([])
        self.calls.append([])
        self.tokens.append([])
        return len(self.accepting) - 1

    def is_last(self, state: int) -> bool:
        """Return whether a component is complete in a state, and nothing can follow."""
        return self.accepting[state] and not self.edge_count(state)

    def edge_count(self, state: int) -> int:
        """Return the number of edges of a state."""
        return len(self.steps[state]) + len(self.calls[state]) + len(self.tokens[state])

    def spend_all(self, budget: Budget) -> None:
        """Count all states and edges, for what looks at each of them once."""
        states = range(len(self.accepting))
        budget.spend((len(states) + sum(map(self.edge_count, states))) // EDGES)

    def called_from(self, component: int) -> set[int]:
        """Return the component and all that it leads to."""
        components, states = {component}, {self.entry[component]}
        queue = list(states)
        for state in queue:
            fresh = [to for edges in (self.steps, self.tokens) for _, to in edges[state]]
            for callee, back in self.calls[state]:
                components.add(callee)
                fresh += [back, self.entry[callee]]
            new = set(fresh) - states
            states |= new
            queue.extend(new)
        return components


def side_by_side(
    left: Tables, right: Tables, apart: Iterable[int], budget: Budget
) -> tuple[Machine, list[int]]:
    """Return the machine of two grammars, which distinguishes the bytes ``apart`` from all others.

    Also returns the component that each state belongs to; components are numbered as the
    nonterminals are, those of the right grammar after those of the left.
    """
    sides = (left, right)
    class_tables = [side.classes.tobytes() for side in sides]
    classes = join([separate(apart), *class_tables])
    terminals = tuple(dict.fromkeys((*left.token_terminals, *right.token_terminals)))
    machine = Machine(classes, terminals, (left.start, len(left.names) + right.start))
    owners: list[int] = []
    for tables, side_classes in zip(sides, class_tables, strict=True):
        columns: list[list[int]] = [[] for _ in range(class_count(side_classes))]
        for number, byte in enumerate(first_bytes(classes)):
            columns[side_classes[byte]].append(number)
        numbers = [terminals.index(token_terminal) for token_terminal in tables.token_terminals]
        _spend_edges(budget, tables, columns)
        owners += _add(machine, tables, columns, numbers)
    return machine, owners


def _spend_edges(budget: Budget, tables: Tables, columns: list[list[int]]) -> None:
    """Count the edges that tables have where their classes are divided into ``columns``."""
    widths = np.array([len(column) for column in columns], np.int64)
    edges = int(widths[tables.edge_class].sum())
    edges += len(tables.call_nonterminal) + len(tables.token_terminal)
    budget.spend((tables.state_count + edges) // EDGES)


def _add(
    machine: Machine, tables: Tables, columns: list[list[int]], terminals: list[int]
) -> list[int]:
    by, component = len(machine.accepting), len(machine.entry)
    entry = tables.entry.tolist()
    machine.entry += [by + state for state in entry]
    machine.accepting += tables.accepting.tolist()
    for start, symbol, target, numbers, edge_lists in (
        (tables.edge_start, tables.edge_class, tables.edge_target, columns, machine.steps),
        (tables.token_start, tables.token_terminal, tables.token_target, terminals, machine.tokens),
        (tables.call_start, tables.call_nonterminal, tables.call_return, None, machine.calls),
    ):
        symbols, targets = symbol.tolist(), target.tolist()
        for low, high in pairwise(start.tolist()):
            edges: Edges = []
            for i in range(low, high):
                if numbers is None:
                    edges.append((component + symbols[i], by + targets[i]))
                elif isinstance(number := numbers[symbols[i]], int):
                    edges.append((number, by + targets[i]))
                else:
                    edges.extend((class_number, by + targets[i]) for class_number in number)
            edge_lists.append(edges)
    order = sorted(range(len(entry)), key=entry.__getitem__)
    ends = [*(entry[nonterminal] for nonterminal in order[1:]), tables.state_count]
    owners: list[int] = []
    for nonterminal, end in zip(order, ends, strict=True):
        owners += [component + nonterminal] * (end - len(owners))
    return owners


def absorb(machine: Machine, components: Collection[int], budget: Budget) -> None:
    """Replace calls of ``components`` that nothing can follow by the beginnings of these.

    Where all calls of a component by itself are such, it is right-linear, and calls itself no more.
    """
    if not components:
        return
    budget.spend(len(machine.accepting) // EDGES)
    for state in range(len(machine.accepting)):
        absorbed: set[int] = set()
        calls = machine.calls[state]
        for edge in calls:
            callee, back = edge
            if callee in components and machine.is_last(back) and callee not in absorbed:
                absorbed.add(callee)
                entry = machine.entry[callee]
                budget.spend(1 + machine.edge_count(entry) // EDGES)
                machine.steps[state] = [*machine.steps[state], *machine.steps[entry]]
                machine.tokens[state] = [*machine.tokens[state], *machine.tokens[entry]]
                calls.extend(machine.calls[entry] if entry != state else ())
        machine.calls[state] = [
            (callee, back)
            for callee, back in dict.fromkeys(calls)
            if callee not in absorbed or not machine.is_last(back)
        ]


def merge(machine: Machine, budget: Budget) -> Machine:
    """Return the machine with one state for those that do the same, and one component likewise.

    A call becomes a state of its own, with an edge to the callee and one to the state after its
    return; so calls are alike where callees and returns are.
    """
    machine.spend_all(budget)
    count, classes = len(machine.accepting), class_count(machine.classes)
    call, nest, entered, back = range(classes, classes + 4)
    edges: list[tuple[int, int, int]] = []
    call_states: dict[tuple[int, int], int] = {}
    for state in range(count):
        edges += [(state, symbol, to) for symbol, to in machine.steps[state]]
        edges += [(state, back + 1 + symbol, to) for symbol, to in machine.tokens[state]]
        for callee, to in machine.calls[state]:
            call_state = call_states.setdefault((callee, to), count + len(call_states))
            edges.append((state, nest if callee in machine.nests else call, call_state))
    for (callee, to), call_state in call_states.items():
        edges += [(call_state, entered, machine.entry[callee]), (call_state, back, to)]
    columns = np.array(edges, np.int32).reshape(-1, 3).T
    source, symbol, target = (column.tobytes() for column in columns)
    flags = bytes(machine.accepting) + bytes(len(call_states))
    rounds = len(flags)
    return _quotient(machine, AUTOMATA.blocks(source, symbol, target, flags, rounds)[:count])


def _quotient(machine: Machine, block: Sequence[int]) -> Machine:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(block))}
    components: dict[tuple[int, int | None], int] = {}
    renamed = [
        components.setdefault(
            (numbers[block[entry]], machine.nests.get(component)), len(components)
        )
        for component, entry in enumerate(machine.entry)
    ]
    left, right = machine.starts
    result = Machine(machine.classes, machine.terminals, (renamed[left], renamed[right]))
    result.entry = [entry for entry, _ in components]
    result.nests = {renamed[component]: opening for component, opening in machine.nests.items()}
    firsts: dict[int, int] = {}
    for state, name in enumerate(block):
        firsts.setdefault(name, state)
    for state in firsts.values():
        result.add_state(machine.accepting[state])
        result.steps[-1] = _renamed(machine.steps[state], block, numbers)
        result.tokens[-1] = _renamed(machine.tokens[state], block, numbers)
        calls = [(renamed[callee], to) for callee, to in machine.calls[state]]
        result.calls[-1] = _renamed(calls, block, numbers)
    return result


def _renamed(edges: Edges, block: Sequence[int], numbers: dict[int, int]) -> Edges:
    return sorted({(symbol, numbers[block[to]]) for symbol, to in edges})


def write_tables(machine: Machine, is_symbol: Callable[[int, int], bool], budget: Budget) -> Tables:
    """Return the tables of a machine, in which some calls are tokens: read as one symbol.

    ``is_symbol`` says of a state and a component whether the call is one. The token terminals are
    those of the machine, and after them one for each component.
    """
    machine.spend_all(budget)
    first = len(machine.terminals)
    calls: list[Edges] = []
    tokens: list[Edges] = []
    for state, edges in enumerate(machine.calls):
        symbols = [
            (first + nonterminal, to) for nonterminal, to in edges if is_symbol(state, nonterminal)
        ]
        calls.append([edge for edge in edges if not is_symbol(state, edge[0])])
        tokens.append([*machine.tokens[state], *symbols])
    edge_start, edge_class, edge_target = _columns(machine.steps)
    call_start, called, returns = _columns(calls)
    token_start, terminal, token_target = _columns(tokens)
    tails = [machine.is_last(to) for to in returns.tolist()]
    every = [TokenTerminal(f"component {number}") for number in range(len(machine.entry))]
    return Tables(
        names=tuple(map(str, range(len(machine.entry)))),
        start=machine.starts[0],
        start_is_nullable=False,
        classes=np.frombuffer(machine.classes, np.uint8),
        entry=np.array(machine.entry, np.int32),
        accepting=np.array(machine.accepting, np.bool_),
        edge_start=edge_start,
        edge_class=edge_class,
        edge_target=edge_target,
        call_start=call_start,
        call_nonterminal=called,
        call_return=returns,
        call_tail=np.array(tails, np.bool_),
        token_start=token_start,
        token_terminal=terminal,
        token_target=token_target,
        token_terminals=(*machine.terminals, *every),
    )


def _columns(edges: list[Edges]) -> tuple[Ids, Ids, Ids]:
    starts = np.cumsum([0, *map(len, edges)], dtype=np.int32)
    flat = np.array([edge for row in edges for edge in row], np.int32).reshape(-1, 2)
    return starts, np.ascontiguousarray(flat[:, 0]), np.ascontiguousarray(flat[:, 1])
