"""The reader of response templates: to the texts of messages, with calls of any tools.

A template in the configuration of a tokenizer is compared with the chat template beside it: the
text that it renders for an answer and for calls reads back as the same values, or the lint says
where not (W443). Rendering runs in a process with limits, as for formats that are derived.

Tests: tests/unit/languages/test_response_templates.py
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kbnf_core.kbnf.parsed import Marked, Parsed, Request
from kbnf_core.kbnf.tree import Document
from kbnf_core.languages.json_schema import options_of
from kbnf_core.languages.response_template.call_format import format_from, format_of_any
from kbnf_core.languages.response_template.detect import KEY, is_response_template
from kbnf_core.languages.response_template.message import message_of
from kbnf_core.languages.response_template.template import (
    MISREAD,
    Template,
    read_template,
    template_of,
)
from kbnf_core.languages.structural_tag.parse import TagReading
from kbnf_core.languages.structural_tag.read import TagReport, read_value
from kbnf_core.languages.tools import rendering
from kbnf_core.languages.tools.chat_template import derived_format
from kbnf_core.text.diagnostics import Diagnostic
from kbnf_core.text.errors import ConfigError, GrammarError, KbnfError, MessageError
from kbnf_core.text.files import read_file
from kbnf_core.text.source import Source

_TOKENIZER_CONFIG = "tokenizer_config.json"

LARGEST_TEMPLATE = 1 << 24
"""Bytes of a chat template, or of the configuration of a tokenizer, at most."""


def format_of_model(text: str, config: str | None = None) -> str:
    """Return the format of calls of a model, for the option ``tool_calls``.

    ``text`` is a response template, a chat template, or what ``tokenizer_config.json`` contains,
    which ``config`` is beside a chat template in a file of its own. A response template goes first.
    Raises ``GrammarError`` or ``ConfigError`` for one that no format follows from.
    """
    for text_ in (text, config):
        try:
            value = json.loads(text_) if text_ and text_.lstrip().startswith("{") else None
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and is_response_template(value):
            source = Source(str(text_), is_json=True)
            report = TagReport(source)
            result = format_from(template_of(str(text_)), report)
            if report.errors:
                raise GrammarError(report.errors)
            return json.dumps(result, ensure_ascii=False)
    return derived_format(text, config)


def format_of_file(path: Path) -> str:
    """Return the format of calls of a model's folder, or of a template or configuration in one.

    A chat template in a file of its own has the tokens of the configuration beside it. Raises
    ``ConfigError``, and what ``format_of_model`` and reading a file raise.
    """

    def read(file: Path) -> str:
        return read_file(file, LARGEST_TEMPLATE).decode()

    if path.is_dir():
        template = path / "chat_template.jinja"
        path = template if template.is_file() else path / _TOKENIZER_CONFIG
    config = path.with_name(_TOKENIZER_CONFIG)
    is_alone = path == config or not config.is_file()
    return format_of_model(read(path), None if is_alone else read(config))


def parse_response_template(source: Source, request: Request) -> Parsed:
    """Read a response template, or the configuration of a tokenizer that has one."""
    report = TagReport(source)
    template = read_template(source, report, request.limits)
    if template is None or report.errors:
        return Parsed(Document(source, (), (), frozenset(("start",))), tuple(report.errors))
    return _Messages(template, report, request)


class _Messages(TagReading):
    """The texts that a template reads."""

    def __init__(self, template: Template, report: TagReport, request: Request) -> None:
        self._template = template
        tag = format_of_any(template, report)
        nodes = [] if report.errors else read_value(tag, _Everywhere(report), request.limits)
        options = replace(options_of(request.options), lossy=request.lossy)
        super().__init__(nodes, report, request, options)

    def marked(self) -> Marked:
        """Return the marked rules, and the description by which messages are read."""
        messages = json.dumps({"template": self._template.value, "tools": []})
        return super().marked()._replace(messages=messages)

    def lint(self) -> tuple[Diagnostic, ...]:
        """Return the messages that are not read as the chat template beside it writes them."""
        report = TagReport(self._report.source)
        for message in _misread(self._report.source.text):
            report.note(f"/{KEY}", message, "compare its fields with the chat template",
                        code=MISREAD)  # fmt: skip
        return (*super().lint(), *report.notes)


class _Everywhere(TagReport):
    """A report for the tag of a template, whose pointers are not in the author's text."""

    def __init__(self, report: TagReport) -> None:
        super().__init__(report.source)
        self.errors, self.losses, self.notes = report.errors, report.losses, report.notes

    def source_pointer(self, pointer: str) -> str:
        del pointer
        return ""


# Compared with the chat template

_TEXT = "qzplainqz"
_ARGUMENTS: Mapping[str, Any] = {"qzone": 'a "b"', "qztwo": 3}
_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": "d",
            "parameters": {
                "type": "object",
                "properties": {
                    "qzone": {"type": "string", "description": "d"},
                    "qztwo": {"type": "integer", "description": "d"},
                },
            },
        },
    }
    for name in ("qz_first", "qz_second")
]


def _misread(text: str) -> list[str]:
    """Return the messages that are not read as the chat template of a configuration writes them."""
    value = json.loads(text)
    if KEY not in value or not value.get("chat_template"):
        return []
    try:
        result: list[str] = rendering.in_process(_compared, text)
    except KbnfError as error:
        return [f"it is not held against the chat template: {error}"[:300]]
    return result


def _compared(text: str) -> list[str]:
    """Return the differences, in the process that renders the template."""
    template = template_of(text)
    chat, tokens = rendering.template_in(text)
    render = rendering.renderer(chat, tokens, _TOOLS)
    try:
        prompt = render([rendering.asked()], add_generation_prompt=True)
    except rendering.OtherwiseError as error:
        raise ConfigError(f"the chat template renders no prompt: {error}") from None
    result = []
    for title, messages, wanted in _probes():
        try:
            whole = render(messages).rstrip()
        except rendering.OtherwiseError:
            continue
        begun = prompt if whole.startswith(prompt) else ""
        try:
            read = message_of(template, whole[len(begun) :] if begun else "",
                              prefix=begun or whole, tools=_TOOLS)  # fmt: skip
        except MessageError as error:
            result.append(f"{title} that the chat template writes cannot be read: {error}"[:300])
            continue
        read_values = _text_and_calls(read)
        if any(read_values.get(name) != wanted_value for name, wanted_value in wanted.items()):
            result.append(f"{title} that the chat template writes is read as {read_values}"[:300])
    return result


def _probes() -> Iterator[tuple[str, list[rendering.Message], dict[str, Any]]]:
    """Yield conversations, the messages that they end with, and the expected reading."""
    yield "an answer", rendering.answer(_TEXT), {"text": _TEXT}
    names = [tool["function"]["name"] for tool in _TOOLS]
    for title, count in (("a call", 1), ("the calls", 2)):
        made = [(name, f"qzidaaaa{name[3]}", _ARGUMENTS) for name in names[:count]]
        wanted = {"calls": [(name, dict(_ARGUMENTS)) for name in names[:count]]}
        yield title, rendering.calling(made, ""), wanted
        yield f"{title} after text", rendering.calling(made, _TEXT), {**wanted, "text": _TEXT}


def _text_and_calls(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the text and the calls of a message."""
    calls = message.get("tool_calls") or []
    functions = [call.get("function", call) for call in calls if isinstance(call, dict)]
    calls_ = [(function.get("name"), function.get("arguments")) for function in functions]
    return {"text": message.get("content", ""), "calls": calls_}
