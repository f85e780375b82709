"""Calls for processes of `kbnf_core.processes`, most of them hard on the process."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


def add(one: int, other: int) -> int:
    """Return a sum."""
    return one + other


def length(data: bytes) -> int:
    """Return how much was sent."""
    return len(data)


def count(most: int) -> Iterator[int]:
    """Yield numbers."""
    yield from range(most)


def pid() -> int:
    """Return the number of the process."""
    return os.getpid()


def fail(message: str) -> None:
    """Raise an error."""
    raise ValueError(message)


class _UnsendableError(Exception):
    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def fail_unsendably() -> None:
    """Raise an error that cannot be made again of its arguments."""
    raise _UnsendableError(1, 2)


def interrupt() -> None:
    """Raise an error other than ``Exception``."""
    raise KeyboardInterrupt


def return_function() -> object:
    """Return an object that cannot be sent."""
    return lambda: None


def kill() -> None:
    """End the process, with last words."""
    sys.stderr.write("first words\nlast words\n\n")
    sys.stderr.flush()
    os.kill(os.getpid(), _KILL)


def kill_for(*_: object) -> None:
    """End the process."""
    kill()


def kill_at_five(number: int) -> int:
    """Return a number; end the process for 5."""
    if number == 5:
        kill()
    return number


def sleep(seconds: float = 1_000) -> None:
    """Wait."""
    time.sleep(seconds)


def work() -> None:
    """Take the processor for ever."""
    while True:
        pass


def work_in_c() -> None:
    """Take the processor, and the lock of Python, for longer than any test waits."""
    pow(3, 3**17)


def allocate(size: int) -> int:
    """Take so much memory."""
    return len(bytearray(size))


def print_much() -> None:
    """Print without end."""
    while True:
        os.write(2, b"x" * (1 << 20))


def print_to_all() -> None:
    """Write garbage wherever an answer may be expected."""
    for number in range(1, 20):
        try:
            os.write(number, b"garbage, and more of it than the head of a message has")
        except OSError:
            continue


def close_all() -> None:
    """Close stdin, stdout and all else, and wait."""
    os.closerange(0, 100)
    time.sleep(1_000)


def stop_soon() -> None:
    """Have the process stopped, so that it does not read any longer."""
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGSTOP)).start()


def fork_and_end(file: str) -> None:
    """Leave a process running that has all pipes; its number goes to a file."""
    child = os.fork()
    if child == 0:
        time.sleep(1_000)
        os._exit(0)
    Path(file).write_text(str(child), encoding="utf-8")
    os._exit(7)


def fork_and_return() -> int:
    """Leave a process running, and return its number."""
    child = os.fork()
    if child == 0:
        time.sleep(1_000)
        os._exit(0)
    return child
