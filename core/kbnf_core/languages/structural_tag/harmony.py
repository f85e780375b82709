"""The format of gpt-oss, in which tools are called by messages on a channel of their own.

Messages are separated by the beginning of the next one: analysis, calls of tools, the final answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Format: TypeAlias = dict[str, Any]

MODELS = "gpt-oss"
EXAMPLE = (
    "<|channel|>commentary to=functions.get_weather<|constrain|>json<|message|>"
    '{"city": "Paris"}<|call|>'
)
CALLS = (
    "<|channel|>commentary to=functions.{}<|constrain|>json<|message|>",
    " to=functions.{}<|channel|>commentary <|constrain|>json<|message|>",
    " to=functions.{}<|channel|>commentary json<|message|>",
)
_SEPARATOR = "<|start|>assistant"
REASONING = "<|channel|>analysis<|message|>"
"""What leads reasoning."""


def parameters(function: Mapping[str, Any]) -> Any:
    """Return the schema of a tool's arguments; all JSON where it has none that is kept to."""
    schema = function.get("parameters")
    return True if schema is None or function.get("strict") is False else schema


def messages(
    functions: Sequence[Mapping[str, Any]], choice: str, reasoning: str, *, parallel: bool
) -> Format:
    """Return the messages that a model may write; settings are as in ``presets.tool_calls``."""
    calls = [
        {"type": "tag", "begin": begin.replace("{}", function["name"]), "content": content,
         "end": "<|call|>"}
        for function in functions
        for content in [{"type": "json_schema", "json_schema": parameters(function)}]
        for begin in CALLS
    ]  # fmt: skip
    texts = [_message("final")] if choice in ("auto", "none") else []
    texts += [] if reasoning == "disabled" else [_message("analysis")]
    if parallel or not calls:
        return _separated([*calls, *texts])
    one = _separated(calls, at_least_one=True, stop_after_first=True)
    if not texts:
        return {"type": "optional", "content": one}
    before = [_separated(texts, at_least_one=True), {"type": "const_string", "value": _SEPARATOR}]
    then = {"type": "sequence", "elements": [*before, one]}
    return {"type": "or", "elements": [_separated(texts), one, then]}


def _message(channel: str) -> Format:
    begin = f"<|channel|>{channel}<|message|>"
    ends = ["<|end|>", "<|return|>"]
    return {"type": "tag", "begin": begin, "content": {"type": "any_text"}, "end": ends}


def _separated(tags: Sequence[Format], **settings: bool) -> Format:
    return {
        "type": "tags_with_separator", "tags": [*tags], "separator": _SEPARATOR, **settings
    }  # fmt: skip
