"""Tools that are known are not converted again, and nothing else changes by it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kbnf_core import Engine, Grammar, GrammarError, Vocabulary, compile_artifact
from kbnf_core.device import TokenTable
from kbnf_core.languages.json_schema.simple_schemas import PARTS

BYTES = Vocabulary(dict(enumerate(bytes([byte]) for byte in range(256))), eos_token_id=256)
INNER = {"type": "object", "properties": {"v": {"type": "integer"}}, "additionalProperties": False}


def tool(name: str, **more: Any) -> dict[str, Any]:
    """Return the schema of a call: two objects, and each is a part."""
    arguments = {"type": "object", "properties": {name: {"type": "string"}, **more}}
    properties = {"name": {"const": name}, "arguments": arguments}
    return {"type": "object", "properties": properties, "required": ["name", "arguments"]}


def tools(*names: str) -> dict[str, Any]:
    """Return the schema of calls of some tools."""
    return {"anyOf": [tool(name) for name in names]}


@pytest.fixture(autouse=True)
def _unknown() -> Iterator[None]:
    PARTS.clear()
    yield
    PARTS.clear()


def made(schema: dict[str, Any], **options: Any) -> int:
    """Return how many parts a conversion adds."""
    before = len(PARTS)
    Grammar.from_json_schema(schema, **options)
    return len(PARTS) - before


def accepts(grammar: Grammar, text: str) -> bool:
    """Tell whether a grammar has a text."""
    engine = Engine(grammar, BYTES)
    data = text.encode()
    return engine.accept_tokens(data) == len(data) and engine.can_finish()


def test_a_second_set_converts_only_what_is_new() -> None:
    assert made(tools("a", "b", "c")) == 3
    assert made(tools("c", "d", "a")) == 1
    assert made({**tools("b", "a"), "title": "else"}) == 0


def test_a_thousand_tools_are_known_to_the_next_request() -> None:
    many = [f"t{number}" for number in range(1_000)]
    assert made(tools(*many)) == 1_000
    assert made(tools(*many, "t")) == 1


def test_tools_behind_references_are_known_too() -> None:
    assert made(tools("a", "b")) == 2
    named = {"anyOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/A"}]}
    assert made({**named, "$defs": {"A": tool("a"), "B": tool("b")}}) == 0


def test_what_refers_to_others_is_not_known_elsewhere() -> None:
    caller = tool("a", inner={"$ref": "#/$defs/I"})
    schema = {"anyOf": [caller, tool("b")], "$defs": {"I": INNER}}
    other = {**schema, "$defs": {"I": {"type": "null"}}}
    for _ in range(2):
        text = '{"name":"a","arguments":{"inner":%s}}'
        assert accepts(Grammar.from_json_schema(other), text % "null")
        assert not accepts(Grammar.from_json_schema(other), text % '{"v":1}')
        assert accepts(Grammar.from_json_schema(schema), text % '{"v":1}')


@pytest.mark.parametrize("options", [{"whitespace": "compact"}, {"additional_properties": False}])
def test_options_and_drafts_tell_tools_apart(options: dict[str, Any]) -> None:
    assert made(tools("a", "b")) == made(tools("a", "b"), **options) == 2
    old = {**tools("a", "b"), "$schema": "http://json-schema.org/draft-04/schema#"}
    assert made(old) == 2


def test_known_tools_give_the_same_automata_and_text() -> None:
    schema = {"anyOf": [tool("a", when={"format": "date"}), tool("b", when={"format": "date"})]}
    first = Grammar.from_json_schema(schema)
    Grammar.from_json_schema(tools("b", "c"))
    again = Grammar.from_json_schema(schema)
    assert first.tables.names == again.tables.names
    for name in ("classes", "accepting", "edge_start", "edge_class", "edge_target"):
        assert np.array_equal(getattr(first.tables, name), getattr(again.tables, name))
    assert first.source.text == again.source.text


def test_texts_of_one_kind_are_one_rule_for_all_tools() -> None:
    dated = [tool(name, when={"type": "string", "format": "date-time"}) for name in "abc"]
    rules = Grammar.from_json_schema({"anyOf": dated}).rules.rules
    assert sum(name.startswith("string_") for name in rules) == 1


def test_what_there_is_to_say_is_said_each_time() -> None:
    lossy = {"anyOf": [tool("a", x={"type": "string", "contentEncoding": "base64"}), tool("b")]}
    made(tools("b"))
    assert made(lossy) == made(lossy) == 0
    broken = {"anyOf": [tool("a", x={"type": "string", "pattern": "(?=a)b(?<=c)\\1"}), tool("b")]}
    for _ in range(2):
        with pytest.raises(GrammarError):
            Grammar.from_json_schema(broken)


def test_what_is_in_a_part_and_outside_is_two_rules() -> None:
    ids = {"pattern": "^[A-Fa-f\\d]{24}$"}
    maybe = {"properties": {"id": {"oneOf": [ids, {"type": "null"}]}}}
    part = {"type": "object", "properties": {"meta": maybe}, "required": ["type"]}
    closed = {"additionalProperties": False}
    schema = {"properties": {"list": {"items": {"oneOf": [closed, part]}}, "id": ids}}
    # New, and known.
    counts = {Grammar.from_json_schema(schema).tables.state_count for _ in range(2)}
    assert len(counts) == 1


def test_a_rule_inside_of_a_part_may_be_called_from_elsewhere() -> None:
    text = {"type": "string", "minLength": 1}

    def counted(**more: Any) -> dict[str, Any]:
        return {"type": "object", "properties": {**more, "s": text}, "minProperties": 1}

    several = {"anyOf": [counted(k={"const": name}) for name in "ab"]}
    for _ in range(2):  # made, and known
        grammar = Grammar.from_json_schema(counted(p=several))
        assert accepts(grammar, '{"p":{"s":"x"},"s":"x"}')
        assert not accepts(grammar, '{"p":{"s":"x"},"s":""}')


def test_artifacts_are_the_same_whatever_is_known(tmp_path: Path) -> None:
    one, other = tools("a", "b"), tools("b", "c")
    found = set()
    for number, before in enumerate(([], [other], [one, other])):
        PARTS.clear()
        for schema in before:
            assert Grammar.from_json_schema(schema).tables
        file = tmp_path / f"{number}.kbnfc"
        compile_artifact(Grammar.from_json_schema(one), BYTES, file)
        found.add(file.read_bytes())
    assert len(found) == 1


def closed(**properties: Any) -> dict[str, Any]:
    return {**opened(**properties), "additionalProperties": False}


def opened(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def test_device_tables_are_the_same_whatever_is_known(tmp_path: Path) -> None:
    few = {"type": "array", "maxItems": 2}
    known = {**closed(c=closed(b={**few, "items": {"enum": ["a", "b"]}})), "required": ["c"]}
    new = opened(arguments=opened(d=opened(d=few), c=opened(b=few)))
    found = set()
    for number, before in enumerate(([], [{"anyOf": [opened(), known]}])):
        PARTS.clear()
        for schema in before:
            assert Grammar.from_json_schema(schema).tables
        grammar = Grammar.from_json_schema({"anyOf": [known, new]})
        file = tmp_path / f"{number}.table"
        TokenTable.build(grammar, BYTES, max_states=150, partial=True).save(file)
        found.add(file.read_bytes())
    assert len(found) == 1


def test_parts_that_are_split_call_what_all_share() -> None:
    many: dict[str, dict[str, str]] = {f"{'long' * 10}{number}": {} for number in range(20)}
    definitions = {
        "none": {"properties": {}},
        "many": {"properties": many},
        "held": {"properties": {"many": {"$ref": "#/definitions/many"}}},
    }
    properties = {
        "none": {"$ref": "#/definitions/none"},
        "inner": {"properties": {"held": {"$ref": "#/definitions/held"}}},
        "open": {"patternProperties": {}},
    }
    grammar = Grammar.from_json_schema({"definitions": definitions, "properties": properties})
    first, *_, last = many
    value = f'{{"many": {{"{first}": [1], "{last}": {{"a": null}}}}}}'
    assert accepts(grammar, f'{{"inner": {{"held": {value}}}}}')
    assert not accepts(grammar, f'{{"inner": {{"held": {{"many": {{"{first}": [1}}}}}}}}')
