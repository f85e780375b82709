"""Engines as they are asked: each in a process with limits, which is replaced when it dies.

Nothing that an engine does reaches the caller: exceptions, the end of its process and timeouts are
answers like any other. The functions at the end are those that the process calls. Its stderr is a
file, which has the text that an engine prints before it ends the process, and the messages of
llama.cpp's parser.

Tests: tests/unit/targets/test_process.py, tests/unit/targets/test_exam.py
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kbnf_core.processes import Process, ProcessError, StartError
from kbnf_core.targets.engines import ENGINES, Adapter, EngineReader, words_of
from kbnf_core.text.errors import KbnfError, install_command

SECONDS = 10.0
"""The processor time that an engine has for a schema, and for a text."""

LEAST_SECONDS = 0.5
_TIMES_THE_WHOLE = 10
"""The least time for a part of a schema, and how many times longer than the whole it may take."""

_TO_LOAD = 120.0
"""The time that an engine has to be loaded: torch is imported with xgrammar."""

MEMORY = 1 << 30
"""Bytes that an engine may take for a schema, beside what it takes when it is loaded."""


class NotInstalledError(KbnfError):
    """An engine that was named is not installed, or cannot be loaded."""


class How(Enum):
    """What an engine did with a schema."""

    TAKES = "takes"
    REFUSES = "refuses"
    CRASHES = "crashes"
    HANGS = "hangs"


@dataclass(frozen=True, slots=True)
class EngineAnswer:
    """What an engine did with a schema: its words, its time, and the memory of one it takes."""

    how: How
    words: str = ""
    seconds: float = 0.0
    bytes: int = 0

    @property
    def takes(self) -> bool:
        """Whether texts can be asked about."""
        return self.how is How.TAKES


class EngineFailedError(Exception):
    """An engine failed while it read a text; the message is in its words."""


def version_of(name: str) -> str:
    """Return the version of an engine; raises ``NotInstalledError`` where it is not installed."""
    engine = ENGINES[name]
    result = engine.version()
    if result is None:
        raise NotInstalledError(f"{name} is not installed: {install_command(engine.extra)}")
    return result


def not_installed(names: Iterable[str]) -> str:
    """Return what to do where none of these engines is installed."""
    commands = (install_command(ENGINES[name].extra) for name in names)
    packages = " ".join(command.removeprefix("pip install ") for command in commands)
    return f"no engine is installed: pip install {packages}"


def installed() -> tuple[str, ...]:
    """Return the names of the engines that are installed."""
    return tuple(name for name, engine in ENGINES.items() if engine.version() is not None)


@dataclass(slots=True)
class Asked:
    """One engine, asked in a process that is begun with the first question.

    ``adapter`` loads the engine; what tests the limits gives another one. Not for several threads.
    """

    name: str
    seconds: float = SECONDS
    memory: int = MEMORY
    adapter: Callable[[], Adapter] | None = None
    _process: Process = field(init=False)
    _limit: float = field(default=0.0, init=False)
    _compiled: tuple[str, str, dict[str, Any]] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._limit = self.seconds
        load = self.adapter or ENGINES[self.name].load
        self._process = Process(
            _load, load, memory=self.memory, to_start=_TO_LOAD, keeps_stderr=True
        )

    def open(self) -> None:
        """Load the engine, if it is not. Raises ``NotInstalledError``."""
        if self.adapter is None and self._process.pid is None:
            version_of(self.name)
        try:
            self._process.start(_load)
        except StartError as error:
            raise NotInstalledError(f"{self.name} cannot be loaded: {error}") from None

    def compile(
        self,
        text: str,
        language: str = "json-schema",
        options: Mapping[str, Any] | None = None,
    ) -> EngineAnswer:
        """Give the engine a schema or a grammar; ``reads`` asks about its texts from then on.

        Raises ``NotInstalledError``, for an engine that cannot be loaded, too.
        """
        wanted = language, text, dict(options or {})
        self._compiled = None
        self.open()
        try:
            answer: EngineAnswer = self._process.call(_compile, *wanted, seconds=self._limit)
        except ProcessError as error:
            return EngineAnswer(How.HANGS if error.is_late else How.CRASHES, str(error))
        self._compiled = wanted if answer.takes else None
        return answer

    @contextmanager
    def less_time_than(self, whole: EngineAnswer) -> Iterator[None]:
        """Limit compiling within the context to a multiple of the time that ``whole`` took.

        The context compiles parts of that schema: one that takes much longer is a hang.
        """
        wanted = max(LEAST_SECONDS, _TIMES_THE_WHOLE * whole.seconds)
        self._limit = min(self.seconds, wanted)
        try:
            yield
        finally:
            self._limit = self.seconds

    def reads(self, text: str) -> int | None:
        """Return None where the engine takes a text, else how many of its bytes it takes.

        Raises ``EngineFailedError`` where the engine raises an error, ends its process or takes too
        long, and ``NotInstalledError``.
        """
        if self._compiled is None:
            raise EngineFailedError("nothing is compiled")
        try:
            if self._process.pid is None:
                self.open()
                self._process.call(_compile, *self._compiled, seconds=self.seconds)
            taken: int | None = self._process.call(_read, text, seconds=self.seconds)
        except ProcessError as error:
            how = How.HANGS if error.is_late else How.CRASHES
            raise EngineFailedError(f"{how.value}: {error}") from None
        return taken

    def accepts(self, text: str) -> bool:
        """Return whether the engine takes a text; what breaks it, it does not take."""
        try:
            return self.reads(text) is None
        except EngineFailedError:
            return False

    def spent(self) -> float:
        """Return the seconds of processor time that the engine has taken."""
        return self._process.spent()

    def close(self) -> None:
        """End the process."""
        self._process.kill()


class _Loaded:
    """The engine of this process, and what it has compiled."""

    adapter: Adapter
    reader: EngineReader | None = None


def _load(load: Callable[[], Adapter]) -> None:
    # llama.cpp calls a debugger when it ends its process.
    os.environ["GGML_NO_BACKTRACE"] = "1"
    try:
        _Loaded.adapter = load()
    except BaseException as error:
        raise RuntimeError(words_of(error)) from error


def _compile(language: str, text: str, options: dict[str, Any]) -> EngineAnswer:
    _Loaded.reader = None
    used, began = _resident(), time.perf_counter()
    try:
        _Loaded.reader = _Loaded.adapter.compile(language, text, options)
    except MemoryError:
        raise
    except BaseException as error:
        # A panic of Rust is not an ``Exception``; everything an engine raises is its answer.
        return EngineAnswer(How.REFUSES, words_of(error), time.perf_counter() - began)
    seconds = time.perf_counter() - began
    return EngineAnswer(How.TAKES, "", seconds, max(_resident() - used, 0))


def _read(text: str) -> int | None:
    if _Loaded.reader is None:
        raise EngineFailedError("nothing is compiled")
    try:
        return _Loaded.reader.read(text.encode("utf-8", "surrogatepass"))
    except MemoryError:
        raise
    except BaseException as error:
        raise EngineFailedError(words_of(error)) from error


def _resident() -> int:
    """Return the bytes that this process has in memory; 0 where the system does not report it."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
