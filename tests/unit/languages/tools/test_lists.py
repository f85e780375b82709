"""Lists of tools in each form: what is found, at which pointer, and which calls are allowed.

Each file here has the lists of one form. ``findings`` are all that a check says, by code and
pointer; ``calls`` are texts that the grammar takes, ``refused`` some that it does not.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Engine, Vocabulary
from kbnf_core.convert import convert
from kbnf_core.grammar import Grammar
from kbnf_core.languages import TOOL_LIST, detect
from kbnf_core.languages.json_schema import SchemaLimits
from kbnf_core.languages.tools.detect import is_tool_list
from kbnf_core.lint import LintOptions
from kbnf_core.lint.check import check
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import read_page
from kbnf_core.text.errors import GrammarError, RejectedError

HERE = Path(__file__).parent
LISTS: dict[str, dict[str, Any]] = {
    f"{file.stem}: {each['title']}": each
    for file in sorted(HERE.glob("*.json"))
    for each in json.loads(file.read_text(encoding="utf-8"))
}
USABLE = [name for name, case in LISTS.items() if case["calls"]]
BYTES = Vocabulary.bytes()


def takes(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, BYTES)
    try:
        engine.try_accept_new_bytes(text.encode())
    except RejectedError:
        return False
    return engine.is_finished() or engine.can_finish()


@pytest.mark.parametrize("name", LISTS)
def test_findings_are_at_their_pointers(name: str) -> None:
    case = LISTS[name]
    text = json.dumps(case["list"], indent=2, ensure_ascii=False)
    assert detect(text, "tools.json") is TOOL_LIST
    found = check(text, "tools.json", language=TOOL_LIST)
    assert sorted([each.code, each.pointer] for each in found) == sorted(case["findings"])
    assert all(each.message.startswith(f"{each.pointer}: ") for each in found)
    errors = [each for each in found if each.code.startswith("E")]
    if errors:
        with pytest.raises(GrammarError) as caught:
            convert(text, TOOL_LIST, lossy=False)
        assert {each.message for each in caught.value.diagnostics} == {e.message for e in errors}
    else:
        assert {each.message for each in convert(text, TOOL_LIST).notes} == {
            each.message for each in found
        }


@pytest.mark.parametrize("name", USABLE)
def test_calls_of_the_tools_are_taken(name: str) -> None:
    case = LISTS[name]
    grammar = Grammar.from_tools(case["list"])
    again = Grammar(grammar.to_kbnf())
    for text in case["calls"]:
        assert takes(grammar, text), text
        assert takes(again, text), text
    for text in case["refused"]:
        assert not takes(grammar, text), text
        assert not takes(again, text), text


@pytest.mark.parametrize("name", USABLE)
def test_one_tool_is_called_alone(name: str) -> None:
    case = LISTS[name]
    wanted = json.loads(case["calls"][0])["name"]
    grammar = Grammar.from_tools(case["list"], tool=wanted)
    for text in case["calls"]:
        assert takes(grammar, text) == (json.loads(text)["name"] == wanted)


def test_there_are_ten_lists_in_each_form() -> None:
    counts = {each.stem: len(json.loads(each.read_text("utf-8"))) for each in HERE.glob("*.json")}
    assert counts.keys() == {"chat", "responses", "anthropic", "gemini", "mcp"}
    assert min(counts.values()) >= 10


@pytest.mark.parametrize("code", ["E824", "W825", "I826"])
def test_page_examples(code: str) -> None:
    page = read_page(CATALOGUE[code])
    wrong, right = re.findall(r"^```json\n(.*?)\n```$", page, re.M | re.S)
    assert code in {each.code for each in check(wrong, language=TOOL_LIST)}
    assert check(right, language=TOOL_LIST) == []


def test_markers_that_are_no_tokens_are_remarked() -> None:
    tool = '[{"name": "now", "input_schema": {"type": "object"}}]'

    def found(tokens: dict[int, bytes], special: dict[str, int], name: str) -> list[str]:
        options = LintOptions(vocabulary=Vocabulary(tokens, special_tokens=special))
        wanted = {"tool_calls": name}
        every = check(tool, language=TOOL_LIST, options=options, language_options=wanted)
        return [f"{each.message} {each.helps}" for each in every if each.code == "I828"]

    letters = {value: bytes((value,)) for value in range(256)}
    (alone,) = found(letters, {}, "qwen_3")
    assert "none of its markers is a token" in alone
    (some,) = found({**letters, 256: b"<tool_call>"}, {"</tool_call>": 257}, "qwen_3")
    assert "`</think>`, `<think>` are text" in some
    assert "none of" not in some
    thoughts = {"<think>": 258, "</think>": 259}
    assert not found({**letters, 256: b"<tool_call>"}, {"</tool_call>": 257, **thoughts}, "qwen_3")
    assert not check(tool, language=TOOL_LIST, options=LintOptions(vocabulary=Vocabulary(letters)))


LOOPS = {"whitespace": "flexible", "digits": "any"}


@pytest.mark.parametrize("preset", [None, "qwen_3", "qwen_3_coder", "cohere", "harmony"])
def test_endless_loops_are_found_at_the_tool(preset: str | None) -> None:
    schema = {"type": "object", "properties": {"x": {"type": "number"}}}
    text = json.dumps([{"name": "now", "input_schema": schema}])
    for options, codes in (({}, set()), (LOOPS, {"W302", "I303"})):
        own = {**options, "closed": True, **({} if preset is None else {"tool_calls": preset})}
        found = check(text, language=TOOL_LIST, language_options=own)
        assert {each.code for each in found} == codes
        assert (
            all(each.pointer and each.pointer.startswith("/0") for each in found) or preset is None
        )
        written = convert(text, TOOL_LIST, options=own).text
        assert {each.code for each in check(written)} <= codes


@pytest.mark.parametrize(
    ("tool", "pointer"),
    [
        ({"name": "a", "input_schema": {}, "parameters": {"type": "object"}}, "/0/parameters"),
        ({"name": "a", "inputSchema": {}, "parameters": {"type": "object"}}, "/0/parameters"),
        (
            {"functionDeclarations": [{"name": "a"}], "function_declarations": [{"name": "b"}]},
            "/0/function_declarations",
        ),
        (
            {"functionDeclarations": [{"name": "a", "parameters": {"type": "OBJECT"},
                                       "parametersJsonSchema": {"type": "object", "title": "t"}}]},
            "/0/functionDeclarations/0/parametersJsonSchema",
        ),
    ],
)  # fmt: skip
def test_two_names_for_one_thing_are_an_error_unless_they_agree(
    tool: dict[str, Any], pointer: str
) -> None:
    found = check(json.dumps([tool]), language=TOOL_LIST)
    errors = [(each.code, each.pointer) for each in found if each.code.startswith("E")]
    assert errors == [("E824", pointer)]
    same = {"name": "a", "input_schema": {"type": "object"}, "parameters": {"type": "object"}}
    assert check(json.dumps([same]), language=TOOL_LIST) == []


@pytest.mark.parametrize("preset", [None, "qwen_3"])
def test_many_tools_are_refused_before_they_are_read(preset: str | None) -> None:
    schema = {"type": "object", "properties": {"p": {"type": "wrong"}}}
    tools = [{"name": f"t{number}", "input_schema": schema} for number in range(20_000)]
    options: dict[str, Any] = {} if preset is None else {"tool_calls": preset}
    found = check(json.dumps(tools), language=TOOL_LIST, language_options=options)
    assert [each.code for each in found] == ["E804"]
    assert "more than 4,000 tools" in found[0].message
    few = Grammar.from_tools(
        [{"name": "a"}, {"name": "b"}], schema_limits=SchemaLimits(tools=2), **options
    )
    assert few.start
    with pytest.raises(GrammarError, match="more than 1 tools"):
        Grammar.from_tools(
            [{"name": "a"}, {"name": "b"}], schema_limits=SchemaLimits(tools=1), **options
        )


OLD = "http://json-schema.org/draft-07/schema#"
OF_OBJECTS: list[Any] = [
    True,
    {},
    {"description": "d"},
    {"properties": {"x": {"type": "integer"}}},
    {"$ref": "#/$defs/a", "$defs": {"a": {}}},
    {"$ref": "#/definitions/a", "definitions": {"a": {}}, "$schema": OLD},
    {"type": ["object", "null"]},
    {"anyOf": [{}, {"type": "string"}]},
]
"""Schemas of arguments that do not say that these are an object, or not only that."""


@pytest.mark.parametrize("schema", OF_OBJECTS, ids=json.dumps)
@pytest.mark.parametrize("form", ["inputSchema", "parameters", "input_schema"])
def test_arguments_are_an_object_whatever_the_schema_says(form: str, schema: Any) -> None:
    tools = [{"name": "f", form: schema}]
    found = Grammar.from_tools(tools)
    assert takes(found, '{"name": "f", "arguments": {}}')
    for value in ("3", "null", '"a"', "[]", "true"):
        assert not takes(found, f'{{"name": "f", "arguments": {value}}}')
    if "anyOf" in (schema if isinstance(schema, dict) else ()):
        return
    for preset in ("qwen_3", "qwen_3_5", "cohere", "gemma_4", "lfm2", "minimax_m3"):
        required = Grammar.from_tools(tools, tool_calls=preset, tool_choice="required")
        text = Engine(required, BYTES).shortest_completion().data
        assert text is not None
        [call] = Grammar.from_tools(tools, tool_calls=preset).read_value(text)
        assert call == {"name": "f", "arguments": {}}


def test_a_tool_whose_schema_allows_everything_is_one_of_the_list() -> None:
    tools = [{"name": "a", "inputSchema": True}, {"name": "b", "inputSchema": {"type": "object"}}]
    for listed in (tools, tools[:1], {"tools": tools}, tools[0]):
        assert is_tool_list(listed)
    found = Grammar.from_tools(tools)
    assert takes(found, '{"name": "a", "arguments": {"x": 1}}')
    assert takes(found, '{"name": "b", "arguments": {}}')
