"""Whether a JSON value lists tools or asks for an answer in some form, by its content.

Tests: tests/unit/languages/tools/test_lists.py
"""

from collections.abc import Mapping
from typing import Any

DECLARATIONS = ("functionDeclarations", "function_declarations")
"""Where an entry of Gemini's has its functions."""

SCHEMAS = (
    "input_schema",
    "inputSchema",
    "parameters",
    "parametersJsonSchema",
    "parameters_json_schema",
)
"""Where a tool has the schema of its arguments."""


def is_tool_list(value: Any) -> bool:
    """Return whether a JSON value lists tools, also in a request or the answer of a server."""
    listed = entries(value)
    if listed is None:
        return answer(value) is not None
    return any(map(looks_like_tool, listed[0])) or not listed[0]


def entries(value: Any) -> tuple[list[Any], str] | None:
    """Return the entries of a list of tools and its pointer; one tool stands for a list of it."""
    if isinstance(value, list):
        return value, ""
    if not isinstance(value, Mapping):
        return None
    result = value.get("result")
    if isinstance(result, Mapping) and isinstance(result.get("tools"), list):
        return result["tools"], "/result/tools"
    if isinstance(value.get("tools"), list):
        return value["tools"], "/tools"
    return ([value], "") if looks_like_tool(value) else None


_ANSWERS = (
    ("response_format",),
    ("text", "format"),
    ("output_format",),
    ("output_config", "format"),
    ("generationConfig", "responseJsonSchema"),
    ("generationConfig", "responseSchema"),
    ("generation_config", "response_json_schema"),
    ("generation_config", "response_schema"),
)
"""The paths in requests to the answer: OpenAI's two APIs, Anthropic's, and Gemini's."""


def answer(value: Any) -> tuple[Any, tuple[str, ...]] | None:
    """Return the requested answer, of a request or the value itself, and the path to it."""
    if not isinstance(value, Mapping):
        return None
    for path in _ANSWERS:
        result: Any = value
        for name in path:
            result = result.get(name) if isinstance(result, Mapping) else None
        if isinstance(result, Mapping):
            return result, path
    kind = value.get("type")
    is_format = kind == "json_object" or (value.keys() == {"type"} and kind == "text")
    if is_format or (kind == "json_schema" and isinstance(_inner(value), Mapping)):
        return value, ()
    is_named = value.keys() <= _NAMED and isinstance(value.get("name"), str)
    return (value, ()) if is_named and isinstance(value.get("schema"), Mapping) else None


_NAMED = frozenset(("name", "schema", "strict", "description"))


def _inner(value: Mapping[str, Any]) -> Any:
    return value.get("json_schema", value.get("schema"))


def looks_like_tool(value: Any) -> bool:
    """Return whether a JSON value is a tool with a schema, or says that it is a function."""
    if not isinstance(value, Mapping):
        return False
    if any(isinstance(value.get(key), list) for key in DECLARATIONS):
        return True
    if value.get("type") in ("function", "custom") or isinstance(value.get("function"), Mapping):
        return True
    named = isinstance(value.get("name"), str)
    schemas = (value.get(key) for key in SCHEMAS)
    return named and any(isinstance(schema, Mapping) or schema is True for schema in schemas)
