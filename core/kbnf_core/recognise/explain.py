"""Where recognition is, in the words of the grammar: rules, and places in its source.

The tables that the engine runs on have merged what is the same, so they cannot tell. Explaining
replays the text on plain tables, in which every position is a state of its own.
"""

from collections import deque
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kbnf_core.lower.build import PlainTables
from kbnf_core.recognise.origins import BOTTOM
from kbnf_core.recognise.states import StateTable
from kbnf_core.source import Span

MAX_PLACES = 64
"""Live places that are worked out; a text with more is told by these."""


@dataclass(frozen=True, slots=True)
class LivePlace:
    """One place at which the text may go on.

    ``rules`` is the path of nonterminals from the start down; ``span`` is the symbol in the
    grammar's source, of whose bytes ``offset`` are behind; ``expected`` are the inclusive ranges
    of bytes that it takes next (none where it is a token terminal).
    """

    rules: tuple[str, ...]
    span: Span
    offset: int
    expected: tuple[tuple[int, int], ...]


class Explainer:
    """Tells the live places of states of ``states``, a table over plain tables."""

    def __init__(self, plain: PlainTables, states: StateTable) -> None:
        self._tables = plain.tables
        self._places = plain.places
        self._states = states

    def live_places(self, state: int) -> tuple[LivePlace, ...]:
        """Return the places at which a byte or token is expected, without duplicates."""
        found: dict[LivePlace, None] = {}
        for origin, item_set in self._states.sources(state):
            for item in self._states.items.items(item_set):
                position, report = self._states.items.unpack(item)
                expected = self._expected(position)
                if expected is None:
                    continue
                rules = self._path(origin, report)
                for span, offset in self._places[position]:
                    found[LivePlace(rules, span, offset, expected)] = None
                if len(found) >= MAX_PLACES:
                    return tuple(found)
        return tuple(found)

    def expected(self, state: int) -> tuple[tuple[int, int], ...]:
        """Return the inclusive ranges of the bytes that can come in a state."""
        return byte_ranges(np.isin(self._tables.classes, self._states.live_classes(state)))

    def _expected(self, position: int) -> tuple[tuple[int, int], ...] | None:
        """Return the bytes that leave a position, None where only calls do."""
        tables = self._tables
        begin, end = tables.edge_start[position], tables.edge_start[position + 1]
        if begin < end:
            return byte_ranges(np.isin(tables.classes, tables.edge_class[begin:end]))
        return () if tables.token_start[position] < tables.token_start[position + 1] else None

    def _path(self, origin: int, report: int) -> tuple[str, ...]:
        """Return the shortest chain of nonterminals from the start to ``report``."""
        first = (origin, report)
        below: dict[tuple[int, int], tuple[int, int] | None] = {first: None}
        queue = deque([first])
        here: tuple[int, int] | None = first
        while queue:
            here = queue.popleft()
            if here[0] == BOTTOM:
                break
            for outer, after in self._states.origins.waiting(*here):
                for caller in sorted(self._states.items.reports(after)):
                    if (outer, caller) not in below:
                        below[outer, caller] = here
                        queue.append((outer, caller))
        names = []
        while here is not None:
            names.append(self._tables.names[here[1]])
            here = below[here]
        return tuple(name for name in names if "#" not in name)


def byte_ranges(flags: npt.NDArray[np.bool_]) -> tuple[tuple[int, int], ...]:
    """Return the inclusive ranges of the indices at which ``flags`` (bool[256]) is set."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    return tuple((int(a), int(b) - 1) for a, b in zip(edges[::2], edges[1::2], strict=True))
