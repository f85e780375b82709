"""The conversions that callers use."""

from dataclasses import dataclass

from kbnf_core.convert.conversion import Conversion, Loss
from kbnf_core.convert.json_schema.document import Document, Json, check_schema, read_json
from kbnf_core.convert.json_schema.expressions import Expression
from kbnf_core.convert.json_schema.forms import document as as_document
from kbnf_core.convert.json_schema.locate import locate
from kbnf_core.convert.json_schema.options import Options
from kbnf_core.convert.json_schema.problems import UNSATISFIABLE, Problem, ProblemError
from kbnf_core.convert.json_schema.schemas import Schemas
from kbnf_core.convert.json_schema.shapes import Type
from kbnf_core.convert.json_schema.writer import Writer
from kbnf_core.diagnostics import Diagnostic
from kbnf_core.errors import GrammarError
from kbnf_core.lower.analyse import analyse
from kbnf_core.lower.translate import translate
from kbnf_core.source import Source
from kbnf_core.syntax import tree
from kbnf_core.syntax.printer import print_document


@dataclass(frozen=True, slots=True)
class Embedded:
    """Rules for a schema inside another grammar: ``definitions``, of which ``start`` is called.

    ``losses`` are keywords that were dropped, ``notes`` those that say nothing; ``eager`` tells
    whether every text ends where its value does.
    """

    start: str
    definitions: tuple[tree.Definition, ...]
    losses: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    eager: bool


def from_json_schema(
    source: str, options: Options | None = None, *, path: str | None = None
) -> Conversion:
    """Return a KBNF grammar for the JSON texts that a schema, itself a JSON text, allows.

    Raises ``GrammarError`` for a schema that is malformed, cannot be satisfied, passes a limit or,
    unless ``options.lossy``, holds a keyword that no grammar can honour; each finding names the
    JSON Pointer.
    """
    text = Source(source, path)
    try:
        value = read_json(source)
        limits = (options or Options()).limits
        Document(value, limits)
        problems = check_schema(source, limits)
        if problems:
            raise ProblemError(problems[0])
        embedded = embed_json_schema(value, options)
    except ProblemError as error:
        raise GrammarError([_diagnostic(error.problem, text)]) from None
    finish = "eager" if embedded.eager else "eos"
    document = as_document(embedded.definitions)
    _check_filled(document, text)
    body = print_document(document)
    losses = tuple(
        Loss(problem.code, _message(problem), locate(source, problem.pointer))
        for problem in embedded.losses
    )
    notes = tuple(_diagnostic(problem, text) for problem in embedded.notes)
    return Conversion(f"(* kbnf: finish={finish} *)\n{body}", not losses, losses, notes)


def embed_json_schema(schema: Json, options: Options | None = None, prefix: str = "") -> Embedded:
    """Return rules for a schema, all names beginning with ``prefix``. Raises ProblemError.

    ``schema`` is as ``document.read_json`` returns it: numbers are decimals.
    """
    options = options or Options()
    document = Document(schema, options.limits)
    writer = Writer(document, options, prefix)
    root = document.root()
    definitions = writer.write(root)
    losses = tuple(dict.fromkeys(writer.schemas.losses))
    eager = _is_prefix_free(writer.schemas, root)
    notes = tuple(dict.fromkeys(writer.schemas.notes))
    return Embedded(prefix + "start", tuple(definitions), losses, notes, eager)


def _check_filled(document: tree.Document, source: Source) -> None:
    """Refuse a grammar in which every value holds another one, without an end."""
    grammar = translate(document).grammar
    if grammar is None or not analyse(grammar).facts[grammar.start].filled:
        problem = Problem(UNSATISFIABLE, "every value needs another one inside", "")
        raise GrammarError([_diagnostic(problem, source)])


def _is_prefix_free(schemas: Schemas, root: Expression) -> bool:
    """Tell whether a text ends where its value ends: all but numbers do."""
    return Type.NUMBER not in schemas.shape(root)


def _message(problem: Problem) -> str:
    return f"{problem.pointer or 'the whole schema'}: {problem.message}"


def _diagnostic(problem: Problem, source: Source) -> Diagnostic:
    helps = (problem.help,) if problem.help else ()
    span = locate(source.text, problem.pointer)
    return Diagnostic(problem.code, _message(problem), source, span, helps=helps)
