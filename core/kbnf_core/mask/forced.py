"""Forced continuations: the bytes, or tokens, with which every text from a position begins."""

import numpy as np

from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import StateTable


def forced_bytes(automaton: TokenAutomaton, position: int, limit: int) -> bytes:
    """Return the longest bytes, at most ``limit``, that all texts from ``position`` on begin with.

    It stops where the text may end, and where a token terminal may come.
    """
    states = automaton.masks.states
    only = _only_bytes(states)
    forced = bytearray()
    while position >= 0 and not automaton.can_finish(position) and len(forced) < limit:
        if states.token_terminals(position):
            break
        live = states.live_classes(position)
        if len(live) != 1 or live[0] not in only:
            break
        forced.append(only[live[0]])
        position = automaton.settle(states.step(position, live[0]))
    return bytes(forced)


def forced_tokens(automaton: TokenAutomaton, position: int, limit: int) -> list[int]:
    """Return the tokens that come from ``position`` on, as long as a mask allows a single one.

    At most ``limit``, as a vocabulary may force a text that never ends; a mask for each.
    """
    size = automaton.masks.vocabulary.size
    forced: list[int] = []
    while position >= 0 and len(forced) < limit:
        ids = ids_of(automaton.rule.mask(automaton.masks, position), size)
        if len(ids) != 1:
            break
        forced.append(int(ids[0]))
        position = automaton.step(position, forced[-1])
    return forced


def _only_bytes(states: StateTable) -> dict[int, int]:
    """Return the byte classes that hold one byte, each with that byte."""
    classes, first, sizes = np.unique(states.tables.classes, return_index=True, return_counts=True)
    single = sizes == 1
    return dict(zip(classes[single].tolist(), first[single].tolist(), strict=True))
