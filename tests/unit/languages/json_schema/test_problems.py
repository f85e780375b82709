"""What cannot be converted: the code, the JSON Pointer, and where it is in the text."""

import json
from collections.abc import Callable
from dataclasses import replace
from hashlib import md5
from typing import Any

import pytest
from jsonschema import Draft4Validator

from kbnf_core import Grammar
from kbnf_core import convert as conversions
from kbnf_core.automata import operations
from kbnf_core.convert import from_json_schema
from kbnf_core.languages import GBNF, JSON_SCHEMA
from kbnf_core.languages.json_schema import Options, SchemaLimits, readable
from kbnf_core.languages.json_schema.document import SchemaDocument
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import GrammarError, WorkLimitError
from kbnf_core.text.json_text import value_key
from kbnf_testing.counted import growth
from kbnf_testing.membership import Language
from kbnf_testing.schemas import json_schema_grammar

STRINGS = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}

# schema, code, the pointer that the message begins with
PROBLEMS: list[tuple[Any, str, str]] = [
    ({"properties": {"a": {"pattern": "(?=a)"}}}, "E801", "/properties/a/pattern"),
    ({"properties": {"a": {"pattern": "(a)\\1"}}}, "E801", "/properties/a/pattern"),
    ({"properties": {"a": STRINGS}}, "E801", "/properties/a/uniqueItems"),
    ({"multipleOf": 0.123456789}, "E801", "/multipleOf"),
    ({"type": "object", "minLength": "3"}, "E802", "/minLength"),
    ({"type": "strnig"}, "E802", "/type"),
    ([1], "E802", "the whole schema"),
    (False, "E803", "the whole schema"),
    ({"$ref": "#"}, "E803", "the whole schema"),
    ({"anyOf": [{"$ref": "#"}]}, "E803", "the whole schema"),
    ({"properties": {"a": {"$ref": "#/properties/a"}}}, "E803", "/properties/a"),
    ({"items": {"anyOf": [{"$ref": "#/items"}, {"type": "null"}]}}, "E803", "/items"),
    ({"anyOf": [{"$ref": "#/anyOf/1"}, {"$ref": "#/anyOf/0"}]}, "E803", "/anyOf/0"),
    ({"type": "integer", "minimum": 3, "maximum": 2}, "E803", "the whole schema"),
    ({"type": "array", "minItems": 2, "maxItems": 1}, "E803", "the whole schema"),
    ({"type": "object", "required": ["a"], "properties": {"a": False}}, "E803", "/required/0"),
    ({"type": "array", "items": {"$ref": "#"}, "minItems": 1}, "E803", "the whole schema"),
    ({"type": "array", "maxItems": 10**7}, "E804", "/maxItems"),
    *(
        ({"$schema": "http://json-schema.org/draft-03/schema#", keyword: value}, "E801", at)
        for keyword, value, at in (
            ("disallow", "integer", "/disallow"),
            ("divisibleBy", 2, "/divisibleBy"),
            ("extends", {"type": "null"}, "/extends"),
            ("properties", {"a": {"required": True}}, "/properties/a/required"),
        )
    ),
    ({"$ref": "https://example.org/schema"}, "E805", "/$ref"),
    ({"$ref": "#/$defs/missing"}, "E805", "/$ref"),
    ({"$ref": "file:///etc/passwd"}, "E805", "/$ref"),
    ({"$ref": "http://["}, "E805", "/$ref"),
    ({"$id": "http://[", "$ref": "b.json"}, "E802", "/$id"),
    ({"properties": {"a": {"$id": "http://[", "$ref": "#"}}}, "E802", "/properties/a/$id"),
    ({"$schema": "http://[", "$ref": "#/$defs/missing"}, "E805", "/$ref"),
]


@pytest.mark.parametrize(("schema", "code", "pointer"), PROBLEMS, ids=str)
def test_problem(schema: Any, code: str, pointer: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_json_schema(json.dumps(schema))
    (finding,) = caught.value.diagnostics
    assert finding.code == code
    assert finding.message.startswith(f"{pointer}: ")


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "[1,]", '{"minimum": NaN}', "nul"])
def test_text_that_is_not_json(text: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_json_schema(text)
    assert [finding.code for finding in caught.value.diagnostics] == ["E802"]


def test_span_is_that_of_the_keyword() -> None:
    text = '{\n  "properties": {"a": {}, "b": {"pattern": "(?=a)"}}\n}'
    with pytest.raises(GrammarError) as caught:
        from_json_schema(text)
    (finding,) = caught.value.diagnostics
    assert finding.source.slice(finding.span) == '"pattern"'


def test_lossy_drops_and_lists() -> None:
    properties = {
        "a": {**STRINGS, "maxItems": 3},
        "b": {"not": {}},
        "c": {"pattern": "(?=a)", "type": "string"},
    }
    schema = {"type": "object", "properties": properties}
    conversion = from_json_schema(json.dumps(schema), Options(lossy=True))
    assert not conversion.exact
    assert [loss.code for loss in conversion.losses] == ["W807", "W807"]
    pointers = {loss.message.partition(":")[0] for loss in conversion.losses}
    assert pointers == {"/properties/a/uniqueItems", "/properties/c/pattern"}


def test_unknown_format_is_a_note_and_no_loss() -> None:
    conversion = from_json_schema('{"type": "string", "format": "dat-time"}')
    assert conversion.exact
    assert [note.code for note in conversion.notes] == ["W806"]


def nested(depth: int) -> Any:
    schema: Any = {}
    for _ in range(depth):
        schema = {"items": schema}
    return schema


def chain(count: int) -> Any:
    refs = {f"d{i}": {"allOf": [{"$ref": f"#/$defs/d{i + 1}"}]} for i in range(count)}
    return {"$ref": "#/$defs/d0", "$defs": {**refs, f"d{count}": {"type": "null"}}}


def chain_in_place(count: int) -> Any:
    """No definitions: each is written where it is."""
    members = {f"p{i}": {"$ref": f"#/properties/p{i + 1}"} for i in range(count)}
    return {"properties": {**members, f"p{count}": {"type": "null"}}}


HOSTILE: dict[str, Any] = {
    "many that overlap": {"oneOf": [{"properties": {f"k{i}": {}, "k": {}}} for i in range(200)]},
    "many patterns": {"patternProperties": {f"x{i}.*y{i}": {"minimum": i} for i in range(12)}},
    "long pattern": {"type": "string", "format": "uri", "minLength": 1000},
    "deep": nested(300),
    "long chain": chain(200),
    "long chain in place": chain_in_place(3_000),
    "counted object": {
        "type": "object",
        "properties": {f"p{i}": {} for i in range(300)},
        "minProperties": 100,
        "maxProperties": 200,
    },
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_schemas_meet_named_limits(name: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_json_schema(json.dumps(HOSTILE[name]))
    (finding,) = caught.value.diagnostics
    assert finding.code == "E804"
    assert finding.helps[0].split("`")[1] in SchemaLimits.__dataclass_fields__


WORDS = [md5(bytes((number,)), usedforsecurity=False).hexdigest()[:10] for number in range(20)]
PROPERTIES = {"properties": {word: {"minimum": 1} for word in WORDS}}
NUMBERS = [1000 + number for number in range(50)]

# schema, limits that it passes by one, the keyword, and the name of the limit
COUNTED: list[tuple[Any, SchemaLimits, str, str]] = [
    (PROPERTIES, SchemaLimits(bound=19), "properties", "bound"),
    (PROPERTIES, SchemaLimits(rules=19), "properties", "rules"),
    ({"enum": NUMBERS}, SchemaLimits(states=199), "enum", "states"),
    ({"type": "object", "properties": {"p": {"enum": NUMBERS}}}, SchemaLimits(states=199), "enum",
     "states"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "limits", "keyword", "name"), COUNTED, ids=str)
@pytest.mark.parametrize("convert", [from_json_schema, json_schema_grammar])
def test_what_is_listed_is_counted_where_it_is_read(
    schema: Any, limits: SchemaLimits, keyword: str, name: str, convert: Callable[..., Any]
) -> None:
    text = json.dumps({"$comment": "", **schema})
    finding = refused(convert, text, limits)
    assert finding.code == "E804"
    assert finding.source.slice(finding.span) == f'"{keyword}"'
    assert f"/{keyword}: more than {getattr(limits, name)} " in finding.message
    assert f"the limit `{name}`" in finding.helps[0]
    more = replace(limits, **{name: getattr(limits, name) + 1})
    if name != "rules":
        convert(text, Options(limits=more))


def refused(convert: Callable[..., Any], text: str, limits: SchemaLimits) -> Diagnostic:
    with pytest.raises(GrammarError) as caught:
        convert(text, Options(limits=limits))
    return caught.value.diagnostics[0]


@pytest.mark.parametrize("inner", [False, True])
def test_texts_of_an_enum_are_counted(inner: bool) -> None:
    schema: Any = {"enum": WORDS}
    text = json.dumps({"type": "object", "properties": {"p": schema}} if inner else schema)
    pointer = "/properties/p/enum" if inner else "/enum"
    most = operations.literals(f'"{word}"'.encode() for word in WORDS).state_count
    for convert in (from_json_schema, json_schema_grammar):
        convert(text, Options(limits=SchemaLimits(states=most)))
        finding = refused(convert, text, SchemaLimits(states=most - 1))
        assert finding.message.startswith(f"{pointer}: more than {most - 1} states ")


def test_what_passes_a_limit_by_far_is_not_worked_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("work on what is too much")

    words = [f"{number * 7919 % 10007:05}{'x' * 20}" for number in range(1_000)]
    limits = SchemaLimits(bound=999, states=10_000)
    monkeypatch.setattr(operations, "literals", fail)
    assert refused(json_schema_grammar, json.dumps({"enum": words}), limits).code == "E804"
    monkeypatch.setattr(SchemaDocument, "inside", fail)
    many: Any = {"properties": {word: {} for word in words}}
    assert refused(json_schema_grammar, json.dumps(many), limits).code == "E804"


def test_numbers_of_an_enum_are_not_hashed_each_with_all_others() -> None:
    def family(size: int) -> str:
        return json.dumps({"enum": list(range(size))})

    assert growth(json_schema_grammar, family, 300) < 2.2


@pytest.mark.parametrize(
    "draft", ["draft-04", "draft-06", "draft-07", "draft/2019-09", "draft/2020-12"]
)
def test_the_items_of_a_list_are_not_compared_each_with_each(draft: str) -> None:
    def family(size: int) -> str:
        scheme = "https" if "/" in draft else "http"
        own = {"$schema": f"{scheme}://json-schema.org/{draft}/schema"}
        return json.dumps({**own, "required": [{"a": number} for number in range(size)]})

    def refuse(text: str) -> None:
        with pytest.raises(GrammarError):
            from_json_schema(text)

    assert growth(refuse, family, 300) < 2.2


@pytest.mark.parametrize(
    ("items", "are_unique"),
    [
        ([1, 1.0], False),
        ([1, True, 0, False, "1", None], True),
        ([{"a": [1], "b": 2}, {"b": 2, "a": [1.0]}], False),
        ([[1, 2], [2, 1], {}, []], True),
        ([[True], [1]], True),
        (["a", {"a": 1}, "a"], False),
    ],
)
def test_items_are_equal_as_json_schema_says(items: list[object], are_unique: bool) -> None:
    assert Draft4Validator({"uniqueItems": True}).is_valid(items) is are_unique
    assert (len(set(map(value_key, items))) == len(items)) is are_unique


def test_very_deep_json_is_refused() -> None:
    with pytest.raises(GrammarError):
        from_json_schema('{"items":' * 100_000 + "{}" + "}" * 100_000)


@pytest.mark.parametrize("number", ["1" * 5000, "1e400", "1e999999999", "-1e-999999999"])
def test_huge_numbers_are_answered_quickly(number: str) -> None:
    with pytest.raises(GrammarError):
        from_json_schema(f'{{"type": "integer", "minimum": {number}, "multipleOf": 1e999999}}')


@pytest.mark.parametrize("name", ["ReadableSchema", "SchemaOutline"])
def test_rules_for_people_that_pass_a_limit_are_those_that_are_run(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those for people may take more work than those that are run."""

    def fail(*_: object) -> None:
        raise WorkLimitError(5, "start")

    monkeypatch.setattr(readable, name, fail)
    grammar = Grammar.from_json_schema({"type": "string"})
    assert grammar.parse('"a"')
    with pytest.raises(GrammarError) as caught:
        grammar.to_kbnf()
    assert [each.code for each in caught.value.diagnostics] == ["E804"]


@pytest.mark.parametrize("count", [32, 63])
def test_objects_in_objects(count: int) -> None:
    """Those in `properties` were counted twice, and 32 were refused."""
    schema: Any = {"type": "integer"}
    for _ in range(count):
        schema = {"type": "object", "properties": {"a": schema}, "required": ["a"]}
    language = Language(Grammar.from_json_schema(schema))
    assert language.has('{"a":' * count + "1" + "}" * count)
    assert not language.has('{"a":' * (count - 1) + "1" + "}" * (count - 1))


def test_a_definition_without_a_value_is_left_out_of_gbnf_with_its_comment() -> None:
    """It was a ``KeyError`` (Github_medium---o74424 of MaskBench)."""
    endless = {"type": "object", "properties": {"a": {"$ref": "#/$defs/e"}}, "required": ["a"]}
    schema = {"properties": {"a": {"$ref": "#/$defs/e"}}, "$defs": {"e": endless}}
    for required in ([], ["a"]):
        text = json.dumps({**schema, "required": required})
        assert "root ::=" in conversions.convert(text, JSON_SCHEMA, GBNF, lossy=True).text
