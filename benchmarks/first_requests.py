"""First requests: what a JSON Schema costs that nobody has seen before.

``python -m benchmarks.first_requests [FOLDER]`` times, for each schema once and with engines taking
turns, the way from the schema to the first mask, then every step (mask and accept) through one
valid document, then the same document again (*warm*). The schemas are those of a folder like
maskbench's, else of the JSON Schema test suite in ``tests/data``. Only schemas that every engine
takes, with a document that every engine accepts, are compared. Masks are compared with
llguidance's; a difference is counted by its reason, or shown. Strings that the conversion says it
leaves out are such a reason.

Times are those of the processor: to the first mask with all threads of the process, of a step
those of the thread that asks. Those of the wall clock are beside them; on a busy machine they
carry what other programs take. An engine compiles a schema once, and nothing holds the collector
of garbage back, as nothing does in a server.

What a process has once seen makes its next request with the same schema cheaper. So work ahead
(``--ahead``, with 4 ms of sleep before each mask, in which a model would compute; ``--prepared``,
called by hand) is measured in a run of its own. ``--seed`` takes schemas at random. Sets of tools:
``benchmarks.tools``.
"""

import gc
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time, sleep, thread_time
from typing import Any, NamedTuple

import click
import numpy as np

from benchmarks.drawn import default_cases
from benchmarks.equality import Explanation, explain_difference, left_out
from benchmarks.maskbench import Build, Case, RefusedError, Session
from benchmarks.maskbench import ours as make_ours
from benchmarks.measure import CLOCK, PROCESSOR_CLOCK
from benchmarks.schema_engines import LLGUIDANCE, OURS, make_builds
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import Options, Standard, Whitespace

OPTIONS = Options(whitespace=Whitespace.FLEXIBLE, standard=Standard.LLGUIDANCE)
"""Those of the builder, to ask the conversion what it leaves out."""

AHEAD = "kbnf-toolkit, work ahead"
"""This library with a thread that works ahead, as ``Compiler``, batches and adapters have it."""

MODEL = 0.004
"""Seconds that a model is said to take for a token, where a thread works ahead meanwhile."""

PREPARED = "kbnf-toolkit, prepared"
"""This library with ``Engine.prepare`` before each step, outside of its time, as a server can."""


LIBRARY = (OURS, PREPARED, AHEAD)


class Time(NamedTuple):
    """Microseconds on the processor, and on the wall."""

    processor: float
    wall: float


@dataclass(slots=True)
class Request:
    """One engine's first request with a schema; ``masks``: copies, if wanted."""

    first: Time = field(default_factory=lambda: Time(0, 0))
    cold: list[Time] = field(default_factory=list)
    warm: list[Time] = field(default_factory=list)
    masks: list[Any] = field(default_factory=list)

    @property
    def whole(self) -> Time:
        """The time to the first mask and through the document."""
        return Time(*map(sum, zip(self.first, *self.cold, strict=True)))


@dataclass(slots=True)
class Comparison:
    """How our masks differ from llguidance's; ``shown``: what nothing explains."""

    steps: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    shown: list[str] = field(default_factory=list)

    def add(
        self, case: Case, ours: Request, theirs: Request, tokens: Sequence[int], setting: Setting
    ) -> None:
        """Compare the masks of a request; they are dropped."""
        before = b""
        more = None
        for one, other, token in zip(ours.masks, theirs.masks, tokens, strict=True):
            self.steps += 1
            if not np.array_equal(one, other):
                if more is None:
                    more = explanations_of(case.schema)
                reason, what = explain_difference(one, other, before, setting.vocabulary, more)
                self.reasons[reason] += 1
                if not reason:
                    self.shown.append(f"{case.name}, {what}")
            before += setting.vocabulary.token(token) or b""
        ours.masks = theirs.masks = []

    def report(self) -> int:
        """Print what was found; return how often nothing explains a difference."""
        print(f"\n{self.steps} masks compared with {LLGUIDANCE}'s.")
        for reason, count in self.reasons.most_common():
            print(f"  {count} differ: {reason or 'unexplained'}")
        for line in self.shown[:20]:
            print(f"  {line}")
        return self.reasons[""]


def explanations_of(schema: Any) -> list[Explanation]:
    """Return what our conversion itself says of the strings that it leaves out.

    Which string a note is on is not asked: the least of their bounds is that of all. In the usual
    form of a format a text of any length may be too much.
    """
    notes = [note.message for note in from_json_schema(json.dumps(schema), OPTIONS).notes]
    bounds = [int(found[1].replace(",", "")) for found in map(_LEFT_OUT.search, notes) if found]
    longer = [left_out(min(bounds), "longer strings")] if bounds else []
    is_unusual = any(_UNUSUAL.search(note) for note in notes)
    return [*longer, left_out(1, "unusual texts of a format")] if is_unusual else longer


_LEFT_OUT = re.compile(r"strings of more than ([0-9,]+) characters are left out")
_UNUSUAL = re.compile(r"of (?:the format|`\w+`), .* are left out")


def make_request(
    build: Build,
    schema: Any,
    tokens: Sequence[int],
    ahead: bool,
    keep: bool,
    model: float = 0.0,
) -> Request | None:
    """Go once from a schema through a document; None where the engine does not take either."""
    found = Request()
    began, processor = perf_counter(), process_time()
    try:
        begin = build(schema)
        session = begin()
    except RefusedError:
        return None
    session.mask()
    found.first = Time(1e6 * (process_time() - processor), 1e6 * (perf_counter() - began))
    for times, kept in ((found.cold, found.masks if keep else None), (found.warm, None)):
        if not _run(session, tokens, times, kept, ahead, model if times is found.cold else 0.0):
            return None
        session = begin()
    return found


def _run(
    session: Session,
    tokens: Sequence[int],
    times: list[Time],
    masks: Any,
    ahead: bool,
    model: float,
) -> bool:
    for token in tokens:
        if model:
            sleep(model)
        if ahead:
            session.prepare()
        processor, began = thread_time(), perf_counter()
        session.mask()
        masked, ended = perf_counter(), thread_time()
        if masks is not None:
            masks.append(session.bits.copy())
        resumed, again = thread_time(), perf_counter()
        fits = session.accept(token)
        wall = perf_counter() - again + masked - began - 2 * CLOCK
        spent = thread_time() - resumed + ended - processor - 2 * PROCESSOR_CLOCK - 4 * CLOCK
        times.append(Time(1e6 * spent, 1e6 * wall))
        if not fits:
            return False
    return session.complete()


def run(
    cases: Iterable[Case], builds: dict[str, Build], setting: Setting, limit: int, model: float
) -> tuple[list[dict[str, Request]], Comparison]:
    """Return the requests, by engine, of cases that all engines take, ``limit`` of them at most."""
    found: list[dict[str, Request]] = []
    compared = Comparison()
    names = list(builds)
    for number, case in enumerate(cases):
        texts = [text for text, valid in case.values if valid]
        if not texts:
            continue
        tokens = setting.encode(max(texts, key=len))
        # Another engine begins each time.
        turn = number % len(names)
        requests = {}
        for name in names[turn:] + names[:turn]:
            gc.collect()
            # All of them copy their masks, or none: a copy makes the next step dearer.
            keep = LLGUIDANCE in builds
            by_hand = name == PREPARED
            request = make_request(builds[name], case.schema, tokens, by_hand, keep, model)
            if request is None:
                break
            if name not in (*LIBRARY, LLGUIDANCE):
                request.masks = []
            requests[name] = request
        if len(requests) < len(names):
            continue
        ours = next((requests[name] for name in LIBRARY if name in requests), None)
        if ours is not None and LLGUIDANCE in requests:
            compared.add(case, ours, requests[LLGUIDANCE], tokens, setting)
        found.append(requests)
        if len(found) == limit:
            break
    return found, compared


def report(found: Sequence[dict[str, Request]], names: Sequence[str]) -> None:
    """Print the tables."""
    print(f"\n{len(found)} schemas that all of them take\n")
    print("| us a step | p50 | p99 | p99.9 | max | mean | mean, wall |\n" + "|---" * 7 + "|")
    for kind in ("cold", "warm"):
        for name in names:
            times = np.array([time for each in found for time in getattr(each[name], kind)])
            spent = times[:, 0]
            marks = [*np.percentile(spent, (50, 99, 99.9)), spent.max(), *times.mean(0)]
            print(f"| {kind}, {name} | " + " | ".join(f"{mark:.1f}" for mark in marks) + " |")
    print("\n| ms | p50 | p90 | p99 | mean | mean, wall |\n" + "|---" * 6 + "|")
    for kind, label in (("first", "schema to first mask"), ("whole", "whole first request")):
        for name in names:
            times = np.array([getattr(each[name], kind) for each in found]) / 1e3
            marks = [*np.percentile(times[:, 0], (50, 90, 99)), *times.mean(0)]
            print(f"| {label}, {name} | " + " | ".join(f"{mark:.2f}" for mark in marks) + " |")


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--only", multiple=True, help="Engines to measure; all without it.")
@click.option("--limit", default=0, help="Schemas at most.")
@click.option("--seed", type=int, help="Take the schemas of the folder in this random order.")
@click.option("--prepared", is_flag=True, help="Let this library prepare before each step.")
@click.option("--ahead", is_flag=True, help="Let a thread work ahead, 4 ms before each mask.")
def main(
    folder: Path | None,
    only: tuple[str, ...],
    limit: int,
    seed: int | None,
    prepared: bool,
    ahead: bool,
) -> None:
    """Time first requests; the status is 1 where a mask differs and nothing explains it."""
    setting = read_setting()
    builds, missing = make_builds(setting, only)
    for name in missing:
        print(f"not installed: {name}", file=sys.stderr)
    # The first grammar of a process pays for what engines keep by vocabulary; so a server does.
    for build in builds.values():
        build({"type": "object"})().mask()
    gc.collect()
    if prepared:
        builds[PREPARED] = builds.pop(OURS)
    if ahead:
        del builds[OURS]
        builds[AHEAD] = make_ours(setting.vocabulary, Standard.LLGUIDANCE, ahead=True)
    cases = default_cases(folder, seed)
    found, compared = run(cases, builds, setting, limit, MODEL if ahead else 0.0)
    report(found, list(builds))
    sys.exit(bool(compared.report()))


if __name__ == "__main__":
    main()
