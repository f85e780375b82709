"""Schemas to measure: of a folder like maskbench's, of the JSON Schema test suite, or made up.

Tools are those of maskbench's files ``BFCL`` and ``Glaive``. Where more schemas are wanted than a
folder has, they are drawn again with other property names, so that no two have a property in
common.
"""

import json
import os
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.maskbench import Case, read_case

SUITE = Path(__file__).resolve().parents[1] / "tests/data/json-schema-test-suite"


def folder_of(folder: Path | None) -> Path | None:
    """Return this folder, or that of maskbench in ``KBNF_DATA``; None without either."""
    data = os.environ.get("KBNF_DATA")
    if folder is None and data and (Path(data) / "maskbench").is_dir():
        return Path(data) / "maskbench"
    return folder


def default_cases(folder: Path | None, seed: int | None = None) -> Iterable[Case]:
    """Return the cases of a folder, of maskbench in ``KBNF_DATA``, or of the test suite."""
    folder = folder_of(folder)
    if folder is None:
        return suite_cases(SUITE)
    names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    if seed is not None:
        Random(seed).shuffle(names)  # noqa: S311 - the same schemas every time
    return (read_case(folder / name) for name in names)


def suite_cases(folder: Path) -> Iterator[Case]:
    """Yield the schemas of the JSON Schema test suite, with their values."""
    for path in sorted(folder.glob("*/*.json")):
        for number, group in enumerate(json.loads(path.read_text(encoding="utf-8"))):
            values = tuple((json.dumps(t["data"]), t["valid"]) for t in group["tests"])
            yield Case(f"{path.stem}-{number}", group["schema"], values)


def varied(schema: Any, suffix: str) -> Any:
    """Return a schema in which all property names end in ``suffix``."""
    if isinstance(schema, list):
        return [varied(each, suffix) for each in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {key: varied(value, suffix) for key, value in schema.items()}
    if isinstance(properties := changed.get("properties"), dict):
        changed["properties"] = {name + suffix: value for name, value in properties.items()}
        if isinstance(required := changed.get("required"), list):
            changed["required"] = [
                name + suffix if name in properties else name for name in required
            ]
    return changed


def distinct_schemas(folder: Path | None, seed: int = 1) -> Iterator[Any]:
    """Yield schemas without end, no two alike; none is kept, for memory is measured beside them."""
    for turn in count():
        for case in default_cases(folder, seed):
            yield varied(case.schema, f"_{turn}") if turn else case.schema


def draw_tools(folder: Path | None, number: int, seed: int = 1) -> list[Any]:
    """Return the schemas of ``number`` calls of tools, no two alike, in a random order."""
    arguments = _real_arguments(folder_of(folder))
    Random(seed).shuffle(arguments)  # noqa: S311 - the same tools every time
    made = []
    for place in range(number):
        name, schema = arguments[place % len(arguments)]
        if turn := place // len(arguments):
            name, schema = f"{name}_{turn}", varied(schema, f"_{turn}")
        made.append(
            {
                "type": "object",
                "properties": {"name": {"const": name}, "arguments": schema},
                "required": ["name", "arguments"],
                "additionalProperties": False,
            }
        )
    return made


def _real_arguments(folder: Path | None) -> list[tuple[str, Any]]:
    """Return names and argument schemas of the tools of a folder; made-up ones without it."""
    found: dict[str, Any] = {}
    for path in sorted(folder.glob("*.json")) if folder else ():
        if not path.name.startswith(("BFCL", "Glaive")):
            continue
        schema = read_case(path).schema
        if path.name.startswith("Glaive"):
            found[path.stem.split("---")[-1]] = schema
        for option in schema.get("anyOf", [schema]) if path.name.startswith("BFCL") else ():
            for name, each in option["properties"].items():
                found[f"{path.stem}.{name}"] = each
    return list(found.items()) or [(f"tool_{n}", _made_up(n)) for n in range(8)]


def _made_up(number: int) -> dict[str, Any]:
    kinds: tuple[dict[str, Any], ...] = (
        {"type": "string"},
        {"type": "integer"},
        {"type": "array", "items": {"type": "string"}},
        {"enum": ["celsius", "fahrenheit", "kelvin"]},
        {"type": "boolean"},
    )
    names = [f"field_{number}_{place}" for place in range(2 + number % 4)]
    return {
        "type": "object",
        "properties": {n: kinds[(number + i) % len(kinds)] for i, n in enumerate(names)},
        "required": names[:1],
    }
