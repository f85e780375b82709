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

Parts: TypeAlias = tuple[dict[str, Any], ...]
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
        self._known: dict[tuple[int, ...], list[Json]] = {}
        self._busy: set[tuple[int, ...]] = set()
        self._alive: list[Parts] = []
        self.work = 60_000
        """Steps that are left; where they are used up, values are the first that come."""

    def documents(self) -> list[Json]:
        """Return documents that cover the schema, valid to ``jsonschema`` where it can say."""
        return self.of((self._root,)) if isinstance(self._root, dict) else [{}, [], "", 0, None]

    def of(self, parts: Sequence[Json], depth: int = 0) -> list[Json]:
        """Return values for schemas that are compatible; the first ones show most."""
        if any(part is False for part in parts):
            return []
        given = tuple(part for part in parts if isinstance(part, dict))
        key = tuple(map(id, given))
        if key in self._known:
            return self._known[key]
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
        if not self._busy or result:
            self._known[key] = result
        return result

    def _checked(self, values: Iterable[Json], parts: Parts) -> list[Json]:
        result: list[Json] = []
        texts: set[str] = set()
        for tried, value in enumerate(values, 1):
            text = repr(value)
            self.work -= 1
            if tried > 6 * MOST or len(result) >= MOST or (self.work < 0 and result):
                break
            if text not in texts and all(
                self._judges.fits(value, part) is not False for part in parts
            ):
                texts.add(text)
                result.append(value)
        return result

    def expanded(self, parts: Parts) -> Parts:
        """Return the schemas with those that ``$ref`` and ``allOf`` bring."""
        result: list[dict[str, Any]] = []
        pending = list(reversed(parts))
        seen: set[int] = set()
        while pending:
            part = pending.pop()
            if not isinstance(part, dict) or id(part) in seen:
                continue
            seen.add(id(part))
            result.append(part)
            target = self._judges.document.target_in(part)
            more = [] if target is None else [target.value]
            held = part.get("allOf")
            more += held if isinstance(held, list) else []
            pending += reversed(more)
        return tuple(result)

    def _made(self, given: Parts, depth: int) -> Iterator[Json]:
        parts = self.expanded(given)
        listed = [part["const"] for part in parts if "const" in part][:1]
        for part in parts:
            if isinstance(part.get("enum"), list):
                listed += part["enum"]
        if listed:
            yield from listed[:MOST]
            return
        for keyword in ("examples", "default"):
            for part in parts:
                held = part.get(keyword)
                if keyword in part:
                    yield from held if isinstance(held, list) and keyword == "examples" else [held]
        branch = next(
            (
                (part, keyword)
                for part in parts
                for keyword in ("anyOf", "oneOf")
                if isinstance(part.get(keyword), list)
            ),
            None,
        )
        if branch is not None:
            yield from self._branches(parts, *branch, depth)
            return
        conditional = next((part for part in parts if "if" in part), None)
        if conditional is not None:
            rest = _less(parts, conditional, ("if", "then", "else"))
            yes = (*rest, conditional["if"], conditional.get("then", {}))
            no = (*rest, {"not": conditional["if"]}, conditional.get("else", {}))
            yield from _in_turn([self.of(yes, depth), self.of(no, depth)])
            return
        yield from self._of_types(parts, depth)

    def _branches(
        self, parts: Parts, owner: dict[str, Any], keyword: str, depth: int
    ) -> Iterator[Json]:
        rest = _less(parts, owner, (keyword,))
        yield from _in_turn(
            [self.of((*rest, branch), depth) for branch in owner[keyword][: 2 * MOST]]
        )

    def _of_types(self, parts: Parts, depth: int) -> Iterator[Json]:
        makers: dict[str, Callable[[], Iterator[Json]]] = {
            "object": lambda: self._objects(parts, depth),
            "array": lambda: self._arrays(parts, depth),
            "string": lambda: _strings_of(parts),
            "number": lambda: _numbers(parts, is_whole=False),
            "integer": lambda: _numbers(parts, is_whole=True),
            "boolean": lambda: iter((True, False)),
            "null": lambda: iter((None,)),
        }
        yield from _in_turn([list(islice(makers[name](), MOST)) for name in types_of(parts)])

    def _objects(self, parts: Parts, depth: int) -> Iterator[Json]:
        names: dict[str, None] = {}
        for part in parts:
            names |= dict.fromkeys(mapping(part, "properties"))
        required = [
            name for part in parts for name in listed(part, "required") if isinstance(name, str)
        ]
        names |= dict.fromkeys(required)
        optional = [name for name in names if name not in required]
        if depth > _DEPTH or self.work < 0:
            optional = []
        values = {
            name: self.of(members_of(parts, name), depth + 1) for name in (*required, *optional)
        }
        if any(not values[name] for name in required):
            return
        optional = [name for name in optional if values[name]]
        least = {name: values[name][0] for name in names if name in required}
        others = self._with_others(parts, least, depth)
        for number, chosen in enumerate(self._chosen(parts, required, optional)):
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
        self, parts: Parts, required: Sequence[str], optional: Sequence[str]
    ) -> Iterator[set[str]]:
        """Yield which members there are: all, those that must be, one more, one fewer."""
        yield {*required, *optional}
        yield set(required)
        least = max((_count(part, "minProperties") or 0 for part in parts), default=0)
        most = min(
            (c for part in parts if (c := _count(part, "maxProperties")) is not None), default=None
        )
        for count in {least, most} - {0, None}:
            yield {*required, *optional[: max(int(count or 0) - len(set(required)), 0)]}
        for name in optional[:5]:
            yield {*required, name}
            yield {*required, *optional} - {name}
        for first, second in pairwise(optional[:4]):
            yield {*required, first, second}

    def _with_others(self, parts: Parts, value: dict[str, Json], depth: int) -> Iterator[Json]:
        """Yield an object with members that are not declared, as far as it must have members."""
        names = [f"{EXTRA}{number or ''}" for number in range(8)]
        for part in parts:
            for pattern in mapping(part, "patternProperties"):
                names = [*strings({"pattern": pattern})[:3], *names]
            if isinstance(part.get("propertyNames"), dict):
                allowed = self.of((part["propertyNames"],), depth + 1)
                names = [*(each for each in allowed if isinstance(each, str)), *names]
        least = max((_count(part, "minProperties") or 0 for part in parts), default=0)
        for name in names:
            if name in value:
                continue
            held = self.of(members_of(parts, name), depth + 1)
            for each in held[:4] if len(value) + 1 >= least else held[:1]:
                yield {**value, name: each}
            if held and len(value) + 1 < least:
                value = {**value, name: held[0]}

    def _arrays(self, parts: Parts, depth: int) -> Iterator[Json]:
        least = max((_count(part, "minItems") or 0 for part in parts), default=0)
        most = min(
            (c for part in parts if (c := _count(part, "maxItems")) is not None), default=None
        )
        is_set = any(part.get("uniqueItems") is True for part in parts)
        first = max((len(_prefix(part)) for part in parts), default=0)
        heads = [self.of(items_of(parts, place), depth + 1) for place in range(first)]
        rest = self.of(items_of(parts, first), depth + 1)
        wanted = [
            part["contains"] for part in parts if isinstance(part.get("contains"), dict | bool)
        ]
        for schema in wanted:
            rest = [*self.of((*items_of(parts, first), schema), depth + 1)[:2], *rest]
        sizes = [max(least, min(first + 1, most or first + 1)), least, first]
        sizes += [least + 1, 3] if depth <= _DEPTH else []
        if most is not None and most <= 1_000:
            sizes.append(most)
        for size in dict.fromkeys(sizes):
            if size < least or (most is not None and size > most) or size > 5_000:
                continue
            for variant in range(max(len(rest), *(len(held) for held in heads), 1)):
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
    for place in range(size):
        held = heads[place] if place < len(heads) else rest
        for step in range(len(held) if is_set else 1):
            if not held:
                return None
            item = held[(variant + step + (place if place >= len(heads) else 0)) % len(held)]
            if not is_set or repr(item) not in texts:
                texts.add(repr(item))
                items.append(item)
                break
        if len(items) <= place:
            return None
    return items


def types_of(parts: Parts) -> list[str]:
    """Return the types that values may have, those first of which something is reported."""
    allowed = list(_TYPES)
    for part in parts:
        named = part.get("type")
        listed = [named] if isinstance(named, str) else named if isinstance(named, list) else _TYPES
        if "number" in listed:
            listed = [*listed, "integer"]
        allowed = [name for name in allowed if name in listed]
    said = [
        name
        for name in allowed
        if any(keyword in part for part in parts for keyword in _OF_TYPE.get(name, ()))
    ]
    if "number" in allowed and "integer" in allowed:
        allowed.remove("integer")
    return sorted(allowed, key=lambda name: name not in said)


def members_of(parts: Parts, name: str) -> Parts:
    """Return the schemas of the member called ``name``."""
    result: list[Json] = []
    for part in parts:
        others = part.get("additionalProperties", part.get("unevaluatedProperties", True))
        result += [schema for _, schema in member_schemas(part, name)] or [others]
    return tuple(result)


def member_schemas(
    schema: dict[str, Any], name: str
) -> Iterator[tuple[tuple[str | int, ...], Json]]:
    """Yield the schemas of a member with the steps to them; those of others where none names it."""
    is_declared = False
    if name in (properties := mapping(schema, "properties")):
        is_declared = True
        yield ("properties", name), properties[name]
    for pattern, part in mapping(schema, "patternProperties").items():
        try:
            fits = re.search(pattern, name) is not None
        except re.error:
            fits = False
        if fits:
            is_declared = True
            yield ("patternProperties", pattern), part
    if not is_declared:
        for keyword in ("additionalProperties", "unevaluatedProperties"):
            if isinstance(schema.get(keyword), dict):
                yield (keyword,), schema[keyword]
                return


def items_of(parts: Parts, place: int) -> Parts:
    """Return the schemas of the item at ``place``."""
    result: list[Json] = []
    for part in parts:
        prefix = _prefix(part)
        if place < len(prefix):
            result.append(prefix[place])
        elif isinstance(part.get("items"), dict | bool):
            result.append(part["items"])
        elif prefix:
            result.append(part.get("additionalItems", part.get("unevaluatedItems", True)))
    return tuple(result)


def _prefix(part: dict[str, Any]) -> list[Json]:
    held = part.get("prefixItems", part.get("items"))
    return held if isinstance(held, list) else []


def _strings_of(parts: Parts) -> Iterator[str]:
    least = max((_count(part, "minLength") or 0 for part in parts), default=0)
    most = min(
        (c for part in parts if (c := _count(part, "maxLength")) is not None), default=LONG + 1
    )
    shaped: list[dict[str, Any]] = [
        {key: part[key] for key in ("pattern", "format", "minLength", "maxLength") if key in part}
        for part in parts
    ]
    if any("pattern" in each or "format" in each for each in shaped):
        shaped = [each for each in shaped if each]
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


def _numbers(parts: Parts, *, is_whole: bool) -> Iterator[Json]:
    lows = [part[key] for part in parts for key in ("minimum", "exclusiveMinimum") if key in part]
    highs = [part[key] for part in parts for key in ("maximum", "exclusiveMaximum") if key in part]
    steps = [part["multipleOf"] for part in parts if "multipleOf" in part]
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
    for each in near:
        whole = int(each) if float(each).is_integer() else each
        if not (is_whole and isinstance(whole, float)):
            yield whole


def is_number(value: Json) -> bool:
    """Return whether a value is a number of which a float is near."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) < _LARGEST


def _less(parts: Parts, owner: dict[str, Any], keywords: Sequence[str]) -> Parts:
    """Return the schemas without some keywords of one of them; references are followed already."""
    skipped = {*keywords, "$ref", "allOf"}
    return tuple(
        {key: held for key, held in part.items() if key not in skipped}
        if part is owner
        else {key: held for key, held in part.items() if key not in ("$ref", "allOf")}
        for part in parts
    )


def _in_turn(lists: Sequence[Sequence[Json]]) -> Iterator[Json]:
    for place in range(max(map(len, lists), default=0)):
        yield from (each[place] for each in lists if place < len(each))


def mapping(part: dict[str, Any], keyword: str) -> dict[str, Json]:
    """Return the object at a keyword, an empty one where there is none."""
    held = part.get(keyword)
    return held if isinstance(held, dict) else {}


def listed(part: dict[str, Any], keyword: str) -> list[Json]:
    """Return the list at a keyword, an empty one where there is none."""
    held = part.get(keyword)
    return held if isinstance(held, list) else []


def _count(part: dict[str, Any], keyword: str) -> int | None:
    held = part.get(keyword)
    return int(held) if isinstance(held, int | float) and not isinstance(held, bool) else None


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
    around: Parts = ()


def visits(judges: Judges, document: Json) -> Iterator[Visit]:
    """Yield each schema that applies somewhere in a document, from the outside in."""
    pending: list[tuple[str, Json, Path, Json, Parts]] = [("", judges.schema, (), document, ())]
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
        pending += [(*each, together) for each in reversed(more)]
        inside = [
            (pointer + pointer_to(*steps), inner, (*path, place), held)
            for steps, inner, place, held in _inside(judges, schema, value)
        ]
        pending += [(*each, ()) for each in reversed(inside)]


def _beside(judges: Judges, schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the schemas that apply to the same value: by a step, for ``$ref`` by ``#pointer``."""
    target = judges.document.target_in(schema)
    if target is not None and target.is_inside:
        yield "#" + target.pointer, target.value
    for number, part in enumerate(listed(schema, "allOf")):
        yield pointer_to("allOf", number), part
    yield from _chosen(judges, schema, value)
    if isinstance(value, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, part in mapping(schema, keyword).items():
                if name in value and isinstance(part, dict):
                    yield pointer_to(keyword, name), part


def _chosen(judges: Judges, schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the branches that accept a value."""
    for keyword in ("anyOf", "oneOf"):
        for number, part in enumerate(listed(schema, keyword)):
            if isinstance(part, dict) and judges.fits(value, part):
                yield pointer_to(keyword, number), part
    if isinstance(schema.get("if"), dict):
        branch = "then" if judges.fits(value, schema["if"]) else "else"
        if branch in schema:
            yield pointer_to(branch), schema[branch]


_Inside = Iterator[tuple[tuple[str | int, ...], Json, str | int, Json]]


def _inside(judges: Judges, schema: dict[str, Any], value: Json) -> _Inside:
    """Yield the schemas of members and items: steps, schema, the place in the value, and it."""
    if isinstance(value, dict):
        for name, held in value.items():
            yield from ((steps, part, name, held) for steps, part in member_schemas(schema, name))
    elif isinstance(value, list):
        prefix = next(
            (key for key in ("prefixItems", "items") if isinstance(schema.get(key), list)), None
        )
        rest = "additionalItems" if prefix == "items" else "items"
        for place, held in enumerate(value):
            if prefix is not None and place < len(schema[prefix]):
                yield (prefix, place), schema[prefix][place], place, held
            elif isinstance(schema.get(rest), dict):
                yield (rest,), schema[rest], place, held
            elif isinstance(schema.get("unevaluatedItems"), dict):
                yield ("unevaluatedItems",), schema["unevaluatedItems"], place, held
            if isinstance(schema.get("contains"), dict) and judges.fits(held, schema["contains"]):
                yield ("contains",), schema["contains"], place, held


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
        held = at(document, pointer_to(*path))
        order = sorted(held, key=lambda name: name not in names)
        document = replaced(document, path, {name: held[name] for name in order})
    return document
