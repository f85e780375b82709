"""Texts that repeat a name: such members are one to a validator, so they must not count as two."""

import json
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema
from kbnf_core.languages.json_schema import Options, Order, SchemaLimits
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.errors import EngineError

OBJECT = {"type": "object"}
INTEGER = {"type": "integer"}
LISTED = {**OBJECT, "propertyNames": {"enum": ["a", "b", "c"]}}


def accepted(schema: Any, text: str, options: Options | None = None) -> bool:
    """Tell whether the grammars to read and to run take a text; they agree."""
    converted = Grammar(from_json_schema(json.dumps(schema), options).text)
    order = "declared" if options is None else options.order.value
    made = Grammar.from_json_schema(schema, order=order)
    assert takes(converted, text) is takes(made, text)
    return takes(made, text)


def takes(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes(), finish="eos")
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.can_finish()


TOLD_APART: list[tuple[Any, list[str], list[str]]] = [
    (
        {**LISTED, "minProperties": 2},
        ['{"a":1,"a":2}', '{"b":1,"b":2,"b":3}'],
        ['{"b":1,"a":2}', '{"a":1,"c":2}', '{"a":1,"b":2,"c":3}'],
    ),
    (
        {**LISTED, "minProperties": 3, "maxProperties": 3},
        ['{"a":1,"b":2,"a":3}', '{"a":1,"b":2}'],
        ['{"c":1,"a":2,"b":3}'],
    ),
    (
        {
            **OBJECT,
            "patternProperties": {"^[ab]$": INTEGER},
            "additionalProperties": False,
            "minProperties": 2,
        },
        ['{"a":1,"a":2}'],
        ['{"b":1,"a":2}'],
    ),
    (
        {**LISTED, "not": {"additionalProperties": INTEGER}},
        ['{"a":"s","a":1}', '{"a":1}', '{"b":1,"a":"s","a":1}'],
        ['{"a":"s"}', '{"a":"s","b":1}', '{"b":1,"a":"s"}', '{"a":"s","b":1,"c":2}'],
    ),
    (
        {**LISTED, "not": {"patternProperties": {"^[ab]": INTEGER}}},
        ['{"a":"s","a":1}', '{"c":"s"}'],
        ['{"c":1,"a":"s","b":1}'],
    ),
    (
        {**LISTED, "oneOf": [{"minProperties": 2}, {"required": ["c"]}]},
        ['{"a":1,"a":2}', '{"c":1,"a":1}'],
        ['{"a":1,"b":2}', '{"c":1}'],
    ),
    (
        {**LISTED, "properties": {"b": INTEGER}, "minProperties": 2},
        ['{"a":1,"a":2}', '{"b":1}', '{"b":1,"b":2}'],
        ['{"b":1,"a":2}', '{"a":1,"c":2}'],
    ),
    # Two members that must be there cannot be one name.
    (
        {
            **LISTED,
            "allOf": [
                {"not": {"additionalProperties": INTEGER}},
                {"not": {"additionalProperties": {"type": "string"}}},
            ],
        },
        ['{"a":"s","a":1}'],
        ['{"a":"s","b":1}', '{"a":null}', '{"c":1,"a":"s"}'],
    ),
]


@pytest.mark.parametrize(("schema", "refused", "taken"), TOLD_APART, ids=str)
def test_listed_names_are_told_apart(schema: Any, refused: list[str], taken: list[str]) -> None:
    conversion = from_json_schema(json.dumps(schema))
    assert conversion.exact
    assert conversion.notes == ()
    assert [text for text in refused if accepted(schema, text)] == []
    assert [text for text in taken if not accepted(schema, text)] == []


def test_listed_names_are_told_apart_in_any_order() -> None:
    schema = {**LISTED, "properties": {"b": INTEGER, "d": {}}, "minProperties": 3}
    options = Options(order=Order.ANY)
    assert accepted(schema, '{"a":1,"b":2,"c":3}', options)
    assert accepted(schema, '{"c":1,"a":2,"b":3}', options)
    assert not accepted(schema, '{"a":1,"b":2,"a":3}', options)


def test_where_nothing_is_counted_names_may_repeat() -> None:
    assert accepted({**LISTED, "minProperties": 1}, '{"a":1,"a":2}')
    assert accepted({**LISTED, "maxProperties": 2}, '{"a":1,"a":2}')
    assert accepted({**LISTED, "minProperties": 2}, '{"a":1,"b":2,"a":3}')


OPEN: list[tuple[Any, str]] = [
    ({**OBJECT, "minProperties": 2}, "/minProperties"),
    ({**OBJECT, "properties": {"a": {}, "b": {}}, "minProperties": 2}, "/minProperties"),
    (
        {
            **OBJECT,
            "patternProperties": {"^a": INTEGER},
            "additionalProperties": False,
            "minProperties": 2,
        },
        "/minProperties",
    ),
    ({**OBJECT, "not": {"maxProperties": 1}}, "the whole schema"),
    ({**OBJECT, "not": {"additionalProperties": INTEGER}}, "the whole schema"),
    ({**OBJECT, "not": {"patternProperties": {"^a": INTEGER}}}, "the whole schema"),
    ({**OBJECT, "oneOf": [{"minProperties": 2}, {"required": ["z"]}]}, "the whole schema"),
    (
        {**OBJECT, "propertyNames": {"enum": [f"n{i}" for i in range(200)]}, "minProperties": 3},
        "/minProperties",
    ),
    ({"properties": {"p": {**OBJECT, "minProperties": 2}}}, "/properties/p/minProperties"),
]


@pytest.mark.parametrize(("schema", "pointer"), OPEN, ids=str)
def test_where_names_are_open_it_is_said_and_nothing_is_refused(schema: Any, pointer: str) -> None:
    conversion = from_json_schema(json.dumps(schema))
    assert not conversion.exact
    assert conversion.losses == ()
    (note,) = [each for each in conversion.notes if each.code != "I823"]
    assert (note.code, note.severity) == ("I810", Severity.INFO)
    assert note.message.startswith(f"{pointer}: ")


HARMLESS: list[Any] = [
    OBJECT,
    {**OBJECT, "minProperties": 1},
    {**OBJECT, "maxProperties": 3},
    {**OBJECT, "properties": {"a": {}, "b": {}}, "required": ["a", "b"], "minProperties": 3},
    {**OBJECT, "properties": {"a": {}}, "additionalProperties": False, "minProperties": 1},
    # Whatever comes later, there is a member of such a name.
    {**OBJECT, "not": {"propertyNames": {"pattern": "^a"}}},
    # All members are of that kind.
    {
        **OBJECT,
        "additionalProperties": {"type": "string"},
        "not": {"additionalProperties": INTEGER},
    },
]


@pytest.mark.parametrize("schema", HARMLESS, ids=str)
def test_nothing_is_said_where_a_name_that_repeats_changes_nothing(schema: Any) -> None:
    conversion = from_json_schema(json.dumps(schema))
    assert conversion.exact
    assert {note.code for note in conversion.notes} <= {"I823"}


@pytest.mark.parametrize(("most", "low"), [(64, 2), (19, 3), (11, 4)])
def test_how_many_names_are_told_apart(most: int, low: int) -> None:
    for count in (most, most + 1):
        names = {"propertyNames": {"enum": [f"n{i}" for i in range(count)]}}
        conversion = from_json_schema(json.dumps({**OBJECT, **names, "minProperties": low}))
        assert conversion.exact is (count == most)


@pytest.mark.parametrize(("names", "low", "high"), [(60, 30, 40), (2, 2, 48)])
def test_a_limit_that_holds_where_names_repeat_is_not_passed(
    names: int, low: int, high: int
) -> None:
    listed = {"propertyNames": {"enum": [f"n{i}" for i in range(names)]}}
    schema = {**OBJECT, **listed, "minProperties": low, "maxProperties": high}
    conversion = from_json_schema(json.dumps(schema), Options(limits=SchemaLimits(steps=50)))
    assert [note.code for note in conversion.notes] == ["I810"]
