"""Response templates of our own, and texts of them, for tests beside transformers' parser.

Together they have each way to open, close and read a region. ``python -m
kbnf_testing.response_templates 10000`` reads so many texts with both and prints what differs.
"""

import json
import sys
from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.examples.sampling import sample_texts
from kbnf_core.languages.response_template.message import message_of
from kbnf_core.languages.response_template.parse import format_of_model
from kbnf_core.languages.response_template.template import Template, template_of
from kbnf_core.text.errors import MessageError, WorkLimitError

_FUNCTION = {"type": "function", "function": {"name": "{name}", "arguments": "{content}"}}
_LISTED = {"type": "function", "function": {"name": "{name}", "arguments": "{arguments}"}}
_ROLE = {"role": "assistant"}

TEMPLATES: dict[str, dict[str, Any]] = {
    "objects": {
        "defaults": _ROLE,
        "start_anchor": "<|assistant|>\n",
        "fields": {
            "thinking": {"open": ["<think>", "<think>\n"], "close": "</think>"},
            "tool_calls": {
                "open_pattern": r"\s*<call>", "close": "</call>", "repeats": True,
                "content": "json", "transform": {"type": "function", "function": "{content}"},
            },
            "content": {"close_pattern": r"\s*(?:<end>|<eos>)"},
        },
    },
    "elements": {
        "start_anchor_pattern": r"<bot>\n+",
        "fields": {
            "reasoning_content": {
                "open": "<think>", "close": "</think>", "content_args": {"strip": False},
            },
            "tool_calls": {
                "open_pattern": r"\s*<call>\s*<function=(?P<name>[^>\n]+)>",
                "close_pattern": r"</function>\s*</call>", "repeats": True,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": r"<parameter=(?P<key>[^>\n]+)>\s*(?P<value>.*?)\s*</parameter>",
                    "merge_duplicates": True,
                },
                "transform": _FUNCTION,
            },
            "content": {},
        },
    },
    "attributes": {
        "start_anchor": ["<bot>", "<bot>\n"],
        "fields": {
            "tool_calls": {
                "open_pattern": '<invoke name="(?P<name>[^"]+)">', "close": "</invoke>",
                "repeats": True, "content": "xml-inline",
                "content_args": {
                    "tag_pattern": '<parameter name="(?P<key>[^"]*)">(?P<value>.*?)</parameter>',
                    "value_parser": {"name": "json", "args": {"allow_non_json": True}},
                },
                "transform": _FUNCTION,
            },
            "content": {"repeats": True, "join": "\n"},
        },
    },
    "notation": {
        "defaults": {**_ROLE, "content": ""},
        "start_anchor": "<bot>",
        "fields": {
            "reasoning": {"open": "<|channel>thought\n", "close": "<channel|>"},
            "tool_calls": {
                "open_pattern": r"<\|tool>call:(?P<name>\w+)", "close": "<tool|>", "repeats": True,
                "content": "json",
                "content_args": {"unquoted_keys": True, "string_delims": [['<|"|>', '<|"|>']]},
                "transform": _FUNCTION,
            },
            "content": {"close": ["<turn|>", "<|reply>"]},
        },
    },
    "python": {
        "start_anchor": "<bot>",
        "fields": {
            "tool_calls": {
                "open": "<|calls|>", "close": "<|end|>", "content": "python-call-list",
                "transform": _LISTED, "transform_each": True,
            },
            "content": {},
        },
    },
    "list": {
        "start_anchor": "<bot>",
        "fields": {
            "tool_calls": {
                "open": "[TOOL_CALLS]", "content": "json", "transform_each": True,
                "transform": {"function": {"name": "{name}", "arguments": "{parameters}"}},
            },
            "content": {},
        },
    },
    "channels": {
        "defaults": _ROLE,
        "start_anchor": "<|start|>assistant",
        "fields": {
            "thinking": {"open": "<|channel|>analysis<|message|>", "close": "<|end|>"},
            "score": {"open": "<score>", "close": "</score>", "content": "float"},
            "count": {"open": "<n>", "close": "</n>", "content": "int", "optional": False},
            "is_sure": {"open": "|", "close": "|", "content": "bool"},
            "notes": {
                "open": "<notes>\n", "close": "</notes>", "content": "kv-lines", "repeats": True,
                "content_args": {"value_parser": {"name": "text"}},
            },
            "tool_calls": {
                "open_pattern": r"<\|channel\|>to=(?P<name>[a-z_0-9]+)<\|message\|>",
                "close": ["<|call|>", "<|call|>\n"], "content": "json", "repeats": True,
                "transform": _FUNCTION,
            },
            "content": {"open": "<|channel|>final<|message|>", "content_args": {"strip": False}},
        },
    },
}  # fmt: skip

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "parameters": {
                "type": "object",
                "properties": {
                    "city": {"type": "string"},
                    "days": {"type": "integer"},
                    "sure": {"type": "boolean"},
                },
                "required": ["city"],
            },
        },
    },
    {"name": "noop", "parameters": {"type": "object", "properties": {}}},
    {
        "type": "function",
        "function": {
            "name": "f2",
            "parameters": {
                "type": "object",
                "properties": {
                    "part": {"type": ["object", "null"], "properties": {"x": {"type": "number"}}},
                    "list": {"type": "array", "items": {"type": "string"}},
                    "unit": {"enum": ["C", "F"]},
                },
            },
        },
    },
]  # fmt: skip

_BYTES = Vocabulary.bytes()
_PIECES = ("a", " ", "\n", "1", "{", "}", '"', ":", "name", "null", "é", "[f(a=1, b='x')]", "0.5")


def their_message(text: str, value: dict[str, Any], prefix: str, tools: list[Any]) -> Any:
    """Return what transformers reads; None where it raises."""
    from transformers.utils.chat_parsing import parse_response

    try:
        return parse_response(text, value, prefix=prefix, tools=tools)
    except (ValueError, KeyError, RecursionError):
        return None


def our_message(text: str, template: Template, prefix: str, tools: list[Any]) -> Any:
    """Return the message as we read it; None if the text is not one."""
    try:
        return message_of(template, text, prefix=prefix, tools=tools)
    except (MessageError, WorkLimitError):
        return None


def difference(
    text: str, value: dict[str, Any], template: Template, prefix: str = "", tools: Any = ()
) -> str | None:
    """Return how the messages of a text differ, character by character; None if not."""
    theirs = json.dumps(their_message(text, value, prefix, [*tools]))
    ours = json.dumps(our_message(text, template, prefix, [*tools]))
    return None if theirs == ours else f"{text!r}: {theirs} there, {ours} here"


def grammars(
    value: dict[str, Any], step: int = 1
) -> Iterator[tuple[Grammar, list[dict[str, Any]]]]:
    """Yield the grammars of a template, for each way to ask, with the tools that are called."""
    yield Grammar.from_response_template(value), []
    format_ = format_of_model(json.dumps(value))
    ways = [("auto", "auto"), ("required", "disabled"), ("f2", "enabled"), ("none", "auto")]
    for single, (choice, reasoning) in [*product((False, True), ways)][::step]:
        yield Grammar.from_tools(
            TOOLS, tool_calls=format_, tool_choice=choice, reasoning=reasoning, single_call=single
        ), TOOLS  # fmt: skip


def texts_of(grammar: Grammar, count: int, seed: int) -> Iterator[str]:
    """Yield random texts of a grammar, leaving out invalid UTF-8."""
    for text in sample_texts(Engine(grammar, _BYTES, finish="eos"), count, seed, 200).texts:
        try:
            yield text.decode()
        except UnicodeDecodeError:
            continue


def damaged(text: str, value: dict[str, Any], random: Random) -> str:
    """Return a text with some part replaced by another, or by a mark of the template."""
    marks = [each for each in _marks(value) if each]
    start = random.randrange(len(text) + 1)
    end = min(len(text), start + random.choice((0, 0, 1, 3, 12)))
    return text[:start] + random.choice([*marks, *_PIECES]) + text[end:]


def _marks(value: dict[str, Any]) -> Iterator[str]:
    for field in value["fields"].values():
        for key in ("open", "close"):
            held = field.get(key, [])
            yield from [held] if isinstance(held, str) else held


def main(count: int) -> int:
    """Read texts with both, and print what differs."""
    found = read = unread = 0
    for name, value in TEMPLATES.items():
        template = template_of(value)
        for number, (grammar, tools) in enumerate(grammars(value)):
            for text in texts_of(grammar, -(-count // (9 * len(TEMPLATES))) * 2, number):
                read += 1
                unread += our_message(text, template, "", tools) is None
                differs = difference(text, value, template, "", tools)
                if differs:
                    found += 1
                    sys.stdout.write(f"{name} {differs[:1000]}\n")
    sys.stdout.write(f"{read} texts, of which {unread} are no message; {found} differ\n")
    return found


if __name__ == "__main__":
    sys.exit(bool(main(int(sys.argv[1]))))
