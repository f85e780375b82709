"""What a schema evaluates: which members and items its keywords speak of, by cases.

``unevaluatedProperties`` and ``unevaluatedItems`` are read by cases, since what a schema evaluates
depends on which of its alternatives apply. Each case is a condition and what is evaluated where it
applies; the cases of a schema cover its values. Where more applies, more is evaluated and so more
is allowed; that is why alternatives need not exclude each other: the union over all sets of
alternatives that are compatible is exact.

A schema that a caller closes (``expressions.Closing``) is read by the same cases: it allows no
members but those that are evaluated.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import combinations
from typing import NamedTuple

from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    NOTHING,
    AllOf,
    Expression,
    Others,
    OthersBehind,
    Ref,
    WithoutProperty,
    both,
    either,
    other,
)
from kbnf_core.languages.json_schema.options import SchemaLimits
from kbnf_core.languages.json_schema.problems import too_large, unsupported
from kbnf_core.languages.json_schema.type_keywords import pointer_to

_DYNAMIC = frozenset({"$dynamicRef", "$recursiveRef"})


class Evaluated(NamedTuple):
    """What is evaluated: names, names by pattern, so many items; or all members, all items.

    ``contained`` are schemas whose values are evaluated wherever they are among the items;
    ``has_properties`` says whether there was the keyword ``properties``.
    """

    names: frozenset[str] = frozenset()
    patterns: frozenset[str] = frozenset()
    items: int = 0
    contained: frozenset[Expression] = frozenset()
    all_members: bool = False
    all_items: bool = False
    has_properties: bool = False

    def join(self, more: "Evaluated") -> "Evaluated":
        """Return what either evaluates."""
        return Evaluated(
            self.names | more.names,
            self.patterns | more.patterns,
            max(self.items, more.items),
            self.contained | more.contained,
            self.all_members or more.all_members,
            self.all_items or more.all_items,
            self.has_properties or more.has_properties,
        )


Case = tuple[Expression, Evaluated]


def read_unevaluated(
    document: Document, limits: SchemaLimits, place: Place, keyword: str
) -> Expression:
    """Return what ``unevaluatedProperties`` or ``unevaluatedItems`` allows beside its siblings."""
    value = document.inside(place, keyword)
    if value == ANYTHING:
        return ANYTHING
    pointer = pointer_to(place, keyword)
    reader = _Reader(document, limits, pointer, items=keyword == "unevaluatedItems")
    found = []
    for condition, evaluated in reader.cases(place, (), without=keyword):
        rest: Expression = ANYTHING
        if keyword == "unevaluatedItems" and not evaluated.all_items:
            rest = OthersBehind(
                evaluated.items, either((value, *sorted(evaluated.contained, key=repr)))
            )
        elif keyword == "unevaluatedProperties" and not evaluated.all_members:
            names, patterns = sorted(evaluated.names), sorted(evaluated.patterns)
            rest = Others(tuple(names), tuple(patterns), value)
        found.append(both((condition, rest)))
    return either(found)


def read_closed(document: Document, limits: SchemaLimits, place: Place) -> Expression:
    """Return the values of which no object has members that nothing evaluates.

    Objects stay open in cases without ``properties``, and where something speaks of all members.
    """
    found = []
    reader = _Reader(document, limits, place.pointer, items=False)
    for condition, evaluated in reader.cases(place, ()):
        rest: Expression = ANYTHING
        if evaluated.has_properties and not evaluated.all_members:
            names, patterns = sorted(evaluated.names), sorted(evaluated.patterns)
            rest = Others(tuple(names), tuple(patterns), NOTHING)
        found.append(both((condition, rest)))
    return either(found)


class _Reader:
    """Finds the cases of one keyword; what the keyword itself evaluates is none of its business."""

    def __init__(
        self, document: Document, limits: SchemaLimits, pointer: str, *, items: bool
    ) -> None:
        self._document = document
        self._limits = limits
        self._pointer = pointer
        self._items = items

    def of(self, expression: Expression, open_: tuple[Expression, ...]) -> list[Case]:
        """Return the cases of a schema; of one that is being looked at, nothing is known."""
        if not isinstance(expression, Ref):
            return [(expression, Evaluated())]
        if expression in open_ or len(open_) > self._limits.applied:
            raise unsupported("what is evaluated depends on itself", self._pointer)
        place = self._document.place(expression)
        return [
            (condition if condition == expression else both((expression, condition)), evaluated)
            for condition, evaluated in self.cases(place, (*open_, expression))
        ]

    def cases(self, place: Place, open_: tuple[Expression, ...], without: str = "") -> list[Case]:
        """Return the cases of a schema object, conditions beside the schema itself."""
        found: list[Case] = [(ANYTHING, self._own(place, without))]
        for part in self._parts(place, open_):
            found = self._merged(
                (both((condition, also)), evaluated.join(more))
                for condition, evaluated in found
                for also, more in part
            )
        return found

    def _merged(self, cases: Iterable[Case]) -> list[Case]:
        """Join conditions under which the same is evaluated; of more, only the weakest counts."""
        by_evaluated: dict[Evaluated, list[Expression]] = {}
        for condition, evaluated in cases:
            by_evaluated.setdefault(evaluated, []).append(condition)
            most = self._limits.alternatives
            if len(by_evaluated) > most:
                raise too_large("combinations of what is evaluated", most, "alternatives")
        return [(either(conditions), evaluated) for evaluated, conditions in by_evaluated.items()]

    def _own(self, place: Place, without: str) -> Evaluated:
        contents = place.contents
        if without != "unevaluatedProperties" and "unevaluatedProperties" in contents:
            all_members = True
        else:
            all_members = "additionalProperties" in contents
        listed = contents.get("items")
        prefix = listed if isinstance(listed, list) else contents.get("prefixItems", ())
        rest = "additionalItems" if isinstance(listed, list) else "items"
        all_items = rest in contents or (
            without != "unevaluatedItems" and "unevaluatedItems" in contents
        )
        contained: frozenset[Expression] = frozenset()
        if self._items and "contains" in contents and self._document.contains_evaluates:
            contained = frozenset((self._document.inside(place, "contains"),))
        return Evaluated(
            frozenset(contents.get("properties", ())),
            frozenset(contents.get("patternProperties", ())),
            len(prefix),
            contained,
            all_members,
            all_items,
            "properties" in contents,
        )

    def _parts(self, place: Place, open_: tuple[Expression, ...]) -> Iterator[list[Case]]:
        """Yield the cases of each applicator."""
        document, contents = self._document, place.contents
        if "$ref" in contents:
            yield self.of(document.follow(place, "$ref"), open_)
        for keyword in _DYNAMIC & contents.keys():
            yield self.of(document.follow_dynamic(place, keyword), open_)
        for number in range(len(contents.get("allOf", ()))):
            yield self.of(document.inside(place, "allOf", str(number)), open_)
        for keyword in ("anyOf", "oneOf"):
            if keyword in contents:
                parts = [
                    self.of(document.inside(place, keyword, str(number)), open_)
                    for number in range(len(contents[keyword]))
                ]
                yield self._sets(parts, most=1 if keyword == "oneOf" else len(parts))
        if "if" in contents:
            yield list(self._conditional(place, open_))
        for keyword in ("dependentSchemas", "dependencies"):
            for name, value in contents.get(keyword, {}).items():
                if isinstance(value, dict):
                    held = self.of(document.inside(place, keyword, name), open_)
                    absent = WithoutProperty(name)
                    yield [(absent, Evaluated()), *((both((other(absent), c)), e) for c, e in held)]

    def _sets(self, parts: list[list[Case]], most: int) -> list[Case]:
        """Return the cases in which some of the alternatives hold, one at least."""
        plain = [i for i, cases in enumerate(parts) if all(e == Evaluated() for _, e in cases)]
        telling = [i for i in range(len(parts)) if i not in plain]
        # Alternatives that evaluate nothing need not be told apart from each other.
        found: list[Case] = [(c, e) for i in plain for c, e in parts[i]]
        for count in range(1, min(most, len(telling)) + 1):
            for chosen in combinations(telling, count):
                together = reduce(_product, (parts[i] for i in chosen))
                found = self._merged([*found, *together])
        return found

    def _conditional(self, place: Place, open_: tuple[Expression, ...]) -> Iterator[Case]:
        document, contents = self._document, place.contents
        condition = document.inside(place, "if")
        anything: list[Case] = [(AllOf(()), Evaluated())]
        then = self.of(document.inside(place, "then"), open_) if "then" in contents else anything
        otherwise = (
            self.of(document.inside(place, "else"), open_) if "else" in contents else anything
        )
        yield from _product(self.of(condition, open_), then)
        for also, evaluated in otherwise:
            yield both((other(condition), also)), evaluated


def _product(left: list[Case], right: list[Case]) -> list[Case]:
    return [(both((a, b)), one.join(two)) for a, one in left for b, two in right]
