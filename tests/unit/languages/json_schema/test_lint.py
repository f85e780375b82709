"""Lints of schemas: what is valid, or nearly, and hardly what its author means."""

import json
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import convert
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import advice
from kbnf_core.languages.json_schema.keywords import KEYWORDS
from kbnf_core.lint.check import check, fix_text
from kbnf_core.text import suggest
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.suggest import edits

TYPES = "`array`, `boolean`, `integer`, `null`, `number`, `object` and `string`"
TEXT = {"type": "string"}
SHORT = {"type": "string", "minLength": 5, "maxLength": 2}
CLOSED = {"type": "object", "additionalProperties": False}
NONE = "no value is possible here: "


def found(schema: Any) -> list[Diagnostic]:
    return check(json.dumps(schema), "s.json", language=JSON_SCHEMA)


MISSPELT = [
    ({"propertes": {"a": TEXT}}, "/propertes", "properties"),
    ({"requierd": ["a"]}, "/requierd", "required"),
    ({"additionalProperty": False}, "/additionalProperty", "additionalProperties"),
    ({"maxlength": 3}, "/maxlength", "maxLength"),
    ({"max_length": 3}, "/max_length", "maxLength"),
    ({"any_of": [TEXT]}, "/any_of", "anyOf"),
    ({"Type": "string"}, "/Type", "type"),
    ({"ref": "#/$defs/a", "$defs": {"a": TEXT}}, "/ref", "$ref"),
    ({"defs": {}}, "/defs", "$defs"),
    ({"item": TEXT}, "/item", "items"),
    ({"enums": ["a"]}, "/enums", "enum"),
    ({"mininum": 1}, "/mininum", "minimum"),
    ({"descripton": "x"}, "/descripton", "description"),
    ({"properties": {"a/b": {"patern": "a"}}, **CLOSED}, "/properties/a~1b/patern", "pattern"),
    ({"$defs": {"x": {"anyOf": [{"itmes": TEXT}]}}}, "/$defs/x/anyOf/0/itmes", "items"),
    (
        {"type": "object", "properties": {"name": TEXT}, "required": ["nmae"]},
        "/required/0",
        "name",
    ),
]


@pytest.mark.parametrize(("schema", "pointer", "meant"), MISSPELT, ids=str)
def test_misspelt_names_have_a_fix(schema: Any, pointer: str, meant: str) -> None:
    (finding,) = [each for each in found(schema) if each.code == "W821"]
    assert finding.pointer == pointer
    assert finding.helps == (f"did you mean `{meant}`?",)
    text = json.dumps(schema)
    fixed = fix_text(text, lambda it: check(it, language=JSON_SCHEMA), language=JSON_SCHEMA)
    assert fixed.text == text
    fixed = fix_text(
        text, lambda it: check(it, language=JSON_SCHEMA), unsafe=True, language=JSON_SCHEMA
    )
    wrong = pointer.rpartition("/")[2]
    expected = (
        text.replace("nmae", meant) if wrong == "0" else text.replace(f'"{wrong}"', f'"{meant}"')
    )
    assert json.loads(fixed.text) == json.loads(expected)
    assert "W821" not in {each.code for each in check(fixed.text, language=JSON_SCHEMA)}


@pytest.mark.parametrize(
    "schema",
    [
        {"x-propertes": {}},
        {"_format": "date"},
        {"propertes": 3},  # no value of `properties`
        {"const": {"propertes": {}}},
        {"properties": {"propertes": TEXT}, **CLOSED},
        {"nullable": True, "example": 1, "discriminator": {}, "foo": 1},
        {"type": "object", "required": ["zebra"], "properties": {"a": TEXT}},
        {"type": "object", "required": ["a", "b"], "properties": {"a": TEXT}},
    ],
    ids=str,
)
def test_names_that_are_not_misspelt(schema: Any) -> None:
    assert [each for each in found(schema) if each.code == "W821"] == []


def test_each_name_is_compared_once_and_warned_of_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three strange names in each of 60 members took 106 times as long as the schema."""
    compared = list[str]()

    def counted(first: str, second: str, most: int) -> int:
        compared.append(first)
        return edits(first, second, most)

    strange: Any = {"maxlenght": 3, "enumNams": [], "somethingElse": 1}
    members = {f"name{number}": {"type": "string", **strange} for number in range(60)}
    required = ["nome1", *(name for name in members if name != "name1")]
    schema = {"properties": members, "required": required}
    monkeypatch.setattr(suggest, "edits", counted)
    advice._near_keywords.cache_clear()
    with pytest.warns(UserWarning, match="did you mean") as warned:
        Grammar.from_json_schema(schema)
    places = [str(each.message).partition(":")[0] for each in warned]
    assert places == ["/required/0", "/properties/name0/maxlenght"]
    of_keywords = [name for name in compared if not name.startswith("n")]
    assert set(of_keywords) <= {"maxlenght", "enumnams", "somethingelse"}
    assert len(of_keywords) < 10
    # Each place has a fix of its own in a check.
    assert sum(each.code == "W821" for each in found(schema)) == 61


@pytest.mark.parametrize("members", [{}, {"required": ["a"]}], ids=["none", "listed"])
def test_a_schema_without_strange_names_is_not_visited_for_them(
    members: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(advice, "misspelt", None)
    schema = {"properties": {"a": {"format": "date", "x-mine": 1}}, "somethingElse": 1, **members}
    assert Grammar.from_json_schema(schema)


def test_no_keyword_is_misspelt() -> None:
    assert found({"properties": dict.fromkeys(KEYWORDS, True), **CLOSED}) == []


CONTRADICTIONS: list[tuple[Any, str, str]] = [
    (SHORT, "", "`minLength: 5` and `maxLength: 2` contradict each other"),
    (
        {"properties": {"a": SHORT}, "required": ["a"], "type": "object"},
        "/properties/a",
        "`minLength: 5` and `maxLength: 2` contradict each other",
    ),
    (
        {"type": "object", "properties": {"a": {"type": "array", "items": SHORT, "minItems": 1}},
         "required": ["a"]},
        "/properties/a/items",
        "`minLength: 5` and `maxLength: 2` contradict each other",
    ),
    (
        {"$ref": "#/$defs/a", "$defs": {"a": {"type": "integer", "enum": ["x"]}}},
        "/$defs/a",
        '`type: "integer"` and `enum: ["x"]` contradict each other',
    ),
    (
        {**CLOSED, "properties": {"name": TEXT}, "required": ["name", "age"]},
        "/required/1",
        "`age` is required, and no property of that name is allowed",
    ),
    (
        {"type": "object", "properties": {"a": False}, "required": ["a"]},
        "/required/0",
        "`a` is required, and no property of that name is allowed",
    ),
    (
        {**CLOSED, "minProperties": 1},
        "",
        "`additionalProperties: false` and `minProperties: 1` contradict each other",
    ),
    ({"allOf": [TEXT, {"type": "null"}]}, "/allOf", "the schemas of `allOf` contradict each other"),
    ({"oneOf": [TEXT, TEXT]}, "/oneOf", "no value satisfies exactly one schema of `oneOf`"),
    (
        {"type": "object", "properties": {"a": SHORT, "b": {"enum": [1], "type": "string"}},
         "required": ["a", "b"]},
        "/properties/b",
        '`enum: [1]` and `type: "string"` contradict each other',
    ),
    (
        {"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"],
         "allOf": [{"properties": {"a": {"const": 2}}}]},
        "",
        '`properties: {"a":{"const":1}}`, `required: ["a"]` and'
        ' `allOf: [{"properties":{"a":{"const":2}}}]` contradict each other',
    ),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "pointer", "why"), CONTRADICTIONS, ids=str)
def test_contradiction_of_the_whole_is_an_error(schema: Any, pointer: str, why: str) -> None:
    (finding,) = [each for each in found(schema) if each.code == "E803"]
    assert (finding.code, finding.pointer) == ("E803", pointer)
    assert finding.message == f"{pointer or 'the whole schema'}: {NONE}{why}"
    with pytest.raises(GrammarError) as caught:
        convert(json.dumps(schema), JSON_SCHEMA)
    assert [each.message for each in caught.value.diagnostics] == [finding.message]


BOOLEAN_IN_NULLS = {
    "type": "array", "maxItems": 1, "prefixItems": [{"type": "null"}],
    "contains": {"type": "boolean"},
}  # fmt: skip
NULLS = (
    'no value is possible here: `maxItems: 1`, `prefixItems: [{"type":"null"}]` and'
    ' `contains: {"type":"boolean"}` contradict each other'
)
CIRCLE = "every value needs another one inside"


@pytest.mark.parametrize(
    ("schema", "pointer", "why"),
    [
        (BOOLEAN_IN_NULLS, "", NULLS),
        ({"type": "array", "minItems": 1, "items": BOOLEAN_IN_NULLS}, "/items", NULLS),
        (
            {"type": "object", "properties": {"x": BOOLEAN_IN_NULLS}, "required": ["x"]},
            "/properties/x",
            NULLS,
        ),
        (
            {"type": "array", "maxItems": 1, "contains": {"const": 1}, "minContains": 2},
            "",
            'no value is possible here: `maxItems: 1`, `contains: {"const":1}` and'
            " `minContains: 2` contradict each other",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "#"}}, "required": ["a"]}, "", CIRCLE),
        (
            {
                "$ref": "#/$defs/a",
                "$defs": {"a": {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/a"}}},
            },
            "/$defs/a",
            CIRCLE,
        ),
        ({"allOf": [{"$ref": "#"}]}, "", "a schema refers to itself without a value in between"),
    ],
    ids=repr,
)
def test_the_reason_is_that_of_the_innermost_place(schema: Any, pointer: str, why: str) -> None:
    (finding,) = [each for each in found(schema) if each.code == "E803"]
    assert (finding.pointer, finding.message.partition(": ")[2]) == (pointer, why)
    optional = {"type": "object", "properties": {"o": schema}, "additionalProperties": False}
    if "$ref" not in json.dumps(schema):
        (inside,) = [each for each in found(optional) if each.code == "W822"]
        assert inside.message == f"/properties/o{pointer}: {why}"


def test_one_problem_hides_no_other() -> None:
    list_of_any = {"type": "array", "uniqueItems": True}
    sound = {
        "e": {"format": "xyz"}, "f": {"type": "string", "minLength": 3, "maxLength": 2},
        "h": {"maxlength": 3}, "k": {"contentEncoding": "base64"},
    }  # fmt: skip
    refused = {
        "a": list_of_any, "b": {"items": {**list_of_any, "items": {"format": "rst"}}},
        "c": {"type": "string", "pattern": "(?<=a)b"}, "g": {"$ref": "#/$defs/no"},
    }  # fmt: skip
    alone = {(each.code, each.pointer) for each in found({"properties": sound})}
    together = {(each.code, each.pointer) for each in found({"properties": {**refused, **sound}})}
    assert {code for code, _ in alone} == {"W806", "W807", "W821", "W822", "I823"}
    assert together - alone == {
        ("E801", "/properties/a/uniqueItems"),
        ("E801", "/properties/b/items/uniqueItems"),
        ("W806", "/properties/b/items/items/format"),
        ("E801", "/properties/c/pattern"),
        ("E805", "/properties/g/$ref"),
    }
    assert alone <= together


def test_a_misspelt_keyword_is_named_where_no_value_is_left() -> None:
    schema = {**CLOSED, "propertes": {"name": TEXT}, "required": ["name"]}
    assert [each.code for each in found(schema)] == ["W821", "E803"]


ENDLESS = {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}, "required": ["a"]}


def test_values_that_need_another_one_inside() -> None:
    optional = {**CLOSED, "properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": ENDLESS}}
    (finding,) = [each for each in found(optional) if each.code == "W822"]
    assert finding.message == "/$defs/b: every value needs another one inside"
    whole = found({"$ref": "#/$defs/b", "$defs": {"b": ENDLESS}})
    assert "E803" in [each.code for each in whole]
    text = convert(json.dumps(optional), JSON_SCHEMA).text
    assert check(text, "s.kbnf") == []
    assert Engine(text, Vocabulary.bytes()).shortest_texts(2).texts == (b"{}", b"{ }")


@pytest.mark.parametrize(("schema", "pointer", "why"), CONTRADICTIONS, ids=str)
def test_contradiction_of_a_part_is_a_warning(schema: Any, pointer: str, why: str) -> None:
    around = {"type": "object", "properties": {"part": schema}, "additionalProperties": False}
    if "$defs" in schema:
        around["properties"] = {"part": {"$ref": "#/$defs/a"}}
        around["$defs"] = schema["$defs"]
        place = pointer
    else:
        place = f"/properties/part{pointer}"
    findings = [each for each in found(around) if each.code != "I823"]
    assert {each.code for each in findings} == {"W822"}
    assert f"{place}: {NONE}{why}" in [each.message for each in findings if each.pointer == place]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": False}, **CLOSED},
        {"anyOf": [TEXT, {"not": {}}]},
        {"properties": {"a": {"type": "array", "items": {"not": {}}}}, **CLOSED},
        {"if": {"type": "string"}, "then": TEXT, "else": False},
    ],
    ids=str,
)
def test_what_is_impossible_on_purpose_is_no_finding(schema: Any) -> None:
    assert found(schema) == []


@pytest.mark.parametrize(
    ("schema", "pointer", "message"),
    [
        ({"type": "strng"}, "/type", f'there is no type "strng"; the types are {TYPES}'),
        ({"type": ["null", "nul"]}, "/type/1", f'there is no type "nul"; the types are {TYPES}'),
        (
            {"type": []},
            "/type",
            "`type` must be one of the types, or a list of different ones, not []",
        ),
        (
            {"minLength": "3"},
            "/minLength",
            '`minLength` must be a whole number, 0 or more, not "3"',
        ),
        (
            {"required": "a"},
            "/required",
            '`required` must be a list of strings, all different, not "a"',
        ),
        (
            {"properties": []},
            "/properties",
            "`properties` must be an object with a schema for each name, not []",
        ),
        (
            {"minLength": list(range(40))},
            "/minLength",
            "`minLength` must be a whole number, 0 or more, not "
            "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,...",
        ),
        ({"items": 5}, "/items", "a schema is an object, `true` or `false`, not 5"),
        (
            {"properties": {"a": {"type": "STRING"}}},
            "/properties/a/type",
            f'there is no type "STRING"; the types are {TYPES}',
        ),
    ],
    ids=str,
)
def test_wrong_values_say_what_the_keyword_must_be(schema: Any, pointer: str, message: str) -> None:
    (finding,) = found(schema)
    assert (finding.code, finding.pointer) == ("E802", pointer)
    assert finding.message == f"{pointer}: {message}"
    is_type = isinstance(schema.get("type"), str) or "STRING" in json.dumps(schema)
    assert not is_type or finding.helps == ("did you mean `string`?",)


@pytest.mark.parametrize(
    ("schema", "count", "pointer"),
    [
        ({"properties": {"a": True}}, "1 object allows", ""),
        ({"properties": {"a": {"properties": {"b": True}}}}, "2 objects allow", ""),
        (
            {**CLOSED, "properties": {"a": {"properties": {"b": True}}}},
            "1 object allows",
            "/properties/a",
        ),
    ],
    ids=str,
)
def test_open_objects_are_one_info(schema: Any, count: str, pointer: str) -> None:
    (finding,) = found(schema)
    assert (finding.code, finding.pointer) == ("I823", pointer)
    assert f"{count} properties that the schema does not name" in finding.message
    assert "--closed" in finding.helps[0]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"properties": {"a": True}, "additionalProperties": True},
        {"properties": {"a": True}, "unevaluatedProperties": False},
        {"allOf": [{"properties": {"a": True}}], "unevaluatedProperties": False},
        {"not": {"properties": {"a": {"const": 1}}, "type": "object"}},
    ],
    ids=str,
)
def test_objects_that_say_it_are_no_info(schema: Any) -> None:
    assert [each for each in found(schema) if each.code == "I823"] == []


def test_conversion_says_the_same() -> None:
    schema = {"type": "object", "maxpropertes": 3, "properties": {"a": SHORT}}
    notes = convert(json.dumps(schema), JSON_SCHEMA).notes
    assert [each.code for each in notes] == ["W821", "I823", "W822"]
    assert {each.message for each in notes} == {each.message for each in found(schema)}


def test_json_without_a_keyword_is_hardly_a_schema() -> None:
    (finding,) = found({"name": "kbnf", "version": "1.0", "description": "a tool"})
    assert (finding.code, finding.pointer) == ("W827", "")
    for schema in ({}, True, {"title": "anything"}, {"x-a": 1}, {"$comment": "", "$id": "a"}):
        assert found(schema) == []
