"""The reader of JSON Schemas: to rules, by themselves or inside another grammar."""

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from kbnf_core import ir
from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError, WorkLimitError
from kbnf_core.json_text import Json
from kbnf_core.languages.json_schema.build_tree import document as as_document
from kbnf_core.languages.json_schema.document import Document, check_schema, read_json
from kbnf_core.languages.json_schema.expressions import AnyOf, Expression, Ref
from kbnf_core.languages.json_schema.guidance import guided
from kbnf_core.languages.json_schema.language import options_of
from kbnf_core.languages.json_schema.normal_form import Type
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.problems import (
    UNSATISFIABLE,
    Problem,
    ProblemError,
    too_large,
)
from kbnf_core.languages.json_schema.run_writer import RunWriter
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.shared_document import SharedDocument
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.translate import translate
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.conversion import Loss
from kbnf_core.syntax.parsed import Parsed, Request, Rules
from kbnf_core.syntax.printer import print_document

T = TypeVar("T")

START = "start"


@dataclass(frozen=True, slots=True)
class Embedded:
    """Rules for a schema inside another grammar: ``definitions``, of which ``start`` is called.

    ``losses`` are keywords that were dropped, ``notes`` those that say nothing; ``eager`` tells
    whether every text ends where its value does; ``comments`` are what to say of rules, by name.
    """

    start: str
    definitions: tuple[tree.Definition, ...]
    losses: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    eager: bool
    comments: Mapping[str, str]


def parse_json_schema(source: Source, request: Request) -> Parsed:
    """Read a schema, a JSON text, to the rules of the JSON texts that it allows.

    A schema that is malformed, cannot be satisfied, passes a limit or, unless ``request.lossy``,
    holds a keyword that no grammar can honour has errors; each finding names the JSON Pointer.
    Raises ``ConfigError`` for options that are none.
    """
    options = replace(options_of(request.options), lossy=request.lossy)
    document = tree.Document(source, (), (), frozenset((START,)))
    try:
        writer = _run_writer(source, options)
        rules, eager = _made(writer, writer.rules_for)
        losses, notes = _said(writer)
        if losses and not options.lossy:
            # Those that ``lenient`` in the schema asks for: each is named, also of equal parts.
            losses = _readable(source, options).losses
    except ProblemError as error:
        return Parsed(document, (_diagnostic(error.problem, source),))
    except GrammarError as error:
        return Parsed(document, tuple(error.diagnostics))

    def write() -> str:
        return _written(_readable(source, options))

    def explained() -> Mapping[str, ir.Node]:
        try:
            readable = _readable(source, options)
        except GrammarError:
            # Schemas with the same contents may pass a limit where they are not one.
            return rules
        same = translate(as_document(readable.definitions), readable.start).grammar
        return rules if same is None else same.rules

    def place(name: str) -> Span:
        # The rules are made again, so that nothing is kept for a message that seldom comes.
        again = _run_writer(source, options)
        again.rules_for(again.schemas.document.root())
        return source.locate(again.pointer_of(name, rules))

    unsatisfiable = Problem(UNSATISFIABLE, "every value needs another one inside", "")
    empty = _diagnostic(unsatisfiable, source)
    return Parsed(
        tree.Document(source, (), ()),
        tuple(_diagnostic(problem, source) for problem in notes),
        START,
        _finish(eager),
        tuple(_loss(problem, source) for problem in losses),
        meaning=Rules(rules, write, explained, place, empty),
    )


def _loss(problem: Problem, source: Source) -> Loss:
    return Loss(problem.code, _message(problem), source.locate(problem.pointer))


def _checked(text: Source, options: Options) -> tuple[Json, Options]:
    """Return a schema and what it says of its options. Raises ProblemError and GrammarError."""
    value = read_json(text.text)
    problems = check_schema(value, text.text, options.limits)
    if problems:
        raise ProblemError(problems[0])
    if options.strict is not None:
        from kbnf_core.languages.json_schema.services import check_service

        refused = check_service(value, options.strict)
        if refused:
            raise GrammarError([_diagnostic(problem, text) for problem in refused])
    return value, guided(value, options)


def _run_writer(text: Source, options: Options) -> RunWriter:
    value, options = _checked(text, options)
    return RunWriter(
        SharedDocument(value, options.limits, options.standard, closed=bool(options.closed)),
        options,
    )


def _readable(text: Source, options: Options) -> Embedded:
    """Return the rules for people, in which schemas with the same contents are not one."""
    # Only texts and explanations need it, and with it the reader of KBNF.
    from kbnf_core.languages.json_schema.readable import ReadableWriter

    try:
        value, options = _checked(text, options)
        document = Document(value, options.limits, options.standard, closed=bool(options.closed))
        return _embedded(ReadableWriter(document, options, text.places))
    except ProblemError as error:
        raise GrammarError([_diagnostic(error.problem, text)]) from None


def _finish(eager: bool) -> Finish:
    return Finish.EAGER if eager else Finish.EOS


def _written(embedded: Embedded) -> str:
    """Return the text, laid out as ``kbnf fmt`` lays out."""
    from kbnf_core.format.document import WIDTH, format_kbnf

    parts = [f"(* kbnf: finish={_finish(embedded.eager).value} *)\n"]
    for definition in embedded.definitions:
        comment = embedded.comments.get(definition.name.value)
        if comment is not None:
            lines = textwrap.wrap(comment.replace("*)", "* )").replace("(*", "( *"), WIDTH - 6)
            parts.append("\n(* " + "\n   ".join(lines) + " *)\n")
        parts.append(print_document(as_document([definition])))
    text = "".join(parts)
    # Brackets of a hostile schema may be nested more deeply than texts are read.
    return format_kbnf(Source(text)).text or text


def embed_json_schema(schema: Json, options: Options | None = None, prefix: str = "") -> Embedded:
    """Return rules for a schema, all names beginning with ``prefix``. Raises ProblemError.

    ``schema`` is as ``document.read_json`` returns it: numbers are decimals.
    """
    options = guided(schema, options or Options())
    document = Document(schema, options.limits, options.standard, closed=bool(options.closed))
    return _embedded(Writer(document, options, prefix), prefix)


def _embedded(writer: Writer, prefix: str = "") -> Embedded:
    definitions, eager = _made(writer, writer.write)
    return Embedded(prefix + START, tuple(definitions), *_said(writer), eager, writer.comments)


def _made(writer: Writer, make: Callable[[Expression], T]) -> tuple[T, bool]:
    """Return the rules that ``make`` makes of a document, and whether its values end by themselves.

    Raises ProblemError.
    """
    root = writer.schemas.document.root()
    try:
        return make(root), _is_prefix_free(writer.schemas, root)
    except WorkLimitError as error:
        raise too_large("steps of work", error.limit, "work", error.part) from None


def _said(writer: Writer) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """Return the keywords that were dropped, and those that say nothing."""
    schemas = writer.schemas
    notes = dict.fromkeys([*schemas.document.ignored, *schemas.notes])
    return tuple(dict.fromkeys(schemas.losses)), tuple(notes)


def _is_prefix_free(schemas: Schemas, root: Expression) -> bool:
    """Tell whether a text ends where its value ends: all but numbers do."""
    alias = schemas.alias(root) if isinstance(root, Ref) else root
    if isinstance(alias, AnyOf) and all(_says_object(schemas, part) for part in alias.parts):
        # Without reading them: those that are known have not been.
        return True
    return Type.NUMBER not in schemas.shape(root)


def _says_object(schemas: Schemas, part: Expression) -> bool:
    alias = (
        schemas.alias(part)
        if isinstance(part, Ref) and "$ref" in _contents(schemas, part)
        else part
    )
    return isinstance(alias, Ref) and _contents(schemas, alias).get("type") == "object"


def _contents(schemas: Schemas, at: Ref) -> Mapping[str, Json]:
    return schemas.document.place(at).contents


def _message(problem: Problem) -> str:
    return f"{problem.pointer or 'the whole schema'}: {problem.message}"


def _diagnostic(problem: Problem, source: Source) -> Diagnostic:
    helps: tuple[str, ...] = (problem.help,) if problem.help else ()
    if problem.can_be_dropped:
        helps += ("`--lossy` (in Python `Options(lossy=True)`) drops the keyword and says so",)
    span = problem.span or source.locate(problem.pointer)
    return Diagnostic(problem.code, _message(problem), source, span, helps=helps)
