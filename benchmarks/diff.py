"""How often, how fast and how rightly schemas are compared.

``python -m benchmarks.diff FOLDER`` draws schemas of a maskbench folder at random, and makes 1,000
pairs of a schema and the same with one or two edits (``schema_edits``); another ``--seed`` draws
others. A pair that takes longer than ``--seconds`` counts as not decided.

Judges are the engine, which must take each witness on one side and refuse it on the other, and take
random texts of what is said to be included; and jsonschema and jsonschema-rs, which must say the
same of the values: that of a witness is valid on its own side, and texts of what is included are
valid on both. Where the value of a witness is valid on both, the schemas differ in spelling or
order of members alone.
"""

import copy
import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import click
import jsonschema
import jsonschema_rs

from benchmarks.bounded import TooLongError, bounded
from benchmarks.schema_edits import Schema, edit
from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.diff import Answer, Comparison, Verdict, compare
from kbnf_core.mask.completion import sample
from kbnf_core.text.errors import EngineError, KbnfError

SAMPLES = 3
DECIDED_BAR, MEDIAN_BAR = 0.95, 0.1
BYTES = Vocabulary.bytes()

Judge = Callable[[Any], bool]
"""Tells whether a value is valid."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of a schema, and values that the first was tested with."""

    name: str
    old: Schema
    new: Schema
    values: tuple[Any, ...]


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.option("--pairs", default=1_000, show_default=True, help="How many pairs to compare.")
@click.option("--seed", default=1412, show_default=True, help="What the draw begins with.")
@click.option("--seconds", default=20.0, show_default=True, help="How long a step may take.")
def main(folder: Path, pairs: int, seed: int, seconds: float) -> None:
    """Compare pairs of schemas, judge what is said of them, and print the figures."""
    random = Random(seed)  # noqa: S311 - reproducible, not secret
    run = _Run(random, seconds)
    for pair in _drawn(folder, random):
        run.compare(pair)
        if len(run.times) == pairs:
            break
    passed = run.report()
    sys.exit(not passed)


class _Run:
    """What was found so far."""

    def __init__(self, random: Random, seconds: float) -> None:
        self.times: list[float] = []
        self._random = random
        self._seconds = seconds
        self._found: Counter[str] = Counter()
        self._beside: Counter[str] = Counter()
        self._wrong = 0
        self._slowest = (0.0, "")

    def compare(self, pair: Pair) -> None:
        """Compare a pair, unless one of it cannot be converted, and judge the result."""
        try:
            with bounded(self._seconds):
                grammars = _converted(pair)
        except (KbnfError, TooLongError):
            self._beside["pairs not converted"] += 1
            return
        begin = time.perf_counter()
        found: Comparison | None = None
        try:
            with bounded(self._seconds):
                found = compare(grammars[0], grammars[1])
        except TooLongError:
            pass
        self.times.append(time.perf_counter() - begin)
        self._slowest = max(self._slowest, (self.times[-1], pair.name))
        self._found["unknown" if found is None else found.relation.value] += 1
        if found is None or Verdict.UNKNOWN in (found.old_only.verdict, found.new_only.verdict):
            print(f"not decided in {self.times[-1]:.1f} s: {pair.name}", flush=True)
        if found is not None:
            self._judge(pair, found, grammars)

    def _judge(self, pair: Pair, found: Comparison, grammars: list[Grammar]) -> None:
        try:
            with bounded(self._seconds):
                found_wrong = _complaints(pair, found, grammars, self._random, self._beside)
                complaints = list(dict.fromkeys(found_wrong))
        except TooLongError:
            self._beside["pairs not judged in time"] += 1
            return
        self._wrong += len(complaints)
        for complaint in complaints:
            print(f"wrong: {pair.name}: {complaint}", flush=True)

    def report(self) -> bool:
        """Print the figures; tell whether the bars are met."""
        times = sorted(self.times)
        decided = 1 - self._found["unknown"] / len(times)
        print(f"{len(times):,} pairs: {decided:.1%} decided (bar: {DECIDED_BAR:.0%})")
        print(f"{self._wrong} wrong")
        for counted in (self._found, self._beside):
            print(", ".join(f"{number:,} {what}" for what, number in counted.most_common()))
        middle, most = statistics.median(times), times[int(0.99 * len(times))]
        print(f"p50 {1e3 * middle:.1f} ms (bar: {1e3 * MEDIAN_BAR:.0f}), p99 {1e3 * most:.0f} ms")
        print(f"slowest: {self._slowest[0]:.1f} s, {self._slowest[1]}")
        return not self._wrong and decided >= DECIDED_BAR and middle <= MEDIAN_BAR


def _drawn(folder: Path, random: Random) -> Iterator[Pair]:
    """Yield a pair of each schema, and then again, with other edits."""
    files = sorted(folder.glob("*.json"))
    while files:
        random.shuffle(files)
        for file in files:
            case = json.loads(file.read_text(encoding="utf-8"))
            if isinstance(case["schema"], dict):
                yield _pair(file.name, case, random)


def _pair(name: str, case: Any, random: Random) -> Pair:
    new = copy.deepcopy(case["schema"])
    edits = [edit(new, random) for _ in range(random.choice((1, 1, 2)))]
    values = tuple(test["data"] for test in case["tests"] if test["valid"])
    return Pair(f"{name} ({', '.join(edits)})", case["schema"], new, values)


def _converted(pair: Pair) -> list[Grammar]:
    return [Grammar.from_json_schema(json.dumps(each)) for each in (pair.old, pair.new)]


def _complaints(
    pair: Pair,
    comparison: Comparison,
    grammars: list[Grammar],
    random: Random,
    beside: Counter[str],
) -> Iterator[str]:
    """Yield what is wrong with what was said; count what is worth knowing beside it."""
    engines = [Engine(grammar, BYTES) for grammar in grammars]
    judges = [_judges(schema) for schema in (pair.old, pair.new)]
    for side, answer in enumerate((comparison.old_only, comparison.new_only)):
        if answer.verdict is Verdict.SOME:
            yield from _of_witness(answer, engines[side], engines[1 - side])
            value = json.loads(answer.data or b"")
            yield from _refusals(value, judges[side], "a witness")
            other = judges[1 - side]
            if other and all(judge(value) for judge in other.values()):
                beside["witnesses of spelling or order"] += 1
        elif answer.verdict is Verdict.EMPTY:
            texts = [_sample(engines[side], random) for _ in range(SAMPLES)]
            texts += [json.dumps(value).encode() for value in pair.values if side == 0]
            for text in texts:
                if not _takes(engines[side], text):
                    continue
                beside["texts tried"] += 1
                if not _takes(engines[1 - side], text):
                    yield f"{text!r} is said to be on both sides"
                for each in judges if _has_a_value(text) else ():
                    yield from _refusals(json.loads(text), each, "a text of both sides")


def _of_witness(answer: Answer, has: Engine, lacks: Engine) -> Iterator[str]:
    if answer.data is None or not _takes(has, answer.data):
        yield f"the witness {answer.shown} is on no side"
    elif _takes(lacks, answer.data):
        yield f"the witness {answer.shown} is on both sides"


def _refusals(value: Any, judges: dict[str, Judge], what: str) -> Iterator[str]:
    for name, judge in judges.items():
        if not judge(value):
            yield f"{name} refuses {what}, {json.dumps(value)}"


def _has_a_value(text: bytes) -> bool:
    """Return whether judges read a text as it is: they have floats, and one member of each name."""

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        unique.append(len(found) == len(pairs))
        return found

    unique: list[bool] = []
    value = json.loads(text, object_pairs_hook=members)
    return all(unique) and "Infinity" not in json.dumps(value)


def _judges(schema: Schema) -> dict[str, Judge]:
    """Return the judges that take a schema, by their names."""
    found: dict[str, Judge] = {}
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    makers: dict[str, Callable[[], Any]] = {
        "jsonschema": lambda: kind(schema),
        "jsonschema-rs": lambda: jsonschema_rs.validator_for(schema, validate_formats=False),
    }
    for name, make in makers.items():
        try:
            judge = make()
            judge.is_valid(None)
        except Exception:  # noqa: S112 - a schema that a judge does not take, for any reason
            continue
        found[name] = judge.is_valid
    return found


def _takes(engine: Engine, text: bytes) -> bool:
    engine.reset()
    try:
        engine.try_accept_new_bytes(text)
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


def _sample(engine: Engine, random: Random) -> bytes:
    automaton = engine.grammar.token_automata.get(BYTES, engine.grammar.finish)
    drawn = sample(automaton, automaton.beginning, random, 60)
    return bytes(token for token in drawn.tokens if token < 256)


if __name__ == "__main__":
    main()
