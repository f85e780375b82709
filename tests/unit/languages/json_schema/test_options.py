"""What the options change, and how the rules look."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from kbnf_core import Grammar, check
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import (
    VALIDATOR,
    Escapes,
    Options,
    Order,
    Whitespace,
)
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.languages.json_schema.parse import embed_json_schema

Prepare = Callable[..., Callable[[str], bool]]
PAIR = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "null"}}}
TREE = {
    "$ref": "#/$defs/tree node",
    "$defs": {
        "tree node": {
            "type": "object",
            "properties": {"children": {"type": "array", "items": {"$ref": "#/$defs/tree node"}}},
            "additionalProperties": False,
        }
    },
}


@pytest.mark.parametrize(
    ("whitespace", "accepted", "rejected"),
    [
        (Whitespace.COMPACT, ['{"a":1}'], ['{"a": 1}', '{ "a":1}']),
        (
            Whitespace.BOUNDED,
            ['{"a":1}', '{"a": 1, "b": null}', '{\n\t"a": 1,\r\n    "b":null\n}'],
            ['{"a":  1}', '{\n\n"a": 1}', f'{{\n{" " * 65}"a": 1}}'],
        ),
        (Whitespace.FLEXIBLE, ['{\n\n "a" :\t1 \n, "b":null}'], [' {"a":1}', '{"a":1} ']),
    ],
)
def test_whitespace(
    whitespace: Whitespace, accepted: list[str], rejected: list[str], judge: Prepare
) -> None:
    allows = judge(PAIR, Options(whitespace))
    assert all(map(allows, accepted))
    assert not any(map(allows, rejected))


def test_members_in_any_order(judge: Prepare) -> None:
    schema = {**PAIR, "required": ["a"], "additionalProperties": {"type": "boolean"}}
    allows = judge(schema, Options(order=Order.ANY))
    good = ['{"a": 1}', '{"b": null, "a": 1}', '{"x": true, "b": null, "y": false, "a": 2}']
    assert all(map(allows, good))
    assert not any(map(allows, ["{}", '{"b": null}', '{"a": 1, "a": 2}', '{"a": 1, "x": 1}']))


def test_large_objects_keep_the_declared_order() -> None:
    properties: dict[str, Any] = {name: {"type": "null"} for name in "abcdefghi"}
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    conversion = from_json_schema(json.dumps(schema), Options(order=Order.ANY))
    assert [(note.code, note.pointer) for note in conversion.notes] == [("W808", "/properties")]
    declared = from_json_schema(json.dumps(schema))
    assert (conversion.text, conversion.exact) == (declared.text, False)
    assert declared.notes == ()


def test_objects_may_be_closed(judge: Prepare) -> None:
    allows = judge(PAIR, Options(closed=True))
    assert allows('{"a": 1}')
    assert not allows('{"a": 1, "c": 2}')


def test_escapes(judge: Prepare) -> None:
    texts = ['"\\u0041"', '"\\/"', '"\\ud83d\\ude00"']
    assert all(map(judge({"type": "string"}, Options(escapes=Escapes.ANY)), texts))
    assert not any(map(judge({"type": "string"}), texts))


DELETE = "\x7f"


@pytest.mark.parametrize("escapes", Escapes)
@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({"type": "string"}, DELETE),
        ({"type": "string", "maxLength": 1}, DELETE),
        (
            {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[^a]"},
            f"a{DELETE}"[::-1],
        ),
        ({"type": "string", "pattern": "^\\x7f$"}, DELETE),
        ({"type": "string", "pattern": "^.{3,2000}$"}, DELETE * 3),
        ({"enum": ["a", f"b{DELETE}"]}, f"b{DELETE}"),
        ({"enum": [f"{DELETE}{number}" for number in range(200)]}, f"{DELETE}7"),
        ({"const": DELETE}, DELETE),
        ({"not": {"const": "a"}}, DELETE),
        ({"properties": {DELETE: True}, "additionalProperties": False}, {DELETE: 1}),
        ({"properties": {"a": True}, "additionalProperties": {"type": "null"}}, {DELETE: None}),
        ({"properties": {f"a{DELETE}": True}, "additionalProperties": False}, {f"a{DELETE}": 1}),
        ({"patternProperties": {"^\x7f$": True}, "additionalProperties": False}, {DELETE: 1}),
        ({"propertyNames": {"pattern": "\x7f"}}, {DELETE: 1}),
        ({}, [DELETE]),
    ],
    ids=repr,
)
def test_delete_may_be_raw(schema: Any, value: Any, escapes: Escapes, judge: Prepare) -> None:
    allows = judge(schema, replace(VALIDATOR, escapes=escapes))
    text = json.dumps(value, ensure_ascii=False)
    assert (DELETE in text, allows(text)) == (True, True)
    assert not allows(text.replace(DELETE, "\x1f"))
    if escapes is Escapes.CANONICAL:
        assert not allows(text.replace(DELETE, "\\u007f"))


def test_rules_are_named_after_definitions() -> None:
    text = from_json_schema(json.dumps(TREE)).text
    assert re.findall(r"^(\w+) ::=", text, re.M)[:3] == ["start", "tree_node", "children"]
    assert "start ::= tree_node;" in text


@pytest.mark.parametrize(
    ("schema", "finish"),
    [(PAIR, "eager"), ({"type": "string"}, "eager"), ({"type": "integer"}, "eos"), ({}, "eos")],
    ids=str,
)
def test_pragma_says_how_it_finishes(schema: Any, finish: str) -> None:
    assert from_json_schema(json.dumps(schema)).text.startswith(
        f"(* kbnf: finish={finish} from=json-schema *)\n"
    )


@pytest.mark.parametrize("schema", [PAIR, TREE, {}, {"minProperties": 3}], ids=str)
def test_the_grammar_has_no_errors_or_warnings(schema: Any) -> None:
    found = [finding.code for finding in check(from_json_schema(json.dumps(schema)).text)]
    assert [code for code in found if not code.startswith("I")] == []


def test_embedded_rules_all_begin_with_the_prefix() -> None:
    embedded = embed_json_schema(SchemaDocument(TREE, Options()), Options(), "json_1_")
    names = [rule.name.value for rule in embedded.definitions]
    assert embedded.start == "json_1_start"
    assert all(name.startswith("json_1_") for name in names)
    assert embedded.outcome.eager


def test_a_bound_beyond_what_is_counted_is_narrowed() -> None:
    schema = {"type": "string", "format": "uri", "maxLength": 65_535}
    conversion = from_json_schema(json.dumps(schema))
    assert [note.code for note in conversion.notes] == ["W808"]
    assert Grammar(conversion.text).tables
