"""Calls of functions in other processes: the one way here to have a process work.

A ``Process`` makes calls one after the other in a child, which is started for the first call and
replaced after its end; a ``Pool`` is an executor of several. Arguments, results and exceptions are
pickled, each message led by its length.

    caller --call--> owner thread ==stdin==> listener thread --> main thread: function(*arguments)
           <-answer-              <=stdout=                  <-- results, or the exception

*No child blocks its parent.* A thread of the parent owns the child: it starts the child, writes
to it and reads from it. The caller waits for that thread no longer than the time limit, then kills
the child's process group, which ends every write and read. A closed pipe is an error in the owner
thread (SIGPIPE is blocked there) and never the silent end of the parent.

*No child outlives its parent*, whatever ends that. The listener thread of the child ends the
process at the end of stdin. A call into C may keep Python's lock, so that no thread runs: on Linux
the kernel kills the child with the thread that started it (``PR_SET_PDEATHSIG``; the owner thread
lives as long as its child for that reason), elsewhere a watchdog without the lock does, at the
time limit. Children are sessions of their own: interrupts of a terminal go to the parent only.

*Limits* of a child: processor time for each answer, where the system reports it (a child that waits
for busy processors is not late), else time; memory beyond its size when it was prepared, where
the system counts it; and then the size of files, its stderr among them. What a library prints to
stdout goes to stderr.

Tests: tests/unit/test_processes.py
"""

import faulthandler
import os
import pickle
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import IO, Any, TypeVar, cast

from kbnf_core.text.errors import ConfigError, KbnfError
from kbnf_core.text.locks import new_lock

T = TypeVar("T")

TO_START = 60.0
"""Seconds in which a child has to be prepared for calls."""

_STARTS = 3
"""How often a child is restarted that ends before it is prepared: that is not a fault of a call."""

_PATIENCE = 10
"""How often the time limit may pass while the processors are busy with others."""

_IDLE = 0.05
"""The share of the time below which a child waits for something other than a processor."""

_PAUSE, _TICK = 1.0, 0.05
"""The longest and the shortest time between two looks at a child, in seconds."""

_LARGEST_ANSWER = 1 << 32
_LARGEST_FILE = 64 << 20
"""Bytes of an answer, and of a file that a child with a limit of memory writes."""

_LARGEST_TRACEBACK = 20_000
_LAST_WORDS = 300

_HEAD = struct.Struct("<?Q")
"""The head of a message: whether it is the last one of a call, and its length."""


class ProcessError(KbnfError, RuntimeError):
    """A process ended before its answer, or was ended at the time limit (``is_late``)."""

    def __init__(self, message: str, *, is_late: bool = False) -> None:
        self.is_late = is_late
        super().__init__(message)


class StartError(KbnfError, RuntimeError):
    """A process cannot be started, or prepared for calls; no call is at fault."""


class ChildError(Exception):
    """The traceback of an exception in a child, as the cause of that exception."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


def pack(message: object) -> bytes:
    """Return a message as processes send it."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def unpack(data: bytes) -> Any:
    """Return the message that ``pack`` made ``data`` of."""
    return pickle.loads(data)  # noqa: S301 - both ends of the pipe are this package's


def _send(stream: IO[bytes], data: bytes, *, is_last: bool = True) -> None:
    stream.write(_HEAD.pack(is_last, len(data)))
    stream.write(data)
    stream.flush()


def _receive(stream: IO[bytes]) -> tuple[bool, bytes]:
    """Return the next message. Raises ``EOFError`` where there is none, or not a whole one."""
    head = stream.read(_HEAD.size)
    is_last, length = _HEAD.unpack(head) if len(head) == _HEAD.size else (True, -1)
    # A child that is broken may send any length, and as much memory would be taken.
    data = stream.read(length) if 0 <= length <= _LARGEST_ANSWER else b""
    if len(data) != length:
        raise EOFError
    return is_last, data


class Process:
    """A child for the calls of one thread; ``kill`` and ``close`` may be called from any.

    Each child first calls ``prepare`` with ``arguments``, by default to import the module of the
    function that is called first; then ``memory`` bounds the bytes that it takes in addition. With
    ``keeps_stderr`` errors quote the last line that the child printed. A function that is called
    may yield: ``results`` yields what it does, ``call`` returns the last.
    """

    def __init__(
        self,
        prepare: Callable[..., object] | None = None,
        *arguments: object,
        memory: int | None = None,
        to_start: float = TO_START,
        keeps_stderr: bool = False,
    ) -> None:
        self._prepare = prepare
        self._arguments = arguments
        self._memory = memory
        self._to_start = to_start
        self._keeps_stderr = keeps_stderr
        self._lock = new_lock()
        self._child: _Child | None = None
        self._spent = 0.0
        self._kills = 0
        self._is_closed = False

    def __del__(self) -> None:
        self.kill()

    @property
    def pid(self) -> int | None:
        """The number of the child, None where none runs."""
        child = self._child
        return child.popen.pid if child is not None and child.is_running else None

    def spent(self) -> float:
        """Return the processor time of all children, in seconds; 0 where it is not known."""
        child = self._child
        return self._spent + (0.0 if child is None else child.spent())

    def call(
        self, function: Callable[..., Any], *arguments: object, seconds: float | None = None
    ) -> Any:
        """Return the result of a call, or of the last one that a generator yields.

        Raises what the function raises, and ``ProcessError``: after that, there is no child.
        """
        results = deque(self.results(function, *arguments, seconds=seconds), maxlen=1)
        return results.pop() if results else None

    def results(
        self, function: Callable[..., Any], *arguments: object, seconds: float | None = None
    ) -> Iterator[Any]:
        """Yield the results of a call, each within ``seconds``; raises as ``call`` does."""
        try:
            data = pack((function, arguments, seconds))
        except Exception as error:
            raise ConfigError(f"this cannot be sent to a process: {error}") from error
        yield from self._exchange(self._running(function), data, seconds)

    def start(self, function: Callable[..., Any]) -> None:
        """Start the child, if none runs, for calls of a function. Raises ``StartError``."""
        self._running(function)

    def kill(self) -> None:
        """End the child and all that it started; the next call starts another one."""
        with self._lock:
            self._kills += 1
        if self._child is not None:
            self._drop(self._child)

    def close(self) -> None:
        """End the child; further calls raise ``StartError``."""
        self._is_closed = True
        self.kill()

    def _drop(self, child: "_Child") -> None:
        with self._lock:
            if self._child is child:
                self._child = None
                child.kill()
                self._spent += child.spent()

    def _running(self, function: Callable[..., Any]) -> "_Child":
        # The count is read before the check, so that a close or a kill from here on ends the new
        # child.
        child, kills = self._child, self._kills
        if self._is_closed:
            raise StartError("the process is closed")
        if child is not None:
            if child.is_running:
                return child
            self._drop(child)
        left = _STARTS
        while True:
            left -= 1
            try:
                return self._started(function, kills)
            except StartError:
                raise
            except ProcessError as error:
                if error.is_late or not left or self._kills != kills:
                    raise StartError(str(error)) from None
            except Exception as error:
                raise StartError(str(error) or repr(error)) from error

    def _started(self, function: Callable[..., Any], kills: int) -> "_Child":
        prepare, arguments = self._prepare, self._arguments
        if prepare is None:
            prepare, arguments = import_module, (function.__module__,)
        roots = _roots(prepare, function, *arguments)
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}
        data = pack((self._memory, prepare, arguments))
        try:
            child = _Child(environment, keeps_stderr=self._keeps_stderr)
        except OSError as error:
            raise StartError(f"a process cannot be started: {error}") from None
        with self._lock:
            is_wanted = self._kills == kills
            self._child = child if is_wanted else self._child
        if not is_wanted:
            child.kill()
            raise StartError("the process was ended while it started")
        try:
            for _ in self._exchange(child, data, self._to_start):
                pass
        except BaseException:
            self._drop(child)
            raise
        return child

    def _exchange(self, child: "_Child", data: bytes, seconds: float | None) -> Iterator[Any]:
        child.messages.put(data)
        is_last = False
        try:
            while not is_last:
                answer = child.wait(seconds)
                if answer is None:
                    raise ProcessError(f"no answer within {seconds:g} s", is_late=True)
                is_ended = answer is _ENDED
                if not is_ended:
                    try:
                        value, error = unpack(answer[1])
                    except Exception:
                        is_ended = True
                if is_ended:
                    self._drop(child)
                    raise ProcessError(child.cause)
                if self._memory is not None and isinstance(value, MemoryError):
                    raise ProcessError(f"it takes more than {self._memory >> 20:,} MB of memory")
                is_last = answer[0]
                if error is not None:
                    raise value from ChildError(error)
                if value is not _NOTHING:
                    yield value
        finally:
            # A caller that goes away leaves answers in the pipe, which the next call would take for
            # its own.
            if not is_last:
                self._drop(child)


class _Nothing:
    """No result: that of a preparation, and the end of a generator."""

    def __reduce__(self) -> str:
        return "_NOTHING"


_NOTHING = _Nothing()

_Answer = tuple[bool, bytes]
_ENDED: _Answer = True, b""


class _Child:
    """A child and the thread that owns it; raises ``OSError`` where it cannot be started."""

    def __init__(self, environment: dict[str, str], *, keeps_stderr: bool) -> None:
        self.messages: SimpleQueue[bytes | None] = SimpleQueue()
        self._answers: SimpleQueue[_Answer] = SimpleQueue()
        self._stderr = tempfile.TemporaryFile() if keeps_stderr else None  # noqa: SIM115
        self._spent = 0.0
        self._parent = os.getpid()
        self.cause = ""
        started: SimpleQueue[subprocess.Popen[bytes] | Exception] = SimpleQueue()
        Thread(target=self._own, args=(environment, started), daemon=True).start()
        made = started.get()
        if isinstance(made, Exception):
            raise made
        self.popen = made

    @property
    def _is_of_other(self) -> bool:
        """Whether this process was forked off the one whose child it is."""
        return os.getpid() != self._parent

    @property
    def is_running(self) -> bool:
        """Whether the child has not ended; its number stays its own until it is waited for."""
        if self.popen.returncode is not None or self._is_of_other:
            return False
        if not hasattr(os, "waitid"):
            return self.popen.poll() is None
        try:
            options = os.WEXITED | os.WNOHANG | os.WNOWAIT
            return os.waitid(os.P_PID, self.popen.pid, options) is None
        except ChildProcessError:
            return False

    def wait(self, seconds: float | None) -> _Answer | None:
        """Return the next answer, ``_ENDED`` where the child has ended; None for a late one."""
        before, began = self.spent(), time.monotonic()
        left = _PAUSE if seconds is None else min(seconds, _PAUSE)
        is_running = True
        while True:
            try:
                return self._answers.get(timeout=min(left, _PAUSE))
            except Empty:
                if not is_running:
                    # A process that the child started has its stdout still.
                    return _ENDED
            # Before the next look at the queue: the last answer may come between the two.
            is_running = self.is_running
            if seconds is not None:
                had, passed = self.spent() - before, time.monotonic() - began
                left = min(max(seconds - had, _TICK), seconds * _PATIENCE - passed)
                is_idle = passed >= seconds and had < passed * _IDLE
                if had >= seconds or is_idle or left <= 0:
                    return None

    def spent(self) -> float:
        """Return the processor time that the child has had, in seconds."""
        if self.popen.returncode is None:
            self._spent = max(self._spent, _processor_time(self.popen.pid))
        return self._spent

    def kill(self) -> None:
        """End the child and its group; ``cause`` is then how it ended, with its last words."""
        if self._is_of_other:
            return
        self.spent()
        _kill_group(self.popen)
        self.messages.put(None)
        self.cause = self.cause or _cause(self.popen.wait())
        if self._stderr is None:
            return
        with self._stderr as file:
            file.seek(max(file.seek(0, os.SEEK_END) - 10_000, 0))
            lines = file.read().decode("utf-8", "replace").split("\n")
        self._stderr = None
        words = [line.strip() for line in lines if line.strip()]
        self.cause += f": {words[-1][:_LAST_WORDS]}" if words else ""

    def _own(
        self,
        environment: dict[str, str],
        started: "SimpleQueue[subprocess.Popen[bytes] | Exception]",
    ) -> None:
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGPIPE})
        try:
            popen = subprocess.Popen(
                # -P: nothing is imported from the current folder, whose files may have any names.
                [sys.executable, "-P", "-c", "from kbnf_core.processes import main; main()"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                env=environment,
                start_new_session=True,
            )
        except Exception as error:
            started.put(error)
            return
        started.put(popen)
        stdin, stdout = cast(IO[bytes], popen.stdin), cast(IO[bytes], popen.stdout)
        with suppress(OSError, EOFError, ValueError, MemoryError):
            while (message := self.messages.get()) is not None:
                _send(stdin, message)
                is_last = False
                while not is_last:
                    is_last, data = _receive(stdout)
                    self._answers.put((is_last, data))
        # Its clock is gone once it was waited for.
        self._spent = max(self._spent, _processor_time(popen.pid))
        _kill_group(popen)
        popen.wait()
        self._answers.put(_ENDED)
        for stream in (stdin, stdout):
            with suppress(OSError):
                stream.close()


def _kill_group(popen: "subprocess.Popen[bytes]") -> None:
    """End a child and its own children, as long as its number is its own."""
    if popen.returncode is None:
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(popen.pid, signal.SIGKILL)
            else:
                popen.kill()


def _roots(*values: object) -> list[str]:
    """Return the folders in which this package and the modules of functions are found."""
    functions = (value.__module__.partition(".")[0] for value in values if callable(value))
    names = dict.fromkeys(("kbnf_core", *functions))
    roots = dict.fromkeys(
        str(Path(next(iter(getattr(module, "__path__", ())), module.__file__ or "")).parent)
        for name, module in ((name, sys.modules[name]) for name in names)
        if name not in sys.stdlib_module_names
    )
    return [*roots, *filter(None, [os.environ.get("PYTHONPATH")])]


def _processor_time(pid: int) -> float:
    """Return the seconds of processor time of a process; 0 where the system does not report it."""
    try:
        # The clock of a process, as Linux numbers them (``clock_getcpuclockid``): it is read for
        # each question to an engine, and the file in /proc costs a hundred times as much.
        return time.clock_gettime(~pid << 3 | 2)
    except (OSError, AttributeError, OverflowError):
        return 0.0


def _cause(status: int) -> str:
    if status >= 0:
        return f"it ended its process with the status {status}"
    try:
        return f"it ended its process with {signal.Signals(-status).name}"
    except ValueError:
        return f"it ended its process with the signal {-status}"


class Pool(Executor):
    """An executor of several processes; the end of one fails its call only (``ProcessError``).

    ``prepare`` and ``arguments`` are those of ``Process``.
    """

    def __init__(
        self, count: int, prepare: Callable[..., object] | None = None, *arguments: object
    ) -> None:
        self.processes: Sequence[Process] = [Process(prepare, *arguments) for _ in range(count)]
        self._works: SimpleQueue[tuple[Future[Any], Callable[[Process], Any]] | None]
        self._works = SimpleQueue()
        self._is_cancelled = False
        self._threads = [
            Thread(target=self._serve, args=(process,), daemon=True) for process in self.processes
        ]
        for thread in self._threads:
            thread.start()

    def submit(  # type: ignore[override] # no call here has keywords
        self, function: Callable[..., T], /, *arguments: Any
    ) -> Future[T]:
        """Queue a call."""
        return self.submit_work(lambda process: process.call(function, *arguments))

    def submit_work(self, work: Callable[[Process], T]) -> Future[T]:
        """Queue a function that a thread of this process calls, with a process of the pool."""
        future: Future[T] = Future()
        self._works.put((future, work))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: once they are idle, or at once with ``cancel_futures``."""
        self._is_cancelled = self._is_cancelled or cancel_futures
        for process in self.processes:
            self._works.put(None)
            if cancel_futures:
                process.close()
        if wait:
            for thread in self._threads:
                thread.join()

    def _serve(self, process: Process) -> None:
        while (next_ := self._works.get()) is not None:
            future, work = next_
            if self._is_cancelled:
                future.cancel()
            elif future.set_running_or_notify_cancel():
                try:
                    result = work(process)
                except BaseException as error:
                    future.set_exception(error)
                else:
                    future.set_result(result)
        process.close()


@contextmanager
def memory_limit(more: int | None) -> Iterator[None]:
    """Let this process take ``more`` bytes than it has; beyond is ``MemoryError``."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (ImportError, OSError):
        more = None
    if more is None:
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * os.sysconf("SC_PAGE_SIZE") + more
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def main() -> None:
    """Answer calls until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    has_kernel_watch = _end_with_parent()
    calls: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        try:
            while True:
                calls.put(_receive(sys.stdin.buffer)[1])
        finally:
            os._exit(0)

    Thread(target=listen, daemon=True).start()
    try:
        memory, prepare, arguments = unpack(calls.get())
        prepare(*arguments)
    except BaseException as error:
        _send(answers, _raised(error))
        return
    with nullcontext() if memory is None else _limits(memory):
        _send(answers, pack((_NOTHING, None)))
        while True:
            data = calls.get()
            try:
                function, arguments, seconds = unpack(data)
                if seconds is not None and not has_kernel_watch:
                    faulthandler.dump_traceback_later(seconds * _PATIENCE + 1, exit=True)
                result = function(*arguments)
                if isinstance(result, Iterator):
                    for item in result:
                        _send(answers, pack((item, None)), is_last=False)
                    result = _NOTHING
                answer = pack((result, None))
            except BaseException as error:
                answer = _raised(error)
            # The next call may come much later, and has the same bound of memory.
            result = None
            _send(answers, answer)
            faulthandler.cancel_dump_traceback_later()


def _end_with_parent() -> bool:
    """Have the kernel end this process with the thread that started it; return whether it will."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    set_death_signal = 1
    try:
        return bool(ctypes.CDLL(None).prctl(set_death_signal, signal.SIGKILL) == 0)
    except (OSError, AttributeError):
        return False


@contextmanager
def _limits(memory: int) -> Iterator[None]:
    """Bound this process where the system can: its memory, files that it writes, no core dumps."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        for kind, most in ((resource.RLIMIT_FSIZE, _LARGEST_FILE), (resource.RLIMIT_CORE, 0)):
            _, hard = resource.getrlimit(kind)
            resource.setrlimit(
                kind, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard)
            )
    with memory_limit(memory):
        yield


def _raised(error: BaseException) -> bytes:
    """Return the message of an exception; one that cannot be sent becomes ``RuntimeError``."""
    text = "".join(traceback.format_exception(error))[:_LARGEST_TRACEBACK]
    if isinstance(error, Exception):
        with suppress(Exception):
            data = pack((error, text))
            # Exceptions whose constructors ask for more than a message are pickled, and cannot be
            # unpickled.
            unpack(data)
            return data
    words = traceback.format_exception_only(error)[-1].strip()
    return pack((RuntimeError(words[:_LARGEST_TRACEBACK]), text))
