"""Budgets of tokens over a real vocabulary: ``python -m benchmarks.budgets [FOLDER]``.

Random texts of schemas with budgets of as many tokens as the bound says and a few more, so that
nearly every step binds, then with budgets that are far away. A step is what a budget adds to the
mask. Times are those of the processor. Of each schema a first text is played with every budget from
a grammar that nobody has used, and then more texts of the last one, which knows what they have
found.

With a folder like maskbench's, masks are timed whole: one random text for each schema, its tokens
being those that the budget leaves, and at each position the mask of an engine with the budget and
that of one without, each of a grammar of its own that nobody has used.

With ``--asked`` the least budget of each schema is compared with the tokens of its shortest
completion, for the three ways to finish.

With ``--texts N`` as many random texts of the schemas are written with such budgets, and counted
are those that get stuck or are not over in time. How much earlier than need be texts end,
``PYTHONPATH=tests/support python -m kbnf_testing.budgets`` finds out by a search.
"""

import gc
from collections.abc import Iterable, Iterator
from itertools import cycle, islice
from math import inf
from pathlib import Path
from random import Random
from time import process_time, thread_time
from typing import Any, NamedTuple

import click
import numpy as np

from benchmarks.drawn import default_cases
from benchmarks.maskbench import Case
from benchmarks.vocabulary import read_setting
from kbnf_core import Engine, Finish, Grammar, Vocabulary, load_vocabulary
from kbnf_core.mask.bits import ids_of
from kbnf_core.mask.masks import state_at
from kbnf_core.text.errors import KbnfError

SPARE = (0, 1, 3, 8, 20)
"""Tokens that a budget has beyond the fewest."""

FAR = 5_000
"""A budget that binds nowhere."""

MOST_TOKENS = 60
"""The fewest tokens of schemas of which many texts are written."""

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


class Beside(NamedTuple):
    """Microseconds of the masks without and with a budget, and how many texts were over in time."""

    plain: list[float]
    budgeted: list[float]
    texts: int


def compare(cases: list[Case], vocabulary: Vocabulary, spare: int | None, seed: int) -> Beside:
    """Play a text of each schema with a budget of 300, or of ``spare`` beyond the bound."""
    found = Beside([], [], 0)
    out = np.zeros((1, (vocabulary.size + 31) // 32), np.int32)
    for case in cases:
        try:
            grammars = [Grammar.from_json_schema(case.schema) for _ in range(2)]
            plain = Engine(grammars[0], vocabulary, finish="eos", ahead=False)
            engine = Engine(grammars[1], vocabulary, finish="eos", ahead=False)
            least = engine._automaton.nearest_end.least(engine._position)
            engine.remaining = 300 if spare is None else int(least) + spare
        except (KbnfError, OverflowError):
            continue
        random = Random(f"{seed} {case.name}")  # noqa: S311 - the same texts every time
        while not engine.is_finished():
            for each, times in ((plain, found.plain), (engine, found.budgeted)):
                begin = thread_time()
                each.fill_bitmask(out, 0)
                times.append((thread_time() - begin) * 1e6)
            allowed = ids_of(out[0].view(np.uint32), vocabulary.size)
            token_id = int(random.choice(allowed))
            for each in (plain, engine):
                each.try_accept_new_token(token_id)
        found = found._replace(texts=found.texts + 1)
    return found


def report_beside(folder: Path, limit: int, seed: int) -> None:
    """Print what masks of schemas cost with budgets, and without."""
    vocabulary = read_setting().vocabulary
    cases = list(islice(default_cases(folder, seed), limit))
    print(f"{'budget':14} {'texts':>6} {'masks':>7}  us: mean, p50, p99, p99.9, largest")
    for name, spare in (("300", None), ("bound + 10", 10)):
        found = compare(cases, vocabulary, spare, seed)
        for kind, times in (("without", found.plain), (name, found.budgeted)):
            shown = "".join(f"{p:9.1f}" for p in np.percentile(times, (50, 99, 99.9)))
            print(
                f"{kind:14} {found.texts:6} {len(times):7} {np.mean(times):9.1f}{shown}"
                f" {max(times):9.0f}"
            )


def report_asked(folder: Path, limit: int, seed: int, vocabulary: Vocabulary) -> None:
    """Print how the budgets that are asked for compare with shortest completions."""
    cases = list(islice(default_cases(folder, seed), limit))
    print(
        f"{'finish':7} {'schemas':>7}  within 1.3 times the tokens and 3 more; ratio: p50, largest"
    )
    for finish in Finish:
        ratios, within = [], 0
        for case in cases:
            try:
                grammar = Grammar.from_json_schema(case.schema)
                engine = Engine(grammar, vocabulary, finish=finish, ahead=False)
                tokens = engine.shortest_completion().tokens
            except (KbnfError, OverflowError):
                continue
            if tokens is None:
                continue
            asked = engine._automaton.nearest_end.least(engine._position)
            needed = len(tokens) + (finish is Finish.EOS)
            ratios.append(asked / max(1, needed))
            within += asked <= 1.3 * needed + 3
        share, median = within / max(1, len(ratios)), np.median(ratios or [0])
        shown = f"{within:6} ({share:.1%}); {median:.2f}, {max(ratios, default=0):.2f}"
        print(f"{finish.value:7} {len(ratios):7}  {shown}")


def report_texts(folder: Path, limit: int, seed: int, number: int) -> None:
    """Print how many of so many texts got stuck, or were not over in time."""
    vocabulary = read_setting().vocabulary
    engines = [*_with_ends(islice(default_cases(folder, seed), limit), vocabulary)]
    random = Random(seed)  # noqa: S311 - the same texts every time
    out = np.zeros((vocabulary.size + 31) // 32, np.int32)
    tokens = stuck = late = 0
    for engine, least in islice(cycle(engines), number):
        engine.reset()
        budget = engine.remaining = least + random.choice(SPARE)
        while not engine.is_finished() and len(engine.accepted) <= budget:
            engine.fill_bitmask(out)
            allowed = ids_of(out.view(np.uint32), vocabulary.size)
            if not len(allowed):
                stuck += 1
                break
            engine.try_accept_new_token(int(random.choice(allowed)))
        tokens += len(engine.accepted)
        late += len(engine.accepted) > budget
    print(f"{number} texts of {len(engines)} schemas, {tokens} tokens: {stuck} stuck, {late} late")


def _with_ends(cases: Iterable[Case], vocabulary: Vocabulary) -> Iterator[tuple[Engine, int]]:
    """Yield the engines of schemas that are over soon, with the fewest tokens that are known."""
    for case, finish in zip(cases, cycle(Finish), strict=False):
        try:
            grammar = Grammar.from_json_schema(case.schema)
            engine = Engine(grammar, vocabulary, finish=finish, ahead=False)
        except (KbnfError, OverflowError):
            continue
        least = engine._automaton.nearest_end.least(engine._position)
        if least <= MOST_TOKENS:
            yield engine, int(least)


@click.command()
@click.argument("folder", type=click.Path(exists=True, path_type=Path), required=False)
@click.option("--limit", default=200, help="Most files of a folder.")
@click.option("--seed", default=1, help="Which texts.")
@click.option("--asked", is_flag=True, help="Compare the least budgets with completions.")
@click.option(
    "--vocab",
    type=click.Path(exists=True, path_type=Path),
    help="With `--asked`: a file instead of tekken.",
)
@click.option("--texts", type=int, help="Write so many texts of the folder's schemas instead.")
def main(
    folder: Path | None,
    limit: int,
    seed: int,
    asked: bool,
    vocab: Path | None,
    texts: int | None,
) -> None:
    """Time what budgets add to steps, bindingly and far away."""
    if folder is not None and asked:
        vocabulary = load_vocabulary(vocab) if vocab else read_setting().vocabulary
        report_asked(folder, limit, seed, vocabulary)
        return
    if folder is not None and texts is not None:
        report_texts(folder, limit, seed, texts)
        return
    if folder is not None:
        report_beside(folder, limit, seed)
        return
    vocabulary = read_setting().vocabulary
    print(
        f"{'schema':28} {'fewest':>6} {'first ms':>9}  binding us: p50, p99, largest  far us: p99"
    )
    everything: tuple[list[float], list[float]] = ([], [])
    far_away: list[float] = []
    firsts: list[float] = []
    for name, schema in SCHEMAS.items():
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
