"""Times of mask and accept, token by token, engines taking turns."""

import gc
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

import numpy as np

from benchmarks.engines import Maker, Matcher, OurMatcherInside, Ours
from benchmarks.workloads import Workload

OURS_COLD = "kbnf-toolkit, first pass"
OURS_WARM = "kbnf-toolkit, memo warm"
OURS_INSIDE = "kbnf-toolkit, memo warm, mask kept inside"
OURS = (OURS_COLD, OURS_WARM, OURS_INSIDE)

Figures = dict[str, float]


def _clock_cost(clock: Callable[[], float]) -> float:
    """Return the seconds between two looks at a clock with nothing between them."""
    return float(np.median([-(clock() - clock()) for _ in range(10_000)]))


CLOCK = _clock_cost(perf_counter)
"""Taken off every time, ours and theirs: it is half of what the fastest ones take."""

PROCESSOR_CLOCK = _clock_cost(thread_time)
"""The same of ``thread_time``, which counts this thread's time on a processor."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure: tokens of each workload, repeats, seconds for one slow engine."""

    tokens: int
    repeats: int
    patience: float


@dataclass(slots=True)
class Lane:
    """One column of the report: the times of one matcher, in microseconds, in one repeat."""

    name: str
    matcher: Matcher
    times: list[float]
    spent: float = 0.0

    def run(self, document: Sequence[int], patience: float) -> None:
        """Go through one document, unless this engine has used up its time."""
        if self.spent > patience:
            return
        matcher = self.matcher
        mask, accept, times = matcher.mask, matcher.accept, self.times
        matcher.begin()
        begun = perf_counter()
        for token in document:
            before = perf_counter()
            mask()
            accept(token)
            times.append((perf_counter() - before - CLOCK) * 1e6)
        self.spent += perf_counter() - begun


def time_workload(
    workload: Workload,
    ours: Ours,
    peers: Sequence[Maker],
    documents: Sequence[Sequence[int]],
    effort: Effort,
) -> tuple[dict[str, Figures], dict[str, str]]:
    """Return figures by lane, medians over the repeats; and why an engine has none."""
    found: dict[str, list[Figures]] = {}
    failures: dict[str, str] = {}
    warm = ours.make(workload)
    matchers = _make_peers(workload, peers, failures)
    for _ in range(effort.repeats):
        lanes = [Lane(OURS_COLD, ours.make(workload), [])]
        lanes.append(Lane(OURS_WARM, warm, []))
        lanes.append(Lane(OURS_INSIDE, OurMatcherInside(warm), []))
        lanes += [Lane(name, matcher, []) for name, matcher in matchers.items()]
        _warm_up(warm, documents)
        gc.collect()
        for document in documents:
            for lane in lanes:
                _attempt(lane, document, effort.patience, failures)
        for lane in lanes:
            if lane.times:
                found.setdefault(lane.name, []).append(summarise(lane.times))
    return {name: _median(figures) for name, figures in found.items()}, failures


def _make_peers(
    workload: Workload, peers: Sequence[Maker], failures: dict[str, str]
) -> dict[str, Matcher]:
    matchers: dict[str, Matcher] = {}
    for peer in peers:
        try:
            matcher = peer.make(workload)
        except BaseException as error:
            failures[peer.name] = _first_line(error)
            continue
        if matcher is not None:
            matchers[peer.name] = matcher
    return matchers


def _warm_up(matcher: Matcher, documents: Sequence[Sequence[int]]) -> None:
    for document in documents:
        Lane(OURS_WARM, matcher, []).run(document, 1e9)


def _attempt(
    lane: Lane, document: Sequence[int], patience: float, failures: dict[str, str]
) -> None:
    if lane.name in failures:
        return
    try:
        lane.run(document, patience)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt) or lane.name in OURS:
            raise
        failures[lane.name] = _first_line(error)


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).strip().splitlines()[:1]}"[:200]


def summarise(times: Sequence[float]) -> Figures:
    """Return p50, p99, mean and the number of times, in the unit they have."""
    return {
        "p50": float(np.median(times)),
        "p99": float(np.percentile(times, 99)),
        "mean": float(np.mean(times)),
        "count": float(len(times)),
    }


def _median(figures: Sequence[Figures]) -> Figures:
    return {key: float(np.median([each[key] for each in figures])) for key in figures[0]}


def median_times(repeats: int, actions: Sequence[Callable[[], object]]) -> list[float]:
    """Return the median seconds of each action, which take turns."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, spent in zip(actions, times, strict=True):
            gc.collect()
            before = perf_counter()
            action()
            spent.append(perf_counter() - before)
    return [float(np.median(spent)) for spent in times]


def in_own_process(module: str, *arguments: object) -> Any:
    """Run ``python -m module arguments`` and return the JSON value that it prints last.

    Modules are compiled to byte code once and kept, as those of installed packages are.
    """
    command = [sys.executable, "-m", module, *map(str, arguments)]
    root = Path(__file__).resolve().parents[1]
    keeping = dict(os.environ)
    keeping.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, check=True, cwd=root, env=keeping
    )
    return json.loads(done.stdout.splitlines()[-1])


def resident(field: str = "VmRSS") -> float:
    """Return the resident memory of this process in MB; ``VmHWM``: the most there was."""
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"no {field} in /proc/self/status")
