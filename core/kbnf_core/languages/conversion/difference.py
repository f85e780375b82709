"""A shortest text on which two grammars differ, by walking both at once."""

from collections import deque

from kbnf_core.automata.alphabet import first_bytes, join
from kbnf_core.recognise.states import DEAD, StateTable

MOST_STATES = 1_000
"""Pairs of states that a search looks at."""

MOST_POSITIONS = 32
"""Positions in one state; a search does not go on from states with more."""


def shortest_difference(
    left: StateTable, right: StateTable, most: int = MOST_STATES
) -> tuple[bytes, bool] | None:
    """Return a shortest nonempty text that only one takes, and whether it is the left one.

    None where there is none, or none was found within ``most`` pairs of states, leaving out what
    is very ambiguous: a state that holds many positions takes long to leave. Tokens that a grammar
    names by id have no bytes and are not followed.
    """
    left_classes, right_classes = left.tables.classes.tobytes(), right.tables.classes.tobytes()
    columns = [
        (byte, left_classes[byte], right_classes[byte])
        for byte in first_bytes(join([left_classes, right_classes]))
    ]
    start = (left.initial, right.initial)
    found = {start: b""}
    pending = deque([start])
    while pending and len(found) <= most:
        pair = pending.popleft()
        for byte, left_class, right_class in columns:
            after = (left.step(pair[0], left_class), right.step(pair[1], right_class))
            if after in found or after == (DEAD, DEAD):
                continue
            found[after] = found[pair] + bytes([byte])
            takes = [bool(left.completions(after[0])), bool(right.completions(after[1]))]
            if takes[0] != takes[1]:
                return found[after], takes[0]
            if max(len(left.pairs(after[0])), len(right.pairs(after[1]))) <= MOST_POSITIONS:
                pending.append(after)
    return None
