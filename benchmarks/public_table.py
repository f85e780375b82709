"""The public table over MaskBench, by GRID's protocol: one process, one thread, cold beside warm.

``python -m benchmarks.public_table run FOLDER OUT.jsonl`` takes each schema by each engine
in turn, from the text to the first mask, then through all its values token by token, mask and
accept, and once more through those that it takes (*warm*). Each schema has 120 s of the processor
and 4 GiB; a process that hangs or dies in an engine is replaced, and what it was at has a line that
says so. A line of the file is one schema and one engine; lines that are there already are not made
again, so that a run can be cut off. ``python -m benchmarks.public_table summarise OUT.jsonl``
prints the table: what passes, what is refused, valid values that are rejected (*order*: taken with
their members in the order of the schema), invalid ones that are accepted; percentiles of the time
to the first mask and of a step. Times are those of the processor. ``--figures FOLDER`` draws their
distributions as SVG, ``--causes`` lists what does not pass.
"""

import json
import os
import re
import resource
import signal
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from threading import Event, Thread
from time import process_time, thread_time
from typing import Any

import click
import numpy as np

from benchmarks.coverage import declared_orders, in_accepted_order
from benchmarks.maskbench import Build, Case, RefusedError, Session, grammar_of, read_case
from benchmarks.measure import PROCESSOR_CLOCK, resident
from benchmarks.schema_engines import LLGUIDANCE, OURS, make_builds
from benchmarks.vocabulary import Setting, read_setting
from kbnf_core.text.errors import KbnfError

SECONDS = 120
MEMORY = 4 << 30
"""Of one schema: time, and bytes of address space beyond what the engines take."""

MARKS = (50, 90, 99, 99.9)

CAUSES = Path(__file__).parent / "verdict_causes.json"
"""By engine and schema, what ``benchmarks.verdict_causes`` found."""

MOST_CAUSES = 8
"""Of an engine and a verdict; the rarer ones are one line."""

Line = dict[str, Any]


def judge(case: Case, name: str, build: Build, setting: Setting, first: bool) -> Line:
    """Return the line of a schema and an engine, or with ``first`` that of the first mask alone."""
    line: Line = {"schema": case.name, "engine": name, "status": "pass", "wrong": []}
    before = resident()
    try:
        _measure(line, case, build, setting, first)
    except RefusedError as error:
        line |= {"status": "refused", "reason": " ".join(str(error).split())[:200]}
    except MemoryError:
        line |= {"status": "memory"}
    line["mb"] = round(resident() - before, 1)
    return line


def _measure(line: Line, case: Case, build: Build, setting: Setting, first: bool) -> None:
    began = process_time()
    begin = build(case.schema)
    begin().mask()
    line["first_us"] = round(1e6 * (process_time() - began), 1)
    if first:
        return
    line["cold_us"], line["warm_us"] = [], []
    taken = []
    for text, valid in case.values:
        tokens = setting.encode(text)
        accepted = accepts(begin(), tokens, line["cold_us"])
        if accepted:
            taken.append(tokens)
        if accepted != valid:
            kind = "invalid accepted" if accepted else "valid rejected"
            if valid and _fits_reordered(begin, text, case.schema, setting):
                kind = "order"
            line["wrong"].append([kind, text[:200]])
            line["status"] = kind if line["status"] in ("pass", "order") else line["status"]
    for tokens in taken:
        accepts(begin(), tokens, line["warm_us"])


def accepts(session: Session, tokens: Sequence[int], times: list[float]) -> bool:
    """Return whether a text is taken; adds the time of each step in microseconds."""
    for token in tokens:
        began = thread_time()
        session.mask()
        fits = session.accept(token)
        times.append(round(1e6 * (thread_time() - began - PROCESSOR_CLOCK), 1))
        if not fits:
            return False
    return session.complete()


def _fits_reordered(begin: Any, text: str, schema: Any, setting: Setting) -> bool:
    """Return whether a value is taken with its members in the order of the schema.

    That is the order of ``properties``, or one that this library takes by default.
    """
    orders = declared_orders(schema)

    def ordered(value: Any) -> Any:
        if isinstance(value, list):
            return [ordered(item) for item in value]
        if not isinstance(value, dict):
            return value
        best = max(orders, key=lambda order: len(value.keys() & set(order)), default=[])
        names = [*(name for name in best if name in value), *value]
        return {name: ordered(value[name]) for name in dict.fromkeys(names)}

    written: set[str | None] = {json.dumps(ordered(json.loads(text)), ensure_ascii=False)}
    with suppress(KbnfError):
        written.add(in_accepted_order(grammar_of(json.dumps(schema)), text, orders))
    return any(accepts(begin(), setting.encode(each), []) for each in written - {text} if each)


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the lines of a file that are whole."""
    for text in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        try:
            yield json.loads(text)
        except ValueError:
            continue


@click.group()
def main() -> None:
    """Make the public table."""


@main.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("out", type=click.Path(path_type=Path))
@click.option("--engine", multiple=True, default=(OURS, LLGUIDANCE), help="Engines to measure.")
@click.option("--number", type=int, help="Draw so many schemas.")
@click.option("--seed", default=1, help="Which ones are drawn.")
@click.option("--first", is_flag=True, help="Measure the first masks alone.")
@click.option("--here", is_flag=True, hidden=True, help="In this process, which may die.")
def run(
    folder: Path,
    out: Path,
    engine: tuple[str, ...],
    number: int | None,
    seed: int,
    first: bool,
    here: bool,
) -> None:
    """Write a line for each schema of FOLDER and each engine to OUT."""
    if here:
        _run(folder, out, engine, number, seed, first)
        return
    command = [sys.executable, "-m", "benchmarks.public_table", *sys.argv[1:], "--here"]
    alone = {**os.environ, "RAYON_NUM_THREADS": "1"}
    while True:
        begun = ["", ""]
        with subprocess.Popen(command, env=alone, stdout=subprocess.PIPE, text=True) as process:
            watch = _Watch(process.pid)
            for text in process.stdout or ():
                begun = text.rstrip("\n").split("\t")
                watch.begin()
            watch.is_over.set()
        if not process.returncode or not begun[0]:
            sys.exit(process.returncode)
        schema, name = begun
        status = "timeout" if watch.is_late else "crash"
        with out.open("a", encoding="utf-8") as file:
            line = {"schema": schema, "engine": name, "status": status, "wrong": [], "mb": 0.0}
            file.write(json.dumps(line) + "\n")


class _Watch:
    """Ends a process that takes too long: compiled code sees no signal.

    A limit that the system keeps (``RLIMIT_CPU``) would make the clock of the process coarse.
    """

    def __init__(self, process: int) -> None:
        self._process = process
        self._began = 0.0
        self.is_late = False
        self.is_over = Event()
        Thread(target=self._look, daemon=True).start()

    def begin(self) -> None:
        """Count from now."""
        self._began = self._spent()

    def _spent(self) -> float:
        fields = Path(f"/proc/{self._process}/stat").read_text(encoding="ascii").rsplit(")")[-1]
        return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def _look(self) -> None:
        while not self.is_over.wait(1):
            if self._spent() - self._began > SECONDS:
                self.is_late = True
                os.kill(self._process, signal.SIGKILL)
                return


def _run(
    folder: Path, out: Path, engine: tuple[str, ...], number: int | None, seed: int, first: bool
) -> None:
    done = {(line["schema"], line["engine"]) for line in read_lines(out)}
    setting = read_setting()
    builds, missing = make_builds(setting, engine)
    for name in missing:
        print(f"not installed: {name}", file=sys.stderr)
    for build in builds.values():
        build({"type": "object"})().mask()
    used = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = used * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    paths = sorted(folder.glob("*.json"))
    if number is not None:
        paths = Random(seed).sample(paths, min(number, len(paths)))  # noqa: S311 - a sample
    with out.open("a", encoding="utf-8") as file:
        for place, path in enumerate(paths):
            names = [
                n for n in list(builds)[:: -1 if place % 2 else 1] if (path.stem, n) not in done
            ]
            for name in names:
                case = read_case(path)
                print(path.stem, name, sep="\t", flush=True)
                line = judge(case, name, builds[name], setting, first)
                file.write(json.dumps(line, ensure_ascii=False) + "\n")
                file.flush()


@main.command()
@click.argument("outs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--into", type=click.Path(path_type=Path, exists=True), help="A page with the marks.")
@click.option("--figures", type=click.Path(path_type=Path), help="A folder for SVG files.")
@click.option("--causes", is_flag=True, help="List what is refused and judged wrongly.")
def summarise(
    outs: tuple[Path, ...], into: Path | None, figures: Path | None, causes: bool
) -> None:
    """Print the tables of files that `run` wrote, or put them into a page of the docs."""
    written = []
    for out in outs:
        lines: dict[str, list[Line]] = defaultdict(list)
        for line in read_lines(out):
            lines[line["engine"]].append(line)
        pooled = _pooled(lines)
        written += [*_verdicts(lines), "", *_causes(lines), "", *_times(pooled), ""]
        if causes:
            _print_causes(lines)
        if figures is not None:
            figures.mkdir(exist_ok=True)
            for key, label, _ in KINDS:
                file = figures / f"{out.stem}_{key}.svg"
                file.write_text(draw(label, pooled[key]), encoding="utf-8")
    text = "\n".join(written)
    if into is None:
        print(text)
        return
    fill(into, BEGIN, END, text)


def fill(page: Path, begin: str, end: str, text: str) -> None:
    """Write a text between two marks of a page."""
    before, rest = page.read_text(encoding="utf-8").split(begin)
    _, after = rest.split(end)
    page.write_text(f"{before}{begin}\n{text}{end}{after}", encoding="utf-8")


BEGIN, END = "<!-- made by benchmarks.public_table -->", "<!-- end of the public table -->"

KINDS = (
    ("first_us", "text to first mask, ms", 1e3),
    ("cold_us", "step, first texts, us", 1),
    ("warm_us", "step, known texts, us", 1),
)


def _pooled(lines: Mapping[str, Sequence[Line]]) -> dict[str, dict[str, Any]]:
    """Return the times of each kind and engine, over the schemas that all engines take."""
    found: dict[str, dict[str, Any]] = {}
    for key, _, unit in KINDS:
        common = set.intersection(
            *({each["schema"] for each in own if key in each} for own in lines.values())
        )
        found[key] = {
            name: np.hstack([each[key] for each in own if each["schema"] in common] or [0]) / unit
            for name, own in lines.items()
        }
    return found


def _times(pooled: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    heads = " | ".join(f"p{mark:g}" for mark in MARKS)
    yield f"| processor time, schemas that all take | number | mean | {heads} | max |"
    yield "|---" * (len(MARKS) + 4) + "|"
    for key, label, _ in KINDS:
        for name, times in pooled[key].items():
            marks = [times.mean(), *np.percentile(times, MARKS), times.max()]
            cells = " | ".join(f"{mark:,.2f}" for mark in marks)
            yield f"| {label}, {name} | {len(times):,} | {cells} |"


def _verdicts(lines: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    heads = (
        *("pass", "order", "refused", "valid rejected", "invalid accepted"),
        *("timeout", "memory", "crash"),
    )
    yield "| engine | schemas | " + " | ".join(heads) + " | most MB |"
    yield "|---" * (len(heads) + 3) + "|"
    for name, found in lines.items():
        counts = Counter(each["status"] for each in found)
        cells = " | ".join(f"{counts[head]:,}" for head in heads)
        yield f"| {name} | {len(found):,} | {cells} | {max(each['mb'] for each in found):.0f} |"


def _causes(lines: Mapping[str, Sequence[Line]]) -> Iterator[str]:
    """Yield why schemas are refused or judged wrongly, the commonest causes first."""
    known = json.loads(CAUSES.read_text(encoding="utf-8"))
    yield "| schemas | engine | verdict | cause |"
    yield "|---|---|---|---|"
    for name, found in lines.items():
        for status in ("refused", "valid rejected", "invalid accepted"):
            counts = Counter(
                _refusal(each["reason"])
                if status == "refused"
                else known.get(name, {}).get(each["schema"], "not looked for")
                for each in found
                if each["status"] == status
            )
            common = counts.most_common(MOST_CAUSES)
            for cause, count in common:
                yield f"| {count:,} | {name} | {status} | {cause} |"
            rest = counts.total() - sum(count for _, count in common)
            if rest:
                yield f"| {rest:,} | {name} | {status} | {len(counts) - len(common)} others |"


_ALONE = (
    # The place in the schema, or a pointer to it, and what comes after the first sentence.
    (re.compile(r"^<text>:\d+:\d+: error(\[\w+\]): (?:the whole schema|/.*?(?=: )): "), r"\1 "),
    (re.compile(r"/(\w+): `\1` "), r"`\1` "),
    (re.compile(r"^grammar error: #\S*:? "), ""),
    (re.compile(r"^(Unknown format): .*"), r"\1"),
    (re.compile(r"; .*| while processing .*|\. .*"), ""),
    # A pattern or a list in it.
    (re.compile(r"`[^`]*[\[(^][^`]*`"), "..."),
    (re.compile(r"(?<!E)\b\d[\d,]*|/[^ ]*/|'[^']*'|#/\S+|: https?:\S+"), "..."),
)


def _refusal(reason: str) -> str:
    """Return what a refusal says, without what it says of this schema alone."""
    for pattern, by in _ALONE:
        reason = pattern.sub(by, reason)
    return reason.replace("|", "\\|")[:100]


def _print_causes(lines: Mapping[str, Sequence[Line]]) -> None:
    for name, found in lines.items():
        print(f"\n{name}:")
        for each in found:
            if each["status"] != "pass":
                said = each.get("reason") or "; ".join(f"{k}: {t[:80]}" for k, t in each["wrong"])
                print(f"- {each['schema']}: {each['status']}: {said}")


COLOURS = ("#1f5fa8", "#c8641f", "#3a8a3f", "#8a3a86", "#777777")
WIDTH, HEIGHT, EDGE = 640, 360, 48


def draw(label: str, times: Mapping[str, Any]) -> str:
    """Return the cumulative distributions of times as SVG, on a logarithmic axis."""
    logs = {name: np.log10(np.maximum(np.sort(each), 0.1)) for name, each in times.items()}
    low = np.floor(min(each[0] for each in logs.values()))
    high = np.ceil(max(each[-1] for each in logs.values()))

    def across(value: Any) -> Any:
        return EDGE + (value - low) / (high - low) * (WIDTH - 2 * EDGE)

    def up(share: Any) -> Any:
        return HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"'
        ' font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{WIDTH / 2}" y="20" text-anchor="middle">{label}: share of all</text>',
    ]
    for power in range(int(low), int(high) + 1):
        x = across(power)
        parts.append(f'<path d="M{x:.1f} {up(0)}V{up(1)}" stroke="#ddd"/>')
        y = HEIGHT - EDGE + 16
        parts.append(f'<text x="{x:.1f}" y="{y}" text-anchor="middle">{10.0**power:g}</text>')
    for share in (0, 0.5, 0.9, 1):
        y = up(share)
        parts.append(f'<path d="M{EDGE} {y:.1f}H{WIDTH - EDGE}" stroke="#ddd"/>')
        parts.append(f'<text x="{EDGE - 6}" y="{y + 4:.1f}" text-anchor="end">{share:g}</text>')
    for place, (name, each) in enumerate(logs.items()):
        shares = np.linspace(0, 1, 301)
        xs, ys = across(np.quantile(each, shares)), up(shares)
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(xs, ys, strict=True))
        colour = COLOURS[place % len(COLOURS)]
        parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        y = EDGE + 16 * place
        at = f'x="{WIDTH - EDGE}" y="{y}" text-anchor="end" fill="{colour}"'
        parts.append(f"<text {at}>{name}</text>")
    return "\n".join([*parts, "</svg>", ""])


if __name__ == "__main__":
    main()
