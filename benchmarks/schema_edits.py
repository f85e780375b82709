"""Edits of JSON Schemas, of the kinds that people make.

A property is added, dropped or made optional, a type is widened, a bound moved, a value added to an
enum.
"""

from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Schema = dict[str, Any]


def edit(schema: Schema, random: Random) -> str:
    """Change a place of a schema; return what was done."""
    places = list(_places(schema))
    for _ in range(20):
        place, change = random.choice(places), random.choice(EDITS)
        if change(place, random):
            return change.__name__.strip("_")
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
