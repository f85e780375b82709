"""Formats of tool calls from the texts around names and arguments, as models write them.

A format has a template for each way to ask: whether tools are called, whether reasoning precedes
the calls, and whether there may be several. A template is a structural tag for a tool called
``{name}`` with the schema ``{schema}``; for several tools, the tags that name it are repeated.
Here all of them are made of what is around a call, and around all calls (``Calls``), and of what is
around thoughts. ``OWN`` has the formats that are given so; a chat template gives others
(``languages/tools/chat_template.py``).
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from kbnf_core.text.json_text import objects_in

Format: TypeAlias = dict[str, Any]

CHOICES = ("auto", "required", "none")
REASONING = ("disabled", "enabled", "auto")
NAMED = "named"
"""The choice of one tool by its name, among the keys of templates."""

NAME, SCHEMA = "{name}", "{schema}"

_LEAST_SHARED = 60
"""Characters of a part that is worth sharing."""


ID, NUMBER, CALL_ID, JSON_ID, BLANK = "\ue000\ue001\ue002\ue003\ue004"
"""Placeholders in texts for what may be any: the identifier of a call, its number, and what may be
left out (Mistral's identifiers, and the blank before its lists)."""

ANY: Mapping[str, Format] = {
    ID: {"type": "regex", "pattern": "[a-zA-Z0-9_-]{1,64}"},
    NUMBER: {"type": "regex", "pattern": r"\d{1,9}"},
    CALL_ID: {"type": "regex", "pattern": r"(?:\[CALL_ID\][a-zA-Z0-9]{9})?"},
    JSON_ID: {"type": "regex", "pattern": '(?:, "id": "[a-zA-Z0-9]{9}")?'},
    BLANK: {"type": "optional", "content": {"type": "const_string", "value": " "}},
}


def key_of(choice: str, reasoning: str, *, single: bool) -> str:
    """Return the name of a template within a format."""
    return f"{choice} {reasoning}{' single' if single and choice != 'none' else ''}"


class Thoughts(NamedTuple):
    """What is around thoughts, and whether prompts end with their beginning."""

    is_prompted: bool
    begin: str
    end: str


@dataclass(frozen=True, slots=True)
class Calls:
    """The texts of calls: within one, around its name and arguments, and around all of them.

    ``leads`` are the blanks that may occur before the first one; ``end_of_turn`` is what the
    template has after the last one in place of what ends an answer.
    """

    begin: str
    after_name: str
    end: str
    before: str = ""
    separator: str = ""
    after: str = ""
    style: str = "json"
    is_single: bool = False
    escapes: str = "canonical"
    words: str = "json"
    leads: tuple[str, ...] = ("",)
    end_of_turn: str = ""

    def texts(self, arguments: str, names: Iterable[str]) -> str:
        """Return calls of these tools as they are written."""
        calls = (f"{self.begin}{name}{self.after_name}{arguments}{self.end}" for name in names)
        return f"{self.before}{self.separator.join(calls)}{self.after}{self.end_of_turn}"


def format_of(calls: Calls, thoughts: Thoughts | None, models: str = "") -> Format:
    """Return the templates of a format, as XGrammar's of the same form are."""
    templates = {}
    for single in (False, True):
        for choice in (*CHOICES, NAMED):
            for reasoning, leads in _leads(thoughts):
                written = _written(calls, choice, once=single or calls.is_single)
                templates[key_of(choice, reasoning, single=single)] = _sequence([*leads, *written])
    return shared_out(models, templates)


def _tag(calls: Calls) -> Format:
    schema = {"type": "json_schema", "json_schema": SCHEMA}
    styled = schema if calls.style == "json" else {**schema, "style": calls.style}
    if calls.escapes != "canonical":
        styled = {**styled, "escapes": calls.escapes}
    if calls.words != "json":
        styled = {**styled, "words": calls.words}
    begun = f"{calls.begin}{NAME}{calls.after_name}"
    begin, *leads = _parts(begun if calls.before.strip() else begun.lstrip())
    *behind, end = _parts(calls.end)
    content = _sequence([*leads, styled, *behind])
    return {"type": "tag", "begin": begin["value"], "content": content, "end": end["value"]}


def _parts(text: str) -> list[Format]:
    """Return a text as formats, constants first and last: identifiers and numbers may be any."""
    pieces = re.split(f"([{''.join(ANY)}])", text)
    return [ANY[each] if each in ANY else _const(each) for each in pieces]


def _written(calls: Calls, choice: str, *, once: bool) -> list[Format]:
    """Return what is written where tools are called so.

    Blanks after the last call may be left out: models end there, whatever a template adds.
    """
    is_section = bool(calls.before.strip())
    ended = calls.after if is_section else calls.end
    end = ended.rstrip()
    tag, before = _tag(calls if is_section else replace(calls, end=end)), calls.before
    opening = before if is_section else before + calls.begin
    lead, opening = opening[: len(opening) - len(opening.lstrip())], opening.lstrip()
    opening = re.split(f"[{''.join(ANY)}]", opening)[0]
    # A beginning that is text of its own, up to its first line or its first marker.
    marker = re.match(r"\[[A-Z_]+\]|[^>]*>", opening)
    trigger = marker[0] if marker else opening.split("\n")[0].rstrip()
    if choice == "none":
        return [{"type": "any_text", "excludes": [trigger]}]
    blanks = dict.fromkeys(each + more for each in calls.leads for more in ("", lead))
    leads = [] if choice == "auto" or len(blanks) < 2 else [_any_of(blanks)]
    if is_section:
        inner = {
            "type": "tags_with_separator",
            "tags": [tag],
            "separator": calls.separator,
            "at_least_one": True,
            "stop_after_first": once or choice == NAMED,
        }
        opened, *more = _parts(before.lstrip())
        content = _sequence([*more, inner])
        tag = {"type": "tag", "begin": opened["value"], "content": content, "end": end}
    # Where text may follow, they are text.
    blanks_after = [_any_of(["", ended[len(end) :]])] if ended != end else []
    if choice == NAMED:
        return [*leads, tag, *blanks_after]
    found: Format = {"type": "triggered_tags", "triggers": [trigger], "tags": [tag]}
    settings = {"at_least_one": choice == "required", "stop_after_first": once}
    return [*leads, {**found, **settings}, *(blanks_after if once else [])]


def _leads(thoughts: Thoughts | None) -> Iterator[tuple[str, list[Format]]]:
    """Yield the ways of reasoning, and what leads the calls in each."""
    yield "disabled", []
    if thoughts is None:
        yield "auto", []
        return
    is_prompted, begin, end = thoughts
    mark = end.rstrip()
    for reasoning in ("enabled", "auto"):
        opened = "" if is_prompted and reasoning == "enabled" else begin
        text = {"type": "any_text", "excludes": [mark]}
        lead, rest = opened[: len(opened) - len(opened.lstrip())], end[len(mark) :]
        tag: Format = {"type": "tag", "begin": opened.lstrip(), "content": text, "end": mark}
        blanks = [_any_of(["", lead])] if lead else []
        led = _sequence([*blanks, tag, *([_const(rest)] if rest else [])])
        yield reasoning, [led if reasoning == "enabled" else {"type": "optional", "content": led}]


def _any_of(values: Iterable[str]) -> Format:
    return {"type": "or", "elements": [_const(each) for each in values]}


def _const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _sequence(elements: Sequence[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": [*elements]}


def shared_out(models: str, templates: Mapping[str, Any]) -> Format:
    """Return a format of whole templates, with what several have in one place."""
    seen = Counter(map(_text_of, objects_in([*templates.values()])))
    numbers: dict[str, int] = {}
    shared: list[Any] = []

    def folded(value: Any, *, is_top: bool = False) -> Any:
        if isinstance(value, list):
            return [folded(each) for each in value]
        if not isinstance(value, dict):
            return value
        text = _text_of(value)
        if seen[text] < 2 or len(text) < _LEAST_SHARED or is_top:
            return {name: folded(each) for name, each in value.items()}
        if text not in numbers:
            inner = folded(value, is_top=True)
            numbers[text] = len(shared)
            shared.append(inner)
        return {"shared": numbers[text]}

    kept = {key: folded(value) for key, value in templates.items()}
    return {"models": models, "templates": kept, "shared": shared}


def _text_of(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


_IN_JSON = Calls('{"name": "', '", "arguments": ', "}", separator=", ", after="]")
_THINKS = Thoughts(False, "<think>\n", "\n</think>\n\n")

OWN: Mapping[str, tuple[str, Calls, Thoughts | None]] = {
    "mistral": (
        "Mistral Small 3.2, Ministral 3, Magistral",
        Calls("[TOOL_CALLS]", f"{CALL_ID}[ARGS]", ""),
        Thoughts(False, "[THINK]", "[/THINK]"),
    ),
    "mistral_v3": (
        "Mistral-7B-Instruct-v0.3, Mistral-Nemo",
        replace(_IN_JSON, before=f"[TOOL_CALLS]{BLANK}[", end=f"{JSON_ID}}}"),
        None,
    ),
    "gemma_4": (
        "Gemma 4",
        Calls("<|tool_call>call:", "", "<tool_call|>", style="gemma"),
        Thoughts(False, "<|channel>thought\n", "<channel|>"),
    ),
    "granite": ("Granite 3", replace(_IN_JSON, before="<|tool_call|>["), None),
    "nemotron_3": (
        "Nemotron 3, Step 3.5",
        Calls("<tool_call>\n<function=", ">\n", "</function>\n</tool_call>", style="qwen_xml"),
        Thoughts(True, "<think>", "</think>\n"),
    ),
    "glm_4_5": (
        "GLM 4.5, GLM 4.6",
        Calls("<tool_call>", "\n", "</tool_call>", style="glm_xml", leads=("", "\n")),
        Thoughts(False, "\n<think>", "</think>\n"),
    ),
    "nemotron": (
        "Llama-Nemotron, Nemotron Nano 2",
        replace(_IN_JSON, before="<TOOLCALL>[", after="]</TOOLCALL>"),
        _THINKS,
    ),
    "lfm2": (
        "LFM2",
        Calls(
            "", "", "", before="<|tool_call_start|>[", separator=", ",
            after="]<|tool_call_end|>", style="python",
        ),
        None,
    ),
}  # fmt: skip
"""The formats that are given by their texts: models, texts of calls, and of thoughts."""
