"""Strings with a bound: ``python -m benchmarks.bounded_strings``.

An object of one string with ``maxLength``, as agents send it for a file or a diff, and a text that
nobody has seen, up to the bound or 8,000 characters. Times are those of the processor; engines take
turns after each bound. Work ahead is off.
"""

import gc
import sys
from random import Random
from time import process_time
from typing import Any

import click
import numpy as np

from benchmarks.first_requests import make_request
from benchmarks.schema_engines import make_builds
from benchmarks.vocabulary import read_setting

BOUNDS = (500, 2_000, 8_000, 100_000)
LONGEST = 8_000
STEP_BAR, FIRST_BAR = 1_000.0, 20.0
"""Microseconds of the slowest step, milliseconds to the first mask: at most."""

WORDS = """the of return value for each file in path and import self def class error when an empty
list naïve Größe 東京 été should be raised not found 12 3.5 x_1 (see below), however: [0] == None"""


def schema(bound: int) -> dict[str, Any]:
    """Return the schema of an object with one bounded string."""
    text = {"type": "string", "maxLength": bound}
    return {
        "type": "object",
        "properties": {"text": text},
        "required": ["text"],
        "additionalProperties": False,
    }


def document(bound: int, seed: int) -> str:
    """Return a text of the schema, as long as the bound if that is not too long."""
    random = Random(seed)  # noqa: S311 - the same text every time
    length = min(bound, LONGEST)
    choices, words = WORDS.split(), list[str]()
    while sum(map(len, words)) + len(words) <= length:
        words.append(random.choice(choices))
    text = " ".join(words)[:length]
    return '{"text": "' + text + '"}'


@click.command()
@click.option("--only", multiple=True, help="Engines to measure; all without it.")
@click.option("--seed", default=1, help="Which texts.")
def main(only: tuple[str, ...], seed: int) -> None:
    """Time bounded strings, each engine's first text of each."""
    setting = read_setting()
    builds, missing = make_builds(setting, only)
    for name in missing:
        print(f"not installed: {name}", file=sys.stderr)
    for build in builds.values():
        build({"type": "object"})().mask()
    print("| `maxLength`, engine | first mask, ms | step, us: p50 | p99 | max | mean | tokens |")
    print("|---" * 7 + "|")
    for bound in BOUNDS:
        tokens = setting.encode(document(bound, seed))
        for name, build in builds.items():
            gc.collect()
            began = process_time()
            found = make_request(build, schema(bound), tokens, ahead=False, keep=False)
            if found is None:
                seconds = process_time() - began
                print(f"| {bound:,}, {name} | refused after {seconds:.1f} s ||||||")
                continue
            times = [time.processor for time in found.cold]
            marks = [*np.percentile(times, (50, 99)), max(times), float(np.mean(times))]
            shown = " | ".join(f"{mark:.1f}" for mark in (found.first.processor / 1e3, *marks))
            print(f"| {bound:,}, {name} | {shown} | {len(times):,} |")
    print(f"\nWanted: no step over {STEP_BAR:g} us, first masks below {FIRST_BAR:g} ms.")


if __name__ == "__main__":
    main()
