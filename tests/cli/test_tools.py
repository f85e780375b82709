"""Lists of tools, and schemas, as grammars of every command."""

import json
from pathlib import Path

import pytest

from kbnf_testing.command import Kbnf, Write

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CLOSED = {**SCHEMA, "additionalProperties": False}
TOOLS = [
    {"name": "get_weather", "input_schema": CLOSED},
    {"name": "now", "input_schema": {"type": "object", "additionalProperties": False}},
]
CALL = '{"name": "now", "arguments": {}}'


@pytest.fixture
def tools(write: Write) -> Path:
    return write("a.tools.json", json.dumps(TOOLS))


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["check"], "no problems in 1 file"),
        (["convert"], "get_weather | now"),
        (["convert", "--to", "gbnf"], 'root ::= get-weather | now'),
        (["convert", "--to", "lark"], "start: "),
        (["convert", "--tool", "now"], "now"),
        (["convert", "--tool-calls", "qwen_3"], "<tool_call>"),
        (["convert", "--tool-calls", "qwen_3", "--to", "structural-tag"], "triggered_tags"),
        (["convert", "--from", "tool-list"], "get_weather | now"),
        (["explain"], "get_weather"),
        (["mask"], "status"),
        (["mask", "--tool-calls", "llama"], "status"),
        (["sample", "-n", "2", "--tool", "now"], '"now"'),
        (["diagram"], "<svg"),
        (["play", "-c", "{"], "ongoing"),
    ],
    ids=" ".join,
)  # fmt: skip
def test_every_command_takes_a_list_of_tools(
    kbnf: Kbnf, tools: Path, arguments: list[str], text: str
) -> None:
    command, *options = arguments
    result = kbnf(command, tools, *options)
    assert (result.status, text in result.out + result.stderr) == (0, True)


def test_texts_and_languages_are_compared(kbnf: Kbnf, write: Write, tools: Path) -> None:
    assert kbnf("match", tools, write("call.txt", CALL)).status == 0
    assert kbnf("match", tools, "--tool", "get_weather", write("call.txt", CALL)).status == 1
    one = write("one.json", json.dumps(TOOLS[1:]))
    assert kbnf("diff", tools, one).status == 1
    assert kbnf("diff", tools, one, "--tool", "now").status == 0
    assert kbnf("compile", tools, "-o", "tools.kbnfc").status == 0
    assert kbnf("mask", "tools.kbnfc").status == 0


def test_an_option_of_tools_is_refused_for_others(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", json.dumps(SCHEMA))
    result = kbnf("mask", schema, "--tool", "now")
    assert (result.status, "--tool is for lists of tools" in result.stderr) == (2, True)
    result = kbnf("mask", write("g.kbnf", "start ::= 'a';"), "--tool-calls", "qwen_3")
    assert (result.status, "--tool-calls is for lists of tools" in result.stderr) == (2, True)


def test_schemas_and_tools_are_found_by_their_names(kbnf: Kbnf, write: Write, tools: Path) -> None:
    write("sub/b.schema.json", json.dumps({"propertes": {}}))
    write("sub/package.json", "{}")
    write("sub/other.json", "[]")
    result = kbnf("check", ".", "--format", "concise")
    assert "sub/b.schema.json:1:2: W821" in result.out
    assert "left out 2 other files in JSON" in result.stderr
    assert kbnf("check", ".", "--show-files").out.split() == [str(tools), "sub/b.schema.json"]
    assert "left out" not in kbnf("check", tools).stderr


def test_what_is_no_schema_is_said_to_be_none(kbnf: Kbnf, write: Write) -> None:
    package = write("package.json", '{"name": "x", "version": "1"}')
    assert "W827" in kbnf("check", package, "--format", "concise").out
    listed = write("list.json", '[{"a": 1}]')
    assert "E802" in kbnf("check", listed, "--format", "concise").out


def test_fixes_of_a_schema(kbnf: Kbnf, write: Write) -> None:
    schema = write("s.json", '{"type": "string", "maxlength": 3}')
    assert kbnf("check", schema, "--fix").status == 0
    assert "maxlength" in Path(schema).read_text()
    assert kbnf("check", schema, "--fix", "--unsafe-fixes").status == 0
    assert json.loads(Path(schema).read_text()) == {"type": "string", "maxLength": 3}


@pytest.mark.parametrize("format_", ["json", "sarif", "github", "junit", "concise", "text"])
def test_every_format_has_the_pointer(kbnf: Kbnf, write: Write, format_: str) -> None:
    schema = write("s.json", '{"items": {"maxlength": 3}}')
    assert "/items/maxlength" in kbnf("check", schema, "--format", format_).out
