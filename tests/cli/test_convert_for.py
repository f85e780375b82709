"""``kbnf convert SCHEMA --for ENGINE``."""

import json

import pytest

from kbnf_testing.command import Kbnf, Write

pytest.importorskip("llguidance")

SCHEMA = '{"type": "string", "pattern": "^(?!tmp)[a-z]+$"}'


def test_a_schema_that_the_engine_takes_is_written(kbnf: Kbnf, write: Write) -> None:
    file = write("a.json", SCHEMA)
    result = kbnf("convert", file, "--for", "llguidance")
    assert result.status == 0
    assert "(?" not in json.loads(result.out)["pattern"]
    assert "/pattern: the pattern written as a plain expression (proved equal)" in result.stderr
    assert kbnf("convert", file, "--target", "llguidance").out == result.out


def test_what_cannot_be_rewritten_is_an_error(kbnf: Kbnf, write: Write) -> None:
    file = write("a.json", '{"type": "array", "uniqueItems": true}')
    result = kbnf("convert", file, "--for", "llguidance")
    assert (result.status, result.out) == (1, "")
    assert "E503" in result.stderr


def test_it_is_for_schemas(kbnf: Kbnf, write: Write) -> None:
    result = kbnf("convert", write("a.kbnf", "start ::= 'a';\n"), "--for", "llguidance")
    assert result.status == 2
    assert "needs a JSON Schema" in result.stderr
    result = kbnf("convert", write("a.json", SCHEMA), "--for", "llguidance", "--to", "gbnf")
    assert result.status == 2


def test_a_list_of_tools_is_written_with_what_was_at_fault_rewritten(
    kbnf: Kbnf, write: Write
) -> None:
    tools = [
        {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}},
        {
            "type": "function",
            "function": {
                "name": "b",
                "parameters": {"type": "object", "properties": {"x": json.loads(SCHEMA)}},
            },
        },
    ]
    result = kbnf("convert", write("t.json", json.dumps(tools)), "--for", "llguidance")
    written = json.loads(result.out)
    assert written[0] == tools[0]
    assert "(?" not in written[1]["function"]["parameters"]["properties"]["x"]["pattern"]
    assert "/1/function/parameters/properties/x/pattern: the pattern" in result.stderr
