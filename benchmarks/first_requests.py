"""First requests: what a JSON Schema costs that nobody has seen before.

``python -m benchmarks.first_requests [FOLDER]`` times, for each schema once and with engines taking
turns, the way from the schema to the first mask, then every step (mask and accept) through one
valid document, then the same document again (*warm*). The schemas are those of a folder like
maskbench's, else of the JSON Schema test suite in ``tests/data``. Only schemas that every engine
takes, with a document that every engine accepts, are compared. Masks are compared with
llguidance's; a difference is counted by its reason, or shown. Strings that the conversion says it
leaves out are such a reason.

What a process has once seen makes its next request with the same schema cheaper. So work ahead
(``--prepared``) is measured in a run of its own. ``--seed`` takes schemas at random, ``--tools``
times sets of tools under one ``anyOf`` instead, to the first mask.
"""

import gc
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

import click
import numpy as np

from benchmarks.equality import Explanation, explain_difference, left_out
from benchmarks.maskbench import Build, Case, RefusedError, Session, read_case
from benchmarks.measure import CLOCK
from benchmarks.schema_engines import LLGUIDANCE, OURS, make_builds
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import Options, Standard, Whitespace

SUITE = Path(__file__).resolve().parents[1] / "tests/data/json-schema-test-suite"
TOOLS = (8, 32, 128, 500)

OPTIONS = Options(whitespace=Whitespace.FLEXIBLE, standard=Standard.LLGUIDANCE)
"""Those of the builder, to ask the conversion what it leaves out."""

PREPARED = "kbnf-toolkit, prepared"
"""This library with ``Engine.prepare`` before each step, outside of its time, as a server can."""


@dataclass(slots=True)
class Request:
    """One engine's first request with a schema, in microseconds; ``masks``: copies, if wanted."""

    first: float = 0.0
    cold: list[float] = field(default_factory=list)
    warm: list[float] = field(default_factory=list)
    masks: list[Any] = field(default_factory=list)

    @property
    def whole(self) -> float:
        """The time to the first mask and through the document."""
        return self.first + sum(self.cold)


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


def suite_cases(folder: Path) -> Iterator[Case]:
    """Yield the schemas of the JSON Schema test suite, with their values."""
    for path in sorted(folder.glob("*/*.json")):
        for number, group in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            values = tuple((json.dumps(t["data"]), t["valid"]) for t in group["tests"])
            yield Case(f"{path.stem}-{number}", group["schema"], values)


def make_request(
    build: Build, schema: Any, tokens: Sequence[int], ahead: bool, keep: bool
) -> Request | None:
    """Go once from a schema through a document; None where the engine does not take either."""
    found = Request()
    began = perf_counter()
    try:
        begin = build(schema)
        session = begin()
    except RefusedError:
        return None
    session.mask()
    found.first = 1e6 * (perf_counter() - began)
    for times, kept in ((found.cold, found.masks if keep else None), (found.warm, None)):
        if not _run(session, tokens, times, kept, ahead):
            return None
        session = begin()
    return found


def _run(
    session: Session, tokens: Sequence[int], times: list[float], masks: Any, ahead: bool
) -> bool:
    for token in tokens:
        if ahead:
            session.prepare()
        began = perf_counter()
        session.mask()
        ended = perf_counter()
        if masks is not None:
            masks.append(session.bits.copy())
        resumed = perf_counter()
        fits = session.accept(token)
        times.append(1e6 * (perf_counter() - resumed + ended - began - 2 * CLOCK))
        if not fits:
            return False
    return session.complete()


def run(
    cases: Iterable[Case], builds: dict[str, Build], setting: Setting, limit: int
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
            request = make_request(builds[name], case.schema, tokens, name == PREPARED, keep)
            if request is None:
                break
            if name not in (OURS, PREPARED, LLGUIDANCE):
                request.masks = []
            requests[name] = request
        if len(requests) < len(names):
            continue
        ours = requests.get(OURS) or requests.get(PREPARED)
        if ours is not None and LLGUIDANCE in requests:
            compared.add(case, ours, requests[LLGUIDANCE], tokens, setting)
        found.append(requests)
        if len(found) == limit:
            break
    return found, compared


def report(found: Sequence[dict[str, Request]], names: Sequence[str]) -> None:
    """Print the tables."""
    print(f"\n{len(found)} schemas that all of them take\n")
    print("| us a step | p50 | p99 | p99.9 | max | mean |\n|---|---|---|---|---|---|")
    for kind in ("cold", "warm"):
        for name in names:
            times = [t for each in found for t in getattr(each[name], kind)]
            marks = [*np.percentile(times, (50, 99, 99.9)), max(times), np.mean(times)]
            print(f"| {kind}, {name} | " + " | ".join(f"{mark:.1f}" for mark in marks) + " |")
    print("\n| ms | p50 | p90 | p99 | mean |\n|---|---|---|---|---|")
    for kind, label in (("first", "schema to first mask"), ("whole", "whole first request")):
        for name in names:
            times = [getattr(each[name], kind) / 1e3 for each in found]
            marks = [*np.percentile(times, (50, 90, 99)), np.mean(times)]
            print(f"| {label}, {name} | " + " | ".join(f"{mark:.2f}" for mark in marks) + " |")


def tool_set(count: int) -> dict[str, Any]:
    """Return the schema of calls of ``count`` tools, no two alike."""
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "string"},
        {"type": "integer"},
        {"type": "array", "items": {"type": "string"}},
        {"enum": ["celsius", "fahrenheit", "kelvin"]},
        {"type": "boolean"},
    )
    tools = []
    for number in range(count):
        names = [f"field_{number}_{place}" for place in range(2 + number % 4)]
        arguments = {
            "type": "object",
            "properties": {n: kinds[(number + i) % len(kinds)] for i, n in enumerate(names)},
            "required": names[:1],
            "additionalProperties": False,
        }
        properties = {"name": {"const": f"tool_{number}"}, "arguments": arguments}
        tools.append(
            {
                "type": "object",
                "properties": properties,
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    return {"anyOf": tools}


def time_tools(builds: dict[str, Build]) -> None:
    """Print the time from sets of tools to the first mask, each set once."""
    print("| tools, ms to the first mask | " + " | ".join(builds) + " |")
    print("|---" * (len(builds) + 1) + "|")
    for count in TOOLS:
        cells = []
        for build in builds.values():
            gc.collect()
            began = perf_counter()
            try:
                build(tool_set(count))().mask()
                cells.append(f"{1e3 * (perf_counter() - began):.1f}")
            except RefusedError:
                cells.append("refused")
        print(f"| {count} | " + " | ".join(cells) + " |")


def default_cases(folder: Path | None, seed: int | None = None) -> Iterable[Case]:
    """Return the cases of a folder, of maskbench in ``KBNF_DATA``, or of the test suite."""
    data = os.environ.get("KBNF_DATA")
    if folder is None and data and (Path(data) / "maskbench").is_dir():
        folder = Path(data) / "maskbench"
    if folder is None:
        return suite_cases(SUITE)
    paths = sorted(folder.glob("*.json"))
    if seed is not None:
        Random(seed).shuffle(paths)  # noqa: S311 - the same schemas every time
    return map(read_case, paths)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--tools", is_flag=True, help="Time sets of tools instead.")
@click.option("--only", multiple=True, help="Engines to measure; all without it.")
@click.option("--limit", default=0, help="Schemas at most.")
@click.option("--seed", type=int, help="Take the schemas of the folder in this random order.")
@click.option("--prepared", is_flag=True, help="Let this library work ahead before each step.")
def main(
    folder: Path | None,
    tools: bool,
    only: tuple[str, ...],
    limit: int,
    seed: int | None,
    prepared: bool,
) -> None:
    """Time first requests; the status is 1 where a mask differs and nothing explains it."""
    setting = read_setting()
    builds, missing = make_builds(setting)
    for name in missing:
        print(f"not installed: {name}", file=sys.stderr)
    builds = {name: build for name, build in builds.items() if not only or name in only}
    # The first grammar of a process pays for what engines keep by vocabulary; so a server does.
    for build in builds.values():
        build({"type": "object"})().mask()
    gc.collect()
    gc.freeze()
    if tools:
        time_tools(builds)
        return
    if prepared:
        builds[PREPARED] = builds.pop(OURS)
    found, compared = run(default_cases(folder, seed), builds, setting, limit)
    report(found, list(builds))
    sys.exit(bool(compared.report()))


if __name__ == "__main__":
    main()
