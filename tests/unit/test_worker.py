"""The process that works for a server: what is known, what is not, and who has to wait."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from kbnf_cli.worker import KnownResult, Reason, Unknown, Worker
from kbnf_testing.tasks import exit_at_once, fail, process, steps

_T = TypeVar("_T")

LONG = 3600.0


def with_worker(
    use: Callable[[Worker], Awaitable[_T]], patience: float = LONG, turn: float = 1.0
) -> _T:
    """Return what comes of using a worker."""

    async def run() -> _T:
        worker = Worker(patience, turn)
        try:
            return await use(worker)
        finally:
            worker.end()

    return asyncio.run(run())


def test_the_last_result_is_known() -> None:
    assert with_worker(lambda worker: worker.run(steps, [0, 0, 0])) == KnownResult(2)


def test_what_takes_too_long_is_unknown_but_for_what_it_had() -> None:
    outcome = with_worker(lambda worker: worker.run(steps, [0, LONG]), patience=1.0, turn=1.0)
    assert outcome == Unknown(Reason.LATE, 1)


def test_what_takes_long_is_stopped_only_while_others_wait() -> None:
    async def use(worker: Worker) -> list[object]:
        assert await worker.run(steps, [1.5]) == KnownResult(0)
        return await asyncio.gather(
            worker.run(steps, [LONG]), *(worker.run(steps, [0]) for _ in range(5))
        )

    assert with_worker(use) == [Unknown(Reason.STOPPED, 0), *[KnownResult(0)] * 5]


def test_a_newer_version_counts_as_one_that_waits() -> None:
    async def use(worker: Worker) -> object:
        work = asyncio.create_task(worker.run(steps, [LONG]))
        await asyncio.sleep(0)
        worker.hurry()
        return await work

    assert with_worker(use) == Unknown(Reason.STOPPED, 0)


def test_a_task_that_ends_the_process_harms_no_other() -> None:
    async def use(worker: Worker) -> list[object]:
        tasks = (
            worker.run(exit_at_once, 3),
            worker.run(steps, [0]),
            worker.run(exit_at_once, 0),
        )
        return [*await asyncio.gather(*tasks)]

    assert with_worker(use) == [Unknown(Reason.ENDED), KnownResult(0), Unknown(Reason.ENDED)]


def test_a_process_that_was_killed_while_idle_is_replaced_in_silence() -> None:
    async def use(worker: Worker) -> None:
        first = await worker.run(process, None)
        assert isinstance(first, KnownResult)
        os.kill(first.value, getattr(signal, "SIGKILL", signal.SIGTERM))
        await asyncio.sleep(0.2)
        second = await worker.run(process, None)
        assert isinstance(second, KnownResult)
        assert second != first
        assert await worker.run(process, None) == second

    with_worker(use)


def test_a_failure_is_no_result_and_no_end(caplog: pytest.LogCaptureFixture) -> None:
    async def use(worker: Worker) -> None:
        before = await worker.run(process, None)
        assert await worker.run(fail, "odd") == Unknown(Reason.FAILED)
        assert await worker.run(process, None) == before

    with_worker(use)
    assert "ValueError: odd" in caplog.text


def test_a_task_that_nobody_waits_for_ends() -> None:
    async def use(worker: Worker) -> object:
        work = asyncio.create_task(worker.run(steps, [LONG]))
        await asyncio.sleep(0.5)
        work.cancel()
        return await worker.run(steps, [0])

    assert with_worker(use) == KnownResult(0)


def test_after_its_end_nothing_is_started() -> None:
    async def use(worker: Worker) -> object:
        worker.end()
        return await worker.run(steps, [0])

    assert with_worker(use) == Unknown(Reason.ENDED)


def test_a_process_that_cannot_be_started_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    assert with_worker(lambda worker: worker.run(steps, [0])) == Unknown(Reason.ENDED)


def test_nothing_is_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("pickle", "asyncio", "kbnf_cli", "multiprocessing"):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w')\n")
    monkeypatch.chdir(tmp_path)
    assert with_worker(lambda worker: worker.run(steps, [0])) == KnownResult(0)
    assert not (tmp_path / "imported").exists()
