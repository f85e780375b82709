"""The structural tags of tool calls, of a format (``models``) and the tools of a request."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from kbnf_core.languages.structural_tag.call_texts import CHOICES, NAMED, REASONING, Format, key_of
from kbnf_core.languages.structural_tag.models import filled, format_named, unwritable
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.json_text import objects_in


def tool_calls(
    preset: str,
    tools: Iterable[Mapping[str, Any]],
    *,
    choice: str = "auto",
    is_named: bool = False,
    reasoning: str = "disabled",
    parallel: bool = True,
) -> Format:
    """Return the structural tag of what a model may write.

    ``preset`` is a format by its name in ``models.table()``, or as a text of JSON.
    ``tools`` are as in OpenAI's requests, or their ``function`` objects: a ``name`` and
    ``parameters``, a JSON Schema. ``choice`` is ``auto`` (text and calls), ``required`` (one call
    at least), ``none`` (text), or the name of the tool that is called, which it also is if
    ``is_named``: a tool may be called ``auto``. ``reasoning`` is
    ``disabled``, ``enabled`` or ``auto``; ``parallel`` says whether there may be several calls.
    Raises ``ConfigError`` for what is none of these.
    """
    found = format_named(preset)
    if reasoning not in REASONING:
        raise ConfigError(f"`reasoning` is one of {', '.join(REASONING)}, not {reasoning!r}")
    functions = [_function(tool) for tool in tools]
    names = [function["name"] for function in functions]
    kind = choice if choice in CHOICES and not is_named else NAMED
    if kind == NAMED:
        functions = [function for function in functions if function["name"] == choice]
        if not functions:
            listed = ", ".join([*CHOICES, *names])
            raise ConfigError(f"`choice` is one of {listed}, not {choice!r}")
    for name, why in unwritable(found, (function["name"] for function in functions)).items():
        raise ConfigError(f"{name!r}: {why}"[:400])
    if kind == "required" and not functions:
        raise ConfigError("a call is required, and there are no tools")
    if kind == "none" or not functions:
        kind, functions = "none", []
    format_ = filled(found, key_of(kind, reasoning, single=not parallel), functions)
    if kind == "none":
        calling = filled(found, key_of("auto", reasoning, single=False), [_NAMELESS])
        format_ = _without(format_, [*triggers_in(calling)])
    return {"type": "structural_tag", "format": format_}


_NAMELESS = {"name": "n"}


def triggers_in(format_: Any) -> Iterator[str]:
    """Yield the texts that begin calls in free text."""
    for value in objects_in(format_):
        yield from value.get("triggers", ())


def _without(format_: Format, words: Iterable[str]) -> Format:
    """Return a format whose free text, but for thoughts, contains none of some words."""
    if format_["type"] == "sequence":
        return {**format_, "elements": [_without(each, words) for each in format_["elements"]]}
    if format_["type"] != "any_text":
        return format_
    return {**format_, "excludes": [*dict.fromkeys((*format_.get("excludes", ()), *words))]}


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ConfigError("a tool is an object with a `name` and `parameters`")
    return function
