"""Options of a list of tools: which calls are written, and how.

Tests: tests/unit/languages/tools
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from kbnf_core.languages.json_schema import options_of
from kbnf_core.text.errors import ConfigError

CALLS = ("tool", "tool_calls", "tool_choice", "reasoning", "single_call", "token_markers")
"""The options of the list itself; the others are those of the schemas in it."""


class CallOptions(NamedTuple):
    """Which calls are written, and how: of one ``tool``, in the format of a model.

    With ``token_markers`` a marker of the format that is one token of the vocabulary is that token.
    Without a ``tool_choice`` it is that of a request, which otherwise does not count.
    """

    tool: str | None = None
    tool_calls: str | None = None
    tool_choice: str | None = None
    reasoning: str = "disabled"
    single_call: bool = False
    token_markers: bool = False


_FLAGS = ("single_call", "token_markers")


def calls_of(options: Mapping[str, Any]) -> CallOptions:
    """Return how calls are written. Raises ``ConfigError`` for values that options cannot have."""
    from kbnf_core.languages.structural_tag.models import REASONING, format_named

    own = {name: options[name] for name in CALLS if options.get(name) is not None}
    for name, value in own.items():
        if not isinstance(value, bool if name in _FLAGS else str):
            raise ConfigError(f"`{name}` cannot be {value!r}"[:200])
    result = CallOptions(**own)
    if result.tool_calls is not None:
        format_named(result.tool_calls)
    if result.reasoning not in REASONING:
        raise ConfigError(f"`reasoning` is one of {', '.join(REASONING)}, not {result.reasoning!r}")
    if result.tool_calls is None and own.keys() - {"tool"}:
        raise ConfigError(f"`{min(own.keys() - {'tool'})}` is for `tool_calls`")
    options_of(of_schemas(options))
    return result


def of_schemas(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options that are for the schemas of the tools."""
    return {name: value for name, value in options.items() if name not in CALLS}
