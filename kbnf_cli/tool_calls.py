"""The calls of tools in a model's format: its structural tag, from a list of tools."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kbnf_cli.files import read_source
from kbnf_core.errors import GrammarError

if TYPE_CHECKING:
    from kbnf_core.source import Source

_Command = TypeVar("_Command", bound=Callable[..., Any])

_EXAMPLE = """[{"type": "function", "function": {"name": "get_weather", "parameters":
{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]
"""


@dataclass(frozen=True, kw_only=True)
class ToolCalls:
    """The values of the options that ``tool_options`` adds."""

    tool_calls: str | None
    tool_choice: str
    reasoning: str
    single_call: bool


def tool_options(command: _Command) -> _Command:
    """Add what says how tools are called: see ``ToolCalls``."""
    for option in (
        click.option("--single-call", is_flag=True, help="One call of a tool at most."),
        click.option(
            "--reasoning",
            type=click.Choice(["disabled", "enabled", "auto"]),
            default="disabled",
            help="Whether thoughts lead the calls of tools.  [default: disabled]",
        ),
        click.option(
            "--tool-choice",
            metavar="auto|required|none|TOOL",
            default="auto",
            help="Whether tools are called, or which one.  [default: auto]",
        ),
        click.option(
            "--tool-calls",
            metavar="FORMAT",
            help="Calls of tools in this format of --list-formats. FILE lists the tools, as"
            " requests to OpenAI do; without FILE there is one, get_weather. `--to structural-tag`"
            " shows the format itself.",
        ),
    ):
        command = option(command)
    return command


def read_tag(calls: ToolCalls, file: Path | None) -> "Source":
    """Return the structural tag of the tools in a file.

    Raises ``GrammarError`` for a text that is none, ``ConfigError`` for settings that do not fit.
    """
    from kbnf_core.languages.structural_tag.presets import tool_calls
    from kbnf_core.source import Source

    text, name = _EXAMPLE, "get_weather"
    if file is not None:
        source, invalid = read_source(file, file.as_posix())
        if invalid is not None:
            raise GrammarError([invalid])
        text, name = source.text, file.as_posix()
    made = tool_calls(
        str(calls.tool_calls),
        _tools(text, name),
        choice=calls.tool_choice,
        reasoning=calls.reasoning,
        parallel=not calls.single_call,
    )
    shown = json.dumps(made, indent=2, ensure_ascii=False) + "\n"
    return Source(shown, f"{name} (as {calls.tool_calls})")


def _tools(text: str, name: str) -> list[Any]:
    """Return the list of tools in a text, which may be a whole request."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name} is no JSON: {error}") from None
    if isinstance(found, dict) and "tools" in found:
        found = found["tools"]
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise click.UsageError(f"{name} is no list of tools")
    return found
