"""Intersections and complements of schemas: as few kinds as they need, and exact."""

import gc
import json
from itertools import product
from typing import Any
from weakref import ref

import jsonschema_rs
import pytest

from kbnf_core import Engine, Vocabulary
from kbnf_core.automata.lengths import Length
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.algebra import (
    AllOf,
    AnyOf,
    Expression,
    Not,
    Objects,
    Products,
    Ref,
    Type,
    both,
    common,
    other,
)
from kbnf_core.languages.json_schema.document import SchemaDocument, Subschema, read_json
from kbnf_core.languages.json_schema.keywords import NarrowableError
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.value_sets import Kind, Restricted
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import EngineError
from kbnf_testing.schemas import json_schema_grammar

BYTES = Vocabulary.bytes()


def objects(most: int = 3) -> list[dict[str, Any]]:
    """Return all objects of some values of three members, in that order."""
    values = (None, "x", "y", 1)
    found = product(values, repeat=most)
    return [{n: v for n, v in zip("abc", each, strict=True) if v is not None} for each in found]


def accepts(grammar: Any, value: Any) -> bool:
    engine = Engine(grammar, BYTES)
    try:
        engine.try_accept_new_bytes(json.dumps(value).encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


STRING, NUMBER = {"type": "string"}, {"type": "integer"}
KINDS = [
    {"properties": {"a": {"const": "x"}, "b": STRING}, "required": ["a", "b"]},
    {"properties": {"a": {"const": "y"}, "b": STRING}, "required": ["a"]},
    {"properties": {"a": {"enum": ["x", "y"]}, "c": NUMBER}, "required": ["a", "c"]},
    {"properties": {"b": NUMBER, "c": NUMBER}, "additionalProperties": False},
    {"required": ["b"]},
]


@pytest.mark.parametrize("keyword", ["oneOf", "anyOf", "allOf"])
@pytest.mark.parametrize("first", range(len(KINDS)))
def test_products_are_exact(keyword: str, first: int) -> None:
    kinds = [KINDS[first], *KINDS[:first], *KINDS[first + 1 :]][:4]
    declared = {"properties": {name: {"type": ["string", "integer"]} for name in "abc"}}
    found = {keyword: kinds}
    if keyword == "allOf":
        found = {"allOf": [{"anyOf": kinds[:2]}, {"anyOf": kinds[2:]}]}
    never = {"properties": {"b": NUMBER}, "required": ["a", "b", "c"]}
    schema = {"type": "object", **declared, **found, "not": never}
    judge = jsonschema_rs.validator_for(schema)
    grammar = json_schema_grammar(json.dumps(schema))
    assert not grammar.diagnostics
    for value in objects():
        assert accepts(grammar, value) == judge.is_valid(value), value


def test_exactly_one_of_many_members_is_not_a_product() -> None:
    names = [f"n{number}" for number in range(20)]
    kinds = [{"properties": {name: STRING}, "required": [name]} for name in names]
    grammar = json_schema_grammar(json.dumps({"type": "object", "oneOf": kinds}))
    assert not grammar.diagnostics
    assert accepts(grammar, {"n3": "x"})
    assert not accepts(grammar, {"n3": "x", "n7": "x"})


def test_alternatives_in_all_of_are_told_apart_by_what_is_required_beside_them() -> None:
    kinds = [
        {"properties": {"a": {"enum": [name]}, "b": {"type": "object", "required": [f"v{name}"]}}}
        for name in map(str, range(20))
    ]
    schema = {"type": "object", "required": ["a"], "allOf": [{"required": ["b"]}, {"oneOf": kinds}]}
    judge = jsonschema_rs.validator_for(schema)
    grammar = json_schema_grammar(json.dumps(schema))
    assert not grammar.diagnostics
    assert len(grammar.rules.rules) < 200
    for a in ("0", "19", "x", None):
        for b in ({}, {"v0": 1}, {"v19": 1}, None):
            value = {name: held for name, held in (("a", a), ("b", b)) if held is not None}
            assert accepts(grammar, value) == judge.is_valid(value), value


def test_what_both_sides_allow_has_no_conditions_that_one_side_meets() -> None:
    kinds = [{"const": "x"}, {"const": "y"}, {"type": "string"}, {"minLength": 1}]
    document, subschema = read({"allOf": kinds})
    x, y, string, some = (document.inside(subschema, "allOf", str(n)) for n in range(4))
    excludes = Schemas(document, Options()).excludes
    assert common(x, other(y), excludes) == x == common(other(y), x, excludes)
    assert common(both((string, other(y))), both((x, some)), excludes) == both((string, x, some))
    assert common(AnyOf((x, y)), x, excludes) == x
    # One of the two must stay.
    assert common(AnyOf((x, y)), AnyOf((y, x)), excludes) == AnyOf((y, x))
    assert common(both((string, some)), both((some, string)), excludes) == both((string, some))
    assert not Schemas(document, Options()).shape(common(x, y, excludes))


def test_a_required_member_is_some_member_that_is_asked_for() -> None:
    closed = {"properties": {"a": STRING, "b": STRING}, "additionalProperties": False}
    document, subschema = read({"allOf": [{"not": closed}, {"type": "object", "required": ["c"]}]})
    asked, needed = (document.inside(subschema, "allOf", n) for n in "01")
    schemas = Schemas(document, Options())
    assert any(part.present for part in objects_of(schemas, asked))
    assert not any(part.present for part in objects_of(schemas, both((asked, needed))))


def objects_of(schemas: Schemas, expression: Expression) -> list[Objects]:
    return [part for part in schemas.shape(expression)[Type.OBJECT] if isinstance(part, Objects)]


def test_counted_members_in_the_declared_order_need_states_in_proportion() -> None:
    def states(count: int) -> int:
        members = {f"n{number}": STRING for number in range(count)}
        schema = {"type": "object", "properties": members, "minProperties": 2}
        return json_schema_grammar(json.dumps(schema)).tables.state_count

    assert states(40) < 2.5 * states(20)


def test_equal_objects_are_written_once() -> None:
    def rules(*extra: dict[str, Any]) -> int:
        members = {f"n{number}": STRING for number in range(12)}
        several = {
            f"p{n}": {"allOf": [{"$ref": "#/$defs/a"}, more]} for n, more in enumerate(extra)
        }
        schema = {"$defs": {"a": {"type": "object", "properties": members}}, "properties": several}
        return len(json_schema_grammar(json.dumps(schema)).rules.rules)

    same: list[dict[str, Any]] = [{"minProperties": 0}, {"required": []}, {"type": "object"}]
    assert rules(*same) <= rules(same[0]) + 2 * len(same)


def test_lists_of_which_one_fits_share_the_empty_one_alone() -> None:
    lists = [[f"{kind}{number}" for number in range(20)] for kind in "abcdef"]
    kinds = [{"type": "array", "items": {"enum": each}, "maxItems": 25} for each in lists]
    grammar = json_schema_grammar(json.dumps({"oneOf": kinds}))
    assert len(grammar.rules.rules) < 1_000
    for value, valid in ((["a1", "a2"], True), ([], False), (["a1", "b2"], False)):
        assert accepts(grammar, value) == valid, value


def test_other_lengths_are_lengths() -> None:
    some = Restricted(Kind.STRING, ((Length(3, 2_048), True),))
    found = some.remainder(Budget(1_000))
    assert [part.literals for part in found] == [
        ((Length(0, 2), True),),
        ((Length(2_049, None), True),),
    ]


def read(schema: Any) -> tuple[SchemaDocument, Subschema]:
    """Return a document and the subschema of its root."""
    document = SchemaDocument(read_json(json.dumps(schema)), Options())
    root = document.root()
    assert isinstance(root, Ref)
    return document, document.subschema(root)


def test_what_is_too_large_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = range(5)
    parts = [
        {"anyOf": [{"properties": {f"{name}{n}": STRING}} for name in "abcd"]} for n in numbers
    ]
    document, subschema = read({"allOf": parts})
    schemas = Schemas(document, Options())
    whole = AllOf(tuple(document.inside(subschema, "allOf", str(n)) for n in numbers))
    with pytest.raises(NarrowableError):
        schemas.shape(whole)
    monkeypatch.delattr(Products, "meet")
    with pytest.raises(NarrowableError):
        schemas.shape(whole)


def test_an_expression_and_its_opposite_have_nothing_in_common() -> None:
    document, subschema = read({"allOf": [{"type": "object"}]})
    part = document.inside(subschema, "allOf", "0")
    assert isinstance(other(part), Not)
    schemas = Schemas(document, Options())
    assert not schemas.shape(both((part, other(part))))
    assert Type.OBJECT in schemas.shape(part)


def test_no_pass_of_the_collector_is_needed_to_free_what_was_read() -> None:
    document, subschema = read({"allOf": [{"type": "object"}, {"required": ["a"]}]})
    gc.disable()
    try:
        schemas = Schemas(document, Options())
        schemas.shape(AllOf(tuple(document.inside(subschema, "allOf", n) for n in "01")))
        alive = ref(schemas)
        del schemas
        assert alive() is None
    finally:
        gc.enable()
