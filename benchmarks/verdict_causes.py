"""Why engines judge values otherwise than MaskBench: ``verdict_causes FOLDER OUT.jsonl ..``.

For each schema with a wrong verdict in files that ``public_table run`` wrote, a program finds the
cause, in one way for all peers, and keeps it in ``verdict_causes.json``, which ``public_table
summarise`` reads.

- An invalid value that is accepted: the keyword that it violates, as ``jsonschema_rs`` says.
- A valid value that is rejected: the keyword without which it is taken, where one is enough.

Of this library the findings for a schema say more: its causes are written by hand (``BY_HAND``).
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from time import process_time
from typing import Any

import click

from benchmarks.maskbench import Build, RefusedError, read_case
from benchmarks.public_table import CAUSES, accepts, read_lines
from benchmarks.schema_engines import OURS, make_builds
from benchmarks.vocabulary import Setting, read_setting

SLOWEST = 5.0
"""Seconds of a build; schemas that take longer are not built again and again."""

LONG = "`maxLength` beside a `pattern` that counts words, in too many states (W808)"
KINDS = "more than 64 kinds of values in one place (W808)"
BESIDE = "keywords beside `$ref` apply, as in llguidance, where the draft ignores them"
ORDER = "members in an order that the search for one does not find"

BY_HAND = {
    "Github_easy---o66309": "`format: regex` allows any text, as in llguidance",
    "Github_hard---o57716": "an exponent in a number with bounds",
    "Github_ultra---o46322": "`6000.0` as an integer",
    **dict.fromkeys(
        ("Github_easy---o21053", "Github_medium---o21142", "Github_ultra---o21135"), LONG
    ),
    **dict.fromkeys(
        ("Github_ultra---o359", "JsonSchemaStore---mongodb-atlas-search-index-definition"), KINDS
    ),
    **dict.fromkeys(
        ("Github_medium---o3385", "Github_medium---o39097"),
        "`if` in draft 4, which does not know it",
    ),
    **dict.fromkeys(
        (
            *("Github_hard---o13693", "Github_hard---o38538", "Github_medium---o14421"),
            *("JsonSchemaStore---briefcase-schema", "JsonSchemaStore---drupal-libraries"),
            "WashingtonPost---wp_105_Normalized",
        ),
        BESIDE,
    ),
    "JsonSchemaStore---nodemon": ORDER,
}


def violated(schema: Any, value: Any) -> str:
    """Return the keyword that a value violates first."""
    validators = import_module("jsonschema_rs")
    validator = validators.validator_for(schema, validate_formats=True)
    for error in validator.iter_errors(value):
        return f"`{error.schema_path[-1]}`"
    return "none, says jsonschema-rs"


def needless(schema: Any, takes: Callable[[Any], bool]) -> str:
    """Return the keyword without which a value is taken."""
    for keyword, _ in Counter(_keywords(schema)).most_common():
        if takes(_without(schema, keyword)):
            return f"`{keyword}`"
    return "no single keyword"


KEYWORDS = frozenset(
    (
        *("format", "pattern", "minLength", "maxLength", "minimum", "maximum", "multipleOf"),
        *("exclusiveMinimum", "exclusiveMaximum", "additionalProperties", "patternProperties"),
        *("required", "minProperties", "maxProperties", "propertyNames", "dependencies", "enum"),
        *("const", "type", "items", "additionalItems", "minItems", "maxItems", "uniqueItems"),
        *("contains", "oneOf", "anyOf", "allOf", "not", "if", "$ref", "unevaluatedProperties"),
    )
)


def _keywords(schema: Any) -> Iterator[str]:
    pending = [schema]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            yield from here.keys() & KEYWORDS
            pending += here.values()
        elif isinstance(here, list):
            pending += here


def _without(schema: Any, keyword: str) -> Any:
    if isinstance(schema, list):
        return [_without(each, keyword) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: _without(each, keyword) for key, each in schema.items() if key != keyword}


def _taker(build: Build, text: str, setting: Setting) -> Callable[[Any], bool]:
    tokens = setting.encode(text)

    def takes(schema: Any) -> bool:
        try:
            return accepts(build(schema)(), tokens, [])
        except RefusedError:
            return False

    return takes


def cause(case: Any, status: str, build: Build, wrong: str, setting: Setting) -> str:
    """Return why a value, of which ``wrong`` is the beginning, is judged wrongly."""
    valid = status == "valid rejected"
    text = next(each for each, yes in case.values if yes == valid and each.startswith(wrong))
    if not valid:
        return violated(case.schema, json.loads(text))
    began = process_time()
    build(case.schema)
    if process_time() - began > SLOWEST:
        return "not looked for: building takes too long"
    return needless(case.schema, _taker(build, text, setting))


@click.command()
@click.argument("folder", type=click.Path(path_type=Path, exists=True))
@click.argument("outs", nargs=-1, type=click.Path(path_type=Path, exists=True))
@click.option("--engine", multiple=True, help="Engines; those that are not named are kept.")
def main(folder: Path, outs: tuple[Path, ...], engine: tuple[str, ...]) -> None:
    """Find the causes of wrong verdicts."""
    known = json.loads(CAUSES.read_text(encoding="utf-8")) if CAUSES.exists() else {}
    setting = read_setting()
    builds = make_builds(setting, [name for name in engine if name != OURS])[0]
    known[OURS] = BY_HAND
    for line in (line for out in outs for line in read_lines(out)):
        name, schema, status = line["engine"], line["schema"], line["status"]
        found = known.setdefault(name, {})
        wrong = [text for kind, text in line["wrong"] if kind == status != "order"]
        if wrong and name in builds and schema not in found:
            case = read_case(folder / f"{schema}.json")
            found[schema] = cause(case, status, builds[name], wrong[0], setting)
            print(name, schema, status, found[schema], flush=True)
    CAUSES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
