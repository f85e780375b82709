"""The shortest texts of a grammar, by best-first search over states (A*, Hart et al. 1968).

The bound of a state, how far it is from the end, is exact, so no state is looked at in vain. Bytes
that the grammar tells apart nowhere are one: the most readable stands for all.
"""

import heapq
from dataclasses import dataclass
from math import inf

from kbnf_core.budget import Budget
from kbnf_core.errors import WorkLimitError
from kbnf_core.mask.shortest import readable_bytes
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD

MOST_WORK = 500_000
"""Steps of one call: bytes tried, and shares for states. Each may leave a text on the front."""


@dataclass(frozen=True, slots=True)
class ShortestTexts:
    """``texts``, the shortest first; ``is_all`` tells that there are no others."""

    texts: tuple[bytes, ...]
    is_all: bool


def shortest_texts(automaton: TokenAutomaton, position: int, count: int) -> ShortestTexts:
    """Return the ``count`` shortest ways in which the text at ``position`` can go on to an end.

    Fewer where there are no more, or where they take more than ``MOST_WORK`` steps to find. Texts
    for which a token must be named are left out.
    """
    search = _Search(automaton, Budget(MOST_WORK))
    found: list[bytes] = []
    try:
        search.begin(position)
        while len(found) < count:
            text = search.next()
            if text is None:
                return ShortestTexts(tuple(found), True)
            found.append(text)
    except WorkLimitError:
        pass
    return ShortestTexts(tuple(found), False)


class _Search:
    """The front of the search: texts by the least length of what they can become.

    An entry is that length, the text in ranks of readability, and the state behind it, None where
    the text is complete and is meant as it is.
    """

    def __init__(self, automaton: TokenAutomaton, budget: Budget) -> None:
        self._automaton = automaton
        self._budget = budget
        self._ways = readable_bytes(automaton.masks.states.tables.classes)
        self._front: list[tuple[float, bytes, int | None]] = []

    def begin(self, position: int) -> None:
        """Start at a position, with the empty text if it is complete."""
        if self._automaton.can_finish(position):
            heapq.heappush(self._front, (0, b"", None))
        if position >= 0:
            self._go_on(b"", position)

    def next(self) -> bytes | None:
        """Return the next text, None where there is none."""
        while self._front:
            _, ranks, state = heapq.heappop(self._front)
            if state is None:
                return bytes(self._ways[rank][1] for rank in ranks)
            self._expand(ranks, state)
        return None

    def _expand(self, ranks: bytes, state: int) -> None:
        masks = self._automaton.masks
        share = 1 + len(masks.states.pairs(state)) + len(ranks) // 64
        for rank, (byte_class, _) in enumerate(self._ways):
            self._budget.spend(share)
            after = masks.states.step(state, byte_class)
            if after == DEAD:
                continue
            longer = ranks + bytes((rank,))
            is_complete = masks.is_complete(after)
            if is_complete:
                heapq.heappush(self._front, (len(longer), longer, None))
            if not (is_complete and self._automaton.rule.ends_at_bytes):
                self._go_on(longer, after)

    def _go_on(self, ranks: bytes, state: int) -> None:
        left = self._automaton.bytes_left.length(state, self._budget)
        if left < inf:
            heapq.heappush(self._front, (len(ranks) + left, ranks, state))
