"""A process that does the work of a server, so that no text ends the server or holds it up."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, get_context
from typing import TYPE_CHECKING, TypeVar

from kbnf_cli.jobs import end_with_parent, interrupts_ignored

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

_log = logging.getLogger(__name__)
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


class Process:
    """One process for tasks, started when it is needed; replaced where it ends or takes too long.

    ``patience``: seconds after which a task is given up.
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._pool: ProcessPoolExecutor | None = None
        self._children: set[BaseProcess] = set()

    async def run(self, task: Callable[[_Given], _Made], given: _Given) -> _Made | None:
        """Return what ``task`` makes of ``given``; None where the process ended, or was ended."""
        if self._pool is None:
            # A fresh process: a forked one would inherit the streams of the protocol.
            context = get_context("spawn")
            self._pool = ProcessPoolExecutor(1, mp_context=context, initializer=end_with_parent)
        loop = asyncio.get_running_loop()
        try:
            others = set(active_children())
            with interrupts_ignored():
                # The process is started here; a terminal interrupts it together with the server.
                work = loop.run_in_executor(self._pool, task, given)
            self._children |= set(active_children()) - others
            return await asyncio.wait_for(work, self._patience)
        except (BrokenProcessPool, TimeoutError) as error:
            _log.warning("a text could not be looked at: %r", error)
            self.end()
        except Exception:
            _log.exception("a text could not be looked at")
        return None

    def end(self) -> None:
        """End the process, whatever it does."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for process in self._children:
            process.kill()
        self._children = set()
        pool.shutdown(cancel_futures=True)
