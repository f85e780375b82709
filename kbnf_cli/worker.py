"""A process that works for a server, so that no text ends the server or holds it up.

The server has a ``Worker``. The process is ``python -m kbnf_cli.worker MODULE``: it imports the
module of the first task, says that it is ready, and then reads tasks and writes results, all of
them pickles. It ends when its input does, at once, whatever it is working on.

A task yields results, each more complete than the one before. So a task that is given up leaves
what it had found by then, and the outcome says that this is not all: it is ``Unknown``, with the
reason, and cannot be taken for ``Known``, the last result of a task that was completed.
"""

import asyncio
import logging
import os
import pickle
import signal
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from queue import SimpleQueue
from threading import Thread
from typing import IO, Any, Generic, TypeVar, cast

from kbnf_cli.jobs import interrupts_ignored

_START = 60.0
"""Seconds in which a process has to be ready; they count for no task."""

_Message = tuple[str, Any]
_READY, _RESULT, _DONE, _FAILED = "ready", "result", "done", "failed"

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
class Known(Generic[_Made]):
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
        self._process: _Process | None = None
        self._has_ended = False

    async def run(
        self, task: Callable[[_Given], Iterable[_Made]], given: _Given
    ) -> Known[_Made] | Unknown[_Made]:
        """Return what ``task``, a function of a module, makes of ``given``, after what waits."""
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
            self._kill()
            raise
        finally:
            self._free.release()
        if reason is None:
            return Known(results[-1])
        _log.warning("a task was not completed: %s", reason.value)
        return Unknown(reason, results[-1] if results else None)

    def hurry(self) -> None:
        """Give the task that runs its turn only, as if another one waited."""
        self._others_wait.set()

    def end(self) -> None:
        """End the process, whatever it does; no other one is started."""
        self._has_ended = True
        self._kill()

    async def _do(
        self, task: Callable[[_Given], Iterable[_Made]], given: _Given, results: list[_Made]
    ) -> Reason | None:
        """Have a task done; return why it was not completed."""
        if self._has_ended:
            return Reason.ENDED
        reason = None
        if self._process is None or not self._process.is_alive:
            self._kill()
            try:
                self._process = _Process(task.__module__)
            except OSError:
                _log.exception("no process can be started")
                return Reason.ENDED
            reason = await self._in_time(_START, _START, self._process.begin)
        if reason is None:
            process = self._process
            reason = await self._in_time(
                self.turn, self.patience, lambda: process.do(task, given, results)
            )
        if reason not in (None, Reason.FAILED):
            self._kill()
        return reason

    async def _in_time(
        self, turn: float, patience: float, exchange: Callable[[], Reason | None]
    ) -> Reason | None:
        """Return what an exchange with the process returns, or that it took too long."""
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

    def _kill(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()


class _Process:
    """The process, as the server sees it; ``begin`` and ``do`` wait for it, in a thread."""

    def __init__(self, module: str) -> None:
        with interrupts_ignored():
            # A terminal interrupts it together with the server. -P: nothing is imported from the
            # current folder, whose files may have any names.
            self._popen = subprocess.Popen(  # noqa: S603 - ourselves
                [sys.executable, "-P", "-m", "kbnf_cli.worker", module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        self._tasks = cast(IO[bytes], self._popen.stdin)
        self._messages = cast(IO[bytes], self._popen.stdout)

    @property
    def is_alive(self) -> bool:
        return self._popen.poll() is None

    def begin(self) -> Reason | None:
        """Wait until it is ready for tasks; return why it is not."""
        return None if self._read() == (_READY, None) else Reason.ENDED

    def do(
        self, task: Callable[[_Given], Iterable[_Made]], given: _Given, results: list[_Made]
    ) -> Reason | None:
        """Have a task done, with its newest result in ``results``; return why it was not."""
        with suppress(OSError, ValueError):
            pickle.dump((task, given), self._tasks)
            self._tasks.flush()
        while (message := self._read()) is not None:
            kind, value = message
            if kind == _RESULT:
                results[:] = [value]
            elif kind == _DONE:
                return None
            else:
                _log.error("%s", value)
                return Reason.FAILED
        return Reason.ENDED

    def _read(self) -> _Message | None:
        """Return the next message, None where the process has ended."""
        try:
            return cast(_Message, pickle.load(self._messages))  # noqa: S301 - our own process
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            return None

    def kill(self) -> None:
        """End it, and whatever waits for it."""
        self._popen.kill()
        self._popen.wait()
        for stream in (self._tasks, self._messages):
            with suppress(OSError):
                stream.close()


def main(module: str) -> None:
    """Do tasks until the input ends; what a library prints goes to stderr."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    import_module(module)
    tasks: SimpleQueue[tuple[Callable[[Any], Iterable[Any]], Any]] = SimpleQueue()

    def listen() -> None:
        try:
            while True:
                tasks.put(pickle.load(sys.stdin.buffer))  # noqa: S301 - from the server
        finally:
            os._exit(0)

    def tell(kind: str, value: Any = None) -> None:
        messages.write(pickle.dumps((kind, value)))
        messages.flush()

    Thread(target=listen, daemon=True).start()
    tell(_READY)
    while True:
        task, given = tasks.get()
        try:
            for result in task(given):
                tell(_RESULT, result)
            tell(_DONE)
        except Exception:
            tell(_FAILED, traceback.format_exc())


if __name__ == "__main__":
    main(sys.argv[1])
