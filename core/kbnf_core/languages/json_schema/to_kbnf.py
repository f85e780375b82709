"""The entry points of the conversion: to text, to a grammar, to rules inside another grammar."""

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kbnf_core import ir
from kbnf_core.automata.dfa import Dfa
from kbnf_core.collecting import without_collecting
from kbnf_core.config import Finish
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError, WorkLimitError
from kbnf_core.languages.json_schema.build_tree import document as as_document
from kbnf_core.languages.json_schema.document import (
    Json,
    check_schema,
    read_json,
)
from kbnf_core.languages.json_schema.expressions import AnyOf, Expression, Ref
from kbnf_core.languages.json_schema.guidance import guided
from kbnf_core.languages.json_schema.normal_form import Type
from kbnf_core.languages.json_schema.options import Options
from kbnf_core.languages.json_schema.problems import (
    NARROWED,
    REPEATED,
    UNSATISFIABLE,
    Problem,
    ProblemError,
    locate,
    too_large,
)
from kbnf_core.languages.json_schema.run_writer import RunWriter
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.limits import DEFAULT_LIMITS, Limits
from kbnf_core.lower.analyse import Analysis, analyse
from kbnf_core.lower.translate import translate
from kbnf_core.source import Source, Span
from kbnf_core.syntax import tree
from kbnf_core.syntax.conversion import Conversion, Loss
from kbnf_core.syntax.printer import print_document

if TYPE_CHECKING:
    from kbnf_core.grammar import Grammar


@dataclass(frozen=True, slots=True)
class Embedded:
    """Rules for a schema inside another grammar: ``definitions``, of which ``start`` is called.

    ``losses`` are keywords that were dropped, ``notes`` those that say nothing; ``eager`` tells
    whether every text ends where its value does; ``automata`` are those of regular expressions
    that are known already, ``bodies`` the meanings of more rules.
    """

    start: str
    definitions: tuple[tree.Definition, ...]
    losses: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    eager: bool
    automata: Mapping[tree.Pattern, Dfa]
    comments: Mapping[str, str]
    bodies: Mapping[str, ir.Node]


def from_json_schema(
    source: str, options: Options | None = None, *, path: str | None = None
) -> Conversion:
    """Return a KBNF grammar for the JSON texts that a schema, itself a JSON text, allows.

    Raises ``GrammarError`` for a schema that is malformed, cannot be satisfied, passes a limit or,
    unless ``options.lossy``, holds a keyword that no grammar can honour; each finding names the
    JSON Pointer.
    """
    text = Source(source, path)
    embedded = _readable(text, options)
    _meaning(embedded, text)
    losses = tuple(
        Loss(problem.code, _message(problem), locate(source, problem.pointer))
        for problem in embedded.losses
    )
    notes = tuple(_diagnostic(problem, text) for problem in embedded.notes)
    exact = not losses and not any(note.code in (NARROWED, REPEATED) for note in embedded.notes)
    return Conversion(_written(embedded), exact, losses, notes)


@without_collecting()
def json_schema_grammar(
    source: str, options: Options | None = None, limits: Limits = DEFAULT_LIMITS
) -> "Grammar":
    """Return the grammar that ``from_json_schema`` writes, without writing and reading it.

    ``limits`` are those of the grammar; those of the schema are in ``options``.

    Raises what that raises. The grammar's text is rendered on first access.
    """
    from kbnf_core.grammar import Grammar

    text = Source(source)
    embedded = _convert(text, options, RunWriter)
    if embedded.losses and not (options and options.lossy):
        # Losses of ``lenient`` in the schema would otherwise go unreported. Schemas to be read by
        # someone are not shared, so each is named.
        losses = _readable(text, options).losses
        raise GrammarError([_diagnostic(loss, text) for loss in losses])
    grammar, analysis = _meaning(embedded, text)

    def write() -> str:
        return _written(_readable(text, options))

    return Grammar.of_rules(grammar, analysis, _finish(embedded), write, limits)


def _convert(text: Source, options: Options | None, writer: type[Writer]) -> Embedded:
    try:
        value = read_json(text.text)
        limits = (options or Options()).limits
        problems = check_schema(value, text.text, limits)
        if problems:
            raise ProblemError(problems[0])
        if options is not None and options.strict is not None:
            from kbnf_core.languages.json_schema.services import check_service

            refused = check_service(value, options.strict)
            if refused:
                raise GrammarError([_diagnostic(problem, text) for problem in refused])
        return embed_json_schema(value, options, writer=writer)
    except ProblemError as error:
        raise GrammarError([_diagnostic(error.problem, text)]) from None


def _readable(text: Source, options: Options | None) -> Embedded:
    # Only texts need it, and with it the reader of KBNF.
    from kbnf_core.languages.json_schema.readable import ReadableWriter

    return _convert(text, options, ReadableWriter)


def _finish(embedded: Embedded) -> Finish:
    return Finish.EAGER if embedded.eager else Finish.EOS


def _written(embedded: Embedded) -> str:
    """Return the text, laid out as ``kbnf fmt`` lays out."""
    from kbnf_core.format.document import WIDTH, format_kbnf

    parts = [f"(* kbnf: finish={_finish(embedded).value} *)\n"]
    for definition in embedded.definitions:
        comment = embedded.comments.get(definition.name.value)
        if comment is not None:
            lines = textwrap.wrap(comment.replace("*)", "* )").replace("(*", "( *"), WIDTH - 6)
            parts.append("\n(* " + "\n   ".join(lines) + " *)\n")
        parts.append(print_document(as_document([definition])))
    text = "".join(parts)
    # Brackets of a hostile schema may be nested more deeply than texts are read.
    return format_kbnf(Source(text)).text or text


def embed_json_schema(
    schema: Json,
    options: Options | None = None,
    prefix: str = "",
    writer: type[Writer] = Writer,
) -> Embedded:
    """Return rules for a schema, all names beginning with ``prefix``. Raises ProblemError.

    ``schema`` is as ``document.read_json`` returns it: numbers are decimals.
    """
    options = guided(schema, options or Options())
    document = writer.reads(schema, options.limits, options.standard)
    rules = writer(document, options, prefix)
    root = document.root()
    try:
        definitions = rules.write(root)
        eager = _is_prefix_free(rules.schemas, root)
    except WorkLimitError as error:
        raise too_large("steps of work", error.limit, "work", error.part) from None
    losses = tuple(dict.fromkeys(rules.schemas.losses))
    notes = tuple(dict.fromkeys([*document.ignored, *rules.schemas.notes]))
    start = prefix + "start"
    automata, comments = rules.automata, rules.comments
    return Embedded(
        start, tuple(definitions), losses, notes, eager, automata, comments, rules.bodies
    )


def _meaning(embedded: Embedded, source: Source) -> tuple[ir.Grammar, Analysis]:
    """Return the grammar; refuse one in which every value holds another one, without an end."""
    document = as_document(embedded.definitions)
    grammar = translate(
        document, embedded.start, automata=embedded.automata, bodies=embedded.bodies
    ).grammar
    if grammar is not None:
        analysis = analyse(grammar)
        if analysis.facts[grammar.start].filled:
            return grammar, analysis
    problem = Problem(UNSATISFIABLE, "every value needs another one inside", "")
    raise GrammarError([_diagnostic(problem, source)])


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
    span = locate(source.text, problem.pointer)
    if problem.offset is not None:
        end = len(source.text)
        span = Span(min(problem.offset, end), min(problem.offset + 1, end))
    return Diagnostic(problem.code, _message(problem), source, span, helps=helps)
