"""Lints of a schema: valid JSON Schema that its author hardly means.

``oddities`` finds names that are a letter or two off a known one (W821), objects that are open
because nothing is reported (I823), JSON that is hardly a schema (W827), forms of older drafts where
none is named (W829), and checks of a class in Python (I830); ``contradictions`` finds schemas
inside that no value satisfies (W822), and ``contradiction`` says why a whole schema has no value
(E803); ``every_problem`` collects what a conversion refuses of a schema, whose first problem ends
it.

A contradiction is informed at the innermost schema without a value. Of that the keywords that are
not needed for it to be empty are left out one by one, as in shrinking a failing test; a schema
inside is to blame where the one around it has values once it allows everything. Where that leads
back, no keywords contradict each other: every value needs another one inside.

Emptiness is decided as for ``oneOf``: findings are certain, but some mistakes are missed. Where it
is certain from the rules of a grammar, and the normal form does not show it, rules are written to
decide it.

*Services.* ``check_service`` finds what hosted services refuse in strict schemas, each with what to
do. The rules are those of the services' documents as they could be read on the days in ``AS_OF``,
which docs/json-schema.md names; they change.

Tests: tests/unit/languages/json_schema/test_lint.py, test_pages.py
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from kbnf_core.automata.traversal import cyclic_components
from kbnf_core.ir import GrammarRules, Node
from kbnf_core.languages.json_schema import Options, Service
from kbnf_core.languages.json_schema.algebra import Expression, Ref
from kbnf_core.languages.json_schema.document import SchemaDocument, Subschema
from kbnf_core.languages.json_schema.keywords import (
    ANNOTATIONS,
    APPLICATORS,
    KEYWORDS,
    KEYWORDS_IN_USE,
    LOCAL,
    NARROWED,
    NO_VALUE,
    NOT_FOR_SERVICE,
    OLDER,
    REFERENCES,
    TOO_LARGE,
    UNEVALUATED,
    UNKEPT,
    UNSATISFIABLE,
    Older,
    Problem,
    ProblemError,
    Review,
    Visited,
    dropped,
    may_hold,
    subschemas,
    unsupported,
    walk,
)
from kbnf_core.languages.json_schema.schemas import (
    SchemaReader,
    Schemas,
    is_shape_unsatisfiable,
    is_unsatisfiable,
    schemas_of,
)
from kbnf_core.languages.json_schema.type_keywords import pointer_to
from kbnf_core.languages.json_schema.writer import Writer
from kbnf_core.lower.facts import analyse
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import LimitError, WorkLimitError
from kbnf_core.text.json_text import Json, escape, pointer_below, print_json, repeated_names
from kbnf_core.text.suggest import COMPARISONS, ComparedName, edits_allowed, near

MISSPELT = "W821"
CONTRADICTION = "W822"
OPEN = "I823"
NO_SCHEMA = "W827"
OLDER_DRAFT = "W829"
PYTHON_CODE = "I830"
REPEATED_NAME = "W831"

_RESTRICTING = KEYWORDS - ANNOTATIONS - {"$id", "$schema", "id"}

_OWN = ("x-", "_")
"""How names begin that are somebody's own, or that were taken out on purpose."""

_SHOWN = 40
"""Characters of a keyword's value that a message shows."""


def repetitions(text: str) -> Iterator[Problem]:
    """Yield each name in the text of a schema that occurs twice in one object (W831)."""
    for span in repeated_names(text):
        message = f"the name {text[span.start : span.end]} occurs twice, and the last one counts"
        yield Problem(REPEATED_NAME, message, "", "remove one of the two", span=span)


def oddities(schema: Json, options: Options) -> Iterator[Problem]:
    """Yield likely mistakes in the keywords of a sound schema, with their pointers.

    Its schemas are visited once.
    """
    yield from _no_schema(schema)
    compared: set[str] = set()
    older: dict[Older, list[str]] = {}
    objects = _Objects()
    for visited in walk(schema):
        yield from _misspelt_in(visited, compared)
        yield from _python_code(visited)
        _note_older_forms(visited, older)
        objects.visit(visited)
    if isinstance(schema, dict) and "$schema" not in schema:
        yield from _of_older_drafts(older)
    if not options.closed:
        yield from objects.problems()


def contradictions(schemas: Schemas, dead: Set[str] = frozenset()) -> Iterable[Problem]:
    """Return the schemas in a document that no value satisfies, one problem for each schema.

    ``dead`` are pointers of schemas that certainly have no value.
    """
    by_pointer: dict[str, Problem] = {}
    # What took too much work so far is left unanswered.
    with suppress(WorkLimitError, ProblemError):
        for problem in _Doubts(schemas).contradictions(dead):
            by_pointer.setdefault(problem.pointer, problem)
    return by_pointer.values()


def contradiction(schemas: Schemas) -> Problem | None:
    """Return why no value satisfies a schema, at the innermost schema; None if unknown."""
    with suppress(WorkLimitError, ProblemError):
        doubts = _Doubts(schemas)
        root = doubts.document.root()
        problem = doubts.why(root) if isinstance(root, Ref) else None
        return problem and problem._replace(code=UNSATISFIABLE)
    return None


def every_problem(schema: Json, options: Options, first: Problem) -> list[Problem]:
    """Return all that a conversion refuses, of which ``first`` ended it, and its notes."""
    if first.code == TOO_LARGE:
        # The rest may be as large.
        return [first]
    # Lossy, so that reading goes on after a keyword that is refused.
    survey = _Survey(schemas_of(schema, replace(options, lossy=True)))
    with suppress(ProblemError, WorkLimitError):
        survey.write_all(survey.schemas.document.root())
    schemas = survey.schemas
    is_lossy = options.lossy or options.lenient
    lost = map(dropped, schemas.losses) if is_lossy else schemas.losses
    return list(
        dict.fromkeys([first, *survey.problems, *lost, *schemas.document.ignored, *schemas.notes])
    )


class _Survey(Writer):
    """Writes the values of a schema that can be written, and keeps the problems of the rest."""

    def __init__(self, schemas: Schemas) -> None:
        super().__init__(schemas)
        self.problems: list[Problem] = []

    @contextmanager
    def placing(self, expression: Expression) -> Iterator[None]:
        """Go on with the next schema where one has a problem."""
        try:
            with super().placing(expression):
                yield
        except ProblemError as error:
            self._keep(error.problem)

    def form(self, expression: Expression, hint: str) -> Node | None:
        """Go on with any value instead of one that has a problem."""
        try:
            return super().form(expression, hint)
        except LimitError as error:
            self._keep(unsupported(f"an automaton needs {error}", "").problem)
        except ProblemError as error:
            self._keep(error.problem)
        return self.prelude.use("value")

    def _keep(self, problem: Problem) -> None:
        # A schema may have no value because of keywords that were left out.
        if problem.code != UNSATISFIABLE:
            pointer = problem.pointer or self.rules.inner_pointer()
            self.problems.append(problem._replace(pointer=pointer))


def _no_schema(schema: Json) -> Iterator[Problem]:
    """Yield that an object without a keyword that restricts anything is hardly a schema."""
    if not isinstance(schema, dict) or schema.keys() & _RESTRICTING:
        return
    if any(not name.startswith(_OWN) for name in schema.keys() - KEYWORDS):
        message = "no keyword here restricts anything: every JSON text is allowed"
        help_ = "is this a schema? it is neither a list of tools nor a structural tag"
        yield Problem(NO_SCHEMA, message, "", help_)


def misspelt_once(schema: Json, facts: Review) -> Iterator[Problem]:
    """Yield what ``misspelt`` does, once for each name; ``facts`` are those of the schema.

    A schema is visited only where it has such names, and as far as the last one.
    """
    left = {name for name in facts.strange if _near_keywords(name)}
    if not facts.is_unlisted and not left:
        return
    messages = set[str]()
    for problem in misspelt(schema):
        if problem.message not in messages:
            messages.add(problem.message)
            yield problem
            left.discard(problem.pointer.rpartition("/")[2])
            if not facts.is_unlisted and not left:
                return


def misspelt(schema: Json) -> Iterator[Problem]:
    """Yield names that are a letter or two off a known one (W821)."""
    compared: set[str] = set()
    for visited in walk(schema):
        yield from _misspelt_in(visited, compared)


def _misspelt_in(visited: Visited, compared: set[str]) -> Iterator[Problem]:
    """Yield the misspelt names in one schema object; ``compared`` bounds the work of all."""
    value, pointer = visited.contents, visited.pointer
    strange = value.keys() - KEYWORDS_IN_USE
    compared |= strange
    if len(compared) > COMPARISONS:
        return
    for name in filter(strange.__contains__, value):
        meant = next((keyword for keyword in _near_keywords(name) if keyword not in value), None)
        if meant is not None and may_hold(meant, value[name]):
            message = f"`{name}` is not a keyword and restricts nothing"
            yield _misnamed(message, f"{pointer}/{escape(name)}", meant)
    yield from _misspelt_members(value, pointer)


def _misspelt_members(value: dict[str, Json], pointer: str) -> Iterator[Problem]:
    """Yield the required names that are near to that of a property which is not required."""
    required, properties = value.get("required"), value.get("properties")
    if not isinstance(required, list) or not isinstance(properties, dict):
        return
    listed = [name for name in required if isinstance(name, str)]
    free = properties.keys() - set(listed)
    # Few objects have names that are missing, and many of both.
    for number, name in enumerate(required):
        if isinstance(name, str) and name not in properties and len(free) < COMPARISONS // 1_000:
            meant = _nearest(name, free)
            if meant is not None:
                message = f"`{name}` is required, and no property has that name"
                yield _misnamed(message, pointer_below(pointer, "required", str(number)), meant)


def _misnamed(message: str, pointer: str, meant: str) -> Problem:
    return Problem(MISSPELT, message, pointer, f"did you mean `{meant}`?", replacement=meant)


def _nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the one of ``names`` that is a letter or two off, by the length of the name."""
    return next(iter(near(ComparedName.of(name), map(ComparedName.of, names))), None)


@lru_cache(maxsize=1_024)
def _near_keywords(name: str) -> Sequence[str]:
    """Return the keywords that are a letter or two off a name, the nearest first.

    A process keeps 1,024 names: generators of schemas write the same ones everywhere. Without it
    three names in each of 60 members take a schema 3.3 times as long, with it 1.2 times.
    """
    if name.startswith(_OWN):
        return ()
    word = ComparedName.of(name)
    return near(word, _by_length().get(len(word.plain), ()))


@cache
def _by_length() -> Mapping[int, Sequence[ComparedName]]:
    """Return the keywords that a name may be near to, by the length of the name."""
    words = [ComparedName.of(name) for name in KEYWORDS]
    longest = max(len(word.plain) for word in words)
    return {
        length: [word for word in words if abs(len(word.plain) - length) <= edits_allowed(length)]
        for length in range(2 * longest)
    }


def _note_older_forms(visited: Visited, older_forms: dict[Older, list[str]]) -> None:
    for keyword, value in visited.contents.items():
        older = OLDER.get((keyword, type(value)))
        if older is not None and older.is_read:
            older_forms.setdefault(older, []).append(f"{visited.pointer}/{escape(keyword)}")


def _of_older_drafts(older_forms: Mapping[Older, Sequence[str]]) -> Iterator[Problem]:
    """Yield each form of older drafts in a schema that names none, at its first pointer."""
    for older, (first, *more) in older_forms.items():
        others = f" ({len(more):,} more)" if more else ""
        message = f"{older.meaning}, and it is read so here{others}"
        help_ = f"{older.instead}, or name the draft in `$schema`"
        yield Problem(OLDER_DRAFT, message, first, help_)


def _python_code(visited: Visited) -> Iterator[Problem]:
    """Yield the check of a class that its schema names and no grammar keeps."""
    comment = visited.contents.get("$comment")
    if isinstance(comment, str) and comment.startswith(UNKEPT):
        check = comment.removeprefix(UNKEPT)
        message = f"`{check}` decides in Python which of these values are valid"
        help_ = "validate the text, and ask again where it is refused"
        yield Problem(PYTHON_CODE, message, visited.pointer, help_)


_SAYS_OF_OTHERS = {"additionalProperties", "propertyNames", "unevaluatedProperties"}
_SAYS_NOTHING = ("not", "if")
"""Keywords whose schemas have fewer values than the schemas around them."""


_SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "then", "else"})
"""What applies to the same object, which is closed with it."""


class _Objects:
    """The objects of a schema that are open, in the order of visits."""

    def __init__(self) -> None:
        self._open: list[str] = []
        # By pointer, whether the schemas around an object close it; only those that count.
        self._closed: dict[str, bool] = {}

    def visit(self, visited: Visited) -> None:
        """Note whether an object is open."""
        value, around, is_closed = visited.contents, visited.around, False
        if around is not None:
            if visited.keyword in _SAYS_NOTHING or around.pointer not in self._closed:
                return
            is_closed = visited.keyword in _SAME_VALUE and (
                self._closed[around.pointer] or "unevaluatedProperties" in around.contents
            )
        self._closed[visited.pointer] = is_closed
        if value.get("properties") and not (is_closed or _SAYS_OF_OTHERS & value.keys()):
            self._open.append(visited.pointer)

    def problems(self) -> Iterator[Problem]:
        """Yield how many objects are open, if any is."""
        if self._open:
            count = len(self._open)
            subject = "1 object allows" if count == 1 else f"{count:,} objects allow"
            message = f"{subject} properties that the schema does not name"
            help_ = "`--closed` (in Python `closed=True`) allows the named ones only"
            yield Problem(OPEN, message, min(self._open, key=len), help_)


_NAMING = ("properties", "patternProperties")


class _Doubts:
    """Asks which schemas of a document have no value, and why."""

    def __init__(self, schemas: Schemas) -> None:
        self._options = schemas.options
        self.document = schemas.document
        self._schemas = schemas
        # The conversion may have used its own up, and advice must not end for that.
        schemas.budget = Budget(schemas.limits.work)

    def contradictions(self, dead: Set[str]) -> Iterator[Problem]:
        """Yield the innermost contradictions that the schema has values in spite of.

        ``dead`` are pointers of schemas that certainly have no value.
        """
        root = self.document.root()
        # The list grows during the iteration, a schema before those inside of it.
        pending = [root]
        for expression in pending:
            if not isinstance(expression, Ref):
                continue
            subschema = self.document.subschema(expression)
            pending += [
                self.document.inside(subschema, *s) for s, _ in subschemas(subschema.contents)
            ]
            if expression is root or _says_nothing(subschema):
                continue
            if self._is_unsatisfiable(expression):
                yield self.blame(expression, self._is_empty)
            elif subschema.pointer in dead:
                yield self.why(expression) or Problem(CONTRADICTION, NO_VALUE, subschema.pointer)

    def why(self, at: Ref) -> Problem | None:
        """Return why a schema has no value, at the innermost schema; None if unknown."""
        if self._is_unsatisfiable(at):
            return self.blame(at, self._is_empty)
        if self._is_written_empty(self.document.subschema(at)):
            return self.blame(at, self._is_written_empty)
        return None

    def _is_unsatisfiable(self, at: Ref) -> bool:
        try:
            return is_unsatisfiable(self._schemas, at)
        except LimitError:
            return False

    def _is_empty(self, subschema: Subschema) -> bool:
        """Return whether a schema certainly has no value."""
        try:
            forms = SchemaReader(self._schemas, subschema, self._options).read()
            shapes = [p if isinstance(p, Mapping) else self._schemas.shape(p) for p in forms]
            return is_shape_unsatisfiable(self._schemas, self._schemas.meet(shapes))
        except (ProblemError, LimitError):
            return False

    def _is_written_empty(self, subschema: Subschema) -> bool:
        """Return whether the rules of a schema have no text, though they leave nothing out."""
        if self._is_empty(subschema):
            return True
        before = len(self._schemas.notes)
        writer = Writer(self._schemas)
        try:
            rules = writer.rules_for(self.document.instead(subschema))
        except ProblemError as error:
            return error.problem.code == UNSATISFIABLE
        except LimitError:
            return False
        is_narrowed = any(note.code == NARROWED for note in self._schemas.notes[before:])
        start = next(iter(rules))
        return not is_narrowed and not analyse(GrammarRules(start, rules)).facts[start].filled

    def blame(self, at: Ref, is_empty: Callable[[Subschema], bool]) -> Problem:
        """Return the contradiction in the innermost schema that makes an empty one empty."""
        seen: dict[Ref, None] = {}
        while at not in seen:
            seen[at] = None
            subschema = self.document.subschema(at)
            kept = self._needed(subschema, is_empty)
            guilty = list(self._guilty(subschema, kept, is_empty))
            if not guilty:
                return _contradiction(
                    subschema, kept, [*self._contradicting(subschema, kept, is_empty)]
                )
            at = next((ref for ref in guilty if ref not in seen), guilty[0])
        way = list(seen)
        circle = (ref.pointer for ref in way[way.index(at) :])
        return Problem(CONTRADICTION, "every value needs another one inside", min(circle, key=len))

    def _needed(
        self, subschema: Subschema, is_empty: Callable[[Subschema], bool]
    ) -> dict[str, Json]:
        """Return keywords of an empty schema all of which it takes to be empty."""
        # One pass is enough: fewer keywords allow more, so one that was needed beside others is
        # needed beside fewer of them.
        kept = dict(subschema.contents)
        # Without the members that it names, a closed object is empty for another reason.
        for keyword in subschema.contents:
            if keyword in _NAMING:
                continue
            fewer = {name: value for name, value in kept.items() if name != keyword}
            if is_empty(subschema._replace(contents=fewer)):
                kept = fewer
        for keyword, instead in (("required", None), ("allOf", True)):
            if isinstance(kept.get(keyword), list):
                kept = self._shortened(subschema, kept, keyword, instead, is_empty)
        return kept

    def _contradicting(
        self, subschema: Subschema, kept: dict[str, Json], is_empty: Callable[[Subschema], bool]
    ) -> Iterator[str]:
        """Yield the keywords of an empty schema that contradict each other."""
        for keyword in kept:
            fewer = {name: value for name, value in kept.items() if name != keyword}
            is_rule = keyword in LOCAL | APPLICATORS | {*UNEVALUATED}
            if is_rule and not (
                keyword in _NAMING and is_empty(subschema._replace(contents=fewer))
            ):
                yield keyword

    def _shortened(
        self,
        subschema: Subschema,
        kept: dict[str, Json],
        keyword: str,
        instead: Json,
        is_empty: Callable[[Subschema], bool],
    ) -> dict[str, Json]:
        """Return contents in which a list has ``instead`` for whatever is not needed."""
        values = kept[keyword]
        for number in range(len(values)):
            tried = [*values[:number], instead, *values[number + 1 :]]
            fewer = {**kept, keyword: [value for value in tried if value is not None]}
            if is_empty(subschema._replace(contents=fewer)):
                values = tried
        return {**kept, keyword: [value for value in values if value is not None]}

    def _guilty(
        self, subschema: Subschema, kept: dict[str, Json], is_empty: Callable[[Subschema], bool]
    ) -> Iterator[Ref]:
        """Yield the empty schemas inside, or referred to, without which there would be values."""
        document = self.document
        for keyword in REFERENCES & kept.keys():
            with suppress(ProblemError):
                follow = document.follow if keyword == "$ref" else document.follow_dynamic
                target = follow(subschema, keyword)
                if isinstance(target, Ref) and is_empty(document.subschema(target)):
                    yield target
        for steps, _ in subschemas(kept):
            inner = document.inside(subschema._replace(contents=kept), *steps)
            if not isinstance(inner, Ref) or _says_nothing(document.subschema(inner)):
                continue
            anything = subschema._replace(contents=_with_anything(kept, steps))
            # An empty schema inside is not enough: an empty alternative leaves the values of the
            # others.
            if is_empty(document.subschema(inner)) and not is_empty(anything):
                yield inner


def _says_nothing(subschema: Subschema) -> bool:
    """Return whether a schema is explicitly empty."""
    return subschema.contents in ({"not": {}}, {"not": True})


def _with_anything(contents: dict[str, Json], steps: tuple[str, ...]) -> dict[str, Json]:
    """Return a schema in which the one below ``steps`` allows everything."""
    keyword, *rest = steps
    subschema = contents[keyword]
    if not rest:
        return {**contents, keyword: True}
    if isinstance(subschema, list):
        changed = [
            True if str(number) == rest[0] else schema for number, schema in enumerate(subschema)
        ]
        return {**contents, keyword: changed}
    return {**contents, keyword: {**subschema, rest[0]: True}}


_ALONE = {
    "allOf": "the schemas of `allOf` contradict each other",
    "anyOf": "no schema of `anyOf` has a value",
    "oneOf": "no value satisfies exactly one schema of `oneOf`",
    "not": "`not` excludes every value",
    "pattern": "no text matches the pattern",
}


_OF_MEMBERS = frozenset({"additionalProperties", "patternProperties", "propertyNames", "type"})


def _contradiction(subschema: Subschema, kept: dict[str, Json], names: list[str]) -> Problem:
    """Return the problem of an empty schema, which needs the keywords ``names``."""
    message = NO_VALUE
    required, properties = kept.get("required", []), kept.get("properties", {})
    if kept.keys() <= _OF_MEMBERS | {"required", "properties", "unevaluatedProperties"}:
        name = next(
            (
                name_required
                for name_required in required
                if properties.get(name_required, False) is False
            ),
            None,
        )
        if name is not None:
            number = str(subschema.contents["required"].index(name))
            meant = None if name in properties else _nearest(name, properties)
            return Problem(
                CONTRADICTION,
                f"{message}: `{name}` is required, and no property of that name is allowed",
                pointer_to(subschema, "required", number),
                f"did you mean `{meant}`?" if meant else "name it in `properties`",
                replacement=meant or "",
            )
    if len(names) == 1:
        why = _ALONE.get(names[0], f"{_shown(names[0], kept)} leaves none")
        return Problem(CONTRADICTION, f"{message}: {why}", pointer_to(subschema, names[0]))
    if len(names) > 2 and "type" in names:
        # It is needed only because the others are about values of this type.
        names.remove("type")
    if names:
        *first, last = (_shown(name, kept) for name in names)
        message += f": {', '.join(first)} and {last} contradict each other"
    return Problem(CONTRADICTION, message, subschema.pointer)


def _shown(name: str, contents: dict[str, Json]) -> str:
    text = print_json(contents[name])
    return f"`{name}: {text}`" if len(text) <= _SHOWN else f"`{name}`"


AS_OF = {
    **dict.fromkeys((Service.OPENAI, Service.ANTHROPIC, Service.GEMINI), "2026-11-23"),
    **dict.fromkeys((Service.COHERE, Service.MISTRAL), "2026-11-28"),
}
"""The days on which the services' documents were read."""


@dataclass(frozen=True, slots=True)
class _ServiceRules:
    """The bounds of a service; None has no bound.

    ``refused`` are keywords, with what to do, and ``only`` those that are known, if they are
    listed; ``formats`` those that are known. Of an ``enum`` with more than ``long_enum[0]`` strings
    these have at most ``long_enum[1]`` characters together.
    ``is_compiled`` stands for what Anthropic's compiler leaves out: look-around and references in
    patterns, ``minItems`` above 1, objects and arrays in ``enum``, ``$ref`` inside ``allOf``.
    ``enum_of_scalars``: it lists strings and numbers; ``lone_reference``: nothing is beside
    ``$ref``; ``is_closed``: objects are; ``some_required``: each object has a required property;
    ``signs`` are what patterns may not have.
    """

    refused: dict[str, str]
    formats: frozenset[str] | None
    all_required: bool = False
    root_is_object: bool = False
    properties: int | None = None
    depth: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    optional: int | None = None
    unions: int | None = None
    recursion: bool = True
    long_enum: tuple[int, int] | None = None
    is_compiled: bool = False
    only: frozenset[str] | None = None
    enum_of_scalars: bool = False
    lone_reference: bool = False
    is_closed: bool = False
    some_required: bool = False
    signs: re.Pattern[str] | None = None


_COMBINING = dict.fromkeys(
    ("allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    "write out what it means, with `anyOf` where there are several cases",
)
_AFTERWARDS = "say it in the description, and check the value afterwards"
_BY_VALUE = dict.fromkeys(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
     "maxLength", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
    _AFTERWARDS,
)  # fmt: skip
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_BEYOND_COMPILER = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9bB]|\(\?<?[=!])")

_OF_GEMINI = frozenset(
    (
        "$schema", "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description",
        "enum", "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf",
        "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
    )
)  # fmt: skip
_NOT_OF_COHERE = dict.fromkeys(("allOf", "oneOf", "not"), _COMBINING["allOf"]) | dict.fromkeys(
    ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "uniqueItems"),
    _AFTERWARDS,
)

_RULES = {
    Service.OPENAI: _ServiceRules(
        {**_COMBINING, "oneOf": "write `anyOf`"},
        _FORMATS,
        is_closed=True,
        all_required=True,
        root_is_object=True,
        properties=5_000,
        depth=10,
        enum_values=1_000,
        characters=120_000,
        long_enum=(250, 15_000),
    ),
    Service.ANTHROPIC: _ServiceRules(
        _BY_VALUE,
        _FORMATS | {"uri"},
        is_closed=True,
        optional=24,
        unions=16,
        recursion=False,
        is_compiled=True,
    ),
    # `responseJsonSchema`, and `parametersJsonSchema` of functions.
    Service.GEMINI: _ServiceRules(
        {},
        frozenset(("date-time", "date", "time")),
        only=_OF_GEMINI,
        enum_of_scalars=True,
        lone_reference=True,
    ),
    # The page "Structured Outputs" of its developer documents, from their repository.
    Service.COHERE: _ServiceRules(
        _NOT_OF_COHERE,
        frozenset(("date-time", "uuid", "date", "time")),
        root_is_object=True,
        some_required=True,
        signs=re.compile(r"(?<!\\)(?:\\\\)*(?:[$]|(?<!\[)\^)|\(\?[=!]"),
    ),
    # Its documents name no limits of the schemas of `response_format`.
    Service.MISTRAL: _ServiceRules({}, None),
}


def check_service(document: SchemaDocument, service: Service) -> list[Problem]:
    """Return what the strict mode of a service refuses in a schema, in the order of the text."""
    rules = _RULES[service]
    counts = _Counts()
    findings = list(_root(document.value, rules))
    depths = {"": 0}
    for visited in walk(document.value):
        findings += _one(visited.contents, visited.pointer, rules, counts)
        # A schema is visited after the one around it, whose depth is therefore known.
        outer = visited.around.pointer if visited.around else ""
        depths[visited.pointer] = depths[outer] + ("properties" in visited.contents)
    counts.depth = max(depths.values())
    if not rules.recursion:
        findings += _recursive(document)
    findings += _totals(counts, rules)
    by = f"{service.value} {_REFUSES[service]}: "
    return [Problem(NOT_FOR_SERVICE, by + message, at, help_) for at, message, help_ in findings]


_REFUSES = {
    Service.OPENAI: "refuses this in strict mode",
    Service.ANTHROPIC: "refuses this in strict mode",
    Service.GEMINI: "does not support this",
    Service.COHERE: "does not support this",
    Service.MISTRAL: "does not support this",
}

STRICT = frozenset((Service.OPENAI, Service.ANTHROPIC))
"""The services whose rules are those of a mode that a tool or a request asks for."""

_Finding = tuple[str, str, str]
"""A pointer, the mistake there, and its remedy."""


@dataclass(slots=True)
class _Counts:
    properties: int = 0
    depth: int = 0
    enum_values: int = 0
    characters: int = 0
    optional: int = 0
    unions: int = 0


def _root(schema: Json, rules: _ServiceRules) -> Iterator[_Finding]:
    if rules.root_is_object and not (
        isinstance(schema, dict) and schema.get("type") == "object" and "anyOf" not in schema
    ):
        yield "", "the root is not an object", "put it into a property of an object"


def _one(
    value: dict[str, Json], pointer: str, rules: _ServiceRules, counts: _Counts
) -> Iterator[_Finding]:
    """Yield the mistakes in one schema object; count those with bounds of their own."""
    for keyword in value.keys() & rules.refused.keys():
        yield f"{pointer}/{keyword}", f"`{keyword}`", rules.refused[keyword]
    if rules.only is not None:
        for keyword in value.keys() - rules.only:
            yield f"{pointer}/{keyword}", f"`{keyword}`", _AFTERWARDS
    if rules.lone_reference and "$ref" in value and any(not key.startswith("$") for key in value):
        yield f"{pointer}/$ref", "keywords beside `$ref`", "put them where it leads"
    properties = value.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    listed = value.get("required")
    required = set(listed) if isinstance(listed, list) else set()
    missing = [name for name in names if name not in required]
    is_open = value.get("type") == "object" and value.get("additionalProperties") is not False
    if rules.some_required and value.get("type") == "object" and not required:
        yield pointer, "no property is required", "list one at least in `required`"
    if rules.is_closed and is_open:
        yield (
            pointer,
            "`additionalProperties` is not false",
            'add `"additionalProperties": false`',
        )
    if rules.all_required and missing:
        shown = ", ".join(f"`{name}`" for name in missing[:3])
        yield (
            pointer,
            f"{shown} not in `required`",
            "list it there, and let its type be `null`, too",
        )
    yield from _of_value(value, pointer, rules)
    values = value.get("enum")
    listed_values = values if isinstance(values, list) else []
    counts.properties += len(names)
    counts.optional += len(missing)
    counts.unions += "anyOf" in value or isinstance(value.get("type"), list)
    counts.enum_values += len(listed_values)
    words = [*names, *_definitions(value), *listed_values, value.get("const")]
    counts.characters += sum(len(word) for word in words if isinstance(word, str))


def _recursive(document: SchemaDocument) -> Iterator[_Finding]:
    """Yield the references by which a schema contains itself, directly or not."""
    inside: dict[str, set[str]] = {}
    targets: dict[str, str] = {}
    for visited in walk(document.value):
        inside.setdefault(visited.pointer, set())
        if visited.around and visited.keyword not in ("$defs", "definitions"):
            inside[visited.around.pointer].add(visited.pointer)
        target = document.target_in(visited.contents)
        if target is not None:
            targets[visited.pointer] = target.pointer
            inside[visited.pointer].add(target.pointer)
            inside.setdefault(target.pointer, set())
    for circle in cyclic_components(inside):
        for pointer in sorted(circle & targets.keys()):
            if targets[pointer] in circle:
                message = "a schema that contains itself"
                yield f"{pointer}/$ref", message, "nest it as often as it may occur"


def _definitions(value: dict[str, Json]) -> Iterator[str]:
    for keyword in ("$defs", "definitions"):
        if isinstance(definitions := value.get(keyword), dict):
            yield from definitions


def _of_value(value: dict[str, Json], pointer: str, rules: _ServiceRules) -> Iterator[_Finding]:
    """Yield the formats, enumerations and references that a service does not know."""
    name = value.get("format")
    if isinstance(name, str) and rules.formats is not None and name not in rules.formats:
        yield f"{pointer}/format", f"the format `{name}`", "describe the format with `pattern`"
    values = value.get("enum")
    texts = (
        [value_listed for value_listed in values if isinstance(value_listed, str)]
        if isinstance(values, list)
        else []
    )
    if rules.long_enum is not None and len(texts) > rules.long_enum[0]:
        count, most = sum(map(len, texts)), rules.long_enum[1]
        if count > most:
            message = f"{count:,} characters in one `enum`, where {most:,} are allowed"
            yield f"{pointer}/enum", message, "use shorter names, and translate them afterwards"
    reference = value.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        yield f"{pointer}/$ref", "a reference to another document", "put it under `$defs`"
    if rules.enum_of_scalars and isinstance(values, list):
        others = [
            value_listed
            for value_listed in values
            if value_listed is None or isinstance(value_listed, bool | dict | list)
        ]
        if others:
            yield f"{pointer}/enum", "what is not a string or number in `enum`", "use `anyOf`"
    written = value.get("pattern")
    if rules.signs is not None and isinstance(written, str) and rules.signs.search(written):
        message = "`^`, `$` or look-ahead in a pattern"
        yield f"{pointer}/pattern", message, "write the whole string, which the pattern is for"
    if rules.is_compiled:
        yield from _not_compiled(value, pointer)


def _not_compiled(value: dict[str, Json], pointer: str) -> Iterator[_Finding]:
    least = value.get("minItems")
    if least is not None and least not in (0, 1):
        yield f"{pointer}/minItems", "`minItems` above 1", _AFTERWARDS
    pattern = value.get("pattern")
    if isinstance(pattern, str) and _BEYOND_COMPILER.search(pattern):
        finding = "look-around, a back-reference or a word boundary in a pattern"
        yield f"{pointer}/pattern", finding, "write out what is allowed"
    values = value.get("enum")
    if isinstance(values, list) and any(
        isinstance(value_listed, dict | list) for value_listed in values
    ):
        yield f"{pointer}/enum", "an object or array in `enum`", "use `anyOf` with schemas of them"
    schemas = value.get("allOf")
    if isinstance(schemas, list) and any(
        isinstance(schema, dict) and "$ref" in schema for schema in schemas
    ):
        yield f"{pointer}/allOf", "`$ref` inside `allOf`", "write out what it refers to"


def _totals(counts: _Counts, rules: _ServiceRules) -> Iterator[_Finding]:
    for count, most, counted in (
        (counts.properties, rules.properties, "properties"),
        (counts.depth, rules.depth, "objects nested in one another"),
        (counts.enum_values, rules.enum_values, "values in `enum`"),
        (counts.characters, rules.characters, "characters of names and constants"),
        (counts.optional, rules.optional, "optional properties"),
        (counts.unions, rules.unions, "unions (`anyOf`, several types)"),
    ):
        if most is not None and count > most:
            yield "", f"{count:,} {counted}, where {most:,} are allowed", "split the schema"
