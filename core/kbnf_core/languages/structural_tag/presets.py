"""The structural tags of tool calls: formats (``models``) that the tools of a request fill.

Tests: tests/unit/languages/test_presets.py, tests/unit/languages/tools/test_chat_templates.py
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kbnf_core.automata.regex.search import read_pattern
from kbnf_core.languages.json_schema.document import is_old
from kbnf_core.languages.json_schema.keywords import dialect_of
from kbnf_core.languages.structural_tag.models import (
    CHOICES,
    NAME,
    NAMED,
    REASONING,
    SCHEMA,
    Format,
    fixed_texts,
    format_named,
    key_of,
    marker_texts,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.json_text import objects_in
from kbnf_core.text.limits import DEFAULT_LIMITS

_MOST_DEPTH = 40


def tool_calls(
    preset: str,
    tools: Iterable[Mapping[str, Any]],
    *,
    choice: str = "auto",
    is_named: bool = False,
    reasoning: str = "disabled",
    parallel: bool = True,
) -> Format:
    """Return the structural tag of the texts that a model may write.

    ``preset`` is a format by its name in ``models.table()``, or as a text of JSON. ``tools`` are as
    in OpenAI's requests, or their ``function`` objects: a ``name`` and ``parameters``, a JSON
    Schema. ``choice`` is ``auto`` (text and calls), ``required`` (one call at least), ``none``
    (text), or the name of the tool that is called, also if ``is_named``: a tool may be called
    ``auto``. ``reasoning`` is ``disabled``, ``enabled`` or ``auto``; ``parallel`` says whether
    there may be several calls. Raises ``ConfigError`` for any other value.
    """
    preset_format = format_named(preset)
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
    for name, why in unwritable(
        preset_format, (function["name"] for function in functions)
    ).items():
        raise ConfigError(f"{name!r}: {why}"[:400])
    if kind == "required" and not functions:
        raise ConfigError("a call is required, and there are no tools")
    if kind == "none" or not functions:
        kind, functions = "none", []
    format_ = filled(preset_format, key_of(kind, reasoning, single=not parallel), functions)
    if kind == "none":
        calling = filled(preset_format, key_of("auto", reasoning, single=False), [_NAMELESS])
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
        return {
            **format_,
            "elements": [_without(element, words) for element in format_["elements"]],
        }
    if format_["type"] != "any_text":
        return format_
    return {**format_, "excludes": [*dict.fromkeys((*format_.get("excludes", ()), *words))]}


def _function(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str):
        raise ConfigError("a tool is an object with a `name` and `parameters`")
    return function


# Filling in


def filled(format_: Format, key: str, functions: Sequence[Mapping[str, Any]]) -> Any:
    """Return a template of a format with these tools in it.

    Raises ``ConfigError`` where the format has no such template, or for an invalid value.
    """
    if key not in format_["templates"]:
        keys = ", ".join(f"`{key_}`" for key_ in format_["templates"])
        raise ConfigError(f"this format has nothing for `{key}`, only for {keys}"[:400])
    return _filled(_whole(format_["templates"][key], format_["shared"], 0), functions)


def _whole(value: Any, shared: Sequence[Any], depth: int) -> Any:
    """Return a template with the parts that it shares."""
    if depth > _MOST_DEPTH:
        raise ConfigError(f"a format of tool calls is nested more than {_MOST_DEPTH} deep")
    if isinstance(value, list):
        return [_whole(item, shared, depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"shared"}:
        number = value["shared"]
        if not isinstance(number, int) or not 0 <= number < len(shared):
            raise ConfigError(f"a format of tool calls has no shared part {number!r}"[:200])
        return _whole(shared[number], shared, depth + 1)
    return {name: _whole(item, shared, depth + 1) for name, item in value.items()}


def _filled(value: Any, functions: Sequence[Mapping[str, Any]]) -> Any:
    if isinstance(value, str):
        return _named(value, functions[0]["name"]) if functions else value
    if isinstance(value, list):
        return [_filled(item, functions) for item in value]
    if not isinstance(value, dict):
        return value
    result = {}
    for name, item in value.items():
        if name == "json_schema" and item == SCHEMA:
            result[name] = schema_of_arguments(functions[0].get("parameters"))
            # By which calls are read back, and the places of a list of tools found.
            result["tool"] = functions[0]["name"]
        elif name == "tags" and isinstance(item, list):
            own = [tag for tag in item if _names_the_tool(tag)]
            result[name] = [_filled(tag, [tool]) for tool in functions for tag in own]
            result[name] += [_filled(tag, functions) for tag in item if tag not in own]
        else:
            result[name] = _filled(item, functions)
    return result


def _names_the_tool(value: Any) -> bool:
    """Return whether a tag names the tool itself, and not only tags within it."""
    if isinstance(value, str):
        return NAME in value
    if isinstance(value, dict):
        return any(_names_the_tool(inner) for name, inner in value.items() if name != "tags")
    return isinstance(value, list) and any(map(_names_the_tool, value))


_NO_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": False}
_OF_DOCUMENTS = ("$schema", "$id", "id", "definitions")


def schema_of_arguments(schema: Any) -> Any:
    """Return the schema of the arguments of a tool with these ``parameters``: objects.

    None means no arguments. That arguments are an object is implied, as MCP and OpenAI say: ``{}``,
    ``True`` and an object that may be null are objects. A schema of another type stays as it is.
    """
    if schema is None:
        return _NO_ARGUMENTS
    if not isinstance(schema, dict):
        return {"type": "object"} if schema is True else schema
    kind = schema.get("type")
    if "type" in schema and not (isinstance(kind, list) and "object" in kind):
        return schema
    if "$ref" in schema and is_old(dialect_of(schema)):
        # Nothing counts beside a reference in older drafts.
        kept = {name: schema[name] for name in _OF_DOCUMENTS if name in schema}
        return {**kept, "type": "object", "allOf": [{"$ref": schema["$ref"]}]}
    return {**schema, "type": "object"}


_QUOTED = re.compile(r'"\w+"\s*:\s*"$')
"""The text before a string of JSON that is a value."""


def _named(text: str, name: str) -> str:
    """Return a text of a format with the name of a tool, escaped where it is a string of JSON."""
    before, format_, after = text.partition(NAME)
    if not format_:
        return text
    written = json.dumps(name, ensure_ascii=False)[1:-1] if _QUOTED.search(before) else name
    return f"{before}{written}{_named(after, name)}"


def unwritable(format_: Format, names: Iterable[str]) -> dict[str, str]:
    """Return why a format cannot write the names of some tools.

    Outside of JSON nothing is escaped, so that a name ends at the delimiter that follows it. A
    marker of the format is one in a string of JSON, too.
    """
    marked = sorted(marker_texts(format_))
    delimiters: dict[str, str] = {}
    for text in fixed_texts(format_):
        before, is_named, after = text.partition(NAME)
        if is_named and not _QUOTED.search(before):
            is_in_tag = before.rfind("<") > before.rfind(">")
            delimiters[text] = '"<>&' if is_in_tag else after[:1] or "<({"
    problems = {}
    for name in names:
        written = json.dumps(name, ensure_ascii=False)
        for marker in (style for style in marked if style in written):
            problems[name] = (
                f"the name of a tool contains `{marker}`, a marker of this format of calls"
            )
        if not _fits(name, format_.get("names")):
            problems.setdefault(name, "what reads this format of calls cannot read this name")
        for text, ends in delimiters.items():
            for char in name:
                if char in ends or char.isspace() or not char.isprintable():
                    problem = f"{char!r} in the name of a tool"
                    problems.setdefault(
                        name, f"this format of calls cannot write {problem}: `{text}`"
                    )
    return problems


def _fits(name: str, pattern: Any) -> bool:
    """Return whether the reader of a format reads a name, if its names have a pattern."""
    if not isinstance(pattern, str):
        return True
    read, _ = read_pattern(pattern, DEFAULT_LIMITS)
    return read is not None and read.match(name, Budget(DEFAULT_LIMITS.work)) is not None
