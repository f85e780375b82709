"""Where the tasks of ``compile --store`` run: processes here, or a cluster of Dask or Ray."""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from kbnf_core.processes import Pool, ProcessError
from kbnf_core.text.errors import KbnfError, MissingExtraError

T = TypeVar("T")

PROCESSES = "processes"


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


@contextmanager
def _open_processes(count: int) -> Iterator[Workers]:
    # As for this process: nothing here uses the threads of NumPy's linear algebra.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    executor = Pool(count)
    try:
        yield Workers(executor, (ProcessError,), count)
    finally:
        executor.shutdown(cancel_futures=True)


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
