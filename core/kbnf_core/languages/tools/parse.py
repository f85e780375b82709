"""The reader of lists of tools: to the calls of them that a model may write.

Without a format, a call is a JSON object with the name of a tool and its arguments: what a schema
that contains all schemas of the list allows, each with an identifier of its own, so that references
stay inside. With a format (``tool_calls``) it is the structural tag of the model that writes so.
Every place in either is one in the list: each tool's schema has a pointer there.

Tests: tests/unit/languages/tools/test_token_markers.py
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from kbnf_core.ir import GrammarRules, TokenTerminal, calls
from kbnf_core.kbnf.parsed import Conversion, Loss, Marked, Parsed, Request
from kbnf_core.languages.json_schema import Options, closed_unless_open, options_of
from kbnf_core.languages.json_schema.advice import contradictions, oddities
from kbnf_core.languages.json_schema.document import bundle_all
from kbnf_core.languages.json_schema.keywords import (
    Problem,
    ProblemError,
    Review,
    joined,
    too_large,
    unsatisfiable,
)
from kbnf_core.languages.json_schema.parse import (
    START,
    SchemaReading,
    SchemaText,
    broken,
    checked,
    diagnostic,
    guided,
    untold,
)
from kbnf_core.languages.json_schema.schemas import schemas_of
from kbnf_core.languages.structural_tag.models import (
    CHOICES,
    Format,
    format_named,
    token_markers,
)
from kbnf_core.languages.structural_tag.parse import TagReading
from kbnf_core.languages.structural_tag.read import IN_CONTENT, TagReport, read_value
from kbnf_core.languages.structural_tag.read import schemas_in as tag_schemas
from kbnf_core.languages.tools.forms import (
    ANY_CHOICE,
    AUTO,
    INVALID,
    LEFT_OUT,
    NO_CALLS,
    OF_SERVICES,
    REQUIRED,
    TEXT_MARKERS,
    AnswerForm,
    Tool,
    ToolChoice,
    ToolForm,
    refusals,
    tools_of,
)
from kbnf_core.languages.tools.options import CallOptions, calls_of, of_schemas
from kbnf_core.languages.tools.rendering import MadeOf
from kbnf_core.lower.facts import analyse
from kbnf_core.text.diagnostics import Diagnostic, Severity
from kbnf_core.text.errors import ConfigError, GrammarError
from kbnf_core.text.files import BELOW, Imports
from kbnf_core.text.json_text import Json, NoJsonError, escape, parse_json, print_json
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from kbnf_core.languages.structural_tag.reading import CallLanguage


@dataclass(frozen=True, slots=True)
class _List:
    """The tools of a list that can be used, with the options of their schemas."""

    source: Source
    tools: tuple[Tool, ...]
    notes: tuple[Problem, ...]
    options: Options
    errors: tuple[Problem, ...] = ()
    answer: AnswerForm | None = None
    choice: ToolChoice = ANY_CHOICE
    facts: Mapping[int, Review] = field(default_factory=dict)
    """Those of the schemas, by identity."""

    def facts_of(self, *tools: Tool) -> Review:
        """Return the facts of a schema that is made of those of tools."""
        return joined(self.facts[id(tool.schema)] for tool in tools if tool.schema is not None)

    def guided(self, schema: Json) -> Options:
        """Return how the schema of arguments is read: no argument is allowed without a name."""
        return guided(schema, closed_unless_open(self.options))

    def arguments(self, tool: Tool) -> SchemaReading:
        """Return the arguments of a tool as JSON."""
        schema = arguments_of(tool)
        moved = (("", tool.schema_pointer),)
        return SchemaReading(
            SchemaText(self.source, schema, self.guided(schema), moved, self.facts_of(tool))
        )


def parse_tool_list(source: Source, request: Request) -> Parsed:
    """Read a list of tools in any of the forms (``forms``) to the calls of them.

    A mistake for which a tool's schema would be refused by itself is an error, with its pointer in
    the list; so are a tool without a name, and two of one name. Raises ``ConfigError`` for unknown
    options.
    """
    how = calls_of(request.options)
    options = replace(options_of(of_schemas(request.options)), lossy=request.lossy)
    listed = _read(source, options, how, request.imports)
    if listed.errors:
        errors = [_finding(finding, source) for finding in listed.errors]
        return _BrokenList(listed, [*errors, *_one_by_one(listed)])
    result: Parsed
    wrong: list[Diagnostic] = []
    texts = tuple(tool for tool in listed.tools if tool.text is not None)
    answer = listed.answer
    if answer is not None and answer.schema is not None and not listed.tools:
        options = guided(answer.schema, listed.options)
        facts = listed.facts[id(answer.schema)]
        text = SchemaText(source, answer.schema, options, (("", answer.pointer),), facts)
        return SchemaReading(text)
    if answer is not None and answer.tag is not None:
        report = _ListReport(source, {"": answer.pointer})
        nodes = read_value(answer.tag, report, request.limits)
        result = TagReading(nodes, report, request, options)
        remarks = listed.notes
    elif how.tool_calls is None and (texts or answer is not None):
        result = _CustomCalls(listed, request)
        remarks = listed.notes
    elif how.tool_calls is None:
        try:
            result = _ObjectCalls(listed)
        except GrammarError as error:
            return Parsed(broken(source), tuple(error.diagnostics))
        wrong = [] if result.are_all_possible() else _one_by_one(listed)
        remarks = listed.notes
    else:
        result = ToolTag(listed, how, request)
        wrong = _one_by_one(listed) if _errors_in(result.diagnostics) else []
        # No call of a format has the grammar of a custom tool, which is read nevertheless.
        wrong += _CustomCalls(replace(listed, tools=texts), request).diagnostics if texts else ()
        remarks = (*listed.notes, *_text_markers(str(how.tool_calls), request))
        result.losses += tuple(_unkept(listed, source))
    if _errors_in(wrong):
        return _BrokenList(listed, wrong)
    if not _errors_in(result.diagnostics):
        result.diagnostics += tuple(_finding(remark, source) for remark in remarks)
    return result


def refused(listed: _List, problems: Iterable[Problem]) -> Parsed:
    """Return a list that cannot be used."""
    return _BrokenList(listed, [_finding(problem, listed.source) for problem in problems])


def _errors_in(findings: Iterable[Diagnostic]) -> bool:
    return any(finding.severity is Severity.ERROR for finding in findings)


class _BrokenList(Parsed):
    """The errors of a list, and its warnings."""

    def __init__(self, listed: _List, findings: Iterable[Diagnostic]) -> None:
        super().__init__(broken(listed.source), tuple(findings))
        self._listed = listed

    def lint(self) -> tuple[Diagnostic, ...]:
        errors = [finding for finding in self.diagnostics if finding.severity is Severity.ERROR]
        return tuple(untold(_suspicious(self._listed), errors))


def _finding(problem: Problem, source: Source) -> Diagnostic:
    result = diagnostic(problem, source)
    return result if problem.pointer else replace(result, message=f"the list: {problem.message}")


def schemas_in(value: Json) -> Iterator[tuple[Json, str]]:
    """Yield the schemas of a list or a request, of calls and of the answer, with their pointers."""
    listed = tools_of(value)
    for tool in listed.tools:
        yield from tool.schemas
    if listed.answer is not None:
        yield from listed.answer.schemas
        if listed.answer.tag is not None:
            yield from tag_schemas(listed.answer.tag, listed.answer.pointer)


def _value(source: Source, imports: Imports) -> Json:
    """Return the value of a text, with the files that its schemas refer to. Raises ProblemError."""
    try:
        value = parse_json(source.text, unique=True)
    except NoJsonError as error:
        message = f"the list is not JSON: {error.reason}"
        raise ProblemError(Problem(INVALID, message, "", span=error.span)) from None
    if source.path is not None and '"$ref"' in source.text:
        bundle_all(schemas_in(value), source.path, imports)
    return value


def _read(source: Source, options: Options, how: CallOptions, imports: Imports) -> _List:
    """Return the tools of a text, and all that is wrong with them."""
    try:
        value = _value(source, imports)
    except ProblemError as error:
        return _List(source, (), (), options, error.problems)
    listed_tools = tools_of(value)
    most = options.limits.tools
    if len(listed_tools.tools) > most:
        return _List(source, (), (), options, (too_large("tools", most, "tools").problem,))
    tools, errors = listed_tools.tools, listed_tools.errors
    choice = _choice(listed_tools.choice, how)
    if choice.names is not None and tools:
        wanted = {name for name, _ in choice.names}
        names = ", ".join(tool_.name for tool_ in tools)
        tools = [tool_ for tool_ in tools if tool_.name in wanted]
        if how.tool is not None:
            # A call of one tool alone has nothing to do with mistakes in the others.
            errors = [tool_ for tool_ in errors if tools and _is_in(tool_.pointer, tools[0])]
        for name, pointer in choice.names:
            if not any(tool_.name == name for tool_ in tools):
                message = f"there is no tool `{name}`"[:200]
                errors.append(Problem(INVALID, message, pointer, f"there are {names}"))
    answer = listed_tools.answer if choice.mode == AUTO else None
    if choice.mode == NO_CALLS:
        tools, answer = [], listed_tools.answer or AnswerForm(None, choice.pointer)
    if answer is not None and answer.tag is not None and tools:
        message = "the structural tag says all that is written, and these tools are not in it"
        listed_tools.notes.append(Problem(LEFT_OUT, message, "/tools"))
        tools = []
    facts: dict[int, Review] = {}
    if answer is not None and not errors:
        errors = [*_errors(answer, options, facts)]
    strange = _unwritable(tools, how)
    wrong = {
        id(tool): [*_errors(tool, options, facts), *strange.get(tool.name, ())] for tool in tools
    }
    sound = tuple(tool for tool in tools if not wrong[id(tool)])
    refused = (
        tool_
        for tool in tools
        for form in {tool_.title: tool_ for tool_ in (*_asked(options), tool.form)}.values()
        for tool_ in refusals(tool, form)
    )
    notes = (*listed_tools.notes, *refused)
    errors = [*errors, *chain(*wrong.values())]
    return _List(source, sound, notes, options, tuple(errors), answer, choice, facts)


def _choice(asked: ToolChoice, how: CallOptions) -> ToolChoice:
    """Return which tools are called: as options say, or else as a request does."""
    wanted = how.tool or how.tool_choice
    if wanted is None:
        return asked
    if how.tool is None and wanted in CHOICES:
        return ToolChoice(wanted, is_single=asked.is_single)
    return ToolChoice(REQUIRED, ((wanted, ""),), is_named=True, is_single=asked.is_single)


def _asked(options: Options) -> tuple[ToolForm, ...]:
    """Return the form of the service whose strict mode is asked for."""
    form = None if options.strict is None else OF_SERVICES.get(options.strict)
    return () if form is None else (form,)


def _is_in(pointer: str, tool: Tool) -> bool:
    return pointer == tool.pointer or pointer.startswith(f"{tool.pointer}/")


def _errors(
    findings: Tool | AnswerForm, options: Options, facts: dict[int, Review]
) -> Iterator[Problem]:
    """Yield the mistakes in the form of a tool's schema, or of an answer's; note its facts."""
    for number, (schema, pointer) in enumerate(findings.schemas):
        try:
            # No service reads the schema of a result.
            strict = None if number else options.strict or findings.strict
            own = replace(options, strict=strict)
            _, facts[id(schema)] = checked(schema, own)
        except ProblemError as error:
            yield from (_moved(problem, pointer) for problem in error.problems)


def _unwritable(tools: Sequence[Tool], how: CallOptions) -> dict[str, list[Problem]]:
    """Return why the format of the calls cannot write the names of some tools."""
    from kbnf_core.languages.structural_tag.presets import unwritable

    if how.tool_calls is None:
        return {}
    pointers = {tool.name: f"{tool.pointer}/name" for tool in tools}
    result = unwritable(format_named(how.tool_calls), pointers).items()
    return {
        name: [Problem(INVALID, why, pointers[name], "rename the tool")] for name, why in result
    }


def _moved(problem: Problem, pointer: str) -> Problem:
    return problem._replace(pointer=pointer + problem.pointer)


def _suspicious(listed: _List) -> Iterator[Diagnostic]:
    """Yield the warnings about the tools of a list, each read alone."""
    every: Sequence[Tool | AnswerForm] = listed.tools
    for finding in every if listed.answer is None else (*every, listed.answer):
        for schema, pointer in finding.schemas:
            has_arguments = isinstance(finding, Tool) and schema is finding.schema
            options = listed.guided(schema) if has_arguments else guided(schema, listed.options)
            findings_ = contradictions(schemas_of(schema, options))
            for problem in (*oddities(schema, options), *findings_):
                yield _finding(_moved(problem, pointer), listed.source)


# Calls as JSON objects


class _ObjectCalls(SchemaReading):
    """The calls of some tools as JSON objects."""

    def __init__(self, listed: _List) -> None:
        self._listed = listed
        super().__init__(_whole(listed))

    def _oddities(self) -> Iterator[Problem]:
        tools = self._listed.tools
        for number, tool in enumerate(tools):
            if tool.schema is not None:
                around = f"/anyOf/{number}" if len(tools) > 1 else ""
                for oddity in oddities(tool.schema, self._listed.guided(tool.schema)):
                    where = f"{around}/properties/arguments{oddity.pointer}"
                    yield oddity._replace(pointer=where)

    def are_all_possible(self) -> bool:
        """Return whether each of several tools can be called; an empty one may be left out."""
        count = len(self._listed.tools)
        if self.rules is None or count < 2:
            return self.rules is not None
        names = [call.nonterminal for call in calls(self.rules[START])]
        facts = analyse(GrammarRules(START, self.rules)).facts
        return len(names) == count and all(facts[name].filled for name in names)


def _whole(listed: _List) -> SchemaText:
    """Return the schema of a call of any of the tools."""
    drafts = {tool_.draft: tool_ for tool_ in listed.tools if tool_.draft is not None}
    if len(drafts) > 1:
        tool = list(drafts.values())[1]
        message = "the schemas of one list are of one draft, and this is another one"
        problem = Problem(INVALID, message, f"{tool.schema_pointer}/$schema", "name one, or none")
        raise GrammarError([_finding(problem, listed.source)])
    draft = next(iter(drafts), None)
    schemas = [_call(tool, number, draft) for number, tool in enumerate(listed.tools)]
    head = {} if draft is None else {"$schema": draft}
    if len(schemas) == 1:
        tool = listed.tools[0]
        schema, moved = {**head, **schemas[0]}, (*_moves("", tool),)
        return SchemaText(listed.source, schema, listed.guided({}), moved, listed.facts_of(tool))
    moved = tuple(
        pair
        for number, tool in enumerate(listed.tools)
        for pair in _moves(f"/anyOf/{number}", tool)
    )
    whole, options = {**head, "anyOf": schemas}, listed.guided({})
    return SchemaText(listed.source, whole, options, moved, listed.facts_of(*listed.tools))


def _moves(pointer: str, tool: Tool) -> Iterator[tuple[str, str]]:
    """Yield where the parts of the schema of a call, which is at ``pointer``, are in the list."""
    yield f"{pointer}/properties/arguments", tool.schema_pointer
    yield f"{pointer}/properties/name", f"{tool.pointer}/name"
    yield pointer, tool.pointer


def _call(tool: Tool, number: int, draft: str | None) -> Json:
    """Return the schema of a call of one tool."""
    schema = tool.arguments
    written = print_json(schema)
    if "$ref" in written or "$dynamicRef" in written:
        # What it refers to is its own.
        word = "id" if draft is not None and ("draft-03" in draft or "draft-04" in draft) else "$id"
        schema = {word: f"tool:{number}", **schema}
    return {
        "title": tool.name,
        "type": "object",
        "properties": {"name": {"enum": [tool.name]}, "arguments": schema},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _one_by_one(listed: _List) -> list[Diagnostic]:
    """Return the findings in the tools, each read alone."""
    findings: list[Diagnostic] = []
    for tool in listed.tools:
        if tool.schema in ({"not": {}}, {"not": True}):
            # What says so in as many words contradicts only what asks for arguments, our own words.
            findings.append(_finding(unsatisfiable(tool.schema_pointer), listed.source))
            continue
        alone = SchemaReading(_whole(replace(listed, tools=(tool,))))
        findings += alone.diagnostics
        if alone.rules and not analyse(GrammarRules(START, alone.rules)).facts[START].filled:
            findings.append(alone.empty())
    return findings


# Calls in the format of a model


def tag_of(listed: _List, how: CallOptions) -> dict[str, Any]:
    """Return the structural tag of calls of some tools."""
    from kbnf_core.languages.structural_tag.presets import tool_calls

    functions = [{"name": tool.name, "parameters": arguments_of(tool)} for tool in listed.tools]
    return tool_calls(
        str(how.tool_calls),
        functions,
        choice=listed.tools[0].name if listed.choice.is_named else listed.choice.mode,
        is_named=listed.choice.is_named,
        reasoning=how.reasoning,
        parallel=not (how.single_call or listed.choice.is_single),
    )


def arguments_of(tool: Tool) -> Json:
    """Return the schema of a tool's arguments: that of a custom one is a text called `input`."""
    if tool.text is None:
        return tool.arguments
    pattern = tool.text.get("pattern")
    # A pattern of a custom tool is one of all its input, one of a schema may match anywhere.
    value = {"type": "string", **({"pattern": f"^(?:{pattern})$"} if pattern else {})}
    return {
        "type": "object",
        "properties": {"input": value},
        "required": ["input"],
        "additionalProperties": False,
    }


def _unkept(listed: _List, source: Source) -> Iterator[Loss]:
    """Yield the losses of a format of calls: grammars in strings, and answers."""
    message = "in calls of this format the input of a custom tool is any text"
    pointers = [
        (tool.schema_pointer, message)
        for tool in listed.tools
        if tool.text is not None and tool.text["type"] == "grammar"
    ]
    if listed.answer is not None and listed.answer.schema is not None:
        pointers.append((listed.answer.pointer, "around calls of this format is any text"))
    for pointer, message in pointers:
        problems = diagnostic(Problem(IN_CONTENT, message, pointer), source)
        yield Loss(problems.code, problems.message, problems.span)


class _CustomCalls(TagReading):
    """The calls of some tools, of which custom ones are their texts, the others JSON objects.

    Where a request says so, there is also an answer without a call.
    """

    def __init__(self, listed: _List, request: Request) -> None:
        elements: list[Any] = []
        pointers: dict[str, str] = {}
        for number, tool in enumerate(listed.tools):
            pointer, element = f"/format/elements/{number}", tool.text
            pointers |= {
                f"{pointer}/{definition}": tool.schema_pointer for definition in _DEFINITIONS
            }
            if element is None:
                whole = _whole(replace(listed, tools=(tool,)))
                element = {"type": "json_schema", "json_schema": whole.value, "style": "call"}
                pointers |= {f"{pointer}/json_schema{here}": there for here, there in whole.moved}
            elements.append({**element, "tool": tool.name})
            pointers[pointer] = tool.pointer
        if listed.answer is not None:
            schema = listed.answer.schema
            pointers[f"/format/elements/{len(elements)}/json_schema"] = listed.answer.pointer
            answered = {"type": "json_schema", "json_schema": schema, "style": "call"}
            elements.append({"type": "any_text"} if schema is None else answered)
        tag = {"type": "structural_tag", "format": {"type": "or", "elements": elements}}
        report = _ListReport(listed.source, pointers)
        super().__init__(read_value(tag, report, request.limits), report, request, listed.options)
        self._listed = listed

    def _suspicious(self) -> Iterator[Diagnostic]:
        return _suspicious(self._listed)


_DEFINITIONS = ("grammar", "pattern")
"""The fields of formats that have the grammar of a custom tool."""


def tag_of_text(
    text: str, options: Mapping[str, Any], path: str | None = None, imports: Imports = BELOW
) -> Conversion:
    """Return the structural tag of calls of the tools in a text.

    Raises ``GrammarError`` for a text that is not a list of tools, ``ConfigError`` for unknown
    options.
    """
    how = calls_of(options)
    if how.token_markers:
        raise ConfigError("a structural tag has the texts of markers: leave `token_markers` out")
    source = Source(text, path, is_json=True)
    listed = _read(source, options_of(of_schemas(options)), how, imports)
    if listed.errors:
        raise GrammarError([_finding(error, source) for error in listed.errors])
    shown = json.dumps(tag_of(listed, how), indent=2, ensure_ascii=False, default=as_number)
    return Conversion(shown + "\n", True, ())


def as_number(value: Any) -> int | float:
    """Return a number of JSON, a ``Decimal``, for ``json.dumps``."""
    return int(value) if value == value.to_integral_value() else float(value)


class ToolTag(TagReading):
    """The calls of some tools in the format of a model."""

    def __init__(self, listed: _List, how: CallOptions, request: Request) -> None:
        tag = tag_of(listed, how)
        report = _ListReport(listed.source, _pointers(tag, listed.tools))
        report.sound = {
            id(tool.arguments): (tool.arguments, listed.facts_of(tool)) for tool in listed.tools
        }
        format_ = format_named(str(how.tool_calls))
        nodes = read_value(tag, report, request.limits)
        super().__init__(nodes, report, request, listed.options, _markers(format_, how, request))
        self.listed = listed
        self.made_of = MadeOf.of(format_)
        self._template = format_.get("response_template")
        self._format = format_

    def _suspicious(self) -> Iterator[Diagnostic]:
        return _suspicious(self.listed)

    def language(self) -> "CallLanguage | None":
        """Return the reading language of the format, whatever is asked of the model."""
        from kbnf_core.languages.structural_tag.reading import language_of_format

        tools = {tool.name: arguments_of(tool) for tool in self.listed.tools}
        result = language_of_format(self._format, tools)
        return None if result is None else result.beginning_as(super().language())

    def marked(self) -> Marked:
        """Return the descriptions by which calls and messages are read."""
        tools = [{"name": tool.name, "parameters": tool.schema} for tool in self.listed.tools]
        format_ = {"template": self._template, "tools": tools}
        messages = json.dumps(format_, default=as_number) if self._template else ""
        return super().marked()._replace(messages=messages)


def _markers(format_: Format, how: CallOptions, request: Request) -> dict[str, TokenTerminal]:
    """Return the markers of a format that are tokens. Raises ``ConfigError``."""
    if not how.token_markers:
        return {}
    if request.vocabulary is None:
        raise ConfigError("`token_markers` needs a vocabulary")
    return token_markers(format_, request.vocabulary)


class _ListReport(TagReport):
    """A report whose places are those of the list."""

    def __init__(self, source: Source, pointers: Mapping[str, str]) -> None:
        super().__init__(source)
        self._pointers = pointers

    def source_pointer(self, pointer: str) -> str:
        """Return where the part of the tag at ``pointer`` is in the list."""
        rest = ""
        while pointer and pointer not in self._pointers:
            pointer, _, step = pointer.rpartition("/")
            rest = f"/{step}{rest}"
        return self._pointers[pointer] + rest if pointer in self._pointers else ""


def _text_markers(name: str, request: Request) -> Iterator[Problem]:
    """Yield a note where markers of a format are not tokens, as for a model of another kind."""
    from kbnf_core.languages.structural_tag.models import markers

    vocabulary = request.vocabulary
    is_token = {} if vocabulary is None else markers(format_named(name), vocabulary)
    spelled = [marker for marker, format_ in is_token.items() if not format_]
    if spelled:
        some = ", ".join(f"`{marker}`" for marker in spelled[:4]) + (", ..." if spelled[4:] else "")
        message = f"of the format of the calls, {some} are text in this vocabulary, not tokens"
        which = "" if any(is_token.values()) else "none of its markers is a token: "
        help_ = "a model that was trained on the format mostly has tokens for them"
        yield Problem(TEXT_MARKERS, message, "", which + help_)


def _pointers(tag: dict[str, Any], tools: tuple[Tool, ...]) -> dict[str, str]:
    """Return where the schemas in a tag are in the list, by their pointers in the tag."""
    pointers = {tool.name: tool.schema_pointer for tool in tools}
    result = {}
    pending: list[tuple[Any, str]] = [(tag, "")]
    for value, pointer in pending:
        if isinstance(value, dict) and "json_schema" in value:
            result[f"{pointer}/json_schema"] = pointers.get(value.get("tool", ""), "")
        elif isinstance(value, dict):
            pending += [(inner, f"{pointer}/{escape(name)}") for name, inner in value.items()]
        elif isinstance(value, list):
            pending += [(inner, f"{pointer}/{number}") for number, inner in enumerate(value)]
    return result
