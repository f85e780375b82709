"""Weigh a change: masks and CPU time of first requests, compared with a stored run.

``python -m benchmarks.weigh FOLDER --store NEW.json --against OLD.json`` draws JSON Schemas of a
folder like maskbench's (``--seed``, several are allowed), bounded strings, sets of tools and KBNF
grammars, and goes from each to its first mask and through cold steps: a valid document of a
schema, and a random walk over allowed tokens. Each draw has a process of its own. It prints the
figures beside those of ``OLD.json`` and the cases whose masks differ; the status is 1 where any
do. All masks of a case are hashed in one digest. Each round of a draw is measured in a fresh copy
of the process that has read the vocabulary.

A run that is stored in a file that exists already keeps the least time of each step. So two
versions are compared on a busy machine by calling both in turn, each with its own file, and
``--rounds 0 --store NEW.json --against OLD.json`` prints the comparison alone. ``--engine
llguidance`` measures another engine in this way; its cases without a digest are those that it
refuses, and only cases in both files are compared.
"""

import gc
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from random import Random
from time import process_time, thread_time
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from benchmarks.bounded_strings import BOUNDS, document, schema
from benchmarks.drawn import default_cases, draw_tools
from benchmarks.maskbench import Build, RefusedError, Session, session_of
from benchmarks.measure import PROCESSOR_CLOCK, in_own_process
from benchmarks.schema_engines import OURS, make_builds
from benchmarks.tools import COUNTS
from benchmarks.vocabulary import Setting, read_setting
from benchmarks.workloads import WORKLOADS
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.text.errors import KbnfError

STEPS = 48
"""Tokens of a random walk, and of a document of a KBNF grammar."""

WALKS = 2

COUNTED = {
    "count in a regex": "start ::= #'[a-z ]{5,3000}' ';';",
    "counted words": "start ::= #'([a-z]{1,9} ){5,500}' ';';",
    "nested counts": "start ::= ('x' | 'yy' | '(' start ')'){2,900} (start ','){0,900} ';';",
    "optional members": " ".join(
        (
            "start ::=",
            *(f"('k{number}:' v ',')?" for number in range(500)),
            "; v ::= '1' | '[' v ']';",
        )
    ),
}
"""Grammars unlike those that schemas give: with counts in regexes, many optional parts in a row.

Without the equal item sets of ``recognise.states`` a step of the first takes 40 times as long, and
without ``lower.inline`` the last has a square of edges.
"""

SLOW = 2
"""Milliseconds; cases with a cold step that takes longer are printed."""

GRAMMARS = Path(__file__).resolve().parents[1] / "grammars"

Found = dict[str, Any]
"""Of a case: ``digest`` of all masks, ``first`` (microseconds to the first mask), ``cold`` (of each
step), ``more`` (to the first mask of a set with one tool more)."""

Run = dict[str, dict[str, Found]]
"""Cases by name, by draw."""


Flags = npt.NDArray[np.bool_]


@lru_cache(1)
def ends_and_bytes(vocabulary: Vocabulary) -> tuple[Flags, Flags]:
    """Return which tokens end a text, and which are of a single byte."""
    size = vocabulary.size
    ends = np.isin(np.arange(size), list(vocabulary.eos_token_ids))
    return ends, np.array([len(vocabulary.token(i) or b"") == 1 for i in range(size)])


class Walk:
    """Chooses allowed tokens at random, every second time one of a single byte, if any."""

    def __init__(self, name: str, vocabulary: Vocabulary) -> None:
        self._random = Random(name)  # noqa: S311 - the same tokens every time
        self._ends, self._bytes = ends_and_bytes(vocabulary)
        self._left = STEPS

    def choose(self, bits: npt.NDArray[np.int32]) -> int | None:
        """Return the next token; None where the text can only end, or is long enough."""
        self._left -= 1
        if self._left < 0:
            return None
        flags = np.unpackbits(bits.view(np.uint8), bitorder="little")[: len(self._ends)]
        allowed = flags.astype(bool) & ~self._ends
        short = allowed & self._bytes
        if self._random.random() < 0.5 and short.any():
            allowed = short
        tokens = np.flatnonzero(allowed)
        return int(tokens[self._random.randrange(len(tokens))]) if len(tokens) else None


class Text:
    """Chooses the tokens of a text."""

    def __init__(self, tokens: Sequence[int]) -> None:
        self._rest = iter(tokens)

    def choose(self, _bits: npt.NDArray[np.int32]) -> int | None:
        """Return the next token; None at the end."""
        return next(self._rest, None)


def follow(
    begin: Callable[[], Session],
    choose: Callable[[npt.NDArray[np.int32]], int | None],
    found: Found,
    digest: Any,
) -> None:
    """Go through a text token by token; note times and masks."""
    session = begin()
    masks = []
    while True:
        started = thread_time()
        session.mask()
        spent = thread_time() - started - PROCESSOR_CLOCK
        # Hashed at the end: that would take the caches that the next step needs.
        masks.append(session.bits.copy())
        token = choose(session.bits)
        if token is None:
            break
        started = thread_time()
        fits = session.accept(token)
        found["cold"].append(1e6 * (spent + thread_time() - started - PROCESSOR_CLOCK))
        if not fits:
            digest.update(b"refused")
            break
    for mask in masks:
        digest.update(mask)


def measure(
    build: Build, subject: Any, texts: Sequence[Sequence[int]], walks: Sequence[Walk]
) -> Found:
    """Return what is found of one schema or grammar: along some texts, then on some walks."""
    gc.collect()
    found: Found = {"digest": "", "cold": []}
    started = process_time()
    try:
        begin = build(subject)
        session = begin()
    except RefusedError:
        return found
    session.mask()
    found["first"] = 1e6 * (process_time() - started)
    digest = blake2b(session.bits.tobytes(), digest_size=8)
    for tokens in texts:
        follow(begin, Text(tokens).choose, found, digest)
    for walk in walks:
        follow(begin, walk.choose, found, digest)
    found["digest"] = digest.hexdigest()
    return found


def of_schemas(
    folder: Path | None, limit: int, seed: int, build: Build, setting: Setting
) -> Iterator[tuple[str, Found]]:
    """Yield the schemas of a draw."""
    for case in islice(default_cases(folder, seed), limit):
        texts = [setting.encode(text) for text, valid in case.values if valid]
        longest = [max(texts, key=len)] if texts else []
        walk = Walk(case.name, setting.vocabulary)
        found = measure(build, case.schema, longest, ())
        if found["digest"]:
            # Walks leave the document: their steps are compared, not timed with the others.
            found["digest"] += measure(build, case.schema, (), [walk])["digest"]
        yield case.name, found


def of_bounded(seed: int, build: Build, setting: Setting) -> Iterator[tuple[str, Found]]:
    """Yield strings with bounds."""
    for bound in BOUNDS:
        yield f"{bound}", measure(build, schema(bound), [setting.encode(document(bound, seed))], ())


def of_tools(
    folder: Path | None, count: int, seed: int, build: Build, setting: Setting
) -> Iterator[tuple[str, Found]]:
    """Yield a set of tools, with what one tool more costs."""
    tools = draw_tools(folder, count + 1, seed)
    found = measure(build, {"anyOf": tools[:-1]}, (), [Walk(str(count), setting.vocabulary)])
    again = measure(build, {"anyOf": tools}, (), [Walk(f"{count} more", setting.vocabulary)])
    if "first" in again:
        found["more"] = again["first"]
    found["digest"] += again["digest"]
    yield str(count), found


def of_grammars(folders: Sequence[Path], setting: Setting) -> Iterator[tuple[str, Found]]:
    """Yield KBNF grammars: those of the workloads, and those of some folders."""

    def build(text: str) -> Callable[[], Session]:
        try:
            grammar = Grammar(text)
            _ = grammar.tables
            return lambda: session_of(Engine(grammar, setting.vocabulary, ahead=False))
        except KbnfError as error:
            raise RefusedError(str(error)) from None

    subjects: list[tuple[str, str, Sequence[list[int]]]] = []
    for workload in WORKLOADS:
        documents = workload.documents(setting.encode, 4 * STEPS)
        cut = [tokens[:STEPS] for tokens in documents]
        subjects.append((workload.name, workload.grammar("kbnf") or "", cut))
    words = [setting.encode("the quick brown fox jumps over it " * 8)[:STEPS]]
    subjects += [(name, text, words if "#" in text else ()) for name, text in COUNTED.items()]
    for folder in (GRAMMARS, *folders):
        paths = sorted(folder.glob("*.kbnf"))
        subjects += [(path.stem, path.read_text(encoding="utf-8"), ()) for path in paths]
    for name, text, texts in subjects:
        walks = [Walk(f"{name} {i}", setting.vocabulary) for i in range(WALKS)]
        yield name, measure(build, text, texts, walks)


def merge(run: Run, fresh: Run) -> None:
    """Put a run into another of the same draws: the least time of each step counts."""
    for draw, cases in fresh.items():
        known = run.setdefault(draw, {})
        for name, found in cases.items():
            before = known.get(name, {})
            if before.get("digest") == found["digest"]:
                found["cold"] = list(map(min, before["cold"], found["cold"]))
                for key in {"first", "more"} & before.keys():
                    found[key] = min(before[key], found[key])
            known[name] = found


def figures_of(run: Run, other: Run) -> dict[str, float]:
    """Return the figures of a run, over the cases that another has, too."""
    kinds: dict[str, list[Found]] = {}
    for draw, cases in run.items():
        for name, found in cases.items():
            if "first" in found and "first" in other.get(draw, {}).get(name, {}):
                kinds.setdefault(draw.rpartition(",")[0], []).append(found)
    made: dict[str, float] = {}
    for kind, all_found in kinds.items():
        first = np.array([found["first"] for found in all_found]) / 1e3
        made[f"{kind}: first mask, ms, mean"] = first.mean()
        if "more" in all_found[0]:
            more = [found["more"] / 1e3 for found in all_found]
            made[f"{kind}: one tool more, ms, mean"] = float(np.mean(more))
            continue
        made[f"{kind}: first mask, ms, p50"], made[f"{kind}: first mask, ms, p99"] = np.percentile(
            first, (50, 99)
        )
        whole = [found["first"] / 1e3 + sum(found["cold"]) / 1e3 for found in all_found]
        made[f"{kind}: whole request, ms, mean"] = float(np.mean(whole))
        cold = np.concatenate([found["cold"] for found in all_found])
        made[f"{kind}: cold step, us, mean"] = cold.mean()
        for mark in (99, 99.9):
            made[f"{kind}: cold step, us, p{mark:g}"] = float(np.percentile(cold, mark))
        made[f"{kind}: cold step, us, max"] = cold.max()
    return made


def report(run: Run, other: Run | None) -> int:
    """Print figures and differences; return how many cases have other masks."""
    figures = figures_of(run, run if other is None else other)
    before = figures_of(other, run) if other else figures
    print("| figure | now | before | ratio |\n|---|---:|---:|---:|")
    for name, value in figures.items():
        print(f"| {name} | {value:.2f} | {before[name]:.2f} | {value / before[name]:.2f} |")
    slowest = {
        f"{draw}: {name}": max(found["cold"]) / 1e3
        for draw, cases in run.items()
        for name, found in cases.items()
        if found.get("cold")
    }
    for name in sorted(slowest, key=lambda name: -slowest[name]):
        if slowest[name] > SLOW:
            print(f"a cold step of {slowest[name]:.1f} ms: {name}")
    if other is None:
        return 0
    pairs = [
        (f"{draw}: {name}", found["digest"] == other[draw][name]["digest"])
        for draw, cases in run.items()
        for name, found in cases.items()
        if name in other.get(draw, {})
    ]
    different = [name for name, same in pairs if not same]
    print(f"\n{len(pairs)} cases compared, masks of {len(different)} differ")
    for name in different[:20]:
        print(f"  {name}")
    return len(different)


def read_run(path: Path | None) -> Run:
    """Return a stored run; an empty one where there is no file."""
    return json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}


def draw_in_this_process(
    draw: str, folder: Path | None, limit: int, engine: str, kbnf: Sequence[Path], rounds: int
) -> dict[str, Found]:
    """Return the cases of one draw, ``KIND,SEED``, the least times of some rounds."""
    kind, _, number = draw.rpartition(",")
    seed = int(number)
    setting = read_setting()
    build = make_builds(setting, (engine,))[0][engine]
    # The first grammar of a process pays for what engines keep by vocabulary; so a server does.
    measure(build, {"type": "object"}, [setting.encode('{"a": "text"}')], ())
    ends_and_bytes(setting.vocabulary)

    def cases() -> Iterator[tuple[str, Found]]:
        if kind == "schemas":
            return of_schemas(folder, limit, seed, build, setting)
        if kind == "bounded strings":
            return of_bounded(seed, build, setting)
        if kind == "KBNF":
            return of_grammars(kbnf, setting)
        return of_tools(folder, int(kind.removesuffix(" tools")), seed, build, setting)

    run: Run = {}
    for _ in range(rounds):
        merge(run, {draw: in_child(lambda: dict(cases()))})
    return run[draw]


def in_child(action: Callable[[], dict[str, Found]]) -> dict[str, Found]:
    """Return what a function returns in a copy of this process, which forgets all afterwards."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with os.fdopen(writing, "w") as file:
            json.dump(action(), file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        found: dict[str, Found] = json.load(file)
    os.waitpid(child, 0)
    return found


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--seed", "seeds", multiple=True, type=int, default=(1,), help="Draws of schemas.")
@click.option("--limit", default=40, help="Schemas of a draw.")
@click.option("--tools", multiple=True, type=int, default=COUNTS, help="Sizes of sets of tools.")
@click.option("--kbnf", multiple=True, type=click.Path(path_type=Path), help="More grammars.")
@click.option("--engine", default=OURS, help="The engine; KBNF grammars are for this library's.")
@click.option("--rounds", default=1, help="How often each draw is measured.")
@click.option("--only", multiple=True, help="Kinds: schemas, bounded strings, KBNF, tools.")
@click.option("--store", type=click.Path(path_type=Path), help="Put the run into this file.")
@click.option("--against", type=click.Path(path_type=Path), help="Compare with this stored run.")
@click.option("--draw", help="Measure this draw in this process and print it as JSON.")
def main(
    folder: Path | None,
    seeds: tuple[int, ...],
    limit: int,
    tools: tuple[int, ...],
    kbnf: tuple[Path, ...],
    engine: str,
    rounds: int,
    only: tuple[str, ...],
    store: Path | None,
    against: Path | None,
    draw: str | None,
) -> None:
    """Measure first requests and compare them with a stored run."""
    if draw is not None:
        print(json.dumps(draw_in_this_process(draw, folder, limit, engine, kbnf, rounds)))
        return
    kinds = ["schemas", "bounded strings", *(f"{count} tools" for count in tools)]
    draws = [f"{kind},{seed}" for kind in kinds for seed in seeds]
    draws += ["KBNF,1"] if engine == OURS else []
    draws = [each for each in draws if not only or any(kind in each for kind in only)]
    where = () if folder is None else (folder,)
    more = [part for path in kbnf for part in ("--kbnf", path)]
    run = read_run(store)
    for each in draws if rounds else ():
        options = ("--draw", each, "--limit", limit, "--engine", engine, "--rounds", rounds, *more)
        merge(run, {each: in_own_process("benchmarks.weigh", *where, *options)})
    if store is not None:
        store.write_text(json.dumps(run), encoding="utf-8")
    sys.exit(bool(report(run, read_run(against) if against else None)))


if __name__ == "__main__":
    main()
