"""A shortest text on which two grammars differ, from the product of both recognisers."""

from collections.abc import Iterator

from kbnf_core.automata.alphabet import first_bytes, join
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.explore import shortest_word_to
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

    def takes(pair: tuple[int, int]) -> tuple[bool, bool]:
        return bool(left.completions(pair[0])), bool(right.completions(pair[1]))

    def differs(pair: tuple[int, int]) -> bool:
        return pair != start and len({*takes(pair)}) > 1

    def steps(pair: tuple[int, int]) -> Iterator[tuple[int, tuple[int, int]]]:
        positions = max(len(left.pairs(pair[0])), len(right.pairs(pair[1])))
        if pair != start and positions > MOST_POSITIONS:
            return
        for byte, left_class, right_class in columns:
            after = (left.step(pair[0], left_class), right.step(pair[1], right_class))
            if after != (DEAD, DEAD):
                yield byte, after

    try:
        found = shortest_word_to(start, differs, steps, most)
    except LimitError:
        return None
    return found and (found[0], takes(found[1])[0])
