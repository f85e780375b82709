"""Parsing with one grammar: whole texts, and texts that are still coming.

The position automata are built when the first text is parsed. Texts share the table of states and
its cached steps, so that the cost of a byte is that of two lookups once a grammar is warm.

Tests: tests/unit/parse
"""

from typing import Any, TypeVar

import numpy as np

from kbnf_core.ir import GrammarRules, TokenTerminal
from kbnf_core.kernel import Derivations, StreamedTrace, Trace
from kbnf_core.lower.positions import Positions, build_positions
from kbnf_core.parse.tree import Event, Ids, Nodes, Tree
from kbnf_core.recognise.explain import byte_ranges
from kbnf_core.recognise.states import StateTable
from kbnf_core.text.errors import ParseError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits
from kbnf_core.text.locks import new_rlock

MOST_DERIVATIONS = 1_000
"""Derivations that are counted."""

_T = TypeVar("_T", bound="Trace")


class Parser:
    """Parses texts of one grammar. Threads may share it."""

    def __init__(
        self,
        grammar: GrammarRules,
        limits: Limits = DEFAULT_LIMITS,
        named: dict[str, str | None] | None = None,
    ) -> None:
        self.positions: Positions = build_positions(grammar, named, limits)
        self._limits = limits
        self._lock = new_rlock()
        self._whole: Derivations | None = None
        self._streamed: Derivations | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The rules that nodes of trees may have."""
        return self.positions.names

    @property
    def token_terminals(self) -> tuple[TokenTerminal, ...]:
        """The token terminals of the grammar, as ``Trace.read_token`` numbers them."""
        return self.positions.tables.token_terminals

    def trace(self) -> Trace:
        """Return the beginning of a text."""
        with self._lock:
            self._whole = self._fresh(self._whole, lambda: self.positions)
            return Trace(self._whole, self._limits.work)

    def streamed_trace(self) -> StreamedTrace:
        """Return the beginning of a text that goes on."""
        with self._lock:
            self._streamed = self._fresh(self._streamed, self.positions.without_tail_calls)
            return StreamedTrace(self._streamed, self._limits.work)

    def _fresh(self, derivations: Derivations | None, positions: Any) -> Derivations:
        """Return the cached steps of states, cleared if they have grown too large."""
        if (
            derivations is None
            or derivations.size()[0] > self._limits.cached_states
            or derivations.made > self._limits.work
        ):
            chosen = positions()
            return Derivations(StateTable(chosen.tables, self._limits), chosen)
        return derivations

    def parse(self, data: bytes) -> Tree:
        """Return the tree of a whole text; raise ``ParseError`` where it does not fit."""
        return self.tree_of(self.check(data), data)

    def check(self, data: bytes, *, partial: bool = False) -> Trace:
        """Return a text that was read as a whole, or with ``partial`` as the beginning of one.

        Raises ``ParseError`` where it does not fit.
        """
        trace = self._read(self.trace(), data)
        if not partial and not trace.is_complete():
            raise self.error(trace, data)
        return trace

    def _read(self, trace: _T, data: bytes) -> _T:
        """Return a text that was read; raise ``ParseError`` at a byte that does not fit."""
        if self.read(trace, data) < len(data):
            raise self.error(trace, data)
        return trace

    def read(self, trace: Trace, data: bytes) -> int:
        """Read bytes as far as they fit; return how many did.

        Raises ``WorkLimitError`` where too many derivations lie side by side.
        """
        return trace.read(data)

    def error(self, trace: Trace, data: bytes) -> ParseError:
        """Return the reason why the text read of ``data`` is not followed by the rest of it."""
        classes = self.positions.tables.classes
        expected = byte_ranges(np.isin(classes, trace.expected()))
        opened: list[str] = []
        read = trace.size
        streamed = self.streamed_trace()
        self.read(streamed, data[:read])
        for event in self.certain(streamed):
            if event.kind == "open":
                opened.append(event.rule)
            else:
                opened.pop()
        return ParseError(data, read, expected, tuple(opened))

    def tree_of(self, trace: Trace, data: bytes) -> Tree:
        """Return the preferred tree of a whole text that was read.

        Raises ``WorkLimitError`` where too many derivations lie side by side.
        """
        return Tree(Nodes(data, self.names, *trace.tree()))

    def certain(self, trace: StreamedTrace) -> list[Event]:
        """Return the events that have become certain in a streamed text since the last call.

        Raises ``WorkLimitError`` where too many derivations lie side by side.
        """
        labels, offsets = trace.certain_events()
        names = self.names
        return [
            Event("open", names[label], offset)
            if label >= 0
            else Event("close", names[~label], offset)
            for label, offset in zip(labels.tolist(), offsets.tolist(), strict=True)
        ]

    def partial(self, data: bytes) -> Tree | None:
        """Return the certain part of the tree of a text that may go on, None if there is none.

        Raises ``ParseError`` where no text begins so.
        """
        trace = self._read(self.streamed_trace(), data)
        return tree_of_events(data, self.names, *trace.certain_events())

    def derivations(self, data: bytes, most: int = MOST_DERIVATIONS) -> tuple[int, Tree | None]:
        """Return how many derivations a text has, at most ``most``, and the tree of a second one.

        Raises ``ParseError`` where it does not fit, ``WorkLimitError`` where they are too many.
        """
        trace = self.check(data)
        count, other = trace.derivations(most)
        return count, None if other is None else Tree(Nodes(data, self.names, *other))


def tree_of_events(data: bytes, names: tuple[str, ...], events: Ids, offsets: Ids) -> Tree | None:
    """Return the tree of events in order, ``~label`` of an end; None for no events.

    Rules without an end are open.
    """
    opens = events >= 0
    before = np.cumsum(opens)
    # The level of an event is that of its rule: by level, ends come right after their beginnings.
    level = 2 * before - np.arange(len(events)) - opens
    order = np.argsort(level, kind="stable")
    ends = np.flatnonzero(~opens[order])
    last = np.full(len(events), -1)
    last[order[ends - 1]] = order[ends]
    last = last[opens]
    if not len(last):
        return None
    is_over = last >= 0
    closed = np.where(is_over, offsets[last], -1).astype(np.int32)
    below = (np.where(is_over, before[last], len(last)) - before[opens]).astype(np.int32)
    return Tree(Nodes(data, names, events[opens], offsets[opens], closed, below))
