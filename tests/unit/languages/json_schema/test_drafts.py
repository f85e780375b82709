"""What differs from draft to draft, and the seconds of RFC 3339."""

import json
from collections.abc import Callable
from typing import Any

import jsonschema
import jsonschema_rs
import pytest

from kbnf_core import check
from kbnf_core.languages import JSON_SCHEMA

Judge = Callable[[str], bool]

OLD = ["draft-04", "draft-06", "draft-07"]
NEW = ["draft/2019-09", "draft/2020-12"]

SIBLINGS: dict[str, Any] = {
    "beside": {"$ref": "#/definitions/text", "maxLength": 2},
    "under not": {"not": {"$ref": "#/definitions/text", "maxLength": 2}},
    "under oneOf": {
        "oneOf": [
            {"$ref": "#/definitions/text", "maxLength": 2},
            {"type": "string", "minLength": 3},
        ]
    },
    "under items": {"items": {"$ref": "#/definitions/text", "enum": ["a"]}},
    "beside properties": {
        "properties": {"a": {"$ref": "#/definitions/text", "type": "integer"}},
    },
}
VALUES = ["a", "ab", "abc", 1, None, ["a"], ["abc"], {"a": "x"}, {"a": 1}, {}]


@pytest.mark.parametrize("draft", [*OLD, *NEW])
@pytest.mark.parametrize("name", SIBLINGS)
def test_what_stands_beside_a_reference(name: str, draft: str, judge: Callable[..., Judge]) -> None:
    scheme = "http" if draft in OLD else "https"
    schema = {
        "$schema": f"{scheme}://json-schema.org/{draft}/schema",
        "definitions": {"text": {"type": ["string", "null"]}},
        **({"allOf": [SIBLINGS[name]]} if name == "beside" else SIBLINGS[name]),
    }
    allows = judge(schema)
    for value in VALUES:
        assert allows(json.dumps(value)) is jsonschema_rs.is_valid(schema, value), value


@pytest.mark.parametrize("draft", [*OLD, *NEW])
@pytest.mark.parametrize("text", ["1", "1.0", "2.50", "2.5", "-1", "10", "[1]", "[1.0]", "true"])
def test_constants_that_are_equal(text: str, draft: str, judge: Callable[..., Judge]) -> None:
    scheme = "http" if draft in OLD else "https"
    schema = {
        "$schema": f"{scheme}://json-schema.org/{draft}/schema",
        "enum": [1, 2.5, [1]],
    }
    valid = jsonschema_rs.is_valid(schema, json.loads(text))
    assert judge(schema)(text) is valid


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "integer", "enum": [1, 2]},
        {"type": ["integer", "string"], "enum": [1, 2, "a"]},
        {"allOf": [{"enum": [1, 2]}, {"$ref": "#/definitions/whole"}]},
        {"oneOf": [{"type": "integer"}, {"enum": [1, 2]}]},
        {"not": {"type": "integer"}},
    ],
    ids=str,
)
def test_integers_have_no_fraction_in_draft_4(
    schema: dict[str, Any], judge: Callable[..., Judge]
) -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "definitions": {"whole": {"type": "integer"}},
        **schema,
    }
    allows = judge(schema)
    checker = jsonschema.Draft4Validator(schema)
    for text in ["1", "1.0", "2", "2.00", "3", "3.0", "1.5"]:
        assert checker.is_valid(json.loads(text)) or not allows(text), text


@pytest.mark.parametrize(
    ("time", "valid"),
    [
        ("23:59:60Z", True),
        ("23:59:60.25+00:00", True),
        ("00:59:60+01:00", True),
        ("15:59:60-08:00", True),
        ("05:29:60+05:30", True),
        ("22:59:60Z", False),
        ("23:59:60+01:00", False),
        ("23:58:60Z", False),
        ("23:59:61Z", False),
        ("05:29:60Z", False),
    ],
)
def test_leap_seconds(time: str, valid: bool, judge: Callable[..., Judge]) -> None:
    assert judge({"type": "string", "format": "time"})(f'"{time}"') is valid
    assert judge({"type": "string", "format": "date-time"})(f'"1998-12-31T{time}"') is valid


PAIR = {"type": "array", "items": [{"type": "integer"}, {"type": "string"}]}
UNNAMED: dict[str, tuple[dict[str, Any], str]] = {
    "tuple": (PAIR, "draft-07"),
    "closed tuple": ({**PAIR, "additionalItems": False}, "draft-07"),
    "tuple and the rest": ({**PAIR, "additionalItems": {"type": "null"}}, "draft-07"),
    "tuple inside": ({"properties": {"a": {"minItems": 1, **PAIR}}}, "draft-07"),
    "flag": ({"type": "number", "minimum": 1, "exclusiveMinimum": True}, "draft-04"),
    "flag that is false": ({"type": "number", "maximum": 1, "exclusiveMaximum": False}, "draft-04"),
}
PAIRS = [[], [1], ["a"], [1, "a"], [1, 2], [1, "a", None], [1, "a", 2], {"a": [1, 1]}, 1, 2, 0]


@pytest.mark.parametrize("name", UNNAMED)
def test_forms_of_older_drafts_where_none_is_named(name: str, judge: Callable[..., Judge]) -> None:
    schema, draft = UNNAMED[name]
    named = {"$schema": f"http://json-schema.org/{draft}/schema#", **schema}
    for allows in (judge(schema), judge(named)):
        for value in PAIRS:
            assert allows(json.dumps(value)) is jsonschema_rs.is_valid(named, value), value
    codes = [each.code for each in check(json.dumps(schema), language=JSON_SCHEMA)]
    assert codes.count("W829") == 1
    assert "W829" not in [each.code for each in check(json.dumps(named), language=JSON_SCHEMA)]


@pytest.mark.parametrize(
    ("schema", "pointer", "help_"),
    [
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", **PAIR}, "/items", "tuple"),
        ({"prefixItems": [True], **PAIR}, "/items", ""),
        ({"items": [{"type": "strng"}]}, "/items/0/type", "string"),
        ({"items": [True], "additionalItems": {"type": "strng"}}, "/additionalItems/type", ""),
        ({"properties": {"a": {"required": True}}}, "/properties/a/required", "draft 3"),
    ],
    ids=repr,
)
def test_what_no_draft_has_is_refused(schema: dict[str, Any], pointer: str, help_: str) -> None:
    (error,) = [e for e in check(json.dumps(schema), language=JSON_SCHEMA) if e.code == "E802"]
    assert error.message.startswith(f"{pointer}: ")
    assert help_ in " ".join(error.helps)
