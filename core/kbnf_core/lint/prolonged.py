"""A text of a grammar that begins with another one: what ``finish=eager`` can never write.

The search goes breadth first over the states of recognition, so the complete text is a shortest
one of those that can be continued; the continuation follows the lengths to the end. Whether there
is such a text is undecidable in general, so the search is bounded.
"""

from collections import deque
from math import inf
from typing import NamedTuple

import numpy as np

from kbnf_core.budget import Budget
from kbnf_core.lower.tables import Tables
from kbnf_core.mask.completion import MAX_LENGTH, readable_bytes
from kbnf_core.recognise.distance import DistanceToEnd
from kbnf_core.recognise.states import DEAD, StateTable


class Prolonged(NamedTuple):
    """Two texts of a grammar: ``shorter`` is a proper prefix of ``longer``, and not empty."""

    shorter: bytes
    longer: bytes


def find_prolonged(tables: Tables, budget: Budget) -> Prolonged | None:
    """Return two texts as they are looked for; None where there are none.

    Texts with token terminals are not looked at, nor those beyond ``MAX_LENGTH``. Raises
    WorkLimitError where ``budget`` is used up; parts of states are steps.
    """
    states = StateTable(tables)
    left = DistanceToEnd(states, np.ones(tables.class_count), inf)
    ways = readable_bytes(tables.classes)
    texts = {states.initial: b""}
    pending = deque(texts)
    while pending:
        state = pending.popleft()
        text = texts[state]
        if text and states.completions(state) and left.length(state, budget) <= MAX_LENGTH:
            return Prolonged(text, text + _completion(states, left, state, ways, budget))
        for byte_class, byte in ways:
            budget.spend(1 + len(states.pairs(state)))
            after = states.step(state, byte_class)
            if after != DEAD and after not in texts:
                texts[after] = text + bytes((byte,))
                pending.append(after)
    return None


def _completion(
    states: StateTable,
    left: DistanceToEnd,
    state: int,
    ways: list[tuple[int, int]],
    budget: Budget,
) -> bytes:
    """Return a shortest text, not empty, that completes the start from ``state`` on."""
    found = bytearray()
    for distance in range(int(left.length(state, budget)) - 1, -1, -1):
        for byte_class, byte in ways:
            budget.spend(1 + len(states.pairs(state)))
            after = states.step(state, byte_class)
            if after != DEAD and _is_within(states, left, after, distance, budget):
                found.append(byte)
                state = after
                break
    return bytes(found)


def _is_within(
    states: StateTable, left: DistanceToEnd, state: int, distance: int, budget: Budget
) -> bool:
    if distance == 0:
        return bool(states.completions(state))
    return left.length(state, budget) == distance
