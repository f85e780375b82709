"""Calls in other processes: whatever a call does, its error is a value and the next one is made."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import kbnf_testing
from kbnf_core import processes
from kbnf_core.processes import Pool, Process, ProcessError, StartError
from kbnf_core.text.errors import ConfigError
from kbnf_testing import calls
from kbnf_testing.alive import is_alive
from kbnf_testing.farm import wait_for

if TYPE_CHECKING:
    from concurrent.futures import Future

POSIX = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and signals")
LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def process() -> Iterator[Process]:
    made = Process(memory=256 << 20, keeps_stderr=True)
    yield made
    made.close()


def test_results_and_errors_come_back(process: Process) -> None:
    assert process.call(calls.add, 1, 2) == 3
    assert list(process.results(calls.count, 3)) == [0, 1, 2]
    assert process.call(calls.count, 3) == 2
    assert process.call(calls.count, 0) is None
    pid = process.pid
    failing: list[tuple[Callable[..., object], tuple[object, ...], type[Exception], str]] = [
        (calls.fail, ("odd",), ValueError, "odd"),
        (calls.fail_unsendably, (), RuntimeError, "_UnsendableError: 1 and 2"),
        (calls.interrupt, (), RuntimeError, "KeyboardInterrupt"),
        (calls.return_function, (), AttributeError, "pickle"),
        (calls.add, (lambda: 1, 2), ConfigError, "cannot be sent"),
    ]
    for function, arguments, kind, message in failing:
        with pytest.raises(kind, match=message):
            process.call(function, *arguments)
    with pytest.raises(ValueError, match="x") as raised:
        process.call(calls.fail, "x" * 10**6)
    assert "in fail" in str(raised.value.__cause__)
    assert process.pid == pid


def test_a_generator_that_is_left_ends_its_process(process: Process) -> None:
    before = process.call(calls.pid)
    for _ in process.results(calls.count, 1_000):
        break
    assert process.call(calls.pid) != before


@POSIX
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (calls.kill, "it ended its process with SIGKILL: last words"),
        # The worker may see the end of its pipe before it is killed.
        (calls.close_all, "it ended its process with (SIGKILL|the status 0)"),
        (calls.print_to_all, "it ended its process with SIGKILL: garbage"),
    ],
)
def test_the_end_of_a_process_is_an_error(
    process: Process, call: Callable[[], None], message: str
) -> None:
    with pytest.raises(ProcessError, match=message) as raised:
        process.call(call, seconds=30.0)
    assert not raised.value.is_late
    assert process.pid is None
    assert process.call(calls.add, 1, 2) == 3


@pytest.mark.parametrize("call", [calls.work, calls.work_in_c, calls.sleep])
def test_time_is_bounded(process: Process, call: Callable[[], None]) -> None:
    with pytest.raises(ProcessError, match=r"no answer within 0\.3 s") as raised:
        process.call(call, seconds=0.3)
    assert raised.value.is_late
    assert process.call(calls.add, 1, 2) == 3


def test_time_is_bounded_where_processor_time_is_not_known(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "_processor_time", lambda _: 0.0)
    began = time.monotonic()
    with pytest.raises(ProcessError, match=r"no answer within 0\.5 s"):
        process.call(calls.work, seconds=0.5)
    assert time.monotonic() - began < 10


@LINUX
def test_memory_is_bounded(process: Process) -> None:
    assert process.call(calls.allocate, 100 << 20) == 100 << 20
    with pytest.raises(ProcessError, match="it takes more than 256 MB of memory"):
        process.call(calls.allocate, 400 << 20)
    assert process.call(calls.add, 1, 2) == 3


@LINUX
def test_what_is_printed_is_bounded(process: Process) -> None:
    with pytest.raises(OSError, match="File too large"):
        process.call(calls.print_much)


@LINUX
def test_processor_time_is_counted(process: Process) -> None:
    before = process.spent()
    with pytest.raises(ProcessError):
        process.call(calls.work, seconds=0.5)
    assert 0.2 < process.spent() - before < 5


@POSIX
def test_a_large_message_to_a_child_that_does_not_read_ends_in_time(process: Process) -> None:
    process.call(calls.stop_soon)
    time.sleep(0.5)
    began = time.monotonic()
    with pytest.raises(ProcessError, match="no answer within 1 s"):
        process.call(calls.length, b"x" * 100_000_000, seconds=1.0)
    assert time.monotonic() - began < 30
    assert process.call(calls.length, b"x" * 10_000_000) == 10_000_000


@POSIX
def test_what_a_child_started_ends_with_it(process: Process, tmp_path: Path) -> None:
    """And does not keep the caller waiting, though it has the pipes."""
    file = tmp_path / "child"
    with pytest.raises(ProcessError, match="with the status 7"):
        process.call(calls.fork_and_end, str(file))
    assert wait_for(lambda: not is_alive(int(file.read_text())), 10)
    left = process.call(calls.fork_and_return)
    assert is_alive(left)
    process.kill()
    assert wait_for(lambda: not is_alive(left), 10)


@POSIX
def test_a_process_that_was_killed_while_idle_is_replaced_in_silence(process: Process) -> None:
    first = process.call(calls.pid)
    os.kill(first, signal.SIGKILL)
    assert wait_for(lambda: process.pid is None, 10)
    assert process.call(calls.pid) != first


def test_what_cannot_be_started_or_prepared_is_no_fault_of_a_call(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(StartError, match="no such thing"):
        Process(calls.fail, "no such thing").call(calls.add, 1, 2)
    with pytest.raises(StartError, match=r"no answer within 0\.2 s"):
        Process(calls.sleep, 1_000, to_start=0.2).call(calls.add, 1, 2)
    with pytest.raises(StartError, match="last words"):
        Process(calls.kill, keeps_stderr=True).call(calls.add, 1, 2)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    with pytest.raises(StartError, match="cannot be started"):
        Process().call(calls.add, 1, 2)


def test_a_closed_process_makes_no_calls() -> None:
    process = Process()
    pid = process.call(calls.pid)
    process.close()
    assert wait_for(lambda: not is_alive(pid), 10)
    with pytest.raises(StartError, match="closed"):
        process.call(calls.add, 1, 2)


def test_a_process_that_is_forgotten_ends() -> None:
    pid = Process().call(calls.pid)
    assert wait_for(lambda: not is_alive(pid), 10)


@POSIX
def test_in_a_pool_the_end_of_a_process_fails_its_call_only() -> None:
    with Pool(2) as pool:
        futures: list[Future[Any]]
        futures = [pool.submit(calls.add, number, 1) for number in range(10)]
        futures.insert(5, pool.submit(calls.kill))
        errors = [future.exception(timeout=60) for future in futures]
        assert isinstance(errors.pop(5), ProcessError)
        assert errors == [None] * 10


def test_a_pool_that_is_cancelled_ends_at_once() -> None:
    pool = Pool(1)
    futures = [pool.submit(calls.sleep, 1_000) for _ in range(3)]
    assert wait_for(futures[0].running, 10)
    began = time.monotonic()
    pool.shutdown(cancel_futures=True)
    assert time.monotonic() - began < 30
    assert isinstance(futures[0].exception(), ProcessError | StartError)
    assert all(future.cancelled() for future in futures[1:])


_FORKING = """
import os, sys
from kbnf_core.processes import Process
from kbnf_testing import calls
process = Process()
pid = process.call(calls.pid)
child = os.fork()
if child == 0:
    assert process.call(calls.pid) != pid
    del process
    sys.exit(3)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
assert process.call(calls.pid) == pid
"""


@POSIX
def test_a_process_that_is_forked_off_has_children_of_its_own() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(kbnf_testing.__file__).parents[1])}
    subprocess.run([sys.executable, "-c", _FORKING], env=environment, check=True, timeout=60)


# Undoes `nohup`, which would be inherited.
_PARENT = """
import signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)
from kbnf_core.processes import Process
from kbnf_testing import calls
process = Process()
print(process.call(calls.pid), flush=True)
process.call(getattr(calls, sys.argv[1]), *map(float, sys.argv[2:]))
"""


@POSIX
@pytest.mark.parametrize("sent", ["SIGTERM", "SIGINT", "SIGHUP", "SIGKILL"])
@pytest.mark.parametrize("call", [("sleep", "1000"), ("work_in_c",)], ids=["sleep", "work_in_c"])
def test_no_child_outlives_its_parent(sent: str, call: tuple[str, ...]) -> None:
    """Not even one that keeps Python's lock."""
    if call == ("work_in_c",) and not sys.platform.startswith("linux"):
        pytest.skip("only Linux ends a process that keeps Python's lock at once")
    support = str(Path(kbnf_testing.__file__).parents[1])
    parent = subprocess.Popen(
        [sys.executable, "-c", _PARENT, *call],
        env={**os.environ, "PYTHONPATH": support},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert parent.stdout is not None
    with parent.stdout:
        child = int(parent.stdout.readline())
        time.sleep(0.3)
        assert is_alive(child)
        parent.send_signal(getattr(signal, sent))
        parent.wait(timeout=30)
    assert wait_for(lambda: not is_alive(child), 10)


@POSIX
def test_an_interrupt_of_a_terminal_goes_to_the_parent_only(process: Process) -> None:
    pid = process.call(calls.pid)
    assert os.getsid(pid) == pid
