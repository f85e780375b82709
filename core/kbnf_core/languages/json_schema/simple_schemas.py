"""Schemas that only name types, members, items and texts, straight to rules.

Most tools, and many other schemas, say nothing but this. What they allow can be written down as it
is read: there is nothing to intersect, to complement or to find empty, so there is no normal form.
A schema with any other keyword is None here, and ``writer`` writes it; of its
parts those that are simple are written here again.

An object is a rule, named after a digest of all that it says but for annotations, of the options
and of the dialect. So equal objects are one rule, in a schema and from one schema to the next, and
their meanings are shared.

*Known parts.* The alternatives of ``anyOf`` are often tools, and the next request has most of them
again, among others and in another order. ``PARTS`` is the one dictionary of what converting a
sub-schema gave, of the process, by content; 1,000 tools fit in it. With it one tool more than 500
costs a quarter of what the 500 cost to convert.
"""

import json
from collections.abc import Callable, Iterable, Set
from decimal import Decimal
from hashlib import blake2b
from typing import NamedTuple

from kbnf_core import ir
from kbnf_core.automata import operations
from kbnf_core.ir import Part, Regular
from kbnf_core.ir.build import EMPTY, optional, sequence, text
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import Closing
from kbnf_core.languages.json_schema.keywords import (
    APPLICATORS,
    ARRAYS,
    CONTENTS,
    LOCAL,
    NUMBERS,
    OBJECTS,
    REFUSED_BY_LLGUIDANCE,
    STRINGS,
    UNEVALUATED,
)
from kbnf_core.languages.json_schema.names import all_but
from kbnf_core.languages.json_schema.options import Options, Standard
from kbnf_core.languages.json_schema.prelude import (
    NAMES,
    Member,
    Prelude,
    around,
    enclosed,
    listed,
    some,
)
from kbnf_core.languages.json_schema.value_sets import STEPS
from kbnf_core.languages.json_schema.write_scalars import MANY_TEXTS
from kbnf_core.text.budget import Budget
from kbnf_core.text.json_text import Json
from kbnf_core.text.remembered import Remembered
from kbnf_core.text.source import NOWHERE

LARGEST = 100_000
"""Characters of a schema that is remembered."""

ALL, MOST = 24 * 2**20, 2**20
"""Bytes of all that is remembered, by an estimate, and of one part."""

RULE = 1_000
"""Bytes of a rule beside its automaton, a mean."""


def _size_of(key: str, part: Part) -> int:
    automata = sum(body.dfa.size for body in part.bodies.values() if type(body) is Regular)
    return len(key) + RULE * len(part.bodies) + automata


PARTS = Remembered[str, Part](ALL, _size_of, MOST)


DEPTH = 32
"""Schemas in one another, beyond which they are not looked at."""

MOST_MEMBERS = 64
"""Members of an object that is one rule."""

_SAYING = LOCAL | APPLICATORS | CONTENTS | REFUSED_BY_LLGUIDANCE | {*UNEVALUATED, "$id", "id"}
"""The keywords that say something here; the others are annotations, or unknown."""

_OBJECT = "object_"
_LISTING = frozenset({"enum", "const"})
_OF_OBJECTS = frozenset({"properties", "required", "additionalProperties"})
_OF_ARRAYS = frozenset({"items", "minItems", "maxItems"})
_OF_VALUES = LOCAL - REFUSED_BY_LLGUIDANCE
_RESTRICTING = {
    "string": STRINGS, "number": NUMBERS, "integer": NUMBERS, "boolean": frozenset[str](),
    "null": frozenset[str](), "object": OBJECTS, "array": ARRAYS,
}  # fmt: skip
"""The keywords that say something of the values of a type; of others they say nothing."""

_TYPES = {
    "string": "s", "number": "n", "integer": "i", "boolean": "b", "null": "0", "object": "o",
    "array": "a",
}  # fmt: skip
# A list, for what a schema says may not be hashable.
_NAMES_OF_TYPES = list(_TYPES)
_ALL_TYPES = [name for name in _TYPES if name != "integer"]


class Value(NamedTuple):
    """What a schema allows: spelled, so that equal ones are equal, and as a part of a rule.

    ``shared`` are the rules of the prelude that the part calls, ``parts`` those of the objects in
    it. ``types`` are those of the values, whole numbers among the numbers.
    """

    said: str
    node: ir.Node
    types: frozenset[str]
    shared: frozenset[str] = frozenset()
    parts: tuple[ir.Part, ...] = ()


_ONE_TYPE = {name: frozenset((name,)) for name in _TYPES} | {"integer": frozenset(("number",))}
_CALLS = {name: ir.Call(name, NOWHERE) for name in NAMES}
_ANYTHING = Value("v", _CALLS["value"], frozenset(_ALL_TYPES), frozenset(("value",)))
_CONSTANTS = {
    text: Value(said, ir.Literal(text.encode(), NOWHERE), _ONE_TYPE[name])
    for text, said, name in (
        ("null", "0", "null"),
        ("true", "t", "boolean"),
        ("false", "f", "boolean"),
    )
}


_OF_TYPE = {
    name: Value(said, _CALLS[name], _ONE_TYPE[name], frozenset((name,)))
    for name, said in _TYPES.items()
    if name != "null"
} | {"null": _CONSTANTS["null"]}
"""What a schema allows that says a type and no more."""


class SimpleSchemas:
    """The simple schemas of one document; each is looked at once.

    ``settings`` are what rules depend on besides. ``scalar`` makes the part of a string or number
    with restrictions, by its name; None where there is something to say of it. ``use`` is called
    with each part that is called, with all that it needs.
    """

    def __init__(
        self,
        prelude: Prelude,
        options: Options,
        settings: str,
        budget: Budget,
        document: Document,
        scalar: Callable[[str, dict[str, Json]], ir.Part | None],
        use: Callable[[ir.Part], None],
    ) -> None:
        self._prelude = prelude
        self._options = options
        self._settings = blake2b(settings.encode(errors="surrogatepass"), digest_size=16)
        self._budget = budget
        self._document = document
        self._where = self._settings.hexdigest()
        self._scalar = scalar
        self._use = use
        # Those of this schema, also the ones that are too large to be known to others.
        self._scalars: dict[str, ir.Part] = {}
        # By identity, and which objects are closed. None for what is not simple, and for what is
        # being looked at: a schema within itself.
        self._known: dict[tuple[int, bool, bool], Value | None] = {}
        self._gap, self._comma, self._colon = prelude.punctuation
        self._around_values = prelude.punctuating

    def rule(self, place: Place) -> str | None:
        """Return the name of the rule of a schema with properties; None where it is not simple.

        A reference to an object has that of the object.
        """
        contents, closing = place.contents, place.closing
        if not contents.keys() & {"properties", "$ref"} or place.resolver is not None:
            return None
        whole, below = closing is Closing.WHOLE, closing is not Closing.NONE
        if self._known.get((id(contents), whole, below), _ANYTHING) is None:
            return None
        spelled = repr(contents)
        written = f"{self._where} {closing.value} {spelled}"
        known = PARTS.find(written)
        if known is not None:
            self._budget.spend(known.work)
            self._use(known)
            return known.start
        before = self._budget.spent
        found = self._value(contents, whole, below, 0)
        if found is not None and "properties" in contents:
            found = self._named(found)
        if found is None or not found.said.startswith(_OBJECT):
            return None
        bodies = {name: body for part in found.parts for name, body in part.bodies.items()}
        shared = tuple(dict.fromkeys(name for part in found.parts for name in part.shared))
        made = ir.Part(found.said, bodies, shared, self._budget.spent - before)
        self._use(made)
        if "$ref" not in spelled and len(spelled) <= LARGEST:
            PARTS.keep(written, made)
        return found.said

    def _named(self, value: Value) -> Value:
        """Return an object, or what may be something else as well, as a call of a rule."""
        if value.said.startswith(_OBJECT):
            return value
        digest = self._settings.copy()
        digest.update(value.said.encode(errors="surrogatepass"))
        name = f"{_OBJECT}{digest.hexdigest()}"
        part = ir.Part(name, {name: value.node}, tuple(sorted(value.shared)), 0)
        return value._replace(said=name, node=ir.Call(name, NOWHERE), parts=(part, *value.parts))

    def _value(self, schema: Json, whole: bool, below: bool, depth: int) -> Value | None:
        """Return what a schema allows.

        ``whole`` tells whether it closes objects, ``below`` whether those in it are closed.
        """
        if schema is True:
            return _ANYTHING
        if not isinstance(schema, dict) or depth > DEPTH:
            return None
        key = id(schema), whole, below
        if key not in self._known:
            self._known[key] = None
            self._budget.spend(STEPS)
            self._known[key] = self._read(schema, whole, below, depth + 1)
        return self._known[key]

    def _read(self, schema: dict[str, Json], whole: bool, below: bool, depth: int) -> Value | None:
        said = _SAYING.intersection(schema)
        if self._document.is_whole(schema):
            said -= {"$id", "id"}
        if not said:
            return _ANYTHING
        if len(said) == 1 and "type" in said and schema["type"] in _NAMES_OF_TYPES:
            return _OF_TYPE[schema["type"]]
        if said <= _OF_VALUES:
            return self._of_types(schema, said, whole, below, depth)
        if said & _LISTING:
            return self._listed(schema, said)
        keyword = next(iter(said))
        held = schema[keyword]
        if len(said) > 1:
            return None
        if keyword == "$ref" and isinstance(held, str):
            there = self._document.at(held)
            return None if there is None else self._value(there[1], whole, below, depth)
        if keyword in ("anyOf", "oneOf") and isinstance(held, list):
            values = [self._value(each, whole, below, depth) for each in held]
            return self._any(values) if keyword == "anyOf" or _are_disjoint(values) else None
        return None

    def _any(self, values: Iterable[Value | None]) -> Value | None:
        found: dict[str, Value] = {}
        for value in values:
            if value is None:
                return None
            found.setdefault(value.said, value)
        if len(found) < 2:
            return next(iter(found.values()), None)
        whole = ir.Choice(tuple(value.node for value in found.values()), NOWHERE)
        types = frozenset[str]().union(*(value.types for value in found.values()))
        return Value(f"({'|'.join(found)})", whole, types, *_needed(found.values()))

    def _types_of(self, schema: dict[str, Json]) -> list[str] | None:
        """Return the types that a schema names, or all; None for names of no types."""
        names = schema.get("type", _ALL_TYPES)
        if isinstance(names, str):
            return [names] if names in _TYPES else None
        if not isinstance(names, list) or not _TYPES.keys() >= set(map(str, names)):
            return None
        return [str(name) for name in names if name != "integer" or "number" not in names]

    def _of_types(
        self, schema: dict[str, Json], said: Set[str], whole: bool, below: bool, depth: int
    ) -> Value | None:
        found: list[Value] = []
        for name in self._types_of(schema) or ():
            value: Value | None
            restricting = said & _RESTRICTING[name]
            if not restricting:
                value = _OF_TYPE[name]
            elif name == "object":
                is_simple = restricting <= _OF_OBJECTS
                value = self._object(schema, whole, below, depth) if is_simple else None
            elif name == "array":
                is_simple = restricting <= _OF_ARRAYS
                value = self._array(schema, below, depth) if is_simple else None
            else:
                value = self._restricted(name, {each: schema[each] for each in restricting})
            if value is None:
                return None
            found.append(value)
        return self._any(found)

    def _listed(self, schema: dict[str, Json], said: Set[str]) -> Value | None:
        """Return values that are listed, none of which holds others."""
        names = self._types_of(schema)
        listed = schema.get("enum", [schema.get("const")])
        if not said <= {"type", *_LISTING} or said >= _LISTING or names is None:
            return None
        if not isinstance(listed, list) or any(isinstance(each, dict | list) for each in listed):
            return None
        texts = [each for each in listed if isinstance(each, str) and "string" in names]
        numbers = [each for each in listed if isinstance(each, Decimal)]
        if "number" not in names and not all(str(each).lstrip("-").isdigit() for each in numbers):
            return None
        if sum(len(str(each)) for each in numbers) > self._options.limits.states:
            return None
        found: list[Value | None] = [self._texts(texts)] if texts else []
        if numbers and {"integer", "number"} & set(names):
            found.append(self._restricted("number", {"enum": numbers}))
        for each, name in ((None, "null"), (True, "boolean"), (False, "boolean")):
            if name in names and any(value is each for value in listed):
                found.append(_CONSTANTS[json.dumps(each)])
        return self._any(found)

    def _texts(self, values: list[str]) -> Value | None:
        spelled = [self._prelude.spelling.text(each) for each in dict.fromkeys(values)]
        texts = [text.encode() for text in spelled if text is not None]
        size = sum(map(len, texts))
        if len(texts) < len(spelled) or size > self._options.limits.states:
            return None
        self._budget.spend(size)
        if len(texts) >= MANY_TEXTS:
            node: ir.Node = ir.Regular(operations.literals(texts), NOWHERE)
            return Value(repr(texts), node, _ONE_TYPE["string"])
        nodes = tuple(ir.Literal(text, NOWHERE) for text in texts)
        node = nodes[0] if len(nodes) == 1 else ir.Choice(nodes, NOWHERE)
        return Value(repr(texts), node, _ONE_TYPE["string"])

    def _restricted(self, type_: str, said: dict[str, Json]) -> Value | None:
        """Return strings or numbers with restrictions, which another writer writes as one rule."""
        contents = dict(sorted({**said, "type": type_}.items()))
        digest = self._settings.copy()
        key = repr(contents)
        digest.update(key.encode(errors="surrogatepass"))
        name = f"{type_}_{digest.hexdigest()}"
        found = self._scalars.get(name) or PARTS.find(f"{name} {key}")
        if found is None:
            found = self._scalar(name, contents)
            if found is None:
                return None
            PARTS.keep(f"{name} {key}", found)
        else:
            self._budget.spend(found.work)
        self._scalars[name] = found
        return Value(name, ir.Call(name, NOWHERE), _ONE_TYPE[type_], parts=(found,))

    def _array(self, schema: dict[str, Json], below: bool, depth: int) -> Value | None:
        low, high = (self._count(schema, name) for name in ("minItems", "maxItems"))
        item = self._value(schema.get("items", True), below, below, depth)
        if item is None or low is None or high is None or 0 <= high < max(low, 1):
            return None
        content = listed(item.node, self._comma, max(low, 0), None if high < 0 else high)
        whole = enclosed("[", "]", content, self._gap)
        shared = item.shared | self._around_values
        said = f"[{item.said}:{low}:{high}]"
        return Value(said, whole, _ONE_TYPE["array"], shared, item.parts)

    def _count(self, schema: dict[str, Json], keyword: str) -> int | None:
        """Return a count, -1 where there is none; None for what is no count within the limit."""
        value = schema.get(keyword, Decimal(-1))
        if not isinstance(value, Decimal) or value != value.to_integral_value():
            return None
        return int(value) if value <= self._options.limits.bound else None

    def _object(
        self, schema: dict[str, Json], whole: bool, below: bool, depth: int
    ) -> Value | None:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(properties, dict) or not isinstance(required, list):
            return None
        is_needed = set(map(str, required))
        rest = schema.get("additionalProperties", not (whole and "properties" in schema))
        extra = None if rest is False else self._value(rest, below, below, depth)
        if extra is None and rest is not False:
            return None
        # What must be there and has no schema is an additional member.
        names = dict.fromkeys((*properties, *map(str, required)))
        limits = self._options.limits
        if len(names) > min(MOST_MEMBERS, limits.rules, limits.bound):
            return None
        members: dict[str, Value] = {}
        for each in names:
            is_named = each in properties
            value = self._value(properties[each], below, below, depth) if is_named else extra
            if value is None:
                return None
            members[each] = value
        listed = (f"{each!r}{each in is_needed:d}{held.said}" for each, held in members.items())
        said = f"{{{','.join(listed)}:{'' if extra is None else extra.said}}}"
        self._budget.spend(STEPS * (1 + len(members)))
        digest = self._settings.copy()
        digest.update(said.encode(errors="surrogatepass"))
        name = f"{_OBJECT}{digest.hexdigest()}"
        held = [*members.values(), *(() if extra is None else (extra,))]
        shared, parts = _needed(held)
        found = self._part(name, members, is_needed, extra, shared)
        if found is None:
            return None
        return Value(name, ir.Call(name, NOWHERE), _ONE_TYPE["object"], parts=(found, *parts))

    def _part(
        self,
        name: str,
        members: dict[str, Value],
        needed: set[str],
        extra: Value | None,
        shared: frozenset[str],
    ) -> ir.Part | None:
        """Return the rules of an object; None where the name of a member has several texts."""
        bodies: dict[str, ir.Node] = {}
        spelling = self._prelude.spelling
        shared |= self._around_values
        other: ir.Node | None = None
        if extra is not None:
            key: ir.Node = _CALLS["string"]
            if members:
                automaton = all_but(tuple(members), spelling)
                if automaton is None:
                    return None
                bodies[f"{name}_others"] = ir.Regular(automaton, NOWHERE)
                key = ir.Call(f"{name}_others", NOWHERE)
                if self._options.standard is Standard.LLGUIDANCE and spelling.with_needless:
                    key = ir.Choice((key, _CALLS["other_name"]), NOWHERE)
                    shared |= {"other_name"}
            else:
                shared |= {"string"}
            other = sequence(key, self._colon, extra.node)
        nodes: list[Member] = []
        for each, value in members.items():
            spelled = spelling.text(each)
            if spelled is None:
                return None
            nodes.append((sequence(text(spelled), self._colon, value.node), each in needed))
        if needed:
            content = around(nodes, other, self._comma)
        else:
            content = optional(some(nodes, other, self._comma) or EMPTY)
        body = enclosed("{", "}", content, self._gap)
        return ir.Part(name, {name: body, **bodies}, tuple(sorted(shared)), 0)


def _are_disjoint(values: list[Value | None]) -> bool:
    """Tell whether no value is of a type of another."""
    types = [name for value in values if value is not None for name in value.types]
    return len(types) == len(set(types))


def _needed(values: Iterable[Value]) -> tuple[frozenset[str], tuple[ir.Part, ...]]:
    """Return the rules of the prelude, and the parts, that some values need."""
    shared: set[str] = set()
    parts: dict[str, ir.Part] = {}
    for value in values:
        shared |= value.shared
        if value.parts:
            parts.update((part.start, part) for part in value.parts)
    return frozenset(shared), tuple(parts.values())
