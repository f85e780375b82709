"""Witnesses: for each keyword at each pointer, documents that are invalid for that keyword alone.

A witness is an element of (the schema without the keyword) minus (the schema). It is sampled near a
valid document: one value of it is changed in one way (``near``), whatever the schema says of it,
and the keyword that the change violates is read from the judges. So each change is judged once for
all keywords of its schema. The values at bounds are in ``near``, since engines that count wrongly
are wrong by one; a shortest text of the difference is rarely there (for ``minimum: 1000`` it is 0).

Three kinds of keywords have engines that read them as wider ones, which changes do not reach:

- ``pattern``: without look-around, or with other anchors. A shortest string of the difference of
  the two readings is a witness (``differing``), where a length or ``format`` is beside it, too.
- ``format``: ``2020-02-30`` has the form of a date. Such strings are listed.
- ``oneOf`` and ``not``: values that two branches allow, and those that the ``not`` excludes.

Shortest texts of the difference of the whole schemas, from ``diff``, cost 70 times as much, and are
further from valid documents: of 117 faults of engines in 40 tools, 13 were missed. Only for
keywords that no change violates, they added one witness to 2,965.

Tests: tests/unit/targets/test_documents.py
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

from kbnf_core.targets.judges import (
    Json,
    Judges,
    at,
    compact,
    differing,
    pointer_to,
    replaced,
)
from kbnf_core.targets.values import EXTRA, LONG, Values, Visit, is_number, listed, visits

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

_MOST_TRIED = 300
"""Changes for a keyword at a pointer."""

_MOST_WORK = 30_000
"""Changes for a schema."""

_MOST_PAIRS = 40
"""Pairs of branches for which common values are made."""

_MOST_ITEMS = 10_000
"""The size of the longest array, or object, that is made."""

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
    def keyword_pointer(self) -> str:
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
        self._witnesses: dict[tuple[str, str], list[InvalidDocument]] = {}
        self._tried: dict[tuple[str, str], int] = {}
        self._texts: set[tuple[str, str, str]] = set()
        self._seen: set[tuple[str, str]] = set()
        self._left = _MOST_WORK
        self._until = until
        # Small documents first: each question about one costs as much as it is long.
        for document in sorted(documents, key=lambda document_: len(repr(document_))):
            for visit in visits(judges, document):
                self._change(document, visit)

    @property
    def is_over(self) -> bool:
        """Whether the search ended before every keyword had its turn."""
        return self._left < 0 or time.thread_time() > self._until

    def all(self) -> list[InvalidDocument]:
        """Return all witnesses, those of a keyword together."""
        return [witness for witnesses in self._witnesses.values() for witness in witnesses]

    def _change(self, document: Json, visit: Visit) -> None:
        """Keep the changes of a visited value that violate one keyword of its schema.

        A value that another document has at the same pointer gives the same changes.
        """
        wanted = self._wanted(visit)
        if not wanted:
            return
        seen = visit.pointer, compact(visit.value)
        if seen in self._seen:
            return
        self._seen.add(seen)
        for keyword in wanted:
            if (visit.pointer, keyword) not in self._tried:
                self._tried[visit.pointer, keyword] = 0
                self._try(document, visit, [keyword], self._of_branches(visit, keyword))
        self._try(document, visit, wanted, near(visit.value, visit.schema))

    def _try(
        self, document: Json, visit: Visit, keywords: Sequence[str], values: Iterable[Json]
    ) -> None:
        """Keep the witnesses among values, until none of the keywords is wanted."""
        for value in values:
            keywords = [keyword for keyword in keywords if self._is_wanted(visit, keyword)]
            if self.is_over or not keywords:
                return
            self._keep(document, visit, keywords, value)

    def _wanted(self, visit: Visit) -> list[str]:
        """Return the keywords of a schema that have too few witnesses and may get more."""
        asserted = [keyword for keyword in visit.schema if keyword in ASSERTIONS]
        return [
            keyword
            for keyword in asserted
            if not _is_applied(visit.schema, keyword) and self._is_wanted(visit, keyword)
        ]

    def _is_wanted(self, visit: Visit, keyword: str) -> bool:
        key = visit.pointer, keyword
        has_all = len(self._witnesses.get(key, ())) >= _enough(visit.schema, keyword)
        return not has_all and self._tried.get(key, 0) <= _MOST_TRIED

    def _of_branches(self, visit: Visit, keyword: str) -> Iterator[Json]:
        """Yield values that a ``not`` excludes, or that two branches of a ``oneOf`` allow."""
        inner: Iterable[tuple[Json, ...]] = ()
        if keyword == "oneOf":
            inner = islice(combinations(listed(visit.schema, keyword), 2), _MOST_PAIRS)
        elif keyword == "not":
            inner = [(visit.schema[keyword],)]
        for schemas in inner:
            if self.is_over:
                return
            rest = {
                name: kept_value for name, kept_value in visit.schema.items() if name != keyword
            }
            yield from self._values.of((*visit.around, rest, *schemas), 2)[:3]

    def _keep(self, document: Json, visit: Visit, keywords: Sequence[str], value: Json) -> None:
        """Keep a changed value as a witness of the keyword that it violates, if it is one alone."""
        self._left -= 1
        for keyword in keywords:
            self._tried[visit.pointer, keyword] += 1
        failing = self._judges.failing(value, visit.schema)
        for keyword in keywords:
            is_unjudged = not failing and self._is_unjudged(visit.schema, keyword)
            if failing is not None and failing != {keyword} and not is_unjudged:
                continue
            key = visit.pointer, keyword
            changed = replaced(document, visit.path, value)
            text = compact(changed)
            if len(text) > 2 * LONG or (*key, text) in self._texts:
                continue
            self._texts.add((*key, text))
            witness = InvalidDocument(visit.pointer, keyword, changed)
            if self.is_one(witness):
                self._witnesses.setdefault(key, []).append(witness)

    def _is_unjudged(self, schema: dict[str, Any], keyword: str) -> bool:
        """Return whether a keyword is a format that ``jsonschema`` does not check."""
        return keyword == "format" and not self._judges.knows_format(schema["format"])

    def is_one(self, witness: InvalidDocument) -> bool:
        """Return whether ``jsonschema`` rejects a document because of one keyword only.

        Our engine decides about keywords that it does not check, such as unknown formats.
        """
        judges = self._judges
        fits = judges.fits(witness.document)
        if (fits and self.is_ours_alone(witness)) or fits is None:
            fits = judges.we_take(compact(witness.document))
        if fits is not False:
            return False
        without = judges.without(witness.keyword_pointer)
        rest = without.fits(witness.document)
        return bool(without.we_take(compact(witness.document)) if rest is None else rest)

    def is_ours_alone(self, witness: InvalidDocument) -> bool:
        """Return whether a witness is about a format that ``jsonschema`` does not check."""
        if witness.keyword != "format":
            return False
        return not self._judges.knows_format(at(self._judges.schema, witness.keyword_pointer))


def _enough(schema: dict[str, Any], keyword: str) -> int:
    """Return how many witnesses a keyword is to have."""
    argument = schema[keyword]
    if keyword in ("minLength", "maxLength") and isinstance(argument, int | float):
        return ENOUGH if argument < _MANY else 1
    if argument == "integer":
        # A fraction, beside values of other types.
        return ENOUGH + 1
    return _ENOUGH_OF.get(keyword, ENOUGH)


def _is_applied(schema: dict[str, Any], keyword: str) -> bool:
    """Return whether a keyword asks for nothing itself: its schemas are visited."""
    applies = keyword in ("items", "additionalItems", "unevaluatedItems", "additionalProperties")
    return (applies or keyword == "unevaluatedProperties") and schema[keyword] is not False


def near(value: Json, schema: dict[str, Any]) -> Iterator[Json]:
    """Yield values that differ from a valid one in one way, those at the schema's bounds first."""
    bounds = [argument for argument in schema.values() if is_number(argument)]
    if isinstance(value, str):
        yield from _near_strings(value, schema, bounds)
    elif isinstance(value, dict):
        yield from _near_objects(value, bounds)
    elif isinstance(value, list):
        yield from _near_arrays(value, bounds)
    elif is_number(value):
        for number in (*bounds, value):
            yield from (_whole(number + step) for step in (0, -1, 1, -10, 10, -1_000, 1_000))
        yield from (_whole(value + sign * bound) for bound in bounds for sign in (1, -1))
        yield from (-value, value + 0.5)
    yield from _OTHERS
    if is_number(value):
        yield from (_whole(value + bound / 2) for bound in bounds)


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number


def _sizes(bounds: Sequence[float], most: int) -> Iterator[int]:
    """Yield the sizes beside bounds that are at most ``most``."""
    for bound in bounds:
        yield from (int(bound) + step for step in (-1, 1) if 0 <= bound + step <= most)


def _near_strings(value: str, schema: dict[str, Any], bounds: Sequence[float]) -> Iterator[str]:
    yield from _OF_FORMATS.get(str(schema.get("format")), ())
    if "pattern" in schema:
        yield from (f"{value} ", f"!{value}")
    if "pattern" in schema or "format" in schema:
        yield from _beside_patterns(schema)
    for size in _sizes(bounds, LONG):
        yield value[:size] + (value[-1:] or "a") * (size - len(value))
        yield from ("é" * size, "0" * size)
    yield from (f"{value}x", value[:-1], value.swapcase(), "", f"{value}!", f" {value}")
    yield from (f"{value}\n", f"!{value}", value[1:], value + value, "a", "0", " ", "é", '"')
    for index in range(min(len(value), 12)):
        yield value[:index] + "~" + value[index + 1 :]


def _near_objects(value: dict[str, Json], bounds: Sequence[float]) -> Iterator[Json]:
    for name in value:
        yield {key: inner for key, inner in value.items() if key != name}
    yield {}
    yield from ({**value, EXTRA: other} for other in _OTHERS[:6])
    for name in ("a", "", "0", "a b", "é", "A" * 70, *(f"{name}!" for name in list(value)[:3])):
        yield {**value, name: next(iter(value.values()), 0)}
    for size in _sizes(bounds, _MOST_ITEMS):
        members = list(value.items())[:size]
        others = ((f"{EXTRA}{number}", 0) for number in range(size - len(members)))
        yield dict([*members, *others])
    for name in list(value)[:6]:
        yield from ({**value, name: other} for other in _OTHERS[:6])


def _near_arrays(value: list[Json], bounds: Sequence[float]) -> Iterator[Json]:
    pool = value or [0]
    numbers = {item for item in value if is_number(item)}
    for size in _sizes(bounds, _MOST_ITEMS):
        yield [pool[index % len(pool)] for index in range(size)]
        yield [*value, *(number for number in range(size) if number not in numbers)][:size]
        yield [*value, *map(str, range(size))][:size]
    yield from ([*value, item] for item in value[:3])
    for index in range(len(value)):
        yield value[:index] + value[index + 1 :]
    yield from ([*value, other] for other in _OTHERS[:6])
    yield from ([value[0] for _ in value], [{}, {}]) if value else ([{}, {}],)


def _beside_patterns(schema: dict[str, Any]) -> Iterator[str]:
    """Yield strings that a wider reading of a schema of strings allows, by the difference."""
    kept = {key: schema[key] for key in _OF_STRINGS if key in schema}
    for keyword in kept:
        if keyword != "format":
            yield from differing({k: v for k, v in kept.items() if k != keyword}, kept)
    for variant in _variants(str(kept.get("pattern", ""))) if "pattern" in kept else ():
        yield from differing({**kept, "pattern": variant}, kept)


_OF_STRINGS = ("pattern", "format", "minLength", "maxLength")
_LOOK_AROUND = re.compile(r"\(\?(?:<?[=!])")


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
        index = match.start()
        is_class = False
        while index < len(pattern):
            char = pattern[index]
            if char == "\\":
                index += 2
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
                    end = index + 1
                    break
            index += 1
        pattern = pattern[: match.start()] + pattern[end:]
        match = _LOOK_AROUND.search(pattern)
    return pattern
