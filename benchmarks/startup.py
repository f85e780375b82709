"""What it takes to start: ``kbnf check`` of ten lines beside ``import lark``.

``python -m benchmarks.startup`` prints medians over interleaved runs and their ratio, in wall
time and in processor time, which a busy machine disturbs less.
"""

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

RUNS = 15
BAR = 3.0
"""The ratio that is allowed."""

GRAMMAR = """\
(* ten lines *)
start ::= '{' pair (',' pair){0,9} '}';
pair ::= key ':' value;
key ::= '"' #'[a-z]{1,20}' '"';
value ::= text | number | truth | list;
text ::= '"' #'[^"\\\\\\\\]{0,50}' '"';
number ::= #'-?(0|[1-9][0-9]{0,9})';
truth ::= 'true' | 'false' | 'null';
list ::= '[' [value (',' value){0,9}] ']';
(* end *)
"""


class Cost(NamedTuple):
    """Seconds of one run."""

    wall: float
    processor: float


def run(command: Sequence[str]) -> Cost:
    """Run a command to its end; it must succeed."""
    before, begin = _children(), time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return Cost(time.perf_counter() - begin, _children() - before)


def _children() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ten.kbnf"
        file.write_text(GRAMMAR, encoding="utf-8")
        commands = {
            "nothing": [sys.executable, "-c", ""],
            "import lark": [sys.executable, "-c", "import lark"],
            "import numpy": [sys.executable, "-c", "import numpy"],
            "kbnf --version": [sys.executable, "-m", "kbnf_cli", "--version"],
            "kbnf check": [sys.executable, "-m", "kbnf_cli", "check", "--no-cache", str(file)],
        }
        runs = [{name: run(command) for name, command in commands.items()} for _ in range(RUNS)]
    for kind in Cost._fields:
        middle = {name: median(getattr(each[name], kind) for each in runs) for name in commands}
        ratio = middle["kbnf check"] / middle["import lark"]
        figures = ", ".join(f"{name} {1000 * value:.0f} ms" for name, value in middle.items())
        print(f"{kind}: {figures}; check / lark = {ratio:.2f} (at most {BAR:.0f} is wanted)")


if __name__ == "__main__":
    main()
