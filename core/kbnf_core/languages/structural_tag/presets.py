"""The formats in which common models write tool calls, as structural tags.

A preset is data: what stands around a call, around all calls, and around the reasoning that leads
them. ``tool_calls`` makes a structural tag of it and of the tools of a request. The formats are
those of XGrammar's built-in structural tags of the same names.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kbnf_core.errors import ConfigError
from kbnf_core.languages.structural_tag import harmony
from kbnf_core.languages.structural_tag.harmony import Format, parameters

CHOICES = ("auto", "required", "none")
REASONING = ("disabled", "enabled", "auto")

_THINK = ("<think>", "</think>")
_DSML = "｜DSML｜"


@dataclass(frozen=True, slots=True)
class Section:
    """What stands around all calls: texts, and what separates two of them.

    ``trigger`` is what free text may not hold but to begin a section; ``before`` leads a section
    that must come.
    """

    begin: str
    end: str
    trigger: str = ""
    separator: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class Preset:
    """How a family of models writes calls of tools.

    ``begin`` and ``end`` stand around the arguments, ``{}`` is the name of the tool; ``style`` is
    that of a ``json_schema``. With ``numbered``, a count and this text lead the arguments. What
    ``excludes`` names is in no free text, what ``not_in_reasoning`` names in no reasoning; that
    ends with ``</think>`` and ``after_reasoning``; ``without_reasoning`` is written instead.
    ``prefilled`` tells whether the prompt ends with ``<think>``, ``guards_text`` whether triggers
    are excluded where there are no tools. ``example`` calls ``get_weather`` with a ``city``.
    """

    models: str
    begin: str
    end: str
    example: str
    trigger: str = ""
    style: str = "json"
    numbered: str = ""
    section: Section | None = None
    excludes: tuple[str, ...] = _THINK
    reasons: bool = True
    not_in_reasoning: tuple[str, ...] = _THINK
    after_reasoning: str = ""
    without_reasoning: str = ""
    prefilled: bool = True
    guards_text: bool = False


def _deepseek(calls: str, invoke: str, style: str, models: str) -> Preset:
    parameter = " parameter" if style == "deepseek_v4_1_xml" else "parameter"
    call = (
        f'<{_DSML}{invoke} name="get_weather">\n<{_DSML}{parameter} name="city" string="true">'
        f"Paris</{_DSML}{parameter}>\n</{_DSML}{invoke}>\n"
    )
    section = Section(
        f"<{_DSML}{calls}>\n", f"</{_DSML}{calls}>", f"<{_DSML}{calls}>", before="\n\n"
    )
    return Preset(
        models=models,
        begin=f'<{_DSML}{invoke} name="{{}}">\n',
        end=f"</{_DSML}{invoke}>\n",
        style=style,
        section=section,
        guards_text=style == "deepseek_v4_1_xml",
        example=f"{section.before}{section.begin}{call}{section.end}",
    )


_ARGUMENT = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")
_QWEN_XML = "<parameter=city>\nParis\n</parameter>"

PRESETS: Mapping[str, Preset] = {
    "llama": Preset(
        models="Llama 3, 3.1, 3.2",
        trigger='{"name": ',
        begin='{"name": "{}", "parameters": ',
        end="}",
        reasons=False,
        example='{"name": "get_weather", "parameters": {"city": "Paris"}}',
    ),
    "qwen_3": Preset(
        models="Qwen3, Qwen3-Next",
        trigger="<tool_call>",
        begin='<tool_call>\n{"name": "{}", "arguments": ',
        end="}\n</tool_call>",
        after_reasoning="\n\n",
        example=(
            '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Paris"}}\n</tool_call>'
        ),
    ),
    "qwen_3_coder": Preset(
        models="Qwen3-Coder, Qwen3-Coder-Next, Qwen3.5, Qwen3.6",
        trigger="<tool_call>\n<function=",
        begin="<tool_call>\n<function={}>\n",
        end="\n</function>\n</tool_call>",
        style="qwen_xml",
        after_reasoning="\n\n",
        example=f"<tool_call>\n<function=get_weather>\n{_QWEN_XML}\n</function>\n</tool_call>",
    ),
    "mimo": Preset(
        models="MiMo-V2.6-Pro-RL, MiMo-V2.6-Flash-RL",
        trigger="<tool_call>",
        begin="<tool_call><function={}>",
        end="</function></tool_call>",
        style="qwen_xml",
        excludes=(*_THINK, "</tool_call>", "<function="),
        not_in_reasoning=("<tool_call>", *_THINK, "</tool_call>", "<function="),
        prefilled=False,
        guards_text=True,
        example=f"<tool_call><function=get_weather>{_QWEN_XML}</function></tool_call>",
    ),
    "kimi": Preset(
        models="Kimi-K2, Kimi-K2.5",
        begin="<|tool_call_begin|>functions.{}:",
        end="<|tool_call_end|>",
        numbered="<|tool_call_argument_begin|>",
        section=Section(
            "<|tool_calls_section_begin|>",
            "<|tool_calls_section_end|>",
            "<|tool_calls_section_begin|>",
        ),
        excludes=(*_THINK, "<|tool_call_begin|>"),
        not_in_reasoning=(),
        example=(
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
            '<|tool_call_argument_begin|>{"city": "Paris"}<|tool_call_end|>'
            "<|tool_calls_section_end|>"
        ),
    ),
    "deepseek_r1": Preset(
        models="DeepSeek-R1",
        begin="<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}\n```json\n",
        end="\n```<｜tool▁call▁end｜>",
        section=Section(
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁calls▁end｜>",
            "<｜tool▁calls▁begin｜>",
            separator="\n",
        ),
        example=(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
            '{"city": "Paris"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
    ),
    "deepseek_v3_1": Preset(
        models="DeepSeek-V3.1, DeepSeek-V3.2-Exp",
        begin="<｜tool▁call▁begin｜>{}<｜tool▁sep｜>",
        end="<｜tool▁call▁end｜>",
        section=Section("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁calls▁begin｜>"),
        example=(
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
            '{"city": "Paris"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>'
        ),
    ),
    "deepseek_v3_2": _deepseek("function_calls", "invoke", "deepseek_xml", "DeepSeek-V3.2"),
    "deepseek_v4": _deepseek("tool_calls", "invoke", "deepseek_xml", "DeepSeek-V4"),
    "deepseek_v4_1": _deepseek(" calls", " invoke", "deepseek_v4_1_xml", "DeepSeek-V4.1"),
    "minimax": Preset(
        models="MiniMax-M2.5, MiniMax-M2.7",
        begin='<invoke name="{}">\n',
        end="</invoke>\n",
        style="minimax_xml",
        section=Section(
            "<minimax:tool_call>\n", "</minimax:tool_call>", "<minimax:tool_call>", before="\n"
        ),
        not_in_reasoning=(),
        after_reasoning="\n\n",
        without_reasoning="\n</think>\n\n\n\n",
        example=(
            '\n<minimax:tool_call>\n<invoke name="get_weather">\n'
            '<parameter name="city">Paris</parameter>\n</invoke>\n</minimax:tool_call>'
        ),
    ),
    "glm_4_7": Preset(
        models="GLM-4.7, GLM-5",
        trigger="<tool_call>",
        begin="<tool_call>{}",
        end="</tool_call>",
        style="glm_xml",
        guards_text=True,
        excludes=(*_THINK, "</tool_call>", *_ARGUMENT),
        not_in_reasoning=(*_THINK, "<tool_call>", "</tool_call>", *_ARGUMENT),
        example=(
            "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>\n"
            "</tool_call>"
        ),
    ),
    "exaone": Preset(
        models="EXAONE 4.0",
        trigger="<tool_call>",
        begin='<tool_call>{"name": "{}", "arguments": ',
        end="}</tool_call>",
        not_in_reasoning=(),
        after_reasoning="\n\n",
        example='<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}</tool_call>',
    ),
}
"""The presets that are a table, by the names that XGrammar has for them."""

NAMES: Mapping[str, str] = {
    **{name: preset.models for name, preset in PRESETS.items()},
    "harmony": "gpt-oss",
}
"""All formats, and the models that write them."""

EXAMPLES: Mapping[str, str] = {
    **{name: preset.example for name, preset in PRESETS.items()},
    "harmony": harmony.EXAMPLE,
}
"""A call of ``get_weather`` with ``city`` ``Paris`` in each format."""


def tool_calls(
    preset: str,
    tools: Iterable[Mapping[str, Any]],
    *,
    choice: str = "auto",
    reasoning: str = "disabled",
    parallel: bool = True,
) -> Format:
    """Return the structural tag of what a model may write.

    ``tools`` are as in OpenAI's requests, or their ``function`` objects: a ``name`` and
    ``parameters``, a JSON Schema. ``choice`` is ``auto`` (text and calls), ``required`` (one call
    at least), ``none`` (text), or the name of the tool that is called. ``reasoning`` is
    ``disabled``, ``enabled`` or ``auto``; ``parallel`` tells whether there may be several calls.
    Raises ``ConfigError`` for what is none of these.
    """
    if preset not in NAMES:
        raise ConfigError(f"there is no format {preset!r}; there are {', '.join(NAMES)}")
    if reasoning not in REASONING:
        raise ConfigError(f"`reasoning` is one of {', '.join(REASONING)}, not {reasoning!r}")
    functions = [_function(tool) for tool in tools]
    names = [function["name"] for function in functions]
    if choice == "none":
        functions = []
    elif choice not in CHOICES:
        functions = [function for function in functions if function["name"] == choice]
        if not functions:
            listed = ", ".join([*CHOICES, *names])
            raise ConfigError(f"`choice` is one of {listed}, not {choice!r}")
    if choice == "required" and not functions:
        raise ConfigError("a call is required, and there are no tools")
    if preset == "harmony":
        found = harmony.messages(functions, choice, reasoning, parallel=parallel)
        return {"type": "structural_tag", "format": found}
    chosen = PRESETS[preset]
    calls = _calls(chosen, functions, choice, parallel=parallel)
    thoughts = _reasoning(chosen, reasoning) if chosen.reasons else []
    return {"type": "structural_tag", "format": _sequence([*thoughts, calls])}


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ConfigError("a tool is an object with a `name` and `parameters`")
    return function


def _calls(
    preset: Preset, functions: Sequence[Mapping[str, Any]], choice: str, *, parallel: bool
) -> Format:
    if not functions:
        trigger = preset.section.trigger if preset.section else preset.trigger
        guarded = [*preset.excludes, trigger] if preset.guards_text else [*_THINK]
        return {"type": "any_text", "excludes": guarded}
    tags = [_tag(preset, function) for function in functions]
    once = not parallel
    if preset.section is not None:
        return _section(preset, preset.section, tags, choice, once=once)
    if choice not in CHOICES:
        return tags[0]
    return {
        "type": "triggered_tags",
        "triggers": [preset.trigger],
        "tags": tags,
        "excludes": [*preset.excludes],
        "at_least_one": choice == "required",
        "stop_after_first": once,
    }


def _section(
    preset: Preset, section: Section, tags: Sequence[Format], choice: str, *, once: bool
) -> Format:
    inner = {
        "type": "tags_with_separator",
        "tags": [*tags],
        "separator": section.separator,
        "at_least_one": True,
        "stop_after_first": once or choice not in CHOICES,
    }
    if choice != "auto":
        before = {"type": "const_string", "value": section.before + section.begin}
        return _sequence([before, inner, {"type": "const_string", "value": section.end}])
    whole = {"type": "tag", "begin": section.begin, "content": inner, "end": section.end}
    return {
        "type": "triggered_tags",
        "triggers": [section.trigger],
        "tags": [whole],
        "excludes": [*preset.excludes],
        "stop_after_first": once,
    }


def _tag(preset: Preset, function: Mapping[str, Any]) -> Format:
    schema = parameters(function)
    content: Format = {"type": "json_schema", "json_schema": schema, "style": preset.style}
    if preset.numbered:
        numbered = {"type": "const_string", "value": preset.numbered}
        content = _sequence([{"type": "regex", "pattern": "\\d+"}, numbered, content])
    begin = preset.begin.replace("{}", function["name"])
    return {"type": "tag", "begin": begin, "content": content, "end": preset.end}


def _reasoning(preset: Preset, mode: str) -> list[Format]:
    if mode == "disabled":
        instead = preset.without_reasoning
        return [{"type": "const_string", "value": instead}] if instead else []
    begin = "" if mode == "enabled" and preset.prefilled else "<think>"
    excluded = preset.not_in_reasoning if mode == "enabled" else preset.not_in_reasoning or _THINK
    text = {"type": "any_text", "excludes": [*excluded]}
    found: Format = {"type": "tag", "begin": begin, "content": text, "end": "</think>"}
    if preset.after_reasoning:
        found = _sequence([found, {"type": "const_string", "value": preset.after_reasoning}])
    return [{"type": "optional", "content": found} if mode == "auto" else found]


def _sequence(elements: Sequence[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": [*elements]}
