"""A search for short differences before machines are made, for grammars with large automata.

Both recognisers read the same bytes, breadth-first, so that what is found is shortest. Most large
grammars that differ do so in a few bytes, and making one machine of both takes as long as their
automata are large. Nothing is proved here: where a side has no witness soon, the search over the
machine decides.
"""

from collections.abc import Sequence

from kbnf_core.lower.tables import Tables
from kbnf_core.recognise.states import DEAD, StateTable

LARGE = 50_000
"""Edges of both automata from which on a machine of both takes seconds."""

MOST_PAIRS = 2_000
"""Pairs of states that are looked at."""


def short_witnesses(sides: Sequence[Tables], eager: tuple[bool, bool]) -> list[bytes | None]:
    """Return a shortest text on the left only, and one on the right only; None where none is soon.

    ``eager``: texts of a side end where they are complete first. Only grammars that are large, and
    take no tokens by their ids, are looked at.
    """
    found: list[bytes | None] = [None, None]
    edges = sum(len(tables.edge_class) for tables in sides)
    if edges < LARGE or any(tables.token_terminals for tables in sides):
        return found
    states = [StateTable(tables) for tables in sides]
    letters = _letters(sides)
    begin = (states[0].initial, states[1].initial)
    texts = {begin: b""}
    for pair in (queue := [begin]):
        if None not in found or len(queue) > MOST_PAIRS:
            break
        for letter in letters:
            reached, takes = _step(states, pair, letter)
            text = texts[pair] + bytes([letter])
            for side in (0, 1):
                if takes[side] and not takes[1 - side] and found[side] is None:
                    found[side] = text
            left, right = (
                DEAD if over and ends else state
                for state, over, ends in zip(reached, takes, eager, strict=True)
            )
            if (left, right) not in texts and (left, right) != (DEAD, DEAD):
                texts[left, right] = text
                queue.append((left, right))
    return found


def _step(
    states: Sequence[StateTable], pair: tuple[int, int], letter: int
) -> tuple[list[int], list[bool]]:
    """Return the states after a byte, and whether a text of each side is complete there."""
    reached, takes = [DEAD, DEAD], [False, False]
    for side, state in enumerate(pair):
        if state != DEAD:
            table = states[side]
            reached[side] = table.step(state, int(table.classes[letter]))
            takes[side] = reached[side] != DEAD and bool(table.completions(reached[side]))
    return reached, takes


def _letters(sides: Sequence[Tables]) -> list[int]:
    """Return a byte of each class of both, a printable one if there is one."""
    order = sorted(range(256), key=lambda byte: (not 0x20 < byte < 0x7F, byte))
    chosen: dict[tuple[int, int], int] = {}
    for byte in order:
        chosen.setdefault((int(sides[0].classes[byte]), int(sides[1].classes[byte])), byte)
    return list(chosen.values())
