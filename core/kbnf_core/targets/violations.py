"""Witnesses: for each keyword at each pointer, documents that are invalid for that keyword alone.

They are made of valid documents by changing the value that the keyword speaks of. A change counts
where the document becomes invalid, and is valid to the schema without the keyword: so it is one of
(the schema without the keyword) minus (the schema), whatever the change was meant to be. Where no
change is one, ``diff`` is asked for a shortest text of that difference.

Tests: tests/unit/targets/test_documents.py
"""

import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from kbnf_core.targets.judges import (
    Json,
    Judges,
    at,
    compact,
    differing,
    pointer_to,
    removed,
    replaced,
    strings,
)
from kbnf_core.targets.values import EXTRA, LONG, Values, Visit, items_of, members_of, visits
from kbnf_core.text.errors import KbnfError

ASSERTIONS = (
    *("type", "enum", "const", "minLength", "maxLength", "pattern", "format", "minimum"),
    *("maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "required"),
    *("minProperties", "maxProperties", "additionalProperties", "unevaluatedProperties"),
    *("propertyNames", "dependentRequired", "dependencies", "minItems", "maxItems"),
    *("uniqueItems", "contains", "minContains", "maxContains", "items", "additionalItems"),
    *("unevaluatedItems", "not", "oneOf", "anyOf"),
)
"""Keywords that can be violated by themselves; what others ask for is asked inside them."""

ENOUGH = 3
"""Witnesses for a keyword at a pointer."""

_ENOUGH_OF = {"pattern": 8, "format": 8, "oneOf": 6, "not": 6, "enum": 4}
_MANY = 1_000
"""Characters from which a length has one witness: engines take long to read them."""

_MOST_TRIED = 60
_MOST_WORK = 30_000

_OTHERS: tuple[Json, ...] = ("", 0, None, True, [], {}, 1.5, "x", -1, [0], {EXTRA: 0})

_OF_FORMATS = {
    "date": ("2020-13-01", "2020-02-30", "2020-1-1", "2020-01-32", "20200101"),
    "time": ("24:00:00Z", "12:60:00Z", "12:00", "1:00:00Z"),
    "date-time": ("2020-01-01", "2020-13-01T00:00:00Z", "2020-02-30T00:00:00Z",
                  "2020-01-01T25:00:00Z", "2020-01-01 00:00", "2020-01-01T00:00:00"),
    "duration": ("P", "1D", "PT", "P1"),
    "email": ("a", "a@", "@a.de", "a b@c.de", "a@b@c"),
    "idn-email": ("a", "a@"),
    "hostname": ("-a", "a_b", "a..b", "a" * 64, " "),
    "ipv4": ("256.0.0.1", "1.2.3", "1.2.3.4.5", "01.2.3.4"),
    "ipv6": (":", "1:2", "::g", "1::2::3", "12345::"),
    "uri": ("a", "//a", ":a", "http://a b", "a:\\"),
    "uri-reference": ("\\", "a b", "%"),
    "iri": ("a", "//a"),
    "uuid": ("0", "00000000-0000-0000-0000-00000000000g", "00000000000000000000000000000000"),
    "json-pointer": ("a", "/~", "/~2"),
    "relative-json-pointer": ("a", "-1", "01"),
    "regex": ("(", "[", "a{2,1}", "*"),
    "uri-template": ("{", "{a"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class InvalidDocument:
    """A document that is invalid for ``keyword`` of the schema at ``pointer`` only."""

    pointer: str
    keyword: str
    document: Json

    @property
    def place(self) -> str:
        """The pointer of the keyword."""
        return self.pointer + pointer_to(self.keyword)


class Violations:
    """Finds the witnesses of a schema among changes of its valid ``documents``.

    The search ends at ``until``, a time of this thread.
    """

    def __init__(
        self, judges: Judges, values: Values, documents: Sequence[Json], until: float
    ) -> None:
        self._judges = judges
        self._values = values
        self._found: dict[tuple[str, str], list[InvalidDocument]] = {}
        self._tried: dict[tuple[str, str], int] = {}
        self._texts: set[tuple[str, str, str]] = set()
        self._left = _MOST_WORK
        self._until = until
        # Small documents first: each question about one costs as much as it is long.
        for document in sorted(documents, key=lambda each: len(repr(each))):
            for visit in visits(judges, document):
                self._change(document, visit)

    @property
    def is_over(self) -> bool:
        """Whether the search ended before every keyword had its turn."""
        return self._left < 0 or time.thread_time() > self._until

    def all(self) -> list[InvalidDocument]:
        """Return all witnesses, those of a keyword together."""
        return [each for held in self._found.values() for each in held]

    def missing(self) -> list[tuple[str, str]]:
        """Return the keywords, by pointer, that were met and have no witness.

        A ``type`` beside an ``enum`` or a ``const`` has none.
        """
        missing = [key for key in self._tried if key not in self._found]
        return [key for key in missing if key[1] != "type" or not self._is_listed(key[0])]

    def _is_listed(self, pointer: str) -> bool:
        schema = at(self._judges.schema, pointer)
        return "enum" in schema or "const" in schema

    def _change(self, document: Json, visit: Visit) -> None:
        for keyword in visit.schema:
            if keyword not in ASSERTIONS or _is_applied(visit.schema, keyword):
                continue
            key = visit.pointer, keyword
            documents = self._found.get(key, [])
            if self.is_over:
                return
            enough = _enough(visit.schema, keyword)
            if len(documents) >= enough:
                continue
            for value in self._changes(visit, keyword):
                self._tried[key] = tried = self._tried.get(key, 0) + 1
                self._left -= 1
                if tried > _MOST_TRIED or self.is_over:
                    break
                if self._keep(document, visit, keyword, value) >= enough:
                    break
            self._tried.setdefault(key, 0)

    def _keep(self, document: Json, visit: Visit, keyword: str, value: Json) -> int:
        """Keep a change that is a witness; return how many there are."""
        key = visit.pointer, keyword
        documents = self._found.get(key, [])
        failing = self._judges.failing(value, visit.schema)
        is_format = keyword == "format" and not self._judges.knows_format(visit.schema["format"])
        if failing is not None and failing != {keyword} and not (is_format and not failing):
            return len(documents)
        changed = replaced(document, visit.path, value)
        text = compact(changed)
        if len(text) > 2 * LONG or (*key, text) in self._texts:
            return len(documents)
        self._texts.add((*key, text))
        witness = InvalidDocument(visit.pointer, keyword, changed)
        if self.is_one(witness):
            self._found.setdefault(key, []).append(witness)
        return len(self._found.get(key, []))

    def is_one(self, witness: InvalidDocument) -> bool:
        """Return whether a document is invalid for a keyword alone, to ``jsonschema``.

        What it cannot say, as of formats that it does not know, our engine says.
        """
        judges = self._judges
        fits = judges.fits(witness.document)
        if (fits and self.is_ours_alone(witness)) or fits is None:
            fits = judges.we_take(compact(witness.document))
        if fits is not False:
            return False
        without = judges.without(witness.place)
        rest = without.fits(witness.document)
        return bool(without.we_take(compact(witness.document)) if rest is None else rest)

    def is_ours_alone(self, witness: InvalidDocument) -> bool:
        """Return whether a witness is about a format that ``jsonschema`` does not check."""
        if witness.keyword != "format":
            return False
        return not self._judges.knows_format(at(self._judges.schema, witness.place))

    def by_difference(self, pointer: str, keyword: str, work: int) -> InvalidDocument | None:
        """Return a shortest text of the schema without the keyword, less those of the schema."""
        from kbnf_core.diff.comparison import compare
        from kbnf_core.grammar import Grammar

        ours = self._judges.ours
        if ours is None:
            return None
        place = pointer + pointer_to(keyword)
        try:
            wider = Grammar.from_json_schema(json.dumps(removed(self._judges.schema, place)))
            data = compare(wider, ours.grammar, work).old_only.data
            witness = InvalidDocument(pointer, keyword, json.loads(data or b""))
        except (KbnfError, ValueError):
            return None
        return witness if self.is_one(witness) else None

    def _changes(self, visit: Visit, keyword: str) -> Iterator[Json]:
        """Yield values that may violate a keyword, the likely ones first."""
        schema, value = visit.schema, visit.value
        argument = schema[keyword]
        match keyword:
            case "type":
                yield from _OTHERS
            case "enum" | "const":
                listed = (
                    argument if keyword == "enum" and isinstance(argument, list) else [argument]
                )
                yield from _unlike(listed)
            case "minLength" | "maxLength" if isinstance(value, str):
                yield from _of_length(schema, keyword, argument, value)
            case "pattern" if isinstance(value, str):
                yield from _unlike_pattern(schema, str(argument), value)
            case "format" if isinstance(value, str):
                yield from _OF_FORMATS.get(str(argument), ())
                yield from (f"{value}!", f" {value}", value[:-1], value[1:], "", "x", " ", "\\")
            case "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf":
                yield from _beyond(schema, keyword, argument, value)
            case _ if isinstance(value, dict) and keyword in _OF_OBJECTS:
                yield from self._of_object(visit, keyword, argument)
            case _ if isinstance(value, list) and keyword in _OF_ARRAYS:
                yield from self._of_array(schema, keyword, argument, value)
            case "not" | "oneOf" | "anyOf":
                yield from self._of_logic(visit, keyword, argument)

    def _of_object(self, visit: Visit, keyword: str, argument: Any) -> Iterator[Json]:
        value: dict[str, Json] = visit.value
        if keyword in ("required", "minProperties"):
            yield from _less_members(value, visit.schema)
        elif keyword in ("dependentRequired", "dependencies"):
            for name, others in argument.items() if isinstance(argument, dict) else ():
                full = value if name in value else {**value, name: self._member(visit, name)}
                for other in others if isinstance(others, list) else ():
                    yield {key: held for key, held in full.items() if key != other}
        elif keyword == "maxProperties":
            yield self._enlarged(visit, argument)
        else:
            declared = visit.schema.get("properties")
            known = {*value, *(declared if isinstance(declared, dict) else ())}
            for name in _strange_names(visit.schema, keyword):
                if name not in known:
                    strangers: tuple[Json, ...] = (0, "", None, {})
                    yield from ({**value, name: stranger} for stranger in strangers)

    def _member(self, visit: Visit, name: str) -> Json:
        result = self._values.of(members_of((*visit.around, visit.schema), name), 3)
        return result[0] if result else None

    def _enlarged(self, visit: Visit, most: Any) -> dict[str, Json]:
        """Return an object with one member more than there may be."""
        value = dict(visit.value)
        declared = visit.schema.get("properties")
        names = [*(declared if isinstance(declared, dict) else ())]
        names += [f"{EXTRA}{number}" for number in range(100)]
        for name in names:
            if not isinstance(most, int | float) or len(value) > most:
                break
            if name not in value:
                value[name] = self._member(visit, name)
        return value

    def _of_array(
        self, schema: dict[str, Any], keyword: str, argument: Any, value: list[Json]
    ) -> Iterator[Json]:
        if keyword in ("minItems", "minContains"):
            yield from (value[:size] for size in range(len(value)))
        elif keyword in ("maxItems", "maxContains", "items", "additionalItems", "unevaluatedItems"):
            size = int(argument) + 1 if isinstance(argument, int | float) else len(value) + 1
            if isinstance(argument, bool):
                yield from ([*value, item] for item in (0, "", None))
            elif not isinstance(argument, dict | list) and size <= 10_000:
                others = self._items(schema, len(value))
                pool = [*value, *others] or [0]
                yield [*value, *(pool[n % len(pool)] for n in range(size - len(value)))]
                yield [*value, *others, *range(size)][: max(size, 0)]
                yield [*value, *(str(n) for n in range(size))][: max(size, 0)]
        elif keyword == "uniqueItems":
            for item in (*value, *self._items(schema, 0)):
                yield [*value, item] if item in value else [*value, item, item]
            for place in range(1, len(value)):
                yield [*value[:place], value[0], *value[place + 1 :]]
            yield [{}, {}]
        elif keyword == "contains":
            yield []
            for item in (*self._items(schema, 0), *_OTHERS):
                yield [item for _ in value] or [item]

    def _items(self, schema: dict[str, Any], place: int) -> list[Json]:
        return self._values.of(items_of((schema,), place), 3)[:6]

    def _of_logic(self, visit: Visit, keyword: str, argument: Any) -> Iterator[Json]:
        rest = {key: held for key, held in visit.schema.items() if key != keyword}
        around = (*visit.around, rest)
        if keyword == "not":
            yield from self._values.of((*around, argument), 2)
            yield from self._values.of((argument,), 2)
            return
        branches = argument if isinstance(argument, list) else []
        if keyword == "oneOf":
            for first, second in list(combinations(branches, 2))[:40]:
                yield from self._values.of((*around, first, second), 2)[:3]
            for branch in branches:
                yield from self._values.of((*around, branch), 2)[:8]
        yield from _OTHERS
        value = visit.value
        if isinstance(value, dict):
            for name in value:
                yield {key: held for key, held in value.items() if key != name}
                for other in _OTHERS[:6]:
                    yield {**value, name: other}
        elif isinstance(value, str):
            yield from (f"{value}!", f" {value}", value[:-1], value[1:])
        elif isinstance(value, list):
            yield from ([*value, other] for other in _OTHERS[:6])


_OF_OBJECTS = frozenset(
    ("required", "minProperties", "maxProperties", "additionalProperties",
     "unevaluatedProperties", "propertyNames", "dependentRequired", "dependencies")
)  # fmt: skip
_OF_ARRAYS = frozenset(
    ("minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains",
     "items", "additionalItems", "unevaluatedItems")
)  # fmt: skip


def _less_members(value: dict[str, Json], schema: dict[str, Any]) -> Iterator[Json]:
    for name in value:
        yield {key: held for key, held in value.items() if key != name}
    yield {}
    needed = schema.get("required")
    if isinstance(needed, list):
        yield {key: held for key, held in value.items() if key in needed}


def _strange_names(schema: dict[str, Any], keyword: str) -> Iterator[str]:
    """Yield names of members that a schema may not allow."""
    argument = schema[keyword]
    if keyword == "propertyNames" and isinstance(argument, dict):
        listed = argument.get("enum")
        unlike = _unlike(listed if isinstance(listed, list) else [""])
        yield from (each for each in unlike if isinstance(each, str))
        yield from _unlike_pattern(argument, str(argument.get("pattern", "")), "a")
    yield from (EXTRA, "a", "", "0", "a b", "$", "é", "A" * 70)
    patterns = schema.get("patternProperties")
    for pattern in patterns if isinstance(patterns, dict) else ():
        yield from (f"{string}!" for string in strings({"pattern": pattern})[:2])


def _enough(schema: dict[str, Any], keyword: str) -> int:
    """Return how many witnesses a keyword is to have."""
    argument = schema[keyword]
    if keyword in ("minLength", "maxLength") and isinstance(argument, int | float):
        return ENOUGH if argument < _MANY else 1
    return _ENOUGH_OF.get(keyword, ENOUGH)


def _is_applied(schema: dict[str, Any], keyword: str) -> bool:
    """Return whether a keyword asks for nothing itself: its schemas are visited."""
    applies = keyword in ("items", "additionalItems", "unevaluatedItems", "additionalProperties")
    return (applies or keyword == "unevaluatedProperties") and schema[keyword] is not False


def _unlike(listed: Sequence[Json]) -> Iterator[Json]:
    """Yield values that are near to those of a list, and none of them."""
    for each in listed[:6]:
        if isinstance(each, str):
            yield from (f"{each}x", each[:-1], each.swapcase(), "")
        elif isinstance(each, bool) or each is None:
            yield from (not each, 0)
        elif isinstance(each, int | float):
            yield from (each + 1, -each)
        elif isinstance(each, dict):
            yield from ({}, {**each, EXTRA: 0})
        else:
            yield from ([], [*each, 0])
    yield from _OTHERS


def _of_length(schema: dict[str, Any], keyword: str, argument: Any, value: str) -> Iterator[str]:
    if not isinstance(argument, int | float) or argument > LONG:
        return
    size = int(argument) - 1 if keyword == "minLength" else int(argument) + 1
    if size < 0:
        return
    yield value[:size] if len(value) >= size else value + (value[-1:] or "a") * (size - len(value))
    yield "a" * size
    yield "é" * size
    yield "0" * size
    if "pattern" in schema or "format" in schema:
        kept: dict[str, Any] = {key: schema[key] for key in ("pattern", "format") if key in schema}
        bound = {"maxLength": size} if keyword == "minLength" else {"minLength": size}
        yield from strings({**kept, **bound})


_LOOK_AROUND = re.compile(r"\(\?(?:<?[=!])")


def _unlike_pattern(schema: dict[str, Any], pattern: str, value: str) -> Iterator[str]:
    """Yield strings that match for a reader which ignores a part of the pattern."""
    kept: dict[str, Any] = {
        key: schema[key] for key in ("minLength", "maxLength", "format") if key in schema
    }
    for variant in _variants(pattern):
        yield from differing({**kept, "pattern": variant}, {**kept, "pattern": pattern})
        yield from strings({**kept, "pattern": variant})[:4]
    yield from (f"{value}!", f"!{value}", f"{value}\n", f"{value} ", f" {value}")
    yield from (value[:-1], value[1:], value.swapcase(), value + value, "", "a", "0", " ", "é", '"')
    for place in range(min(len(value), 12)):
        yield value[:place] + "~" + value[place + 1 :]
        yield value[:place] + value[place + 1 :]


def _variants(pattern: str) -> Iterator[str]:
    """Yield what an engine may take a pattern for: without look-around, other anchors, no case."""
    without = _without_look_around(pattern)
    if without != pattern:
        yield without
    inner = without.removeprefix("^").removesuffix("$")
    for variant in (inner, f"^{inner}", f"{inner}$", f"^({inner})$"):
        if variant not in (pattern, without):
            yield variant
    if "|" in inner:
        yield f"^({inner.replace('^', '').replace('$', '')})$"


def _without_look_around(pattern: str) -> str:
    """Return a pattern without its look-around groups."""
    match = _LOOK_AROUND.search(pattern)
    while match is not None:
        depth, end = 0, len(pattern)
        place = match.start()
        is_class = False
        while place < len(pattern):
            char = pattern[place]
            if char == "\\":
                place += 2
                continue
            if is_class:
                is_class = char != "]"
            elif char == "[":
                is_class = True
            elif char == "(":
                depth += 1
            elif char == ")":
                depth -= 1
                if depth == 0:
                    end = place + 1
                    break
            place += 1
        pattern = pattern[: match.start()] + pattern[end:]
        match = _LOOK_AROUND.search(pattern)
    return pattern


def _beyond(schema: dict[str, Any], keyword: str, argument: Any, value: Json) -> Iterator[Json]:
    if isinstance(argument, bool):
        # Draft 4: `exclusiveMinimum` makes a bound of another keyword strict.
        yield from (value, 0) if isinstance(value, int | float) else (0,)
        return
    if not isinstance(argument, int | float) or isinstance(value, bool):
        return
    if keyword == "multipleOf":
        near: tuple[Json, ...] = (argument + 1, argument / 2, argument * 1.5, 1, 7, 0.1)
    else:
        sign = -1 if "inimum" in keyword else 1
        near = tuple(argument + sign * step for step in (0, 1, 10, 1_000, 0.5, 1e9))
        near += (-argument, 0)
        step = schema.get("multipleOf")
        if isinstance(step, int | float) and step > 0:
            near = ((argument // step + sign) * step, (argument // step + 2 * sign) * step, *near)
    for each in near:
        yield int(each) if float(each).is_integer() else each
