"""Engines as they are asked: each in a process with limits, which is replaced when it dies.

Nothing that an engine does reaches the one who asks: what it raises, that it ends its process, that
it takes longer than it may are answers like any other.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from kbnf_core.targets.engines import ENGINES
from kbnf_core.text.errors import KbnfError, install_command

SECONDS = 10.0
"""The time that an engine has for a schema, and for a text."""

_PATIENCE = 10
"""How often that time may pass where the engine has not had the processor for so long."""

_IDLE = 0.05
"""The share of the time that a process has had, below which it waits for nothing but itself."""

_TO_LOAD = 120.0
"""The time that an engine has to be loaded: torch is imported with xgrammar."""

MEMORY = 2 << 30
"""Bytes that an engine may take for a schema."""


class NotInstalledError(KbnfError):
    """An engine that was named is not installed, or cannot be loaded."""


class How(Enum):
    """What an engine did with a schema."""

    TAKES = "takes"
    REFUSES = "refuses"
    CRASHES = "crashes"
    HANGS = "hangs"


@dataclass(frozen=True, slots=True)
class Answer:
    """What an engine did with a schema: its words, and for one that it takes what that costs."""

    how: How
    words: str = ""
    seconds: float = 0.0
    bytes: int = 0

    @property
    def takes(self) -> bool:
        """Whether texts can be asked about."""
        return self.how is How.TAKES


class _DiedError(Exception):
    """The process ended, or was ended for want of time: ``how``, and the last words."""

    def __init__(self, how: How, words: str) -> None:
        self.how = how
        self.words = words


class BrokenError(Exception):
    """An engine failed while it read a text; the message is in its words."""


def version_of(name: str) -> str:
    """Return the version of an engine; raises ``NotInstalledError`` where it is not installed."""
    engine = ENGINES[name]
    found = engine.version()
    if found is None:
        raise NotInstalledError(
            f"{name} is not installed: {install_command(engine.extra)}{engine.hint}"
        )
    return found


def installed() -> tuple[str, ...]:
    """Return the names of the engines that are installed."""
    return tuple(name for name, engine in ENGINES.items() if engine.version() is not None)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """What texts are asked about: a schema or grammar, and the engine's own options."""

    language: str
    text: str
    options: tuple[tuple[str, Any], ...] = ()

    def question(self) -> dict[str, Any]:
        return {"language": self.language, "text": self.text, "options": dict(self.options)}


@dataclass(slots=True)
class Asked:
    """One engine, asked in a process that is begun with the first question.

    ``command`` begins the process; what tests the limits gives another one. Not for several
    threads.
    """

    name: str
    seconds: float = SECONDS
    memory: int = MEMORY
    command: tuple[str, ...] | None = None
    _process: "subprocess.Popen[str] | None" = field(default=None, init=False)
    _lines: "SimpleQueue[str]" = field(default_factory=SimpleQueue, init=False)
    _stderr: Any = field(default=None, init=False)
    _spent: float = field(default=0.0, init=False)
    _current: _Compiled | None = field(default=None, init=False)

    def open(self) -> None:
        """Load the engine, if it is not. Raises ``NotInstalledError``."""
        self._running()

    def compile(
        self, text: str, language: str = "json-schema", options: Mapping[str, Any] | None = None
    ) -> Answer:
        """Give the engine a schema or a grammar; ``reads`` asks about its texts from then on."""
        wanted = _Compiled(language, text, tuple((options or {}).items()))
        self._current = None
        try:
            answer = self._ask(wanted.question())
        except _DiedError as error:
            return Answer(error.how, error.words)
        if "refused" in answer:
            return Answer(How.REFUSES, answer["refused"])
        self._current = wanted
        return Answer(How.TAKES, "", answer["seconds"], answer["bytes"])

    def reads(self, text: str) -> int | None:
        """Return None where the engine takes a text, else how many of its bytes it takes.

        Raises ``BrokenError`` where the engine raises an error, ends its process or takes too long.
        """
        if self._current is None:
            raise BrokenError("nothing is compiled")
        try:
            if self._process is None or self._process.poll() is not None:
                self._ask(self._current.question())
            answer = self._ask({"read": text})
        except _DiedError as error:
            raise BrokenError(f"{error.how.value}: {error.words}") from None
        if "broken" in answer:
            raise BrokenError(answer["broken"])
        taken = answer["taken"]
        return None if taken is None else int(taken)

    def accepts(self, text: str) -> bool:
        """Tell whether the engine takes a text; what breaks it, it does not take."""
        try:
            return self.reads(text) is None
        except BrokenError:
            return False

    def spent(self) -> float:
        """Return the seconds of processor time that the engine has taken."""
        running = 0.0 if self._process is None else _processor_time(self._process.pid)
        return self._spent + running

    def close(self) -> None:
        """End the process."""
        self._spent = self.spent()
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._stderr):
            if stream is not None:
                stream.close()

    def _ask(self, question: dict[str, Any]) -> dict[str, Any]:
        process = self._running()
        try:
            assert process.stdin is not None  # noqa: S101 - a pipe was asked for
            process.stdin.write(json.dumps(question) + "\n")
            process.stdin.flush()
        except OSError:
            raise self._died() from None
        return self._answer(self.seconds)

    def _answer(self, seconds: float) -> dict[str, Any]:
        began, line = self.spent(), None
        for number in range(1, _PATIENCE + 1):
            # Where others keep the processors busy, an engine that waits for them does not hang.
            try:
                line = self._lines.get(timeout=seconds)
                break
            except Empty:
                had = self.spent() - began
                if had >= seconds or had < number * seconds * _IDLE:
                    break
        if line is None:
            self.close()
            raise _DiedError(How.HANGS, f"no answer within {seconds:g} s")
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _died(self) -> _DiedError:
        process = self._process
        status = None if process is None else process.wait()
        words = self._last_words()
        self.close()
        return _DiedError(How.CRASHES, f"{_cause(status)}{f': {words}' if words else ''}")

    def _last_words(self) -> str:
        if self._stderr is None:
            return ""
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(self._stderr.tell() - 10_000, 0))
        lines = self._stderr.read().decode("utf-8", "replace").split("\n")
        said = [line.strip() for line in lines if line.strip()]
        return said[-1][:300] if said else ""

    def _running(self) -> "subprocess.Popen[str]":
        if self._process is not None and self._process.poll() is None:
            return self._process
        self.close()
        if self.command is None:
            version_of(self.name)
        here = str(Path(__file__).resolve().parents[2])
        paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
        command = self.command or (
            *(sys.executable, "-P", "-m", "kbnf_core.targets.worker"),
            *(self.name, str(self.memory)),
        )
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        # llama.cpp calls a debugger when it ends its process.
        environment = {"GGML_NO_BACKTRACE": "1", "PYTHONPATH": os.pathsep.join(paths)}
        process = subprocess.Popen(  # noqa: S603 - this package, in this Python
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**os.environ, **environment},
            encoding="utf-8",
        )
        self._process, self._lines = process, SimpleQueue()
        Thread(target=_listen, args=(process, self._lines), daemon=True).start()
        try:
            answer = self._answer(_TO_LOAD)
        except _DiedError as error:
            raise NotInstalledError(f"{self.name} cannot be loaded: {error.words}") from None
        if "failed" in answer:
            self.close()
            raise NotInstalledError(f"{self.name} cannot be loaded: {answer['failed']}")
        return process


def _listen(process: "subprocess.Popen[str]", lines: "SimpleQueue[str]") -> None:
    """Pass the answers on, and an empty line when there are no more."""
    try:
        for line in process.stdout or ():
            lines.put(line)
    except ValueError:
        # The stream was closed here.
        pass
    lines.put("")


def _processor_time(process: int) -> float:
    """Return the seconds that a process has had; 0 where the system does not say."""
    try:
        fields = (
            Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        )
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _cause(status: int | None) -> str:
    if status is None or status >= 0:
        return f"it ended its process with the status {status}"
    try:
        return f"it ended its process with {signal.Signals(-status).name}"
    except ValueError:
        return f"it ended its process with the signal {-status}"
