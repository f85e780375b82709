"""The presets of tool calls, on their own examples; `tests/differential` compares XGrammar's."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import (
    ConfigError,
    Engine,
    Grammar,
    GrammarError,
    Vocabulary,
    check,
    compile_artifact,
    load_artifact,
)
from kbnf_core.convert import from_structural_tag
from kbnf_core.languages import TOOL_LIST
from kbnf_core.languages.structural_tag.models import (
    ALIASES,
    OWN,
    Calls,
    format_of,
    table,
)
from kbnf_core.languages.structural_tag.presets import tool_calls
from kbnf_core.text.errors import KbnfError
from kbnf_testing.call_formats import EXAMPLES
from kbnf_testing.membership import Language

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
}
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "get_weather", "parameters": CITY}},
    {"name": "get_time"},
]


def language(preset: str, **settings: Any) -> Language:
    conversion = from_structural_tag(json.dumps(tool_calls(preset, TOOLS, **settings)))
    assert conversion.exact
    return Language(conversion.text)


def test_every_format_names_its_models_and_has_an_example() -> None:
    assert table().keys() == EXAMPLES.keys()
    assert all(each["models"] for each in table().values())


@pytest.mark.parametrize("preset", EXAMPLES)
def test_a_format_takes_its_example_and_no_other_tool(preset: str) -> None:
    lead = "\n</think>\n\n\n\n" if preset == "minimax" else ""
    call = lead + EXAMPLES[preset]
    for choice in ("auto", "required", "get_weather"):
        found = language(preset, choice=choice)
        assert found.has(call)
        assert not found.has(call.replace("get_weather", "get_water"))
    assert not language(preset, choice="get_time").has(call)
    assert not language(preset).has(call.replace("city", "town"))


THOUGHTS = {
    "minimax_m3": ("<mm:think>", "</mm:think>"),
    "gemma_4": ("<|channel>thought\n", "<channel|>"),
    "mistral": ("[THINK]", "[/THINK]"),
    "nemotron": ("<think>\n", "\n</think>\n\n"),
    "nemotron_3": ("<think>", "</think>\n"),
    "glm_4_5": ("\n<think>", "</think>\n"),
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "kimi_k3": (
        "<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>",
    ),
    **dict.fromkeys(
        ("qwen_3", "qwen_3_5", "qwen_3_coder", "minimax", "exaone"), ("<think>", "</think>\n\n")
    ),
}  # fmt: skip


NO_THOUGHTS = {name for name, (_, _, thoughts) in OWN.items() if thoughts is None}


@pytest.mark.parametrize("preset", sorted(EXAMPLES.keys() - NO_THOUGHTS - {"llama", "harmony"}))
def test_reasoning_leads_the_calls(preset: str) -> None:
    thoughts = OWN[preset][2] if preset in OWN else None
    default = (thoughts.begin, thoughts.end) if thoughts else ("<think>", "</think>")
    begin, end = THOUGHTS.get(preset, default)
    call = EXAMPLES[preset]
    enabled = language(preset, reasoning="enabled")
    of_own = {
        name for name, (_, _, thoughts) in OWN.items() if thoughts and not thoughts.is_prompted
    }
    assert enabled.has(f"{begin if preset in ('mimo', *of_own) else ''}So be it.{end}{call}")
    assert not enabled.has(call)
    maybe = language(preset, reasoning="auto")
    assert maybe.has(f"{begin}So be it.{end}{call}")
    without = {"kimi_k3": "<|open|>response<|sep|>", "minimax_m3": "</mm:think>"}
    assert maybe.has(without.get(preset, "") + call)


@pytest.mark.parametrize("preset", sorted(NO_THOUGHTS))
def test_models_that_do_not_reason_have_no_thoughts(preset: str) -> None:
    assert language(preset, reasoning="auto").has(EXAMPLES[preset])
    with pytest.raises(ConfigError, match="nothing for `auto enabled`"):
        language(preset, reasoning="enabled")


def test_the_line_break_that_a_template_adds_after_the_last_call_may_be_left_out() -> None:
    calls = Calls("<call>", " ", "</call>\n")
    for around in (calls, replace(calls, before="<calls>\n", after="</calls>\n", separator="")):
        name = json.dumps(format_of(around, None))
        one, two = (around.texts("{}", names) for names in (["get_time"], ["get_time"] * 2))
        for choice in ("auto", "required", "get_time"):
            for text in (one, one.rstrip()):
                for parallel in (True, False):
                    assert language(name, choice=choice, parallel=parallel).has(text)
        assert language(name).has(two.rstrip())
        assert not language(name, parallel=False).has(two)


IN_XML = ["qwen_3_coder", "glm_4_7", "minimax", "deepseek_v3_2", "kimi_k3", "cohere"]
TWO: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "string"}},
    "required": ["a", "b"],
}


def arguments_in(preset: str, tool: dict[str, Any], **options: Any) -> str:
    """Return the shortest call of a tool."""
    grammar = Grammar.from_tools(
        [tool], tool_calls=preset, tool_choice="f", lossy=True, closed=True, **options
    )
    text = Engine(grammar, Vocabulary.bytes(), finish="eos").shortest_completion().data
    assert text is not None
    return text.decode()


@pytest.mark.parametrize("preset", IN_XML)
def test_arguments_in_xml_are_written_in_one_order_and_read_in_any(preset: str) -> None:
    turned = {**TWO, "properties": dict(reversed(TWO["properties"].items()))}
    text = arguments_in(preset, {"name": "f", "parameters": turned})
    tools = [{"name": "f", "parameters": TWO}]
    grammar = Grammar.from_tools(tools, tool_calls=preset, tool_choice="f", lossy=True)
    assert not Language(grammar.to_kbnf()).has(text)
    reader = grammar.value_reader()
    reader.feed(text)
    reader.finish()
    [call] = [each for each in reader.value if isinstance(each, dict)]
    assert call["name"] == "f"
    assert call["arguments"].keys() == {"a", "b"}
    any_order = Grammar.from_tools(
        tools, tool_calls=preset, tool_choice="f", order="any", lossy=True
    )
    assert Language(any_order.to_kbnf()).has(text)


@pytest.mark.parametrize("preset", [each for each in IN_XML if each != "kimi_k3"])
def test_what_is_named_is_no_other_argument_in_xml(preset: str) -> None:
    wrong = {**TWO, "properties": {**TWO["properties"], "a": {"type": "boolean"}}}
    text = arguments_in(preset, {"name": "f", "parameters": wrong})
    optional_ = {**TWO, "required": ["b"]}
    grammar = Grammar.from_tools(
        [{"name": "f", "parameters": optional_}],
        tool_calls=preset, tool_choice="f", closed=False, order="any", lossy=True,
    )  # fmt: skip
    assert not Language(grammar.to_kbnf()).has(text)


def test_text_may_stand_around_calls_that_need_not_come() -> None:
    call = EXAMPLES["qwen_3"]
    found = language("qwen_3")
    assert found.has(f"Let me see.\n{call}\n{call}")
    assert found.has("It is sunny.")
    assert not language("qwen_3", choice="required").has("It is sunny.")
    once = language("qwen_3", parallel=False)
    assert once.has(f"Let me see.\n{call}")
    assert not once.has(f"{call}\n{call}")
    assert language("qwen_3", choice="none").has("It is sunny.")


@pytest.mark.parametrize("preset", EXAMPLES)
def test_where_no_tool_is_called_no_text_has_a_call(preset: str) -> None:
    lead = "\n</think>\n\n\n\n" if preset == "minimax" else ""
    none, free = (language(preset, choice=each) for each in ("none", "auto"))
    for call in (EXAMPLES[preset], f"Hm. {EXAMPLES[preset]}"):
        assert not none.has(lead + call)
    assert language(preset, choice="none", parallel=False).has("") == none.has("")
    texts = ("It is sunny.", "<tool_cal {", "[TOOL")
    assert any(none.has(lead + each) for each in texts) == any(
        free.has(lead + each) for each in texts
    )


def test_a_tool_that_is_not_strict_keeps_its_schema() -> None:
    tools = [{"function": {**TOOLS[0]["function"], "strict": False}}]
    text = from_structural_tag(json.dumps(tool_calls("qwen_3", tools))).text
    assert Language(text).has(EXAMPLES["qwen_3"])
    assert not Language(text).has(EXAMPLES["qwen_3"].replace("city", "town"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "gpt"}, r"there is no format 'gpt'; did you mean `gpt-oss`\?"),
        ({"preset": "xyz"}, "there is no format 'xyz'; there are llama, "),
        ({"choice": "get_tim"}, "`choice` is one of auto, required, none, get_weather, get_time"),
        ({"reasoning": "on"}, "`reasoning` is one of disabled, enabled, auto, not 'on'"),
        ({"tools": [], "choice": "required"}, "a call is required, and there are no tools"),
        ({"tools": [{"function": 1}]}, "a tool is an object with a `name` and `parameters`"),
    ],
)
def test_a_setting_that_is_none_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        tool_calls(**{"preset": "llama", "tools": TOOLS, **settings})


def shortest(grammar: Grammar) -> bytes:
    data = Engine(grammar, Vocabulary.bytes()).shortest_completion().data
    assert data is not None
    return data


WIRES = [
    "<|channel|>commentary to=functions.get_time <|constrain|>json<|message|>{}<|call|>",
    "<|channel|>commentary to=functions.get_time<|message|>{}<|call|>",
    "<|channel|>analysis to=functions.get_time <|constrain|>json<|message|>{}<|call|>",
    "<|channel|>analysis to=functions.get_time<|message|>{}<|call|>",
    " to=functions.get_time<|channel|>analysis<|message|>{}<|call|>",
    " to=functions.get_time<|channel|>commentary json<|message|>{}<|call|>",
]


@pytest.mark.parametrize("call", WIRES)
@pytest.mark.parametrize("choice", ["auto", "required", "get_time"])
def test_calls_of_gpt_oss_are_taken_as_it_writes_them(call: str, choice: str) -> None:
    for reasoning, parallel in (("disabled", True), ("enabled", True), ("auto", False)):
        found = language("harmony", choice=choice, reasoning=reasoning, parallel=parallel)
        assert found.has(call)
        thought = f"<|channel|>analysis<|message|>so<|end|><|start|>assistant{call}"
        assert found.has(thought) == (reasoning != "disabled")
        assert found.has(f"{call}<|start|>assistant{call}") == parallel
        preamble = "<|channel|>commentary<|message|>I look.<|end|>"
        assert found.has(f"{preamble}<|start|>assistant{call}")
        assert found.has(preamble) == (choice == "auto")
        if choice != "auto":
            assert not found.has("")
            assert not found.has("<|channel|>analysis<|message|>so<|end|>")


@pytest.mark.parametrize("preset", ["qwen_3_coder", "qwen_3_5"])
def test_a_call_without_arguments_is_as_the_template_of_qwen_writes_it(preset: str) -> None:
    found = language(preset, choice="required")
    assert found.has("<tool_call>\n<function=get_time>\n</function>\n</tool_call>")
    assert not found.has("<tool_call>\n<function=get_time>\n\t\t</function>\n</tool_call>")


@pytest.mark.parametrize("preset", EXAMPLES)
def test_a_tool_without_parameters_has_no_arguments(preset: str) -> None:
    tag = tool_calls(preset, TOOLS, choice="get_time")
    grammar = Grammar.from_structural_tag(tag, lossy=True)
    text = shortest(grammar)
    assert grammar.read_value(text)[-1] == {"name": "get_time", "arguments": {}}
    if b"{}" in text:
        assert not Language(grammar.to_kbnf()).has(text.decode().replace("{}", "0"))
        assert not Language(grammar.to_kbnf()).has(text.decode().replace("{}", '{"a":1}'))


@pytest.mark.parametrize("preset", ["qwen_3", "llama", "exaone"])
def test_a_name_is_escaped_where_it_is_a_string_of_json(preset: str) -> None:
    tools = [{"name": 'a"b\\c', "parameters": CITY}]
    grammar = Grammar.from_tools(tools, tool_calls=preset, tool_choice="required")
    text = shortest(grammar)
    assert b'"a\\"b\\\\c"' in text
    assert grammar.read_value(text) == [{"name": 'a"b\\c', "arguments": {"city": ""}}]


@pytest.mark.parametrize(
    ("preset", "name", "message"),
    [
        ("qwen_3", "a</tool_call>", "contains `</tool_call>`, a marker"),
        ("qwen_3_coder", "a>b", "cannot write '>'"),
        ("minimax", 'a"b', "cannot write '\"'"),
        ("kimi", "ns:f", "cannot write ':'"),
        ("glm_4_7", "a\nb", "cannot write"),
        ("harmony", "a b", "cannot write ' '"),
        ("deepseek_v3_1", "a<b", "cannot write '<'"),
    ],
)
def test_a_name_that_a_format_cannot_write_is_refused(preset: str, name: str, message: str) -> None:
    tools = [{"name": "fine", "parameters": CITY}, {"name": name, "parameters": CITY}]
    with pytest.raises(ConfigError, match=re.escape(message)):
        tool_calls(preset, tools)
    found = check(json.dumps(tools), language=TOOL_LIST, language_options={"tool_calls": preset})
    assert [each.code for each in found if each.pointer == "/1/name"][:1] == ["E824"]
    with pytest.raises(GrammarError, match=re.escape(message)):
        Grammar.from_tools(tools, tool_calls=preset)


@pytest.mark.parametrize("preset", ["deepseek_v3_1", "deepseek_r1", "qwen_3_coder", "kimi"])
def test_calls_carry_their_tool_whatever_the_text_around_them(preset: str, tmp_path: Path) -> None:
    tools = [{"name": name, "parameters": CITY} for name in ("ns.get-it", "sep", "json")]
    for name in ("ns.get-it", "sep", "json"):
        grammar = Grammar.from_tools(tools, tool_calls=preset, tool_choice=name)
        text = shortest(grammar)
        expected = [{"name": name, "arguments": {"city": ""}}]
        assert grammar.read_value(text) == expected
        path = tmp_path / "tools.kbnfc"
        compile_artifact(grammar, None, path)
        assert load_artifact(path).read_value(text) == expected
        reader = grammar.value_reader()
        for byte in text:
            reader.feed(bytes((byte,)))
        assert reader.value == expected
        tag = tool_calls(preset, tools, choice=name)
        assert Grammar.from_structural_tag(tag).read_value(text) == expected


OPTIONS: list[tuple[dict[str, Any], str, str]] = [
    ({}, '{"city": "x", "n": 5}', '{"city": "x",  "n": 5}'),
    ({"whitespace": "flexible"}, '{\t"city" : "x", "n":\n5}', '{"city": "x", "n": 5.0}'),
    ({"whitespace": "compact"}, '{"city":"x","n":5}', '{"city": "x","n":5}'),
    ({"integers": "fraction"}, '{"city": "x", "n": 5.0}', '{"city": "x", "n": 5.00}'),
    ({"digits": "any"}, '{"city": "x", "n": 12345678901234567890123}', '{"city": "x", "n": 01}'),
    ({"closed": False}, '{"city": "x", "m": []}', '{"n": 5}'),
    ({"order": "any"}, '{"n": 5, "city": "x"}', '{"n": 5}'),
    ({"escapes": "any"}, '{"city": "\\u0078"}', '{"city": "\\x78"}'),
    ({"formats": "rfc"}, '{"city": "x", "t": "1999-12-31t23:59:60z"}', '{"city": "x", "t": "1"}'),
    (
        {},
        '{"city": "x", "t": "1999-12-31T23:59:59Z"}',
        '{"city": "x", "t": "1999-12-31t23:59:60z"}',
    ),
    ({"formats": "annotation"}, '{"city": "x", "t": "1"}', '{"city": "x", "t": 1}'),
]


@pytest.mark.parametrize(("options", "fits", "refused"), OPTIONS, ids=lambda each: str(each)[:40])
def test_schemas_are_read_with_the_options_of_schemas(
    options: dict[str, Any], fits: str, refused: str
) -> None:
    timed = {"type": "string", "format": "date-time"}
    properties = {"city": {"type": "string"}, "n": {"type": "integer"}, "t": timed}
    schema = {**CITY, "properties": properties}
    tools = [{"name": "f", "parameters": schema}]
    call = '<tool_call>\n{"name": "f", "arguments": %s}\n</tool_call>'
    grammar = Grammar.from_tools(tools, tool_calls="qwen_3", **options)
    tag = Grammar.from_structural_tag(tool_calls("qwen_3", tools), **options)
    for each in (grammar, tag):
        found = Language(each.to_kbnf())
        assert found.has(call % fits)
        assert not found.has(call % refused)


def test_arguments_in_xml_have_the_options_of_schemas() -> None:
    timed = {"type": "string", "format": "date-time"}
    properties = {"n": {"type": "integer"}, "t": timed, "p": {"type": "string", "pattern": "^a"}}
    tools = [
        {"name": "f", "parameters": {"type": "object", "properties": properties, "required": ["n"]}}
    ]

    def takes(*arguments: tuple[str, str], **options: Any) -> bool:
        parts = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in arguments)
        text = f"<tool_call>\n<function=f>\n{parts}</function>\n</tool_call>"
        return Language(
            Grammar.from_tools(tools, tool_calls="qwen_3_coder", **options).to_kbnf()
        ).has(text)

    number, early, small = ("n", "5"), ("t", "0000-01-01T00:00:00Z"), ("t", "2000-01-01t00:00:00z")
    assert takes(number, ("t", "2000-01-01T00:00:00Z"), ("p", "abc"))
    assert not takes(number, early)
    assert takes(number, small, formats="rfc")
    assert not takes(number, small)
    assert takes(number, ("t", "soon"), formats="annotation")
    assert not takes(number, ("p", "ba"))
    assert not takes(("n", "5.0"))
    assert takes(("n", "5.0"), integers="fraction")
    assert not takes(("p", "a"), number)
    assert takes(("p", "a"), number, order="any")
    assert not takes(("p", "a"), order="any")
    assert not takes(number, ("p", "a"), number, order="any")
    assert not takes(number, ("other", "x"))
    assert takes(number, ("other", "x"), closed=False)


def test_strings_that_take_too_many_states_are_shorter_and_said_to_be() -> None:
    text = {"type": "string", "pattern": "foo", "maxLength": 100}
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"x": text}}}]
    options = {"tool_calls": "qwen_3_coder"}
    found = check(json.dumps(tools), language=TOOL_LIST, language_options=options)
    assert [(each.code, each.pointer) for each in found] == [("W808", "/0/parameters/properties/x")]
    language = Language(Grammar.from_tools(tools, tool_calls="qwen_3_coder").to_kbnf())
    call = "<tool_call>\n<function=f>\n<parameter=x>\n%s\n</parameter>\n</function>\n</tool_call>"
    assert language.has(call % "a foo b")
    assert not language.has(call % "a fo b")
    assert not language.has(call % f"foo{'x' * 98}")
    assert not language.has(call % "foo</parameter>")


@pytest.mark.parametrize("alias", ALIASES)
def test_a_name_of_vllm_or_sglang_is_that_of_a_format(alias: str) -> None:
    assert alias not in table()
    assert tool_calls(alias, TOOLS) == tool_calls(ALIASES[alias], TOOLS)


def test_text_before_calls_of_gpt_oss_is_read_as_text() -> None:
    grammar = Grammar.from_tools(TOOLS, tool_calls="harmony", tool_choice="required")
    text = f"<|channel|>commentary<|message|>I look.<|end|><|start|>assistant{WIRES[0]}"
    assert grammar.read_value(text) == ["I look.", {"name": "get_time", "arguments": {}}]


@pytest.mark.parametrize(
    ("style", "name"),
    [
        ("qwen_xml", "a>b"),
        ("minimax_xml", 'a"b'),
        ("deepseek_xml", 'a"b'),
        ("glm_xml", "a</arg_key>"),
        ("qwen_xml", " a"),
        ("gemma", "a:b"),
        ("python", "a-b"),
        ("minimax_m3_xml", "a>b"),
    ],
)
def test_names_of_properties_that_a_style_cannot_write_are_errors(style: str, name: str) -> None:
    schema = {"type": "object", "properties": {name: {"type": "integer"}}}
    content = {"type": "json_schema", "json_schema": schema, "style": style}
    tag = {"type": "structural_tag", "format": content}
    with pytest.raises(
        GrammarError, match=r"cannot (write a property called|be the name of)"
    ) as caught:
        Grammar.from_structural_tag(tag)
    assert "/format/json_schema/properties" in str(caught.value)


@pytest.mark.parametrize("style", ["kimi_k3_xml", "cohere_xml", "python"])
def test_names_that_a_style_escapes_are_read_back(style: str) -> None:
    name = "o" if style == "python" else 'a"<b'
    inner = {"type": "object", "properties": {'a"b': {"type": "null"}}, "required": ['a"b']}
    schema = {"type": "object", "properties": {name: inner}, "required": [name]}
    content = {"type": "json_schema", "json_schema": schema, "style": style}
    tag = {
        "type": "structural_tag",
        "format": {"type": "tag", "begin": "<", "content": content, "end": ">"},
    }
    grammar = Grammar.from_structural_tag(tag)
    [call] = grammar.read_value(shortest(grammar))
    assert call["arguments"] == {name: {'a"b': None}}


@pytest.mark.parametrize(
    ("preset", "before", "value", "after"),
    [
        (
            "qwen_3_coder",
            "<tool_call>\n<function=f>\n<parameter=code>\n",
            "</parameter1> </param </parameter",
            "\n</parameter>\n</function>\n</tool_call>",
        ),
        (
            "glm_4_7",
            "<tool_call>f<arg_key>code</arg_key><arg_value>",
            "</arg_value1> </arg",
            "</arg_value></tool_call>",
        ),
        ("gemma_4", '<|tool_call>call:f{code:<|"|>', 'a<|"|x <|"', '<|"|>}<tool_call|>'),
    ],
)
def test_the_beginning_of_an_end_is_part_of_a_value(
    preset: str, before: str, value: str, after: str
) -> None:
    schema = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    tools = [{"name": "f", "parameters": schema}]
    grammar = Grammar.from_tools(tools, tool_calls=preset, tool_choice="required")
    [call] = grammar.read_value(f"{before}{value}{after}")
    assert call == {"name": "f", "arguments": {"code": value}}


def arguments_read(preset: str, properties: dict[str, Any], text: str) -> Any:
    """Return the arguments of a call of ``f`` with these properties, whose text is given."""
    tools = [{"name": "f", "parameters": {"type": "object", "properties": properties}}]
    [call] = Grammar.from_tools(tools, tool_calls=preset).read_value(text, exact=True)
    return call["arguments"]


XML_CALL = (
    "<tool_call>\n<function=f>\n<parameter=x>\n{}\n</parameter>\n<parameter=y>\n{}\n</parameter>\n"
    "</function>\n</tool_call>"
)


@pytest.mark.parametrize("preset", ["qwen_3_5", "qwen_3_coder", "nemotron_3"])
def test_constants_are_read_as_templates_print_them(preset: str) -> None:
    alone = {"x": {"type": "boolean"}, "y": {"type": "null"}}
    for constants in (("True", "None"), ("true", "null")):
        text = XML_CALL.format(*constants)
        assert arguments_read(preset, alone, text) == {"x": True, "y": None}
    beside = {
        "x": {"type": ["string", "boolean"]},
        "y": {"anyOf": [{"type": "string"}, alone["y"]]},
    }
    for constants in (("True", "None"), ("true", "null")):
        text = XML_CALL.format(*constants)
        assert arguments_read(preset, beside, text) == {"x": True, "y": None}
    assert arguments_read(preset, beside, XML_CALL.format("Truer", "none")) == {
        "x": "Truer",
        "y": "none",
    }
    listed = {"x": {"enum": ["a", None, True]}, "y": {"type": ["string", "integer"]}}
    assert arguments_read(preset, listed, XML_CALL.format("None", "None")) == {
        "x": None,
        "y": "None",
    }


def test_null_is_none_in_gemma() -> None:
    text = "<|tool_call>call:f{x:true,y:None}<tool_call|>"
    properties = {"x": {"type": "boolean"}, "y": {"type": "null"}}
    assert arguments_read("gemma_4", properties, text) == {"x": True, "y": None}


IN_PYTHON: dict[str, tuple[Any, Any]] = {
    "s='K\u00f6ln'": ({"type": "string"}, "Köln"),
    's="K\u00f6ln"': ({"type": "string"}, "Köln"),
    r"s='a \"b\" \ \q it\'s\n\x41\u00e4\07'": ({"type": "string"}, 'a "b" \\ \\q it\'s\nAä\a'),
    "s='two\nlines'": ({"type": "string"}, "two\nlines"),
    "s='abc'": ({"type": "string", "pattern": "^[a-c]+$"}, "abc"),
    "s='abcd'": ({"type": "string", "minLength": 2, "maxLength": 4}, "abcd"),
    "s='a b'": ({"enum": ["a b", 1]}, "a b"),
    "s=None": ({"type": ["string", "null"]}, None),
    "s='None'": ({"type": ["string", "null"]}, "None"),
    's={"deep": true, "t": "x"}': (
        {"type": "object", "properties": {"deep": {"type": "boolean"}, "t": {"type": "string"}}},
        {"deep": True, "t": "x"},
    ),
    "s=[{'k': [1, None, 'v']}, True]": ({}, [{"k": [1, None, "v"]}, True]),
    's={"k": [1, null, "v"]}': ({}, {"k": [1, None, "v"]}),
    "s=[True, {'k': 'v'}]": ({"const": [True, {"k": "v"}]}, [True, {"k": "v"}]),
    's={"k": [true, 1.5]}': ({"const": {"k": [True, 1.5]}}, {"k": [True, 1.5]}),
}
"""Arguments as LFM2.5's template writes them, by their schemas, and what they mean."""


@pytest.mark.parametrize("text", IN_PYTHON)
@pytest.mark.parametrize("preset", ["lfm2", "lfm2_5"])
def test_values_are_of_python_or_of_json_in_lfm2(preset: str, text: str) -> None:
    schema, value = IN_PYTHON[text]
    call = f"<|tool_call_start|>[f({text})]<|tool_call_end|>"
    assert arguments_read(preset, {"s": schema}, call) == {"s": value}


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string", "pattern": "^[a-c]+$"}, "'abd'"),
        ({"type": "string", "maxLength": 3}, "'abcd'"),
        ({"enum": ["a b"]}, "'a'"),
        ({"type": "string"}, "'it's'"),
        ({"type": "boolean"}, "'true'"),
    ],
)
def test_schemas_hold_in_single_quotes(schema: Any, text: str) -> None:
    with pytest.raises(KbnfError):
        arguments_read("lfm2", {"s": schema}, f"<|tool_call_start|>[f(s={text})]<|tool_call_end|>")
