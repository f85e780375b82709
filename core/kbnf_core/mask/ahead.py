"""Work ahead: masks of the positions likely to come next, made while the model computes.

Between a token and the next mask a server waits for the model. That time goes to the mask of this
position, then to those of the positions one byte on, two bytes on and so forth, so that forced text
is followed throughout. Results go to the usual caches; nothing else changes: masks are the same.

``prepare`` does so at once. ``Ahead`` lets one thread of the process do it: engines hand it each
position from which nothing was prepared yet, and go on. It is bounded: a position has a
millisecond's work, shared where many texts wait, and nothing is made in a table that is half full.
Known text costs it nothing. The thread begins with the first position and ends with the process; a
forked child begins one of its own. ``KBNF_AHEAD=0`` in the environment disables it.

Tests: tests/unit/mask/test_ahead.py
"""

import atexit
import os
from collections import deque
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread
from time import sleep, thread_time

from kbnf_core.mask.masks import STATE, Masks
from kbnf_core.mask.token_automaton import TokenAutomaton
from kbnf_core.recognise.states import DEAD
from kbnf_core.text.locks import new_lock

DEFAULT_WORK = 100_000
"""Counted work that takes about a millisecond with the compiled kernel."""

SWITCH = "KBNF_AHEAD"
"""The environment variable that turns it off, with the value 0."""

_STATE_WORK = 500
"""Trie nodes that are looked at in the time that a new state takes."""

_MASK_WORK = 800
"""The same for a mask that needs no walk."""

_PAUSE_AFTER = 20_000
"""Work after which other threads may run; a pause takes a tenth of a millisecond."""

_PAUSE_OF_THREAD = 5_000
"""The same in the thread, which nobody waits for."""

_LAST_WAIT = 5.0
"""Seconds that the end of the process waits for the thread, at most."""


def prepare(
    automaton: TokenAutomaton,
    position: int,
    budget: int,
    pause_after: int = _PAUSE_AFTER,
    made: set[int] | None = None,
) -> int:
    """Compute masks from ``position`` on until ``budget`` is used up; return the work done.

    The last mask may exceed the budget. Nothing is started where the table has little room, so that
    no later step pays for masks that may never be needed. Other threads run now and then, also
    within an interpreter's switch interval, which is several milliseconds. ``made`` gets the
    positions whose masks were not known.
    """
    masks, states = automaton.masks, automaton.masks.states
    work, pause = 0, pause_after
    if position > STATE:
        # Far from its bounds a count does not matter.
        position &= STATE
    seen = {position}
    ahead = deque([position])
    while ahead and work < budget and not masks.is_half_full:
        here = ahead.popleft()
        before = counted_work(masks)
        if here < 0:
            continue
        if not automaton.state_masks.knows(here):
            if made is not None:
                made.add(here)
            if masks.is_full:
                break
            automaton.state_masks.find(here)
        for byte_class in states.live_classes(here):
            after = automaton.settle(masks.counting.far(states.step(here, byte_class)) & STATE)
            if after != DEAD and after not in seen:
                seen.add(after)
                ahead.append(after)
        work += _MASK_WORK + counted_work(masks) - before
        if work >= pause:
            sleep(0)
            pause = work + pause_after
    return work


def counted_work(masks: Masks) -> int:
    """Return all work on the masks of a grammar so far, in all threads and engines."""
    walker = masks.walker
    return walker.visited + _STATE_WORK * len(masks.states)


class Ahead:
    """The work ahead for some engines, and its counts; threads may share one.

    ``positions``: masks made before somebody asked; ``hits``: how many of them were asked for;
    ``seconds``: what the thread spent, on a processor.
    """

    def __init__(self) -> None:
        self.positions = 0
        self.hits = 0
        self.seconds = 0.0

    def __repr__(self) -> str:
        return (
            f"<Ahead: {self.positions} masks made, {self.hits} asked for,"
            f" {self.seconds:.3f} s on a processor>"
        )

    def put(self, key: int, automaton: TokenAutomaton, position: int) -> None:
        """Let the thread prepare from a position; of the same ``key`` only the last one counts."""
        _thread.put(key, (self, automaton, position))


def ahead_for(wanted: "bool | Ahead | None", usual: Ahead | None = None) -> Ahead | None:
    """Return the work ahead for ``wanted`` (None: ``usual``); None if it is disabled."""
    if wanted is False or os.environ.get(SWITCH) == "0":
        return None
    if isinstance(wanted, Ahead):
        return wanted
    return usual if wanted is None else Ahead()


_Job = tuple[Ahead, TokenAutomaton, int]
"""The work ahead that counts it, the automaton, and the position to start from."""


class _AheadThread:
    """The thread, and the jobs that wait for it: of each key the last position."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[tuple[int, _Job] | None] = SimpleQueue()
        self._thread: Thread | None = None
        self._is_possible = True
        self._beginning = new_lock()
        self.busy = new_lock()
        """Locked while caches change: a fork waits for it, since the child has no such thread."""

    def put(self, key: int, job: _Job) -> None:
        """Hand over a position; the thread is begun with the first."""
        if self._thread is None and self._is_possible:
            self._begin()
        if self._is_possible:
            self._queue.put((key, job))

    def _begin(self) -> None:
        with self._beginning:
            if self._thread is not None:
                return
            thread = Thread(target=self._run, name="kbnf-ahead", daemon=True)
            try:
                thread.start()
                self._thread = thread
            except RuntimeError:
                # No threads, as in a browser, or no more of them: nobody works ahead.
                self._is_possible = False

    def end(self) -> None:
        """End the thread, after the position that it is at."""
        self._is_possible = False
        if self._thread is not None:
            self._queue.put(None)
            self._thread.join(_LAST_WAIT)

    def _run(self) -> None:
        waiting: dict[int, _Job] = {}
        while self._take_all(waiting):
            key = next(iter(waiting))
            with self.busy:
                _work(*waiting.pop(key), DEFAULT_WORK // (len(waiting) + 1))

    def _take_all(self, waiting: dict[int, _Job]) -> bool:
        """Take all waiting jobs, blocking until there is one; False at the end."""
        try:
            while (item := self._queue.get(block=not waiting)) is not None:
                waiting.pop(item[0], None)
                waiting[item[0]] = item[1]
        except Empty:
            return True
        return False


def _work(ahead: Ahead, automaton: TokenAutomaton, position: int, budget: int) -> None:
    began, made = thread_time(), set[int]()
    # Errors are ignored here: the request for the same mask raises them.
    with suppress(Exception):
        prepare(automaton, position, budget, _PAUSE_OF_THREAD, made)
    automaton.unasked |= made
    ahead.positions += len(made)
    ahead.seconds += thread_time() - began


_thread = _AheadThread()


def _begin_again() -> None:
    """Forget the thread of the parent, and its job, in a forked child."""
    global _thread  # noqa: PLW0603 - there is one in a process
    _thread = _AheadThread()


def _hold_still() -> None:
    _thread.busy.acquire()


def _go_on() -> None:
    _thread.busy.release()


def _end() -> None:
    _thread.end()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_still, after_in_parent=_go_on, after_in_child=_begin_again)
atexit.register(_end)
