"""The tool parsers of vLLM and SGLang, on stand-ins and on the servers' own base classes.

What a parser says of a whole text and of its pieces is what the grammar of the format reads.
"""

import importlib
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.integrations.tool_calls import ToolCalls, call_format, may_have_calls
from kbnf_core.languages.response_template.parse import format_of_model
from kbnf_core.languages.structural_tag.models import table
from kbnf_testing import servers
from kbnf_testing.response_templates import TEMPLATES


@pytest.fixture(params=["stand-in", pytest.param("wheel", marks=pytest.mark.slow)])
def host(request: pytest.FixtureRequest) -> Iterator[None]:
    is_real = request.param == "wheel"
    if is_real:
        servers.need_wheels()
    with servers.installed(None, is_real=is_real):
        yield


def tool(name: str, **properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [tool("get_weather", city={"type": "string"}, days={"type": "integer"}), tool("noop")]
CODER = (
    "Let me look. <tool_call>\n<function=get_weather>\n<parameter=city>\nParis\n</parameter>\n"
    "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>"
)
HERMES = (
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Köln", "days": 3}}\n</tool_call>'
    '\n<tool_call>\n{"name": "noop", "arguments": {}}\n</tool_call>'
)
TEXTS = [
    ("qwen3_coder", CODER),
    ("hermes", HERMES),
    ("mistral", '[TOOL_CALLS]noop[ARGS]{}[TOOL_CALLS]get_weather[ARGS]{"city": "é", "days": 1}'),
    ("hermes", "No call < at <tool all."),
    ("hermes", "<tool_call>\nnone after all"),
    ("hermes", ""),
]


def of_tool(value: dict[str, Any]) -> Any:
    """Return a tool as the servers have it."""
    function = SimpleNamespace(**value["function"])
    return SimpleNamespace(function=function, model_dump=lambda **_: value)


def wanted(name: str, text: str) -> tuple[str, list[tuple[str, Any]]]:
    """Return the text around calls, and the calls, as the grammar reads them."""
    try:
        value = Grammar.from_tools(TOOLS, tool_calls=name).read_value(text)
    except ValueError:
        return text, []
    around = "".join(each for each in value if isinstance(each, str))
    return around, [
        (each["name"], each["arguments"]) for each in value if not isinstance(each, str)
    ]


def vllm_parser(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    monkeypatch.setenv("KBNF_TOOL_CALLS", name)
    package = importlib.import_module("kbnf_vllm")
    monkeypatch.setattr(package, "version", {"vllm": "0.33.0"}.__getitem__)
    package.register()
    manager = importlib.import_module("vllm.tool_parsers.abstract_tool_parser").ToolParserManager
    module, kind = manager.lazy_parsers["kbnf"]
    return getattr(importlib.import_module(module), kind)(SimpleNamespace())


def sglang_detector(monkeypatch: pytest.MonkeyPatch, name: str) -> Any:
    pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")
    monkeypatch.setenv("KBNF_TOOL_CALLS", name)
    package = importlib.import_module("kbnf_sglang")
    monkeypatch.setattr(package, "version", {"sglang": "0.5.23"}.__getitem__)
    package.register()
    module = importlib.import_module("sglang.srt.function_call.function_call_parser")
    return module.FunctionCallParser.ToolCallParserEnum["kbnf"]()


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(("name", "text"), TEXTS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_vllm_reads_calls_whole_and_in_pieces(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, size: int
) -> None:
    parser = vllm_parser(monkeypatch, name)
    request = SimpleNamespace(
        tools=[of_tool(each) for each in TOOLS], tool_choice="auto", skip_special_tokens=True,
        structured_outputs=None, parallel_tool_calls=True,
    )  # fmt: skip
    around, calls = wanted(name, text)
    found = parser.extract_tool_calls(text, request)
    assert (found.content or "", found.tools_called) == (around, bool(calls))
    read = [(each.function.name, json.loads(each.function.arguments)) for each in found.tool_calls]
    assert read == calls
    assert not parser.adjust_request(request).skip_special_tokens
    written, made = "", list[list[str]]()
    for at in range(0, len(text), size):
        piece = text[at : at + size]
        message = parser.extract_tool_calls_streaming(
            text[:at], text[: at + size], piece, [], [], [], request
        )
        if message is None:
            continue
        written += message.content or ""
        for delta in message.tool_calls:
            if delta.function.name:
                assert delta.id
                made.append([delta.function.name, ""])
            made[delta.index][1] += delta.function.arguments
    assert [(each, json.loads(arguments)) for each, arguments in made] == calls
    assert around.startswith(written)
    assert parser.streamed_args_for_tool == [arguments for _, arguments in made]
    assert parser.prev_tool_call_arr == [
        {"name": each, "arguments": arguments} for each, arguments in made
    ]


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(("name", "text"), TEXTS)
@pytest.mark.parametrize("size", [1, 7, 1000])
def test_sglang_reads_calls_whole_and_in_pieces(
    monkeypatch: pytest.MonkeyPatch, name: str, text: str, size: int
) -> None:
    detector = sglang_detector(monkeypatch, name)
    tools = [of_tool(each) for each in TOOLS]
    around, calls = wanted(name, text)
    found = detector.detect_and_parse(text, tools)
    read = [(each.name, json.loads(each.parameters)) for each in found.calls]
    assert (found.normal_text or "", read) == (around, calls)
    places = [["get_weather", "noop"].index(each.name) for each in found.calls]
    assert [each.tool_index for each in found.calls] == places
    assert detector.has_tool_call(text) or not calls
    results = [
        detector.parse_streaming_increment(text[at : at + size], tools)
        for at in range(0, len(text), size)
    ]
    made = list[list[str]]()
    for result in [*results, detector.finish(tools)]:
        for each in result.calls:
            if each.name:
                made.append([each.name, ""])
            made[each.tool_index][1] += each.parameters
    assert [(each, json.loads(arguments)) for each, arguments in made] == calls
    written = "".join(each.normal_text or "" for each in results)
    assert written + (detector.finish(tools).normal_text or "") == around or around.startswith(
        written
    )
    assert not detector.supports_structural_tag()


@pytest.mark.slow
def test_sglang_asks_it_as_any_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    servers.need_wheels()
    with servers.installed(None, is_real=True):
        sglang_detector(monkeypatch, "hermes")
        module = importlib.import_module("sglang.srt.function_call.function_call_parser")
        tools = [of_tool(each) for each in TOOLS]
        parser = module.FunctionCallParser(tools, "kbnf")
        assert parser.has_tool_call(HERMES)
        assert not parser.owns_tool_format()
        text, calls = parser.parse_non_stream(HERMES)
        assert (text, [each.name for each in calls]) == ("\n", ["get_weather", "noop"])
        text, calls = parser.parse_stream_chunk("a <tool_call> b <")
        assert (text, calls) == ("a <tool_call> b ", [])
        assert parser.parse_stream_end() == ("<", [])
        parser = module.FunctionCallParser(tools, "kbnf")
        assert parser.parse_stream_chunk("a <tool") == ("a ", [])
        assert parser.parse_stream_end() == ("<tool", [])


@pytest.mark.usefixtures("host")
def test_without_the_variable_no_parser_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KBNF_TOOL_CALLS", raising=False)
    manager = importlib.import_module("vllm.tool_parsers.abstract_tool_parser").ToolParserManager
    manager.lazy_parsers.pop("kbnf", None)
    for name, known in (("kbnf_vllm", "0.33.0"), ("kbnf_sglang", "0.5.23")):
        package = importlib.import_module(name)
        monkeypatch.setattr(package, "version", lambda _, known=known: known)
        package.register()
    assert "kbnf" not in manager.lazy_parsers


def format_of(name: str) -> str:
    return format_of_model(json.dumps(TEMPLATES[name])) if name in TEMPLATES else name


def shortest_call(format_: str, tool: str) -> str:
    grammar = Grammar.from_tools(TOOLS, tool_calls=format_, tool_choice=tool)
    text = Engine(grammar, Vocabulary.bytes(), finish="eos").shortest_completion().data
    assert text is not None
    return text.decode()


def read(format_: str, pieces: list[str]) -> tuple[str, str, list[dict[str, str]]]:
    """Return the text, the reasoning and the calls of a message in pieces."""
    reader = ToolCalls(format_, TOOLS)
    found = [*(delta for piece in pieces for delta in reader.feed(piece)), *reader.finish()]
    text, thoughts = (
        "".join(each.text for each in found if each.kind == kind) for kind in ("text", "reasoning")
    )
    made: dict[int, str] = {}
    for each in found:
        if each.call is not None:
            if each.kind == "name":
                made[each.call] = ""
            elif each.kind == "arguments":
                made[each.call] += each.text
            elif each.kind == "cut":
                del made[each.call]
    assert [*made.values()] == [each["arguments"] for each in reader.calls]
    return text, thoughts, reader.calls


@pytest.mark.parametrize("name", [*table(), *TEMPLATES])
def test_a_message_is_the_same_in_whatever_pieces_it_comes(name: str) -> None:
    format_ = format_of(name)
    weather, noop = (shortest_call(format_, each) for each in ("get_weather", "noop"))
    rng = Random(name)
    for text in (
        f"Hé {weather} ok {noop}",
        f"{weather}{noop[: len(noop) // 2]}x é",
        f"{noop}{weather[: len(weather) * 2 // 3]}\0?",
        f"{noop[:3]}x{noop}{noop[0]}x",
        f"{weather[:-1]}!",
    ):
        whole = read(format_, [text])
        cuts = sorted([0, *rng.sample(range(len(text)), 4), len(text)])
        for pieces in ([*text], [text[a:b] for a, b in pairwise(cuts)]):
            assert read(format_, pieces) == whole, (text, pieces)


CALL = '<tool_call>\n{"name": "noop", "arguments": {}}\n</tool_call>'


@pytest.mark.parametrize(
    ("text", "around"),
    [
        (f"{CALL}<toolx", "<toolx"),
        (f"{CALL}\n<tool_call>x y", "\n<tool_call>x y"),
        (f'{CALL} <tool_call>\n{{"name": "other"}}', ' <tool_call>\n{"name": "other"}'),
        (f"a{CALL}b<", "ab<"),
        (f"{CALL}<tool_call>\ud800", "<tool_call>\ud800"),
    ],
)
def test_what_is_no_call_after_one_is_text(text: str, around: str) -> None:
    calls = [{"name": "noop", "arguments": "{}"}]
    for cut in range(len(text)):
        assert read("hermes", [text[:cut], text[cut:]]) == (around, "", calls)
    assert ToolCalls("hermes", TOOLS).whole(text) == (around, calls)


@pytest.mark.parametrize("name", [*table(), *TEMPLATES])
def test_a_call_has_what_begins_calls_and_text_has_not(name: str) -> None:
    format_ = format_of(name)
    assert may_have_calls(format_, shortest_call(format_, "noop"))
    assert not may_have_calls(format_, "<think>a</think> text, <b>, [c] and {}")


def test_formats_are_named_or_those_of_a_model(tmp_path: Path) -> None:
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"response_template": TEMPLATES["objects"]})
    )
    for found in (call_format(str(tmp_path)), call_format(f"{tmp_path}/tokenizer_config.json")):
        assert may_have_calls(found, "a <call>")
        assert not may_have_calls(found, "a call")
        text, calls = ToolCalls(found, TOOLS).whole(
            'a <call>{"name": "noop", "arguments": {}}</call>'
        )
        assert (text, calls) == ("a ", [{"name": "noop", "arguments": "{}"}])


def test_tools_whose_schemas_are_broken_are_called_by_name() -> None:
    broken = [tool("noop"), {"name": "b", "parameters": {"type": "strin"}}]
    text = '<tool_call>\n{"name": "b", "arguments": {"x": [1]}}\n</tool_call>'
    assert ToolCalls("hermes", broken).whole(text) == (
        "",
        [{"name": "b", "arguments": '{"x": [1]}'}],
    )


def test_a_call_that_is_cut_is_none_and_those_before_it_stay() -> None:
    text, calls = ToolCalls("hermes", TOOLS).whole(HERMES[:-15])
    assert [each["name"] for each in calls] == ["get_weather"]
    assert text.strip() == ""
    cut = HERMES[:60]
    assert ToolCalls("hermes", TOOLS).whole(cut) == ("", [])


def test_a_message_without_tools_is_text() -> None:
    reader = ToolCalls("hermes", [])
    assert [each.text for each in reader.feed(HERMES)] == [HERMES]
    assert reader.finish() == []
