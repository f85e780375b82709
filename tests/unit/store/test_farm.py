"""The farm: every task is done, whatever happens to the workers, with the same bytes."""

import os
import signal
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Grammar, Vocabulary, farm
from kbnf_core.farm import MADE, PRESENT, QUARANTINED, Task, TaskOutcome, run_task, run_tasks
from kbnf_core.processes import Pool, ProcessError, StartError, memory_limit
from kbnf_core.store import Failure, open_store
from kbnf_core.store.backend import DirectoryStore
from kbnf_core.store.keys import Recipe, recipe_of
from kbnf_testing.farm import DEADLY, Counting, content, killer

pytestmark = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="kills processes (POSIX)")

BYTES = Vocabulary.bytes()
TOKENS = Vocabulary({0: b"a", 1: b'{"', 2: b"key", 3: b"12", 4: b'"'}, eos_token_id=5)
WORKERS = 2


def schema(number: int) -> dict[str, object]:
    names = {f"key{number}": {"type": "string"}, "b": {"type": "integer", "maximum": number}}
    return {"type": "object", "properties": names, "required": ["b"]}


def tasks_for(url: Path, count: int) -> list[Task]:
    store = open_store(url)
    found = []
    for vocabulary in (BYTES, TOKENS):
        store.put_vocabulary(vocabulary)
        recipe = recipe_of("<start>::=<any!><start>|'!'", language="BNF")
        found.append(Task(str(url), "any token", recipe, vocabulary.fingerprint))
    schemas = (recipe_of(schema(number)) for number in range(count))
    return [*(Task(str(url), f"schema {n}", each) for n, each in enumerate(schemas)), *found]


def farmed(tasks: list[Task], log: Path, pool: Pool | None = None) -> list[TaskOutcome]:
    with pool or Pool(WORKERS) as processes:
        return list(run_tasks(tasks, Counting(processes, log), (ProcessError,), 2 * WORKERS))


def test_workers_that_are_killed_change_nothing(tmp_path: Path) -> None:
    serial = [run_task(task) for task in tasks_for(tmp_path / "serial", 22)]
    assert Counter(outcome.status for outcome in serial) == {MADE: 24}
    assert all(outcome.size and outcome.seconds for outcome in serial)
    tasks = tasks_for(tmp_path / "farm", 22)

    pool = Pool(WORKERS)

    def workers() -> list[int]:
        return [process.pid for process in pool.processes if process.pid is not None]

    log = tmp_path / "log"
    with killer(workers, 1.0, 4) as killed:
        outcomes = farmed(tasks, log, pool)
    assert len(outcomes) == len(tasks)
    assert {outcome.status for outcome in outcomes} <= {MADE, PRESENT}
    store = DirectoryStore(tmp_path / "farm")
    assert content(store) == content(DirectoryStore(tmp_path / "serial"))
    # Of each worker the task that it had begun is run again, and no other.
    assert len(log.read_text().splitlines()) <= len(tasks) + len(killed)


def test_a_source_that_kills_its_worker_is_quarantined(tmp_path: Path) -> None:
    url = tmp_path / "store"
    tasks = tasks_for(url, 2)
    deadly = Task(str(url), DEADLY, recipe_of("start ::= 'x';"))
    log = tmp_path / "log"
    outcomes = {outcome.name: outcome for outcome in farmed([deadly, *tasks], log)}
    assert Counter(outcome.status for outcome in outcomes.values()) == {MADE: 3, QUARANTINED: 1}
    assert log.read_text().splitlines().count(DEADLY) == 3
    failure = open_store(url).failure(deadly.key)
    assert failure is not None
    assert (failure.kind, failure.message) == ("killed", outcomes[DEADLY].message)
    assert "3 times" in failure.message
    assert run_task(deadly).status == "refused"


def test_a_bug_is_reported_for_its_source_and_the_others_are_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(
        recipe: Recipe, read: Callable[..., Grammar], vocabulary: Vocabulary | None
    ) -> Grammar:
        if "key1" in recipe.text:
            raise TypeError("unhashable type: 'dict'")
        return compiled(recipe, read, vocabulary)

    compiled = Recipe.read_by
    monkeypatch.setattr(Recipe, "read_by", fail)
    url = tmp_path / "store"
    tasks = tasks_for(url, 3)[:3]
    with ThreadPoolExecutor(1) as here:
        outcomes = {each.name: each for each in run_tasks(tasks, here, (), 1)}
    assert Counter(each.status for each in outcomes.values()) == {MADE: 2, "refused": 1}
    message = outcomes["schema 1"].message
    assert "internal error: TypeError: unhashable type: 'dict' at test_farm.py:" in message
    assert open_store(url).failure(tasks[1].key) == Failure("internal", message)


def test_processes_that_cannot_start_are_no_fault_of_a_source(tmp_path: Path) -> None:
    tasks = tasks_for(tmp_path / "store", 1)
    with pytest.raises(StartError, match="SIGABRT"):
        farmed(tasks, tmp_path / "log", Pool(WORKERS, os.abort))
    assert open_store(tmp_path / "store").failure(tasks[0].key) is None


class Deaf(Executor):
    """Takes tasks and does none of them."""

    def __init__(self) -> None:
        self.futures: list[Future[TaskOutcome]] = []

    def submit(  # type: ignore[override] # the farm gives a task
        self, function: Callable[..., Any], /, task: Task
    ) -> Future[Any]:
        """Take a task."""
        del function, task
        self.futures.append(Future())
        return self.futures[-1]


def test_an_executor_without_workers_ends_the_farm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farm, "PATIENCE", 0.2)
    monkeypatch.setattr(farm, "_LOOK", 0.05)
    tasks = tasks_for(tmp_path / "store", 3)
    looks = iter([False, True, True])
    with pytest.raises(StartError, match="no worker"):
        list(run_tasks(tasks, Deaf(), (), 2, lambda: next(looks, False)))
    assert next(looks, None) is None


def test_an_executor_that_ends_is_no_fault_of_a_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farm, "_LOOK", 0.05)
    tasks = tasks_for(tmp_path / "store", 3)
    deaf = Deaf()

    def ends() -> bool:
        for future in deaf.futures:
            future.cancel()
            future.set_running_or_notify_cancel()
        return True

    with pytest.raises(StartError, match="ended"):
        list(run_tasks(tasks, deaf, (), 2, ends))
    assert not any(open_store(tmp_path / "store").failure(task.key) for task in tasks)


def test_a_task_is_done_once(tmp_path: Path) -> None:
    [first, *_] = tasks_for(tmp_path / "store", 1)
    assert [run_task(first).status for _ in range(2)] == [MADE, PRESENT]


def test_memory_is_bounded_and_given_back() -> None:
    pytest.importorskip("resource")
    if not Path("/proc/self/statm").exists():
        pytest.skip("needs /proc")
    with memory_limit(64 * 2**20), pytest.raises(MemoryError):
        bytearray(512 * 2**20)
    assert len(bytearray(512 * 2**20)) == 512 * 2**20
