"""The keywords of JSON Schema: what they are for, the values that they may have, and problems.

A problem (``Problem``) is an error of a schema, or a loss of the conversion, with its JSON Pointer.

``review`` visits the values of a schema once. It decides which keywords have values that the
meta-schema of their draft refuses, and what they must be instead; it notes what later steps need to
know: names that no draft knows, marks of dynamic references, and how deeply values nest.

The forms of keywords are those of the meta-schemas of drafts 3 to 2020-12, without formats. A
schema takes 0.08 ms, by ``jsonschema`` 4.6, and 18 ms of the first request to import that.
``jsonschema-rs`` takes 0.03, but 35 ms and 11 MB to import, and there is none in the browser; nor
do these libraries say in words what a keyword must be. A test compares the verdicts with those of
the meta-schemas.

Tests: tests/unit/languages/json_schema/test_soundness.py.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Set
from decimal import Decimal
from functools import cache
from typing import NamedTuple, TypeAlias

from kbnf_core.text.errors import KbnfError
from kbnf_core.text.json_text import Json, escape, pointer_below, print_json, too_deep, value_key
from kbnf_core.text.source import Span

# Problems

UNSUPPORTED = "E801"
INVALID = "E802"
UNSATISFIABLE = "E803"
TOO_LARGE = "E804"
UNRESOLVED = "E805"
UNKNOWN_FORMAT = "W806"
WITHOUT_EFFECT = "W807"
NARROWED = "W808"
NO_VALUE = "no value is possible here"
ENDLESS_BLANKS = "W302"
ENDLESS_DIGITS = "I303"
NOT_FOR_SERVICE = "E809"
REPEATED = "I810"


class Problem(NamedTuple):
    """One finding: the catalogue's code, what, the JSON Pointer of where, and what to do.

    ``can_be_dropped`` says whether the conversion can go on without the keyword. A text that is
    not JSON has no pointers: ``span`` is where it goes wrong. ``replacement`` is the name or text
    that was meant instead of the one at the pointer.
    """

    code: str
    message: str
    pointer: str
    help: str = ""
    can_be_dropped: bool = False
    span: Span | None = None
    replacement: str = ""


class ProblemError(KbnfError):
    """Ends a conversion; turned into a ``GrammarError`` with a span at its top."""

    def __init__(self, problem: Problem, *more: Problem) -> None:
        self.problem = problem
        self.problems = (problem, *more)
        super().__init__(f"{problem.pointer or '(root)'}: {problem.message}")


class NarrowableError(ProblemError):
    """Not all values of a schema can be written; a subset can, where others are left out."""


def too_many_kinds(type_: str, limit: int) -> NarrowableError:
    """Return the error of more kinds of values of one schema than are distinguished."""
    error = too_large(f"kinds of {type_}s in one place", limit, "alternatives")
    return NarrowableError(error.problem)


def unsupported(message: str, pointer: str, help_: str = "") -> ProblemError:
    """Return the error of a keyword that no grammar, or none of bearable size, can honour."""
    return ProblemError(Problem(UNSUPPORTED, message, pointer, help_))


def dropped(problem: Problem) -> Problem:
    """Return the loss of a keyword that was left out."""
    return Problem(WITHOUT_EFFECT, f"dropped: {problem.message}", problem.pointer, problem.help)


def without_effect(message: str, pointer: str, help_: str = "") -> Problem:
    """Return the note on a keyword that restricts nothing."""
    return Problem(WITHOUT_EFFECT, message, pointer, help_)


def narrowed(message: str, pointer: str) -> Problem:
    """Return the note on values that are allowed, and left out."""
    return Problem(NARROWED, message, pointer)


def may_repeat(pointer: str) -> Problem:
    """Return the note on members of one name, each of which counts."""
    message = "a name may occur twice in a text, and both members count"
    hint = "list the names, or refuse texts that repeat one where they are read"
    return Problem(REPEATED, message, pointer, hint)


def invalid(message: str, pointer: str) -> ProblemError:
    """Return the error of a keyword with a value that it cannot have."""
    return ProblemError(Problem(INVALID, message, pointer))


def unsatisfiable(pointer: str) -> Problem:
    """Return the error of a schema without a value, of which no more is known."""
    return Problem(UNSATISFIABLE, NO_VALUE, pointer)


def refers_to_itself(pointer: str) -> ProblemError:
    """Return the error of a schema whose values would be those of itself."""
    message = "a schema refers to itself without a value in between"
    return ProblemError(Problem(UNSATISFIABLE, message, pointer))


def too_large(counted: str, limit: int, name: str, pointer: str = "") -> ProblemError:
    """Return the error of a limit that was passed; ``name`` is its field of SchemaLimits."""
    message = f"more than {limit:,} {counted}"
    return ProblemError(
        Problem(TOO_LARGE, message, pointer, f"simplify the schema, or raise the limit `{name}`")
    )


def too_many_states(limit: int, pointer: str = "") -> ProblemError:
    """Return the error of listed values that take more than ``SchemaLimits.states``."""
    return too_large("states for values that are listed", limit, "states", pointer)


# Keywords

STRINGS = frozenset({"minLength", "maxLength", "pattern", "format"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
ARRAYS = frozenset(
    {
        "prefixItems", "items", "additionalItems", "minItems", "maxItems", "uniqueItems",
        "contains", "minContains", "maxContains",
    }
)  # fmt: skip
OBJECTS = frozenset(
    {
        "properties", "patternProperties", "additionalProperties", "required", "minProperties",
        "maxProperties", "propertyNames",
    }
)  # fmt: skip
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
"""What applies for the members and items that nothing else speaks of."""
MEMBERS = frozenset({"properties", "patternProperties", "additionalProperties"})
"""What says which members come where."""
CONTENTS = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
"""Annotations of strings, which no validator enforces."""
UNKEPT = "kbnf: unkept: "
"""How a comment begins that names a check in Python which no grammar keeps."""
ANNOTATIONS = frozenset(
    {
        "title", "description", "default", "examples", "$comment", "deprecated", "readOnly",
        "writeOnly",
    }
)  # fmt: skip
"""What says nothing about values in any draft."""
TYPE_ALONE = ANNOTATIONS | {"type"}
LOCAL = STRINGS | NUMBERS | ARRAYS | OBJECTS | {"type"}
"""What restricts values of a type, and is read together."""

APPLICATORS = frozenset(
    {
        "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "const",
        "enum", "dependentRequired", "dependentSchemas", "dependencies",
    }
)  # fmt: skip
"""What becomes an expression; ``then`` and ``else`` are read with ``if``."""

TESTS = frozenset({"not", "if", "contains", "propertyNames"})
"""What only asks whether a value fits a schema."""

REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
COMBINATORS = REFERENCES | {
    "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies",
}  # fmt: skip
"""Keywords that apply other schemas to the same value."""
EVALUATORS = COMBINATORS | {"properties", "patternProperties"}
"""What evaluates some members of an object, and leaves others."""
BELOW = frozenset(
    {
        "properties", "patternProperties", "additionalProperties", "unevaluatedProperties",
        "prefixItems", "items", "additionalItems", "unevaluatedItems",
    }
)  # fmt: skip
"""What applies schemas to members and items."""

REFUSED_BY_LLGUIDANCE = frozenset(
    {
        "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "propertyNames",
        "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems",
        "unevaluatedProperties",
    }
)  # fmt: skip
"""What LLGuidance knows and refuses, or ignores where a schema is ``lenient``."""

SCHEMA = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if",
        "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""Keywords whose value is a schema."""
SCHEMAS_BY_NAME = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
LISTS_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})


KEYWORDS = (
    ANNOTATIONS
    | APPLICATORS
    | CONTENTS
    | LISTS_OF_SCHEMAS
    | LOCAL
    | SCHEMA
    | SCHEMAS_BY_NAME
    | frozenset(UNEVALUATED)
    | {"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "id"}
)
"""What the drafts from 4 on know."""

KEYWORDS_IN_USE = KEYWORDS | {
    "disallow", "discriminator", "divisibleBy", "enumNames", "example", "extends",
    "externalDocs", "name", "nullable", "option", "options", "propertyOrdering", "value",
    "values", "xml",
}  # fmt: skip
"""Keywords, and what draft 3, OpenAPI and makers of forms know, some of it near to a keyword."""


def subschemas(schema: Json) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Yield the schemas right inside one, with the steps that lead to them.

    Values of another form than their keyword requires are left out; a schema need not be valid.
    """
    for keyword, value in schema.items() if isinstance(schema, dict) else ():
        if keyword in SCHEMA and isinstance(value, dict | bool):
            yield (keyword,), value
        elif keyword in _BY_NAME and isinstance(value, dict):
            for name, inner in value.items():
                if isinstance(inner, dict | bool):
                    yield (keyword, name), inner
        elif keyword in _LISTED and isinstance(value, list):
            for number, inner in enumerate(value):
                if isinstance(inner, dict | bool):
                    yield (keyword, str(number)), inner


class Visited(NamedTuple):
    """A schema object in a schema, its pointer, the keyword that has it, and the schema around."""

    contents: dict[str, Json]
    pointer: str
    keyword: str = ""
    around: "Visited | None" = None


def walk(schema: Json) -> Iterator[Visited]:
    """Yield the schemas in a schema that are objects, outer ones first, in the order of the text.

    The schema need not be valid.
    """
    pending = [Visited(schema, "")]
    while pending:
        visited = pending.pop()
        if isinstance(visited.contents, dict):
            yield visited
            pending += reversed(
                [
                    Visited(inner, pointer_below(visited.pointer, *steps), steps[0], visited)
                    for steps, inner in subschemas(visited.contents)
                ]
            )


_BY_NAME = SCHEMAS_BY_NAME | {"dependencies"}
_LISTED = LISTS_OF_SCHEMAS | {"items"}


DRAFTS = {
    "http://json-schema.org/draft-03/schema": "draft-03",
    "http://json-schema.org/draft-04/schema": "draft-04",
    "http://json-schema.org/draft-06/schema": "draft-06",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "https://json-schema.org/draft/2019-09/schema": "draft2019-09",
    "https://json-schema.org/draft/2020-12/schema": "draft2020-12",
}
"""The names of the drafts by the addresses of their meta-schemas, as ``referencing`` has them."""

NEWEST = "draft2020-12"
_NUMBERS = {"draft-03": 3, "draft-04": 4, "draft-06": 6, "draft-07": 7, "draft2019-09": 2019}
_NEWEST = 2020
_UNNAMED = 2021
"""A schema that names no draft is of the newest, and may have some forms of older ones."""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})


def dialect_of(value: Json) -> str:
    """Return the name of the draft that a schema names, the newest without a known one."""
    named = value.get("$schema") if isinstance(value, dict) else None
    return DRAFTS.get(named.rstrip("#") if isinstance(named, str) else "", NEWEST)


class Review(NamedTuple):
    """Facts of a schema, from one visit of its values.

    ``problems``: its first keywords, the outermost ones first, that have a value which their draft
    refuses; or that values are nested too deeply. ``strange``: the names that no draft knows.
    ``is_unlisted``: some object with ``properties`` requires a name outside of these.
    ``has_marks``: some object is marked for dynamic references. The last three are those of the
    whole schema where there are no problems.
    """

    problems: tuple[Problem, ...] = ()
    strange: frozenset[str] = frozenset()
    is_unlisted: bool = False
    has_marks: bool = False


def joined(reviews: Iterable[Review]) -> Review:
    """Return the facts of a schema that is made of others without problems."""
    every = list(reviews)
    return Review(
        (),
        frozenset().union(*(review.strange for review in every)),
        any(review.is_unlisted for review in every),
        any(review.has_marks for review in every),
    )


VALUES = 2
"""Values in one another that a schema in a schema is: it has a name in ``properties``."""


def review(schema: Json, depth: int) -> Review:
    """Return the facts of a schema (see ``read_json``), in which ``depth`` schemas may nest."""
    return _Visit(schema).whole(schema, VALUES * depth)


_Link: TypeAlias = "tuple[_Link | None, str, str | int | None]"
"""The link of the schema around a schema, the keyword that has it, and the name or index there."""

_Entry: TypeAlias = "tuple[Json, _Link | None]"


class _Visit:
    """Visits the values of a schema level by level."""

    def __init__(self, schema: Json) -> None:
        self._draft = _draft(schema)
        self._forms = _forms_of(self._draft)
        self._problems: list[Problem] = []
        self._strange: set[str] = set()
        self._is_unlisted = False
        self._has_marks = False
        # Schemas one and two levels deeper than those that are visited, and other values one level
        # deeper, of which only the depth counts, and marks.
        self._next: list[_Entry] = []
        self._later: list[_Entry] = []
        self._others: list[Json] = []

    def whole(self, schema: Json, most: int) -> Review:
        """Return the facts; values may be ``most`` levels deep."""
        level: list[_Entry] = [(schema, None)]
        others: list[Json] = []
        for _ in range(most):
            self._others = []
            for entry in level:
                self._schema(*entry)
            for value in others:
                self._other(value)
            if self._problems:
                return Review(tuple(self._problems))
            level, self._next, self._later = self._next, self._later, []
            others = self._others
            if not (level or self._next or others):
                return Review((), frozenset(self._strange), self._is_unlisted, self._has_marks)
        # An empty value, or `true`, has nothing in it that would be a level deeper.
        if any(value for value, _ in (*level, *self._next) if value is not True) or any(others):
            pointer = too_deep(schema, most) or ""
            return Review(
                (too_large("values nested in one another", most, "depth", pointer).problem,)
            )
        return Review((), frozenset(self._strange), self._is_unlisted, self._has_marks)

    def _schema(self, schema: Json, link: "_Link | None") -> None:
        if not isinstance(schema, dict):
            if not (isinstance(schema, bool) and self._draft > 4):
                self._problems.append(_no_schema(schema, _pointer_of(link), link is None))
            return
        for keyword, value in schema.items():
            form = self._forms.get(keyword)
            if form is None:
                self._unknown(keyword, value)
            elif not form.fits(value):
                self._problems.append(_misused(keyword, value, _pointer_of(link), form.words))
            elif form.inside is not None:
                form.inside(self, (link, keyword, None), value)
        # Without problems the one is a list or a flag, and the other an object.
        if "required" in schema and "properties" in schema and not self._problems:
            self._is_unlisted |= not schema["properties"].keys() >= _listed(schema["required"])
        if self._draft <= 4:
            self._flags(schema, link)

    def _unknown(self, keyword: str, value: Json) -> None:
        if keyword not in KEYWORDS_IN_USE:
            self._strange.add(keyword)
        if isinstance(value, _CONTAINERS):
            self._others.append(value)

    def _flags(self, schema: dict[str, Json], link: "_Link | None") -> None:
        """Note the flags of bounds that have no bound beside them."""
        for flag, bound in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
            if flag in schema and bound not in schema:
                message = f"`{flag}` is a flag of `{bound}`, which is not there"
                pointer = f"{_pointer_of(link)}/{flag}"
                self._problems.append(Problem(INVALID, message, pointer, _FLAG.instead))

    def _other(self, value: Json) -> None:
        """Visit a value other than a schema, though a reference may lead to a schema in it."""
        if isinstance(value, dict):
            self._has_marks |= "$dynamicAnchor" in value or "$recursiveAnchor" in value
            self._others += (
                value_inside
                for value_inside in value.values()
                if isinstance(value_inside, _CONTAINERS)
            )
        else:
            self._others += (
                value_inside for value_inside in value if isinstance(value_inside, _CONTAINERS)
            )

    # Values inside of the value of a keyword, which fits.

    def plain(self, _link: "_Link", value: Json) -> None:
        """Visit values other than schemas."""
        if isinstance(value, _CONTAINERS):
            self._others.append(value)

    def mark(self, _link: "_Link", _value: Json) -> None:
        """Note a mark for dynamic references."""
        self._has_marks = True

    def one(self, link: "_Link", value: Json) -> None:
        """Visit a schema."""
        self._next.append((value, link))

    def flag(self, link: "_Link", value: Json) -> None:
        """Visit a schema where old drafts have a flag."""
        if not isinstance(value, bool):
            self._next.append((value, link))

    def named(self, link: "_Link", value: Json) -> None:
        """Visit schemas by name."""
        around, keyword, _ = link
        self._later += [
            (value_inside, (around, keyword, name)) for name, value_inside in value.items()
        ]

    def listed(self, link: "_Link", value: Json) -> None:
        """Visit a list of schemas."""
        around, keyword, _ = link
        self._later += [
            (value_inside, (around, keyword, number)) for number, value_inside in enumerate(value)
        ]

    def items(self, link: "_Link", value: Json) -> None:
        """Visit a schema, or a list of them."""
        (self.listed if isinstance(value, list) else self.one)(link, value)

    def mixed(self, link: "_Link", value: Json) -> None:
        """Visit the schemas by name, or in a list, among other values."""
        around, keyword, _ = link
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        kinds = dict if self._draft < 4 else dict | bool
        self._later += [
            (value_inside, (around, keyword, name))
            for name, value_inside in pairs
            if isinstance(value_inside, kinds)
        ]

    def types(self, link: "_Link", value: Json) -> None:
        """Visit the schemas in a list of types of draft 3."""
        if isinstance(value, list):
            self.mixed(link, value)


_CONTAINERS = (dict, list)


def _pointer_of(link: "_Link | None") -> str:
    steps: list[str] = []
    while link is not None:
        link, keyword, name = link
        steps += (keyword,) if name is None else (str(name), keyword)
    return "".join(f"/{escape(step)}" for step in reversed(steps))


def _listed(names: Json) -> Set[str]:
    return set(names) if isinstance(names, list) else frozenset()


def may_hold(keyword: str, value: Json) -> bool:
    """Return whether a keyword could have this value in some draft, as far as that is known."""
    if keyword in SCHEMA and keyword != "items":
        return isinstance(value, dict | bool)
    if keyword == "type":
        # A type that is misspelt, too.
        return isinstance(value, str | list)
    forms = [_forms_of(draft).get(keyword) for draft in (_NEWEST, 4)]
    listed = [form for form in forms if form is not None]
    return not listed or any(form.fits(value) for form in listed)


def _draft(schema: Json) -> int:
    if not isinstance(schema, dict) or "$schema" not in schema:
        return _UNNAMED
    return _NUMBERS.get(dialect_of(schema), _NEWEST)


# Wrong keywords, in words


class Older(NamedTuple):
    """A form that a keyword has in older drafts, and what to write instead.

    ``is_read``: a schema that names no draft may have it, as tools seldom name one.
    """

    meaning: str
    instead: str
    is_read: bool = True


_FLAG = Older("in draft 4 a flag makes the bound beside it exclusive", "write the bound itself")
OLDER = {
    ("items", list): Older(
        "up to draft 2019-09 a list in `items` is a tuple",
        "write `prefixItems`, and `items` for `additionalItems`",
    ),
    ("exclusiveMinimum", bool): _FLAG,
    ("exclusiveMaximum", bool): _FLAG,
    ("required", bool): Older(
        "in draft 3 `required` is a flag of a property",
        "list the names in `required` of the object",
        is_read=False,
    ),
}
"""By keyword and kind of value."""

_SHOWN = 60
"""Characters of a value that a message shows."""


def _shortened(value: Json) -> str:
    text = print_json(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _no_schema(value: Json, pointer: str, is_whole: bool) -> Problem:
    more = "; a list of tools has functions" if is_whole else f", not {_shortened(value)}"
    return Problem(INVALID, f"a schema is an object, `true` or `false`{more}", pointer)


def _misused(keyword: str, value: Json, around: str, words: str) -> Problem:
    """Return that a keyword, in the schema at ``around``, is not what it must be, in ``words``."""
    pointer = f"{around}/{escape(keyword)}"
    names = value if isinstance(value, list) else [value]
    strange = [number for number, name in enumerate(names) if name not in _NAMES_OF_TYPES]
    if keyword == "type" and strange:
        where = f"{pointer}/{strange[0]}" if isinstance(value, list) else pointer
        return _mistyped(names[strange[0]], where, is_item=isinstance(value, list))
    others = [number for number, name in enumerate(names) if not isinstance(name, str)]
    if keyword == "required" and isinstance(value, list) and others:
        item = f"{pointer}/{others[0]}"
        return Problem(INVALID, f"a name is a string, not {_shortened(value[others[0]])}", item)
    older = OLDER.get((keyword, type(value)))
    help_ = f"{older.meaning}: {older.instead}" if older else ""
    return Problem(INVALID, f"`{keyword}` must be {words}, not {_shortened(value)}", pointer, help_)


_NAMES_OF_TYPES = sorted(TYPES)
"""A list: other values than texts may be looked for."""


def _mistyped(name: Json, pointer: str, *, is_item: bool) -> Problem:
    """Return the problem that ``name`` is not a type; ``is_item`` says whether it is in a list."""
    from kbnf_core.text.suggest import Suggestions

    listed = [f"`{form}`" for form in _NAMES_OF_TYPES]
    meant = Suggestions(TYPES).closest(name.lower()) if isinstance(name, str) else None
    return Problem(
        INVALID,
        f"there is no type {_shortened(name)}; the types are"
        f" {', '.join(listed[:-1])} and {listed[-1]}",
        pointer,
        f"did you mean `{meant}`?" if meant else "",
        # The span of a member is that of its name.
        replacement=meant if meant and is_item else "",
    )


# The forms of keywords


class _Form(NamedTuple):
    """The values of a keyword from a draft on, in words, and the visit of their contents."""

    since: int
    fits: Callable[[Json], bool]
    words: str
    inside: Callable[[_Visit, _Link, Json], None] | None = None


@cache
def _forms_of(draft: int) -> dict[str, _Form]:
    """Return the forms of keywords in a draft; a keyword that it does not know has none."""
    newest = {}
    for keyword, forms in _FORMS.items():
        until_draft = [form for form in forms if form.since <= draft]
        if until_draft and until_draft[-1].words:
            newest[keyword] = until_draft[-1]
    return newest


def _of(*kinds: type) -> Callable[[Json], bool]:
    return lambda value: isinstance(value, kinds)


def _any(_value: Json) -> bool:
    return True


def _filled(value: Json) -> bool:
    # Up to draft 6 the values of `enum` differ by the meta-schema; one that repeats says nothing.
    return isinstance(value, list) and bool(value)


def _no_list(value: Json) -> bool:
    return not isinstance(value, list)


def _items(value: Json) -> bool:
    return bool(value != [])


def _identifier(value: Json) -> bool:
    return isinstance(value, str) and "#" not in value[:-1]


def _matching(pattern: str) -> Callable[[Json], bool]:
    compiled = re.compile(pattern)
    return lambda value: isinstance(value, str) and compiled.fullmatch(value) is not None


def _number(value: Json) -> bool:
    return isinstance(value, Decimal) and value.is_finite()


def _positive(value: Json) -> bool:
    return _number(value) and value > 0


def _count(value: Json) -> bool:
    return _number(value) and value >= 0 and value.as_tuple().exponent == 0


def _whole_count(value: Json) -> bool:
    """Return whether a number counts, as also ``2.0`` does from draft 6 on."""
    return _count(value) or (_number(value) and value >= 0 and float(value).is_integer())


def _whole(value: Json) -> bool:
    return _number(value) and value.as_tuple().exponent == 0


def _names(value: Json) -> bool:
    if not isinstance(value, list) or not {str}.issuperset(map(type, value)):
        return False
    return len(set(value)) == len(value)


def _some_names(value: Json) -> bool:
    return bool(value) and _names(value)


def _names_by_name(value: Json) -> bool:
    return isinstance(value, dict) and all(map(_names, value.values()))


def _flags_by_name(value: Json) -> bool:
    return isinstance(value, dict) and {bool}.issuperset(map(type, value.values()))


def _dependencies(fits: Callable[[Json], bool], *kinds: type) -> Callable[[Json], bool]:
    return lambda value: (
        isinstance(value, dict)
        and all(
            isinstance(inner_value, kinds) or fits(inner_value) for inner_value in value.values()
        )
    )


def _texts(value: Json) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and {str}.issuperset(map(type, value))
    )


def _type(value: Json) -> bool:
    return (isinstance(value, str) and value in TYPES) or (
        _some_names(value) and TYPES.issuperset(value)
    )


def _type_or_schema(value: Json) -> bool:
    """Return whether this is a type of draft 3: a name, or a list of names and schemas."""
    if not isinstance(value, list):
        return isinstance(value, str)
    return all(isinstance(item, str | dict) for item in value) and (
        len(set(map(value_key, value))) == len(value)
    )


_TEXT = (_of(str), "a string")
_TRUTH = (_of(bool), "true or false")
_COUNT = "a whole number, 0 or more"
_SCHEMA = (_any, "a schema")
_SCHEMA_BY_NAME = (_of(dict), "an object with a schema for each name", _Visit.named)
_LIST = (_filled, "a list of schemas, and not an empty one", _Visit.listed)
_NAMES = "a list of strings, all different"
_BY_NAME_OR_NAMES = "an object with a schema or a list of different strings for each name"
_ITEMS = "a schema, or a list of schemas that is not empty"
_ANCHOR = (_matching("[A-Za-z_][-A-Za-z0-9._]*"), "a name of letters, digits, `-`, `.` and `_`")
_UNKNOWN = (_any, "")
"""The form of what a draft no longer knows."""


def _counts(lowest: int) -> tuple[_Form, ...]:
    return (_Form(lowest, _count, _COUNT), _Form(6, _whole_count, _COUNT))


_FORMS: dict[str, tuple[_Form, ...]] = {
    "additionalProperties": (_Form(3, *_SCHEMA, _Visit.flag), _Form(6, *_SCHEMA, _Visit.one)),
    "additionalItems": (
        _Form(3, *_SCHEMA, _Visit.flag),
        _Form(6, *_SCHEMA, _Visit.one),
        _Form(2020, *_UNKNOWN),
        _Form(_UNNAMED, *_SCHEMA, _Visit.one),
    ),
    "not": (_Form(4, *_SCHEMA, _Visit.one),),
    **dict.fromkeys(("contains", "propertyNames"), (_Form(6, *_SCHEMA, _Visit.one),)),
    **dict.fromkeys(("if", "then", "else"), (_Form(7, *_SCHEMA, _Visit.one),)),
    **dict.fromkeys(
        ("contentSchema", "unevaluatedItems", "unevaluatedProperties"),
        (_Form(2019, *_SCHEMA, _Visit.one),),
    ),
    **dict.fromkeys(("properties", "patternProperties"), (_Form(3, *_SCHEMA_BY_NAME),)),
    "definitions": (_Form(4, *_SCHEMA_BY_NAME),),
    **dict.fromkeys(("$defs", "dependentSchemas"), (_Form(2019, *_SCHEMA_BY_NAME),)),
    **dict.fromkeys(("allOf", "anyOf", "oneOf"), (_Form(4, *_LIST),)),
    "prefixItems": (_Form(2020, *_LIST),),
    "items": (
        _Form(3, _any, _ITEMS, _Visit.items),
        _Form(4, _items, _ITEMS, _Visit.items),
        _Form(2020, _no_list, "a schema", _Visit.one),
        # Lists of older drafts, too; see ``OLDER``.
        _Form(_UNNAMED, _items, _ITEMS, _Visit.items),
    ),
    "dependencies": (
        _Form(3, _dependencies(_texts, dict), _BY_NAME_OR_NAMES, _Visit.mixed),
        _Form(4, _dependencies(_some_names, dict, bool), _BY_NAME_OR_NAMES, _Visit.mixed),
        _Form(6, _dependencies(_names, dict, bool), _BY_NAME_OR_NAMES, _Visit.mixed),
    ),
    **dict.fromkeys(("extends",), (
        _Form(3, _any, "a schema, or a list of schemas", _Visit.items),
        _Form(4, *_UNKNOWN),
    )),
    "disallow": (
        _Form(3, _type_or_schema, "a type, or a list of types and schemas", _Visit.types),
        _Form(4, *_UNKNOWN),
    ),
    "divisibleBy": (_Form(3, _positive, "a number above 0"), _Form(4, *_UNKNOWN)),
    "type": (
        _Form(3, _type_or_schema, "a type, or a list of types and schemas", _Visit.types),
        _Form(4, _type, "one of the types, or a list of different ones"),
    ),
    "enum": (
        _Form(3, _filled, "a list of values, and not an empty one", _Visit.plain),
        _Form(6, _of(list), "a list of values", _Visit.plain),
    ),
    "required": (
        _Form(3, *_TRUTH),
        _Form(4, _some_names, f"{_NAMES}, and not an empty one"),
        _Form(6, _names, _NAMES),
    ),
    "dependentRequired": (
        _Form(2019, _names_by_name, "an object with a list of different strings for each name"),
    ),
    **dict.fromkeys(("minimum", "maximum"), (_Form(3, _number, "a number"),)),
    **dict.fromkeys(
        ("exclusiveMinimum", "exclusiveMaximum"),
        (
            _Form(3, *_TRUTH),
            _Form(6, _number, "a number"),
            _Form(_UNNAMED, _of(Decimal, bool), "a number"),
        ),
    ),
    "multipleOf": (_Form(4, _positive, "a number above 0"),),
    "maxLength": (_Form(3, _whole, "a whole number"), *_counts(4)),
    **dict.fromkeys(("minLength", "minItems", "maxItems"), _counts(3)),
    **dict.fromkeys(("minProperties", "maxProperties"), _counts(4)),
    **dict.fromkeys(("minContains", "maxContains"), (_Form(2019, _whole_count, _COUNT),)),
    "uniqueItems": (_Form(3, *_TRUTH),),
    "readOnly": (_Form(7, *_TRUTH),),
    **dict.fromkeys(("deprecated", "writeOnly"), (_Form(2019, *_TRUTH),)),
    "examples": (_Form(6, _of(list), "a list", _Visit.plain),),
    **dict.fromkeys(
        ("$schema", "description", "format", "pattern", "title"), (_Form(3, *_TEXT),)
    ),
    # In draft 4, too, a reference is a string, though its meta-schema leaves it out.
    "$ref": (_Form(3, *_TEXT),),
    "id": (_Form(3, *_TEXT), _Form(6, *_UNKNOWN)),
    "$id": (_Form(6, *_TEXT), _Form(2019, _identifier, "a URI without a fragment")),
    **dict.fromkeys(("$comment", "contentEncoding", "contentMediaType"), (_Form(7, *_TEXT),)),
    "$anchor": (
        _Form(
            2019, _matching("[A-Za-z][-A-Za-z0-9.:_]*"), "a name that begins with a letter"
        ),
        _Form(2020, *_ANCHOR),
    ),
    "$dynamicAnchor": (_Form(2020, *_ANCHOR, _Visit.mark),),
    "$recursiveAnchor": (_Form(2019, *_TRUTH, _Visit.mark), _Form(2020, *_ANCHOR, _Visit.mark)),
    "$recursiveRef": (_Form(2019, *_TEXT),),
    "$dynamicRef": (_Form(2020, *_TEXT),),
    "$vocabulary": (_Form(2019, _flags_by_name, "an object with true or false for each name"),),
}  # fmt: skip
"""By keyword: its forms, by the first draft that has each, in the order of drafts."""
