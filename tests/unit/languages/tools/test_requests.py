"""Custom tools, whose input is a text, and what requests say of answers."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import convert
from kbnf_core.languages import JSON_SCHEMA, TOOL_LIST, detect
from kbnf_core.lint.check import check
from kbnf_core.parse.calls import CallReader, Delta
from kbnf_core.targets.check import Panel, check_targets
from kbnf_core.text.errors import GrammarError
from kbnf_core.text.source import Source
from kbnf_testing.data import PATCH as FILE
from kbnf_testing.membership import Language

PATCH = FILE.read_text("utf-8")
EDIT = "*** Begin Patch\n*** Edit: a.py\n@@ def f\n-x\n y\n+\n*** End Patch"
CLOSED = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"],
          "additionalProperties": False}  # fmt: skip
NOW = {"type": "function", "function": {"name": "now"}}
ANSWER = {"type": "json_schema", "json_schema": {"name": "a", "strict": True, "schema": CLOSED}}
CALL = '{"name": "now", "arguments": {}}'


def custom(definition: str, syntax: str = "lark", *, of_chat: bool = False) -> dict[str, Any]:
    """Return a custom tool in the form of either API."""
    grammar = {"syntax": syntax, "definition": definition}
    if of_chat:
        form = {"type": "grammar", "grammar": grammar}
        return {"type": "custom", "custom": {"name": "patch", "format": form}}
    return {"type": "custom", "name": "patch", "format": {"type": "grammar", **grammar}}


def found(value: Any, **options: Any) -> list[tuple[str, str | None]]:
    text = json.dumps(value)
    assert detect(text, "request.json") is TOOL_LIST
    every = check(text, language=TOOL_LIST, language_options=options)
    return [(each.code, each.pointer) for each in every]


@pytest.mark.parametrize("of_chat", [True, False])
def test_the_input_of_a_custom_tool_is_constrained_and_read_back(of_chat: bool) -> None:
    tools = [custom(PATCH, of_chat=of_chat), NOW]
    assert found(tools) == []
    grammar = Grammar.from_tools(tools)
    language = Language(grammar.to_kbnf())
    assert language.has(EDIT)
    assert language.has(CALL)
    assert not language.has(EDIT.replace("@@", "@"))
    assert grammar.read_value(EDIT) == [{"name": "patch", "arguments": {"input": EDIT}}]
    assert grammar.read_value(CALL) == [{"name": "now", "arguments": {}}]
    alone = Grammar.from_tools(tools, tool="patch")
    assert not Language(alone.to_kbnf()).has(CALL)


def test_the_input_of_a_custom_tool_streams() -> None:
    reader = Grammar.from_tools([custom('start: "GO " /[^x]+/'), NOW]).value_reader()
    assert isinstance(reader, CallReader)
    deltas: list[Delta] = []
    for byte in 'GO é"\n'.encode():
        reader.feed(bytes([byte]))
        deltas += reader.deltas()
    reader.finish()
    deltas += reader.deltas()
    assert deltas[0].text == "patch"
    written = "".join(each.text for each in deltas if each.kind == "arguments")
    assert json.loads(written) == reader.value[0]["arguments"] == {"input": 'GO é"\n'}
    assert len(deltas) > 4


def test_a_regular_expression_is_the_whole_input() -> None:
    language = Language(Grammar.from_tools([custom("a.c|d", "regex")]).to_kbnf())
    assert [language.has(each) for each in ("abc", "d", "a\nc", "xabc", "dd")] == [
        True, True, False, False, False,
    ]  # fmt: skip


def test_a_tool_without_a_grammar_takes_any_text() -> None:
    for tool in ({"type": "custom", "name": "say"}, {"type": "custom", "custom": {"name": "say"}}):
        grammar = Grammar.from_tools([tool])
        assert grammar.read_value("a\nb") == [{"name": "say", "arguments": {"input": "a\nb"}}]


def test_in_a_format_of_calls_a_grammar_is_a_loss_and_a_regex_a_pattern() -> None:
    lark = json.dumps([custom(PATCH)])
    written = convert(lark, TOOL_LIST, options={"tool_calls": "qwen_3"}, lossy=True)
    assert [each.code for each in written.losses] == ["W441"]
    grammar = Grammar.from_tools(
        [custom("a+", "regex")], tool_calls="qwen_3", tool_choice="required"
    )
    language = Language(grammar.to_kbnf())
    call = '<tool_call>\n{"name": "patch", "arguments": {"input": "aa"}}\n</tool_call>'
    assert language.has(call)
    assert not language.has(call.replace("aa", "b"))


@pytest.mark.parametrize("options", [{}, {"tool_calls": "qwen_3"}])
@pytest.mark.parametrize(
    ("tool", "code", "pointer"),
    [
        (custom("start: b"), "E101", "/0/format/definition"),
        (custom("start: b", of_chat=True), "E101", "/0/custom/format/grammar/definition"),
        (custom("(a", "regex"), "E201", "/0/format/definition"),
        (custom("a", "bnf"), "E824", "/0/format/syntax"),
        (custom(""), "E824", "/0/format"),
        ({"type": "custom", "name": "patch", "format": 3}, "E824", "/0/format"),
        ({"type": "custom", "custom": []}, "E824", "/0/custom"),
        ({"type": "custom"}, "E824", "/0"),
        # Hostile ones meet the limits of grammars.
        (custom("start: " + "(" * 10_000 + '"a"' + ")" * 10_000), "E012", "/0/format/definition"),
        (custom("start: /((a{1,999}){1,999}){1,999}/"), "E203", "/0/format/definition"),
        (custom('start: "a"~1..1000000000'), "E013", "/0/format/definition"),
        (custom("%import ..secret.x\nstart: x"), "E101", "/0/format/definition"),
        (custom("start: start"), "E105", "/0/format/definition"),
        (custom("(" * 10_000 + "a" + ")" * 10_000, "regex"), "E201", "/0/format/definition"),
        (custom("((a{1,999}){1,999}){1,999}", "regex"), "E203", "/0/format/definition"),
        (custom("a)|(?:b", "regex"), "E201", "/0/format/definition"),
        (custom(r"(a)\1", "regex"), "E202", "/0/format/definition"),
    ],
)
def test_what_is_wrong_with_a_custom_tool_is_at_its_pointer(
    tool: dict[str, Any], code: str, pointer: str, options: dict[str, str]
) -> None:
    assert (code, pointer) in found([tool], **options)
    with pytest.raises(GrammarError):
        Grammar.from_tools([tool], tool_calls=options.get("tool_calls"))


@pytest.mark.parametrize(
    "request_",
    [
        ANSWER,
        ANSWER["json_schema"],
        {"model": "m", "response_format": ANSWER},
        {"text": {"format": {"type": "json_schema", "name": "a", "schema": CLOSED}}},
        {"output_format": {"type": "json_schema", "schema": CLOSED}},
        {"output_config": {"format": {"type": "json_schema", "schema": CLOSED}}},
        {"generationConfig": {"responseJsonSchema": CLOSED}},
        {"tools": [NOW], "tool_choice": "none", "response_format": ANSWER},
    ],
)  # fmt: skip
def test_the_format_of_an_answer_is_its_schema(request_: Any) -> None:
    assert found(request_) == []
    assert (
        Grammar.from_tools(request_).to_kbnf().split("start ::=")[1]
        == (Grammar.from_json_schema(CLOSED).to_kbnf().split("start ::=")[1])
    )


def test_an_answer_of_gemini_is_of_openapi() -> None:
    schema = {"type": "OBJECT", "properties": {"a": {"type": "INTEGER", "nullable": True}}}
    language = Language(
        Grammar.from_tools({"generationConfig": {"responseSchema": schema}}).to_kbnf()
    )
    assert language.has('{"a": null}')
    assert not language.has('{"a": "x"}')


def test_any_json_and_any_text() -> None:
    json_, text = (Language(Grammar.from_tools({"type": each}).to_kbnf())
                   for each in ("json_object", "text"))  # fmt: skip
    assert json_.has('{"x": [1]}')
    assert not json_.has("[1]")
    assert text.has("[1")


@pytest.mark.parametrize(
    ("choice", "calls", "answers"),
    [("auto", True, True), ("none", False, True), ("required", True, False)],
)
def test_a_request_has_calls_and_answers(choice: str, calls: bool, answers: bool) -> None:
    asked = {"tools": [NOW], "tool_choice": choice, "response_format": ANSWER}
    grammar = Grammar.from_tools(asked)
    language = Language(grammar.to_kbnf())
    assert language.has(CALL) == calls
    assert language.has('{"a": 1}') == answers
    if choice == "auto":
        assert grammar.read_value('{"a": 1}') == ['{"a": 1}']
        assert grammar.read_value(CALL) == [{"name": "now", "arguments": {}}]


def of_services() -> dict[str, list[Any]]:
    """Return two tools in the forms of four APIs."""
    functions: list[dict[str, Any]] = [{"name": "a", "parameters": CLOSED}, {"name": "b"}]
    return {
        "chat": [{"type": "function", "function": each} for each in functions],
        "responses": [{"type": "function", **each} for each in functions],
        "anthropic": [{"name": "a", "input_schema": CLOSED},
                      {"name": "b", "input_schema": {"type": "object"}}],
        "gemini": [{"functionDeclarations": functions}],
    }  # fmt: skip


CALLS = {"a": '{"name": "a", "arguments": {"a": 1}}', "b": '{"name": "b", "arguments": {}}'}
IN_QWEN = {name: f"<tool_call>\n{call}\n</tool_call>" for name, call in CALLS.items()}
FUNCTION_B = {"type": "function", "function": {"name": "b"}}
NAMED_A = {"type": "function", "name": "a"}
IN_GEMINI = {"mode": "ANY", "allowedFunctionNames": ["b"]}
MODES = {"mode": "auto", "tools": [FUNCTION_B, {"type": "mcp", "server_label": "s"}]}


@pytest.mark.parametrize(
    ("api", "says", "wanted"),
    [
        # The calls that are taken; `+` several of them, `t` text around them in a format of calls.
        ("chat", {"tool_choice": FUNCTION_B}, "b"),
        ("chat", {"tool_choice": {"type": "allowed_tools", "allowed_tools": MODES}}, "b+t"),
        ("chat", {"tool_choice": "required"}, "ab+"),
        ("chat", {"tool_choice": "required", "parallel_tool_calls": False}, "ab"),
        ("chat", {"tool_choice": "auto", "parallel_tool_calls": True}, "ab+t"),
        ("chat", {"tool_choice": None}, "ab+t"),
        ("responses", {"tool_choice": NAMED_A}, "a"),
        ("responses", {"tool_choice": {"type": "allowed_tools", "mode": "required",
                                       "tools": [NAMED_A]}}, "a+"),
        ("anthropic", {"tool_choice": {"type": "tool", "name": "a"}}, "a"),
        ("anthropic", {"tool_choice": {"type": "any"}}, "ab+"),
        ("anthropic", {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}}, "ab"),
        ("gemini", {"toolConfig": {"functionCallingConfig": IN_GEMINI}}, "b+"),
        ("gemini", {"tool_config": {"function_calling_config": {"mode": "AUTO"}}}, "ab+t"),
    ],
)  # fmt: skip
def test_a_request_says_which_tools_are_called(api: str, says: Any, wanted: str) -> None:
    asked = {"tools": of_services()[api], **says}
    assert {code for code, _ in found(asked)} <= {"W825"}
    plain = Language(Grammar.from_tools(asked).to_kbnf())
    called = Language(Grammar.from_tools(asked, tool_calls="qwen_3").to_kbnf())
    for name in "ab":
        assert plain.has(CALLS[name]) == called.has(IN_QWEN[name]) == (name in wanted), name
    twice = IN_QWEN[wanted[0]] + "\n" + IN_QWEN[wanted[0]]
    assert called.has(twice) == ("+" in wanted)
    assert called.has("text") == ("t" in wanted)
    assert not plain.has("text")


@pytest.mark.parametrize(
    ("api", "says"),
    [
        ("chat", {"tool_choice": "none"}),
        ("anthropic", {"tool_choice": {"type": "none"}}),
        ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}),
    ],
)
def test_without_calls_an_answer_is_text(api: str, says: Any) -> None:
    asked = {"tools": of_services()[api], **says}
    for name in (None, "qwen_3"):
        grammar = Grammar.from_tools(asked, tool_calls=name)
        assert grammar.read_value("some text") == ["some text"]
    # An option is asked for instead of what the request says.
    grammar = Grammar.from_tools(asked, tool_calls="qwen_3", tool_choice="required")
    assert grammar.read_value(IN_QWEN["b"]) == [{"name": "b", "arguments": {}}]


def test_what_no_function_is_called_is_an_error() -> None:
    says = {"mode": "ANY", "allowedFunctionNames": ["a", {"x": 1}]}
    asked = {"tools": of_services()["gemini"], "toolConfig": {"functionCallingConfig": says}}
    where = "/toolConfig/functionCallingConfig/allowedFunctionNames/1"
    assert ("E824", where) in found(asked)


def test_where_no_tool_is_allowed_an_answer_is_text() -> None:
    choice = {"type": "allowed_tools", "mode": "auto", "tools": []}
    grammar = Grammar.from_tools({"tools": of_services()["chat"], "tool_choice": choice})
    assert grammar.read_value("some text") == ["some text"]


@pytest.mark.parametrize(
    ("choice", "pointer"),
    [
        ("sometimes", "/tool_choice"),
        ([], "/tool_choice"),
        ({}, "/tool_choice"),
        ({"type": "web_search"}, "/tool_choice/type"),
        ({"type": "function", "function": {"name": "c"}}, "/tool_choice/function/name"),
        ({"type": "function", "name": "c"}, "/tool_choice/name"),
        ({"type": "function", "function": []}, "/tool_choice"),
        ({"type": "allowed_tools", "tools": [NAMED_A]}, "/tool_choice"),
        ({"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "c"}]},
         "/tool_choice/tools/0/name"),
        ({"type": "allowed_tools", "mode": "required", "tools": []}, "/tool_choice/mode"),
        ({"type": "allowed_tools", "mode": "required", "tools": [{"type": "web_search"}, 5]},
         "/tool_choice/mode"),
    ],
)  # fmt: skip
def test_a_choice_of_no_tool_is_an_error_at_its_pointer(choice: Any, pointer: str) -> None:
    asked = {"tools": of_services()["chat"], "tool_choice": choice}
    assert ("E824", pointer) in found(asked)
    assert ("E824", pointer) in found(asked, tool_calls="qwen_3")


@pytest.mark.parametrize("name", [None, "qwen_3", "qwen_3_coder", "kimi", "cohere", "gemma_4"])
def test_arguments_have_the_members_that_a_schema_names_unless_it_is_open(name: str | None) -> None:
    schema = {
        "type": "object",
        "properties": {"o": {"type": "object", "properties": {"x": {"type": "null"}}}},
    }
    tools = [{"name": "f", "inputSchema": schema}]
    grammar = Grammar.from_tools(tools, tool_calls=name)
    opened = Grammar.from_tools(tools, tool_calls=name, closed=False, lossy=True)
    assert found(tools, tool_calls=name) == []
    assert [code for code, _ in found(tools, tool_calls=name, closed=False)][:1] == ["I823"]
    assert grammar.to_kbnf() == Grammar.from_tools(tools, tool_calls=name, closed=True).to_kbnf()
    assert len(opened.to_kbnf()) > len(grammar.to_kbnf())


def test_an_answer_is_open_as_its_schema_is() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
    form = {"type": "json_schema", "json_schema": {"name": "a", "schema": schema}}
    for asked in ({"response_format": form}, {"response_format": form, "tools": [NOW]}):
        assert Language(Grammar.from_tools(asked).to_kbnf()).has('{"a": 1, "b": 2}')
        assert "I823" in {code for code, _ in found(asked)}


TAGGED = {"begin": "<f=a>", "end": "</f>"}
TAG = {
    "type": "structural_tag",
    "format": {
        "type": "triggered_tags",
        "triggers": ["<f="],
        "tags": [{**TAGGED, "content": {"type": "json_schema", "json_schema": CLOSED}}],
    },
}
OLDER_TAG = {
    "type": "structural_tag",
    "structures": [{**TAGGED, "schema": CLOSED}],
    "triggers": ["<f="],
}


@pytest.mark.parametrize("tag", [TAG, OLDER_TAG])
def test_the_format_of_an_answer_may_be_a_structural_tag(tag: Any) -> None:
    text = 'hi <f=a>{"a": 1}</f>'
    for tools in ({}, {"tools": [NOW]}):
        asked = {"model": "m", "response_format": tag, **tools}
        assert found(asked) == [("I826", "/tools")] * len(tools)
        grammar = Grammar.from_tools(asked)
        assert grammar.read_value(text) == ["hi ", {"name": "a", "arguments": {"a": 1}}]
        assert not Language(grammar.to_kbnf()).has(text.replace("1", "x"))
    required = Grammar.from_tools({**asked, "tool_choice": "required"})
    assert [Language(required.to_kbnf()).has(each) for each in (text, CALL)] == [False, True]


@pytest.mark.parametrize(
    ("form", "code", "pointer"),
    [
        ({"type": "structural_tag"}, "E441", "/response_format"),
        ({"type": "structural_tag", "format": {"type": "tag"}}, "E441", "/response_format/format"),
        ({"type": "structural_tag", "format": {"type": "json_schema", "json_schema": {"type": 1}}},
         "E802", "/response_format/format/json_schema/type"),
        ({"type": "xml"}, "E824", "/response_format/type"),
        ({"type": []}, "E824", "/response_format/type"),
        ({"type": "json_schema", "json_schema": {"name": "a"}}, "E824",
         "/response_format/json_schema"),
        ({"type": "json_schema", "schema": {"type": "wrong"}}, "E802",
         "/response_format/schema/type"),
        ({"type": "json_schema", "strict": True, "schema": {"type": "object"}}, "E809",
         "/response_format/schema"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_an_answer_is_at_its_pointer(
    form: dict[str, Any], code: str, pointer: str
) -> None:
    every = found({"response_format": form})
    assert code in {each for each, _ in every}
    assert any(where is not None and where.startswith(pointer) for _, where in every)


def test_the_schema_of_a_result_is_checked() -> None:
    tool: dict[str, Any] = {"name": "now", "inputSchema": CLOSED}
    assert found([{**tool, "outputSchema": CLOSED}]) == []
    wrong = {**tool, "outputSchema": {"type": "object", "properties": {"x": {"type": "wrong"}}}}
    assert found([wrong]) == [("E802", "/0/outputSchema/properties/x/type")]
    assert found([{**tool, "outputSchema": 3}]) == [("E824", "/0/outputSchema")]


def test_a_service_has_its_rules_whatever_the_form_of_the_list() -> None:
    tool = {"name": "21st_magic", "inputSchema": CLOSED}
    assert found([tool]) == []
    assert ("W825", "/0/name") in found([tool], strict="gemini")


@pytest.mark.parametrize("name", ["gemini", "openai", "anthropic"])
def test_a_service_that_is_a_target_has_its_rules(name: str) -> None:
    text = json.dumps([{"name": "21st.magic", "inputSchema": CLOSED}], indent=1)
    panel = Panel([name])
    found_ = check_targets(Source(text, is_json=True), TOOL_LIST, panel).findings
    assert [each.message.split(":")[0] for each in found_ if each.code == "W825"] == ["/0/name"]


LOOSE = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}}}


@pytest.mark.parametrize("name", ["openai", "anthropic"])
def test_rules_of_a_strict_mode_are_for_tools_that_ask_for_it(name: str) -> None:
    def codes(**more: Any) -> set[str]:
        text = json.dumps([{"type": "function", "name": "f", "parameters": LOOSE, **more}])
        checked = check_targets(Source(text, is_json=True), TOOL_LIST, Panel([name]))
        assert {row.verdict for row in checked.rows} == {"refuses" if more else "ok"}
        return {each.code for each in checked.findings}

    assert codes() == set()
    assert codes(strict=True) == {"E809"}
    schema = Source(json.dumps(LOOSE), is_json=True)
    found_ = check_targets(schema, JSON_SCHEMA, Panel([name])).findings
    assert {each.code for each in found_} == {"E809"}


def test_the_file_of_the_grammar_is_ours_to_read(tmp_path: Path) -> None:
    # What a request says is not read from the folder that it is in.
    (tmp_path / "secret.lark").write_text('x: "a"\n', "utf-8")
    with pytest.raises(GrammarError, match="`x`"):
        Grammar.read(
            json.dumps([custom("%import .secret.x\nstart: x")]),
            TOOL_LIST,
            path=str(tmp_path / "a.json"),
        )


@pytest.mark.parametrize("name", ["auto", "required", "none", "named", "any"])
@pytest.mark.parametrize("form", [None, "hermes", "qwen_3_coder", "mistral_v3"])
def test_a_tool_may_be_called_as_a_mode_is(name: str, form: str | None) -> None:
    tools = [{"type": "function", "function": {"name": each}} for each in (name, "other")]
    how: dict[str, Any] = {} if form is None else {"tool_calls": form}

    def called(choice: Any = None, **options: Any) -> Any:
        request = {"tools": tools, **({} if choice is None else {"tool_choice": choice})}
        grammar = Grammar.from_tools(json.dumps(request), **how, **options)
        text = Engine(grammar, Vocabulary.bytes(), finish="eos").shortest_completion().data
        assert text is not None
        value = grammar.read_value(text)
        calls = value if isinstance(value, list) else [value]
        return [each["name"] for each in calls if isinstance(each, dict)]

    for chosen in ({"function": {"name": name}}, {"name": name}):
        assert called({"type": "function", **chosen}) == [name]
    assert called({"type": "tool", "name": name}) == [name]
    assert called(tool=name) == [name]
    mode = {
        "type": "allowed_tools",
        "mode": "required",
        "tools": [{"type": "function", "name": name}],
    }
    assert called(mode) == [name]
    assert called("none") == []
    assert len(called("required")) == 1
