"""Precomputation: masks of the positions likely to come next, made while the model computes.

Between a mask and the next token a server waits for the model. That time goes to the mask of this
position, then to those of the positions one byte on, two bytes on and so forth, so that forced text
is followed throughout. Results go to the usual caches; nothing else changes.
"""

from collections import deque
from time import sleep

from kbnf_core.mask.token_automaton import STATE, TableFullError, TokenAutomaton
from kbnf_core.recognise.states import DEAD

DEFAULT_WORK = 100_000
"""Counted work that takes about a millisecond with the compiled kernel."""

_STATE_WORK = 500
"""Trie nodes that are looked at in the time that a new state takes."""

_MASK_WORK = 800
"""The same for a mask that needs no walk."""

_PAUSE_AFTER = 20_000
"""Work after which other threads may run; a pause takes a tenth of a millisecond."""


def prepare(automaton: TokenAutomaton, position: int, budget: int) -> int:
    """Compute masks from ``position`` on until ``budget`` is used up; return the work done.

    The last mask may exceed the budget. Nothing is started where the table has little
    room, so that no later step pays for what may never be needed. Other threads run now and then,
    also within an interpreter's switch interval, which is several milliseconds.
    """
    masks, states = automaton.masks, automaton.masks.states
    work, pause = 0, _PAUSE_AFTER
    if position > STATE:
        # Far from its bounds a count does not matter.
        position &= STATE
    seen = {position}
    ahead = deque([position])
    while ahead and work < budget and not masks.is_half_full:
        here = ahead.popleft()
        before = _counted(automaton)
        if here < 0:
            continue
        try:
            _ = automaton.words[here]
        except TableFullError:
            break
        for byte_class in states.live_classes(here):
            after = states.step(here, byte_class)
            if after != DEAD and automaton.settle(after) not in seen:
                seen.add(automaton.settle(after))
                ahead.append(automaton.settle(after))
        work += _MASK_WORK + _counted(automaton) - before
        if work >= pause:
            sleep(0)
            pause = work + _PAUSE_AFTER
    return work


def _counted(automaton: TokenAutomaton) -> int:
    """Return all work on the masks of a grammar so far."""
    return automaton.masks.visited + _STATE_WORK * len(automaton.masks.states)
