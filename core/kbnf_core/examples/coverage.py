"""What derivations use: the rules and alternatives of examples, and the rules of a text's parts."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

from kbnf_core.examples.derive import Alternative, Chart, Place, build_graph, visited_states
from kbnf_core.ir import Grammar, calls
from kbnf_core.ir.analysis import reachable


@dataclass(frozen=True, slots=True)
class Coverage:
    """Rules and alternatives that the start reaches, and those of them that no example uses.

    Both are in the order of the grammar; rules that only `except!` names are not reached. An
    alternative is used by a text if some derivation of the text goes through it. ``given_up``
    counts the texts whose derivations are too many to look at.
    """

    rules: tuple[str, ...]
    unused_rules: tuple[str, ...]
    alternatives: tuple[Alternative, ...]
    unused_alternatives: tuple[Alternative, ...]
    given_up: int


def cover(
    grammar: Grammar, texts: Iterable[bytes], names: Mapping[str, str | None] | None = None
) -> Coverage:
    """Return what the derivations of ``texts``, all of the language, go through.

    ``names`` gives the author's name of a rule, where that is another one; None for a rule that a
    conversion made, which is left out. Several rules of one name are one: it is used if one is.
    """
    names = names or {}
    graph = build_graph(grammar)
    reached = _reached(grammar)
    visited: set[int] = set()
    given_up = 0
    for text in texts:
        found = visited_states(graph, grammar.start, text)
        given_up += found is None
        visited |= found or frozenset()
    written = {name: names.get(name, name) for name in grammar.rules if name in reached}
    rules = tuple(dict.fromkeys(name for name in written.values() if name is not None))
    used_rules = {name for rule, name in written.items() if graph.entry[rule] in visited}
    alternatives = {
        state: Alternative(name, each.span)
        for state, each in graph.alternatives.items()
        if (name := written.get(each.rule)) is not None
    }
    every = sorted(set(alternatives.values()), key=lambda each: each.span)
    used = {alternatives[state] for state in visited & alternatives.keys()}
    return Coverage(
        rules,
        tuple(name for name in rules if name not in used_rules),
        tuple(every),
        tuple(each for each in every if each not in used),
        given_up,
    )


def _reached(grammar: Grammar) -> set[str]:
    callees = {name: [c.nonterminal for c in calls(body)] for name, body in grammar.rules.items()}
    return reachable([grammar.start], callees)


MAX_PATH = 12
"""Open rules that are named; where there are more, the innermost."""

_Path: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a text, from ``start`` to ``end``, and the rules open there, outermost first."""

    start: int
    end: int
    rules: tuple[str, ...]


class Derivations:
    """Derivations of texts by one grammar."""

    def __init__(self, grammar: Grammar) -> None:
        self._start = grammar.start
        self._graph = build_graph(grammar)

    def parts(self, data: bytes, max_steps: int) -> tuple[Part, ...] | None:
        """Return the parts of ``data`` in order; together they are all of it.

        Where it has no derivation they are those of a text that begins with it. None where there
        is no such text, or finding out takes more than ``max_steps``.
        """
        chart = Chart(self._graph, data, max_steps)
        if not chart.fill(self._start):
            return None
        ends = chart.complete(self._start) or chart.unfinished or chart.at_end()
        if not ends:
            return None
        return tuple(_merged(reversed(list(self._leaves(chart, ends[0], len(data))))))

    def _leaves(self, chart: Chart, end: Place, length: int) -> Iterator[Part]:
        """Yield the terminals of the derivation that leads to ``end``, the last one first."""
        pending: list[tuple[Place, _Path]] = []
        path: _Path = ()
        for place in self._open(chart, end):
            path = _deeper(path, self._owner[place[0][0]])
            pending.append((place, path))
        if end[1] < length:
            yield Part(end[1], length, path)
        while pending:
            place, path = pending.pop()
            match chart.first_cause(place):
                case (before,):
                    if before[1] < place[1]:
                        yield Part(before[1], place[1], path)
                    pending.append((before, path))
                case (caller, callee):
                    pending.append((caller, path))
                    pending.append((callee, _deeper(path, self._owner[callee[0][0]])))
                case _:
                    pass

    def _open(self, chart: Chart, end: Place) -> list[Place]:
        """Return ``end`` and the items that wait for its rule, and so on, from the start down."""
        inner: dict[Place, Place | None] = {end: None}
        queue = deque([end])
        while queue:
            place = queue.popleft()
            (state, origin), _ = place
            if self._owner[state] == self._start and origin == 0:
                return list(_followed(inner, place))
            for caller in chart.callers(self._owner[state], origin):
                if caller not in inner:
                    inner[caller] = place
                    queue.append(caller)
        return [end]

    @cached_property
    def _owner(self) -> dict[int, str]:
        """The rule of each state."""
        owner: dict[int, str] = {}
        for rule, entry in self._graph.entry.items():
            work = [entry]
            while work:
                state = work.pop()
                if state not in owner:
                    owner[state] = rule
                    moves = self._graph.states[state]
                    work += moves.epsilons
                    work += (target for _, target in (*moves.scans, *moves.calls))
        return owner


def _followed(inner: dict[Place, Place | None], place: Place | None) -> Iterator[Place]:
    while place is not None:
        yield place
        place = inner[place]


def _deeper(path: _Path, rule: str) -> _Path:
    """Return the path inside ``rule``; parts of a large rule, and recursion, are not repeated."""
    name = rule.partition("#")[0]
    return path if path[-1:] == (name,) else (*path, name)[-MAX_PATH:]


def _merged(parts: Iterable[Part]) -> Iterator[Part]:
    """Yield the parts, neighbours of the same rules as one."""
    last: Part | None = None
    for part in parts:
        if last is not None and last.rules == part.rules:
            last = replace(last, end=part.end)
            continue
        if last is not None:
            yield last
        last = part
    if last is not None:
        yield last
