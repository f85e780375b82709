"""A process that compiles grammars for another: ``python -m kbnf_core.compiler.worker``.

It reads jobs from its standard input and writes answers to its standard output (``compiler.jobs``);
an empty answer says that it listens. Every exception is an answer. It ends when its input does, at
once, whatever it is working on. So nothing of the program that started it is imported here, and
nothing outlives it.
"""

import os
import signal
import sys
from queue import SimpleQueue
from threading import Thread
from typing import cast

from kbnf_core.compiler.jobs import Compiled, Job, pack, receive, send, unpack
from kbnf_core.text.errors import InternalError, KbnfError


def answer(data: bytes) -> bytes:
    """Return the result of a job: a compiled grammar, or the error, whatever that is."""
    try:
        return pack(_result(cast(Job, unpack(data))))
    except Exception as error:
        return pack(InternalError(error))


def _result(job: Job) -> Compiled | KbnfError:
    try:
        return Compiled.of(job.grammar())
    except KbnfError as error:
        return error


def main() -> None:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not get between the answers.
    os.dup2(2, 1)
    jobs: SimpleQueue[bytes] = SimpleQueue()

    def listen() -> None:
        try:
            while True:
                jobs.put(receive(sys.stdin.buffer))
        finally:
            os._exit(0)

    Thread(target=listen, daemon=True).start()
    send(answers, b"")
    while True:
        send(answers, answer(jobs.get()))


if __name__ == "__main__":
    main()
