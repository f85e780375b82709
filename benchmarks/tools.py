"""Sets of tools: from the schemas of their calls to the first mask, each set in a fresh process.

``python -m benchmarks.tools [FOLDER]`` draws tools of maskbench's ``BFCL`` and ``Glaive`` files
(made-up ones without a folder), puts them under one ``anyOf`` and times, on the processor, the way
to the first mask: of the whole set, and then of a set with one tool more (*one more*), as where
somebody adds a tool. Every set is drawn anew and has a process of its own, so that none knows
tools of another; in it the engines take turns, and nothing holds the collector of garbage back.
"""

import json
import sys
from pathlib import Path
from statistics import median
from time import process_time

import click

from benchmarks.drawn import draw_tools
from benchmarks.maskbench import Build, RefusedError
from benchmarks.measure import in_own_process
from benchmarks.schema_engines import LLGUIDANCE, OURS, make_builds
from benchmarks.vocabulary import read_setting

COUNTS = (8, 32, 128, 500)
WHOLE_BAR = 2.0
"""At most so many times llguidance's."""


def time_set(folder: Path | None, count: int, turn: int) -> dict[str, list[float] | None]:
    """Return milliseconds of a set and of one more tool, by engine, in this process."""
    setting = read_setting()
    builds, _ = make_builds(setting, (OURS, LLGUIDANCE))
    names = list(builds)[:: -1 if turn % 2 else 1]
    # The first schema of a process pays for what engines keep by vocabulary; so a server does.
    for name in names:
        builds[name]({"type": "object"})().mask()
    tools = draw_tools(folder, count + 1, seed=turn)
    found: dict[str, list[float] | None] = {}
    for name in names:
        times = [_first_mask(builds[name], tools[:n]) for n in (count, count + 1)]
        found[name] = None if None in times else [time for time in times if time is not None]
    return found


def _first_mask(build: Build, tools: list[object]) -> float | None:
    began = process_time()
    try:
        build({"anyOf": tools})().mask()
    except RefusedError:
        return None
    return 1e3 * (process_time() - began)


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--repeat", default=5, help="Draws of each set; the medians are printed.")
@click.option("--count", type=int, help="Time a set of so many tools in this process.")
@click.option("--turn", default=0, help="Which draw it is.")
def main(folder: Path | None, repeat: int, count: int | None, turn: int) -> None:
    """Time sets of tools beside llguidance."""
    if count is not None:
        print(json.dumps(time_set(folder, count, turn)))
        return
    print(f"| tools | {OURS}, ms | {LLGUIDANCE}, ms | ratio | one more, ms | of its whole |")
    print("|---" * 6 + "|")
    where = () if folder is None else (folder,)
    for tools in COUNTS:
        options = ("--count", tools, "--turn")
        runs = [
            in_own_process("benchmarks.tools", *where, *options, turn)
            for turn in range(1, repeat + 1)
        ]
        sums = [(run[OURS], run[LLGUIDANCE]) for run in runs if None not in run.values()]
        if not sums:
            print(f"| {tools} | refused |||||")
            continue
        ours, theirs, more = (
            median(sums[i][which][place] for i in range(len(sums)))
            for which, place in ((0, 0), (1, 0), (0, 1))
        )
        ratio = f"{ours / theirs:.2f} | {more:.1f} | {more / theirs:.2f}"
        print(f"| {tools} | {ours:.1f} | {theirs:.1f} | {ratio} |")
    print(f"At most {WHOLE_BAR:g} times is wanted.", file=sys.stderr)


if __name__ == "__main__":
    main()
