"""Formats of tool calls, compared with the texts that a chat template writes.

The judge is the grammar of a list of tools in the format, as users get it: the texts that the
template writes for calls of these tools are in it, others are not. A format is tested with the
tools of probes when it is derived, and against the caller's own where a list is read in it: a
format keeps the template that it was derived from (``rendering.MadeOf``), arguments are drawn from
the schema of each tool (``ir/derivations.py``), and the template writes calls of them, each alone.
The text that it writes for these is a text of the grammar for the tool, and is read back as the
same values; the text for another name, or for these arguments with one more or without one that the
schema requires, is not. A conversation that the template refuses proves nothing.

Outside of JSON some values have one text: `3` is a number where the schema allows one, and a string
where it has no type. So a value equals the one that is read if the schema names its type, and
otherwise its text is compared.

Tests: tests/unit/languages/tools/test_own_tools.py
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from random import Random
from typing import TYPE_CHECKING, Any

from kbnf_core.frontend import Language, Reading, read_grammar
from kbnf_core.ir import GrammarRules
from kbnf_core.ir.derivations import Derivations
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.kernel import has_engine
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.keywords import Problem
from kbnf_core.languages.json_schema.parse import START
from kbnf_core.languages.structural_tag.marks import shapes_of
from kbnf_core.languages.structural_tag.models import (
    REASONING,
    format_named,
    marker_texts,
    table,
)
from kbnf_core.languages.structural_tag.presets import tool_calls
from kbnf_core.languages.structural_tag.reading import loaded
from kbnf_core.languages.structural_tag.xml import PYTHON_WORDS
from kbnf_core.languages.tools.forms import INVALID, Tool
from kbnf_core.languages.tools.options import of_schemas
from kbnf_core.languages.tools.parse import ToolTag, arguments_of, as_number, refused
from kbnf_core.languages.tools.rendering import OtherwiseError, in_process
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Severity
from kbnf_core.text.errors import ConfigError, KbnfError, WorkLimitError
from kbnf_core.text.json_text import objects_in, value_key
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.recognise.states import StateTable

_MOST_NAMED = 3
"""Formats that a refusal names."""


class ProbeCalls:
    """The texts of calls of some tools in a format; needs the engine."""

    def __init__(
        self, language: Language, name: str, tools: Sequence[Mapping[str, Any]], **options: Any
    ) -> None:
        self._language = language
        self._text = json.dumps(tools)
        self._options = {"tool_calls": name, **options}

    @cached_property
    def _reading(self) -> Reading:
        source = Source(self._text, is_json=True)
        request = Request(lossy=True, options=self._options)
        return read_grammar(source, self._language, request)

    @cached_property
    def _states(self) -> "StateTable | None":
        """The states of the grammar; None where the format has none of these tools."""
        grammar = self._reading.grammar
        return None if grammar is None else states_of(grammar)

    def has(self, text: str) -> bool:
        """Return whether the grammar accepts a text."""
        return self._states is not None and has_text(self._states, text)

    def read(self, text: str) -> list[dict[str, Any]]:
        """Return the calls that a text of them is read as, with names and arguments."""
        from kbnf_core.parse.messages import MessageReader

        marked = self._reading.parsed.marked()
        if marked is None or marked.language is None:
            return []
        reader = MessageReader(loaded(marked.language))
        reader.feed(text)
        reader.finish()
        return [item for item in reader.value if isinstance(item, dict) and "name" in item]


def states_of(grammar: GrammarRules) -> "StateTable":
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
    result: list[Mapping[str, Any]] = []
    for tool in tools:
        function = tool["function"]
        schema = {**function["parameters"], "required": [*names]}
        result.append({**tool, "function": {**function, "parameters": schema}})
    return result


def differing(schema: Any, written: Mapping[str, Any], read: Any) -> str | None:
    """Return the name of an argument that is read otherwise than it was written, None for none.

    ``schema`` is that of the arguments. Blanks around a text count for nothing, and a member that
    is null may be left out.
    """
    if not isinstance(read, dict) or not read.keys() <= written.keys():
        return ""
    shapes = shapes_of(schema, "qwen_xml", Options())
    for name, value in written.items():
        if name not in read:
            if value is not None:
                return name
            continue
        number = shapes[0].members.get(name, shapes[0].other)
        kinds = () if number is None else shapes[number].kinds
        if not _is_same(value, read[name], kinds):
            return name
    return None


def _is_same(written: Any, read: Any, kinds: Sequence[str]) -> bool:
    """Return whether a value of some kinds equals the value read of its text."""
    if isinstance(written, str) and isinstance(read, str):
        return written.strip() == read.strip()
    if isinstance(written, str):
        return written in _spelt(read)
    if isinstance(read, str):
        names = {"integer", "number"} if _kind(written) == "number" else {_kind(written)}
        return read in _spelt(written) and names.isdisjoint(kinds)
    return value_key(written) == value_key(read)


def _spelt(value: Any) -> tuple[str, str]:
    text = json.dumps(value, ensure_ascii=False)
    return text, PYTHON_WORDS.get(text, text)


def _kind(value: Any) -> str:
    kinds = {type(None): "null", bool: "boolean", list: "array", dict: "object"}
    return kinds.get(type(value), "number")


def verify(
    language: Language,
    name: str,
    tools: Sequence[Mapping[str, Any]],
    written: Mapping[str, tuple[str, Sequence[Mapping[str, Any]]]],
    wrong: Mapping[str, str],
    thinking: Sequence[str],
) -> None:
    """Raise ``OtherwiseError`` for a format that reads a template's texts otherwise.

    ``written`` are calls of the tools, by their peculiarity: the text, and the arguments of each
    call; ``wrong`` are not calls; ``thinking`` are calls after thoughts, one of which is the text
    that a model goes on with. Without the compiled engine the grammar is not tested.
    """
    if not has_engine():
        return
    asked, free = (
        ProbeCalls(language, name, tools, tool_choice=probe) for probe in ("required", "auto")
    )
    for title, (text, arguments) in written.items():
        if not asked.has(text):
            raise OtherwiseError(f"its grammar does not accept {title}: {text!r}"[:300])
        if not free.has(f"qz {text.lstrip()}") and not free.has(f"qz{text}"):
            raise OtherwiseError(f"its grammar does not accept text before {title}: {text!r}"[:300])
        read = [probe["arguments"] for probe in asked.read(text)]
        schemas = [probe["function"]["parameters"] for probe in tools]
        if len(read) != len(arguments) or any(
            differing(*probe) is not None for probe in zip(schemas, arguments, read, strict=False)
        ):
            difference = json.dumps(read, ensure_ascii=False)
            raise OtherwiseError(
                f"it is read as {difference} what is written for {title}: {text!r}"[:300]
            )
    right = {text for text, _ in written.values()}
    for title, text in wrong.items():
        if text not in right and asked.has(text):
            raise OtherwiseError(f"its grammar accepts calls with {title}: {text!r}"[:300])
    ways = ("auto", "enabled")
    if thinking and "auto enabled" in json.loads(name)["templates"]:
        judges = [
            ProbeCalls(language, name, tools, tool_choice="required", reasoning=probe)
            for probe in ways
        ]
        if not any(judge.has(text) for judge in judges for text in thinking):
            raise OtherwiseError(
                f"its grammar does not accept a call after thoughts: {thinking[0]!r}"[:300]
            )


def fitting_presets(
    language: Language, tools: Sequence[Mapping[str, Any]], written: Sequence[str], template: str
) -> str:
    """Return a sentence that names the formats which accept the template's texts, if any do.

    Otherwise, and where it writes nothing, those whose markers are all in its text may be meant.
    """
    result: list[str] = []
    sentence = "these take what it writes for calls"
    if written and has_engine():
        result = [preset for preset in table() if _takes_all(language, preset, tools, written)]
    if not result:
        result = [preset for preset in table() if _has_markers(preset, template)]
        sentence = "these have markers that it has"
    listed = ", ".join(f"`{preset}`" for preset in result[:_MOST_NAMED])
    return f"of the formats by name, {sentence}: {listed}" if result else ""


def _has_markers(name: str, template: str) -> bool:
    tag = tool_calls(name, [_NAMELESS], choice="required")
    markers = marker_texts({"templates": _without_excluded(tag), "shared": []})
    return bool(markers) and all(marker in template for marker in markers)


def _without_excluded(value: Any) -> Any:
    """Return a tag without the exclusions of its texts."""
    if isinstance(value, list):
        return [_without_excluded(field_value) for field_value in value]
    if not isinstance(value, dict):
        return value
    left = ("excludes", "json_schema")
    return {
        name: _without_excluded(field_value)
        for name, field_value in value.items()
        if name not in left
    }


_NAMELESS = {"name": "n"}


def _takes_all(
    language: Language, name: str, tools: Sequence[Mapping[str, Any]], written: Sequence[str]
) -> bool:
    """Return whether a format takes texts, however the model reasons."""
    options = {"tool_choice": "required"}
    modes = [text for text in REASONING if f"auto {text}" in table()[name]["templates"]]
    judges = [ProbeCalls(language, name, tools, reasoning=mode, **options) for mode in modes]
    try:
        return all(
            any(judge.has(text) or judge.has(text.strip()) for judge in judges) for text in written
        )
    except KbnfError:
        return False


# The caller's own tools

_MOST_TOOLS = 128
"""The tools of a list whose calls are looked at, the first ones."""

_DRAWS, _LENGTH = 6, 24
"""Arguments that are drawn for a tool, and the choices of each."""

_WORK = 200_000
"""Steps of the draws for a tool."""

_LONGEST = 4_096
"""Characters of arguments that are looked at."""

_OTHER = "qzother"
"""A name that no tool and no argument has."""


@dataclass(slots=True)
class _Own:
    """A tool as templates take it, and calls: their arguments, and the mistake in wrong ones."""

    tool: Tool
    function: dict[str, Any]
    calls: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def schema(self) -> Any:
        """The schema of the arguments, numbers as in Python."""
        return self.function["function"]["parameters"]


def with_own_tools(language: Language, parsed: ToolTag, request: Request) -> Parsed:
    """Return a list of tools that was read; refused where its format fails its own template.

    Without the compiled engine, or Jinja, nothing is known of its texts, nor of a list with errors.
    """
    if any(diagnostic.severity is Severity.ERROR for diagnostic in parsed.diagnostics):
        return parsed
    if parsed.made_of is None or not has_engine() or find_spec("jinja2") is None:
        return parsed
    owns = [*map(partial(_own, parsed), parsed.listed.tools[:_MOST_TOOLS])]
    functions = [tool.function for tool in owns]
    calls = [call for tool in owns for call in tool.calls]
    try:
        texts = iter(in_process(parsed.made_of.written, functions, calls))
    except ConfigError as error:
        return refused(parsed.listed, [Problem(INVALID, str(error), "")])
    plain = {**format_named(str(request.options["tool_calls"])), "chat_template": None}
    options = {**of_schemas(request.options), "tool_choice": "required"}
    problems = []
    for own in owns:
        judge = ProbeCalls(language, json.dumps(plain), [own.function], **options)
        read_text = next(_differences(own, judge, texts, is_exact=not parsed.losses), None)
        if read_text is not None:
            problems.append(
                Problem(
                    INVALID,
                    read_text,
                    own.tool.pointer,
                    "name another format, or correct the template",
                )
            )
    return refused(parsed.listed, problems) if problems else parsed


def _own(parsed: ToolTag, tool: Tool) -> _Own:
    """Return a tool with calls that fit its schema, and calls that do not."""
    parameters = json.loads(json.dumps(arguments_of(tool), default=as_number))
    about = {"name": tool.name, "description": "d", "parameters": parameters}
    result = _Own(tool, {"type": "function", "function": about})
    rules = parsed.listed.arguments(tool).rules
    if rules is None:
        return result
    grammar = GrammarRules(START, rules)
    states = states_of(grammar)

    def add(name: str, arguments: Mapping[str, Any], fault: str) -> None:
        result.calls.append((name, arguments))
        result.faults.append(fault)

    drawn: list[dict[str, Any]] = []
    listed = {name for inner in objects_in(parameters) for name in inner}
    for inner in _values(grammar):
        value = json.loads(json.dumps(inner), object_pairs_hook=partial(_named, listed))
        text = json.dumps(value, ensure_ascii=False)
        # What Python writes otherwise than it was drawn may be another value.
        if value not in drawn and len(text) <= _LONGEST and has_text(states, text):
            drawn.append(value)
            add(tool.name, value, "")
    for value in drawn[:1]:
        add(_OTHER, value, "another name")
        changed = {"an argument more": {**value, _OTHER: "qzv"}}
        changed |= {
            f"the argument `{name}` left out": {k: v for k, v in value.items() if k != name}
            for name in value
        }
        for fault, arguments in changed.items():
            if not has_text(states, json.dumps(arguments, ensure_ascii=False)):
                add(tool.name, arguments, fault)
    return result


def _values(grammar: GrammarRules) -> Iterator[dict[str, Any]]:
    """Yield objects at random, within the work that is allowed."""
    derivations = Derivations(grammar)
    random, budget = Random(0), Budget(_WORK)  # noqa: S311 - nothing is secret here
    for number in range(0 if derivations.is_empty else _DRAWS):
        try:
            chunks = derivations.draw(random, _LENGTH * number, budget)
            text = b"".join(chunk for chunk in chunks if isinstance(chunk, bytes)).decode()
            value = json.loads(text)
            json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, RecursionError, WorkLimitError):
            continue
        if isinstance(value, dict):
            yield value


def _named(listed: set[str], members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose members have words for names where the schema does not list them."""
    return {
        name if name in listed else f"m{number}": value
        for number, (name, value) in enumerate(members)
    }


def _differences(
    own: _Own, judge: ProbeCalls, written: Iterator[Sequence[str]], *, is_exact: bool
) -> Iterator[str]:
    """Yield the written calls of a tool that are refused, and the wrong ones that fit."""
    texts = [next(written) for _ in own.calls]
    right = {
        text for fault, call in zip(own.faults, texts, strict=True) if not fault for text in call
    }
    for (_, arguments), fault, call in zip(own.calls, own.faults, texts, strict=True):
        forms = (form for text in call for form in (text, text.strip()))
        accepted = next(filter(judge.has, forms), None)
        about = f"`{own.tool.name}`"[:100]
        if fault:
            # A template that leaves out what it does not know writes a call that is right.
            if accepted is not None and is_exact and call[0] not in right:
                yield f"the format accepts a call of {about} with {fault}: {call[0]!r}"[:400]
            continue
        shown = json.dumps(arguments, ensure_ascii=False)[:100]
        if accepted is None and call:
            yield (
                f"the chat template renders a call of {about} with {shown} differently from the"
                f" format that is derived from it: {call[0]!r}"
            )[:500]
        elif accepted is not None:
            read = [call["arguments"] for call in judge.read(accepted)]
            if len(read) != 1 or differing(own.schema, arguments, read[0]) is not None:
                read_text = json.dumps(read, ensure_ascii=False)[:100]
                yield (
                    f"a call of {about} with {shown} is read as {read_text} from what the chat"
                    f" template renders: {accepted!r}"
                )[:500]
