"""A process that compiles grammars for another: ``python -m kbnf_core.compiler.worker``.

It reads jobs from its standard input and writes answers to its standard output, each a pickle led
by its length, and ends when its input does, at once, whatever it is working on. So nothing of the
program that started it is imported here, and nothing outlives it. Both ends of the pipe are this
package's; nothing else is unpickled.
"""

import os
import signal
import sys
from queue import SimpleQueue
from threading import Thread

from kbnf_core.compiler import Compiled, Job, receive, send
from kbnf_core.errors import KbnfError


def answer(job: Job) -> Compiled | KbnfError:
    """Return the result of a job: a compiled grammar, or the error."""
    try:
        return Compiled.of(job.grammar())
    except KbnfError as error:
        return error
    except (RecursionError, MemoryError) as error:
        return KbnfError(f"compiling took more than this process has: {error!r}")


def main() -> None:
    """Answer jobs until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "wb")
    # What a library prints must not get between the answers.
    os.dup2(2, 1)
    jobs: SimpleQueue[Job] = SimpleQueue()

    def listen() -> None:
        try:
            while True:
                jobs.put(receive(sys.stdin.buffer))  # type: ignore[arg-type] # jobs only
        finally:
            os._exit(0)

    Thread(target=listen, daemon=True).start()
    while True:
        send(answers, answer(jobs.get()))


if __name__ == "__main__":
    main()
