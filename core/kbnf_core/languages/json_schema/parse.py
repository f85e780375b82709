"""The reader of JSON Schemas: to rules, by themselves or inside another grammar."""

import json
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import NamedTuple, TypeVar, cast

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.errors import LimitError
from kbnf_core.automata.to_regex import to_regex
from kbnf_core.config import Finish
from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.parsed import Loss, Parsed, Request, Rules
from kbnf_core.kbnf.printer import print_document
from kbnf_core.languages.json_schema.atoms import Length, Matching
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
from kbnf_core.languages.json_schema.options import Digits, Options, options_of
from kbnf_core.languages.json_schema.problems import (
    UNSATISFIABLE,
    Problem,
    ProblemError,
    dropped,
    too_large,
    unsatisfiable,
)
from kbnf_core.languages.json_schema.schemas import Schemas
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.write_scalars import with_bounded_runs
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.facts import analyse
from kbnf_core.lower.translate import translate
from kbnf_core.text.budget import Budget
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
        known = dict(self.moved)
        for inner in _around(pointer):
            if inner in known:
                return known[inner] + pointer[len(inner) :]
        return ""

    def places(self) -> Mapping[str, Span]:
        """Return the spans of the places in the schema, by their pointers."""
        known: dict[str, list[str]] = {}
        for inner, outer in self.moved:
            known.setdefault(outer, []).append(inner)
        return {
            inner + pointer[len(outer) :]: span
            for pointer, span in self.source.places.items()
            for outer in _around(pointer)
            for inner in known.get(outer, ())
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


def _around(pointer: str) -> Iterator[str]:
    """Yield a pointer and those of the places around it, outer ones last."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


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
        problems = _why(error.problem, text)
        found_wrong = tuple(map(text.diagnostic, problems))
        return Parsed(document, found_wrong, lint=partial(_lint, read, problems))
    except GrammarError as error:
        return Parsed(document, tuple(error.diagnostics))
    text, rules = found.text, found.rules

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
        return text.diagnostic(_why(None, read())[0])

    return Parsed(
        tree.Document(source, (), ()),
        tuple(map(text.diagnostic, found.notes)),
        START,
        _finish(found.eager),
        tuple(map(text.loss, found.losses)),
        meaning=Rules(rules, write, explained, place, empty),
        lint=partial(_lint, read, (), rules),
    )


def _why(problem: Problem | None, text: SchemaText) -> list[Problem]:
    """Return what is wrong with a schema for which ``problem`` was found, or that has no value."""
    from kbnf_core.languages.json_schema.lint import contradiction, every_problem

    if problem is not None and problem.code != UNSATISFIABLE:
        return every_problem(text.value, text.options, problem)
    if problem is not None and problem != unsatisfiable(problem.pointer):
        return [problem]
    return [contradiction(text.value, text.options) or problem or unsatisfiable("")]


def _lint(
    read: Callable[[], SchemaText],
    errors: Sequence[Problem],
    rules: Mapping[str, ir.Node] = MappingProxyType({}),
) -> tuple[Diagnostic, ...]:
    """Return what is likely a mistake in a schema, but what its ``errors`` tell."""
    from kbnf_core.languages.json_schema.lint import lint_schema

    text = read()
    dead = _dead(text, rules)
    found = lint_schema(text.value, text.options, dead)
    why = _why(None, text) if "" in dead else errors
    return tuple(untold(map(text.diagnostic, found), map(text.diagnostic, why)))


def untold(findings: Iterable[Diagnostic], errors: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield findings of lints without those that an error about a schema without a value tells."""
    from kbnf_core.languages.json_schema.lint import CONTRADICTION, MISSPELT

    told = {each.span for each in errors if each.code == UNSATISFIABLE}
    for each in findings:
        if each.code not in (CONTRADICTION, MISSPELT) or each.span not in told:
            yield each


def _dead(text: SchemaText, rules: Mapping[str, ir.Node]) -> set[str]:
    """Return the pointers of rules without a text, of those that call each other of one."""
    facts = analyse(ir.Grammar(START, rules)).facts if rules else {}
    dead = {name: body for name, body in rules.items() if not facts[name].productive}
    if not dead or START in dead:
        return {""} if dead else set()
    graph = {
        name: dead.keys() & {each.nonterminal for each in ir.calls(body)}
        for name, body in dead.items()
    }
    circles = {name: members for members in cyclic_components(graph) for name in members}
    innermost = {
        min(circles.get(name, {name}))
        for name, called in graph.items()
        if called <= circles.get(name, {name})
    }
    writer = _writer(text)
    writer.rules_for(writer.schemas.document.root())
    return {writer.pointer_of(name, rules) for name in innermost}


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


def raw_strings(
    schema: Json, options: Options, avoided: Dfa, note: Callable[[str], None]
) -> list[str] | None:
    """Return regular expressions of the strings that a schema allows, as they are and not as JSON.

    None for all strings. What is in ``avoided`` is left out, and long strings where their number
    of characters takes too many states, of which ``note`` is told. Raises ProblemError.
    """
    options = guided(schema, options)
    writer = _writer(SchemaText(Source(""), schema, options))
    schemas, found = writer.schemas, []
    try:
        for part in schemas.some(schemas.document.root()).get(Type.STRING, ()):
            assert isinstance(part, Restricted)  # noqa: S101 - as strings are
            if not part.literals:
                return None
            is_bounded = part.length is not None and part.length.high is not None
            few = part if is_bounded or options.digits is Digits.ANY else with_bounded_runs(part)
            strings = few.dfa(schemas.budget)
            atom, wanted = few.literals[0]
            is_single = len(few.literals) == 1 and wanted and isinstance(atom, Matching)
            if is_single and operations.intersect(strings, avoided).is_empty:
                found.append(f"(?:{cast(Matching, atom).regex})")
            else:
                found.append(_narrowed(few, avoided, schemas.budget, note))
    except LimitError:
        raise too_large("states of a counted string", options.limits.steps, "steps") from None
    except WorkLimitError as error:
        raise too_large("steps of work", error.limit, "work", error.part) from None
    return found


def _narrowed(part: Restricted, avoided: Dfa, budget: Budget, note: Callable[[str], None]) -> str:
    """Return a set of strings, without long ones where it is too large. Raises LimitError."""
    length, kept = part.length, part
    while True:
        try:
            found = to_regex(operations.difference(kept.dfa(budget), avoided))
        except LimitError:
            if length is None or length.high is None or length.high <= max(length.low, 1):
                raise
            length = Length(length.low, max(length.low, length.high // 2))
            kept = Restricted(part.kind, (*part.of_any_length.literals, (length, True)))
        else:
            if kept is not part and length is not None:
                note(f"strings of more than {length.high:,} characters are left out")
            return found


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
    return tuple(dict.fromkeys(map(dropped, schemas.losses))), tuple(notes)


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


def helps_of(problem: Problem) -> tuple[str, ...]:
    """Return how to mend a problem."""
    helps: tuple[str, ...] = (problem.help,) if problem.help else ()
    if problem.can_be_dropped:
        helps += ("`--lossy` (in Python `Options(lossy=True)`) drops the keyword and says so",)
    return helps


def diagnostic(problem: Problem, source: Source) -> Diagnostic:
    """Return the finding about a problem at a pointer of a text."""
    helps = helps_of(problem)
    span = problem.span or source.locate(problem.pointer)
    fixes: tuple[Fix, ...] = ()
    if problem.replacement:
        edit = Edit(span, json.dumps(problem.replacement, ensure_ascii=False))
        fixes = (Fix(f"write `{problem.replacement}`", (edit,), safe=False),)
    return Diagnostic(problem.code, _message(problem), source, span, helps=helps, fixes=fixes)
