"""Commands on an artifact beside the same on its source: CPU time, and the ratio of both.

::

    python -m benchmarks.artifacts SOURCE... --vocab tokenizer.json [--ahead-work N] [--repeat N]

Each source is compiled once, with masks made ahead within ``--ahead-work``. Then ``kbnf mask`` runs
on the source and on the artifact in turns, each in a process of its own; the least of the
repetitions counts. A line a source, and the largest ratio.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> None:
    """Measure all sources."""
    parser = argparse.ArgumentParser(description="Compare artifacts with their sources.")
    parser.add_argument("sources", nargs="+", type=Path, metavar="SOURCE")
    parser.add_argument("--vocab", required=True)
    parser.add_argument("--ahead-work", type=int, default=2_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    asked = parser.parse_args()
    vocab, work = ("--vocab", asked.vocab), ("--ahead-work", str(asked.ahead_work))
    ratios: list[tuple[float, Path]] = []
    with tempfile.TemporaryDirectory() as folder:
        artifact = str(Path(folder) / "a.kbnfc")
        for source in asked.sources:
            taken: list[float] | None = None
            if _seconds("compile", str(source), *vocab, *work, "-o", artifact) is not None:
                taken = _least(asked.repeat, (str(source), artifact), vocab)
            if taken is None:
                sys.stdout.write(f"{source}: refused\n")
                continue
            ratios.append((taken[1] / taken[0], source))
            sys.stdout.write(f"{source}: {taken[0]:.2f} s, artifact {taken[1]:.2f} s\n")
            sys.stdout.flush()
    worst, source = max(ratios)
    sys.stdout.write(f"{len(ratios)} sources, at most {worst:.2f} times ({source})\n")


def _least(times: int, paths: tuple[str, str], vocab: tuple[str, str]) -> list[float] | None:
    """Return the CPU seconds of a mask of both, in turns; None where one has none."""
    found: list[list[float]] = [[], []]
    for _ in range(times):
        for path, seconds in zip(paths, found, strict=True):
            taken = _seconds("mask", path, *vocab)
            if taken is None:
                return None
            seconds.append(taken)
    return [min(each) for each in found]


def _seconds(*arguments: str) -> float | None:
    """Return the CPU seconds of a command, None where it fails."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "kbnf_cli", *arguments], capture_output=True, check=False
    )
    after = os.times()
    taken = after.children_user - before.children_user
    return None if done.returncode else taken + after.children_system - before.children_system


if __name__ == "__main__":
    main()
