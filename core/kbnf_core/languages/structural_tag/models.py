"""How common models write tool calls: a table.

A preset is what stands around a call, around all calls, and around the reasoning that leads them,
as in XGrammar's built-in structural tags of the same names. ``presets`` makes structural tags of
it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

_THINK = ("<think>", "</think>")
_DSML = "｜DSML｜"


@dataclass(frozen=True, slots=True)
class Section:
    """What stands around all calls: texts, and what separates two of them.

    ``trigger`` is what free text may not hold but to begin a section; ``before`` leads a section
    that must come; ``repeats`` tells whether text and more sections may follow that.
    """

    begin: str
    end: str
    trigger: str = ""
    separator: str = ""
    before: str = ""
    repeats: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """How a family of models writes calls of tools.

    ``begin`` and ``end`` stand around the arguments, ``{}`` is the name of the tool; ``style`` is
    that of a ``json_schema``. With ``numbered``, a count and this text lead the arguments. What
    ``excludes`` names is in no free text, what ``not_in_reasoning`` names in no reasoning; that is
    between ``think``, and ``after_reasoning`` follows. ``without_reasoning`` is written where there
    is none, ``skipped`` may be where there need be none. ``prefilled`` tells whether the prompt
    ends with the beginning of ``think``, ``guards_text`` whether triggers are excluded where there
    are no tools. ``example`` calls ``get_weather`` with a ``city``.
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
    think: tuple[str, str] = _THINK
    not_in_reasoning: tuple[str, ...] = _THINK
    after_reasoning: str = ""
    without_reasoning: str = ""
    skipped: str = ""
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

_COHERE_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")
_M3 = "]<]minimax[>["
_M3_THINK = ("<mm:think>", "</mm:think>")
_M3_EXCLUDES = (*_M3_THINK, f"{_M3}</tool_call>", f"{_M3}<invoke", f"{_M3}</invoke>")

_BY_NAME: dict[str, Preset] = {
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
        models="Qwen3-Coder, Qwen3-Coder-Next",
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
    "minimax_m3": Preset(
        models="MiniMax-M3",
        begin=f'{_M3}<invoke name="{{}}">',
        end=f"{_M3}</invoke>\n",
        style="minimax_m3_xml",
        section=Section(
            f"{_M3}<tool_call>\n", f"{_M3}</tool_call>", f"{_M3}<tool_call>", repeats=True
        ),
        guards_text=True,
        think=_M3_THINK,
        skipped="</mm:think>",
        excludes=_M3_EXCLUDES,
        not_in_reasoning=(f"{_M3}<tool_call>", *_M3_EXCLUDES),
        example=(
            f'{_M3}<tool_call>\n{_M3}<invoke name="get_weather">{_M3}<city>Paris{_M3}</city>'
            f"{_M3}</invoke>\n{_M3}</tool_call>"
        ),
    ),
    "cohere": Preset(
        models="Cohere Command",
        begin='<cofl:tool_call id="',
        numbered='" name="{}">',
        end="</cofl:tool_call>",
        style="cohere_xml",
        section=Section("<cofl:tool_calls>", "</cofl:tool_calls>", "<cofl:tool_calls>"),
        think=_COHERE_THINK,
        excludes=_COHERE_THINK,
        not_in_reasoning=(),
        example=(
            '<cofl:tool_calls><cofl:tool_call id="0" name="get_weather">'
            '<cofl:value name="city" type="raw">Paris</cofl:value>'
            "</cofl:tool_call></cofl:tool_calls>"
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

PRESETS: Mapping[str, Preset] = {
    **_BY_NAME,
    "qwen_3_5": replace(_BY_NAME["qwen_3_coder"], models="Qwen3.5, Qwen3.6"),
}
"""The presets by the names that XGrammar has for them."""
