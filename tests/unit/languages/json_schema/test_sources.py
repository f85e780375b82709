"""Schemas from Python types, and what the strict modes of services refuse."""

import enum
import sys
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.languages.json_schema.language import schema_text
from kbnf_core.text.errors import ConfigError, EngineError, GrammarError

pydantic = pytest.importorskip("pydantic")
typing_extensions = pytest.importorskip("typing_extensions")


@dataclass
class Point:
    """Two numbers, of which one has a default."""

    x: int
    y: int = 0


def takes(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


def test_a_pydantic_model() -> None:
    model = pydantic.create_model("Item", name=(str, ...), size=(int, 3))
    grammar = Grammar.from_json_schema(model)
    assert takes(grammar, '{"name": "a", "size": 4}')
    assert not takes(grammar, '{"size": 4}')
    assert takes(Grammar.from_json_schema(pydantic.TypeAdapter(list[int])), "[1]")


def test_dataclasses_typed_dicts_and_other_types() -> None:
    sizes = typing_extensions.TypedDict("sizes", {"w": int})
    assert takes(Grammar.from_json_schema(Point), '{"x": 1}')
    assert not takes(Grammar.from_json_schema(Point), '{"y": 1}')
    assert takes(Grammar.from_json_schema(sizes), '{"w": 1}')
    assert takes(Grammar.from_json_schema(set[bool]), "[true, false]")


def test_sets_repeat_what_no_grammar_tells_apart() -> None:
    assert takes(Grammar.from_json_schema(set[str]), '["a", "a"]')
    assert set(pydantic.TypeAdapter(set[str]).validate_json('["a", "a"]')) == {"a"}
    color = enum.Enum("color", {"RED": "red", "BLUE": "blue"})
    colors = Grammar.from_json_schema(pydantic.create_model("Paint", of=(frozenset[color], ...)))
    assert takes(colors, '{"of": ["blue", "red"]}')
    assert not takes(colors, '{"of": ["red", "red"]}')
    pair = typing.Annotated[set[str], pydantic.Field(min_length=2)]
    found = Grammar.from_json_schema(pair)
    assert takes(found, '["a", "a"]')
    assert [each.code for each in found.reading.parsed.lint()] == ["I830"]


@pytest.mark.parametrize("source", [3, [1], None])
def test_what_is_no_schema_is_said_to_be_none(source: object) -> None:
    with pytest.raises(ConfigError, match="a schema is a dict, a bool, a text or a type, not "):
        schema_text(source)


@pytest.mark.parametrize("source", [object(), {"a": {1}}, 3.5])
def test_what_has_no_schema_is_refused(source: object) -> None:
    with pytest.raises(ConfigError):
        schema_text(source)


@pytest.mark.parametrize("path", ["shop.schema.json", Path("shop.json")])
def test_a_path_is_told_from_a_schema(path: object) -> None:
    with pytest.raises(ConfigError, match="the path of a file"):
        Grammar.from_json_schema(path)


def test_without_pydantic_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ConfigError, match=r"pydantic: pip install pydantic"):
        Grammar.from_json_schema(Point)


CLOSED = {"type": "object", "additionalProperties": False}
NESTED: dict[str, Any] = {"type": "integer"}
for _ in range(11):
    NESTED = {**CLOSED, "properties": {"a": NESTED}, "required": ["a"]}

REFUSED: list[tuple[str, dict[str, Any], str]] = [
    ("openai", {"type": "string"}, "the root is not an object"),
    ("openai", {"type": "object"}, "`additionalProperties` is not false"),
    ("openai", {**CLOSED, "properties": {"a": {}}}, "`a` not in `required`"),
    ("openai", {**CLOSED, "allOf": [{}]}, "`allOf`"),
    ("openai", NESTED, "11 objects nested in one another, where 10"),
    (
        "openai",
        {**CLOSED, "properties": {"a": {"enum": [*range(1001)]}}, "required": ["a"]},
        "1,001 values in `enum`",
    ),
    ("openai", {**CLOSED, "properties": {"a": {"oneOf": [{}]}}, "required": ["a"]}, "`oneOf`"),
    ("openai", {**CLOSED, "properties": {"a": {"format": "uri"}}, "required": ["a"]}, "`uri`"),
    (
        "openai",
        {
            **CLOSED,
            "properties": {"a": {"enum": [f"{i:060}" for i in range(251)]}},
            "required": ["a"],
        },
        "15,060 characters in one `enum`",
    ),
    ("openai", {**CLOSED, "$defs": {"d" * 120_001: {}}}, "120,001 characters"),
    ("cohere", {"type": "integer"}, "the root is not an object"),
    ("cohere", {"type": "object"}, "no property is required"),
    ("cohere", {"type": "string", "pattern": "a$"}, "in a pattern"),
    ("cohere", {"type": "string", "pattern": "a(?=b)"}, "in a pattern"),
    ("cohere", {"oneOf": [{"minimum": 1}]}, "`minimum`"),
    ("cohere", {"format": "email"}, "`email`"),
    ("anthropic", {"type": "integer", "minimum": 3}, "`minimum`"),
    ("anthropic", {"type": "array", "minItems": 2}, "`minItems` above 1"),
    ("anthropic", {"type": "string", "pattern": "^(?=a)"}, "look-around"),
    ("anthropic", {"type": "string", "pattern": "(a)\\1"}, "back-reference"),
    ("anthropic", {"enum": [{"a": 1}]}, "in `enum`"),
    ("anthropic", {"allOf": [{"$ref": "#/$defs/a"}], "$defs": {"a": {}}}, "inside `allOf`"),
    ("anthropic", {"$ref": "https://example.org/a"}, "another document"),
    ("anthropic", {"format": "json-pointer"}, "`json-pointer`"),
    ("anthropic", {**CLOSED, "properties": {"a": {"$ref": "#"}}}, "a schema that contains itself"),
    ("anthropic", {**CLOSED, "properties": {f"p{i}": {} for i in range(25)}}, "25 optional"),
    (
        "anthropic",
        {"prefixItems": [{"type": ["null", "integer"]}] * 17},
        "17 unions",
    ),
]


@pytest.mark.parametrize(("service", "schema", "message"), REFUSED)
def test_strict_modes_explain(service: str, schema: dict[str, Any], message: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Grammar.from_json_schema(schema, strict=service)
    found = caught.value.diagnostics
    assert {finding.code for finding in found} == {"E809"}
    assert any(message in finding.message and finding.helps for finding in found)


def test_strict_schemas_pass() -> None:
    schema = {**CLOSED, "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    for service in ("openai", "anthropic", "cohere", "mistral"):
        assert takes(Grammar.from_json_schema(schema, strict=service), '{"a": 1}')
    plain = {"type": "string", "format": "uri", "pattern": r"^[a-z]{2}\\b\(?=$"}
    assert Grammar.from_json_schema({"anyOf": [plain, {"minItems": 1}]}, strict="anthropic")
    with pytest.raises(ConfigError):
        Grammar.from_json_schema(schema, strict="nobody")
