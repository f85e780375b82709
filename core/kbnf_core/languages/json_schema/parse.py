"""The reader of JSON Schemas: to rules, by themselves or inside another grammar.

``x-guidance`` are the options of the conversion that a schema carries, under LLGuidance's names. It
counts at the top of a schema only. An explicit option wins over it, and it wins over the defaults,
which are those of the ``Standard``.

Tests: tests/unit/languages/json_schema/test_problems.py, test_options.py
"""

import json
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.automata.dfa import Dfa
from kbnf_core.automata.json_strings import LETTERS
from kbnf_core.automata.lengths import Length
from kbnf_core.automata.regex.compile import compile_regex
from kbnf_core.automata.to_regex import to_regex
from kbnf_core.config import Finish
from kbnf_core.ir.analysis import last_components
from kbnf_core.kbnf import tree
from kbnf_core.kbnf.build import definition, of_ir
from kbnf_core.kbnf.parsed import Expressed, Loss, Marked, Parsed, Request
from kbnf_core.languages.json_schema import (
    Digits,
    Escapes,
    Formats,
    Integers,
    Options,
    Standard,
    Syntax,
    Whitespace,
    options_of,
)
from kbnf_core.languages.json_schema.algebra import AnyOf, Expression, Ref, Type
from kbnf_core.languages.json_schema.document import SchemaDocument, bundled, read_json
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    NUMBERS,
    UNSATISFIABLE,
    Problem,
    ProblemError,
    Review,
    dropped,
    invalid,
    review,
    too_large,
    unsatisfiable,
)
from kbnf_core.languages.json_schema.scalars import with_bounded_runs
from kbnf_core.languages.json_schema.schemas import Schemas, schemas_of
from kbnf_core.languages.json_schema.value_sets import Matching, Restricted
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.facts import analyse
from kbnf_core.text.budget import Budget
from kbnf_core.text.diagnostics import Diagnostic, Fix, TextEdit
from kbnf_core.text.errors import GrammarError, LimitError, WorkLimitError
from kbnf_core.text.json_text import Json, escape
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source, Span

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.readable import ReadableSchema, SchemaOutline

KEYWORD = "x-guidance"
_TEXTS = frozenset(
    {"item_separator", "key_separator", "whitespace_pattern", "json_allowed_escapes"}
)
_FLAGS = frozenset(
    {"whitespace_flexible", "coerce_one_of", "lenient", "json_allow_general_unicode_escapes"}
)
_MAY_BE_NULL = frozenset({"whitespace_pattern", "json_allowed_escapes"})


def guided(schema: Json, options: Options) -> Options:
    """Return ``options`` with everything said. Raises ProblemError for impossible hints."""
    hints = _hints(schema)
    return _with(options, hints) if hints else _by_default(options)


def _with(options: Options, hints: dict[str, Any]) -> Options:
    defaults = _defaults(options.standard)
    values = {
        name: value
        for name in defaults
        if (value := _first(getattr(options, name), hints.get(name), defaults[name])) is not None
    }
    if options.whitespace is not None and options.whitespace_pattern is None:
        values.pop("whitespace_pattern", None)
    whole = replace(options, **values)
    for name in ("whitespace_pattern", "item_separator", "key_separator"):
        _check_regex(getattr(whole, name), name)
    strange = sorted(set(whole.allowed_escapes or "") - set(LETTERS))
    if strange:
        raise invalid(
            f"`\\{strange[0]}` is not an escape of JSON", _pointer("json_allowed_escapes")
        )
    if whole.lenient and options.standard is Standard.LLGUIDANCE:
        whole = replace(whole, coerce_one_of=True)
    return whole


@lru_cache(maxsize=16)
def _by_default(options: Options) -> Options:
    """Return the options of a schema without hints.

    A process keeps 16. Without them schemas of three properties take 1.05 times as long.
    """
    return _with(options, {})


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _defaults(standard: Standard) -> dict[str, Any]:
    by_llguidance = standard is Standard.LLGUIDANCE
    return {
        "whitespace": Whitespace.FLEXIBLE if by_llguidance else Whitespace.PRINTED,
        "integers": Integers.PLAIN,
        "digits": Digits.ANY if by_llguidance else Digits.BOUNDED,
        "formats": Formats.PLAIN,
        "whitespace_pattern": None,
        "item_separator": ",",
        "key_separator": ":",
        "escapes": Escapes.CANONICAL,
        "allowed_escapes": LETTERS,
        "coerce_one_of": False,
        "lenient": False,
    }


def _hints(schema: Json) -> dict[str, Any]:
    """Return what the schema says, by the names of the options."""
    if not isinstance(schema, dict) or KEYWORD not in schema:
        return {}
    hints = schema[KEYWORD]
    if not isinstance(hints, dict):
        raise invalid(f"`{KEYWORD}` is an object", f"/{KEYWORD}")
    for key, value in hints.items():
        _check(key, value)
    general = hints.get("json_allow_general_unicode_escapes")
    flexible = hints.get("whitespace_flexible")
    return {
        "whitespace": None if flexible is None else _GAPS[flexible],
        "escapes": Escapes.UNICODE if general else None,
        "allowed_escapes": hints.get("json_allowed_escapes"),
        **{name: hints.get(name) for name in _SAME},
    }


_GAPS = {True: Whitespace.FLEXIBLE, False: Whitespace.COMPACT}
_SAME = ("whitespace_pattern", "item_separator", "key_separator", "coerce_one_of", "lenient")


def _check(key: str, value: Json) -> None:
    if key not in _TEXTS | _FLAGS:
        names = ", ".join(f"`{name}`" for name in sorted(_TEXTS | _FLAGS))
        problem = invalid(f"`{KEYWORD}` knows no `{key}`", _pointer(key)).problem
        raise ProblemError(problem._replace(help=f"it knows {names}"))
    if value is None and key in _MAY_BE_NULL:
        return
    if key in _TEXTS and not isinstance(value, str):
        raise invalid(f"`{key}` is a string", _pointer(key))
    if key in _FLAGS and not isinstance(value, bool):
        raise invalid(f"`{key}` is true or false", _pointer(key))


def _check_regex(pattern: str | None, name: str) -> None:
    problems = () if pattern is None else compile_regex(pattern).problems
    if problems:
        raise invalid(f"in the pattern `{pattern}`: {problems[0].message}", _pointer(name))


def _pointer(key: str) -> str:
    return f"/{KEYWORD}/{escape(key)}"


T = TypeVar("T")

START = "start"


class Outcome(NamedTuple):
    """What a conversion says of the rules of a schema.

    ``losses`` are keywords that were dropped, ``notes`` those that say nothing; ``eager`` says
    whether every text ends where its value does.
    """

    losses: tuple[Problem, ...]
    notes: tuple[Problem, ...]
    eager: bool


class EmbeddedSchema(NamedTuple):
    """Rules for a schema inside another grammar: ``definitions``, of which ``start`` is called."""

    start: str
    definitions: tuple[tree.Definition, ...]
    outcome: Outcome


class SchemaText(NamedTuple):
    """A sound schema, the text that it is in, and the options in force.

    Where the schema is not all of its text, ``moved`` has the pointers that those in ``value``
    begin with, and what these places are called in the text. ``review`` has the facts of a schema
    that is the whole text.
    """

    source: Source
    value: Json
    options: Options
    moved: tuple[tuple[str, str], ...] = (("", ""),)
    review: Review | None = None

    @property
    def facts(self) -> Review:
        """The facts of the schema."""
        return self.review or review(self.value, self.options.limits.depth)

    @property
    def schemas(self) -> Schemas:
        """The schemas of the document, not yet read."""
        return schemas_of(self.value, self.options, self.review)

    def pointer(self, pointer: str) -> str:
        """Return the pointer in the text of a place in the schema."""
        moved = dict(self.moved)
        for inner in _around(pointer):
            if inner in moved:
                return moved[inner] + pointer[len(inner) :]
        return ""

    def spans(self) -> Mapping[str, Span]:
        """Return the spans of the places in the schema, by their pointers."""
        spans: dict[str, list[str]] = {}
        for inner, outer in self.moved:
            spans.setdefault(outer, []).append(inner)
        return {
            inner + pointer[len(outer) :]: span
            for pointer, span in self.source.spans.items()
            for outer in _around(pointer)
            for inner in spans.get(outer, ())
        }

    def diagnostic(self, problem: Problem) -> Diagnostic:
        """Return the finding about a problem at a place in the schema."""
        return diagnostic(problem._replace(pointer=self.pointer(problem.pointer)), self.source)

    def loss(self, problem: Problem) -> Loss:
        """Return the loss that a problem is."""
        finding = self.diagnostic(problem)
        return Loss(problem.code, finding.message, finding.span)


def _around(pointer: str) -> Iterator[str]:
    """Yield a pointer and those of the places around it, outer ones last."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


def parse_json_schema(source: Source, request: Request) -> Parsed:
    """Read a schema, a JSON text, to the rules of the JSON texts that it allows.

    A schema that is malformed, cannot be satisfied, passes a limit or, unless ``request.lossy``,
    contains a keyword that no grammar can honour has errors; each finding names the JSON Pointer.
    Raises ``ConfigError`` for unknown options.
    """
    options = options_of({**request.options, "lossy": request.lossy})
    text = SchemaText(source, True, options)
    try:
        whole = bundled(read_json(source.text), source.path, request.imports)
        text = text._replace(value=whole.value, moved=(*text.moved, *whole.moved))
        in_force, facts = checked(whole.value, options)
        text = text._replace(options=in_force, review=facts)
    except ProblemError as error:
        return Parsed(broken(source), tuple(map(text.diagnostic, error.problems)))
    return SchemaReading(text)


def broken(source: Source) -> tree.Document:
    """Return the document of a text whose rules cannot be read."""
    return tree.Document(source, (), (), frozenset((START,)))


def checked(value: Json, options: Options) -> tuple[Options, Review]:
    """Return the options in force and the facts of a schema. Raises ProblemError."""
    facts = review(value, options.limits.depth)
    if facts.problems:
        raise ProblemError(*facts.problems)
    if options.strict is not None:
        from kbnf_core.languages.json_schema.advice import check_service

        problems = check_service(SchemaDocument(value, options, facts), options.strict)
        if problems:
            raise ProblemError(*problems)
    return guided(value, options), facts


class SchemaReading(Parsed):
    """The rules that are run of a sound schema, and the answers to later questions about it."""

    is_written = False

    def __init__(self, text: SchemaText) -> None:
        super().__init__(broken(text.source), (), START)
        self._text = text
        self._errors: Sequence[Problem] = ()
        self._writer: Writer | None = None
        try:
            self._writer = Writer(text.schemas, start=START)
            self.rules, outcome = _made(self._writer, self._writer.rules_for)
        except ProblemError as error:
            self.rules = None
            self._errors = self._why(error.problem)
            self.diagnostics = tuple(map(text.diagnostic, self._errors))
            return
        self.ends_itself = outcome.eager
        self.finish = Finish.EAGER if outcome.eager else Finish.EOS
        self.losses = tuple(map(text.loss, outcome.losses))
        self.diagnostics = tuple(map(text.diagnostic, outcome.notes))

    def marked(self) -> Marked | None:
        """Return what the values of a text are made of; None where they are one JSON value."""
        syntax = self._text.options.syntax
        return None if syntax is Syntax.JSON else Marked(None, {}, syntax=syntax.value)

    def release(self) -> None:
        """Forget the writer, with all that was read of the schema: a seventh of a grammar."""
        self._writer = None

    def _written(self) -> Writer:
        """Return the writer of the rules that are run; it writes again after ``release``."""
        if self._writer is None:
            self._writer = Writer(self._text.schemas, start=START)
            self._writer.rules_for(self._writer.schemas.document.root())
        return self._writer

    @cached_property
    def _outline(self) -> "SchemaOutline":
        # Only texts and explanations need it.
        from kbnf_core.languages.json_schema.readable import SchemaOutline

        with _limited_work():
            return SchemaOutline(self._written(), self._text.spans(), self._text.pointer)

    def named(self) -> Mapping[str, ir.Node] | None:
        """Return the rules with those of members, at their schemas; None beyond a limit."""
        try:
            return self._outline.meaning
        except ProblemError:
            return None

    @property
    def document(self) -> tree.Document:
        """The tree that people read. Raises GrammarError for one that passes a limit."""
        if self.rules is None:
            return self._document
        try:
            return self._tree
        except ProblemError as error:
            raise GrammarError([self._text.diagnostic(error.problem)]) from None

    @cached_property
    def _readable(self) -> "ReadableSchema":
        from kbnf_core.languages.json_schema.readable import ReadableSchema

        with _limited_work():
            return ReadableSchema(self._written(), self._outline)

    def expressed(self) -> Expressed | None:
        """Return the rules that people read, with the automata that they stand for."""
        try:
            return Expressed(self._readable.rules(), self._readable.automata)
        except ProblemError:
            return None

    @cached_property
    def _tree(self) -> tree.Document:
        return self._readable.document(self._text.source)

    @property
    def names(self) -> Mapping[str, Span]:
        """No names: nobody wrote those of the rules."""
        return {}

    def rule_span(self, rule: str) -> Span:
        """Return where the schema of a rule is."""
        if self.rules is None:
            return super().rule_span(rule)
        return self._text.source.locate(self._text.pointer(self._pointers.get(rule, "")))

    @cached_property
    def _pointers(self) -> Mapping[str, str]:
        """The pointers of the rules that are run."""
        writer = self._written()
        rules = writer.all_rules()
        return writer.rules.pointers_of(rules, rules)

    def empty(self) -> Diagnostic:
        """Return why no value satisfies the schema."""
        return self._text.diagnostic(self._why(None)[0])

    def _why(self, problem: Problem | None) -> list[Problem]:
        """Return the problems to report where ``problem`` was found, or where there is no value."""
        from kbnf_core.languages.json_schema.advice import contradiction, every_problem

        text = self._text
        if problem is not None and problem.code != UNSATISFIABLE:
            return every_problem(text.value, text.options, problem)
        if problem is not None and problem != unsatisfiable(problem.pointer):
            return [problem]
        schemas = (self._writer or text).schemas
        return [contradiction(schemas) or problem or unsatisfiable("")]

    def warn_of_misspelt(self) -> None:
        """Warn of names in a program's schema that are a letter or two off a known one (W821).

        Each name is warned of once, at its first pointer.
        """
        facts = self._text.facts
        if not facts.strange and not facts.is_unlisted:
            return
        from kbnf_core.languages.json_schema.advice import misspelt_once

        for problem in misspelt_once(self._text.value, facts):
            warnings.warn(f"{problem.pointer}: {problem.message}; {problem.help}", stacklevel=3)

    def lint(self) -> tuple[Diagnostic, ...]:
        """Return findings of likely mistakes, but those that the errors report."""
        from kbnf_core.languages.json_schema.advice import contradictions

        text, dead = self._text, self._dead()
        problems = [*self._oddities(), *contradictions(self._written().schemas, dead)]
        why = self._why(None) if "" in dead else self._errors
        return tuple(untold(map(text.diagnostic, problems), map(text.diagnostic, why)))

    def _oddities(self) -> Iterable[Problem]:
        from kbnf_core.languages.json_schema.advice import oddities, repetitions

        text = self._text
        return chain(repetitions(text.source.text), oddities(text.value, text.options))

    def _dead(self) -> Set[str]:
        """Return the pointers of rules without a text, of those that call each other of one."""
        rules = {} if self.rules is None else self._written().all_rules()
        facts = analyse(ir.GrammarRules(START, rules)).facts if rules else {}
        dead = {name: body for name, body in rules.items() if not facts[name].productive}
        if not dead or START in dead:
            return {""} if dead else set()
        # A copy in a column that is too deep has no text, where others have.
        copies = self._written().rules.copies
        alive = {copies[name] for name in copies.keys() - dead.keys()}
        dead = {name: body for name, body in dead.items() if copies.get(name) not in alive}
        graph = {
            name: dead.keys() & {call_inside.nonterminal for call_inside in ir.calls(body)}
            for name, body in dead.items()
        }
        return {self._pointers[name] for name in last_components(graph)}


def untold(findings: Iterable[Diagnostic], errors: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield findings of lints but those that an error about a schema without a value has."""
    from kbnf_core.languages.json_schema.advice import CONTRADICTION, MISSPELT

    unsatisfiable = {finding.span for finding in errors if finding.code == UNSATISFIABLE}
    for finding in findings:
        if finding.code not in (CONTRADICTION, MISSPELT) or finding.span not in unsatisfiable:
            yield finding


def rules_to_run(
    document: SchemaDocument, options: Options, start: str
) -> tuple[Mapping[str, ir.Node], Outcome, Writer]:
    """Return the rules of a document, the first one called ``start``, and their writer.

    Names of rules begin with that one, but for rules that all schemas share. Raises ProblemError.
    """
    schemas = Schemas(document, guided(document.value, options))
    writer = Writer(schemas, start=start, own=f"{start}_")
    return *_made(writer, writer.rules_for), writer


def rules_to_read(writer: Writer) -> tuple[tree.Definition, ...]:
    """Return the rules that a writer has written, as people read them. Raises ProblemError."""
    from kbnf_core.languages.json_schema.readable import Expressions, leaf_of, with_texts

    with _limited_work():
        rules = with_texts(writer.start, writer.to_read())
        expressions = Expressions(writer).write(writer.start, rules)
    bodies = ((name, of_ir(body, leaf_of, list)) for name, body in expressions.items())
    return tuple(definition(*rule) for rule in bodies)


def embed_json_schema(
    document: SchemaDocument, options: Options, prefix: str = ""
) -> EmbeddedSchema:
    """Return rules for a document, all names beginning with ``prefix``. Raises ProblemError."""
    writer = Writer(Schemas(document, guided(document.value, options)), prefix)
    start, outcome = _made(writer, writer.write_all)
    return EmbeddedSchema(start, rules_to_read(writer), outcome)


def raw_strings(
    schema: Json, options: Options, avoided: Dfa, note: Callable[[str], None]
) -> list[str | Dfa] | None:
    """Return regular expressions of the strings that a schema allows, as they are and not as JSON.

    None for all strings; an automaton for strings whose expression would be too long, such as those
    of the format ``regex``. Strings in ``avoided`` are left out, and long strings where their
    number of characters takes too many states, which are passed to ``note``. Raises ProblemError.
    """
    options = guided(schema, options)
    schemas = schemas_of(schema, options)
    alternatives: list[str | Dfa] = []
    try:
        for subset in schemas.some(schemas.document.root()).get(Type.STRING, ()):
            assert isinstance(subset, Restricted)  # noqa: S101 - as strings are
            if not subset.literals:
                return None
            is_bounded = subset.length is not None and subset.length.high is not None
            few = (
                subset if is_bounded or options.digits is Digits.ANY else with_bounded_runs(subset)
            )
            strings = few.dfa(schemas.budget)
            atom, wanted = few.literals[0]
            is_single = len(few.literals) == 1 and wanted and isinstance(atom, Matching)
            if is_single and operations.intersect(strings, avoided).is_empty:
                alternatives.append(f"(?:{cast(Matching, atom).regex})")
            else:
                alternatives.append(_narrowed(few, avoided, schemas.budget, note))
    except LimitError:
        raise too_large("states of a counted string", options.limits.steps, "steps") from None
    except WorkLimitError as error:
        raise too_large("steps of work", error.limit, "work", error.subject) from None
    return alternatives


def _narrowed(
    subset: Restricted, avoided: Dfa, budget: Budget, note: Callable[[str], None]
) -> str | Dfa:
    """Return a set of strings, without long ones where it is too large. Raises LimitError."""
    length, kept = subset.length, subset
    while True:
        strings: Dfa | None = None
        try:
            strings = operations.difference(kept.dfa(budget), avoided)
            problems = to_regex(strings)
        except LimitError:
            if length is None or length.high is None or length.high <= max(length.low, 1):
                if strings is None:
                    raise
                return strings
            length = Length(length.low, max(length.low, length.high // 2))
            kept = Restricted(subset.kind, (*subset.of_any_length.literals, (length, True)))
        else:
            if kept is not subset and length is not None:
                note(f"strings of more than {length.high:,} characters are left out")
            return problems


def _made(writer: Writer, make: Callable[[Expression], T]) -> tuple[T, Outcome]:
    """Return the rules that ``make`` makes of a document, and their outcome.

    Raises ProblemError.
    """
    schemas = writer.schemas
    root = schemas.document.root()
    with _limited_work():
        made = make(root)
        eager = schemas.options.syntax is Syntax.JSON and _is_prefix_free(schemas, root)
    notes = dict.fromkeys([*schemas.document.ignored, *schemas.notes])
    return made, Outcome(tuple(dict.fromkeys(map(dropped, schemas.losses))), tuple(notes), eager)


@contextmanager
def _limited_work() -> Iterator[None]:
    """Raise ProblemError where the steps of work pass their limit."""
    try:
        yield
    except WorkLimitError as error:
        raise too_large("steps of work", error.limit, "work", error.subject) from None


def _is_prefix_free(schemas: Schemas, root: Expression) -> bool:
    """Return whether a text ends where its value ends: all but numbers do."""
    contents = _contents(schemas, root) if isinstance(root, Ref) else {}
    if contents.get("type") == "object":
        return True
    if contents and not contents.keys() & (APPLICATORS | NUMBERS):
        names = contents.get("type", "number")
        return all(name not in _NUMBERS for name in (names if isinstance(names, list) else [names]))
    alias = schemas.alias(root) if isinstance(root, Ref) else root
    alternatives = alias.operands if isinstance(alias, AnyOf) else (alias,)
    if all(strings is not None and _says_object(schemas, strings) for strings in alternatives):
        # Without reading them: those that are known have not been.
        return True
    return Type.NUMBER not in schemas.some(root)


_NUMBERS = ("number", "integer", "any")
"""The types of numbers; draft 3 has a word for all."""


def _says_object(schemas: Schemas, expression: Expression) -> bool:
    alias = (
        schemas.alias(expression)
        if isinstance(expression, Ref) and "$ref" in _contents(schemas, expression)
        else expression
    )
    return isinstance(alias, Ref) and _contents(schemas, alias).get("type") == "object"


def _contents(schemas: Schemas, at: Ref) -> Mapping[str, Json]:
    return schemas.document.subschema(at).contents


def helps_of(problem: Problem) -> tuple[str, ...]:
    """Return how to fix a problem."""
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
        edit = TextEdit(span, json.dumps(problem.replacement, ensure_ascii=False))
        fixes = (Fix(f"write `{problem.replacement}`", (edit,), safe=False),)
    message = f"{problem.pointer or 'the whole schema'}: {problem.message}"
    return Diagnostic(problem.code, message, source, span, helps=helps, fixes=fixes)
