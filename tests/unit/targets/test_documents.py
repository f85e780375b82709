"""Documents that cover a schema, and witnesses: what each must be, whatever the schema."""

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbnf_core.targets.exam import Exam
from kbnf_core.targets.judges import Judges, at, compact, pointer_to, removed, replaced, spellings
from kbnf_core.targets.values import Values
from kbnf_core.targets.violations import Violations, _without_look_around
from kbnf_testing.samples import examples

OBJECT = {
    "type": "object",
    "properties": {
        "id": {"type": "integer", "minimum": 3, "maximum": 9, "multipleOf": 3},
        "name": {"type": "string", "minLength": 2, "maxLength": 4},
        "kind": {"enum": ["a", "b"]},
        "at": {"type": "string", "format": "date"},
        "code": {"type": "string", "pattern": "^(?!ab)[a-z]{2}$"},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2,
                 "uniqueItems": True},
        "next": {"$ref": "#"},
        "one": {"oneOf": [{"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 7}]},
        "any": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "not": {"type": "string", "not": {"enum": ["no"]}},
    },
    "required": ["id"],
    "minProperties": 1,
    "dependentRequired": {"name": ["kind"]},
    "additionalProperties": False,
}  # fmt: skip

EXPECTED = {
    ("", "type"),
    ("", "required"),
    ("", "additionalProperties"),
    ("", "dependentRequired"),
    ("/properties/id", "minimum"),
    ("/properties/id", "maximum"),
    ("/properties/id", "multipleOf"),
    ("/properties/name", "minLength"),
    ("/properties/name", "maxLength"),
    ("/properties/kind", "enum"),
    ("/properties/at", "format"),
    ("/properties/code", "pattern"),
    ("/properties/tags", "minItems"),
    ("/properties/tags", "maxItems"),
    ("/properties/tags", "uniqueItems"),
    ("/properties/tags/items", "type"),
    ("/properties/one", "oneOf"),
    ("/properties/any", "anyOf"),
    ("/properties/not", "not"),
}


def test_every_keyword_has_a_witness() -> None:
    exam = Exam(OBJECT)
    found = {(each.pointer, each.keyword) for each in exam.witnesses}
    assert found >= EXPECTED


def test_a_pattern_has_a_witness_that_who_ignores_look_ahead_takes() -> None:
    exam = Exam({"type": "string", "pattern": "^(?!tmp)[a-z]+\\d$"})
    assert "tmp0" in [each.document for each in exam.witnesses]


@pytest.mark.parametrize(
    ("schema", "weaker"),
    [
        ({"type": "integer", "minimum": 1000}, {"type": "integer", "minimum": 999}),
        ({"type": "integer", "minimum": 1000}, {"type": "integer", "minimum": 0}),
        ({"type": "number", "exclusiveMaximum": 1}, {"type": "number", "maximum": 1}),
        ({"type": "integer", "maximum": 99999}, {"type": "integer", "maximum": 100_000}),
        ({"type": "number", "multipleOf": 0.5}, {"type": "number", "multipleOf": 0.25}),
        ({"type": "integer"}, {"type": "number"}),
        ({"type": "string", "maxLength": 80}, {"type": "string", "maxLength": 81}),
        ({"type": "string", "minLength": 3}, {"type": "string", "minLength": 2}),
        ({"type": "string", "pattern": "^[a-z]+$"}, {"type": "string", "pattern": "[a-z]+$"}),
        ({"type": "string", "pattern": "^a|b$"}, {"type": "string", "pattern": "^a|b"}),
        ({"type": "string", "format": "date"}, {"type": "string", "pattern": "^\\d{4}-..-[0-2]"}),
        ({"enum": ["red", "blue"]}, {"enum": ["red", "blue", "RED"]}),
        ({"enum": ["red", "blue"]}, {"pattern": "^(red|blue)"}),
        (
            {"type": "array", "items": {"type": "integer"}, "maxItems": 4, "uniqueItems": True},
            {"type": "array", "items": {"type": "integer"}, "maxItems": 5, "uniqueItems": True},
        ),
        ({"type": "array", "minItems": 10}, {"type": "array", "minItems": 9}),
        ({"type": "object", "maxProperties": 3}, {"type": "object", "maxProperties": 4}),
        (
            {"properties": {"a": {}, "b": {}}, "required": ["a", "b"], "type": "object"},
            {"properties": {"a": {}, "b": {}}, "required": ["b"], "type": "object"},
        ),
        (
            {"patternProperties": {"^[a-z]+$": {}}, "additionalProperties": False},
            {"patternProperties": {"^[a-z]+": {}}, "additionalProperties": False},
        ),
        (
            {"oneOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]},
            {"anyOf": [{"type": "string", "pattern": "^a"}, {"type": "string", "pattern": "b$"}]},
        ),
        ({"type": "string", "not": {"enum": ["no", "never"]}}, {"type": "string"}),
    ],
)  # fmt: skip
def test_a_witness_shows_an_engine_that_is_a_little_too_wide(schema: Any, weaker: Any) -> None:
    judges = Judges(weaker)
    documents = [witness.document for witness in Exam(schema).witnesses]
    assert any(judges.fits(document) for document in documents)


def test_numbers_beyond_those_of_floats() -> None:
    schema: Any = {"type": "integer", "minimum": 10**400, "maximum": float("inf")}
    assert isinstance(Exam({"anyOf": [schema, {"const": 10**400}]}).witnesses, list)


def test_without_look_around() -> None:
    assert _without_look_around(r"^(?!a(b|[)])\))c(?<=d)e$") == "^ce$"
    assert _without_look_around("^a$") == "^a$"


_scalars: st.SearchStrategy[Any] = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 2),
            "maxLength": st.integers(2, 4),
            "pattern": st.sampled_from(["^a+$", "b", "^(a|b)c$"]),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={"minimum": st.integers(-3, 3), "multipleOf": st.sampled_from([2, 3])},
    ),
    st.fixed_dictionaries({"enum": st.lists(st.sampled_from(["a", 1, None, True]), min_size=1)}),
    st.just({"type": "boolean"}),
    st.just({}),
)
_schemas = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.fixed_dictionaries(
            {
                "type": st.just("object"),
                "properties": st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
            },
            optional={
                "required": st.lists(st.sampled_from("abc"), unique=True, max_size=2),
                "additionalProperties": st.one_of(st.booleans(), inner),
                "minProperties": st.integers(0, 2),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.just("array"), "items": inner},
            optional={"minItems": st.integers(0, 2), "uniqueItems": st.just(True)},
        ),
        st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=2)}),
        st.fixed_dictionaries({"allOf": st.lists(inner, min_size=1, max_size=2)}),
    ),
    max_leaves=5,
)


@settings(max_examples=examples(40), deadline=None)
@given(_schemas)
def test_documents_are_valid_and_witnesses_are_invalid_for_one_keyword(schema: Any) -> None:
    exam = Exam(schema)
    for document in exam.documents:
        assert exam.judges.fits(document)
        assert exam.judges.we_take(compact(document)) is not False
    until = time.process_time() + 5
    for witness in Violations(exam.judges, Values(exam.judges), exam.documents, until).all():
        assert exam.judges.fits(witness.document) is False
        assert Judges(removed(schema, witness.keyword_pointer)).fits(witness.document)


def test_recursion_and_references() -> None:
    node = {
        "type": "object",
        "properties": {"left": {"$ref": "#/$defs/node"}, "value": {"type": "integer"}},
        "required": ["value"],
    }
    tree: Any = {"$ref": "#/$defs/node", "$defs": {"node": node}}
    exam = Exam(tree)
    assert any("left" in document for document in exam.documents)
    assert ("/$defs/node", "required") in {(w.pointer, w.keyword) for w in exam.witnesses}


@pytest.mark.parametrize("schema", [True, {"$ref": "http://nowhere.example/x"}, {"pattern": "("}])
def test_nothing_is_fetched_and_nothing_is_raised(schema: Any) -> None:
    assert isinstance(Exam(schema).witnesses, list)


def test_deep_schemas() -> None:
    schema: Any = {"type": "integer"}
    for _ in range(200):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    assert isinstance(Exam(schema).witnesses, list)


def test_changes_at_a_pointer() -> None:
    value = {"a/b": [1, {"c~": 2}]}
    pointer = pointer_to("a/b", 1, "c~")
    assert pointer == "/a~1b/1/c~0"
    assert at(value, pointer) == 2
    assert removed(value, pointer) == {"a/b": [1, {}]}
    assert removed(value, "/a~1b/0") == {"a/b": [{"c~": 2}]}
    assert replaced(value, ("a/b", 0), 7) == {"a/b": [7, {"c~": 2}]}
    assert value == {"a/b": [1, {"c~": 2}]}


def test_numbers_are_spelled_without_exponents_too() -> None:
    value = {"a": 1.5e-10, "1e5": ["1e-5 \\", -2e300]}
    texts = list(spellings(value))
    assert [json.loads(text, parse_int=float) for text in texts] == [value] * 3
    assert texts[-1].startswith('{"a":0.00000000015,"1e5":["1e-5 ')
    assert len(list(spellings({"a": 5, "b": "1e5"}))) == 2
