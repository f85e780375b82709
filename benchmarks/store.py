"""What a store saves, how fast it starts a grammar, and how a farm fills it.

``python -m benchmarks.store [SCHEMAS [FARMED]]`` reads real schemas from the folder that
``KBNF_DATA`` names (beyond their number, again with a property renamed), and measures over tekken
of mistral-common:

- the size of a store of SCHEMAS (300), beside their artifacts as files;
- a second start of each from a warm node: the look-up, the grammar and an engine over it;
- FARMED (1,000) schemas through the farm with one process and with two, once these have started.

The last lines are the sums of docs/scale.md.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory

from benchmarks.vocabulary import tekken_path
from kbnf_cli.executors import Processes
from kbnf_core import Vocabulary
from kbnf_core.engine import Engine
from kbnf_core.errors import GrammarError
from kbnf_core.grammar import Grammar
from kbnf_core.store.farm import MADE, Task, run_tasks
from kbnf_core.store.keys import recipe_of
from kbnf_core.store.opening import open_store
from kbnf_core.store.upkeep import sizes
from kbnf_core.vocab.load import load_vocabulary

LOST = (BrokenProcessPool,)


def read_schemas(count: int) -> Iterator[str]:
    """Yield schemas as JSON, the real ones first."""
    files = sorted((Path(os.environ["KBNF_DATA"]) / "maskbench").glob("*.json"))
    for number in range(count):
        schema = json.loads(files[number % len(files)].read_text(encoding="utf-8"))["schema"]
        text = json.dumps(schema)
        names = list(schema.get("properties", ())) if isinstance(schema, dict) else []
        if number >= len(files) and names:
            text = text.replace(json.dumps(names[0]), json.dumps(f"{names[0]}_{number}"))
        yield text


def tasks_for(url: Path, vocabulary: Vocabulary, schemas: list[str]) -> list[Task]:
    """Return a task for each schema, having put the vocabulary there."""
    open_store(url).put_vocabulary(vocabulary)
    recipes = [recipe_of(text, language="JSON Schema") for text in schemas]
    return [
        Task(str(url), str(number), recipe, vocabulary.fingerprint)
        for number, recipe in enumerate(recipes)
    ]


def farm(url: Path, vocabulary: Vocabulary, schemas: list[str], workers: int) -> tuple[float, int]:
    """Fill a store; return seconds, and how many artifacts were made."""
    warm = tasks_for(url, vocabulary, ["true", '{"type":"null"}'])
    tasks = tasks_for(url, vocabulary, schemas)
    with Processes(workers) as processes:
        list(run_tasks(warm, processes, LOST, workers))
        begin = time.perf_counter()
        outcomes = list(run_tasks(tasks, processes, LOST, 2 * workers))
        taken = time.perf_counter() - begin
    return taken, sum(outcome.status == MADE for outcome in outcomes)


def second_starts(
    url: Path, vocabulary: Vocabulary, schemas: list[str]
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of a processor that each start takes on a node that is warm.

    That is up to the grammar, and up to an engine, which compares the masks with their digest.
    """
    grammars, engines = [], []
    for text in schemas:
        try:
            Grammar.from_store(url, text, vocabulary, language="JSON Schema")
        except GrammarError:
            continue
        begin = time.process_time()
        grammar = Grammar.from_store(url, text, vocabulary, language="JSON Schema")
        grammars.append(1000 * (time.process_time() - begin))
        Engine(grammar, vocabulary)
        engines.append(1000 * (time.process_time() - begin))
    return grammars, engines


def main(schemas: int = 300, farmed: int = 1_000) -> None:
    """Measure and print."""
    vocabulary = load_vocabulary(tekken_path())
    with TemporaryDirectory() as folder:
        os.environ["KBNF_CACHE_DIR"] = f"{folder}/cache"
        url = Path(folder) / "store"
        texts = list(read_schemas(schemas))
        taken, made = farm(url, vocabulary, texts, 2)
        store = open_store(url)
        artifacts = [store.get(key) for key in store.known_keys()]
        plain = sum(path.stat().st_size for path in artifacts if path is not None)
        counts = sizes(store)
        objects, rows = counts["objects"][1], counts["rows"][1]
        print(f"{made} of {schemas} schemas in {taken:.1f} s")
        print(
            f"as files {plain:,} bytes; objects {objects:,} and {counts['rows'][0]:,} rows {rows:,}"
        )
        print(f"{plain / (objects + rows):.1f} times smaller (at least 5 is wanted)")
        for what, starts in zip(
            ("grammar", "engine"), second_starts(url, vocabulary, texts), strict=True
        ):
            print(
                f"second start, {what}: median {median(starts):.2f} ms of a processor, nine of ten"
                f" {quantiles(starts, n=10)[-1]:.2f} ms, worst {max(starts):.2f} ms"
                " (below 5 is wanted)"
            )
        many = list(read_schemas(farmed))
        one, count = farm(Path(folder) / "one", vocabulary, many, 1)
        two, _ = farm(Path(folder) / "two", vocabulary, many, 2)
    print(
        f"{count} of {farmed} schemas: one worker {one:.1f} s, two {two:.1f} s;"
        f" {one / two:.2f} times as fast (at least 1.7 is wanted)"
    )
    pairs = 2_000_000
    print(f"{pairs:,} pairs: {pairs * one / max(1, count) / 3600:.0f} core-hours,")
    print(f"{pairs * objects / max(1, made) / 1e9:,.0f} GB of objects")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
