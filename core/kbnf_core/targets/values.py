"""Documents that cover a schema: small values that reach each branch, member, bound and format.

A place of a schema is a conjunction of schemas (``$ref`` and ``allOf`` are taken apart), for which
candidates are made; those that ``jsonschema`` refuses are dropped. Variants of the members of an
object are not multiplied but run side by side: the k-th document has the k-th variant of each of
its members, so that there are as many documents as the member with most variants needs.

``visits`` returns where a document meets its schema: each schema that applies to a value inside,
with pointers. The schema and the document are walked side by side. Branches of ``anyOf`` and
``oneOf`` are visited where the value fits them, so that a change there is one in the branch that
applies.

Tests: tests/unit/targets/test_documents.py
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import Any, TypeAlias

from kbnf_core.targets.judges import Json, Judges, at, pointer_to, replaced, strings

Conjuncts: TypeAlias = tuple[dict[str, Any], ...]
"""Schemas that are compatible."""

MOST = 24
"""Variants of a value."""

_DEPTH = 6
"""Nesting below which values have what they must only."""

_LARGEST = 1e300
"""The number from which none is computed with."""

LONG = 120_000
"""The length of the longest string that is made."""

_TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_OF_TYPE = {
    "object": (
        *("properties", "required", "additionalProperties", "patternProperties"),
        *("minProperties", "maxProperties", "propertyNames", "dependentRequired"),
    ),
    "array": ("items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains"),
    "string": ("minLength", "maxLength", "pattern", "format"),
    "number": ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
}
EXTRA = "zz"
"""The name of a member that a schema does not name."""


class Values:
    """Makes values for the places of one schema."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges
        self._root = judges.schema
        self._values: dict[tuple[int, ...], list[Json]] = {}
        self._busy: set[tuple[int, ...]] = set()
        self._alive: list[Conjuncts] = []
        self.work = 60_000
        """Steps that are left; where they are used up, values are the first that come."""

    def documents(self) -> list[Json]:
        """Return documents that cover the schema, valid to ``jsonschema`` where it can say."""
        return self.of((self._root,)) if isinstance(self._root, dict) else [{}, [], "", 0, None]

    def of(self, schemas: Sequence[Json], depth: int = 0) -> list[Json]:
        """Return values for schemas that are compatible; the first ones show most."""
        if any(schema is False for schema in schemas):
            return []
        given = tuple(schema for schema in schemas if isinstance(schema, dict))
        key = tuple(map(id, given))
        if key in self._values:
            return self._values[key]
        if key in self._busy or depth > _DEPTH + 6:
            # A schema inside itself: what it may leave out, it leaves out.
            return []
        self._busy.add(key)
        # Or another object might come to have the same identity.
        self._alive.append(given)
        try:
            result = self._checked(self._made(given, depth), given)
        finally:
            self._busy.discard(key)
        # No values inside of another schema may mean only that this one is being made.
        if not self._busy or result:
            self._values[key] = result
        return result

    def _checked(self, values: Iterable[Json], conjuncts: Conjuncts) -> list[Json]:
        result: list[Json] = []
        texts: set[str] = set()
        for tried, value in enumerate(values, 1):
            # By ``repr``, since 1, 1.0 and True are equal.
            text = repr(value)
            self.work -= 1
            if tried > 6 * MOST or len(result) >= MOST or (self.work < 0 and result):
                break
            if text not in texts and all(
                self._judges.fits(value, schema) is not False for schema in conjuncts
            ):
                texts.add(text)
                result.append(value)
        return result

    def expanded(self, conjuncts: Conjuncts) -> Conjuncts:
        """Return the schemas with those that ``$ref`` and ``allOf`` bring."""
        result: list[dict[str, Any]] = []
        pending = list(reversed(conjuncts))
        seen: set[int] = set()
        while pending:
            schema = pending.pop()
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            result.append(schema)
            target = self._judges.document.target_in(schema)
            more = [] if target is None else [target.value]
            inner = schema.get("allOf")
            more += inner if isinstance(inner, list) else []
            pending += reversed(more)
        return tuple(result)

    def _made(self, given: Conjuncts, depth: int) -> Iterator[Json]:
        conjuncts = self.expanded(given)
        listed = [schema["const"] for schema in conjuncts if "const" in schema][:1]
        for schema in conjuncts:
            if isinstance(schema.get("enum"), list):
                listed += schema["enum"]
        if listed:
            yield from listed[:MOST]
            return
        for keyword in ("examples", "default"):
            for schema in conjuncts:
                listed_value = schema.get(keyword)
                if keyword in schema:
                    yield from (
                        listed_value
                        if isinstance(listed_value, list) and keyword == "examples"
                        else [listed_value]
                    )
        branch = next(
            (
                (schema, keyword)
                for schema in conjuncts
                for keyword in ("anyOf", "oneOf")
                if isinstance(schema.get(keyword), list)
            ),
            None,
        )
        if branch is not None:
            yield from self._branches(conjuncts, *branch, depth)
            return
        conditional = next((schema for schema in conjuncts if "if" in schema), None)
        if conditional is not None:
            rest = _less(conjuncts, conditional, ("if", "then", "else"))
            yes = (*rest, conditional["if"], conditional.get("then", {}))
            no = (*rest, {"not": conditional["if"]}, conditional.get("else", {}))
            yield from _in_turn([self.of(yes, depth), self.of(no, depth)])
            return
        yield from self._of_types(conjuncts, depth)

    def _branches(
        self, conjuncts: Conjuncts, owner: dict[str, Any], keyword: str, depth: int
    ) -> Iterator[Json]:
        rest = _less(conjuncts, owner, (keyword,))
        yield from _in_turn(
            [self.of((*rest, branch), depth) for branch in owner[keyword][: 2 * MOST]]
        )

    def _of_types(self, conjuncts: Conjuncts, depth: int) -> Iterator[Json]:
        makers: dict[str, Callable[[], Iterator[Json]]] = {
            "object": lambda: self._objects(conjuncts, depth),
            "array": lambda: self._arrays(conjuncts, depth),
            "string": lambda: _strings_of(conjuncts),
            "number": lambda: _numbers(conjuncts, is_whole=False),
            "integer": lambda: _numbers(conjuncts, is_whole=True),
            "boolean": lambda: iter((True, False)),
            "null": lambda: iter((None,)),
        }
        yield from _in_turn([list(islice(makers[name](), MOST)) for name in types_of(conjuncts)])

    def _objects(self, conjuncts: Conjuncts, depth: int) -> Iterator[Json]:
        names: dict[str, None] = {}
        for schema in conjuncts:
            names |= dict.fromkeys(mapping(schema, "properties"))
        required = [
            name
            for schema in conjuncts
            for name in listed(schema, "required")
            if isinstance(name, str)
        ]
        names |= dict.fromkeys(required)
        optional = [name for name in names if name not in required]
        if depth > _DEPTH or self.work < 0:
            optional = []
        values = {
            name: self.of(members_of(conjuncts, name), depth + 1) for name in (*required, *optional)
        }
        if any(not values[name] for name in required):
            return
        optional = [name for name in optional if values[name]]
        least = {name: values[name][0] for name in names if name in required}
        others = self._with_others(conjuncts, least, depth)
        for number, chosen in enumerate(self._chosen(conjuncts, required, optional)):
            order = [name for name in names if name in chosen]
            yield {name: values[name][0] for name in order}
            if number == 1:
                # One early: a later one may be one too many.
                yield from islice(others, 1)
        chosen = {*required, *optional}
        order = [name for name in names if name in chosen]
        for variant in range(1, max((len(values[name]) for name in order), default=0)):
            yield {name: _variant(values[name], variant) for name in order}
        yield from others

    def _chosen(
        self, conjuncts: Conjuncts, required: Sequence[str], optional: Sequence[str]
    ) -> Iterator[set[str]]:
        """Yield which members there are: all, those that must be, one more, one fewer."""
        yield {*required, *optional}
        yield set(required)
        least = max((_count(schema, "minProperties") or 0 for schema in conjuncts), default=0)
        most = min(
            (c for schema in conjuncts if (c := _count(schema, "maxProperties")) is not None),
            default=None,
        )
        for count in {least, most} - {0, None}:
            yield {*required, *optional[: max(int(count or 0) - len(set(required)), 0)]}
        for name in optional[:5]:
            yield {*required, name}
            yield {*required, *optional} - {name}
        for first, second in pairwise(optional[:4]):
            yield {*required, first, second}

    def _with_others(
        self, conjuncts: Conjuncts, value: dict[str, Json], depth: int
    ) -> Iterator[Json]:
        """Yield an object with members that are not declared, as far as it must have members."""
        names = [f"{EXTRA}{number or ''}" for number in range(8)]
        for schema in conjuncts:
            for pattern in mapping(schema, "patternProperties"):
                names = [*strings({"pattern": pattern})[:3], *names]
            if isinstance(schema.get("propertyNames"), dict):
                allowed = self.of((schema["propertyNames"],), depth + 1)
                names = [*(value_ for value_ in allowed if isinstance(value_, str)), *names]
        least = max((_count(schema, "minProperties") or 0 for schema in conjuncts), default=0)
        for name in names:
            if name in value:
                continue
            values_here = self.of(members_of(conjuncts, name), depth + 1)
            for value_ in values_here[:4] if len(value) + 1 >= least else values_here[:1]:
                yield {**value, name: value_}
            if values_here and len(value) + 1 < least:
                value = {**value, name: values_here[0]}

    def _arrays(self, conjuncts: Conjuncts, depth: int) -> Iterator[Json]:
        least = max((_count(conjunct, "minItems") or 0 for conjunct in conjuncts), default=0)
        most = min(
            (c for conjunct in conjuncts if (c := _count(conjunct, "maxItems")) is not None),
            default=None,
        )
        is_set = any(conjunct.get("uniqueItems") is True for conjunct in conjuncts)
        first = max((len(_prefix(conjunct)) for conjunct in conjuncts), default=0)
        heads = [self.of(items_of(conjuncts, index), depth + 1) for index in range(first)]
        rest = self.of(items_of(conjuncts, first), depth + 1)
        wanted = [
            conjunct["contains"]
            for conjunct in conjuncts
            if isinstance(conjunct.get("contains"), dict | bool)
        ]
        for schema in wanted:
            rest = [*self.of((*items_of(conjuncts, first), schema), depth + 1)[:2], *rest]
        sizes = [max(least, min(first + 1, most or first + 1)), least, first]
        sizes += [least + 1, 3] if depth <= _DEPTH else []
        if most is not None and most <= 1_000:
            sizes.append(most)
        for size in dict.fromkeys(sizes):
            if size < least or (most is not None and size > most) or size > 5_000:
                continue
            for variant in range(max(len(rest), *(len(values_here) for values_here in heads), 1)):
                made = _array(heads, rest, size, variant, is_set)
                if made is not None:
                    yield made
                if size == 0:
                    break


def _variant(values: list[Json], number: int) -> Json:
    """Return a variant; where there are no more, the first one, so that long ones come once."""
    return values[number] if number < len(values) else values[0]


def _array(
    heads: Sequence[list[Json]], rest: list[Json], size: int, variant: int, is_set: bool
) -> list[Json] | None:
    items: list[Json] = []
    texts: set[str] = set()
    for index in range(size):
        values_here = heads[index] if index < len(heads) else rest
        for step in range(len(values_here) if is_set else 1):
            if not values_here:
                return None
            item = values_here[
                (variant + step + (index if index >= len(heads) else 0)) % len(values_here)
            ]
            if not is_set or repr(item) not in texts:
                texts.add(repr(item))
                items.append(item)
                break
        if len(items) <= index:
            return None
    return items


def types_of(conjuncts: Conjuncts) -> list[str]:
    """Return the types that values may have, those first of which something is reported."""
    allowed = list(_TYPES)
    for schema in conjuncts:
        named = schema.get("type")
        listed = [named] if isinstance(named, str) else named if isinstance(named, list) else _TYPES
        if "number" in listed:
            listed = [*listed, "integer"]
        allowed = [name for name in allowed if name in listed]
    types_named = [
        name
        for name in allowed
        if any(keyword in schema for schema in conjuncts for keyword in _OF_TYPE.get(name, ()))
    ]
    # Numbers have whole ones among them.
    if "number" in allowed and "integer" in allowed:
        allowed.remove("integer")
    return sorted(allowed, key=lambda name: name not in types_named)


def members_of(conjuncts: Conjuncts, name: str) -> Conjuncts:
    """Return the schemas of the member called ``name``."""
    result: list[Json] = []
    for schema in conjuncts:
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties", True))
        result += [schema for _, schema in member_schemas(schema, name)] or [others]
    return tuple(result)


def member_schemas(
    schema: dict[str, Any], name: str
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the schemas of a member with the steps to them; those of others where none names it."""
    is_declared = False
    if name in (properties := mapping(schema, "properties")):
        is_declared = True
        yield ("properties", name), properties[name]
    for pattern, conjunct in mapping(schema, "patternProperties").items():
        try:
            # The pattern is one of ECMA 262, which Python need not read.
            fits = re.search(pattern, name) is not None
        except re.error:
            fits = False
        if fits:
            is_declared = True
            yield ("patternProperties", pattern), conjunct
    if not is_declared:
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if isinstance(schema.get(keyword), dict):
                yield (keyword,), schema[keyword]
                return


def items_of(conjuncts: Conjuncts, index: int) -> Conjuncts:
    """Return the schemas of the item at ``index``."""
    result: list[Json] = []
    for schema in conjuncts:
        prefix = _prefix(schema)
        if index < len(prefix):
            result.append(prefix[index])
        elif isinstance(schema.get("items"), dict | bool):
            result.append(schema["items"])
        elif prefix:
            result.append(schema.get("additionalItems", schema.get("unevaluatedItems", True)))
    return tuple(result)


def _prefix(schema: dict[str, Any]) -> list[Json]:
    # Before draft 2020-12 ``items`` was the list.
    inner = schema.get("prefixItems", schema.get("items"))
    return inner if isinstance(inner, list) else []


def _strings_of(conjuncts: Conjuncts) -> Iterator[str]:
    least = max((_count(schema, "minLength") or 0 for schema in conjuncts), default=0)
    most = min(
        (c for schema in conjuncts if (c := _count(schema, "maxLength")) is not None),
        default=LONG + 1,
    )
    shaped: list[dict[str, Any]] = [
        {
            key: schema[key]
            for key in ("pattern", "format", "minLength", "maxLength")
            if key in schema
        }
        for schema in conjuncts
    ]
    if any("pattern" in shape or "format" in shape for shape in shaped):
        shaped = [shape for shape in shaped if shape]
        yield from strings(shaped[0] if len(shaped) == 1 else {"allOf": shaped})
        return
    if least > LONG:
        return
    yield "a" * max(least, min(1, most))
    yield "a" * least
    if most <= LONG:
        yield "b" * most
    for text in ('"\\/\n', "é\U0001f600", "a b", "0"):
        padded = text + "c" * max(least - len(text), 0)
        if len(padded) <= most:
            yield padded


def _numbers(conjuncts: Conjuncts, *, is_whole: bool) -> Iterator[Json]:
    lows = [
        schema[key]
        for schema in conjuncts
        for key in ("minimum", "exclusiveMinimum")
        if key in schema
    ]
    highs = [
        schema[key]
        for schema in conjuncts
        for key in ("maximum", "exclusiveMaximum")
        if key in schema
    ]
    steps = [schema["multipleOf"] for schema in conjuncts if "multipleOf" in schema]
    lows, highs, steps = (
        [number for number in values if is_number(number)] for values in (lows, highs, steps)
    )
    step = steps[0] if steps else 1
    near: list[Json] = []
    if lows:
        near += [max(lows), max(lows) + step]
    if highs:
        near += [min(highs), min(highs) - step]
    if lows and highs:
        near.append((max(lows) + min(highs)) / 2)
    near += [1, 0, -1, 2, 10, 1234567, *(0 + n * step for n in (1, 2, -1, 7))]
    if not is_whole:
        near += [0.5, -1.25, 1.5e10, 1.5e-10]
        near += [bound + 0.5 for bound in (*lows, *highs)]
    if steps:
        near += [-(-low // step) * step for low in lows] + [high // step * step for high in highs]
    for number in near:
        whole = int(number) if float(number).is_integer() else number
        if not (is_whole and isinstance(whole, float)):
            yield whole


def is_number(value: Json) -> bool:
    """Return whether a value is a number of which a float is near."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < _LARGEST


def _less(conjuncts: Conjuncts, owner: dict[str, Any], keywords: Sequence[str]) -> Conjuncts:
    """Return the schemas without some keywords of one of them; references are followed already."""
    skipped = {*keywords, "$ref", "allOf"}
    return tuple(
        {key: inner for key, inner in schema.items() if key not in skipped}
        if schema is owner
        else {key: inner for key, inner in schema.items() if key not in ("$ref", "allOf")}
        for schema in conjuncts
    )


def _in_turn(lists: Sequence[Sequence[Json]]) -> Iterator[Json]:
    for index in range(max(map(len, lists), default=0)):
        yield from (sequence[index] for sequence in lists if index < len(sequence))


def mapping(schema: dict[str, Any], keyword: str) -> dict[str, Json]:
    """Return the object at a keyword, an empty one where there is none."""
    value = schema.get(keyword)
    return value if isinstance(value, dict) else {}


def listed(schema: dict[str, Any], keyword: str) -> list[Json]:
    """Return the list at a keyword, an empty one where there is none."""
    value = schema.get(keyword)
    return value if isinstance(value, list) else []


def _count(schema: dict[str, Any], keyword: str) -> int | None:
    bound = schema.get(keyword)
    return int(bound) if isinstance(bound, int | float) and not isinstance(bound, bool) else None


Path = tuple[str | int, ...]
"""Steps into a document: names and indices."""

_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Visit:
    """A schema at ``pointer`` that applies to ``value``, which is at ``path`` of the document.

    ``around`` are the other schemas that apply to the value by ``allOf`` and ``$ref``.
    """

    pointer: str
    schema: dict[str, Any]
    path: Path
    value: Json
    around: Conjuncts = ()


def visits(judges: Judges, document: Json) -> Iterator[Visit]:
    """Yield each schema that applies somewhere in a document, from the outside in."""
    pending: list[tuple[str, Json, Path, Json, Conjuncts]] = [("", judges.schema, (), document, ())]
    seen: set[tuple[str, Path]] = set()
    while pending:
        pointer, schema, path, value, around = pending.pop()
        if not isinstance(schema, dict) or (pointer, path) in seen or len(path) > _DEEPEST:
            continue
        seen.add((pointer, path))
        yield Visit(pointer, schema, path, value, around)
        more = [
            (pointer + step if step.startswith("/") else step.removeprefix("#"), inner, path, value)
            for step, inner in _beside(judges, schema, value)
        ]
        together = (*around, schema)
        pending += [(*visit_, together) for visit_ in reversed(more)]
        inside = [
            (pointer + pointer_to(*steps), inner, (*path, index), member_value)
            for steps, inner, index, member_value in _inside(judges, schema, value)
        ]
        pending += [(*visit_, ()) for visit_ in reversed(inside)]


def _beside(judges: Judges, schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the schemas that apply to the same value: by a step, for ``$ref`` by ``#pointer``."""
    target = judges.document.target_in(schema)
    if target is not None and target.is_inside:
        yield "#" + target.pointer, target.value
    for number, conjunct in enumerate(listed(schema, "allOf")):
        yield pointer_to("allOf", number), conjunct
    yield from _chosen(judges, schema, value)
    if isinstance(value, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, conjunct in mapping(schema, keyword).items():
                if name in value and isinstance(conjunct, dict):
                    yield pointer_to(keyword, name), conjunct


def _chosen(judges: Judges, schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the branches that accept a value."""
    for keyword in ("anyOf", "oneOf"):
        for number, conjunct in enumerate(listed(schema, keyword)):
            if isinstance(conjunct, dict) and judges.fits(value, conjunct):
                yield pointer_to(keyword, number), conjunct
    if isinstance(schema.get("if"), dict):
        branch = "then" if judges.fits(value, schema["if"]) else "else"
        if branch in schema:
            yield pointer_to(branch), schema[branch]


_Inside = Iterator[tuple[tuple[str | int, ...], Json, str | int, Json]]


def _inside(judges: Judges, schema: dict[str, Any], value: Json) -> _Inside:
    """Yield the schemas of members and items: steps, schema, the place in the value, and it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from (
                (steps, conjunct, name, inner) for steps, conjunct in member_schemas(schema, name)
            )
    elif isinstance(value, list):
        prefix = next(
            (key for key in ("prefixItems", "items") if isinstance(schema.get(key), list)), None
        )
        rest = "additionalItems" if prefix == "items" else "items"
        for index, inner in enumerate(value):
            if prefix is not None and index < len(schema[prefix]):
                yield (prefix, index), schema[prefix][index], index, inner
            elif isinstance(schema.get(rest), dict):
                yield (rest,), schema[rest], index, inner
            elif isinstance(schema.get("unevaluatedItems"), dict):
                yield ("unevaluatedItems",), schema["unevaluatedItems"], index, inner
            if isinstance(schema.get("contains"), dict) and judges.fits(inner, schema["contains"]):
                yield ("contains",), schema["contains"], index, inner


def declares(schema: dict[str, Any], name: str) -> bool:
    """Return whether an object's schema says something of a member, or of all others."""
    others = "additionalProperties" in schema or "unevaluatedProperties" in schema
    return others or any(True for _ in member_schemas(schema, name))


def required_first(judges: Judges, document: Json) -> Json:
    """Return a document with the members that are required before the others, as some write it."""
    needed: dict[Path, set[str]] = {}
    for visit in visits(judges, document):
        if isinstance(visit.value, dict):
            needed.setdefault(visit.path, set()).update(map(str, listed(visit.schema, "required")))
    for path, names in needed.items():
        inner = at(document, pointer_to(*path))
        order = sorted(inner, key=lambda name: name not in names)
        document = replaced(document, path, {name: inner[name] for name in order})
    return document
