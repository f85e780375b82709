"""The farm that fills a store: many recipes compiled on many processors.

It runs over any ``concurrent.futures.Executor``. A task is a recipe, over one vocabulary only if
its text represents tokens. It carries all that a worker needs but the vocabulary, which is in the
store. A task runs at least once: an existing artifact is not made again, and one that is made twice
has the same bytes. One whose worker is lost runs again; a source that takes its worker with it
``STRIKES`` times is quarantined: the reason is stored in the place of the artifact.

Futures of a cluster without workers never end, and workers may be lost for good: one that is killed
while it starts takes the nanny of Dask with it. So the farm ends where there is none for some time.

Tests: tests/unit/store/test_farm.py, tests/unit/store/test_cluster.py
"""

from collections import Counter, deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import monotonic, process_time
from typing import TYPE_CHECKING

from kbnf_core.grammar import Grammar
from kbnf_core.processes import StartError
from kbnf_core.store import ArtifactStore, DamagedError, Failure, open_store
from kbnf_core.store.backend import StoreError
from kbnf_core.store.keys import Recipe
from kbnf_core.store.making import compile_recipe
from kbnf_core.text.errors import KbnfError

if TYPE_CHECKING:
    from kbnf_core.vocab.vocabulary import Vocabulary


def make(
    store: ArtifactStore,
    key: str,
    recipe: Recipe,
    vocabulary: "Vocabulary | None",
    memory: int | None = None,
) -> int:
    """Compile a recipe and put it into the store; return the bytes of the artifact.

    Raises the error of a source that cannot be used, and stores it. ``memory``: bytes that
    compiling may take.
    """
    with store.cache.draft() as work:
        compile_recipe(store, key, recipe, vocabulary, work, Grammar.read, memory)
        store.put(key, work)
        return work.stat().st_size


STRIKES = 3
"""Workers that a source may kill before it is quarantined."""

PATIENCE = 60.0
"""Seconds that the farm waits where an executor has no worker."""

_LOOK = 2.0
"""Seconds without the end of a task after which the farm looks for workers."""

MADE, PRESENT, REPLACED = "made", "known", "replaced"
REFUSED, QUARANTINED = "refused", "quarantined"


@dataclass(frozen=True, slots=True)
class Task:
    """A source to compile; ``fingerprint``: of the vocabulary that its text is about, or ``""``.

    ``name`` is what reports call the source; ``memory``: bytes that a worker may take for it.
    """

    # A cluster logs the calls that fail, and a store's URL may have a password.
    store: str = field(repr=False)
    name: str
    recipe: Recipe
    fingerprint: str = ""
    memory: int | None = None

    @property
    def key(self) -> str:
        """The key of the artifact to make."""
        return self.recipe.key(self.fingerprint)


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """The outcome of a task, and the reason.

    ``status``: ``made``, ``known``, ``replaced`` (the existing one was damaged), ``refused`` or
    ``quarantined``. Of an artifact that was made: its ``size`` in bytes, and the ``seconds`` of
    processor time from the source to the store.
    """

    name: str
    fingerprint: str
    key: str
    status: str
    message: str = ""
    size: int | None = None
    seconds: float | None = None


def run_task(task: Task) -> TaskOutcome:
    """Do a task, in a worker. Raises ``StoreError`` where the store cannot be reached."""
    store, key = open_store(task.store), task.key

    def outcome(status: str, message: str = "") -> TaskOutcome:
        return TaskOutcome(task.name, task.fingerprint, key, status, message)

    status = MADE
    try:
        if store.check(key):
            return outcome(PRESENT)
    except DamagedError as error:
        store.discard(key, error)
        status = REPLACED
    failure = store.failure(key)
    if failure is not None:
        return outcome(REFUSED, failure.message)
    vocabulary = _worker_vocabulary(task.store, task.fingerprint)
    began = process_time()
    try:
        size = make(store, key, task.recipe, vocabulary, task.memory)
    except StoreError:
        raise
    except (KbnfError, MemoryError, RecursionError) as error:
        failure = store.failure(key)
        return outcome(REFUSED, str(error) if failure is None else failure.message)
    return replace(outcome(status), size=size, seconds=process_time() - began)


def run_tasks(
    tasks: Iterable[Task],
    executor: Executor,
    lost: tuple[type[BaseException], ...],
    window: int,
    has_workers: Callable[[], bool] = lambda: True,
) -> Iterator[TaskOutcome]:
    """Yield the outcomes of tasks, as they end; ``window`` of them are under way at a time.

    ``lost`` are the errors that say that a worker has ended. Raises ``StoreError``, and
    ``StartError`` where the executor ends, or ``has_workers`` denies it for ``PATIENCE`` seconds in
    which no task ends.
    """
    waiting: dict[Future[TaskOutcome], Task] = {}
    again: deque[Task] = deque()
    strikes: Counter[str] = Counter()
    source = iter(tasks)
    more = True
    while more or waiting or again:
        while len(waiting) < window and (again or more):
            task = again.popleft() if again else next(source, None)
            if task is None:
                more = False
                break
            waiting[executor.submit(run_task, task)] = task
        for future in _ended(waiting, has_workers):
            task = waiting.pop(future)
            if future.cancelled():
                # Nothing here does that, but a client that has lost its scheduler.
                raise StartError("the executor has ended before its tasks")
            error = future.exception()
            if error is None:
                yield future.result()
            elif not isinstance(error, lost):
                raise error
            else:
                strikes[task.key] += 1
                if strikes[task.key] < STRIKES:
                    again.append(task)
                else:
                    yield _quarantined(task)


def _ended(
    waiting: Collection[Future[TaskOutcome]], has_workers: Callable[[], bool]
) -> set[Future[TaskOutcome]]:
    """Return the tasks that have ended, once one of them has; raise ``StartError``."""
    end = monotonic() + PATIENCE
    while waiting:
        done, _ = wait(waiting, _LOOK, FIRST_COMPLETED)
        if done:
            return done
        if has_workers():
            end = monotonic() + PATIENCE
        elif monotonic() > end:
            raise StartError(f"the executor has had no worker for {PATIENCE:.0f} seconds")
    return set()


def _quarantined(task: Task) -> TaskOutcome:
    message = f"compiling this ended its process {STRIKES} times"
    open_store(task.store).put_failure(task.key, Failure("killed", message))
    return TaskOutcome(task.name, task.fingerprint, task.key, QUARANTINED, message)


@lru_cache(maxsize=32)
def _worker_vocabulary(store: str, fingerprint: str) -> "Vocabulary | None":
    """Return a vocabulary out of a store; a worker reads it once."""
    return open_store(store).vocabulary(fingerprint) if fingerprint else None
