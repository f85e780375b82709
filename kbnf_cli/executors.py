"""Where the tasks of ``compile --store`` run: processes here, or a cluster of Dask or Ray."""

import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import active_children, get_context
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

import click

from kbnf_cli.jobs import broken_pipes_as_errors, end_with_parent
from kbnf_core.text.errors import KbnfError, MissingExtraError

T = TypeVar("T")

PROCESSES = "processes"

_STARTS = 5
"""How often a process is started that ends before it has begun to work."""


@dataclass(frozen=True, slots=True)
class Workers:
    """An executor, the errors that say that a worker of it has ended, and how many it has."""

    executor: Executor
    lost: tuple[type[BaseException], ...]
    count: int


@contextmanager
def open_workers(place: str, count: int) -> Iterator[Workers]:
    """Open ``processes``, ``dask://HOST:PORT`` or ``ray://HOST:PORT``; ``count``: of processes."""
    scheme, _, address = place.partition("://")
    if place == PROCESSES:
        opened = _open_processes(count)
    elif scheme == "dask" and address:
        opened = _open_dask(address)
    elif scheme == "ray" and address:
        opened = _open_ray(address)
    else:
        raise click.UsageError(
            f"--executor is {PROCESSES}, dask://HOST:PORT or ray://HOST:PORT, not {place!r}"
        )
    with opened as workers:
        yield workers


class Processes(Executor):
    """Processes that are replaced when they end; then only the call that one worked at fails."""

    def __init__(self, count: int) -> None:
        self._calls: SimpleQueue[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]] | None]
        self._calls = SimpleQueue()
        self._ended = False
        self._threads = [Thread(target=self._serve, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()

    def submit(  # type: ignore[override] # no call here has keywords
        self, function: Callable[..., T], /, *arguments: Any
    ) -> Future[T]:
        """Queue a call."""
        future: Future[T] = Future()
        self._calls.put((future, function, arguments))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: once they are idle, or at once with ``cancel_futures``."""
        self._ended = cancel_futures
        for _ in self._threads:
            self._calls.put(None)
        if cancel_futures:
            for process in active_children():
                process.kill()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self) -> None:
        pool = None
        with broken_pipes_as_errors():
            while (call := self._calls.get()) is not None:
                future, function, arguments = call
                if self._ended:
                    future.cancel()
                elif future.set_running_or_notify_cancel():
                    pool = _run(pool, future, function, arguments)
            if pool is not None:
                pool.shutdown()


def _run(
    pool: ProcessPoolExecutor | None,
    future: Future[T],
    function: Callable[..., T],
    arguments: tuple[Any, ...],
) -> ProcessPoolExecutor | None:
    """Let a pool of one process, or a new one, answer a call; return the pool unless it broke."""
    try:
        pool = pool or _started()
        future.set_result(pool.submit(function, *arguments).result())
    except BrokenProcessPool as error:
        if pool is not None:
            pool.shutdown()
        future.set_exception(error)
        return None
    except BaseException as error:
        future.set_exception(error)
    return pool


def _started() -> ProcessPoolExecutor:
    """Return a pool whose process runs: one that ends while it starts is no fault of a call's."""
    for left in reversed(range(_STARTS)):
        # A fresh process: a forked one would inherit locks that another thread holds.
        pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=_begin)
        try:
            pool.submit(os.getpid).result()
            break
        except BrokenProcessPool:
            pool.shutdown()
            if not left:
                raise KbnfError(f"a process ended {_STARTS} times while it started") from None
    return pool


def _begin() -> None:
    """Leave interrupts to the process that started this one, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()


@contextmanager
def _open_processes(count: int) -> Iterator[Workers]:
    # As for this process: nothing here uses the threads of NumPy's linear algebra.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    executor = Processes(count)
    try:
        yield Workers(executor, (BrokenProcessPool,), count)
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


@contextmanager
def _open_dask(address: str) -> Iterator[Workers]:
    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise MissingExtraError("--executor dask://", "dask") from None
    try:
        client = Client(f"tcp://{address}", timeout=10)
    except (OSError, ValueError) as error:
        raise KbnfError(f"dask://{address} cannot be reached: {error}") from None
    with client:
        count = sum(client.nthreads().values()) or 1
        yield Workers(client.get_executor(pure=False), (KilledWorker,), count)


@contextmanager
def _open_ray(address: str) -> Iterator[Workers]:
    try:
        import ray
    except ImportError:
        raise MissingExtraError("--executor ray://", "ray") from None
    try:
        ray.init(address=f"ray://{address}", log_to_driver=False)
    except (OSError, ValueError, RuntimeError) as error:
        raise KbnfError(f"ray://{address} cannot be reached: {error}") from None
    try:
        yield ray_workers(ray)
    finally:
        ray.shutdown()


def ray_workers(ray: Any) -> Workers:
    """Return the workers of the cluster to which this process is connected."""
    count = int(ray.cluster_resources().get("CPU", 1))
    return Workers(_RayExecutor(ray), (ray.exceptions.WorkerCrashedError,), count)


class _RayExecutor(Executor):
    """Ray's tasks as futures."""

    def __init__(self, ray: Any) -> None:
        # As Dask does: a worker that ends while it starts is no fault of a call's.
        self._remote = ray.remote(max_retries=3)(_call)

    def submit(  # type: ignore[override] # no call here has keywords
        self, function: Callable[..., T], /, *arguments: Any
    ) -> Future[T]:
        """Queue a call."""
        future: Future[T] = self._remote.remote(function, *arguments).future()
        return future


def _call(function: Callable[..., T], *arguments: Any) -> T:
    return function(*arguments)
