"""What must come next: the bytes, or the tokens, that every way on from a place begins with."""

import numpy as np

from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.course import Course
from kbnf_core.recognise.states import StateTable


def forced_bytes(course: Course, place: int, limit: int) -> bytes:
    """Return the longest bytes, at most ``limit``, that all texts from ``place`` on begin with.

    It stops where the text may end, and where a token terminal may come.
    """
    states = course.masks.states
    only = _only_bytes(states)
    forced = bytearray()
    while place >= 0 and not course.can_finish(place) and len(forced) < limit:
        if states.token_terminals(place):
            break
        live = states.live_classes(place)
        if len(live) != 1 or live[0] not in only:
            break
        forced.append(only[live[0]])
        place = course.settle(states.step(place, live[0]))
    return bytes(forced)


def forced_tokens(course: Course, place: int, limit: int) -> list[int]:
    """Return the tokens that come from ``place`` on, as long as a mask allows a single one.

    At most ``limit``, as a vocabulary may force a text that never ends; a mask for each.
    """
    size = course.masks.vocabulary.size
    forced: list[int] = []
    while place >= 0 and len(forced) < limit:
        ids = ids_of(course.rule.mask(course.masks, place), size)
        if len(ids) != 1:
            break
        forced.append(int(ids[0]))
        place = course.step(place, forced[-1])
    return forced


def _only_bytes(states: StateTable) -> dict[int, int]:
    """Return the byte classes that hold one byte, each with that byte."""
    classes, first, sizes = np.unique(states.tables.classes, return_index=True, return_counts=True)
    single = sizes == 1
    return dict(zip(classes[single].tolist(), first[single].tolist(), strict=True))
