"""Independent work on several processors.

Tests: tests/cli
"""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from kbnf_core.processes import ProcessError

_Command = TypeVar("_Command", bound=Callable[..., Any])
_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def jobs_option(purpose: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds ``--jobs``."""
    help_ = f"{purpose}  [default: processors]"
    return click.option(
        "-j", "--jobs", type=click.IntRange(min=1), default=default_jobs, help=help_
    )


def run_jobs(
    task: Callable[[_Job], _Result], work: Sequence[_Job], jobs: int
) -> "Iterator[tuple[_Job, _Result | ProcessError]]":
    """Yield each job with its result, in the order of ``work``; an error where its process ended.

    With more than one job at a time, ``task``, the jobs and the results travel between processes,
    so they must be picklable; each process has one copy of ``task``.
    """
    if jobs == 1 or len(work) == 1:
        yield from ((job, task(job)) for job in work)
        return
    # Here, because most runs stay in one process.
    from kbnf_core.processes import Pool, ProcessError

    pool = Pool(min(jobs, len(work)), _Task.prepare, task)
    try:
        futures = [pool.submit(_Task.run, job) for job in work]
        for job, future in zip(work, futures, strict=True):
            try:
                result = future.result()
            except ProcessError as error:
                result = error
            yield job, result
    finally:
        pool.shutdown(cancel_futures=True)


class _Task:
    """The task of a process that works for another one."""

    task: Callable[[Any], Any]

    @classmethod
    def prepare(cls, task: Callable[[Any], Any]) -> None:
        cls.task = task

    @classmethod
    def run(cls, job: Any) -> Any:
        return cls.task(job)
