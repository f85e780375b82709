"""Formats that are derived from chat templates, held against calls of the caller's own tools."""

import json
from functools import cache
from typing import Any

import pytest

from kbnf_core import ConfigError, Grammar, GrammarError
from kbnf_core.convert import convert
from kbnf_core.languages import TOOL_LIST
from kbnf_core.languages.tools import chat_template, rendering, verify
from kbnf_core.lint.check import check
from kbnf_testing.templates import JSON_CALL, XML_VALUES, template

pytest.importorskip("jinja2")


@cache
def derived_format(text: str) -> str:
    return chat_template.derived_format(text)


NESTED = {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}


def tool(name: str, properties: dict[str, Any], *optional: str) -> dict[str, Any]:
    required = [each for each in properties if each not in optional]
    schema = {"type": "object", "properties": properties, "required": required}
    return {"name": name, "parameters": schema}


GOOD = [
    tool("get-weather", {"city": {"type": "string"}, "days": {"type": "integer"}}, "days"),
    tool("ns.find_it", {"o": NESTED, "l": {"type": "array", "items": {"enum": ["a", 'b"']}}}),
    tool("say", {"t": {"type": ["string", "null"]}, "yes": {"type": "boolean"}}),
    {"name": "noop"},
]


def json_call(arguments: str = "f.arguments | tojson", name: str = "f.name") -> str:
    return template(
        JSON_CALL.replace("f.arguments | tojson", f"({arguments})").replace("f.name", f"({name})")
    )


def xml_call(value: str) -> str:
    return template(XML_VALUES.replace("VALUE", value))


PLAIN_XML = xml_call("v if v is string else v | tojson")


@pytest.mark.parametrize("text", [json_call(), PLAIN_XML])
def test_tools_that_are_written_as_the_probes_are_taken(text: str) -> None:
    grammar = Grammar.from_tools(GOOD, tool_calls=derived_format(text), tool_choice="required")
    assert not grammar.is_endless


BAD = {
    "nested": (
        json_call("(f.arguments | tojson) if 'deep' not in f.arguments else f.arguments | string"),
        tool("bad", {"deep": NESTED}),
        "deep",
    ),
    "array": (
        xml_call(
            "v if v is string else ((v | tojson) if v is mapping or v is boolean"
            " or v is number else v | join)"
        ),
        tool("bad", {"a": {"type": "array", "items": {"type": "integer"}, "minItems": 2}}),
        "<parameter=a>",
    ),
    "quotes": (
        json_call(
            """(f.arguments | tojson) if 'note' not in f.arguments"""
            """ else '{"note": "' + f.arguments.note + '"}'"""
        ),
        tool("bad", {"note": {"const": 'say "hi"'}}),
        'say "hi"',
    ),
    "dash": (
        json_call(name="f.name | replace('-a', '_a')"),
        tool("bad-arg", {"x": {"type": "string"}}),
        "bad_arg",
    ),
    "no arguments": (
        json_call("(f.arguments | tojson) if f.name != 'bad' else '[]'"),
        {"name": "bad"},
        '"arguments": []',
    ),
    "a number": (
        json_call("(f.arguments | tojson) if 'n' not in f.arguments else '{\"n\": 1_0}'"),
        tool("bad", {"n": {"type": "integer"}}),
        "1_0",
    ),
}
"""Templates that write the probes well, and calls of one tool not."""


@pytest.mark.parametrize("case", BAD)
def test_a_format_that_fails_for_one_tool_is_refused(case: str) -> None:
    text, bad, shown = BAD[case]
    made = derived_format(text)
    Grammar.from_tools(GOOD[:1], tool_calls=made)
    with pytest.raises(GrammarError) as refused:
        Grammar.from_tools([GOOD[0], bad], tool_calls=made)
    [found] = refused.value.diagnostics
    assert found.code == "E824"
    assert f"/1: the chat template renders a call of `{bad['name']}`" in found.message
    assert shown in found.message
    assert len(found.message) < 600


def test_wrong_calls_that_a_format_takes_are_found() -> None:
    made = json.loads(derived_format(json_call()))
    for shared in made["shared"]:
        if shared.get("json_schema") == "{schema}":
            shared["json_schema"] = {"type": "object"}
    made = json.loads(json.dumps(made).replace('"json_schema": "{schema}"', '"json_schema": true'))
    with pytest.raises(
        GrammarError, match="the format accepts a call of `get-weather` with an arg"
    ):
        Grammar.from_tools(GOOD[:1], tool_calls=json.dumps(made))


def test_every_road_refuses() -> None:
    text, bad, _ = BAD["nested"]
    listed = json.dumps([bad])
    options: dict[str, Any] = {"tool_calls": derived_format(text)}
    found = check(listed, language=TOOL_LIST, language_options=options)
    assert [each.code for each in found if each.code == "E824"] == ["E824"]
    with pytest.raises(GrammarError, match="differently from the format"):
        convert(listed, TOOL_LIST, options=options)
    request = json.dumps({"model": "m", "messages": [], "tools": [{"type": "function", **bad}]})
    with pytest.raises(GrammarError, match=r"/tools/0: the chat template renders"):
        Grammar.from_tools(request, **options)
    Grammar.from_tools(request, **options, tool_choice="none")


def test_other_forms_of_lists_and_their_options() -> None:
    made = derived_format(PLAIN_XML)
    mcp = {"tools": [{"name": "a-b", "inputSchema": NESTED}, {"name": "c", "inputSchema": {}}]}
    Grammar.from_tools(json.dumps(mcp), tool_calls=made)
    custom = [{"type": "custom", "name": "go"}]
    Grammar.from_tools(custom, tool_calls=made)
    for options in ({"closed": False}, {"whitespace": "compact"}, {"order": "any"}):
        Grammar.from_tools(GOOD, tool_calls=made, **options)


def test_python_words_are_taken_and_read_back() -> None:
    made = derived_format(
        xml_call("v if v is string else v | tojson if v is iterable else v | string")
    )
    assert '"words": "python"' in made
    grammar = Grammar.from_tools(GOOD, tool_calls=made, tool_choice="say")
    for word, meant in (("True", True), ("false", False)):
        text = (
            "<tool_call>\n<function=say>\n<parameter=t>\nNone\n</parameter>\n"
            f"<parameter=yes>\n{word}\n</parameter>\n</function>\n</tool_call>"
        )
        [call] = grammar.read_value(text)
        assert call["arguments"]["yes"] is meant
        assert call["arguments"]["t"] is None


def test_a_format_that_reads_other_values_than_were_written_is_refused() -> None:
    made = derived_format(
        xml_call("v if v is string else v | tojson if v is iterable else v | string")
    )
    tools = [tool("say", {"t": {"type": ["string", "null"]}})]
    Grammar.from_tools(tools, tool_calls=made)
    with pytest.raises(GrammarError) as refused:
        Grammar.from_tools(tools, tool_calls=made.replace(', "words": "python"', ""))
    [found] = refused.value.diagnostics
    assert found.code == "E824"
    assert 'a call of `say` with {"t": null} is read as [{"t": "None"}]' in found.message


@pytest.mark.parametrize(
    ("schema", "written", "read", "name"),
    [
        ({"x": {"type": "integer"}}, {"x": 3}, {"x": 3.0}, None),
        ({"x": {"type": "boolean"}}, {"x": True}, {"x": 1}, "x"),
        ({"x": {"type": ["string", "null"]}}, {"x": None}, {"x": "None"}, "x"),
        ({"x": {"type": ["string", "null"]}}, {"x": "None"}, {"x": None}, None),
        ({"x": {"type": ["string", "integer"]}}, {"x": 3}, {"x": "3"}, "x"),
        ({"x": {}}, {"x": 3}, {"x": "3"}, None),
        ({"x": {}}, {"x": None}, {"x": "None"}, None),
        ({"x": {}}, {"x": 3}, {"x": "4"}, "x"),
        ({"x": {"type": "string"}}, {"x": " a\n"}, {"x": "a"}, None),
        ({"x": {"type": "string"}}, {"x": "a"}, {"x": "b"}, "x"),
        ({"x": {"type": "null"}}, {"x": None}, {}, None),
        ({"x": {"type": "string"}}, {"x": "a"}, {}, "x"),
        ({}, {}, {"y": 1}, ""),
    ],
)
def test_values_that_are_read_otherwise_are_told(
    schema: Any, written: Any, read: Any, name: str | None
) -> None:
    of_object = {"type": "object", "properties": schema}
    assert verify.differing(of_object, written, read) == name


def test_the_work_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    made = derived_format(json_call())
    monkeypatch.setattr(verify, "_MOST_TOOLS", 3)
    seen: list[int] = []

    def count(function: Any, functions: Any, calls: Any) -> Any:
        seen.append(len(functions))
        return rendering.in_process(function, functions, calls)

    monkeypatch.setattr(verify, "in_process", count)
    Grammar.from_tools([{"name": f"t{n}"} for n in range(20)], tool_calls=made)
    assert seen == [3]


def test_a_template_that_takes_long_for_a_tool_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = "{%- if f.name == 'slow' %}{%- for a in range(99999) %}{%- for b in range(99999) %}"
    made = derived_format(
        template(f"{slow}{{%- endfor %}}{{%- endfor %}}{{%- endif %}}{JSON_CALL}")
    )
    monkeypatch.setattr(rendering, "SECONDS", 1.0)
    with pytest.raises(GrammarError, match="the chat template takes too long"):
        Grammar.from_tools([{"name": "slow"}], tool_calls=made)


@pytest.mark.parametrize("value", [3, {}, {"text": "x"}, []])
def test_what_is_no_template_of_a_format_is_refused(value: Any) -> None:
    made = {**json.loads(derived_format(json_call())), "chat_template": value}
    with pytest.raises(ConfigError, match="`chat_template` of a format has text, tokens"):
        Grammar.from_tools(GOOD, tool_calls=json.dumps(made))


def test_what_a_format_cannot_write_is_said_as_such() -> None:
    schema = {"type": "object", "patternProperties": {"^x": {}}, "additionalProperties": False}
    with pytest.raises(GrammarError) as refused:
        Grammar.from_tools(
            [{"name": "p", "parameters": schema}], tool_calls=derived_format(PLAIN_XML)
        )
    assert {each.code for each in refused.value.diagnostics} == {"E442"}
