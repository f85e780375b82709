"""Forked children: cases run after limits of memory and time, and each outcome is a value.

One child runs many cases and says over a pipe which one it begins and how that one ended. Where
the child dies (a signal, an alarm, the end of memory), the case it had begun is to blame, and the
next child goes on after it. The alarm keeps its default action, which kills: compiled code that
never returns to Python is stopped as well.

POSIX only. Elsewhere ``available`` is false, and a module that needs children skips itself::

    pytestmark = forked.needed
"""

import enum
import importlib.util
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Generic, NoReturn, TypeVar

import pytest

available = hasattr(os, "fork") and importlib.util.find_spec("resource") is not None
"""Whether this system can fork a process and limit what the child takes."""

needed = pytest.mark.skipif(not available, reason="needs os.fork and resource limits (POSIX)")

MEMORY = 2 << 30
"""Bytes of address space a child may take on top of its parent's."""
SECONDS = 10.0
"""Processor time of one case, whatever else the machine is doing."""
PATIENCE = 6.0
"""How many times as long a case may take by the clock, for those that wait for something."""
BATCH = 200
"""Cases of one child: what earlier cases left in memory does not add up for ever."""

Case = TypeVar("Case")
Value = TypeVar("Value")


class End(enum.Enum):
    """How a case ended."""

    RETURNED = "returned"
    RAISED = "raised an exception"
    MEMORY = "ran out of memory"
    TIMEOUT = "ran out of time"
    DIED = "ended its process"


@dataclass(frozen=True)
class Outcome(Generic[Case, Value]):
    """One case and how it ended."""

    case: Case
    end: End
    value: Value | None = None
    """What the work returned; ``None`` unless ``end`` is ``RETURNED``."""
    detail: str = ""
    """The traceback of an exception, or the name of a signal."""

    def __str__(self) -> str:
        return f"case {self.case!r} {self.end.value}: {self.detail or self.value}"


def run(
    work: Callable[[Case], Value],
    cases: Iterable[Case],
    *,
    seconds: float = SECONDS,
    memory: int = MEMORY,
    batch: int = BATCH,
) -> list[Outcome[Case, Value]]:
    """Return the outcome of ``work`` for every case, in order.

    ``work`` may be a closure; what it returns must pickle.
    """
    waiting = list(cases)
    outcomes: list[Outcome[Case, Value]] = []
    while waiting:
        found = _child(work, waiting[:batch], seconds, memory)
        outcomes += found
        del waiting[: len(found)]
    return outcomes


def failures(outcomes: Iterable[Outcome[Case, Value]]) -> list[str]:
    """Return a description of every outcome other than a returned value."""
    return [str(outcome) for outcome in outcomes if outcome.end is not End.RETURNED]


def _child(
    work: Callable[[Case], Value], cases: Sequence[Case], seconds: float, memory: int
) -> list[Outcome[Case, Value]]:
    """Return the outcomes of the cases that one child got through; the last may be its death."""
    receiving, sending = Pipe(duplex=False)
    with warnings.catch_warnings():
        # The child runs one thread, and ends without the parent's handlers.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        _serve(work, cases, sending, seconds, memory)
    sending.close()
    outcomes: list[Outcome[Case, Value]] = []
    with receiving:
        while len(outcomes) < len(cases):
            try:
                end, value, detail = receiving.recv()
            except EOFError:
                break
            outcomes.append(Outcome(cases[len(outcomes)], end, value, detail))
    _, status = os.waitpid(child, 0)
    if len(outcomes) < len(cases):
        outcomes.append(_death(cases[len(outcomes)], os.waitstatus_to_exitcode(status)))
    return outcomes


def _death(case: Case, status: int) -> Outcome[Case, Value]:
    if status in (-signal.SIGALRM, -signal.SIGPROF):
        return Outcome(case, End.TIMEOUT)
    detail = f"exit status {status}" if status >= 0 else signal.Signals(-status).name
    return Outcome(case, End.DIED, detail=detail)


def _serve(
    work: Callable[[Case], Value],
    cases: Sequence[Case],
    sending: Connection,
    seconds: float,
    memory: int,
) -> NoReturn:
    """Run the cases in the child, and report each as it ends."""
    try:
        _limit_memory(memory)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for case in cases:
            _limit_time(seconds)
            report = _attempt(work, case)
            _limit_time(0)
            sending.send(report)
        os._exit(0)
    finally:
        os._exit(1)


def _attempt(work: Callable[[Case], Value], case: Case) -> tuple[End, Value | None, str]:
    try:
        return End.RETURNED, work(case), ""
    except MemoryError:
        return End.MEMORY, None, ""
    except BaseException:
        return End.RAISED, None, traceback.format_exc()


def _limit_time(seconds: float) -> None:
    """End the process after so much processor time from now on, or much more by the clock."""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * seconds)


def _limit_memory(memory: int) -> None:
    if sys.platform == "win32":
        return
    import resource

    taken = 0
    pages = Path("/proc/self/statm")
    if pages.exists():
        taken = int(pages.read_text(encoding="ascii").split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = taken + memory
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
