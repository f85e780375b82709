"""A process that works for a server, so that no text ends the server or contains it up.

The server has a ``Worker``, which gives tasks to a process (``kbnf_core.processes``), one after the
other.

A task yields results, each more complete than the one before. So a task that is given up leaves
what it had found by then, and the outcome says that this is not all: it is ``Unknown``, with the
reason, and cannot be taken for ``KnownResult``, the last result of a task that was completed.

Tests: tests/unit/test_worker.py, tests/lsp/test_workshop.py
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeVar

from kbnf_core.processes import Process, ProcessError, StartError

_log = logging.getLogger(__name__)
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Reason(Enum):
    """Why a task was not completed."""

    LATE = "it takes too long"
    STOPPED = "it takes too long while others wait"
    ENDED = "the process that worked on it has ended"
    FAILED = "an internal failure"


@dataclass(frozen=True, slots=True)
class KnownResult(Generic[_Made]):
    """The result of a task."""

    value: _Made


@dataclass(frozen=True, slots=True)
class Unknown(Generic[_Made]):
    """That a task was not completed, with its newest result, None where there is none."""

    reason: Reason
    so_far: _Made | None = None


class Worker:
    """One process for tasks, one after the other; replaced where it ends or has to be ended.

    ``patience``: seconds after which a task is given up; ``turn``: the same while others wait.
    """

    def __init__(self, patience: float, turn: float) -> None:
        self.patience = patience
        self.turn = turn
        self._free = asyncio.Lock()
        self._waiting = 0
        self._others_wait = asyncio.Event()
        self._process = Process()

    async def run(
        self, task: Callable[[_Given], Iterable[_Made]], given: _Given
    ) -> KnownResult[_Made] | Unknown[_Made]:
        """Return the result of ``task``, a function of a module, for ``given``, in turn."""
        self._waiting += 1
        self._others_wait.set()
        try:
            await self._free.acquire()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._others_wait.clear()
        results: list[_Made] = []
        try:
            reason = await self._do(task, given, results)
        except BaseException:
            # Nobody asks for the result any more, and nobody has to wait for it.
            self._process.kill()
            raise
        finally:
            self._free.release()
        if reason is None:
            return KnownResult(results[-1])
        _log.warning("a task was not completed: %s", reason.value)
        return Unknown(reason, results[-1] if results else None)

    def hurry(self) -> None:
        """Give the task that runs its turn only, as if another one waited."""
        self._others_wait.set()

    def end(self) -> None:
        """End the process, whatever it does; no other one is started."""
        self._process.close()

    async def _do(
        self, task: Callable[[_Given], Iterable[_Made]], given: _Given, results: list[_Made]
    ) -> Reason | None:
        """Have a task done, with its newest result in ``results``; return why it was not."""

        def begin() -> Reason | None:
            try:
                self._process.start(task)
            except StartError as error:
                _log.error("no process can be started: %s", error)
                return Reason.ENDED
            return None

        def work() -> Reason | None:
            try:
                for result in self._process.results(task, given):
                    results[:] = [result]
            except (ProcessError, StartError):
                return Reason.ENDED
            except Exception as error:
                _log.error("a task failed", exc_info=error)
                return Reason.FAILED
            return None

        # The time of the start is that of no task.
        reason = await asyncio.to_thread(begin)
        if reason is None:
            reason = await self._in_time(self.turn, self.patience, work)
        if reason not in (None, Reason.FAILED):
            self._process.kill()
        return reason

    async def _in_time(
        self, turn: float, patience: float, exchange: Callable[[], Reason | None]
    ) -> Reason | None:
        """Return the result of an exchange with the process, or that it took too long."""
        answer = asyncio.create_task(asyncio.to_thread(exchange))
        await asyncio.wait({answer}, timeout=turn)
        if not answer.done():
            others = asyncio.create_task(self._others_wait.wait())
            await asyncio.wait(
                {answer, others},
                timeout=max(0.0, patience - turn),
                return_when=asyncio.FIRST_COMPLETED,
            )
            others.cancel()
        if answer.done():
            return answer.result()
        return Reason.STOPPED if self._others_wait.is_set() else Reason.LATE
