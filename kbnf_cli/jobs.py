"""Independent work on several processors."""

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import click

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_option(what: str) -> Callable[[_Command], _Command]:
    """Return what adds ``--jobs``."""
    help_ = f"{what}  [default: the number of processors]"
    return click.option(
        "-j", "--jobs", type=click.IntRange(min=1), default=default_jobs, help=help_
    )


def run_jobs(
    task: Callable[[_Job], _Result], work: Sequence[_Job], jobs: int
) -> Iterator[tuple[_Job, _Result]]:
    """Yield each job with its result, in the order of ``work``.

    With more than one job at a time, ``task``, the jobs and the results travel between processes,
    so they must be picklable.
    """
    if jobs == 1 or len(work) == 1:
        yield from ((job, task(job)) for job in work)
        return
    # Here, because most runs stay in one process.
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import active_children, get_context

    # Fresh processes: a forked one would inherit locks that another thread holds.
    pool = ProcessPoolExecutor(min(jobs, len(work)), mp_context=get_context("spawn"))
    try:
        with interrupts_ignored(), broken_pipes_as_errors():
            # All processes are started here, and the threads that write to them.
            futures = [pool.submit(task, job) for job in work]
        yield from ((job, future.result()) for job, future in zip(work, futures, strict=True))
    except BaseException:
        for process in active_children():
            process.terminate()
        raise
    finally:
        pool.shutdown()


def end_with_parent() -> None:
    """Leave nothing behind where the process that started this one is killed; for its start."""
    from multiprocessing import parent_process

    parent = parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(0)

    threading.Thread(target=wait, daemon=True).start()


@contextmanager
def broken_pipes_as_errors() -> Iterator[None]:
    """Let writing to a process that has ended fail, where it would end this process silently.

    That holds for this thread, and for threads that are started in the block.
    """
    if not hasattr(signal, "SIGPIPE"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let processes that are started in the block leave interrupts to this one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
