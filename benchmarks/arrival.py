"""A schema that nobody has seen arrives in a warm batch: ``python -m benchmarks.batch --arrival``.

A loop, as a server has it: 32 streams of four known schemas; a step is a forward pass of 6 ms (a
sleep), then each stream takes its token and gets its mask. In the middle a set of 32 tools arrives,
is compiled beside the loop, by a thread of this process or by a worker, and joins as one more
stream. Printed is how long the steps of the others are before, during and after: from the arrival
until the newcomer has had ten steps is *during*. Times are those of the wall, the sleep included.
"""

import json
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np

from benchmarks.drawn import draw_tools
from benchmarks.maskbench import Build, RefusedError, Session, session_of
from benchmarks.schema_engines import LLGUIDANCE, OURS, make_builds
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Compiler, Engine
from kbnf_core.languages.json_schema import Options, Whitespace, as_mapping

STREAMS = 32
FORWARD = 0.006
BEFORE, WITH, AFTER = 150, 10, 150
TOOLS = 32
WORSE_BAR, STEP_BAR = 1.05, 10.0
"""During, at most so many times as long as before; a step at most so many ms longer."""

Begin = Callable[[], Session]
Submit = Callable[[Any], "Future[Begin]"]


class Stream:
    """A text that goes through its document again and again."""

    def __init__(self, begin: Begin, tokens: list[int]) -> None:
        self._begin, self._tokens = begin, tokens
        self._restart()

    def _restart(self) -> None:
        self._session, self._left = self._begin(), iter(self._tokens)

    def step(self) -> None:
        """Take a token and make the mask that follows."""
        token = next(self._left, None)
        if token is None:
            self._restart()
        else:
            self._session.accept(token)
        self._session.mask()


@contextmanager
def in_process(build: Build) -> Iterator[Submit]:
    """Compile in a thread of this process."""
    with ThreadPoolExecutor(1) as pool:
        yield lambda schema: pool.submit(build, schema)


@contextmanager
def by_worker(setting: Setting) -> Iterator[Submit]:
    """Compile by this library's ``Compiler`` with one worker, which listens already."""
    with Compiler(setting.vocabulary, workers=1) as compiler:
        compiler.json_schema(True)

        def submit(schema: Any) -> "Future[Begin]":
            made: Future[Begin] = Future()

            def finish(future: Any) -> None:
                grammar = future.result()
                made.set_result(lambda: session_of(Engine(grammar, setting.vocabulary)))

            options = as_mapping(Options(whitespace=Whitespace.FLEXIBLE))
            compiler.submit("json_schema", schema, **options).add_done_callback(finish)
            return made

        yield submit


def _documents() -> Iterator[tuple[Any, str]]:
    """Yield four schemas with a document each."""
    for number in range(4):
        names = [f"field_{number}_{place}" for place in range(6)]
        kinds: list[tuple[dict[str, Any], Any]] = [
            ({"type": "string"}, "a text of some words, as a model writes it"),
            ({"type": "integer"}, 12_345),
            ({"type": "array", "items": {"type": "string"}}, ["one", "two", "three"]),
        ]
        schema = {
            "type": "object",
            "properties": {name: kinds[i % 3][0] for i, name in enumerate(names)},
            "required": names,
            "additionalProperties": False,
        }
        yield schema, json.dumps({name: kinds[i % 3][1] for i, name in enumerate(names)})


def measure(build: Build, submit: Submit, setting: Setting, arriving: Any) -> None:
    """Run the loop, and print a line."""
    streams = []
    known = cycle([(schema, setting.encode(text)) for schema, text in _documents()])
    for _, (schema, tokens) in zip(range(STREAMS), known, strict=False):
        streams.append(Stream(build(schema), tokens))
    for _ in range(100):
        _step(streams, 0.0)
    before = [_step(streams, FORWARD) for _ in range(BEFORE)]
    during, joined = [], 0
    began = perf_counter()
    compiling = submit(arriving)
    while joined < WITH:
        during.append(_step(streams, FORWARD))
        if compiling.done():
            if not joined:
                took = 1e3 * (perf_counter() - began)
                name = setting.encode('{"name": "')
                streams.append(Stream(compiling.result(), name))
            joined += 1
    after = [_step(streams, FORWARD) for _ in range(AFTER)]
    marks = [(*np.percentile(times, (50, 99)), max(times)) for times in (before, during, after)]
    cells = [" / ".join(f"{mark:.2f}" for mark in each) for each in marks]
    ratio = np.mean(during) / np.mean(before)
    longest = max(during) - np.median(before)
    print(" | ".join((*cells, f"{took:.0f}", f"{ratio:.2f}", f"{longest:.1f}")), "|")


def _step(streams: list[Stream], forward: float) -> float:
    """Return the milliseconds of one step of all streams."""
    began = perf_counter()
    sleep(forward)
    for stream in streams:
        stream.step()
    return 1e3 * (perf_counter() - began)


def measure_arrivals(folder: Path | None) -> None:
    """Measure and print."""
    setting = read_setting()
    builds, missing = make_builds(setting, (OURS, LLGUIDANCE, "xgrammar"))
    for name in missing:
        print(f"not installed: {name}", file=sys.stderr)
    arriving = {"anyOf": draw_tools(folder, TOOLS, seed=1)}
    heads: tuple[str, ...] = ("before, ms: p50 / p99 / max", "during", "after", "ready after, ms")
    heads += ("during / before", "longest step more, ms")
    print(f"| {STREAMS} streams | " + " | ".join(heads), "|")
    print("|---" * 7 + "|")
    for name, build in builds.items():
        if name == OURS:
            with by_worker(setting) as submit:
                print(f"| {name}, `Compiler(workers=1)` | ", end="")
                measure(build, submit, setting, arriving)
        with in_process(build) as submit:
            print(f"| {name}, in this process | ", end="")
            try:
                measure(build, submit, setting, arriving)
            except RefusedError as error:
                print(f"refused: {error}", *6 * "|")
    print(f"\nWanted: at most {WORSE_BAR:g} times before, no step {STEP_BAR:g} ms longer.")
