"""What a store saves, how fast it starts a grammar, and how a farm fills it.

``python -m benchmarks.store [SCHEMAS [FARMED]]`` reads real schemas from the folder that
``KBNF_DATA`` names, in an order that a seed decides (beyond their number, again with a property
renamed), and measures over tekken of mistral-common:

- the size of a store of SCHEMAS (300), the sizes of their artifacts, and the time of each;
- a second start of each from a warm node: the look-up, the grammar and an engine over it;
- a step of streams over these grammars: the mask and the acceptance of a token, when a text comes
  by for the first time and when it has come by before;
- FARMED (1,000) schemas through the farm with one process and with two, once these have started.

The last lines are the sums of docs/scale.md, for 100,000 schemas, whatever the vocabularies, and
10,000 streams of 50 tokens a second.
"""

import json
import os
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from statistics import mean, median, quantiles
from tempfile import TemporaryDirectory

from benchmarks.vocabulary import Setting, read_setting
from kbnf_core import Vocabulary, allocate_bitmask
from kbnf_core.engine import Engine
from kbnf_core.farm import MADE, Task, TaskOutcome, run_tasks
from kbnf_core.grammar import Grammar
from kbnf_core.processes import Pool, ProcessError
from kbnf_core.store import open_store, sizes
from kbnf_core.store.keys import recipe_of
from kbnf_core.text.errors import GrammarError, RejectedError

LOST = (ProcessError,)

SEED = 19

MANY, STREAMS = 100_000, 10_000 * 50
"""Schemas that a large platform compiles in all, and the tokens that it makes in a second."""


def schema_files() -> list[Path]:
    """Return the files of schemas, in the order that the seed decides."""
    files = sorted((Path(os.environ["KBNF_DATA"]) / "maskbench").glob("*.json"))
    Random(SEED).shuffle(files)  # noqa: S311 - no secret
    return files


def read_schemas(count: int) -> Iterator[str]:
    """Yield schemas as JSON, the real ones first."""
    files = schema_files()
    for number in range(count):
        schema = json.loads(files[number % len(files)].read_text(encoding="utf-8"))["schema"]
        text = json.dumps(schema)
        names = list(schema.get("properties", ())) if isinstance(schema, dict) else []
        if number >= len(files) and names:
            text = text.replace(json.dumps(names[0]), json.dumps(f"{names[0]}_{number}"))
        yield text


def tasks_for(url: Path, schemas: list[str]) -> list[Task]:
    """Return a task for each schema."""
    recipes = [recipe_of(text, language="JSON Schema") for text in schemas]
    return [Task(str(url), str(number), recipe) for number, recipe in enumerate(recipes)]


def farm(url: Path, schemas: list[str], workers: int) -> tuple[float, list[TaskOutcome]]:
    """Fill a store; return seconds, and the outcomes of the artifacts that were made."""
    warm = tasks_for(url, ["true", '{"type":"null"}'])
    tasks = tasks_for(url, schemas)
    with Pool(workers) as processes:
        list(run_tasks(warm, processes, LOST, workers))
        begin = time.perf_counter()
        outcomes = list(run_tasks(tasks, processes, LOST, 2 * workers))
        taken = time.perf_counter() - begin
    return taken, [outcome for outcome in outcomes if outcome.status == MADE]


def second_starts(
    url: Path, vocabulary: Vocabulary, schemas: list[str]
) -> tuple[list[float], list[float]]:
    """Return the milliseconds of a processor that each start takes on a node that is warm.

    That is up to the grammar, and up to an engine.
    """
    grammars, engines = [], []
    # A node that is warm has all that is made once for a vocabulary.
    Engine(Grammar("start = 'a'"), vocabulary)
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


def steps(url: Path, setting: Setting, count: int) -> tuple[list[float], list[float]]:
    """Return the microseconds of each step in the values of schemas: in the first text, and again.

    A step is a mask and the acceptance of a token.
    """
    first, again = [], []
    for file in schema_files()[:count]:
        case = json.loads(file.read_text(encoding="utf-8"))
        source = json.dumps(case["schema"])
        with suppress(GrammarError):
            grammar = Grammar.from_store(url, source, setting.vocabulary, language="JSON Schema")
            for test in case["tests"]:
                tokens = setting.encode(json.dumps(test["data"], ensure_ascii=False))
                first += _steps(grammar, setting.vocabulary, tokens)
                again += _steps(grammar, setting.vocabulary, tokens)
    return first, again


def _steps(grammar: Grammar, vocabulary: Vocabulary, tokens: list[int]) -> list[float]:
    """Return the time of each step, as far as the grammar goes with the tokens."""
    engine, times = Engine(grammar, vocabulary), []
    bits = allocate_bitmask(1, vocabulary.size)
    with suppress(RejectedError):
        for token in tokens:
            begin = time.perf_counter()
            engine.fill_bitmask(bits)
            engine.try_accept_new_token(token)
            times.append(1e6 * (time.perf_counter() - begin))
    return times


def main(schemas: int = 300, farmed: int = 1_000) -> None:
    """Measure and print."""
    setting = read_setting()
    vocabulary = setting.vocabulary
    with TemporaryDirectory() as folder:
        os.environ["KBNF_CACHE_DIR"] = f"{folder}/cache"
        url = Path(folder) / "store"
        texts = list(read_schemas(schemas))
        taken, made = farm(url, texts, 2)
        bytes_ = sorted(each.size or 0 for each in made)
        times = sorted(1000 * (each.seconds or 0) for each in made)
        objects = sizes(open_store(url))["objects"][1]
        print(f"{len(made)} of {schemas} schemas in {taken:.1f} s")
        for what, found in (("ms of a processor", times), ("bytes", bytes_)):
            shown = (median(found), quantiles(found, n=10)[-1], found[-1], mean(found))
            print(
                "{}: median {:,.1f}, nine of ten {:,.1f}, most {:,.1f}, mean {:,.1f}".format(
                    what, *shown
                )
            )
        print(f"objects {objects:,} bytes, {sum(bytes_) / objects:.1f} times less than the files")
        for what, starts in zip(
            ("grammar", "engine"), second_starts(url, vocabulary, texts), strict=True
        ):
            print(
                f"second start, {what}: median {median(starts):.2f} ms of a processor, nine of ten"
                f" {quantiles(starts, n=10)[-1]:.2f} ms, worst {max(starts):.2f} ms;"
                f" {sum(each < 5 for each in starts)} of {len(starts)} below 5"
            )
        made_first, made_again = steps(url, setting, schemas)
        print(
            f"a step of a stream: {mean(made_first):.1f} us in a new text,"
            f" {mean(made_again):.1f} us in one that came by before (means)"
        )
        many = list(read_schemas(farmed))
        one, alone = farm(Path(folder) / "one", many, 1)
        two, _ = farm(Path(folder) / "two", many, 2)
    print(
        f"{len(alone)} of {farmed} schemas: one worker {one:.1f} s, two {two:.1f} s;"
        f" {one / two:.2f} times as fast (at least 1.7 is wanted)"
    )
    print(
        f"{MANY:,} schemas: {MANY * one / max(1, len(alone)) / 60:.0f} minutes of a processor,"
        f" {MANY * objects / len(made) / 1e9:,.1f} GB of objects"
    )
    print(
        f"{STREAMS:,} tokens a second: {STREAMS * mean(made_first) / 1e6:.1f} processors where"
        f" texts are new, {STREAMS * mean(made_again) / 1e6:.1f} where they are not"
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
