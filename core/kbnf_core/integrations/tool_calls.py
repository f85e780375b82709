"""Calls of tools in the output of models, for the parsers of servers: whole, or in chunks.

The format of the calls is a name of ``structural_tag.models``, or a path: the folder of a model, a
chat template, a configuration with a response template. Servers' plugins read it from the
environment (``VARIABLE``). What fits no format is text, and so is what follows it.

Tests: tests/serving
"""

import json
import logging
import os
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from kbnf_core.languages.response_template.parse import format_of_file
from kbnf_core.languages.structural_tag.models import format_named
from kbnf_core.languages.structural_tag.pieces import Tolerated
from kbnf_core.languages.structural_tag.reading import CallLanguage, language_of_format
from kbnf_core.languages.structural_tag.validity import problem_of
from kbnf_core.parse.calls import Delta
from kbnf_core.parse.messages import MessageReader
from kbnf_core.parse.patterns import may_begin
from kbnf_core.text.errors import ConfigError

VARIABLE = "KBNF_TOOL_CALLS"
"""The name of the format in the environment of a server."""

KEPT = 256
"""Schemas of tools that are remembered, so that each is in the log once."""

MOST_SHOWN = 8
"""Deviations that the log line of a message lists at most."""

_logger = logging.getLogger(__name__)


@lru_cache(maxsize=8)
def call_format(name: str) -> str:
    """Return a format by its name or path. Raises ``KbnfError`` or ``OSError``."""
    path = Path(name)
    result = format_of_file(path) if path.suffix or path.is_dir() else name
    format_named(result)
    return result


def wanted_format() -> str:
    """Return the format that the environment names. Raises as ``call_format`` does."""
    name = os.environ.get(VARIABLE)
    if not name:
        raise ConfigError(f"{VARIABLE} names no format of tool calls")
    return call_format(name)


def may_have_calls(format_: str, text: str) -> bool:
    """Return whether a text contains a possible beginning of calls."""
    language = _language(format_)
    return language is not None and may_begin(language, text)


@lru_cache(maxsize=8)
def _language(format_: str) -> CallLanguage | None:
    """Return the reading language of a format; None where it has none."""
    return language_of_format(format_named(format_), {})


class ToolCalls:
    """Reads one message: ``feed`` and ``finish`` return new content, ``calls`` the calls so far.

    A call is ``{"name", "arguments"}``, with arguments as a text of JSON; where they do not fit the
    schema of the tool, it has ``valid`` and ``pointer`` beside them (``MessageReader``). A call
    that turns out to be none is closed by a delta ``cut``, and leaves ``calls``. What fits no
    format is text. With ``any_name`` calls of other tools are calls.
    """

    def __init__(
        self, format_: str, tools: Iterable[Mapping[str, Any]], *, any_name: bool = False
    ) -> None:
        schemas = self._schemas = dict(map(_named, tools))
        language = _language(format_) if schemas or any_name else None
        self._reader = (
            None
            if language is None
            else MessageReader(language._replace(tools=schemas), any_name=any_name)
        )
        self.begun: list[dict[str, Any]] = []
        """The calls that were given out, by their numbers, also those that ``cut`` closed."""
        self._cut = set[int]()

    @property
    def calls(self) -> list[dict[str, Any]]:
        """The calls so far."""
        return [call for number, call in enumerate(self.begun) if number not in self._cut]

    @property
    def tolerated(self) -> list[Tolerated]:
        """The deviations accepted so far: texts outside of the format that are read anyway."""
        return [] if self._reader is None else self._reader.tolerated

    @property
    def cut(self) -> int | None:
        """Where a call begins that the message ends in; None for none."""
        return None if self._reader is None else self._reader.cut

    def whole(self, text: str) -> tuple[str, list[dict[str, Any]]]:
        """Return the text around the calls in a whole text, and the calls that have ended."""
        result = [*self.feed(text), *self.finish()]
        return "".join(delta.text for delta in result if delta.kind == "text"), self.calls

    def feed(self, text: str) -> list[Delta]:
        """Return the content that is certain after the next chunk of the text."""
        if self._reader is None:
            return [Delta("text", text)] if text else []
        self._reader.feed(text)
        return self._new(self._reader)

    def finish(self) -> list[Delta]:
        """Return the content withheld as a possible beginning of a call, at the end of the text."""
        if self._reader is None:
            return []
        self._reader.finish()
        if self._reader.tolerated or self._reader.cut is not None:
            _logger.info("calls are read that the format does not write: %s", self._shown_changes())
        return self._new(self._reader)

    def _shown_changes(self) -> str:
        changes = [f"{change.what} at {change.start}" for change in self.tolerated[:MOST_SHOWN]]
        changes += [] if self.cut is None else [f"a call is cut at {self.cut}"]
        return "; ".join(changes)

    def _new(self, reader: MessageReader) -> list[Delta]:
        """Return the deltas of a reader since the last call."""
        result = reader.deltas()
        for kind, text, call in result:
            if call is None:
                continue
            if kind == "name":
                self.begun.append({"name": text, "arguments": ""})
                schema = self._schemas.get(text)
                if isinstance(schema, dict):
                    _warn(text, json.dumps(schema, default=float))
            elif kind == "arguments":
                extend(self.begun[call], "arguments", text)
            elif kind == "invalid":
                self.begun[call].update(valid=False, pointer=text)
            else:
                self._cut.add(call)
        return result


@lru_cache(maxsize=KEPT)
def _warn(name: str, schema: str) -> None:
    """Log, once for each schema, that arguments are not converted by one that cannot be used."""
    problem = problem_of(schema)
    if problem:
        _logger.warning(
            "the schema of the tool %r is not used where it is wrong: %s", name, problem
        )


def extend(holder: Any, key: Any, text: str) -> None:
    """Add to a text in a list or a dict: in place, as nothing else has it meanwhile."""
    value, holder[key] = holder[key], ""
    value += text
    holder[key] = value


def _named(tool: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name of a tool and the schema of its arguments."""
    function = tool.get("function", tool)
    return str(function.get("name")), function.get("parameters", True)
