"""Budgets of tokens over a real vocabulary: ``python -m benchmarks.budgets [FOLDER]``.

Random texts of schemas with budgets of the fewest tokens and a few more, so that nearly every step
binds, then with budgets that are far away. A step is what a budget adds to the mask. Times are
those of the processor. Of each schema a first text is played with every budget from a grammar that
nobody has used, and then more texts of the last one, which knows what they have found.
"""

import gc
import json
from collections.abc import Iterator
from math import inf
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import click
import numpy as np

from benchmarks.vocabulary import read_setting
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.masks import state_at
from kbnf_core.text.errors import KbnfError

SPARE = (0, 1, 3, 8, 20)
"""Tokens that a budget has beyond the fewest."""

FAR = 5_000
"""A budget that binds nowhere."""

TEXTS = 5
"""Texts with each budget from a grammar that was used."""

Schema = dict[str, Any]


def closed(**properties: Schema) -> Schema:
    """Return the schema of an object with exactly these properties."""
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }


TEXT, NUMBER = {"type": "string"}, {"type": "integer"}
SCHEMAS: dict[str, Schema | bool] = {
    "three fields": closed(name=TEXT, age=NUMBER, tags={"type": "array", "items": TEXT}),
    "any JSON": True,
    "minLength 150": closed(text={"type": "string", "minLength": 150}),
    "minItems 40": closed(list={"type": "array", "items": NUMBER, "minItems": 40}),
    "maxLength 2000": closed(text={"type": "string", "maxLength": 2000}),
    "both bounds": closed(text={"type": "string", "minLength": 40, "maxLength": 60}),
    "date": closed(day={"type": "string", "format": "date-time"}),
    "tree": {
        "$ref": "#/$defs/node",
        "$defs": {
            "node": closed(name=TEXT, children={"type": "array", "items": {"$ref": "#/$defs/node"}})
        },
    },
}


def schemas(folder: Path | None, limit: int) -> Iterator[tuple[str, Any]]:
    """Yield names and schemas: those above, or the first files of a folder."""
    if folder is None:
        yield from SCHEMAS.items()
        return
    for path in sorted(folder.rglob("*.json"))[:limit]:
        value = json.loads(path.read_text("utf-8"))
        yield path.stem, value.get("schema", value) if isinstance(value, dict) else value


def play(grammar: Grammar, vocabulary: Vocabulary, budget: int, random: Random) -> list[float]:
    """Return the microseconds that a budget adds to each step of a random text."""
    engine = Engine(grammar, vocabulary, finish="eos", budget=budget)
    times: list[float] = []
    while not engine.is_finished() and len(times) < 400:
        automaton, position, left = engine._automaton, engine._position, engine.remaining
        words = engine._mask_at(state_at(position))
        begin = process_time()
        words = automaton.fitting(words, position, left or 0)
        times.append((process_time() - begin) * 1e6)
        allowed = ids_of(words, vocabulary.size)
        if not len(allowed):
            break
        engine.try_accept_new_token(int(random.choice(allowed)))
    return times


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--limit", default=100, help="Most files of a folder.")
@click.option("--seed", default=1, help="Which texts.")
def main(folder: Path | None, limit: int, seed: int) -> None:
    """Time what budgets add to steps, bindingly and far away."""
    vocabulary = read_setting().vocabulary
    print(
        f"{'schema':28} {'fewest':>6} {'first ms':>9}  binding us: p50, p99, largest  far us: p99"
    )
    everything: tuple[list[float], list[float]] = ([], [])
    far_away: list[float] = []
    firsts: list[float] = []
    for name, schema in schemas(folder, limit):
        try:
            grammar = Grammar.from_json_schema(schema)
        except KbnfError:
            continue
        random = Random(f"{seed} {name}")  # noqa: S311 - the same texts every time
        engine = Engine(grammar, vocabulary, finish="eos")
        gc.collect()
        begin = process_time()
        least = engine._automaton.nearest_end.least(engine._position)
        first = (process_time() - begin) * 1e3
        if least == inf:
            continue
        fewest = int(least)
        fresh, known = [], []
        for spare in SPARE:
            another = Grammar.from_json_schema(schema)
            fresh += play(another, vocabulary, fewest + spare, random)
            for _ in range(TEXTS):
                known += play(another, vocabulary, fewest + spare, random)
        far = play(grammar, vocabulary, fewest + FAR, random)
        shown = "".join(
            f"{p:8.0f}"
            for each in (fresh, known)
            for p in (*np.percentile(each, (50, 99)), max(each))
        )
        print(f"{name[:24]:24} {fewest:6} {first:8.1f}  {shown}  {np.percentile(far, 99):8.1f}")
        everything[0].extend(fresh)
        everything[1].extend(known)
        far_away += far
        firsts.append(first)
    for kind, times in zip(("fresh", "known"), everything, strict=True):
        shown = "p50 {:.0f}, p99 {:.0f}, p99.9 {:.0f}".format(*np.percentile(times, (50, 99, 99.9)))
        print(f"binding steps, {kind}, us: {shown}, largest {max(times):.0f}; p99 wanted 1,000")
    print(f"far steps, us: p99 {np.percentile(far_away, 99):.1f}; wanted 20")
    print(f"first completion, ms: p50 {np.median(firsts):.1f}, largest {max(firsts):.1f}")


if __name__ == "__main__":
    main()
