"""Formats of tool calls, held against what a chat template writes.

The judge is the grammar of a list of tools in the format, as users get it: what the template writes
for calls of these tools is one of its texts, what is no call of them is none.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kbnf_core.frontend import Language, read_grammar
from kbnf_core.ir import Grammar
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kernel import has_engine
from kbnf_core.languages.structural_tag.models import marker_texts, table
from kbnf_core.languages.structural_tag.presets import tool_calls
from kbnf_core.languages.tools.rendering import OtherwiseError
from kbnf_core.text.errors import KbnfError
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.recognise.states import StateTable

_MOST_NAMED = 3
"""Formats that a refusal names."""


class Calls:
    """The texts of calls of some tools in a format; needs the engine."""

    def __init__(
        self, language: Language, name: str, tools: Sequence[Mapping[str, Any]], **options: Any
    ) -> None:
        self._language = language
        self._text = json.dumps(tools)
        self._options = {"tool_calls": name, **options}

    @cached_property
    def _states(self) -> "StateTable | None":
        """The states of the grammar; None where the format has none of these tools."""
        source = Source(self._text, is_json=True)
        request = Request(lossy=True, options=self._options)
        reading = read_grammar(source, self._language, request)
        return None if reading.grammar is None else states_of(reading.grammar)

    def has(self, text: str) -> bool:
        """Return whether a text is one of them."""
        return self._states is not None and has_text(self._states, text)


def states_of(grammar: Grammar) -> "StateTable":
    """Return the states of a grammar; needs the engine."""
    from kbnf_core.lower.build import build_tables
    from kbnf_core.recognise.states import StateTable

    return StateTable(build_tables(grammar, counted=True))


def has_text(states: "StateTable", text: str) -> bool:
    """Return whether a text is one of a grammar."""
    state, size = states.feed(states.initial, text.encode())
    return size == len(text.encode()) and bool(states.completions(state))


def requiring(tools: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[Mapping[str, Any]]:
    """Return tools whose arguments all have these members."""
    found: list[Mapping[str, Any]] = []
    for tool in tools:
        function = tool["function"]
        schema = {**function["parameters"], "required": [*names]}
        found.append({**tool, "function": {**function, "parameters": schema}})
    return found


def verify(
    language: Language,
    name: str,
    tools: Sequence[Mapping[str, Any]],
    written: Mapping[str, str],
    wrong: Mapping[str, str],
    thinking: Sequence[str],
) -> None:
    """Raise ``OtherwiseError`` for a format that reads a template's texts otherwise.

    ``written`` are calls of the tools, by what is special about them; ``wrong`` are none;
    ``thinking`` are calls after thoughts, one of which is what a model goes on with. Without the
    compiled engine nothing is known of the grammar.
    """
    if not has_engine():
        return
    asked, free = (Calls(language, name, tools, tool_choice=each) for each in ("required", "auto"))
    for title, text in written.items():
        if not asked.has(text):
            raise OtherwiseError(f"its grammar does not accept {title}: {text!r}"[:300])
        if not free.has(f"qz {text.lstrip()}") and not free.has(f"qz{text}"):
            raise OtherwiseError(f"its grammar does not accept text before {title}: {text!r}"[:300])
    for title, text in wrong.items():
        if text not in written.values() and asked.has(text):
            raise OtherwiseError(f"its grammar accepts calls with {title}: {text!r}"[:300])
    ways = ("auto", "enabled")
    if thinking and "auto enabled" in json.loads(name)["templates"]:
        judges = [
            Calls(language, name, tools, tool_choice="required", reasoning=each) for each in ways
        ]
        if not any(judge.has(text) for judge in judges for text in thinking):
            raise OtherwiseError(
                f"its grammar does not accept a call after thoughts: {thinking[0]!r}"[:300]
            )


def fitting_presets(
    language: Language, tools: Sequence[Mapping[str, Any]], written: Sequence[str], template: str
) -> str:
    """Return a sentence that names the formats which take what a template writes, if any do.

    Where it writes nothing, those whose markers are all in its text may be meant.
    """
    if written and has_engine():
        found = [each for each in table() if _takes_all(language, each, tools, written)]
        sentence = "these take what it writes for calls"
    else:
        found = [each for each in table() if _has_markers(each, template)]
        sentence = "these have markers that it has"
    listed = ", ".join(f"`{each}`" for each in found[:_MOST_NAMED])
    return f"of the formats by name, {sentence}: {listed}" if found else ""


def _has_markers(name: str, template: str) -> bool:
    tag = tool_calls(name, [_NAMELESS], choice="required")
    markers = marker_texts({"templates": _without_excluded(tag), "shared": []})
    return bool(markers) and all(each in template for each in markers)


def _without_excluded(value: Any) -> Any:
    """Return a tag without what its texts exclude."""
    if isinstance(value, list):
        return [_without_excluded(each) for each in value]
    if not isinstance(value, dict):
        return value
    left = ("excludes", "json_schema")
    return {name: _without_excluded(each) for name, each in value.items() if name not in left}


_NAMELESS = {"name": "n"}


def _takes_all(
    language: Language, name: str, tools: Sequence[Mapping[str, Any]], written: Sequence[str]
) -> bool:
    calls = Calls(language, name, tools, tool_choice="required")
    try:
        return all(calls.has(text) or calls.has(text.strip()) for text in written)
    except KbnfError:
        return False
