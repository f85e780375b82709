"""Servers' readers of calls: no mode of generation, and one bad schema harms its own parameter."""

import json
from typing import Any

import pytest

from kbnf_core.integrations.tool_calls import ToolCalls
from kbnf_core.languages.structural_tag.models import table
from kbnf_testing.rendered_calls import NAME, written

GOOD = {"n": {"type": "integer"}, "on": {"type": "boolean"}}
UNUSABLE: list[Any] = [
    {"type": "float"},
    {"type": "str"},
    {"type": "any"},
    {"$ref": "https://example.org/a.json"},
    {"$ref": "#/nowhere"},
    {"$schema": "http://json-schema.org/draft-04/schema#", "type": "string"},
    {"type": "string", "format": "date"},
    {"type": "string", "pattern": "("},
    {"minLength": "two"},
]


def tool(name: str, properties: dict[str, Any]) -> dict[str, Any]:
    return {"name": name, "parameters": {"type": "object", "properties": properties}}


@pytest.mark.parametrize("preset", table())
def test_a_bad_schema_of_another_tool_changes_nothing(preset: str) -> None:
    for schema in UNUSABLE:
        tools = [tool(NAME, GOOD), tool("bad", {"x": schema})]
        _, calls = ToolCalls(preset, tools).whole(written(preset, {"n": 3, "on": True}))
        assert [each["name"] for each in calls] == [NAME], schema
        assert json.loads(calls[0]["arguments"]) == {"n": 3, "on": True}, schema


@pytest.mark.parametrize("preset", table())
def test_a_bad_schema_harms_its_own_parameter_only(preset: str) -> None:
    for schema in UNUSABLE:
        tools = [tool(NAME, {**GOOD, "x": schema})]
        arguments = {"n": 3, "on": True, "x": "2026-01-01"}
        _, calls = ToolCalls(preset, tools).whole(written(preset, arguments))
        assert [each["name"] for each in calls] == [NAME], schema
        assert json.loads(calls[0]["arguments"]) == arguments, schema


@pytest.mark.parametrize("preset", table())
def test_readers_ask_for_no_thoughts(preset: str) -> None:
    tools = [tool(NAME, {"city": {"type": "string"}})]
    call = written(preset, {"city": "Köln"})
    for text in (call, call.lstrip()):
        _, calls = ToolCalls(preset, tools).whole(text)
        assert [json.loads(each["arguments"]) for each in calls] == [{"city": "Köln"}]


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "float"}, '/properties/x/type: there is no type "float"'),
        ({"minLength": "two"}, "/properties/x/minLength"),
        ({"$ref": "#/nowhere"}, "`#/nowhere` leads nowhere"),
        ({"type": "string"}, ""),
        ({"$ref": "#/properties/n"}, ""),
        ({"$ref": "#n"}, "`#n` leads nowhere"),
        ({"anyOf": [{"$ref": "#m"}, {"$anchor": "m", "type": "string"}]}, ""),
        ({"$ref": "https://example.org/other"}, ""),
    ],
)
def test_the_log_names_a_schema_that_is_not_used(
    schema: Any, problem: str, caplog: pytest.LogCaptureFixture
) -> None:
    # Each schema is in the log once: this one is that of no other test.
    tools = [tool(NAME, {"z": {}, **GOOD, "x": schema}), tool("other", {"x": {"type": "str"}})]
    for _ in range(2):
        ToolCalls("qwen_3", tools).whole(written("qwen_3", {"n": 3}))
    messages = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert len(messages) == bool(problem)
    assert not problem or (problem in messages[0] and repr(NAME) in messages[0])
