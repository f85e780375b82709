"""A dropped keyword allows more, never less, wherever in a schema it is."""

import json
from typing import Any

import jsonschema
import pytest

from kbnf_core import Grammar
from kbnf_testing.membership import Language

TOO_LARGE = {"pattern": "^(a|b)*a(a|b){20}$"}
VALUES = ["", "a", "aaaa", "bbbbb", "a" * 21, "b" + "a" * 21, {"x": "a" * 21}, {"x": "b"}, {}, 1]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "not": TOO_LARGE},
        {"not": {"not": TOO_LARGE}},
        {"not": {"anyOf": [TOO_LARGE, {"type": "integer"}]}},
        {"not": {"allOf": [TOO_LARGE, {"type": "string"}]}},
        {"oneOf": [TOO_LARGE, {"type": "string", "maxLength": 3}]},
        {"if": TOO_LARGE, "then": {"maxLength": 3}, "else": {"minLength": 2}},
        {"anyOf": [{"$ref": "#/$defs/a"}, {"const": 1}], "$defs": {"a": TOO_LARGE}},
        {
            "not": {"$ref": "#/$defs/a"},
            "anyOf": [{"$ref": "#/$defs/a"}, {}],
            "$defs": {"a": TOO_LARGE},
        },
        {"type": "object", "not": {"properties": {"x": TOO_LARGE}, "required": ["x"]}},
        {"dependentSchemas": {"x": {"not": {"properties": {"x": TOO_LARGE}}}}},
    ],
    ids=json.dumps,
)
def test_what_the_whole_schema_allows_is_allowed(schema: dict[str, Any]) -> None:
    texts = Language(Grammar.from_json_schema(schema, lossy=True))
    for value in VALUES:
        if jsonschema.Draft202012Validator(schema).is_valid(value):
            assert texts.has(json.dumps(value)), value
