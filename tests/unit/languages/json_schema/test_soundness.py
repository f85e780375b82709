"""The verdict of ``review`` about a schema is that of the meta-schema of its draft."""

import json
import subprocess
import sys
from random import Random
from typing import Any

import pytest
from jsonschema.validators import Draft202012Validator, validator_for

from kbnf_core.languages.json_schema import Options, keywords
from kbnf_core.languages.json_schema.document import read_json
from kbnf_core.languages.json_schema.keywords import ProblemError, Review, dialect_of, review
from kbnf_core.languages.json_schema.parse import checked
from kbnf_core.text.json_text import value_key

DRAFTS = (
    *(f"http://json-schema.org/draft-0{number}/schema#" for number in (3, 4, 6, 7)),
    *(f"https://json-schema.org/draft/{year}/schema" for year in ("2019-09", "2020-12")),
)
VALUES: tuple[Any, ...] = (
    *(True, False, None, 0, 1, 3, -1, 1.5, 2.0, -2.0, 0.5, "x", "#a#b", "a#", "_a", "a:b"),
    *("string", "any", [], ["a"], ["a", "a"], [1, 1], [{}], [True], [{"type": "x"}]),
    *(["string", "null"], ["string", {}], ["string", 3], [{"type": 3}], [{"a": 1}, {"a": 1}]),
    *({}, {"type": "string"}, {"a": 1}, {"a": "b"}, {"a": ["b"]}, {"a": []}, {"a": [1]}),
    *({"a": True}, {"a": {"minimum": "1"}}, {"minimum": "1"}),
)
KEYWORDS = sorted({*keywords._FORMS, "const", "default", "strange"} - {"$schema"})

DEPTH = 64


def problems_of(schema: Any) -> Any:
    return review(read_json(json.dumps(schema)), DEPTH).problems


def by_the_meta_schema(schema: Any) -> bool:
    """Return its verdict; that values of `enum` differ, as old drafts want, is not asked for."""
    validator = validator_for(schema, default=Draft202012Validator)
    return bool(validator(validator.META_SCHEMA).is_valid(with_distinct_values(schema)))


def with_distinct_values(schema: Any) -> Any:
    if not isinstance(schema, dict):
        return schema
    found = {name: with_distinct_values(value) for name, value in schema.items()}
    if isinstance(found.get("enum"), list):
        found["enum"] = list({value_key(value): value for value in found["enum"]}.values())
    return found


def is_stricter(keyword: str, value: Any, draft: str) -> bool:
    """Return whether ours refuses more: `$ref` that is no string, which draft 4 leaves open."""
    return keyword == "$ref" and not isinstance(value, str) and "draft-04" in draft


@pytest.mark.parametrize("draft", DRAFTS)
@pytest.mark.parametrize("keyword", KEYWORDS)
def test_each_value_of_a_keyword_is_judged_as_by_the_meta_schema(keyword: str, draft: str) -> None:
    for value in VALUES:
        for inner in ({keyword: value}, {"properties": {"p": {keyword: value}}}):
            schema = {"$schema": draft, **inner}
            if not is_stricter(keyword, value, draft):
                assert (not problems_of(schema)) == by_the_meta_schema(schema), schema


@pytest.mark.parametrize("keyword", KEYWORDS)
def test_a_schema_without_a_draft_is_of_the_newest_or_of_an_older_form(keyword: str) -> None:
    for value in VALUES:
        is_sound = not problems_of({keyword: value})
        if is_sound != by_the_meta_schema({keyword: value}):
            # Some forms of older drafts are read, and judged.
            assert is_sound or keyword == "additionalItems"
            assert not is_sound or (keyword, type(value)) in keywords.OLDER, value


def test_combinations_are_judged_as_by_the_meta_schema() -> None:
    random, sound = Random(1), 0
    for _ in range(3_000):
        inner = {random.choice(KEYWORDS): random.choice(VALUES) for _ in range(2)}
        schema = {"$schema": random.choice(DRAFTS), **inner}
        if any(is_stricter(*each, schema["$schema"]) for each in inner.items()):
            continue
        is_sound = not problems_of(schema)
        sound += is_sound
        assert is_sound == by_the_meta_schema(schema), schema
    assert sound > 20


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_bound_that_old_drafts_make_exclusive_is_there(draft: str) -> None:
    for bounds in ({"minimum": 1}, {}):
        schema = {"$schema": draft, "not": {"exclusiveMinimum": True, **bounds}}
        assert (not problems_of(schema)) == by_the_meta_schema(schema), schema


def test_every_wrong_keyword_of_a_level_is_reported() -> None:
    inner = {"a": {"minimum": "1", "type": "strng"}, "b": {"items": {"required": "x"}}, "c": 3}
    found = problems_of({"properties": inner, "anyOf": [{"maxLength": -1}]})
    assert [each.pointer for each in found] == [
        "/properties/a/minimum",
        "/properties/a/type",
        "/properties/c",
        "/anyOf/0/maxLength",
    ]


def test_no_library_is_imported_for_a_schema_that_is_refused() -> None:
    code = (
        "import sys; from kbnf_core import Grammar, GrammarError\n"
        'for text in (\'{"type": "strng"}\', \'{"$anchor": "a", "$vocabulary": {}}\'):\n'
        "    try: Grammar.from_json_schema(text)\n"
        "    except GrammarError: pass\n"
        "print(sys.modules.keys() & {'referencing', 'jsonschema', 'attr'})"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"


@pytest.mark.parametrize("draft", DRAFTS[2:])
def test_a_name_that_a_draft_does_not_know_holds_anything(draft: str) -> None:
    """Members that somebody wrote without `properties`, one of which is called `id`."""
    schema = {"$schema": draft, "id": {"type": "string"}, "size": {"type": "integer"}}
    found = review(read_json(json.dumps(schema)), DEPTH)
    assert found == Review((), frozenset({"size"}))


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
    assert review(named, DEPTH) == Review((), frozenset({"x-a", "redOnly"}))
    inner = {"required": ["a"], "allOf": [{"properties": {"b": True}}]}
    assert review(inner, DEPTH) == Review()
    unlisted = {"items": {"required": ["a"], "properties": {"b": True}}}
    assert review(unlisted, DEPTH) == Review(is_unlisted=True)
    assert review({"items": {"$dynamicAnchor": "a"}}, DEPTH) == Review(has_marks=True)
    # A reference may lead to what is no schema by itself.
    elsewhere = {"components": [{"x": {"$dynamicAnchor": "a"}}]}
    assert review(elsewhere, DEPTH) == Review((), frozenset({"components"}), has_marks=True)


@pytest.mark.parametrize("keyword", ["const", "strange", "items", "properties", "enum", "default"])
def test_values_are_nested_up_to_a_limit(keyword: str) -> None:
    def nested(depth: int) -> Any:
        value: Any = {"type": "string"}
        for _ in range(depth):
            value = {"items": value}
        return {keyword: [value] if keyword == "enum" else value}

    if keyword == "properties":
        nested = lambda depth: {"properties": {"a": nested_items(depth - 1)}}  # noqa: E731
    deepest = max(
        depth for depth in range(2 * DEPTH + 4) if not review(nested(depth), DEPTH).problems
    )
    assert deepest == 2 * DEPTH - 2 - (keyword == "enum")
    (problem,) = review(nested(deepest + 1), DEPTH).problems
    assert problem.code == "E804"
    assert problem.pointer.count("/") == 2 * DEPTH + 1


def nested_items(depth: int) -> Any:
    value: Any = {"type": "string"}
    for _ in range(depth):
        value = {"items": value}
    return value


@pytest.mark.parametrize("draft", DRAFTS)
def test_a_value_that_is_listed_twice_says_nothing(draft: str) -> None:
    for values in ([1, "1", None, True, 1.0], [{"a": [1]}, {"a": [1]}]):
        schema = {"$schema": draft, "items": {"enum": values}}
        # It does not raise.
        checked(read_json(json.dumps(schema)), Options())


def test_what_is_wrong_ends_the_reading() -> None:
    with pytest.raises(ProblemError) as found:
        checked(read_json('{"type": "strin"}'), Options())
    assert found.value.problem.pointer == "/type"


def test_a_draft_is_known_by_its_address() -> None:
    names = [dialect_of({"$schema": draft}) for draft in DRAFTS]
    assert names[0] == "draft-03"
    assert names[-1] == dialect_of({}) == dialect_of({"$schema": "https://x.org/y"})
