"""What one road means: each language costs what KBNF costs; commands open what the library makes.

``python -m benchmarks.one_road gbnf FOLDER`` prints the CPU time of ``Grammar.from_gbnf`` over that
of the same grammar in KBNF, for the files of the folder. ``python -m benchmarks.one_road schemas
FOLDER`` opens each JSON Schema as commands do and as the library does, and prints how many differ,
and the CPU time of both; MaskBench's files have theirs below ``schema``.
"""

import json
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from kbnf_cli.inputs import open_any_grammar
from kbnf_core import Grammar, GrammarError
from kbnf_core.convert import from_gbnf

RUNS = 5


def least_cpu(run: Callable[[], object]) -> float:
    """Return the CPU seconds of the quickest of some runs."""
    found = []
    for _ in range(RUNS):
        start = time.process_time()
        run()
        found.append(time.process_time() - start)
    return min(found)


def compare_gbnf(folder: Path) -> None:
    """Print what reading GBNF costs beside reading KBNF."""
    ratios, there, here = [], 0.0, 0.0
    for path in sorted(folder.rglob("*.gbnf")):
        text = path.read_text(encoding="utf-8")
        try:
            kbnf = from_gbnf(text).text
            Grammar.from_gbnf(text), Grammar(kbnf)
        except GrammarError:
            continue
        gbnf_seconds = least_cpu(partial(Grammar.from_gbnf, text))
        kbnf_seconds = least_cpu(partial(Grammar, kbnf))
        ratios.append(gbnf_seconds / kbnf_seconds)
        there, here = there + gbnf_seconds, here + kbnf_seconds
    print(
        f"{len(ratios)} files: from_gbnf / KBNF {there / here:.2f} in all,"
        f" median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}"
    )


def same(first: Grammar, second: Grammar) -> bool:
    """Return whether two grammars have the same states, edges and byte classes.

    Remembered parts are named by digests of what was asked, also of the ``lossy`` of commands.
    """
    one, other = (_PART.sub("part", each.tables.dump()) for each in (first, second))
    return one == other and first.tables.classes.tobytes() == second.tables.classes.tobytes()


_PART = re.compile("_[0-9a-f]{32}")


def compare_schemas(folder: Path) -> None:
    """Print how many schemas the command line opens otherwise than the library, and the time."""
    compared, refused, ratios, different = 0, 0, [], []
    with tempfile.TemporaryDirectory() as place:
        file = Path(place) / "a.schema.json"
        for path in sorted(folder.rglob("*.json")):
            value = json.loads(path.read_text(encoding="utf-8"))
            schema = value.get("schema", value) if isinstance(value, dict) else value
            text = json.dumps(schema)
            file.write_text(text, encoding="utf-8")

            def by_command() -> Grammar:
                return open_any_grammar(file, "a.schema.json", None, None, from_="json-schema")

            try:
                made = Grammar.from_json_schema(text)
            except GrammarError:
                refused += 1
                continue
            compared += 1
            if not same(made, by_command()):
                different.append(path.name)
            library = least_cpu(partial(Grammar.from_json_schema, text))
            ratios.append(least_cpu(by_command) / library)
    print(
        f"{compared} schemas, {refused} refused: {len(different)} differ {different[:5]};"
        f" command / library median {statistics.median(ratios):.2f}, largest {max(ratios):.2f}"
    )


if __name__ == "__main__":
    {"gbnf": compare_gbnf, "schemas": compare_schemas}[sys.argv[1]](Path(sys.argv[2]))
