"""Memory over many schemas: ``python -m benchmarks.many_schemas [FOLDER]``.

Each engine, in a process of its own, takes thousands of distinct schemas one after the other, to
the first mask, and keeps none. Printed are the resident memory that was added after so many, and
the most there was at any time. Schemas of a folder are drawn again under other property names when
they are used up.
"""

import json
from itertools import islice
from pathlib import Path
from time import process_time
from typing import Any

import click

from benchmarks.drawn import distinct_schemas
from benchmarks.maskbench import RefusedError
from benchmarks.measure import in_own_process, resident
from benchmarks.schema_engines import LLGUIDANCE, OURS, make_builds
from benchmarks.vocabulary import read_setting

MARKS = (100, 1_000, 2_000, 5_000)
LARGEST = 60_000
"""Characters of a schema; larger ones are passed over."""

GROWTH_BAR, PEAK_BAR = 50.0, 350.0
"""MB, at most."""


def measure(folder: Path | None, engine: str, number: int) -> dict[str, Any]:
    """Take the schemas in this process; return MB added by count, the peak, seconds, refusals."""
    setting = read_setting()
    build = make_builds(setting, (engine,))[0][engine]
    fitting = (s for s in distinct_schemas(folder) if len(json.dumps(s)) <= LARGEST)
    # One schema makes the lists of what there is, and loads what all need.
    build(next(fitting))().mask()
    before, began, refused = resident(), process_time(), 0
    added: dict[int, float] = {}
    for count, schema in enumerate(islice(fitting, number), 1):
        try:
            build(schema)().mask()
        except RefusedError:
            refused += 1
        if count in MARKS or count == number:
            added[count] = resident() - before
    spent = process_time() - began
    return {"added": added, "peak": resident("VmHWM"), "seconds": spent, "refused": refused}


@click.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path, exists=True))
@click.option("--number", default=5_000, help="Schemas.")
@click.option("--engine", multiple=True, default=(OURS, LLGUIDANCE), help="Engines to measure.")
@click.option("--inside", is_flag=True, help="Measure one engine in this process.")
def main(folder: Path | None, number: int, engine: tuple[str, ...], inside: bool) -> None:
    """Measure the memory that many schemas leave behind."""
    if inside:
        print(json.dumps(measure(folder, engine[0], number)))
        return
    where = () if folder is None else (folder,)
    print("| engine | MB added after | peak, MB | refused | processor, s |\n" + "|---" * 5 + "|")
    for name in engine:
        options = ("--number", number, "--engine", name, "--inside")
        found = in_own_process("benchmarks.many_schemas", *where, *options)
        added = ", ".join(f"{count}: {mb:.0f}" for count, mb in found["added"].items())
        rest = f"{found['peak']:.0f} | {found['refused']} | {found['seconds']:.1f}"
        print(f"| {name} | {added} | {rest} |")
    print(f"\nWanted: at most {GROWTH_BAR:g} MB added, a peak of {PEAK_BAR:g}.")


if __name__ == "__main__":
    main()
