"""Independent work on several processors."""

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

_Job = TypeVar("_Job")
_Result = TypeVar("_Result")


def default_jobs() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
    from multiprocessing import get_context

    # Fresh processes: a forked one would inherit locks that another thread holds.
    with ProcessPoolExecutor(min(jobs, len(work)), mp_context=get_context("spawn")) as pool:
        yield from zip(work, pool.map(task, work), strict=True)
