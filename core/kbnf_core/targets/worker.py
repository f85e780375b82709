"""A process that asks one engine: ``python -m kbnf_core.targets.worker ENGINE``.

It reads questions from its standard input and writes answers to its standard output, each a line of
JSON. The first line says that the engine is loaded, and its version. It ends when its input does.
Its stderr is a file: what an engine prints before it ends the process is there for its parent, and
what llama.cpp's parser says is there for this process.
"""

import json
import os
import signal
import sys
import time
from typing import Any

from kbnf_core.targets.engines import ENGINES, Adapter, Reader, RefusedError, words_of

MEMORY = 2 << 30
"""Bytes that an engine may take beside what it takes when it is loaded."""


def main(name: str, memory: int = MEMORY) -> None:
    """Answer questions until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # What a library prints must not get between the answers.
    os.dup2(2, 1)
    try:
        adapter = ENGINES[name].load()
    except Exception as error:
        _send(answers, {"failed": words_of(error)})
        return
    _limit(memory)
    _send(answers, {"ready": True})
    reader: Reader | None = None
    for line in sys.stdin:
        question = json.loads(line)
        if "read" in question:
            _send(answers, _read(reader, question["read"].encode("utf-8", "surrogatepass")))
        else:
            reader, answer = _compile(adapter, question)
            _send(answers, answer)


def _compile(adapter: Adapter, question: dict[str, Any]) -> tuple[Reader | None, dict[str, Any]]:
    used, began = _resident(), time.perf_counter()
    try:
        reader = adapter.compile(question["language"], question["text"], question["options"])
    except RefusedError as error:
        return None, {"refused": words_of(error)}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # A panic of Rust is no ``Exception``; whatever an engine raises is its answer.
        return None, {"refused": words_of(error)}
    seconds = time.perf_counter() - began
    return reader, {"seconds": seconds, "bytes": max(_resident() - used, 0)}


def _read(reader: Reader | None, data: bytes) -> dict[str, Any]:
    if reader is None:
        return {"broken": "nothing is compiled"}
    try:
        return {"taken": reader.read(data)}
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return {"broken": words_of(error)}


def _send(answers: Any, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer) + "\n")
    answers.flush()


def _pages(number: int) -> int:
    """Return an entry of the process's sizes in bytes, 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[number]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


def _resident() -> int:
    return _pages(1)


def _limit(memory: int) -> None:
    """Bound the memory of this process, where the system can."""
    loaded = _pages(0)
    if loaded:
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        resource.setrlimit(resource.RLIMIT_AS, (loaded + memory, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
