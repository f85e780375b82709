"""Values of structural tags: calls of tools, free text, reasoning."""

import pickle
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, ParseError, Vocabulary, compile_artifact, load_artifact
from kbnf_core.languages.structural_tag.marks import tool_name
from kbnf_core.languages.structural_tag.models import table
from kbnf_testing.call_formats import EXAMPLES

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOLS = [{"name": "get_weather", "parameters": CITY}]
CALL = {"name": "get_weather", "arguments": {"city": "Paris"}}


def tag(**format_: Any) -> Grammar:
    return Grammar.from_structural_tag({"type": "structural_tag", "format": format_}, lossy=True)


def function(begin: str, end: str, schema: Any = CITY, **fields: Any) -> dict[str, Any]:
    content = {"type": "json_schema", "json_schema": schema, **fields}
    return {"type": "tag", "begin": begin, "content": content, "end": end}


@pytest.mark.parametrize("preset", table())
def test_the_example_of_each_preset_is_its_call(preset: str) -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls=preset)
    lead = "\n</think>\n\n\n\n" if preset == "minimax" else ""
    value = grammar.read_value(lead + EXAMPLES[preset])
    assert [part for part in value if part not in ("\n", "\n\n")] == [CALL]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("<function=get_weather>", "get_weather"),
        ('{"type": "function", "name": "get_weather", "parameters": ', "get_weather"),
        ("<|python_tag|>", "python_tag"),
        ("<tool_call>\n<function=get_weather>\n", "get_weather"),
        ('<tool_call>\n{"name": "get_weather", "arguments": ', "get_weather"),
        ("<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>", "get_weather"),
        ('<cofl:tool_call id="0" name="get_weather">', "get_weather"),
        (" to=functions.get_weather<|channel|>commentary json<|message|>", "get_weather"),
        ('<|open|>call tool="get_weather" index="0"<|sep|>', "get_weather"),
        ("[[", None),
        ("<a b>", None),
        (
            " to=functions.get_weather<|channel|>commentary <|constrain|>json<|message|>",
            "get_weather",
        ),
        ('{"name": "a\\"b", "arguments": ', 'a"b'),
        ("<function=ns:get-it>", "ns:get-it"),
        ("<f=a>", "a"),
    ],
)
def test_the_beginning_of_a_tag_names_the_tool(head: str, name: str | None) -> None:
    assert tool_name(head) == name


def test_free_text_is_around_calls_and_stops_where_one_may_begin() -> None:
    tags = [function("<f=a>", "</f>"), function("<f=b>", "</f>", True)]
    grammar = tag(type="triggered_tags", triggers=["<f="], tags=tags)
    text = 'One < <f= <f=a>{"city": "x</f>"}</f> two <f=b>[1]</f>'
    with pytest.raises(ParseError):
        grammar.read_value(text, exact=True)
    whole = ["One < <f= ", {"name": "a", "arguments": {"city": "x</f>"}}, " two "]
    assert grammar.read_value(text) == [*whole, {"name": "b", "arguments": [1]}]
    assert grammar.read_value("One <f", partial=True) == ["One "]
    assert grammar.read_value("One <fa", partial=True) == ["One <fa"]
    assert grammar.read_value('<f=a>{"city": "x', partial=True) == [
        {"name": "a", "arguments": {"city": "x"}}
    ]
    with pytest.raises(ParseError, match="too early"):
        grammar.read_value('<f=a>{"city": "x"}', exact=True)


def test_triggers_inside_of_others_end_text_where_they_begin() -> None:
    tags = [function("aab", "e", True), function("ab!", "e", True)]
    grammar = tag(type="triggered_tags", triggers=["aab", "ab!"], tags=tags)
    reader = grammar.value_reader()
    for char in "xaaab1e ab!2e a":
        reader.feed(char)
    reader.finish()
    assert reader.value == [
        "xa", {"name": "aab", "arguments": 1}, " ", {"name": "ab", "arguments": 2}, " a"
    ]  # fmt: skip


def test_the_older_form_dispatch_and_content_without_a_tag() -> None:
    older = {"structures": [{"begin": "<f=a>", "schema": CITY, "end": "</f>"}], "triggers": ["<f="]}
    text = 'hm <f=a>{"city": "é"}</f>'
    expected = ["hm ", {"name": "a", "arguments": {"city": "é"}}]
    assert Grammar.from_structural_tag(older).read_value(text) == expected
    rules = [["<x>", {"type": "json_schema", "json_schema": True}]]
    assert tag(type="dispatch", rules=rules).read_value("a<x>[]b") == [
        "a", {"name": None, "arguments": []}, "b"
    ]  # fmt: skip
    assert tag(type="json_schema", json_schema=CITY).read_value('{"city": ""}') == [
        {"name": None, "arguments": {"city": ""}}
    ]


def test_other_grammars_and_bounded_texts_are_text() -> None:
    elements = [
        {"type": "const_string", "value": "A:"},
        {"type": "any_text", "max_chars": 3, "excludes": ["B"]},
        {"type": "const_string", "value": "B:"},
        {"type": "regex", "pattern": "[0-9]+"},
        {"type": "const_string", "value": "C:"},
        {"type": "grammar", "grammar": 'root ::= "x" | "y"'},
    ]
    grammar = tag(type="sequence", elements=elements)
    assert grammar.read_value("A:abB:12C:y") == ["ab12y"]


def test_reasoning_is_told_from_text() -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="qwen_3", reasoning="enabled")
    text = f"so</think>\n\nhi{EXAMPLES['qwen_3']}"
    assert grammar.read_value(text) == [{"reasoning": "so"}, "hi", CALL]
    grammar = Grammar.from_tools(TOOLS, tool_calls="harmony", reasoning="auto")
    text = "<|channel|>analysis<|message|>so<|end|><|start|>assistant"
    text += "<|channel|>final<|message|>hi<|return|>"
    assert grammar.read_value(text) == [{"reasoning": "so"}, "hi"]


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        ({"type": "string"}, "\n 5 \n", " 5 "),
        ({"type": "string"}, "\n\n", ""),
        ({"type": "integer"}, " 5\n", 5),
        ({"type": ["integer", "string"]}, "\n5\n", 5),
        ({"type": ["integer", "string"]}, "\n5.5\n", "5.5"),
        ({"type": ["number", "null"]}, "null", None),
        ({"enum": ["a b", 1, True]}, "\na b\n", "a b"),
        ({"enum": ["a b", 1, True]}, "true", True),
        ({}, "\n5\n", "5"),
        ({}, '{"a": "</parameter>"}', {"a": "</parameter>"}),
        ({}, '{"a": "', '{"a": "'),
        ({"type": "object"}, '{"a": "</parameter>", "b": [1]}', {"a": "</parameter>", "b": [1]}),
        ({"type": "string", "pattern": "^a+$"}, " aa ", "aa"),
    ],
)
def test_arguments_in_xml_are_what_the_schema_says(schema: Any, text: str, value: Any) -> None:
    arguments = {"type": "object", "properties": {"x": schema}, "required": ["x"]}
    tools = [{"name": "f", "parameters": arguments}]
    grammar = Grammar.from_tools(tools, tool_calls="qwen_3_coder", lossy=True)
    whole = f"<tool_call>\n<function=f>\n<parameter=x>{text}</parameter>\n</function>\n</tool_call>"
    assert grammar.read_value(whole) == [{"name": "f", "arguments": {"x": value}}]
    reader = grammar.value_reader()
    for char in whole:
        reader.feed(char)
    assert reader.value == [{"name": "f", "arguments": {"x": value}}]


def test_tokens_are_read_with_a_vocabulary() -> None:
    vocabulary = Vocabulary(
        {0: b"a", 1: b'{"city": "b"}', 2: b"c"},
        special_tokens={"<call>": 3, "</call>": 4, "<eos>": 5},
        eos_token_id=5,
    )
    call = function("", "")
    call["begin"], call["end"] = (
        {"type": "token", "token": name} for name in ("<call>", "</call>")
    )
    format_ = {"type": "token_triggered_tags", "trigger_tokens": ["<call>"], "tags": [call]}
    grammar = Grammar.from_structural_tag(
        {"type": "structural_tag", "format": format_}, vocabulary=vocabulary
    )
    expected = ["ac", {"name": "call", "arguments": {"city": "b"}}, "a"]
    reader = grammar.value_reader(vocabulary)
    engine = Engine(grammar, vocabulary)
    for token in (0, 2, 3, 1, 4, 0):
        reader.feed(token)
        engine.try_accept_new_token(token)
        assert engine.values() == reader.value
    assert reader.value == expected
    engine.rollback(2)
    assert engine.values() == expected[:2]


def test_artifacts_say_what_values_are_made_of(tmp_path: Path) -> None:
    for preset in ("qwen_3_coder", "minimax_m3", "harmony"):
        grammar = Grammar.from_tools(TOOLS, tool_calls=preset)
        path = tmp_path / "tools.kbnfc"
        compile_artifact(grammar, None, path)
        again = load_artifact(path)
        assert again.read_value(EXAMPLES[preset]) == [CALL]
        compile_artifact(again, None, path)
        assert load_artifact(path).read_value(EXAMPLES[preset]) == [CALL]
        assert pickle.loads(pickle.dumps(grammar)).read_value(EXAMPLES[preset]) == [CALL]  # noqa: S301
