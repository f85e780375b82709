"""Calls of tools in what models write, for the parsers of servers: whole, or while a text comes.

The format of the calls is a name of ``structural_tag.models``, or a path: the folder of a model, a
chat template, a configuration with a response template. Servers' plugins read it from the
environment (``VARIABLE``). What fits no format is text, and so is what follows it.
"""

import json
import logging
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kbnf_core.grammar import Grammar
from kbnf_core.languages.response_template.parse import format_of_file
from kbnf_core.languages.structural_tag.models import NAME, format_named
from kbnf_core.languages.structural_tag.presets import filled, triggers_in
from kbnf_core.parse.calls import CallReader, Delta
from kbnf_core.text.errors import ConfigError, GrammarError, ParseError

VARIABLE = "KBNF_TOOL_CALLS"
"""What names the format in the environment of a server."""

KEPT = 64
"""Grammars that are kept for requests with the same tools."""

_logger = logging.getLogger(__name__)


@lru_cache(maxsize=8)
def call_format(name: str) -> str:
    """Return a format by its name or path. Raises ``KbnfError`` or ``OSError``."""
    path = Path(name)
    found = format_of_file(path) if path.suffix or path.is_dir() else name
    format_named(found)
    return found


def wanted_format() -> str:
    """Return the format that the environment names. Raises as ``call_format`` does."""
    name = os.environ.get(VARIABLE)
    if not name:
        raise ConfigError(f"{VARIABLE} names no format of tool calls")
    return call_format(name)


def may_have_calls(format_: str, text: str) -> bool:
    """Return whether a text has what begins calls, which a text without calls has not."""
    return any(each in text for each in _triggers(format_))


@lru_cache(maxsize=8)
def _triggers(format_: str) -> tuple[str, ...]:
    """Return what begins calls: the triggers of a format, else the first text around a name."""
    tag = filled(format_named(format_), "auto disabled", [{"name": NAME}])
    return tuple(dict.fromkeys([*triggers_in(tag)] or _openings(tag)))


def _openings(tag: Any) -> Iterator[str]:
    """Yield what begins the calls in a format: the first text ahead of a name, or around it."""
    pending = [(tag, "")]
    while pending:
        value, opened = pending.pop()
        text = value.get("begin", value.get("value", ""))
        before, is_named, _ = str(text).partition(NAME)
        opened = opened or before.strip()
        if is_named and opened:
            yield opened
        inner = []
        for each in (value.get("content"), *value.get("elements", ()), *value.get("tags", ())):
            if isinstance(each, dict):
                inner.append((each, opened))
                if each.get("type") == "const_string":
                    opened = opened or each["value"].partition(NAME)[0].strip()
        pending += reversed(inner)


class ToolCalls:
    """Reads one message: ``feed`` and ``finish`` return what is new, ``calls`` are those so far.

    A call is ``{"name", "arguments"}``, with arguments as a text of JSON. Where the schemas of the
    tools cannot be used, calls are read by their names alone; the log says so. A message that stops
    to fit the format is read as far as that is certain or a whole message, and the rest is text: in
    whatever pieces it comes, it is the same text and the same calls.
    """

    def __init__(self, format_: str, tools: Iterable[Mapping[str, Any]]) -> None:
        grammar = _grammar(format_, json.dumps([*tools]))
        reader = None if grammar is None else grammar.value_reader()
        self._reader = reader if isinstance(reader, CallReader) else None
        self.calls: list[dict[str, str]] = []
        self._fed = bytearray()
        # Characters by kind and call: those returned, and those of them that the reader has read.
        self._sent = Counter[tuple[str, int | None]]()
        self._read = Counter[tuple[str, int | None]]()

    def whole(self, text: str) -> tuple[str, list[dict[str, str]]]:
        """Return the text around the calls in a whole text, and these; one that is cut is none."""
        found = [*self.feed(text), *self.finish()]
        calls = [each for each in self.calls if _is_json(each["arguments"])]
        around = "".join(each.text for each in found if each.kind == "text")
        return (around, calls) if calls else (text, [])

    def feed(self, text: str) -> list[Delta]:
        """Return what is certain after the next piece of the text."""
        if self._reader is None:
            return [Delta("text", text)] if text else []
        data = text.encode("utf-8", "surrogatepass")
        self._fed += data
        try:
            self._reader.feed(data)
        except ParseError:
            return self._given_up(self._reader)
        return self._new(self._reader)

    def finish(self) -> list[Delta]:
        """Return what was held back as the beginning of a call, at the end of the text."""
        if self._reader is None:
            return []
        try:
            self._reader.finish()
        except ParseError:
            return self._given_up(self._reader)
        return self._new(self._reader)

    def _given_up(self, stopped: CallReader) -> list[Delta]:
        """Return what is certain, or whole, ahead of what does not fit, and the rest as text."""
        data, self._reader = bytes(self._fed), None
        fitting, end = stopped.extent(data)
        reader = stopped.again()
        reader.feed(data[:fitting])
        if end > reader.settled:
            reader = stopped.again()
            reader.feed(data[:end])
            reader.finish()
        self._read.clear()
        found = self._new(reader)
        left = data[max(end, reader.settled) :].decode("utf-8", "surrogatepass")
        return [*found, Delta("text", left)] if left else found

    def _new(self, reader: CallReader) -> list[Delta]:
        """Return what a reader has read, less what was returned before."""
        found = []
        for kind, text, call in reader.deltas():
            ahead = max(self._sent[kind, call] - self._read[kind, call], 0)
            size = 1 if kind == "name" else len(text)
            self._read[kind, call] += size
            self._sent[kind, call] += max(size - ahead, 0)
            if ahead >= size:
                continue
            found.append(Delta(kind, text[ahead:], call))
            if kind == "name":
                self.calls.append({"name": text, "arguments": ""})
            elif call is not None:
                self.calls[call]["arguments"] += text[ahead:]
        return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@lru_cache(maxsize=KEPT)
def _grammar(format_: str, tools: str) -> Grammar | None:
    """Return the grammar of calls of tools, None where there are none that can be called."""
    listed = json.loads(tools)
    if not listed:
        return None
    by_name = [
        {"name": each.get("function", each).get("name"), "parameters": {"type": "object"}}
        for each in listed
    ]
    for each in (listed, by_name):
        try:
            return Grammar.from_tools(each, tool_calls=format_, lossy=True, closed=False)
        except GrammarError as error:
            _logger.warning("tools are not read by their schemas: %s", error)
    return None
