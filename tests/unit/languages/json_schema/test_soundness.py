"""What is called well formed without a meta-schema is so by the meta-schema."""

import json
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator, validator_for

from kbnf_core.languages.json_schema import keywords as quick
from kbnf_core.languages.json_schema.document import check_schema, read_json
from kbnf_core.languages.json_schema.expressions import key_of
from kbnf_core.languages.json_schema.keywords import SCHEMA, Review, review
from kbnf_core.languages.json_schema.options import SchemaLimits
from kbnf_core.languages.json_schema.problems import ProblemError

DRAFTS = (
    *(f"http://json-schema.org/draft-0{number}/schema#" for number in (3, 4, 6, 7)),
    *(f"https://json-schema.org/draft/{year}/schema" for year in ("2019-09", "2020-12")),
)
VALUES: tuple[Any, ...] = (
    *(True, False, None, 0, 1, 3, -1, 1.5, "x", "#a#b", "string"),
    *([], ["a"], ["a", "a"], [1, 1], [{}], [True], [{"type": "x"}], ["string", "null"]),
    *({}, {"type": "string"}, {"a": 1}, {"a": ["b"]}, {"a": []}, {"a": {"minimum": "1"}}),
)
KEYWORDS = sorted({*quick._RULES, *SCHEMA, "const", "default"} - {"$schema"})


def by_the_meta_schema(schema: Any) -> bool:
    """Return its verdict; that values of `enum` differ, as old drafts want, is not asked for."""
    validator = validator_for(schema, default=Draft202012Validator)
    return bool(validator(validator.META_SCHEMA).is_valid(with_distinct_values(schema)))


def with_distinct_values(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    found = {name: with_distinct_values(value) for name, value in schema.items()}
    if isinstance(found.get("enum"), list):
        found["enum"] = list({key_of(value): value for value in found["enum"]}.values())
    return found


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_no_value_of_a_keyword_is_called_sound_wrongly(keyword: str, draft: str) -> None:
    for value in VALUES:
        for inner in ({keyword: value}, {"properties": {"p": {keyword: value}}}):
            schema = {"$schema": draft, **inner}
            if review(read_json(json.dumps(schema))).is_sound:
                assert by_the_meta_schema(schema), schema


def test_no_combination_is_called_sound_wrongly() -> None:
    random = Random(1)
    sound = 0
    for _ in range(3_000):
        inner = {random.choice(KEYWORDS): random.choice(VALUES) for _ in range(2)}
        schema = {"$schema": random.choice(DRAFTS), **inner}
        if review(read_json(json.dumps(schema))).is_sound:
            sound += 1
            assert by_the_meta_schema(schema), schema
    assert sound > 20


def test_usual_schemas_are_sound_without_the_meta_schema(monkeypatch: pytest.MonkeyPatch) -> None:
    text = json.dumps(
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$id": "https://example.com/a.json",
            "type": ["object", "null"],
            "properties": {
                "a": {"type": "integer", "minimum": 0, "multipleOf": 0.5, "default": 3},
                "b": {"enum": [1, "x", None]},
                "c": {"items": [{"minLength": 1, "pattern": "^x"}], "additionalItems": False},
                "d": {"anyOf": [{"$ref": "#/definitions/d"}, True], "uniqueItems": True},
            },
            "required": ["a"],
            "additionalProperties": False,
            "definitions": {"d": {"const": {"x": [1]}}},
        }
    )
    monkeypatch.setattr("jsonschema.validators.validator_for", None)
    assert check_schema(read_json(text), text, SchemaLimits()).is_sound


@pytest.mark.parametrize("draft", DRAFTS[2:])
def test_a_name_that_a_draft_does_not_know_holds_anything(
    draft: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Members that somebody wrote without `properties`, one of which is called `id`."""
    text = json.dumps({"$schema": draft, "id": {"type": "string"}, "size": {"type": "integer"}})
    monkeypatch.setattr("jsonschema.validators.validator_for", None)
    found = check_schema(read_json(text), text, SchemaLimits())
    assert found == Review(True, frozenset({"size"}))


def test_no_library_is_imported_for_identifiers() -> None:
    """The first schema with an inner ``$id`` took 41 ms longer than others."""
    inner = {"$id": "http://example.com/dir/a.json", "$ref": "b.json#/$defs/c"}
    other = {"$id": "http://example.com/dir/b.json", "$defs": {"c": {"$anchor": "d", "const": 1}}}
    named = {"$ref": "http://example.com/dir/b.json#d"}
    schema = {"properties": {"a": inner, "b": named}, "$defs": {"other": other}}
    code = (
        "import sys; from kbnf_core import Grammar;"
        f"Grammar.from_json_schema({json.dumps(schema)!r});"
        "print(sys.modules.keys() & {'referencing', 'jsonschema', 'attr'})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


def test_facts_of_a_schema() -> None:
    named = {"x-a": 1, "items": {"redOnly": True, "title": "a"}, "const": {"strange": 1}}
    assert review(named) == Review(True, frozenset({"x-a", "redOnly"}))
    assert review({"required": ["a"], "allOf": [{"properties": {"b": True}}]}) == Review(True)
    unlisted = {"items": {"required": ["a"], "properties": {"b": True}}}
    assert review(unlisted) == Review(True, is_unlisted=True)


@pytest.mark.parametrize("schema", ['{"type": "strin"}', '{"properties": {"a": {"minimum": "1"}}}'])
def test_what_is_wrong_is_told_by_the_meta_schema(schema: str) -> None:
    with pytest.raises(ProblemError) as found:
        check_schema(read_json(schema), schema, SchemaLimits())
    assert found.value.problem.pointer in {"/type", "/properties/a/minimum"}


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("beside", [{}, {"$anchor": "a"}], ids=["quick", "by the meta-schema"])
def test_a_value_that_is_listed_twice_says_nothing(draft: str, beside: Any) -> None:
    for values in ([1, "1", None, True, 1.0], [{"a": [1]}, {"a": [1]}]):
        schema = {"$schema": draft, "items": {"enum": values}, **beside}
        text = json.dumps(schema)
        # It does not raise.
        assert not check_schema(read_json(text), text, SchemaLimits()).is_unlisted
