"""The schema document: its JSON, the pointer of every schema, and reference resolution.

References are resolved against the identifiers of the schemas around them (``Base``; RFC 3986, 5).
Nothing is ever fetched: what is not in the document must be one of the meta-schemas, which come
with ``jsonschema``. To import that, or ``referencing``, takes as long as twenty schemas, so only a
schema that refers to a meta-schema, or is not provably sound, needs them.
"""

import json
from collections.abc import Iterator, Set
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import unquote, urljoin, urlsplit

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
    subschemas,
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
from kbnf_core.text.json_text import (
    Json,
    NoJsonError,
    as_number,
    escape,
    parse_json,
    steps_of,
)
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from jsonschema.exceptions import ValidationError
    from referencing import Registry


def read_json(text: str) -> Json:
    """Return the value of a JSON text; raises ProblemError where it is none."""
    try:
        return parse_json(text)
    except NoJsonError as error:
        place = Source(text).position(error.span.start)
        where = f"line {place.line}, column {place.column}"
        found = invalid(f"the schema is not JSON: {error.reason} at {where}", "")
        raise ProblemError(found.problem._replace(span=error.span)) from None


_HOST = "://json-schema.org/"
"""What the addresses of all meta-schemas have."""

_OLDEST = frozenset({"draft-03", "draft-04"})
"""Drafts in which an identifier is called ``id``."""

_REFERENCES_STAND_ALONE = frozenset({"draft-03", "draft-04", "draft-06", "draft-07"})


class Base(NamedTuple):
    """A schema with an identifier, and its address."""

    uri: str
    schema: Json


class Place(NamedTuple):
    """A schema object, where it is, and what its references are relative to.

    Without a ``base`` that is the document as a whole.
    """

    contents: dict[str, Json]
    pointer: str
    base: "Base | None"
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


VALUES = 2
"""Values in one another that a schema in a schema is: it has a name in ``properties``."""


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
        self._closing = Closing.WHOLE if closed else Closing.NONE
        self._value = value
        self._refs: dict[tuple[str, Scope, Closing], Ref] = {}
        self._places: dict[Ref, Place] = {}
        self._marks = Marks()
        self._marked: dict[str, Json] = {}
        if _has_marks(value, VALUES * limits.depth):
            self._marks.read(value)
        self.dialect = dialect_of(value)
        self.by_draft = standard is Standard.JSON_SCHEMA
        self._is_old = self.by_draft and is_old(self.dialect)
        self._beside: dict[str, None] = {}
        # Of schemas with identifiers: by address; by address and anchor; what is relative to which.
        self._addresses: dict[str, Base] = {}
        self._anchors: dict[tuple[str, str], Json] = {}
        self._bases: dict[int, Base] = {}

    def root(self) -> Expression:
        """Return the whole document as an expression."""
        scope = self._entered((), self._value)
        return self._expression(self._value, "", None, scope, self._closing)

    @cached_property
    def _pointers(self) -> dict[int, str]:
        """The pointer of every object, by identity; those of meta-schemas are added."""
        return _pointers(self._value)

    @cached_property
    def _base(self) -> Base:
        """The document as a whole; what it contains is known by its address from then on."""
        whole = Base("", self._value)
        self._read_identifiers(self._value, whole, self.dialect)
        base = self._bases.get(id(self._value), whole)
        self._addresses.setdefault(base.uri, base)
        return base

    def _read_identifiers(self, schema: Json, around: Base, dialect: str) -> None:
        """Note the addresses and anchors in a schema, and what its references are relative to."""
        key = "id" if dialect in _OLDEST else "$id"
        pending = [(schema, around)]
        for value, outer in pending:
            if not isinstance(value, dict):
                continue
            base, named = outer, value.get(key)
            # In old drafts nothing beside a reference counts.
            if isinstance(named, str) and not (is_old(dialect) and "$ref" in value):
                if named.startswith("#"):
                    self._anchors.setdefault((outer.uri, named[1:]), value)
                else:
                    base = Base(self._joined(outer, named, value, key), value)
                    self._addresses.setdefault(base.uri, base)
            for anchor in (value.get("$anchor"), value.get("$dynamicAnchor")):
                if isinstance(anchor, str):
                    self._anchors.setdefault((base.uri, anchor), value)
            self._bases[id(value)] = base
            pending += [(inner, base) for _, inner in subschemas(value)]

    def _joined(self, around: Base, reference: str, schema: dict[str, Json], keyword: str) -> str:
        """Return the address that a reference in a schema means. Raises ProblemError."""
        try:
            return urlsplit(urljoin(around.uri, reference.partition("#")[0])).geturl()
        except ValueError:
            pointer = f"{self._pointers.get(id(schema), '')}/{keyword}"
            raise invalid(f"`{keyword}` is a URI reference", pointer) from None

    def _base_of(self, schema: dict[str, Json], around: Base | None) -> Base:
        """Return what references in a schema are relative to, which is inside of ``around``."""
        outer = around or self._base
        if id(schema) not in self._bases:
            self._read_identifiers(schema, outer, self.dialect)
        return self._bases[id(schema)]

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
        return self._expression(value, pointer, place.base, place.scope, closing)

    def as_written(self, expression: Expression) -> Expression:
        """Return what a schema allows where no objects are closed but by itself."""
        if not isinstance(expression, Ref) or expression.closing is Closing.NONE:
            return expression
        place = self.place(expression)
        # Of old drafts the keywords that count, which are those of the place.
        return self._named(place.contents, place.pointer, place.base, place.scope, Closing.NONE)

    def _expression(
        self,
        value: Json,
        pointer: str,
        base: Base | None,
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
            base = self._base_of(value, base)
            scope = self._entered(scope, value)
        return self._named(value, pointer, base, scope, closing)

    def _named(
        self,
        value: dict[str, Json],
        pointer: str,
        base: Base | None,
        scope: Scope,
        closing: Closing,
    ) -> Ref:
        if closing is not Closing.NONE:
            closing = _closing_that_tells(value, closing)
        at = self._refs.get((pointer, scope, closing))
        if at is None:
            at = self._refs[pointer, scope, closing] = Ref(pointer, scope, closing)
            contents = self._counting(value, pointer)
            self._places[at] = Place(contents, pointer, base, scope, closing)
        return at

    def _entered(self, scope: Scope, schema: Json) -> Scope:
        """Return the scope in the resource of a schema; marks that were met before count."""
        marks = self._marks.of(schema)
        met = dict(scope)
        for name, marked in marks.items():
            if name not in met:
                met[name] = self._pointers[id(marked)]
                self._marked.setdefault(met[name], marked)
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
        for name in steps_of(reference):
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
        if self.dialect in _OLDEST:
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
        found = self.at(reference) if place.base is None else None
        closing = place.closing_of(keyword)
        if found is not None:
            pointer, value = found
            scope = self._entered(place.scope, value)
            return self._expression(value, pointer, None, scope, closing)
        uri, _, anchor = reference.partition("#")
        if anchor and not anchor.startswith("/"):
            resource = self._resource(place, keyword, uri)
            marked = self._marks.of(resource).get(anchor)
            if marked is not None:
                return self._there(marked, place.scope, closing)
        return self._there(self._found(place, keyword, reference), place.scope, closing)

    def follow_dynamic(self, place: Place, keyword: str) -> Expression:
        """Resolve ``$dynamicRef`` or ``$recursiveRef``: the first schema met with its mark."""
        uri, _, anchor = self._reference(place, keyword).partition("#")
        name = anchor if keyword == "$dynamicRef" else RECURSIVE
        resource = self._resource(place, keyword, uri)
        met = dict(self._entered(place.scope, resource)).get(name)
        if met is None or name not in self._marks.of(resource):
            return self.follow(place, keyword)
        return self._there(self._marked[met], place.scope, place.closing_of(keyword))

    def _reference(self, place: Place, keyword: str) -> str:
        reference = place.contents[keyword]
        if not isinstance(reference, str):
            raise invalid(f"`{keyword}` is a string", f"{place.pointer}/{escape(keyword)}")
        return reference

    def _resource(self, place: Place, keyword: str, uri: str) -> Json:
        return self._found(place, keyword, uri) if uri else place.contents

    def _found(self, place: Place, keyword: str, reference: str) -> Json:
        """Return the schema that a reference leads to."""
        try:
            found = self._look_up(place.base or self._base, reference)
        except (KeyError, IndexError, TypeError, ValueError):
            raise ProblemError(
                Problem(
                    UNRESOLVED,
                    f"`{reference}` leads nowhere in this document",
                    f"{place.pointer}/{escape(keyword)}",
                    "put what it means under `$defs`: nothing is fetched, and files are read from"
                    " the schema's own folder, where the schema is in a file",
                )
            ) from None
        if not isinstance(found, dict | bool):
            where = f"{place.pointer}/{escape(keyword)}"
            raise invalid("a schema is an object, `true` or `false`", where)
        return found

    def _look_up(self, base: Base, reference: str) -> Json:
        """Return what is at a reference; raises as the access to a missing member does."""
        uri, _, fragment = reference.partition("#")
        there = self._at_address(urljoin(base.uri, uri)) if uri else base
        if not fragment.startswith("/"):
            return self._anchors[there.uri, unquote(fragment)] if fragment else there.schema
        value = there.schema
        for step in steps_of(unquote(fragment)):
            value = value[int(step)] if isinstance(value, list) else value[step]
            if isinstance(value, dict):
                there = self._base_of(value, there)
        return value

    def _at_address(self, uri: str) -> Base:
        """Return the schema with an address. Raises KeyError."""
        _ = self._base
        if uri not in self._addresses and _HOST in uri:
            self._read_meta_schemas()
        return self._addresses[uri]

    def _read_meta_schemas(self) -> None:
        """Name the schemas in the meta-schemas, which are the only other documents."""
        # The module has no types.
        registry: Any = import_module("jsonschema_specifications").REGISTRY
        for uri in registry:
            contents = registry.contents(uri)
            self._marks.read(contents)
            self._read_identifiers(contents, Base(uri.rstrip("#"), contents), dialect_of(contents))
            pointers = _pointers(contents).items()
            self._pointers.update((held, f"{uri}{pointer}") for held, pointer in pointers)

    def _there(self, schema: Json, scope: Scope, closing: Closing) -> Expression:
        pointer = self._pointers.get(id(schema), "")
        base = self._base_of(schema, None) if isinstance(schema, dict) else None
        return self._expression(schema, pointer, base, self._entered(scope, schema), closing)

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
    refuse_deep(schema, VALUES * limits.depth)
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
    _has_marks(root, most)


def _has_marks(root: Json, most: int) -> bool:
    """Return whether any schema is marked for dynamic references; refuse what is nested deeply."""
    has_marks, level = False, [root]
    for _ in range(most + 1):
        below: list[Json] = []
        for value in level:
            if isinstance(value, dict):
                if "$dynamicAnchor" in value or "$recursiveAnchor" in value:
                    has_marks = True
                below += value.values()
            elif isinstance(value, list):
                below += value
        if not below:
            return has_marks
        level = below
    raise too_large("values nested in one another", most, "depth", _deepest(root, most))


def _deepest(root: Json, depth: int) -> str:
    """Return the pointer of a value with so many around it."""
    level = [("", root)]
    for _ in range(depth + 1):
        level = [
            (f"{pointer}/{escape(name)}", item)
            for pointer, value in level
            for name, item in _children(value)
        ]
    return level[0][0]


def _pointers(root: Json) -> dict[int, str]:
    """Return the pointer of every object, by identity."""
    found: dict[int, str] = {}
    pending = [(root, "")]
    for value, pointer in pending:
        if isinstance(value, dict):
            found[id(value)] = pointer
        pending += [
            (item, f"{pointer}/{escape(name)}")
            for name, item in _children(value)
            if isinstance(item, dict | list)
        ]
    return found


def _children(value: Json) -> list[tuple[str, Json]]:
    if isinstance(value, dict):
        return list(value.items())
    return [(str(i), item) for i, item in enumerate(value)] if isinstance(value, list) else []
