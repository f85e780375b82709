"""Dynamic references, and items that ``contains`` evaluates; ``jsonschema_rs`` is the judge."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema_rs
import pytest

Judge = Callable[[str], bool]

NEW = "https://json-schema.org/draft/2020-12/schema"
TREE = {
    "$id": "https://a.org/tree",
    "$dynamicAnchor": "node",
    "type": "object",
    "properties": {
        "data": {"type": "integer"},
        "children": {"type": "array", "items": {"$dynamicRef": "#node"}},
    },
}
STRICT: dict[str, Any] = {
    "$schema": NEW,
    "$id": "https://a.org/strict-tree",
    "$dynamicAnchor": "node",
    "$ref": "tree",
    "unevaluatedProperties": False,
    "$defs": {"tree": TREE},
}
LISTS: dict[str, Any] = {
    "$schema": NEW,
    "$id": "https://a.org/lists",
    "properties": {
        "texts": {"$ref": "texts"},
        "numbers": {"$ref": "numbers"},
        "plain": {"$ref": "list"},
    },
    "$defs": {
        "list": {
            "$id": "list",
            "type": "array",
            "items": {"$dynamicRef": "#item"},
            "$defs": {"any": {"$dynamicAnchor": "item", "type": "null"}},
        },
        "texts": {
            "$id": "texts",
            "$ref": "list",
            "$defs": {"item": {"$dynamicAnchor": "item", "type": "string"}},
        },
        "numbers": {
            "$id": "numbers",
            "$ref": "list",
            "$defs": {"item": {"$dynamicAnchor": "item", "type": "integer"}},
        },
    },
}
RECURSIVE: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2019-09/schema",
    "$id": "https://a.org/outer",
    "$recursiveAnchor": True,
    "$ref": "inner",
    "required": ["x"],
    "$defs": {
        "inner": {
            "$id": "inner",
            "$recursiveAnchor": True,
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"$recursiveRef": "#"}},
        }
    },
}
CONTAINS: dict[str, Any] = {
    "$schema": NEW,
    "prefixItems": [{"type": "integer"}],
    "anyOf": [{"contains": {"type": "string"}}, {"contains": {"type": "boolean"}}],
    "unevaluatedItems": {"type": "null"},
}
OF_ITSELF: dict[str, Any] = {"$schema": NEW, "$ref": NEW}


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        (
            STRICT,
            [
                {"data": 1, "children": [{"data": 2}]},
                {"data": 1, "children": [{"daat": 2}]},
                {"daat": 1},
                {"children": [{"children": [{"data": "x"}]}]},
            ],
        ),
        (
            LISTS,
            [{name: [item]} for name in ("texts", "numbers", "plain") for item in ("a", 1, None)],
        ),
        (RECURSIVE, [{"x": 1}, {"x": 1, "y": {"x": 2}}, {"x": 1, "y": {}}, {}]),
        (
            CONTAINS,
            [[1, "a"], [1, True], [1], [1, "a", True], [1, "a", None], [1, "a", 2], ["a"], [None]],
        ),
        (OF_ITSELF, [{"minLength": 1}, {"properties": {"a": {"minLength": -1}}}]),
    ],
    ids=["strict tree", "lists", "recursive", "contains", "meta-schema"],
)
def test_verdicts(schema: Any, values: list[Any], judge: Callable[..., Judge]) -> None:
    from kbnf_core.languages.json_schema import Options

    allows = judge(schema, Options(lossy=schema is OF_ITSELF))
    their = jsonschema_rs.validator_for(schema)
    for value in values:
        assert allows(json.dumps(value)) == their.is_valid(value), value
