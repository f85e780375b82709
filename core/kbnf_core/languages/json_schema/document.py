"""The schema document: its JSON, the pointer of every schema, and reference resolution.

All readers of schemas ask the ``SchemaDocument``: the conversion for the schema at a pointer,
others (the checks of services, notations of tool calls, targets, LLGuidance's ``%json``) for the
target of a reference (``target``), or for a document that begins at one of the schemas
(``subdocument``).

References are resolved against the identifiers of the schemas around them (``Base``; RFC 3986, 5).
Nothing is ever fetched: a schema outside of the document must be one of the meta-schemas, which
come with ``jsonschema``. Importing those takes as long as twenty schemas, so only a schema that
refers to a meta-schema needs them.

*Files* that a schema refers to are put below its ``$defs`` before it is read (``bundled``).
References to them, and those in them, become pointers; so all later steps, other engines too, have
one document, and nothing but this module reads files. Addresses on the web are never fetched; where
the schema's own ``$id`` is one, files in the same folder of the web are looked for beside the
schema. A text without a path has no files beside it, and the import policy limits the folders.

Tests: tests/unit/languages/json_schema/test_document.py.
"""

from collections.abc import Iterable, Iterator, Set
from copy import copy
from importlib import import_module
from posixpath import basename, dirname, join, normpath
from typing import Any, NamedTuple
from urllib.parse import quote, unquote, urldefrag, urljoin, urlsplit

from kbnf_core.ir.names import FreshNames
from kbnf_core.languages.json_schema import Options, Standard
from kbnf_core.languages.json_schema.algebra import (
    ANYTHING,
    NOTHING,
    Closing,
    Expression,
    Ref,
    Scope,
)
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    BELOW,
    COMBINATORS,
    EVALUATORS,
    LOCAL,
    REFERENCES,
    TESTS,
    TYPE_ALONE,
    UNEVALUATED,
    UNRESOLVED,
    Problem,
    ProblemError,
    Review,
    dialect_of,
    invalid,
    review,
    too_large,
    walk,
    without_effect,
)
from kbnf_core.text.files import Imports
from kbnf_core.text.json_text import Json, NoJsonError, escape, parse_json, steps_of
from kbnf_core.text.limits import DEFAULT_LIMITS
from kbnf_core.text.locks import cached_property
from kbnf_core.text.source import Source


def read_json(text: str) -> Json:
    """Return the value of a JSON text; raises ProblemError for an invalid one."""
    try:
        return parse_json(text)
    except NoJsonError as error:
        subschema = Source(text).position(error.span.start)
        where = f"line {subschema.line}, column {subschema.column}"
        problem = invalid(f"the schema is not JSON: {error.reason} at {where}", "")
        raise ProblemError(problem.problem._replace(span=error.span)) from None


_HOST = "://json-schema.org/"
"""What the addresses of all meta-schemas have."""

_OLDEST = frozenset({"draft-03", "draft-04"})
"""Drafts in which an identifier is called ``id``."""

_REFERENCES_STAND_ALONE = frozenset({"draft-03", "draft-04", "draft-06", "draft-07"})


class Base(NamedTuple):
    """A schema with an identifier, and its address."""

    uri: str
    schema: Json


class Target(NamedTuple):
    """A value that a reference leads to, its pointer, and what references in it are relative to."""

    value: Json
    pointer: str
    base: Base | None

    @property
    def is_inside(self) -> bool:
        """Whether it is in the document, and not in a meta-schema."""
        return self.pointer[:1] in ("", "/")


RECURSIVE = ""
"""The mark of ``$recursiveAnchor``, which has no name."""


class DynamicMarks:
    """The marked schemas of documents, by the resources that they are in."""

    def __init__(self) -> None:
        self._of: dict[int, dict[str, Any]] = {}

    def read(self, root: Any) -> None:
        """Find the marks of a document and of the resources embedded in it."""
        pending: list[tuple[Any, dict[str, Any]]] = [(root, {})]
        for value, around in pending:
            marks = around
            if isinstance(value, dict):
                if isinstance(value.get("$id"), str):
                    marks = {}
                if value.get("$recursiveAnchor") is True:
                    marks[RECURSIVE] = value
                if isinstance(name := value.get("$dynamicAnchor"), str):
                    marks[name] = value
                self._of[id(value)] = marks
            pending.extend((item, marks) for item in _items(value))

    def of(self, schema: Any) -> dict[str, Any]:
        """Return the marked schemas of the resource that a schema is in, by their marks."""
        return self._of.get(id(schema), {})


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


class Subschema(NamedTuple):
    """A schema object of a document (the root, too), its pointer, and the base of its references.

    Without a ``base`` they are relative to the document as a whole.
    """

    contents: dict[str, Json]
    pointer: str
    base: "Base | None"
    scope: Scope = ()
    closing: Closing = Closing.OWN

    @property
    def evaluators(self) -> Set[str]:
        """The keywords that evaluate members."""
        return self.contents.keys() & EVALUATORS

    @property
    def is_closed_within(self) -> bool:
        """Whether its properties, or schemas that apply to the same object, can close objects.

        They can where nothing else evaluates members. Of ``anyOf``, an object then has the
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
        if self.closing is Closing.OWN or keyword in TESTS:
            return Closing.OWN
        if keyword in BELOW:
            return Closing.WHOLE
        is_whole = self.closing is Closing.WHOLE and self.is_closed_within
        return Closing.WHOLE if is_whole else Closing.WITHIN

    @property
    def type_alone(self) -> str | None:
        """The one type that is all that the schema asks for, if that is so."""
        name = self.contents.get("type")
        return name if isinstance(name, str) and TYPE_ALONE.issuperset(self.contents) else None


class SchemaDocument:
    """A document and the schemas in it, by the pointers that expressions name."""

    def __init__(self, value: Json, options: Options, facts: Review | None = None) -> None:
        """Make the document of a value; ``facts`` are those of its review, if that was made."""
        self.value = value
        self.facts = facts or review(value, options.limits.depth)
        self._closing = Closing.WHOLE if options.closed else Closing.OWN
        self._start = Target(value, "", None)
        self._refs: dict[tuple[str, Scope, Closing], Ref] = {}
        self._subschemas: dict[Ref, Subschema] = {}
        self._marks = DynamicMarks()
        self._marked: dict[str, Json] = {}
        if self.facts.has_marks:
            self._marks.read(value)
        self.dialect = dialect_of(value)
        self.by_draft = options.standard is Standard.JSON_SCHEMA
        self._is_old = self.by_draft and is_old(self.dialect)
        self._beside: dict[str, None] = {}
        # Of schemas with identifiers: by address; by address and anchor; the base of each.
        self._addresses: dict[str, Base] = {}
        self._anchors: dict[tuple[str, str], Json] = {}
        self._bases: dict[int, Base] = {}

    def root(self) -> Expression:
        """Return the document as an expression; of a subdocument, the schema at its root."""
        start, scope = self._start, self._entered((), self.value)
        return self._expression(start.value, start.pointer, start.base, scope, self._closing)

    @property
    def is_whole(self) -> bool:
        """Whether the root is that of the whole document, not of a subdocument."""
        return self._start.value is self.value

    @property
    def pointer(self) -> str:
        """The pointer of its root in the whole document."""
        return self._start.pointer

    def subdocument(self, schema: Json, pointer: str) -> "SchemaDocument":
        """Return the document of one of the schemas, whose references lead to the same schemas.

        ``schema`` may have other contents than the document has at ``pointer``, if no reference
        leads there.
        """
        start = Target(schema, pointer, self._base_at(pointer))
        document = copy(self)
        document._start = start
        document._refs, document._subschemas, document._beside = {}, {}, {}
        return document

    @cached_property
    def _pointers(self) -> dict[int, str]:
        """The pointer of every object, by identity; those of meta-schemas are added."""
        return _pointers(self.value)

    @cached_property
    def _base(self) -> Base:
        """The document as a whole; what it contains is known by its address from then on."""
        whole = Base("", self.value)
        self._read_identifiers(self.value, whole, self.dialect)
        base = self._bases.get(id(self.value), whole)
        self._addresses.setdefault(base.uri, base)
        return base

    def _read_identifiers(self, schema: Json, around: Base, dialect: str) -> None:
        """Note the addresses and anchors in a schema, and what its references are relative to."""
        key = "id" if dialect in _OLDEST else "$id"
        for visited in walk(schema):
            value = visited.contents
            outer = self._bases[id(visited.around.contents)] if visited.around else around
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

    def _joined(self, around: Base, reference: str, schema: dict[str, Json], keyword: str) -> str:
        """Return the address that a reference in a schema means. Raises ProblemError."""
        try:
            # Without an address around it ``urljoin`` returns anything as it is; splitting raises.
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

    def subschema(self, at: Ref) -> Subschema:
        """Return the schema that an expression names."""
        return self._subschemas[at]

    def instead(self, subschema: Subschema) -> Ref:
        """Return a schema with the contents of ``subschema``, which need not be in the document."""
        at = Ref(subschema.pointer, subschema.scope, subschema.closing)
        self._subschemas[at] = subschema
        return at

    def inside(self, subschema: Subschema, *steps: str) -> Expression:
        """Return what the schema below ``subschema`` allows: by keyword, and by index or name."""
        value, pointer = subschema.contents, subschema.pointer
        for step in steps:
            value = value[int(step)] if isinstance(value, list) else value[step]
            pointer = f"{pointer}/{escape(step)}"
        closing = subschema.closing
        if closing is not Closing.OWN:
            closing = subschema.closing_of(steps[0])
        return self._expression(value, pointer, subschema.base, subschema.scope, closing)

    def as_written(self, expression: Expression) -> Expression:
        """Return the expression of a schema in which only its own keywords close objects."""
        if not isinstance(expression, Ref) or expression.closing is Closing.OWN:
            return expression
        subschema = self.subschema(expression)
        # ``contents`` has only the keywords that count, of old drafts too.
        return self._named(
            subschema.contents, subschema.pointer, subschema.base, subschema.scope, Closing.OWN
        )

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
        if value is not self.value and _has_id(value):
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
        if closing is not Closing.OWN:
            closing = _effective_closing(value, closing)
        at = self._refs.get((pointer, scope, closing))
        if at is None:
            at = self._refs[pointer, scope, closing] = Ref(pointer, scope, closing)
            contents = self._counting(value, pointer)
            self._subschemas[at] = Subschema(contents, pointer, base, scope, closing)
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
        """Return the keywords that count: in old drafts a reference has no siblings."""
        if not self._is_old or not isinstance(value.get("$ref"), str):
            return value
        beside = [keyword for keyword in value if keyword in LOCAL | APPLICATORS - {"$ref"}]
        target = self.target(value["$ref"]) if beside else None
        # Of what the target says itself nothing is lost.
        target_value = target.value if target and isinstance(target.value, dict) else {}
        lost = (keyword for keyword in beside if target_value.get(keyword) != value[keyword])
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

    def target(self, reference: Json, base: Base | None = None) -> Target | None:
        """Return what a reference leads to, None where that is nothing.

        It is relative to ``base``, without it to the document as a whole. Nothing is fetched. All
        that follow references call this.
        """
        if not isinstance(reference, str):
            return None
        uri, _, fragment = reference.partition("#")
        try:
            start = self._start_of(uri, base)
            if fragment and not fragment.startswith("/"):
                named = self._anchors[(start.base or self._base).uri, unquote(fragment)]
                return Target(named, self._pointers.get(id(named), ""), self._base_of(named, None))
            return self._below(start, unquote(fragment) if "%" in fragment else fragment)
        except (LookupError, TypeError, ValueError):
            return None

    def target_in(self, schema: dict[str, Json], keyword: str = "$ref") -> Target | None:
        """Return what the reference in a schema leads to, None where that is nothing.

        A schema that is not in the document has the references of the document as a whole.
        """
        return self.target(schema.get(keyword), self._base_in_document(schema))

    def _base_in_document(self, schema: Json) -> Base | None:
        """Return what references in a schema are relative to, None for the document as a whole."""
        if not self._has_identifiers:
            return None
        return self._bases.get(id(schema), self._base)

    @cached_property
    def _has_identifiers(self) -> bool:
        """Whether some schema inside has an address of its own."""
        whole = self._base
        return any(base is not whole for base in self._bases.values())

    def _base_at(self, pointer: str) -> Base | None:
        """Return what references at a pointer are relative to, as far as it leads anywhere."""
        value, base = self.value, None
        for step in steps_of(pointer):
            try:
                value = value[int(step)] if isinstance(value, list) else value[step]
            except (LookupError, TypeError, ValueError):
                break
            if isinstance(value, dict) and _has_id(value):
                base = self._base_of(value, base)
        return base

    def _start_of(self, uri: str, base: Base | None) -> Target:
        """Return the schema with an address. Raises KeyError or ValueError."""
        if uri:
            base = self._at_address(urljoin((base or self._base).uri, uri))
        if base is None:
            return Target(self.value, "", None)
        return Target(base.schema, self._pointers.get(id(base.schema), ""), base)

    def _below(self, start: Target, fragment: str) -> Target:
        """Return the value at a pointer below a schema; raises the errors of looking it up."""
        value, pointer, base = start
        for step in steps_of(fragment):
            value = value[int(step)] if isinstance(value, list) else value[step]
            pointer = f"{pointer}/{escape(step)}"
            if isinstance(value, dict) and (base is not None or _has_id(value)):
                base = self._base_of(value, base)
        return Target(value, pointer, base)

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
        pending = [self.value]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                # Another document is a meta-schema, and these have integers.
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

    def follow(self, subschema: Subschema, keyword: str) -> Expression:
        """Resolve the reference in ``keyword`` of a schema."""
        reference = self._reference(subschema, keyword)
        uri, _, anchor = reference.partition("#")
        target = None
        if anchor and not anchor.startswith("/"):
            resource = self._resource(subschema, keyword, uri)
            marked = self._marks.of(resource).get(anchor)
            target = None if marked is None else self._target_of(marked)
        target = target or self._resolved(subschema, keyword, reference)
        return self._there(target, subschema.scope, subschema.closing_of(keyword))

    def follow_dynamic(self, subschema: Subschema, keyword: str) -> Expression:
        """Resolve ``$dynamicRef`` or ``$recursiveRef``: the first schema met with its mark."""
        uri, _, anchor = self._reference(subschema, keyword).partition("#")
        name = anchor if keyword == "$dynamicRef" else RECURSIVE
        resource = self._resource(subschema, keyword, uri)
        met = dict(self._entered(subschema.scope, resource)).get(name)
        # Only a reference whose own resource has the mark is dynamic (2020-12, 8.2.3.2).
        if met is None or name not in self._marks.of(resource):
            return self.follow(subschema, keyword)
        marked = self._target_of(self._marked[met])
        return self._there(marked, subschema.scope, subschema.closing_of(keyword))

    def _reference(self, subschema: Subschema, keyword: str) -> str:
        reference = subschema.contents[keyword]
        if not isinstance(reference, str):
            raise invalid(f"`{keyword}` is a string", f"{subschema.pointer}/{escape(keyword)}")
        return reference

    def _resource(self, subschema: Subschema, keyword: str, uri: str) -> Json:
        return self._resolved(subschema, keyword, uri).value if uri else subschema.contents

    def _resolved(self, subschema: Subschema, keyword: str, reference: str) -> Target:
        """Return the schema that a reference leads to. Raises ProblemError."""
        target = self.target(reference, subschema.base)
        if target is None:
            raise ProblemError(
                Problem(
                    UNRESOLVED,
                    f"`{reference}` leads nowhere in this document",
                    f"{subschema.pointer}/{escape(keyword)}",
                    "put what it means under `$defs`: nothing is fetched, and files are read from"
                    " the schema's own folder, where the schema is in a file",
                )
            )
        if not isinstance(target.value, dict | bool):
            where = f"{subschema.pointer}/{escape(keyword)}"
            raise invalid("a schema is an object, `true` or `false`", where)
        return target

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
            self._pointers.update((schema, f"{uri}{pointer}") for schema, pointer in pointers)

    def _target_of(self, schema: dict[str, Json]) -> Target:
        """Return a schema of the document, or of the meta-schemas, with its pointer."""
        return Target(schema, self._pointers.get(id(schema), ""), self._base_of(schema, None))

    def _there(self, target: Target, scope: Scope, closing: Closing) -> Expression:
        scope = self._entered(scope, target.value)
        return self._expression(target.value, target.pointer, target.base, scope, closing)

    def refused(self, contents: dict[str, Json]) -> str | None:
        """Return a keyword of draft 3 that is not read, and would be ignored."""
        if not self.by_draft or self.dialect != "draft-03":
            return None
        keywords = [keyword for keyword in _ONLY_IN_DRAFT_3 if keyword in contents]
        return next(iter(keywords), "required" if contents.get("required") is True else None)


_ONLY_IN_DRAFT_3 = ("disallow", "divisibleBy", "extends")


def is_old(dialect: str) -> bool:
    """Return whether a draft ignores the keywords beside a reference."""
    return dialect in _REFERENCES_STAND_ALONE


def _effective_closing(value: dict[str, Json], wanted: Closing) -> Closing:
    """Return which objects of a schema to close, as far as there are any to close."""
    if not value.keys() & (COMBINATORS | BELOW):
        return Closing.OWN
    says = value.keys() & {"additionalProperties", "unevaluatedProperties"}
    closes = not says and value.keys() & (COMBINATORS | {"properties"})
    return wanted if closes else Closing.WITHIN


def _has_id(value: dict[str, Json]) -> bool:
    return isinstance(value.get("$id", value.get("id")), str)


def _pointers(root: Json) -> dict[int, str]:
    """Return the pointer of every object, by identity."""
    # By identity: equal schemas are at many pointers.
    pointers: dict[int, str] = {}
    pending = [(root, "")]
    for value, pointer in pending:
        if isinstance(value, dict):
            pointers[id(value)] = pointer
        pending += [
            (item, f"{pointer}/{escape(name)}")
            for name, item in _children(value)
            if isinstance(item, dict | list)
        ]
    return pointers


def _children(value: Json) -> list[tuple[str, Json]]:
    if isinstance(value, dict):
        return list(value.items())
    return [(str(i), item) for i, item in enumerate(value)] if isinstance(value, list) else []


# Files beside a schema


class Bundle(NamedTuple):
    """A schema with the files that it refers to; ``moved`` pairs their pointers with references."""

    value: Json
    moved: tuple[tuple[str, str], ...] = ()


class _Room:
    """The characters that files referred to may have that are not yet used.

    ``unreadable``: paths that nothing could be read from, which are not tried again.
    """

    def __init__(self) -> None:
        self.left = DEFAULT_LIMITS.source_bytes
        self.unreadable: set[str] = set()


def bundle_all(schemas: Iterable[tuple[Json, str]], path: str | None, imports: Imports) -> bool:
    """Change schemas of one text, each with its pointer, as ``bundled``; return whether any was.

    Their files together are bounded as those of one schema. Raises ProblemError.
    """
    room, is_changed = _Room(), False
    for schema, pointer in schemas:
        try:
            is_changed |= bool(bundled(schema, path, imports, room).moved)
        except ProblemError as error:
            problems = (
                problem._replace(pointer=pointer + problem.pointer) for problem in error.problems
            )
            raise ProblemError(*problems) from None
    return is_changed


def bundled(value: Json, path: str | None, imports: Imports, room: _Room | None = None) -> Bundle:
    """Return the schema in the file ``path`` with all files that its references lead to.

    ``value`` is changed where it has such references. An unreadable file stays a reference that
    leads nowhere. Raises ProblemError for a file that is not JSON, and where files are larger
    together than a text may be.
    """
    # A walk in C: most schemas refer to nothing, and a false alarm costs the walk that finds that
    # out.
    if path is None or not isinstance(value, dict) or "'$ref'" not in repr(value):
        return Bundle(value)
    bundler = _Bundler(value, path, imports, room or _Room())
    files = bundler.gather()
    if not files:
        return Bundle(value)
    definitions = value.get(bundler.keyword)
    value[bundler.keyword] = {**(definitions if isinstance(definitions, dict) else {}), **files}
    return Bundle(value, tuple(bundler.moved))


class _File(NamedTuple):
    """A file: its contents, its address, and where it is in the bundle."""

    value: dict[str, Json]
    address: str
    pointer: str
    anchors: dict[str, str]


class _Reference(NamedTuple):
    """A schema with a ``$ref`` to another resource, and its pointer in the bundle.

    ``is_nested``: it is in a schema with an identifier of its own.
    """

    holder: dict[str, Json]
    address: str
    fragment: str
    pointer: str
    is_nested: bool


class _Bundler:
    """The files that are read so far, by their paths."""

    def __init__(self, value: dict[str, Json], path: str, imports: Imports, room: _Room) -> None:
        self.keyword = "definitions" if is_old(dialect_of(value)) else "$defs"
        self.moved: list[tuple[str, str]] = []
        self._path = path
        self._imports = imports
        self._own = _address_of(value, "")
        self._names = FreshNames(value.get(self.keyword) or ())
        self._room = room
        self._files = {normpath(path): _File(value, self._own, "", {})}

    def gather(self) -> dict[str, Json]:
        """Read all files; return their contents by names that the schema does not have."""
        first = next(iter(self._files.values()))
        waiting = [(outgoing, outgoing.pointer) for outgoing in self._references(first)]
        while waiting:
            reference, shown = waiting.pop()
            path = self._path_of(reference.address)
            file = None if path is None else self._files.get(path)
            if path is not None and file is None:
                file = self._read(path, reference.address, shown)
                # The contents of a file are shown at the reference in the schema that led there.
                waiting += (
                    [(outgoing, shown) for outgoing in self._references(file)] if file else []
                )
            if file is not None:
                fragment, target = reference.fragment, quote(file.pointer, safe="/~$")
                if fragment and not fragment.startswith("/"):
                    fragment = file.anchors.get(fragment, f"/{fragment}")
                around = self._own if reference.is_nested else ""
                reference.holder["$ref"] = f"{around}#{target}{fragment}"
        own = list(self._files.values())[1:]
        return {outgoing.pointer.rpartition("/")[2]: outgoing.value for outgoing in own}

    def _references(self, file: _File) -> Iterator[_Reference]:
        """Yield the references of a file to other resources; in files below, to itself too."""
        references: list[_Reference] = []
        addresses: set[str] = set()
        pending: list[tuple[Json, str, str]] = [(file.value, file.address, file.pointer)]
        while pending:
            value, around, pointer = pending.pop()
            if isinstance(value, dict):
                base = _address_of(value, around) if value is not file.value else around
                addresses |= {base} - {file.address}
                if isinstance(anchor := value.get("$anchor"), str):
                    file.anchors[anchor] = pointer.removeprefix(file.pointer)
                reference = value.get("$ref")
                if isinstance(reference, str):
                    address, fragment = _join(base, reference) or ("", "")
                    address = base if reference.startswith("#") else address
                    fragment = reference[1:] if reference.startswith("#") else fragment
                    nested = base != file.address
                    references.append(
                        _Reference(value, address, fragment, f"{pointer}/$ref", nested)
                    )
                below = ((name, outgoing) for name, outgoing in value.items() if name not in _DATA)
                pending += [
                    (outgoing, base, f"{pointer}/{escape(name)}") for name, outgoing in below
                ]
            elif isinstance(value, list):
                pending += [
                    (outgoing, around, f"{pointer}/{n}") for n, outgoing in enumerate(value)
                ]
        for outgoing in references:
            is_own = outgoing.address == file.address and not file.pointer
            if not is_own and outgoing.address not in addresses:
                yield outgoing

    def _path_of(self, address: str) -> str | None:
        """Return the path of the file that an address means."""
        folder, slash, _ = self._own.rpartition("/")
        near = address.removeprefix(folder + slash)
        if not near or ":" in near or near.startswith("/"):
            return None
        return normpath(join(dirname(self._path), unquote(near)))

    def _read(self, path: str, address: str, shown: str) -> _File | None:
        if path in self._room.unreadable:
            return None
        text = self._imports.load(path) if self._imports.permit(path, self._path) else None
        if text is None:
            self._room.unreadable.add(path)
            return None
        self._room.left -= len(text)
        if self._room.left < 0:
            most = DEFAULT_LIMITS.source_bytes
            raise too_large("characters in files referred to", most, "source_bytes", shown)
        try:
            value = read_json(text)
        except ProblemError as error:
            message = f"`{address}`: {error.problem.message}"
            raise ProblemError(Problem(error.problem.code, message, shown)) from None
        own = dict(value) if isinstance(value, dict) else {"allOf": [value]}
        # References become pointers of the whole document; an identifier would make them relative
        # to the file again.
        for keyword in ("$id", "id", "$schema"):
            if isinstance(own.get(keyword), str):
                del own[keyword]
        pointer = f"/{self.keyword}/{self._new_name(path)}"
        self.moved.append((pointer, shown))
        file = self._files[path] = _File(own, address, pointer, {})
        return file

    def _new_name(self, path: str) -> str:
        return self._names.fresh(basename(path).partition(".")[0] or "file")


def _address_of(value: dict[str, Json], around: str) -> str:
    """Return the base address of the references in a schema."""
    named = value.get("$id", value.get("id"))
    joined = _join(around, named) if isinstance(named, str) else None
    return joined[0] if joined else around


def _join(around: str, reference: str) -> tuple[str, str] | None:
    """Return the address and fragment of a reference, None where it is not a reference."""
    try:
        return urldefrag(urljoin(around, reference))
    except ValueError:
        return None


_DATA = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are not schemas."""


def last_step(pointer: str) -> str:
    """Return the name that a JSON Pointer ends with, of a definition or property."""
    return steps_of(pointer)[-1]


def is_definition(pointer: str) -> bool:
    """Return whether a pointer names a definition."""
    return pointer.rpartition("/")[0].endswith(("/$defs", "/definitions"))
