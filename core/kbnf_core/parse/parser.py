"""Parsing with one grammar: whole texts, and texts that are still coming.

The position automata are built when the first text is parsed. Texts share the table of states and
what is known of its steps, so that the cost of a byte is that of two lookups once a grammar is
warm.
"""

from threading import RLock
from typing import Any, TypeVar

import numpy as np

from kbnf_core.ir import Grammar, TokenTerminal
from kbnf_core.kernel import Derivations, StreamedTrace, TooManyReadings, Trace
from kbnf_core.parse.positions import Positions, build_positions
from kbnf_core.parse.tree import Event, Nodes, Tree
from kbnf_core.recognise.explain import byte_ranges
from kbnf_core.recognise.states import StateTable
from kbnf_core.text.errors import ParseError, WorkLimitError
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

_WORK = 16
"""Steps of ``Limits.work`` for each place that is followed where a text has several derivations."""

MOST_DERIVATIONS = 1_000
"""Derivations that are counted."""

_T = TypeVar("_T", bound="Trace")


class Parser:
    """Parses texts of one grammar. Threads may share it."""

    def __init__(
        self,
        grammar: Grammar,
        limits: Limits = DEFAULT_LIMITS,
        named: dict[str, str | None] | None = None,
    ) -> None:
        self._positions: Positions = build_positions(grammar, named, limits)
        self._limits = limits
        self._lock = RLock()
        self._whole: Derivations | None = None
        self._streamed: Derivations | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The rules that nodes of trees may have."""
        return self._positions.names

    @property
    def token_terminals(self) -> tuple[TokenTerminal, ...]:
        """The token terminals of the grammar, as ``Trace.read_token`` numbers them."""
        return self._positions.tables.token_terminals

    def trace(self) -> Trace:
        """Return the beginning of a text."""
        with self._lock:
            self._whole = self._fresh(self._whole, lambda: self._positions)
            return Trace(self._whole, self._most)

    def streamed_trace(self) -> StreamedTrace:
        """Return the beginning of a text that goes on."""
        with self._lock:
            self._streamed = self._fresh(self._streamed, self._positions.without_tail_calls)
            return StreamedTrace(self._streamed, self._most)

    @property
    def _most(self) -> int:
        return max(1_000, self._limits.work // _WORK)

    def _fresh(self, known: Derivations | None, positions: Any) -> Derivations:
        """Return what is known of states, begun anew where that has grown too large."""
        if known is None or known.size()[0] > self._limits.cached_states:
            chosen = positions()
            return Derivations(StateTable(chosen.tables), chosen)
        return known

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
        if trace.read(data) < len(data):
            raise self.error(trace, data)
        return trace

    def error(self, trace: Trace, data: bytes) -> ParseError:
        """Return why what was read of ``data`` is not followed by the rest of it."""
        classes = self._positions.tables.classes
        expected = byte_ranges(np.isin(classes, trace.expected()))
        opened: list[str] = []
        read = trace.size
        streamed = self.streamed_trace()
        streamed.read(data[:read])
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
        try:
            return Tree(Nodes(data, self.names, *trace.tree()))
        except TooManyReadings:
            raise self._too_many() from None

    def certain(self, trace: StreamedTrace) -> list[Event]:
        """Return the events that have become certain in a streamed text since the last call."""
        try:
            found = trace.certain_events()
        except TooManyReadings:
            raise self._too_many() from None
        names = self.names
        return [
            Event("close" if is_end else "open", names[label], offset)
            for is_end, label, offset in found
        ]

    def partial(self, data: bytes) -> Tree | None:
        """Return what is certain of the tree of a text that may go on, None where nothing is.

        Raises ``ParseError`` where no text begins so.
        """
        trace = self._read(self.streamed_trace(), data)
        return tree_of_events(data, self.names, self.certain(trace))

    def derivations(self, data: bytes, most: int = MOST_DERIVATIONS) -> tuple[int, Tree | None]:
        """Return how many derivations a text has, at most ``most``, and the tree of a second one.

        Raises ``ParseError`` where it does not fit, ``WorkLimitError`` where they are too many.
        """
        trace = self.check(data)
        try:
            count, other = trace.derivations(most)
        except TooManyReadings:
            raise self._too_many() from None
        return count, None if other is None else Tree(Nodes(data, self.names, *other))

    def _too_many(self) -> WorkLimitError:
        return WorkLimitError(
            self._limits.work,
            "a text with very many derivations",
            "`kbnf parse --ambiguity` shows for a shorter text where two differ; a rule that calls"
            " itself twice, `e ::= e e | x`, can be a loop, `e ::= x+`",
        )


def tree_of_events(data: bytes, names: tuple[str, ...], events: list[Event]) -> Tree | None:
    """Return the tree of events in order; rules without an end are open. None for no events."""
    numbers = {name: number for number, name in enumerate(names)}
    rows: list[list[int]] = []
    opened: list[int] = []
    for event in events:
        if event.kind == "open":
            opened.append(len(rows))
            rows.append([numbers[event.rule], event.offset, -1, 0])
        else:
            row = opened.pop()
            rows[row][2:] = event.offset, len(rows) - row - 1
    for row in opened:
        rows[row][3] = len(rows) - row - 1
    if not rows:
        return None
    labels, starts, ends, below = np.array(rows, np.int32).T.copy()
    return Tree(Nodes(data, names, labels, starts, ends, below))
