"""The format of Kimi-K3, in which a message is a row of blocks: thoughts, the response, calls.

The prompt ends with the beginning of the first block, so that is left out.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from kbnf_core.languages.structural_tag.harmony import Format, parameters

MODELS = "Kimi-K3"
_OPEN, _CLOSE, _SEP = "<|open|>", "<|close|>", "<|sep|>"
EXAMPLE = (
    "<|close|>response<|sep|><|open|>tools<|sep|>"
    '<|open|>call tool="get_weather" index="1"<|sep|>'
    '<|open|>argument key="city" type="string"<|sep|>Paris<|close|>argument<|sep|>'
    "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>"
)
"""A call behind a response that is empty."""
CALL = f'{_OPEN}call tool="{{}}" index="'
"""What leads the number of a call; ``{}`` is the name of the tool."""
AFTER_REASONING = f"{_CLOSE}think{_SEP}"


def messages(
    functions: Sequence[Mapping[str, Any]], choice: str, reasoning: str, *, parallel: bool
) -> Format:
    """Return the message that a model may write; settings are as in ``presets.tool_calls``."""
    blocks: list[Format] = []
    if reasoning != "disabled":
        thoughts = _block("think", _text(), is_begun=reasoning == "enabled")
        optional = {"type": "optional", "content": thoughts}
        blocks.append(optional if reasoning == "auto" else thoughts)
    blocks.append(_block("response", _text(), is_begun=reasoning == "disabled"))
    if functions:
        is_named = choice not in ("auto", "required")
        calls = {
            "type": "tags_with_separator",
            "tags": [_call(function) for function in functions],
            "separator": "",
            "at_least_one": True,
            "stop_after_first": is_named or not parallel,
        }
        tools = _block("tools", calls)
        blocks.append({"type": "optional", "content": tools} if choice == "auto" else tools)
    end = {"type": "const_string", "value": f"{_CLOSE}message{_SEP}"}
    return {"type": "sequence", "elements": [*blocks, end]}


def _block(name: str, content: Format, *, is_begun: bool = False) -> Format:
    begin = "" if is_begun else f"{_OPEN}{name}{_SEP}"
    return {"type": "tag", "begin": begin, "content": content, "end": f"{_CLOSE}{name}{_SEP}"}


def _text() -> Format:
    return {"type": "any_text", "excludes": [_OPEN, _CLOSE]}


def _call(function: Mapping[str, Any]) -> Format:
    arguments = {
        "type": "json_schema",
        "json_schema": parameters(function),
        "style": "kimi_k3_xml",
        "excludes": [_OPEN, _CLOSE, _SEP],
    }
    index = {"type": "regex", "pattern": "\\d+"}
    after = {"type": "const_string", "value": f'"{_SEP}'}
    return {
        "type": "tag",
        "begin": CALL.replace("{}", function["name"]),
        "content": {"type": "sequence", "elements": [index, after, arguments]},
        "end": f"{_CLOSE}call{_SEP}",
    }
