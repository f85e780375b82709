"""How models write calls of tools, as tests write and read them: a table of texts.

It is independent of ``languages.structural_tag.models``, which has the same as structural tags.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

_THINK = ("<think>", "</think>")
_DSML = "｜DSML｜"


@dataclass(frozen=True, slots=True)
class Section:
    """The texts around all calls, and the separator of two of them.

    ``trigger`` is a text that free text may contain only to begin a section; ``before`` leads a
    required section; ``repeats`` says whether text and more sections may follow that, ``ends``
    whether nothing follows any section.
    """

    begin: str
    end: str
    trigger: str = ""
    separator: str = ""
    before: str = ""
    repeats: bool = False
    ends: bool = False


@dataclass(frozen=True, slots=True)
class Preset:
    """How a family of models writes calls of tools.

    ``begin`` and ``end`` are around the arguments, ``{}`` is the name of the tool; ``style`` is
    that of a ``json_schema``. With ``numbered``, a count and this text lead the arguments. What
    ``excludes`` names is in no free text, what ``not_in_reasoning`` names in no reasoning; that is
    between ``think``, and ``after_reasoning`` follows. ``without_reasoning`` is written where there
    is none, ``skipped`` may be where there need be none. ``prefilled`` tells whether the prompt
    ends with the beginning of ``think``.
    """

    begin: str
    end: str
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


def _deepseek(calls: str, invoke: str, style: str, *, ends: bool = False) -> Preset:
    begin, end = f"<{_DSML}{calls}>", f"</{_DSML}{calls}>"
    section = Section(f"{begin}\n", end, begin, before="\n\n", ends=ends)
    return Preset(
        begin=f'<{_DSML}{invoke} name="{{}}">\n',
        end=f"</{_DSML}{invoke}>\n",
        style=style,
        section=section,
    )


_ARGUMENT = ("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>")

_COHERE_THINK = ("<|START_THINKING|>", "<|END_THINKING|>")
_M3 = "]<]minimax[>["
_M3_THINK = ("<mm:think>", "</mm:think>")
_M3_EXCLUDES = (*_M3_THINK, f"{_M3}</tool_call>", f"{_M3}<invoke", f"{_M3}</invoke>")

_BY_NAME: dict[str, Preset] = {
    "llama": Preset(
        trigger='{"name": ', begin='{"name": "{}", "parameters": ', end="}", reasons=False
    ),
    "qwen_3": Preset(
        trigger="<tool_call>",
        begin='<tool_call>\n{"name": "{}", "arguments": ',
        end="}\n</tool_call>",
        after_reasoning="\n\n",
    ),
    "qwen_3_coder": Preset(
        trigger="<tool_call>\n<function=",
        begin="<tool_call>\n<function={}>\n",
        end="</function>\n</tool_call>",
        style="qwen_xml",
        after_reasoning="\n\n",
    ),
    "mimo": Preset(
        trigger="<tool_call>",
        begin="<tool_call><function={}>",
        end="</function></tool_call>",
        style="mimo_xml",
        excludes=(*_THINK, "</tool_call>", "<function="),
        not_in_reasoning=("<tool_call>", *_THINK, "</tool_call>", "<function="),
        prefilled=False,
    ),
    "kimi": Preset(
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
    ),
    "deepseek_r1": Preset(
        begin="<｜tool▁call▁begin｜>function<｜tool▁sep｜>{}\n```json\n",
        end="\n```<｜tool▁call▁end｜>",
        section=Section(
            "<｜tool▁calls▁begin｜>",
            "<｜tool▁calls▁end｜>",
            "<｜tool▁calls▁begin｜>",
            separator="\n",
        ),
    ),
    "deepseek_v3_1": Preset(
        begin="<｜tool▁call▁begin｜>{}<｜tool▁sep｜>",
        end="<｜tool▁call▁end｜>",
        section=Section("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁calls▁begin｜>"),
    ),
    "deepseek_v3_2": _deepseek("function_calls", "invoke", "deepseek_xml"),
    "deepseek_v4": _deepseek("tool_calls", "invoke", "deepseek_xml", ends=True),
    "deepseek_v4_1": _deepseek(" calls", " invoke", "deepseek_v4_1_xml", ends=True),
    "minimax": Preset(
        begin='<invoke name="{}">\n',
        end="</invoke>\n",
        style="minimax_xml",
        section=Section(
            "<minimax:tool_call>\n", "</minimax:tool_call>", "<minimax:tool_call>", before="\n"
        ),
        not_in_reasoning=(),
        after_reasoning="\n\n",
        without_reasoning="\n</think>\n\n\n\n",
    ),
    "glm_4_7": Preset(
        trigger="<tool_call>",
        begin="<tool_call>{}",
        end="</tool_call>",
        style="glm_xml",
        excludes=(*_THINK, "</tool_call>", *_ARGUMENT),
        not_in_reasoning=(*_THINK, "<tool_call>", "</tool_call>", *_ARGUMENT),
    ),
    "minimax_m3": Preset(
        begin=f'{_M3}<invoke name="{{}}">',
        end=f"{_M3}</invoke>\n",
        style="minimax_m3_xml",
        section=Section(
            f"{_M3}<tool_call>\n", f"{_M3}</tool_call>", f"{_M3}<tool_call>", repeats=True
        ),
        think=_M3_THINK,
        skipped="</mm:think>",
        excludes=_M3_EXCLUDES,
        not_in_reasoning=(f"{_M3}<tool_call>", *_M3_EXCLUDES),
    ),
    "cohere": Preset(
        begin='<cofl:tool_call id="',
        numbered='" name="{}">',
        end="</cofl:tool_call>",
        style="cohere_xml",
        section=Section("<cofl:tool_calls>", "</cofl:tool_calls>", "<cofl:tool_calls>"),
        think=_COHERE_THINK,
        excludes=_COHERE_THINK,
        not_in_reasoning=(),
    ),
    "exaone": Preset(
        trigger="<tool_call>",
        begin='<tool_call>{"name": "{}", "arguments": ',
        end="}</tool_call>",
        not_in_reasoning=(),
        after_reasoning="\n\n",
    ),
}

PRESETS: Mapping[str, Preset] = {**_BY_NAME, "qwen_3_5": replace(_BY_NAME["qwen_3_coder"])}
"The presets by the names that XGrammar has for them."
