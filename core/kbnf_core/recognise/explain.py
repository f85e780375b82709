"""Explanations of states in terms of the grammar: rules, and spans of its source.

The engine's tables merge equivalent positions, so they cannot name them. Explaining replays the
text on the position automata, in which every occurrence of a symbol is a state of its own.

Tests: tests/unit/kernel
"""

from collections import deque
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kbnf_core.lower.positions import Origin, Positions
from kbnf_core.recognise.states import BOTTOM, StateTable
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import NOWHERE, Span

_Link: TypeAlias = tuple[tuple[int, int], int]
"""(stack_node, nonterminal) that is called, and the item set that waits for it."""

MOST_SITES = 64
"""Live items that are computed at most; a text with more is explained by these."""


@dataclass(frozen=True, slots=True)
class LiveSite:
    """One item of the grammar at which the text may continue.

    ``rules`` is the path of nonterminals from the start down; ``calls`` has, for each but the
    last, the symbols in which it may call the next. ``span`` is the symbol in the grammar's source,
    of whose bytes ``offset`` are after; in a rule that is not written there it is the innermost
    call that is. ``expected`` are the inclusive ranges of bytes that the symbol takes next (none
    where it is a token terminal).
    """

    rules: tuple[str, ...]
    calls: tuple[tuple[Span, ...], ...]
    span: Span
    offset: int
    expected: tuple[tuple[int, int], ...]


class Explainer:
    """Finds the live items of states of ``states``, a table over ``positions``.

    No call in these is a tail call, so that the rules above a state are known.
    """

    def __init__(self, positions: Positions, states: StateTable) -> None:
        self._tables = positions.tables
        self._rules = positions.rules
        self._origins = positions.origins
        self._states = states

    def live_sites(self, state: int) -> tuple[LiveSite, ...]:
        """Return the items that expect a byte or token, without duplicates."""
        result: dict[LiveSite, None] = {}
        for stack_node, item_set in self._states.sources(state):
            for item in self._states.items.items(item_set):
                position, report = self._states.items.unpack(item)
                expected = self._expected(position)
                if expected is None:
                    continue
                rules, calls = self._path(stack_node, report)
                outside = _innermost(calls)
                for origin in self._origins[position]:
                    span, offset, _ = origin if origin.span != NOWHERE else outside
                    result[LiveSite(rules, calls, span, offset, expected)] = None
                if len(result) >= MOST_SITES:
                    return tuple(result)
        return tuple(result)

    def expected(self, state: int) -> tuple[tuple[int, int], ...]:
        """Return the bytes with a transition from a state, as inclusive ranges."""
        return byte_ranges(np.isin(self._tables.classes, self._states.live_classes(state)))

    def _expected(self, position: int) -> tuple[tuple[int, int], ...] | None:
        """Return the bytes that leave a position, None where only calls do."""
        tables = self._tables
        begin, end = tables.edge_start[position], tables.edge_start[position + 1]
        if begin < end:
            return byte_ranges(np.isin(tables.classes, tables.edge_class[begin:end]))
        return () if tables.token_start[position] < tables.token_start[position + 1] else None

    def _path(
        self, stack_node: int, report: int
    ) -> tuple[tuple[str, ...], tuple[tuple[Span, ...], ...]]:
        """Return the shortest chain of nonterminals from the start to ``report``, and its calls."""
        first = (stack_node, report)
        below: dict[tuple[int, int], _Link | None] = {first: None}
        queue = deque([first])
        here = first
        while queue:
            here = queue.popleft()
            if here[0] == BOTTOM:
                break
            for outer, after in self._states.stack.waiting(*here):
                for caller in sorted(self._states.items.reports(after)):
                    if (outer, caller) not in below:
                        below[outer, caller] = (here, after)
                        queue.append((outer, caller))
        return self._spell_out(here, below)

    def _spell_out(
        self, here: tuple[int, int], below: "dict[tuple[int, int], _Link | None]"
    ) -> tuple[tuple[str, ...], tuple[tuple[Span, ...], ...]]:
        """Return names and calls from ``here`` down, without the parts of large rules."""
        names = [self._rules[here[1]]]
        calls: list[tuple[Span, ...]] = []
        link = below[here]
        while link is not None:
            inner, after = link
            symbols = self._symbols(here[1], inner[1], after)
            name = self._rules[inner[1]]
            if "#" not in name:
                names.append(name)
                calls.append(symbols)
            here, link = inner, below[inner]
        return tuple(names), tuple(calls)

    def _symbols(self, caller: int, callee: int, after: int) -> tuple[Span, ...]:
        """Return the symbols at which ``caller`` may have called, to go on with set ``after``."""
        result: dict[Span, None] = {}
        for item in self._states.items.items(after):
            position, report = self._states.items.unpack(item)
            if report == caller:
                for source in self._callers.get((callee, position), ()):
                    name = self._rules[callee]
                    calls = (origin for origin in self._origins[source] if origin.called == name)
                    result.update((call.span, None) for call in calls)
        return tuple(result)

    @cached_property
    def _callers(self) -> dict[tuple[int, int], list[int]]:
        """The states that call a nonterminal, by it and by the state after it."""
        tables = self._tables
        callers: dict[tuple[int, int], list[int]] = {}
        sources = np.repeat(np.arange(tables.state_count), np.diff(tables.call_start)).tolist()
        called, returns = tables.call_nonterminal.tolist(), tables.call_return.tolist()
        for source, callee, back in zip(sources, called, returns, strict=True):
            callers.setdefault((callee, back), []).append(source)
        return callers


def _innermost(calls: tuple[tuple[Span, ...], ...]) -> Origin:
    """Return the innermost call that has a place in the source."""
    written = (span for spans in reversed(calls) for span in spans if span != NOWHERE)
    return Origin(next(written, NOWHERE))


def byte_ranges(flags: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return the inclusive ranges of the indices at which ``flags`` (bool[256]) is set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return tuple((int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True))
