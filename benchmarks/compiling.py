"""What compiling does to the rest of a program: ``python -m benchmarks.compiling``.

A thread sleeps half a millisecond again and again, as the loop of a server waits, while another
compiles schemas that nobody has seen: nothing, then in this process, then in a worker. Another line
is for masks that are worked out ahead in this process. What is printed is how late the sleeper
wakes. A busy machine wakes it late by itself; the line of nothing tells how much.

In one process Python hands the lock over every five milliseconds (``sys.getswitchinterval``); each
line of this process is measured with ``INTERVAL`` as well, which a server may set.
"""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import quantiles
from threading import Event, Thread
from time import perf_counter, sleep

from benchmarks.vocabulary import read_setting
from kbnf_core import Compiler, Engine, Grammar, Vocabulary

SLEEP = 0.0005
SCHEMAS = 40
INTERVAL = 0.0005
AHEAD = 500_000
"""Counted work of masks ahead, of each schema: five times what ``prepare`` does by itself."""
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


def measure(name: str, work: Callable[[], object]) -> float:
    """Do some work beside the sleeper, and report."""
    late: list[float] = []
    with sleeper(late):
        work()
    return report(name, late)


def compile_all(compiler: Compiler) -> None:
    """Compile schemas that this compiler has not seen."""
    for number in range(SCHEMAS):
        compiler.json_schema(schema(number))


def masks_ahead(vocabulary: Vocabulary) -> Callable[[], object]:
    """Return what works masks out that nobody has asked for."""
    grammar = Grammar.from_json_schema({"type": "object"})
    # What a vocabulary is prepared by is not measured here.
    Engine(grammar, vocabulary).compute_allowed_token_ids()
    grammars = [Grammar.from_json_schema(json.loads(schema(n))) for n in range(SCHEMAS)]
    engines = [Engine(grammar, vocabulary) for grammar in grammars]
    return lambda: [engine.prepare(AHEAD) for engine in engines]


def main() -> None:
    """Measure and print."""
    measure("nothing", lambda: sleep(2))
    vocabulary = read_setting().vocabulary
    usual = sys.getswitchinterval()
    for interval in (usual, INTERVAL):
        sys.setswitchinterval(interval)
        with Compiler(Vocabulary.bytes(), workers=0) as compiler:
            measure(f"workers=0, lock for {interval * 1e3} ms", lambda: compile_all(compiler))
        measure(f"masks ahead, lock for {interval * 1e3} ms", masks_ahead(vocabulary))
    sys.setswitchinterval(usual)
    with Compiler(Vocabulary.bytes(), workers=1) as compiler:
        # The worker is begun with the first.
        compiler.json_schema(True)
        found = measure("workers=1", lambda: compile_all(compiler))
    print(f"with a worker {found:.2f} ms at p99 (at most {BAR:.0f} is wanted)")


if __name__ == "__main__":
    main()
