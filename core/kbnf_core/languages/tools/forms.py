"""The contents of lists of tools and requests: tools in any form, the choice, the answer.

A *form* is a row: under which names the schema of the arguments is, and what the service that reads
it asks of names and schemas. The rules of the services are those that they document, or that their
errors say, as of 2026-11-23; they change.

A *choice* is the ``tool_choice`` of a request, in the form of each service: OpenAI's two APIs name
a mode, one tool, or a mode with the tools that are allowed; Anthropic a mode or one tool; Gemini a
mode with names, in ``toolConfig``. Whether there may be several calls is ``parallel_tool_calls``,
or Anthropic's ``disable_parallel_tool_use``.

Tests: tests/unit/languages/tools
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, NamedTuple

from kbnf_core.languages.json_schema import Service
from kbnf_core.languages.json_schema.keywords import Problem, subschemas
from kbnf_core.languages.structural_tag.presets import schema_of_arguments
from kbnf_core.languages.tools.detect import (
    DECLARATIONS,
    SCHEMAS,
    answer,
    entries,
    looks_like_tool,
)
from kbnf_core.text.json_text import Json, pointer_below

INVALID = "E824"
REFUSED = "W825"
LEFT_OUT = "I826"
TEXT_MARKERS = "I828"


# Choices

AUTO, REQUIRED, NO_CALLS = "auto", "required", "none"


class ToolChoice(NamedTuple):
    """The mode, and the tools that are allowed, by name and pointer, None for all of them.

    A choice that ``is_named`` is one call of the only tool that it allows. ``error`` says why the
    value at ``pointer`` is not a choice.
    """

    mode: str = AUTO
    names: tuple[tuple[str, str], ...] | None = None
    is_named: bool = False
    is_single: bool = False
    pointer: str = ""
    error: str = ""


ANY_CHOICE = ToolChoice()
"""The choice of a request without one."""

_MODES = {
    "auto": AUTO, "required": REQUIRED, "none": NO_CALLS,
    "any": REQUIRED,
    "AUTO": AUTO, "ANY": REQUIRED, "NONE": NO_CALLS, "VALIDATED": AUTO, "MODE_UNSPECIFIED": AUTO,
}  # fmt: skip
"""The words of the services for modes; ``any`` is Anthropic's and Mistral's, capitals Gemini's."""


def choice_of(value: Json) -> ToolChoice:
    """Return the choice of a request among the tools to call."""
    if not isinstance(value, Mapping):
        return ANY_CHOICE
    is_single = value.get("parallel_tool_calls") is False
    chosen, pointer = value.get("tool_choice"), "/tool_choice"
    if isinstance(chosen, Mapping):
        is_single = is_single or chosen.get("disable_parallel_tool_use") is True
        return _of_object(chosen, pointer)._replace(is_single=is_single)
    if chosen is not None:
        return _of_mode(value, "tool_choice", None, "")._replace(is_single=is_single)
    path, result = "", value
    for names in _CONFIGS:
        name = next((tool for tool in names if isinstance(result.get(tool), Mapping)), None)
        if name is None:
            return ToolChoice(is_single=is_single)
        path, result = f"{path}/{name}", result[name]
    allowed = next(
        (
            allowed_name
            for allowed_name in _ALLOWED_NAMES
            if isinstance(result.get(allowed_name), list)
        ),
        None,
    )
    listed = [(tool, f"{path}/{allowed}/{i}") for i, tool in enumerate(result.get(allowed, ()))]
    for name, where in listed:
        if not isinstance(name, str):
            return _invalid("an allowed function is a name", where)
    return _of_mode({"mode": "AUTO", **result}, "mode", listed or None, path)


_CONFIGS = (
    ("toolConfig", "tool_config"),
    ("functionCallingConfig", "function_calling_config"),
)
_ALLOWED_NAMES = ("allowedFunctionNames", "allowed_function_names")


def _of_object(chosen: Mapping[str, Any], pointer: str) -> ToolChoice:
    kind = chosen.get("type")
    if kind == "allowed_tools":
        if isinstance(chosen.get(kind), Mapping):
            chosen, pointer = chosen[kind], f"{pointer}/{kind}"
        tools = chosen.get("tools")
        named = [
            _tool_named(name, f"{pointer}/tools/{number}")
            for number, name in enumerate(tools if isinstance(tools, list) else ())
        ]
        # A tool of the service has no name, and no calls that are written.
        return _of_mode(chosen, "mode", [name for name in named if name], pointer)
    if kind in ("function", "custom", "tool"):
        named_one = _tool_named(chosen, pointer)
        if named_one is None:
            return _invalid("the choice of a tool has its `name`", pointer)
        return ToolChoice(REQUIRED, (named_one,), is_named=True, pointer=pointer)
    return _of_mode(chosen, "type", None, pointer)


def _tool_named(entry: Any, pointer: str) -> tuple[str, str] | None:
    """Return the name of the tool that an object is about, with its pointer."""
    kind = entry.get("type") if isinstance(entry, Mapping) else None
    if isinstance(kind, str) and isinstance(entry.get(kind), Mapping):
        entry, pointer = entry[kind], f"{pointer}/{kind}"
    name = entry.get("name") if kind in ("function", "custom", "tool") else None
    return (name, f"{pointer}/name") if isinstance(name, str) else None


def _of_mode(
    chosen: Mapping[str, Any], key: str, names: Sequence[tuple[Any, str]] | None, pointer: str
) -> ToolChoice:
    word = chosen.get(key)
    mode = _MODES.get(word) if isinstance(word, str) else None
    where = f"{pointer}/{key}" if key in chosen else pointer
    if mode is None:
        return _invalid("a choice is `auto`, `required`, `none`, or names tools of the list", where)
    if names is not None and not names:
        if mode == REQUIRED:
            return _invalid("a call is required, and no tool of the list is allowed", where)
        return ToolChoice(NO_CALLS, pointer=where)
    return ToolChoice(mode, None if names is None else tuple(names), pointer=where)


def _invalid(message: str, pointer: str) -> ToolChoice:
    return ToolChoice(pointer=pointer, error=message)


# Forms


@dataclass(frozen=True, slots=True)
class ToolForm:
    """A form of tools: its reader, the pointer of the schema, and its choice.

    ``names`` is the pattern of the names of tools, ``members`` that of properties, if there is one.
    ``plain_root`` says whether the schema has no alternatives at its top. A form that
    ``needs_schema`` has one for each tool.
    """

    title: str
    schema: tuple[str, ...]
    names: str
    members: str = ""
    plain_root: bool = False
    needs_schema: bool = False
    service: Service | None = None


_WORDS = r"[a-zA-Z0-9_-]{1,64}"
_GEMINI = ("parameters", "parametersJsonSchema", "parameters_json_schema")

CHAT = ToolForm("OpenAI", ("parameters",), _WORDS, plain_root=True, service=Service.OPENAI)
ANTHROPIC = ToolForm(
    "Anthropic",
    ("input_schema",),
    r"[a-zA-Z0-9_-]{1,128}",
    members=r"[a-zA-Z0-9_.-]{1,64}",
    plain_root=True,
    needs_schema=True,
    service=Service.ANTHROPIC,
)
GEMINI = ToolForm("Gemini", _GEMINI, r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
OF_SERVICES: Mapping[Service, ToolForm] = {
    Service.OPENAI: CHAT,
    Service.ANTHROPIC: ANTHROPIC,
    Service.GEMINI: GEMINI,
}
"""The forms whose rules a service has, whatever form a list is in."""
MCP = ToolForm("MCP", ("inputSchema",), r"[a-zA-Z0-9_.-]{1,128}", needs_schema=True)
CUSTOM = ToolForm("OpenAI", (), _WORDS, service=Service.OPENAI)
"""Tools whose input is a text, of a grammar or any."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool: its name and the schema of its arguments, each with its pointer in the text.

    ``pointer`` is that of the tool; ``schema`` is None where the tool has no arguments, and
    ``arguments`` is the schema that applies to them: they are always an object. ``entry`` is the
    object with the name and the schema, ``strict`` the service whose strict mode was asked for. Of
    a custom tool, ``text`` is its input, as a format of structural tags, and ``schema_pointer`` the
    place of the grammar.
    """

    name: str
    pointer: str
    form: ToolForm
    entry: Mapping[str, Json]
    schema: Json | None
    arguments: Json
    schema_pointer: str
    strict: Service | None = None
    text: Mapping[str, Json] | None = None

    @property
    def schemas(self) -> Iterator[tuple[Json, str]]:
        """The schemas of the arguments and, in MCP, of the result, each with its pointer."""
        if self.schema is not None:
            yield self.schema, self.schema_pointer
        if self.form is MCP and self.entry.get("outputSchema") is not None:
            yield self.entry["outputSchema"], f"{self.pointer}/outputSchema"

    @property
    def draft(self) -> str | None:
        """The draft that the schema names."""
        named = None if self.schema is None else self.schema.get("$schema")
        return named if isinstance(named, str) else None


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """The form of an answer: a JSON value of a schema, with its pointer; without one, any text.

    With a structural ``tag``, whose pointer it is, that says all that is written.
    """

    schema: Json | None
    pointer: str
    strict: Service | None = None
    tag: Json | None = None

    @property
    def schemas(self) -> Iterator[tuple[Json, str]]:
        """The schema, if there is one, with its pointer."""
        if self.schema is not None:
            yield self.schema, self.pointer


@dataclass(slots=True)
class ToolList:
    """The tools of a list; ``errors`` say why there are none, or not all, ``notes`` the rest.

    ``answer`` is the text written where no tool is called, if a request has one, ``choice`` the
    tools that are allowed.
    """

    tools: list[Tool] = field(default_factory=list)
    answer: AnswerForm | None = None
    choice: ToolChoice = ANY_CHOICE
    errors: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)

    def error(self, message: str, pointer: str, help_: str = "") -> None:
        """Note why a tool cannot be read."""
        self.errors.append(Problem(INVALID, message, pointer, help_))


def tools_of(value: Json) -> ToolList:
    """Return the tools of a JSON value in any of the forms."""
    result = ToolList(choice=choice_of(value))
    listed = entries(value)
    asked = answer(value)
    if asked is not None:
        _read_answer(*asked, result)
    if result.choice.error:
        result.error(result.choice.error, result.choice.pointer)
    if listed is None and asked is not None:
        return result
    if listed is None:
        message = "this is not a list of tools: an array of tools, or an object with `tools`, is"
        result.error(message, "")
        return result
    tools, pointer = listed
    for number, tool in enumerate(tools):
        _read(tool, f"{pointer}/{number}" if tool is not value else "", result)
    if not tools and result.choice.mode != NO_CALLS:
        result.error("the list has no tools", pointer)
    seen: dict[str, str] = {}
    for entry in result.tools:
        if entry.name in seen:
            message = f"two tools are called `{entry.name}`: a call does not say which is meant"
            where = seen[entry.name] or "the whole text"
            result.error(message, f"{entry.pointer}/name", f"the other one is at {where}")
        seen.setdefault(entry.name, entry.pointer)
    return result


def _read_answer(form: dict[str, Json], path: tuple[str, ...], tools: ToolList) -> None:
    """Read the format of an answer, a ``response_format`` or its like."""
    pointer = "".join(f"/{key}" for key in path)
    if path[:1] in (("generationConfig",), ("generation_config",)):
        if path[1] in ("responseSchema", "response_schema"):
            from_openapi(form)
        tools.answer = AnswerForm(form, pointer, Service.GEMINI)
        return
    kind = form.get("type", "json_schema")
    if kind == "structural_tag":
        tools.answer = AnswerForm(None, pointer, tag=form)
        return
    if kind in ("text", "json_object"):
        tools.answer = AnswerForm(None if kind == "text" else {"type": "object"}, pointer)
        return
    if isinstance(form.get("json_schema"), dict):
        form, pointer = form["json_schema"], f"{pointer}/json_schema"
    schema = form.get("schema")
    if kind == "json_schema" and isinstance(schema, dict):
        strict = Service.OPENAI if form.get("strict") is True else None
        tools.answer = AnswerForm(schema, f"{pointer}/schema", strict)
    elif kind == "json_schema":
        tools.error("the format of an answer has no `schema`", pointer)
    else:
        message = (
            "the type of an answer's format is `json_schema`, `json_object`, `text` or"
            " `structural_tag`"
        )
        tools.error(message, f"{pointer}/type")


def _read(tool: Json, pointer: str, tools: ToolList) -> None:
    """Read one entry of a list, which Gemini's have several tools in."""
    if not isinstance(tool, dict):
        tools.error("a tool is an object", pointer)
        return
    key = next(
        (declaration for declaration in DECLARATIONS if isinstance(tool.get(declaration), list)),
        None,
    )
    if key is not None:
        _refuse_two(key, DECLARATIONS, tool, pointer, tools)
        for number, declared in enumerate(tool[key]):
            where = f"{pointer}/{key}/{number}"
            if isinstance(declared, dict):
                _read_as(GEMINI, declared, where, tools)
            else:
                tools.error("the declaration of a function is an object", where)
    elif tool.get("type") == "custom" and not any(name in tool for name in SCHEMAS):
        _read_custom(tool, pointer, tools)
    elif "function" in tool or tool.get("type") == "function":
        inner = tool.get("function", tool)
        where = f"{pointer}/function" if "function" in tool else pointer
        if isinstance(inner, dict):
            _read_as(CHAT, inner, where, tools)
        else:
            tools.error("`function` is an object with a name and parameters", where)
    elif not looks_like_tool(tool) and (isinstance(tool.get("type"), str) or "name" not in tool):
        message = "no function with a schema: calls of it are not in the grammar"
        tools.notes.append(Problem(LEFT_OUT, message, pointer))
    else:
        form = next((entry for entry in (ANTHROPIC, MCP) if entry.schema[0] in tool), None)
        _read_as(form or _form_of_siblings(tools), tool, pointer, tools)


def _read_custom(tool: dict[str, Json], pointer: str, tools: ToolList) -> None:
    """Read a custom tool of either API of OpenAI: its input is any text, or that of a grammar."""
    entry = tool.get("custom", tool)
    pointer = f"{pointer}/custom" if "custom" in tool else pointer
    if not isinstance(entry, dict):
        tools.error("`custom` is an object with a name and a format", pointer)
        return
    form, where = entry.get("format", {"type": "text"}), f"{pointer}/format"
    if form == {"type": "text"}:
        _read_as(CUSTOM, entry, pointer, tools, {"type": "any_text"}, where)
        return
    if isinstance(form, dict) and isinstance(form.get("grammar"), dict):
        form, where = form["grammar"], f"{where}/grammar"
    fields = form if isinstance(form, dict) else {}
    syntax, text = fields.get("syntax"), fields.get("definition")
    if not isinstance(text, str) or not text:
        help_ = '`{"type": "grammar", "syntax": "lark", "definition": ...}`, or `{"type": "text"}`'
        tools.error("the format of a custom tool has no `definition`", where, help_)
    elif syntax == "lark":
        lark = {"type": "grammar", "syntax": "lark", "lexing": "llguidance", "grammar": text}
        _read_as(CUSTOM, entry, pointer, tools, lark, f"{where}/definition")
    elif syntax == "regex":
        regex = {"type": "regex", "pattern": text, "dot_all": False}
        _read_as(CUSTOM, entry, pointer, tools, regex, f"{where}/definition")
    else:
        message = "the `syntax` of a custom tool's grammar is `lark` or `regex`"
        tools.error(message, f"{where}/syntax" if "syntax" in fields else where)


def _refuse_two(
    taken: str, names: Sequence[str], entry: Mapping[str, Json], pointer: str, tools: ToolList
) -> None:
    """Report a member that a tool has under a second name with another value."""
    for other in names:
        if entry.get(other) not in (None, entry[taken]):
            message = f"`{taken}` and `{other}` are both here, and differ"
            tools.error(message, f"{pointer}/{other}", "keep the one that the service reads")


def _form_of_siblings(tools: ToolList) -> ToolForm:
    """Return the form of a tool that only has a name: that of the one before."""
    return tools.tools[-1].form if tools.tools else CHAT


def _read_as(
    form: ToolForm,
    entry: dict[str, Json],
    pointer: str,
    tools: ToolList,
    text: Mapping[str, Json] | None = None,
    text_pointer: str = "",
) -> None:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        tools.error("a tool has a name, a text", pointer + ("/name" if "name" in entry else ""))
        return
    key = next((keyword for keyword in form.schema if entry.get(keyword) is not None), None)
    if key is None and form.needs_schema:
        tools.error(f"the tool `{name}` has no `{form.schema[0]}`", pointer)
        return
    schema = None if key is None else entry[key]
    schema = {} if schema is True else schema
    where = text_pointer or pointer if key is None else f"{pointer}/{key}"
    if schema is not None and not isinstance(schema, dict):
        tools.error("the schema of a tool's arguments is an object", where)
        return
    if form is MCP and not isinstance(entry.get("outputSchema", {}), dict):
        tools.error("the schema of a tool's result is an object", f"{pointer}/outputSchema")
        return
    if form is GEMINI and key == "parameters":
        from_openapi(schema)
    if key is not None:
        _refuse_two(key, SCHEMAS, entry, pointer, tools)
    strict = form.service if entry.get("strict") is True else None
    arguments = schema_of_arguments(schema)
    tools.tools.append(Tool(name, pointer, form, entry, schema, arguments, where, strict, text))


def refusals(tool: Tool, form: ToolForm) -> Iterator[Problem]:
    """Yield the refusals of the service that reads a form for a tool, whatever its grammar."""
    if re.fullmatch(form.names, tool.name) is None:
        message = f"{form.title} refuses the name `{tool.name}`: it must match `^{form.names}$`"
        yield Problem(REFUSED, message, f"{tool.pointer}/name")
    schema, pointer = tool.schema, tool.schema_pointer
    if schema is None:
        return
    if schema.get("type") != "object":
        where = f"{pointer}/type" if "type" in schema else pointer
        yield Problem(
            REFUSED,
            "the arguments of a tool are an object",
            where,
            'say `"type": "object"`, and put what else there is into a property',
        )
    if form.plain_root:
        for keyword in ("oneOf", "anyOf", "allOf", "enum", "not"):
            if keyword in schema:
                message = f"{form.title} refuses `{keyword}` at the top of a tool's schema"
                help_ = "put it into a property"
                yield Problem(REFUSED, message, f"{pointer}/{keyword}", help_)
    if form.members:
        yield from _strange_members(tool, form)


def _strange_members(tool: Tool, form: ToolForm) -> Iterator[Problem]:
    pending: list[tuple[Json, str]] = [(tool.schema, tool.schema_pointer)]
    for schema, pointer in pending:
        for steps, inner in subschemas(schema):
            where = pointer_below(pointer, *steps)
            pending.append((inner, where))
            if steps[0] == "properties" and not re.fullmatch(form.members, steps[1]):
                message = f"{form.title} refuses the name `{steps[1]}` of a property"
                yield Problem(REFUSED, f"{message}: it must match `^{form.members}$`", where)


_COUNTS = ("minItems", "maxItems", "minLength", "maxLength", "minProperties", "maxProperties")


def from_openapi(schema: Json) -> None:
    """Make a schema of OpenAPI's subset, which Gemini takes, one of JSON Schema.

    Types may be in capitals there, counts texts, and ``nullable`` allows null. Places stay the
    same.
    """
    pending = [schema]
    for value in pending:
        if not isinstance(value, dict):
            continue
        pending += [inner for _, inner in subschemas(value)]
        kind = value.get("type")
        if isinstance(kind, str) and kind.isupper():
            kind = value["type"] = kind.lower()
        for name in _COUNTS:
            if isinstance(value.get(name), str) and value[name].isdecimal():
                value[name] = Decimal(value[name])
        if value.pop("nullable", False) is True and isinstance(kind, str):
            value["type"] = [kind, "null"]
            if isinstance(value.get("enum"), list):
                value["enum"] = [*value["enum"], None]
