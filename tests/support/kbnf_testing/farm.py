"""Tasks of a farm that are counted, or end their process, and processes that are killed."""

import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

from kbnf_core.farm import Task, TaskOutcome, run_task
from kbnf_core.store import LARGEST
from kbnf_core.store.backend import Backend

DEADLY = "deadly"
"""What a task is called that ends its process."""


def counted(task: Task, log: str) -> TaskOutcome:
    """Do a task, having written its name to ``log``."""
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{task.name}\n")
    if DEADLY in task.name:
        os.kill(os.getpid(), signal.SIGKILL)
    return run_task(task)


class Counting(Executor):
    """Hands tasks on to another executor, as ``counted`` ones."""

    def __init__(self, inner: Executor, log: Path) -> None:
        self._inner = inner
        self._log = str(log)

    def submit(  # type: ignore[override] # the farm gives a task
        self, function: Callable[..., Any], /, task: Task
    ) -> Future[Any]:
        """Queue a task."""
        del function
        return self._inner.submit(counted, task, self._log)


def content(backend: Backend) -> dict[str, bytes]:
    """Return all entries of a store."""
    contents = {name: backend.get(name, LARGEST) for name in backend.keys("")}
    return {name: data for name, data in contents.items() if data is not None}


@contextmanager
def killer(pids: Callable[[], list[int]], pause: float, most: int = 1_000) -> Iterator[list[int]]:
    """Kill a process of ``pids()`` after each pause, ``most`` in all; yield those killed."""
    killed: list[int] = []
    ended = Event()

    def run() -> None:
        while len(killed) < most and not ended.wait(pause):
            alive = sorted(set(pids()) - set(killed))
            if alive:
                victim = alive[len(killed) % len(alive)]
                with suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
                killed.append(victim)

    thread = Thread(target=run)
    thread.start()
    try:
        yield killed
    finally:
        ended.set()
        thread.join()


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    """Return whether a condition comes true within some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return condition()
