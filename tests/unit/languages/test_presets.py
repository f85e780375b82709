"""The presets of tool calls, on their own examples; `tests/differential` compares XGrammar's."""

import json
from typing import Any

import pytest

from kbnf_core import ConfigError
from kbnf_core.convert import from_structural_tag
from kbnf_core.languages.structural_tag.models import table
from kbnf_core.languages.structural_tag.presets import tool_calls
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
    # What strings of JSON may not hold is left out, which Kimi-K3 asks for.
    assert conversion.exact or preset == "kimi_k3"
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
    "cohere": ("<|START_THINKING|>", "<|END_THINKING|>"),
    "kimi_k3": (
        "<|open|>think<|sep|>", "<|close|>think<|sep|><|open|>response<|sep|>",
    ),
    **dict.fromkeys(
        ("qwen_3", "qwen_3_5", "qwen_3_coder", "minimax", "exaone"), ("<think>", "</think>\n\n")
    ),
}  # fmt: skip


@pytest.mark.parametrize("preset", [name for name in EXAMPLES if name not in ("llama", "harmony")])
def test_reasoning_leads_the_calls(preset: str) -> None:
    begin, end = THOUGHTS.get(preset, ("<think>", "</think>"))
    call = EXAMPLES[preset]
    enabled = language(preset, reasoning="enabled")
    assert enabled.has(f"{begin if preset == 'mimo' else ''}So be it.{end}{call}")
    assert not enabled.has(call)
    maybe = language(preset, reasoning="auto")
    assert maybe.has(f"{begin}So be it.{end}{call}")
    without = {"kimi_k3": "<|open|>response<|sep|>", "minimax_m3": "</mm:think>"}
    assert maybe.has(without.get(preset, "") + call)


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


def test_a_tool_that_is_not_strict_keeps_its_schema() -> None:
    tools = [{"function": {**TOOLS[0]["function"], "strict": False}}]
    text = from_structural_tag(json.dumps(tool_calls("qwen_3", tools))).text
    assert Language(text).has(EXAMPLES["qwen_3"])
    assert not Language(text).has(EXAMPLES["qwen_3"].replace("city", "town"))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"preset": "gpt"}, "there is no format 'gpt'; there are llama, "),
        ({"choice": "get_tim"}, "`choice` is one of auto, required, none, get_weather, get_time"),
        ({"reasoning": "on"}, "`reasoning` is one of disabled, enabled, auto, not 'on'"),
        ({"tools": [], "choice": "required"}, "a call is required, and there are no tools"),
        ({"tools": [{"function": 1}]}, "a tool is an object with a `name` and `parameters`"),
    ],
)
def test_a_setting_that_is_none_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message.replace("(", r"\(")):
        tool_calls(**{"preset": "llama", "tools": TOOLS, **settings})
