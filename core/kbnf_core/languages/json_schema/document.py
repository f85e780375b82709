"""The schema document: its JSON, the pointer of every schema, and reference resolution.

References are resolved by ``referencing``. Nothing is ever fetched: what is not in the document
must be one of the meta-schemas, which come with the library.
"""

import json
from collections.abc import Iterator, Set
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    NOTHING,
    RECURSIVE,
    Closing,
    Expression,
    Marks,
    Ref,
    Scope,
    constant,
    has_marks,
    key_of,
)
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    BELOW,
    EVALUATORS,
    IN_PLACE,
    LOCAL,
    REFERENCES,
    TESTS,
    TYPE_ALONE,
    TYPES,
    UNEVALUATED,
    Review,
    review,
    wanted,
)
from kbnf_core.languages.json_schema.options import SchemaLimits, Standard
from kbnf_core.languages.json_schema.problems import (
    INVALID,
    UNRESOLVED,
    Problem,
    ProblemError,
    invalid,
    too_large,
    without_effect,
)
from kbnf_core.text.json_text import Json, NoJsonError, as_number, parse_json
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError
    from referencing import Registry, Specification
    from referencing._core import Resolver


def read_json(text: str) -> Json:
    """Return the value of a JSON text; raises ProblemError where it is none."""
    try:
        return parse_json(text)
    except NoJsonError as error:
        place = Source(text).position(error.span.start)
        where = f"line {place.line}, column {place.column}"
        found = invalid(f"the schema is not JSON: {error.reason} at {where}", "")
        raise ProblemError(found.problem._replace(span=error.span)) from None


def escape(name: str) -> str:
    """Return a name as a step of a JSON Pointer."""
    return name.replace("~", "~0").replace("/", "~1") if "~" in name or "/" in name else name


_REFERENCES_STAND_ALONE = frozenset({"draft-03", "draft-04", "draft-06", "draft-07"})

_INTEGERS_HAVE_NO_FRACTION = frozenset({"draft-03", "draft-04"})


class Place(NamedTuple):
    """A schema object, where it is, and what its references are relative to.

    Without a ``resolver`` that is the document as a whole.
    """

    contents: dict[str, Json]
    pointer: str
    resolver: "Resolver[Json] | None"
    scope: Scope = ()
    closing: Closing = Closing.NONE

    @property
    def evaluators(self) -> Set[str]:
        """The keywords that evaluate members."""
        return self.contents.keys() & EVALUATORS

    @property
    def is_closed_by_parts(self) -> bool:
        """Whether to close objects is left to its properties, or to what it applies in place.

        That is so where nothing else evaluates members. Of ``anyOf``, an object then has the
        members of one alternative.
        """
        evaluators = self.evaluators
        if evaluators == {"allOf"}:
            return len(self.contents["allOf"]) == 1
        return evaluators <= {"properties", "patternProperties"} or (
            len(evaluators) == 1 and evaluators <= REFERENCES | {"anyOf", "oneOf"}
        )

    def closing_of(self, keyword: str) -> Closing:
        """Return which objects are closed of the schemas that a keyword applies."""
        if self.closing is Closing.NONE or keyword in TESTS:
            return Closing.NONE
        if keyword in BELOW:
            return Closing.WHOLE
        is_whole = self.closing is Closing.WHOLE and self.is_closed_by_parts
        return Closing.WHOLE if is_whole else Closing.WITHIN

    @property
    def type_alone(self) -> str | None:
        """The one type that is all that the schema asks for, if that is so."""
        name = self.contents.get("type")
        return name if isinstance(name, str) and TYPE_ALONE.issuperset(self.contents) else None


class Document:
    """A document and the schemas in it, by the pointers that expressions name."""

    def __init__(
        self,
        value: Json,
        limits: SchemaLimits,
        standard: Standard = Standard.JSON_SCHEMA,
        *,
        closed: bool = False,
    ) -> None:
        refuse_deep(value, limits.depth)
        self._closing = Closing.WHOLE if closed else Closing.NONE
        self._value = value
        self._depth = limits.depth
        self._refs: dict[tuple[str, Scope, Closing], Ref] = {}
        self._places: dict[Ref, Place] = {}
        self._marks = Marks()
        self._marked: dict[str, tuple[Json, Resolver[Json] | None]] = {}
        if has_marks(value):
            self._marks.read(value)
        self.dialect = dialect_of(value)
        self.by_draft = standard is Standard.JSON_SCHEMA
        self._is_old = self.by_draft and is_old(self.dialect)
        self._beside: dict[str, None] = {}

    def root(self) -> Expression:
        """Return the whole document as an expression."""
        scope = self._entered((), self._value, None)
        return self._expression(self._value, "", None, scope, self._closing)

    @cached_property
    def _pointers(self) -> dict[int, str]:
        """The pointer of every object, by identity; those of meta-schemas are added."""
        return _pointers(self._value, self._depth)

    @cached_property
    def _specification(self) -> "Specification[Json]":
        """The rules of the draft for what resources and identifiers are."""
        from referencing.jsonschema import DRAFT202012, specification_with

        named = self._value.get("$schema") if isinstance(self._value, dict) else None
        if not isinstance(named, str):
            return DRAFT202012
        return specification_with(named, default=DRAFT202012)

    @cached_property
    def _resolver(self) -> "Resolver[Json]":
        """What references of the document as a whole are relative to."""
        # The meta-schemas; the module has no types.
        registry: Registry[Json] = import_module("jsonschema_specifications").REGISTRY
        resource = self._specification.create_resource(self._value)
        resolver = registry.resolver_with_root(resource)
        return self._inside(resolver, self._value, "") if _has_id(self._value) else resolver

    def _inside(
        self, around: "Resolver[Json]", value: dict[str, Json], pointer: str
    ) -> "Resolver[Json]":
        """Return what references in a schema with an identifier are relative to."""
        try:
            return around.in_subresource(self._specification.create_resource(value))
        except ValueError:
            key = "$id" if "$id" in value else "id"
            raise invalid(f"`{key}` is a URI reference", f"{pointer}/{key}") from None

    def is_whole(self, schema: Json) -> bool:
        """Return whether a schema is the document as a whole."""
        return schema is self._value

    def place(self, at: Ref) -> Place:
        """Return the schema that an expression names."""
        return self._places[at]

    def instead(self, place: Place) -> Ref:
        """Return a schema with the contents of ``place``, which may be none of the document's."""
        at = Ref(place.pointer, place.scope, place.closing)
        self._places[at] = place
        return at

    def inside(self, place: Place, *steps: str) -> Expression:
        """Return what the schema below ``place`` allows: by keyword, and by index or name."""
        value, pointer = place.contents, place.pointer
        for step in steps:
            value = value[int(step)] if isinstance(value, list) else value[step]
            pointer = f"{pointer}/{escape(step)}"
        closing = place.closing
        if closing is not Closing.NONE:
            closing = place.closing_of(steps[0])
        return self._expression(value, pointer, place.resolver, place.scope, closing)

    def as_written(self, expression: Expression) -> Expression:
        """Return what a schema allows where no objects are closed but by itself."""
        if not isinstance(expression, Ref) or expression.closing is Closing.NONE:
            return expression
        place = self.place(expression)
        # Of old drafts the keywords that count, which are those of the place.
        return self._named(place.contents, place.pointer, place.resolver, place.scope, Closing.NONE)

    def _expression(
        self,
        value: Json,
        pointer: str,
        resolver: "Resolver[Json] | None",
        scope: Scope,
        closing: Closing,
    ) -> Expression:
        if isinstance(value, bool):
            return ANYTHING if value else NOTHING
        if not isinstance(value, dict):
            raise invalid("a schema is an object, `true` or `false`", pointer)
        if not value:
            return ANYTHING
        if value is not self._value and _has_id(value):
            around = resolver or self._resolver
            resolver = self._inside(around, value, pointer)
            scope = self._entered(scope, value, resolver)
        return self._named(value, pointer, resolver, scope, closing)

    def _named(
        self,
        value: dict[str, Json],
        pointer: str,
        resolver: "Resolver[Json] | None",
        scope: Scope,
        closing: Closing,
    ) -> Ref:
        if closing is not Closing.NONE:
            closing = _closing_that_tells(value, closing)
        at = self._refs.get((pointer, scope, closing))
        if at is None:
            at = self._refs[pointer, scope, closing] = Ref(pointer, scope, closing)
            contents = self._counting(value, pointer)
            self._places[at] = Place(contents, pointer, resolver, scope, closing)
        return at

    def _entered(self, scope: Scope, schema: Json, resolver: "Resolver[Json] | None") -> Scope:
        """Return the scope in the resource of a schema; marks that were met before count."""
        marks = self._marks.of(schema)
        met = dict(scope)
        for name, marked in marks.items():
            if name not in met:
                met[name] = self._pointers[id(marked)]
                self._marked.setdefault(met[name], (marked, resolver))
        return tuple(sorted(met.items())) if marks else scope

    def _counting(self, value: dict[str, Json], pointer: str) -> dict[str, Json]:
        """Return the keywords that count: in old drafts a reference stands alone."""
        if not self._is_old or not isinstance(value.get("$ref"), str):
            return value
        beside = [keyword for keyword in value if keyword in LOCAL | APPLICATORS - {"$ref"}]
        target = self.at(value["$ref"]) if beside else None
        # Of what the target says itself nothing is lost.
        said = {} if target is None else target[1]
        lost = (keyword for keyword in beside if said.get(keyword) != value[keyword])
        self._beside.update((f"{pointer}/{escape(keyword)}", None) for keyword in lost)
        return {"$ref": value["$ref"]}

    @property
    def ignored(self) -> list[Problem]:
        """A note on the keywords beside references that an old draft ignores, at the first one."""
        if not self._beside:
            return []
        first, *more = self._beside
        others = f" ({len(more):,} more)" if more else ""
        message = f"in {self.dialect} keywords beside `$ref` are ignored{others}"
        hint = "put both into `allOf`, or name draft 2019-09 or later as `$schema`"
        return [without_effect(message, first, hint)]

    def at(self, reference: str) -> tuple[str, dict[str, Json]] | None:
        """Return what a plain pointer leads to, and the pointer as it is written here.

        Nothing in the document on the way has a name of its own; None where that is not so.
        """
        if not reference.startswith("#/") or "%" in reference:
            return None
        value, pointer = self._value, ""
        for step in reference[2:].split("/"):
            name = step.replace("~1", "/").replace("~0", "~")
            if not isinstance(value, dict) or name not in value:
                return None
            value, pointer = value[name], f"{pointer}/{escape(name)}"
            if isinstance(value, dict) and _has_id(value):
                return None
        return (pointer, value) if isinstance(value, dict) else None

    @property
    def has_whole_fractions(self) -> bool:
        """Return whether ``1.0`` may be wherever ``1`` may.

        They are the same number. To drafts 3 and 4 only ``1`` is an integer, though, so there both
        are allowed in schemas that ask for no integers.
        """
        if self.dialect in _INTEGERS_HAVE_NO_FRACTION:
            return self.by_draft and not self._names_integers
        return self.by_draft

    @cached_property
    def _names_integers(self) -> bool:
        """Whether ``integer`` may be a type in it, or in a meta-schema that it refers to."""
        pending = [self._value]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                if "$ref" in value and not str(value["$ref"]).startswith("#"):
                    return True
                pending.extend(value.values())
            elif isinstance(value, list):
                pending.extend(value)
            elif value == "integer":
                return True
        return False

    @property
    def keywords_for_the_rest(self) -> frozenset[str]:
        """The keywords of the draft for what nothing else evaluates."""
        return frozenset() if self._is_old else frozenset(UNEVALUATED)

    @property
    def contains_evaluates(self) -> bool:
        """Return whether items that fit ``contains`` count as evaluated."""
        return self.dialect != "draft2019-09"

    def follow(self, place: Place, keyword: str) -> Expression:
        """Resolve the reference in ``keyword`` of a schema."""
        reference = self._reference(place, keyword)
        found = self.at(reference) if place.resolver is None else None
        closing = place.closing_of(keyword)
        if found is not None:
            pointer, value = found
            scope = self._entered(place.scope, value, None)
            return self._expression(value, pointer, None, scope, closing)
        uri, _, anchor = reference.partition("#")
        if anchor and not anchor.startswith("/"):
            resource, resolver = self._resource(place, keyword, uri)
            marked = self._marks.of(resource).get(anchor)
            if marked is not None:
                return self._there(marked, resolver, place.scope, closing)
        return self._there(*self._found(place, keyword, reference), place.scope, closing)

    def follow_dynamic(self, place: Place, keyword: str) -> Expression:
        """Resolve ``$dynamicRef`` or ``$recursiveRef``: the first schema met with its mark."""
        uri, _, anchor = self._reference(place, keyword).partition("#")
        name = anchor if keyword == "$dynamicRef" else RECURSIVE
        resource, resolver = self._resource(place, keyword, uri)
        met = dict(self._entered(place.scope, resource, resolver)).get(name)
        if met is None or name not in self._marks.of(resource):
            return self.follow(place, keyword)
        return self._there(*self._marked[met], place.scope, place.closing_of(keyword))

    def _reference(self, place: Place, keyword: str) -> str:
        reference = place.contents[keyword]
        if not isinstance(reference, str):
            raise invalid(f"`{keyword}` is a string", f"{place.pointer}/{escape(keyword)}")
        return reference

    def _resource(
        self, place: Place, keyword: str, uri: str
    ) -> "tuple[Json, Resolver[Json] | None]":
        if not uri:
            return place.contents, place.resolver
        return self._found(place, keyword, uri)

    def _found(self, place: Place, keyword: str, reference: str) -> "tuple[Json, Resolver[Json]]":
        """Return what a reference leads to."""
        from referencing.exceptions import Unresolvable

        try:
            found = (place.resolver or self._resolver).lookup(reference)
        except (Unresolvable, ValueError, KeyError, TypeError):
            raise ProblemError(
                Problem(
                    UNRESOLVED,
                    f"`{reference}` leads nowhere in this document",
                    f"{place.pointer}/{escape(keyword)}",
                    "put what it means under `$defs`: nothing is fetched, and files are read from"
                    " the schema's own folder, where the schema is in a file",
                )
            ) from None
        contents = found.contents
        if not isinstance(contents, dict | bool):
            where = f"{place.pointer}/{escape(keyword)}"
            raise invalid("a schema is an object, `true` or `false`", where)
        if isinstance(contents, dict) and id(contents) not in self._pointers:
            self._read_meta_schemas()
        return contents, found.resolver

    def _read_meta_schemas(self) -> None:
        """Name the schemas in the meta-schemas, which are the only other documents."""
        registry: Registry[Json] = import_module("jsonschema_specifications").REGISTRY
        for uri in registry:
            contents = registry.contents(uri)
            self._marks.read(contents)
            pointers = _pointers(contents, self._depth).items()
            self._pointers.update((held, f"{uri}{pointer}") for held, pointer in pointers)

    def _there(
        self, schema: Json, resolver: "Resolver[Json] | None", scope: Scope, closing: Closing
    ) -> Expression:
        pointer = self._pointers.get(id(schema), "")
        entered = self._entered(scope, schema, resolver)
        return self._expression(schema, pointer, resolver, entered, closing)

    def refused(self, contents: dict[str, Json]) -> str | None:
        """Return a keyword of draft 3 that is not read, and would be ignored."""
        if not self.by_draft or self.dialect != "draft-03":
            return None
        known = [keyword for keyword in _ONLY_IN_DRAFT_3 if keyword in contents]
        return next(iter(known), "required" if contents.get("required") is True else None)


_ONLY_IN_DRAFT_3 = ("disallow", "divisibleBy", "extends")


def check_schema(schema: Json, text: str, limits: SchemaLimits) -> Review:
    """Return the facts of a sound schema.

    ``text`` is its JSON text. Raises ProblemError with the worst error that the meta-schema finds.
    """
    found = review(schema)
    if not found.is_sound:
        _ask_the_meta_schema(schema, text, limits)
    return found


def _ask_the_meta_schema(schema: Json, text: str, limits: SchemaLimits) -> None:
    """Raise ProblemError with the worst error that the meta-schema finds in a schema, if any."""
    refuse_deep(schema, limits.depth)
    from jsonschema.exceptions import best_match
    from jsonschema.validators import Draft202012Validator, validator_for

    # The library knows no decimals.
    value = json.loads(text, parse_int=as_number)
    if not isinstance(value, dict | bool):
        raise invalid("a schema is an object, `true` or `false`; a list of tools has functions", "")
    if isinstance(value, dict) and not isinstance(value.get("$schema", ""), str):
        raise invalid("`$schema` is a string", "/$schema")
    try:
        chosen = validator_for(value, default=Draft202012Validator)
    except ValueError:
        # It looks at `$schema` as an address, and this is none: an unknown draft as any other.
        chosen = Draft202012Validator
    # The library's own rule compares each item with each.
    extend: Any = vars(import_module("jsonschema.validators"))["extend"]  # it has no types
    checked = extend(chosen, {"uniqueItems": _repeated_items})
    is_unnamed = isinstance(value, dict) and "$schema" not in value
    registry = _meta_schemas(is_unnamed)
    validator = checked(_taken(chosen.META_SCHEMA), registry=registry)
    try:
        best = best_match(validator.iter_errors(value))
    except RecursionError:
        raise too_large("schemas nested in one another", limits.depth, "depth") from None
    if best is None:
        return
    message = best.message
    if best.validator == "type" and best.validator_value in (["object", "boolean"], "object"):
        message = f"a schema is an object, `true` or `false`, not {_shortened(best.instance)}"
    raise ProblemError(_misused(schema, [str(step) for step in best.absolute_path], message))


def _misused(schema: Json, steps: list[str], message: str) -> Problem:
    """Return what is wrong at a place of a schema: what its keyword must be, or ``message``."""
    places = [schema]
    for step in steps:
        around = places[-1]
        places.append(around[int(step)] if isinstance(around, list) else around[step])
    older = OLDER.get((steps[-1], type(places[-1]))) if steps else None
    # A place may lie inside of the value of the keyword that is wrong.
    for number in range(len(steps), 0, -1):
        around, keyword, value = places[number - 1], steps[number - 1], places[number]
        words = wanted(keyword, value) if isinstance(around, dict) else None
        if words is not None:
            names = value if isinstance(value, list) else [value]
            strange = [n for n, name in enumerate(names) if name not in list(TYPES)]
            if keyword == "type" and strange:
                pointer = "".join(f"/{escape(step)}" for step in steps[:number])
                where = f"{pointer}/{strange[0]}" if isinstance(value, list) else pointer
                return _mistyped(names[strange[0]], where, is_item=isinstance(value, list))
            message = f"`{keyword}` must be {words}, not {_shortened(value)}"
            break
    pointer = "".join(f"/{escape(step)}" for step in steps)
    help_ = f"{older.meaning}: {older.instead}" if older else ""
    return Problem(INVALID, message[:200], pointer, help_)


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
    text = constant(value).text
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def _mistyped(name: Json, pointer: str, *, is_item: bool) -> Problem:
    """Return that ``name`` is no type; ``is_item`` tells whether it is in a list."""
    from kbnf_core.text.suggest import Suggestions

    listed = [f"`{each}`" for each in sorted(TYPES)]
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


@cache
def _meta_schemas(is_unnamed: bool) -> "Registry[Json]":
    """Return the meta-schemas as ``_taken`` returns them; ``is_unnamed``: with OLDER forms."""
    from referencing import Registry
    from referencing.jsonschema import specification_with

    known: Registry[Json] = import_module("jsonschema_specifications").REGISTRY
    contents = {uri: known.contents(uri) for uri in known}
    return Registry[Json]().with_resources(
        (uri, specification_with(schema["$schema"]).create_resource(_taken(schema, is_unnamed)))
        for uri, schema in contents.items()
    )


def _taken(schema: Any, is_unnamed: bool = False) -> Any:
    """Return a meta-schema without ``$schema``, for which jsonschema takes its own rules.

    Values of ``enum`` may repeat: it says nothing, and later drafts allow it.
    """
    found = {name: value for name, value in schema.items() if name != "$schema"}
    keywords = found.get("properties", {})
    if "enum" in keywords:
        enum = {name: value for name, value in keywords["enum"].items() if name != "uniqueItems"}
        keywords = keywords | {"enum": enum}
    if is_unnamed and "prefixItems" in keywords:
        schemas, each = keywords["prefixItems"], keywords["items"]
        either = {"if": {"type": "array"}, "then": schemas, "else": each}
        keywords = keywords | {"items": either, "additionalItems": each}
    if is_unnamed and "exclusiveMinimum" in keywords:
        flags = dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), _NUMBER_OR_FLAG)
        keywords = keywords | flags
    return found | {"properties": keywords} if keywords else found


_NUMBER_OR_FLAG = {"type": ["number", "boolean"]}


def _repeated_items(
    validator: object, is_wanted: bool, items: Json, schema: Json
) -> "Iterator[ValidationError]":
    """Yield what is wrong with a list in which items are equal: ``uniqueItems`` in linear time."""
    from jsonschema.exceptions import ValidationError

    del validator, schema
    if is_wanted and isinstance(items, list) and len(set(map(key_of, items))) < len(items):
        yield ValidationError(f"{items!r} has non-unique elements")


_DRAFTS = {
    "https://json-schema.org/draft/2020-12/schema": "draft2020-12",
    "https://json-schema.org/draft/2019-09/schema": "draft2019-09",
    "http://json-schema.org/draft-07/schema": "draft-07",
    "http://json-schema.org/draft-06/schema": "draft-06",
    "http://json-schema.org/draft-04/schema": "draft-04",
    "http://json-schema.org/draft-03/schema": "draft-03",
}
"""The names of the drafts by the addresses of their meta-schemas, as ``referencing`` has them: few
schemas need more of it, and importing it takes longer than reading them."""


def dialect_of(value: Json) -> str:
    """Return the name of the draft that a schema names, the newest without a known one."""
    named = value.get("$schema") if isinstance(value, dict) else None
    return _DRAFTS.get(named.rstrip("#") if isinstance(named, str) else "", "draft2020-12")


def is_old(dialect: str) -> bool:
    """Return whether nothing beside a reference counts in a draft."""
    return dialect in _REFERENCES_STAND_ALONE


def _closing_that_tells(value: dict[str, Json], wanted: Closing) -> Closing:
    """Return which objects of a schema to close, as far as there are any to close."""
    if not value.keys() & (IN_PLACE | BELOW):
        return Closing.NONE
    says = value.keys() & {"additionalProperties", "unevaluatedProperties"}
    closes = not says and value.keys() & (IN_PLACE | {"properties"})
    return wanted if closes else Closing.WITHIN


def _has_id(value: dict[str, Json]) -> bool:
    return isinstance(value.get("$id", value.get("id")), str)


def refuse_deep(root: Json, most: int) -> None:
    """Raise ProblemError where values are nested more than ``most`` deep."""
    level = [root]
    for _ in range(most + 1):
        below: list[Json] = []
        for value in level:
            if isinstance(value, dict):
                below += value.values()
            elif isinstance(value, list):
                below += value
        if not below:
            return
        level = below
    _pointers(root, most)


def _pointers(root: Json, most: int) -> dict[int, str]:
    """Return the pointer of every object, by identity; refuse what is nested too deeply."""
    found: dict[int, str] = {}
    level = [(root, "")]
    depth = 0
    while level:
        found.update((id(value), pointer) for value, pointer in level if isinstance(value, dict))
        items = [(at, name, item) for value, at in level for name, item in _children(value)]
        if items and depth == most:
            pointer = f"{items[0][0]}/{escape(items[0][1])}"
            raise too_large("values nested in one another", most, "depth", pointer)
        level = [
            (item, f"{pointer}/{escape(name)}")
            for pointer, name, item in items
            if isinstance(item, dict | list)
        ]
        depth += 1
    return found


def _children(value: Json) -> list[tuple[str, Json]]:
    if isinstance(value, dict):
        return list(value.items())
    return [(str(i), item) for i, item in enumerate(value)] if isinstance(value, list) else []
