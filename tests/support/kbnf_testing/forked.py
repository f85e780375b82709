"""Runs cases in forked children, so that one that crashes, hangs or eats memory is named.

A child runs one case after the other and says through a pipe which it begins and how each ended.
Where it dies, the case it was at failed, and a new child goes on behind it. Linux only.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

AVAILABLE = sys.platform == "linux"
"""Whether there are forks, limits on memory and alarms as they are used here."""

LARGEST_MEMORY = 2 * 2**30
"""Bytes of address space that a case may add to those of its parent."""

LONGEST = 10
"""Seconds that a case may take."""

_DIED = "died"


@dataclass(frozen=True, slots=True)
class Ended:
    """How a case ended: in the words of who ran it, or ``died`` with the reason."""

    case: int
    words: str


def run_forked(cases: Sequence[int], run: Callable[[int], str]) -> Iterator[Ended]:
    """Yield how each case ended: what ``run`` returned, or how its process died."""
    left = list(cases)
    while left:
        done = 0
        for ended in _run_child(left, run):
            done += 1
            yield ended
        left = left[done:]


def _run_child(cases: Sequence[int], run: Callable[[int], str]) -> Iterator[Ended]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _be_child(cases, run, writer)
    os.close(writer)
    count = 0
    with os.fdopen(reader, "rb") as lines:
        for count, line in enumerate(lines, 1):
            yield Ended(cases[count - 1], json.loads(line))
    _, status = os.waitpid(child, 0)
    if count < len(cases):
        yield Ended(cases[count], f"{_DIED}: {_how(status)}")


def _be_child(cases: Sequence[int], run: Callable[[int], str], writer: int) -> None:
    """Run the cases and leave; whatever happens, nothing returns to the tests of the parent."""
    try:
        _limit_memory()
        for case in cases:
            signal.alarm(LONGEST)
            words = run(case)
            signal.alarm(0)
            os.write(writer, json.dumps(words).encode() + b"\n")
        os._exit(0)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(70)


def _limit_memory() -> None:
    import resource

    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + LARGEST_MEMORY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _how(status: int) -> str:
    if not os.WIFSIGNALED(status):
        return f"status {os.waitstatus_to_exitcode(status)}"
    number = os.WTERMSIG(status)
    if number == signal.SIGALRM:
        return f"took more than {LONGEST} s"
    return signal.Signals(number).name
