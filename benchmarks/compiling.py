"""What compiling does to the rest of a program: ``python -m benchmarks.compiling``.

A thread sleeps half a millisecond again and again, as the loop of a server waits, while another
compiles schemas that nobody has seen: nothing, then in this process, then in a worker. What is
printed is how late the sleeper wakes. A busy machine wakes it late by itself; the line of nothing
tells how much.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import quantiles
from threading import Event, Thread
from time import perf_counter, sleep

from kbnf_core import Compiler, Vocabulary

SLEEP = 0.0005
SCHEMAS = 40
BAR = 1.0
"""Milliseconds, at p99, with a worker."""


def schema(number: int) -> str:
    """Return a schema of middling size, another for each number."""
    fields = {
        f"field{field}": {"enum": [f"{number} {field} {value}" for value in range(12)]}
        for field in range(40)
    }
    return json.dumps({"type": "object", "properties": fields, "required": list(fields)})


@contextmanager
def sleeper(late: list[float]) -> Iterator[None]:
    """Sleep again and again in a thread, and record by how many milliseconds too long."""
    over = Event()

    def run() -> None:
        while not over.is_set():
            before = perf_counter()
            sleep(SLEEP)
            late.append((perf_counter() - before - SLEEP) * 1e3)

    thread = Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def report(name: str, late: list[float]) -> float:
    """Print how late the sleeper was; return it at p99."""
    parts = quantiles(late, n=100)
    print(f"{name}: p50 {parts[49]:.2f} ms, p99 {parts[98]:.2f} ms, most {max(late):.2f} ms")
    return parts[98]


def main() -> None:
    """Measure and print."""
    late: list[float] = []
    with sleeper(late):
        sleep(2)
    report("nothing", late)
    for workers in (0, 1):
        texts = list(map(schema, range(SCHEMAS)))
        with Compiler(Vocabulary.bytes(), workers=workers) as compiler:
            # The worker is begun with the first.
            compiler.json_schema(True)
            late = []
            with sleeper(late):
                for text in texts:
                    compiler.json_schema(text)
        found = report(f"workers={workers}", late)
    print(f"with a worker {found:.2f} ms at p99 (at most {BAR:.0f} is wanted)")


if __name__ == "__main__":
    main()
