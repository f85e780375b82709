"""Whether a JSON value lists tools, by its content."""

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
    """Tell whether a JSON value lists tools, also as a whole request or the answer of a server."""
    listed = entries(value)
    if listed is None:
        return False
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


def looks_like_tool(value: Any) -> bool:
    """Tell whether a JSON value is a tool with a schema, or says that it is a function."""
    if not isinstance(value, Mapping):
        return False
    if any(isinstance(value.get(key), list) for key in DECLARATIONS):
        return True
    if value.get("type") in ("function", "custom") or isinstance(value.get("function"), Mapping):
        return True
    named = isinstance(value.get("name"), str)
    return named and any(isinstance(value.get(key), Mapping) for key in SCHEMAS)
