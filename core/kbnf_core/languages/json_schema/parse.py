"""The reader of JSON Schemas: to rules, by themselves or inside another grammar."""

import json
import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple, TypeVar

from kbnf_core import ir
from kbnf_core.config import Finish
from kbnf_core.ir.analysis import cycles
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Loss, Parsed, Request, Rules
from kbnf_core.kbnf.printer import print_document
from kbnf_core.languages.json_schema.build_tree import definition
from kbnf_core.languages.json_schema.build_tree import document as as_document
from kbnf_core.languages.json_schema.document import (
    Document,
    SharedDocument,
    check_schema,
    read_json,
)
from kbnf_core.languages.json_schema.expressions import AnyOf, Expression, Ref
from kbnf_core.languages.json_schema.guidance import guided
from kbnf_core.languages.json_schema.keywords import APPLICATORS, NUMBERS
from kbnf_core.languages.json_schema.normal_form import Type
from kbnf_core.languages.json_schema.options import Options, options_of
from kbnf_core.languages.json_schema.problems import UNSATISFIABLE, Problem, ProblemError, too_large
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.translate import translate
from kbnf_core.text.diagnostics import Diagnostic, Edit, Fix
from kbnf_core.text.errors import GrammarError, WorkLimitError
from kbnf_core.text.json_text import Json
from kbnf_core.text.source import Source, Span

T = TypeVar("T")

START = "start"


class Embedded(NamedTuple):
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


class SchemaText(NamedTuple):
    """A sound schema, the text that it is in, and the options in force.

    Where the schema is not all of its text, ``moved`` has the pointers that those in ``value``
    begin with, and what these places are called in the text.
    """

    source: Source
    value: Json
    options: Options
    moved: tuple[tuple[str, str], ...] = (("", ""),)

    def pointer(self, pointer: str) -> str:
        """Return the pointer in the text of a place in the schema."""
        for inner, outer in self.moved:
            if pointer == inner or pointer.startswith(f"{inner}/"):
                return outer + pointer[len(inner) :]
        return ""

    def places(self) -> Mapping[str, Span]:
        """Return the spans of the places in the schema, by their pointers."""
        return {
            inner + pointer[len(outer) :]: span
            for pointer, span in self.source.places.items()
            for inner, outer in self.moved
            if pointer == outer or pointer.startswith(f"{outer}/")
        }

    def document(self) -> Document:
        """Return the schema as a document."""
        options, closed = self.options, bool(self.options.closed)
        return Document(self.value, options.limits, options.standard, closed=closed)

    def diagnostic(self, problem: Problem) -> Diagnostic:
        """Return the finding about a problem at a place in the schema."""
        return diagnostic(problem._replace(pointer=self.pointer(problem.pointer)), self.source)

    def loss(self, problem: Problem) -> Loss:
        """Return the loss that a problem is."""
        found = self.diagnostic(problem)
        return Loss(problem.code, found.message, found.span)


def parse_json_schema(source: Source, request: Request) -> Parsed:
    """Read a schema, a JSON text, to the rules of the JSON texts that it allows.

    A schema that is malformed, cannot be satisfied, passes a limit or, unless ``request.lossy``,
    holds a keyword that no grammar can honour has errors; each finding names the JSON Pointer.
    Raises ``ConfigError`` for options that are none.
    """
    options = options_of({**request.options, "lossy": request.lossy})

    def read() -> SchemaText:
        try:
            value = read_json(source.text)
            sound = checked(value, source.text, options)
        except ProblemError as error:
            found = [diagnostic(problem, source) for problem in error.problems]
            raise GrammarError(found) from None
        return SchemaText(source, value, sound)

    return parse_schema(source, read)


_ENDLESS = "every value needs another one inside"


def checked(value: Json, text: str, options: Options) -> Options:
    """Return the options that a schema with this text says. Raises ProblemError."""
    problems = check_schema(value, text, options.limits)
    if options.strict is not None and not problems:
        from kbnf_core.languages.json_schema.services import check_service

        problems = check_service(value, options.strict)
    if problems:
        raise ProblemError(*problems)
    return guided(value, options)


class _Converted(NamedTuple):
    """The rules of a schema, and what there is to say of them; see ``Embedded``."""

    text: SchemaText
    rules: Mapping[str, ir.Node]
    eager: bool
    losses: tuple[Problem, ...] = ()
    notes: tuple[Problem, ...] = ()


def _convert(text: SchemaText) -> _Converted:
    """Convert a schema. Raises ProblemError and GrammarError."""
    writer = _writer(text)
    rules, eager = _made(writer, writer.rules_for)
    losses, notes = _said(writer)
    # What it holds refers back to it, and would wait for the collector of garbage.
    vars(writer).clear()
    if losses and not text.options.lossy:
        # Those that ``lenient`` in the schema asks for: each is named, also of equal parts.
        losses = _readable(text).losses
    return _Converted(text, rules, eager, losses, notes)


def parse_schema(source: Source, read: Callable[[], SchemaText]) -> Parsed:
    """Return the rules of the schema that ``read`` finds in a text, or why there are none.

    ``read`` raises ``GrammarError``; it is called anew for what is asked later, so that nothing is
    kept of the schema.
    """
    document = tree.Document(source, (), (), frozenset((START,)))
    try:
        text = read()
        found = _convert(text)
    except ProblemError as error:
        why = text.diagnostic(_explained(error.problem, text))
        is_sound = error.problem.code == UNSATISFIABLE
        return Parsed(document, (why,), lint=partial(_misspelt, read) if is_sound else tuple)
    except GrammarError as error:
        return Parsed(document, tuple(error.diagnostics))
    text, rules = found.text, found.rules

    def lint() -> tuple[Diagnostic, ...]:
        from kbnf_core.languages.json_schema.lint import lint_schema

        text = read()
        found = [*lint_schema(text.value, text.options), *_endless(text, rules)]
        return tuple(map(text.diagnostic, found))

    def write() -> str:
        return _written(_readable(read()))

    def explained() -> Mapping[str, ir.Node]:
        try:
            readable = _readable(read())
        except GrammarError:
            # Schemas with the same contents may pass a limit where they are not one.
            return rules
        same = translate(as_document(readable.definitions), readable.start).grammar
        return rules if same is None else same.rules

    def place(name: str) -> Span:
        text = read()
        writer = _writer(text)
        writer.rules_for(writer.schemas.document.root())
        return source.locate(text.pointer(writer.pointer_of(name, rules)))

    def empty() -> Diagnostic:
        return text.diagnostic(Problem(UNSATISFIABLE, _ENDLESS, ""))

    return Parsed(
        tree.Document(source, (), ()),
        tuple(map(text.diagnostic, found.notes)),
        START,
        _finish(found.eager),
        tuple(map(text.loss, found.losses)),
        meaning=Rules(rules, write, explained, place, empty),
        lint=lint,
    )


def _misspelt(read: Callable[[], SchemaText]) -> tuple[Diagnostic, ...]:
    """Return the keywords that are none: for one of them a schema may have no value."""
    from kbnf_core.languages.json_schema.lint import MISSPELT, lint_schema

    text = read()
    found = lint_schema(text.value, text.options)
    return tuple(text.diagnostic(each) for each in found if each.code == MISSPELT)


def _endless(text: SchemaText, rules: Mapping[str, ir.Node]) -> Iterator[Problem]:
    """Yield what has no value because each needs another one inside, once for each circle."""
    from kbnf_core.languages.json_schema.lint import CONTRADICTION

    facts = analyse(ir.Grammar(START, rules)).facts
    dead = {name: body for name, body in rules.items() if not facts[name].productive}
    if not dead or START in dead:
        return
    writer = _writer(text)
    writer.rules_for(writer.schemas.document.root())
    graph = {name: [each.nonterminal for each in ir.calls(body)] for name, body in dead.items()}
    for first, *_ in cycles(graph):
        yield Problem(CONTRADICTION, _ENDLESS, writer.pointer_of(first, rules))


def _explained(problem: Problem, text: SchemaText) -> Problem:
    """Return why a schema has no value, where that is known, instead of the fact."""
    if problem.code != UNSATISFIABLE:
        return problem
    from kbnf_core.languages.json_schema.lint import contradiction

    return contradiction(text.value, text.options) or problem


def _writer(text: SchemaText) -> Writer:
    options, closed = text.options, bool(text.options.closed)
    document = SharedDocument(text.value, options.limits, options.standard, closed=closed)
    return Writer(document, options, remembers=True)


def _readable(text: SchemaText) -> Embedded:
    """Return the rules for people, in which schemas with the same contents are not one."""
    # Only texts and explanations need it, and with it the reader of KBNF.
    from kbnf_core.languages.json_schema.readable import ReadableWriter

    try:
        places = text.places()
        writer = ReadableWriter(text.document(), text.options, places, text.pointer)
        definitions, eager = _made(writer, writer.write)
    except ProblemError as error:
        raise GrammarError([text.diagnostic(error.problem)]) from None
    return Embedded(START, tuple(definitions), *_said(writer), eager, writer.comments)


def _finish(eager: bool) -> Finish:
    return Finish.EAGER if eager else Finish.EOS


def _written(embedded: Embedded) -> str:
    """Return the text, laid out as ``kbnf fmt`` lays out."""
    from kbnf_core.kbnf.format import WIDTH, format_kbnf

    parts = [f"(* kbnf: finish={_finish(embedded.eager).value} from=json-schema *)\n"]
    for rule in embedded.definitions:
        comment = embedded.comments.get(rule.name.value)
        if comment is not None:
            lines = textwrap.wrap(comment.replace("*)", "* )").replace("(*", "( *"), WIDTH - 6)
            parts.append("\n(* " + "\n   ".join(lines) + " *)\n")
        parts.append(print_document(as_document([rule])))
    text = "".join(parts)
    # Brackets of a hostile schema may be nested more deeply than texts are read.
    return format_kbnf(Source(text)).text or text


def embed_json_schema(schema: Json, options: Options | None = None, prefix: str = "") -> Embedded:
    """Return rules for a schema, all names beginning with ``prefix``. Raises ProblemError.

    ``schema`` is as ``document.read_json`` returns it: numbers are decimals.
    """
    from kbnf_core.languages.json_schema.notations import Notations

    options = guided(schema, options or Options())
    document = Document(schema, options.limits, options.standard, closed=bool(options.closed))
    writer = Writer(document, options, prefix)
    rules, eager = _made(writer, lambda root: Notations(writer).rules(writer.write_all(root)))
    definitions = tuple(definition(*rule) for rule in rules.items())
    return Embedded(prefix + START, definitions, *_said(writer), eager, {})


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
    contents = _contents(schemas, root) if isinstance(root, Ref) else {}
    if contents.get("type") == "object":
        return True
    if contents and not contents.keys() & (APPLICATORS | NUMBERS):
        names = contents.get("type", "number")
        return all(name not in _NUMBERS for name in (names if isinstance(names, list) else [names]))
    alias = schemas.alias(root) if isinstance(root, Ref) else root
    parts = alias.parts if isinstance(alias, AnyOf) else (alias,)
    if all(part is not None and _says_object(schemas, part) for part in parts):
        # Without reading them: those that are known have not been.
        return True
    return Type.NUMBER not in schemas.some(root)


_NUMBERS = ("number", "integer", "any")
"""The types of numbers; draft 3 has a word for all."""


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


def diagnostic(problem: Problem, source: Source) -> Diagnostic:
    """Return the finding about a problem at a pointer of a text."""
    helps: tuple[str, ...] = (problem.help,) if problem.help else ()
    if problem.can_be_dropped:
        helps += ("`--lossy` (in Python `Options(lossy=True)`) drops the keyword and says so",)
    span = problem.span or source.locate(problem.pointer)
    fixes: tuple[Fix, ...] = ()
    if problem.replacement:
        edit = Edit(span, json.dumps(problem.replacement, ensure_ascii=False))
        fixes = (Fix(f"write `{problem.replacement}`", (edit,), safe=False),)
    return Diagnostic(problem.code, _message(problem), source, span, helps=helps, fixes=fixes)
