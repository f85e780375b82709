"""The formats in which common models write tool calls, as structural tags.

``tool_calls`` makes a structural tag of a format and of the tools of a request. Most formats are
entries of the table in ``models``; two that are not made of text and calls have a module each.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from kbnf_core.languages.structural_tag import harmony, kimi_k3
from kbnf_core.languages.structural_tag.harmony import Format, parameters
from kbnf_core.languages.structural_tag.models import PRESETS, Preset, Section
from kbnf_core.text.errors import ConfigError

CHOICES = ("auto", "required", "none")
REASONING = ("disabled", "enabled", "auto")

_OF_MESSAGES = {"harmony": harmony, "kimi_k3": kimi_k3}

NAMES: Mapping[str, str] = {
    **{name: preset.models for name, preset in PRESETS.items()},
    **{name: each.MODELS for name, each in _OF_MESSAGES.items()},
}
"""All formats, and the models that write them."""

EXAMPLES: Mapping[str, str] = {
    **{name: preset.example for name, preset in PRESETS.items()},
    **{name: each.EXAMPLE for name, each in _OF_MESSAGES.items()},
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
    if preset in _OF_MESSAGES:
        write = _OF_MESSAGES[preset].messages
        found = write(functions, choice, reasoning, parallel=parallel)
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
        guarded = [*preset.excludes, trigger] if preset.guards_text else [*preset.think]
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
    whole = {"type": "tag", "begin": section.begin, "content": inner, "end": section.end}
    called = {"type": "triggered_tags", "triggers": [section.trigger], "tags": [whole]}
    settings = {"excludes": [*preset.excludes], "stop_after_first": once}
    if choice == "required" and section.repeats:
        return {**called, **settings, "at_least_one": True}
    if choice != "auto":
        before = _const(section.before + section.begin)
        return _sequence([before, inner, _const(section.end)])
    return {**called, **settings}


def _tag(preset: Preset, function: Mapping[str, Any]) -> Format:
    schema = parameters(function)
    content: Format = {"type": "json_schema", "json_schema": schema, "style": preset.style}
    if preset.numbered:
        after = preset.numbered.replace("{}", function["name"])
        numbered = _const(after)
        content = _sequence([{"type": "regex", "pattern": "\\d+"}, numbered, content])
    begin = preset.begin.replace("{}", function["name"])
    return {"type": "tag", "begin": begin, "content": content, "end": preset.end}


def _reasoning(preset: Preset, mode: str) -> list[Format]:
    if mode == "disabled":
        instead = preset.without_reasoning
        return [_const(instead)] if instead else []
    begin, end = preset.think
    begin = "" if mode == "enabled" and preset.prefilled else begin
    excluded = preset.not_in_reasoning or (() if mode == "enabled" else preset.think)
    text = {"type": "any_text", "excludes": [*excluded]}
    found: Format = {"type": "tag", "begin": begin, "content": text, "end": end}
    if preset.after_reasoning:
        found = _sequence([found, _const(preset.after_reasoning)])
    if mode == "auto" and preset.skipped:
        found = {"type": "or", "elements": [found, _const(preset.skipped)]}
    return [{"type": "optional", "content": found} if mode == "auto" else found]


def _const(value: str) -> Format:
    return {"type": "const_string", "value": value}


def _sequence(elements: Sequence[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "sequence", "elements": [*elements]}
