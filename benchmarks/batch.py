"""The masks of a large batch: ``python -m benchmarks.batch``.

Engines of all workloads are at places of their texts, and all their masks are cached. What is
measured is one call of ``fill_bitmasks``, by one thread and by two, beside a copy of as many bytes
in one thread. The three take turns, and the least disturbed time of each counts: a second thread
shows only while the machine has a processor for it. What memory leaves to a second thread is what
two threads gain that copy the halves again and again, never waiting for each other; where warm rows
take no longer than a copy, no more can be gained than that.

With ``--arrival``: what a schema that nobody has seen does to a batch (``benchmarks.arrival``).
"""

from collections.abc import Callable
from itertools import chain, islice, repeat
from pathlib import Path
from threading import Barrier, Thread
from time import perf_counter
from typing import Any

import click
import numpy as np

from benchmarks.arrival import measure_arrivals
from benchmarks.vocabulary import read_setting
from benchmarks.workloads import WORKLOADS
from kbnf_core import Engine, Grammar, allocate_bitmask, fill_bitmasks

ROWS = 512
SECONDS = 10.0
COPIES = 100
COPY_BAR = 2.0
"""At most this many times a copy."""

GAIN_BAR = 1.6
"""At least this many times as fast with two threads."""


def engines(shared: bool) -> list[Engine]:
    """Return engines at different places of texts, of each language in turn.

    A grammar is shared by all engines of its language, or each has one of its own, with its own
    masks, as where every request comes with its own schema.
    """
    setting = read_setting()
    lanes = []
    for workload in WORKLOADS:
        text = workload.grammar("kbnf")
        assert text is not None  # noqa: S101 - every workload has one
        documents = workload.documents(setting.encode, ROWS)
        starts = [document[:length] for document in documents for length in range(len(document))]
        grammars = repeat(Grammar(text)) if shared else map(Grammar, repeat(text))
        pairs = zip(grammars, starts, strict=False)
        lanes.append(islice(pairs, -(-ROWS // len(WORKLOADS))))
    made = []
    for grammar, start in islice(chain.from_iterable(zip(*lanes, strict=True)), ROWS):
        engine = Engine(grammar, setting.vocabulary)
        engine.accept_tokens(start)
        made.append(engine)
    return made


def least(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Return the least time of each call in seconds."""
    found = dict.fromkeys(calls, float("inf"))
    end = perf_counter() + SECONDS
    while perf_counter() < end:
        for name, call in calls.items():
            for _ in range(5):
                before = perf_counter()
                call()
                found[name] = min(found[name], perf_counter() - before)
    return found


def gain_of_copies() -> float:
    """Return how much faster two threads copy as many bytes than one: what memory allows."""
    out = allocate_bitmask(ROWS, read_setting().vocabulary.size)
    source = np.zeros_like(out)
    best = {1: float("inf"), 2: float("inf")}
    end = perf_counter() + SECONDS / 2
    while perf_counter() < end:
        for threads in (1, 2):
            best[threads] = min(best[threads], _copying(out, source, threads))
    return best[1] / best[2]


def _copying(out: Any, source: Any, threads: int) -> float:
    share = len(out) // threads
    together = Barrier(threads + 1)

    def copy(first: int) -> None:
        together.wait()
        for _ in range(COPIES):
            np.copyto(out[first : first + share], source[first : first + share])

    running = [Thread(target=copy, args=(place * share,)) for place in range(threads)]
    for thread in running:
        thread.start()
    together.wait()
    before = perf_counter()
    for thread in running:
        thread.join()
    return perf_counter() - before


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--arrival", is_flag=True, help="Let a new schema arrive, with tools of FOLDER.")
def main(folder: Path | None, arrival: bool) -> None:
    """Measure and print."""
    if arrival:
        measure_arrivals(folder)
        return
    print(f"two threads of plain copies gain {gain_of_copies():.2f}")
    for name, shared in (("a grammar for each language", True), ("a grammar for each row", False)):
        print(f"{ROWS} rows, {name}")
        measure(engines(shared))


def measure(batch: list[Engine]) -> None:
    """Measure a batch and print."""
    size = batch[0].vocabulary.size
    out = allocate_bitmask(len(batch), size)
    source = np.zeros_like(out)
    fill_bitmasks(batch, out)
    times = least(
        {
            "a copy": lambda: np.copyto(out, source),
            "one thread": lambda: fill_bitmasks(batch, out),
            "two threads": lambda: fill_bitmasks(batch, out, threads=2),
        }
    )
    print("  " + ", ".join(f"{name} {time * 1e3:.3f} ms" for name, time in times.items()))
    copies, gain = (times["one thread"] / times[name] for name in ("a copy", "two threads"))
    print(f"  one thread / a copy = {copies:.2f} (at most {COPY_BAR:.1f} is wanted)")
    print(f"  one thread / two threads = {gain:.2f} (at least {GAIN_BAR:.1f} is wanted)")


if __name__ == "__main__":
    main()
