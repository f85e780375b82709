"""A grammar as one nondeterministic automaton per rule, with every alternative kept apart."""

from dataclasses import dataclass, field
from typing import TypeAlias

from kbnf_core.ir import (
    Call,
    Choice,
    Grammar,
    Literal,
    Node,
    Regular,
    Repeat,
    Sequence,
    Token,
)
from kbnf_core.lower.analyse import analyse
from kbnf_core.lower.split import split_large
from kbnf_core.source import Span

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
