"""How often, how fast and how rightly schemas are compared.

``python -m benchmarks.diff FOLDER`` reads the schemas of a maskbench folder, and makes 1,000 pairs
of a schema and the same with one or two edits of the kinds that people make: a property added,
dropped or made optional, a type widened, a bound moved, a value added to an enum.

Judges are the engine, which must take each witness on one side and refuse it on the other, and take
random texts of what is said to be included; and jsonschema, which must say the same of the values.
Where that says that the value of a witness is allowed on both sides, the schemas differ in
spelling or order of members alone.
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

import jsonschema

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.diff import Answer, Comparison, Verdict, compare
from kbnf_core.errors import EngineError, KbnfError
from kbnf_core.mask.sample import sample

PAIRS = 1_000
SAMPLES = 3
DECIDED_BAR, MEDIAN_BAR = 0.95, 0.1
BYTES = Vocabulary.bytes()

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two versions of a schema, and values that the first was tested with."""

    name: str
    old: Schema
    new: Schema
    values: tuple[Any, ...]


def main(folder: str, count: int = PAIRS) -> None:
    """Compare ``count`` pairs, judge what is said of them, and print the figures."""
    random = Random(1412)  # noqa: S311 - reproducible, not secret
    files = sorted(Path(folder).glob("*.json"))
    cases = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    pairs = _pairs(list(zip(files, cases, strict=True)), random, count)
    times: list[float] = []
    found: Counter[str] = Counter()
    wrong = 0
    slowest = (0.0, "")
    for pair in pairs:
        grammars = [Grammar.from_json_schema(json.dumps(each)) for each in (pair.old, pair.new)]
        begin = time.perf_counter()
        comparison = compare(*grammars)
        times.append(time.perf_counter() - begin)
        slowest = max(slowest, (times[-1], pair.name))
        found[comparison.relation.value] += 1
        if Verdict.UNKNOWN in (comparison.old_only.verdict, comparison.new_only.verdict):
            print(f"not decided: {pair.name}")
        for complaint in _judge(pair, comparison, grammars, random, found):
            wrong += 1
            print(f"wrong: {pair.name}: {complaint}")
    decided = 1 - found["unknown"] / len(times)
    print(f"{len(times):,} pairs: {decided:.1%} decided (bar: {DECIDED_BAR:.0%}), {wrong} wrong")
    print(", ".join(f"{number} {what}" for what, number in found.most_common()))
    times.sort()
    middle, most = statistics.median(times), times[int(0.99 * len(times))]
    print(f"p50 {1e3 * middle:.1f} ms (bar: {1e3 * MEDIAN_BAR:.0f} ms), p99 {1e3 * most:.0f} ms")
    print(f"slowest: {slowest[0]:.1f} s, {slowest[1]}")
    sys.exit(wrong > 0 or decided < DECIDED_BAR)


def _pairs(cases: list[tuple[Path, Any]], random: Random, count: int) -> Iterator[Pair]:
    """Yield pairs that both can be converted, a few of each schema."""
    made = 0
    while made < count:
        for file, case in cases:
            if not isinstance(case["schema"], dict):
                continue
            new = copy.deepcopy(case["schema"])
            edits = [_edit(new, random) for _ in range(random.choice((1, 1, 2)))]
            try:
                for schema in (case["schema"], new):
                    Grammar.from_json_schema(json.dumps(schema))
            except KbnfError:
                continue
            values = tuple(test["data"] for test in case["tests"] if test["valid"])
            name = f"{file.name} #{made} ({', '.join(edits)})"
            yield Pair(name, case["schema"], new, values)
            made += 1
            if made == count:
                return


def _edit(schema: Schema, random: Random) -> str:
    """Change a place of a schema; return what was done."""
    places = list(_places(schema))
    for _ in range(20):
        place, edit = random.choice(places), random.choice(EDITS)
        if edit(place, random):
            return edit.__name__.strip("_")
    schema["title"] = "changed"
    return "title"


def _places(root: Schema) -> Iterator[Schema]:
    """Yield all subschemas."""
    stack: list[Any] = [root]
    while stack:
        schema = stack.pop()
        if not isinstance(schema, dict):
            continue
        yield schema
        for keyword in ("properties", "$defs", "definitions", "patternProperties"):
            part = schema.get(keyword)
            if isinstance(part, dict):
                stack.extend(part.values())
        stack.extend(schema.get(keyword) for keyword in ("items", "additionalProperties", "not"))
        for keyword in ("anyOf", "oneOf", "allOf"):
            part = schema.get(keyword)
            if isinstance(part, list):
                stack.extend(part)


def _require_less(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("required"), list) or not schema["required"]:
        return False
    schema["required"].remove(random.choice(schema["required"]))
    if not schema["required"]:
        del schema["required"]
    return True


def _require_more(schema: Schema, random: Random) -> bool:
    required = schema.get("required", [])
    names = [name for name in schema.get("properties", {}) if name not in required]
    if not names:
        return False
    schema["required"] = [*required, random.choice(names)]
    return True


def _add_property(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("properties"), dict):
        return False
    kind = random.choice(({"type": "string"}, {"type": "integer"}, {"type": "array"}, {}))
    schema["properties"] = {**schema["properties"], f"added_{random.randrange(9)}": kind}
    return True


def _drop_property(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("properties"), dict) or not schema["properties"]:
        return False
    name = random.choice(list(schema["properties"]))
    del schema["properties"][name]
    if isinstance(schema.get("required"), list):
        schema["required"] = [each for each in schema["required"] if each != name]
    return True


def _change_type(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("type"), str):
        return False
    schema["type"] = random.choice(("string", "integer", "number", "boolean", "null"))
    return True


def _widen_type(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("type"), str):
        return False
    more = random.choice(("null", "string", "integer", "array"))
    if more == schema["type"]:
        return False
    schema["type"] = [schema["type"], more]
    return True


def _close(schema: Schema, random: Random) -> bool:
    del random
    if "properties" not in schema:
        return False
    if schema.get("additionalProperties") is False:
        del schema["additionalProperties"]
    else:
        schema["additionalProperties"] = False
    return True


def _more_values(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("enum"), list):
        return False
    schema["enum"] = [*schema["enum"], f"value {random.randrange(99)}"]
    return True


def _fewer_values(schema: Schema, random: Random) -> bool:
    if not isinstance(schema.get("enum"), list) or len(schema["enum"]) < 2:
        return False
    schema["enum"].remove(random.choice(schema["enum"]))
    return True


def _bound(schema: Schema, random: Random) -> bool:
    keyword = {
        "string": random.choice(("minLength", "maxLength")),
        "array": random.choice(("minItems", "maxItems")),
        "integer": random.choice(("minimum", "maximum")),
    }.get(str(schema.get("type")))
    if keyword is None:
        return False
    low = keyword.startswith("min")
    schema[keyword] = random.choice((1, 2) if low else (5, 20, 40))
    return True


def _describe(schema: Schema, random: Random) -> bool:
    schema["description"] = f"described anew {random.randrange(9)}"
    return True


def _offer(schema: Schema, random: Random) -> bool:
    for name, part in (schema.get("properties") or {}).items():
        if random.random() < 0.5:
            schema["properties"][name] = {"anyOf": [part, {"type": "null"}]}
            return True
    return False


EDITS: tuple[Callable[[Schema, Random], bool], ...] = (
    _require_less, _require_more, _add_property, _drop_property, _change_type, _widen_type, _close,
    _more_values, _fewer_values, _bound, _describe, _offer,
)  # fmt: skip


def _judge(
    pair: Pair,
    comparison: Comparison,
    grammars: list[Grammar],
    random: Random,
    found: Counter[str],
) -> Iterator[str]:
    """Yield what is wrong with what was said; count differences in spelling alone."""
    engines = [Engine(grammar, BYTES) for grammar in grammars]
    schemas = (pair.old, pair.new)
    for side, answer in enumerate((comparison.old_only, comparison.new_only)):
        if answer.verdict is Verdict.SOME:
            yield from _judge_witness(answer, engines[side], engines[1 - side])
            value = json.loads(answer.data or b"")
            if _is_valid(value, schemas[1 - side]):
                found["witnesses of spelling or order"] += 1
        elif answer.verdict is Verdict.NONE:
            texts = [_sample(engines[side], random) for _ in range(SAMPLES)]
            if side == 0:
                texts += [json.dumps(value).encode() for value in pair.values]
            for text in texts:
                if _takes(engines[side], text):
                    found["texts tried"] += 1
                    if not _takes(engines[1 - side], text):
                        yield f"{text!r} is said to be on both sides"
                    if not _is_valid(json.loads(text), schemas[1 - side]):
                        yield f"jsonschema refuses {text!r}"


def _judge_witness(answer: Answer, has: Engine, lacks: Engine) -> Iterator[str]:
    if answer.data is None or not _takes(has, answer.data):
        yield f"the witness {answer.shown} is on no side"
    elif _takes(lacks, answer.data):
        yield f"the witness {answer.shown} is on both sides"


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


def _is_valid(value: Any, schema: Schema) -> bool:
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return bool(kind(schema).is_valid(value))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else PAIRS)
