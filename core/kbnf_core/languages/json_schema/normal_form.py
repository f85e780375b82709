"""The normal form of expressions: the values allowed at a position, by type.

A shape is a union of parts, each of one type. Unions are lists, intersections are computed pair by
pair, complements type by type; ``allOf``, ``not``, ``if`` and ``oneOf`` need nothing of their own.
Where pairs are too many, narrow products take the first ones: part of the values, never others.
"""

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product
from typing import Any, TypeAlias, cast

from kbnf_core.languages.json_schema.atoms import OneOf
from kbnf_core.languages.json_schema.expressions import NOTHING, Constant, Excludes, constant
from kbnf_core.languages.json_schema.nested import KEYS, Arrays, Objects
from kbnf_core.languages.json_schema.problems import too_many_kinds
from kbnf_core.languages.json_schema.value_sets import STEPS, Kind, Restricted, united
from kbnf_core.text.budget import Budget


class Type(enum.Enum):
    """The types of JSON values; integers are numbers."""

    NULL = "null"
    BOOLEAN = "boolean"
    NUMBER = "number"
    STRING = "string"
    ARRAY = "array"
    OBJECT = "object"

    # There is one of each; that of ``Enum`` is a function in Python.
    __hash__ = object.__hash__


@dataclass(frozen=True, slots=True)
class Plain:
    """Values listed one by one: null, true, false."""

    values: tuple[bool | None, ...]
    all: tuple[bool | None, ...]

    def meet(self, more: "Plain", budget: Budget) -> "Plain | None":
        """Return the common values; None for none."""
        budget.spend(STEPS)
        values = tuple(value for value in self.values if value in more.values)
        return Plain(values, self.all) if values else None

    def remainder(self, budget: Budget) -> tuple["Plain", ...]:
        """Return the other values."""
        budget.spend(STEPS)
        values = tuple(value for value in self.all if value not in self.values)
        return (Plain(values, self.all),) if values else ()


Part: TypeAlias = Plain | Restricted | Arrays | Objects
Parts: TypeAlias = tuple[Part, ...]
Pair: TypeAlias = tuple[Part, Part]
NormalForm: TypeAlias = Mapping[Type, Parts]
"""The parts of each type; a type that cannot be has none and no entry."""

FULL: Mapping[Type, Part] = {
    Type.NULL: Plain((None,), (None,)),
    Type.BOOLEAN: Plain((True, False), (True, False)),
    Type.NUMBER: Restricted(Kind.NUMBER),
    Type.STRING: Restricted(Kind.STRING),
    Type.ARRAY: Arrays(),
    Type.OBJECT: Objects(),
}
ANY_SHAPE: NormalForm = {type_: (part,) for type_, part in FULL.items()}


def shape_of(type_: Type, part: Part | None) -> NormalForm:
    """Return the shape of one part, or of none."""
    return {} if part is None else {type_: (part,)}


def union(shapes: Iterable[NormalForm]) -> NormalForm:
    """Return what any of the shapes contains."""
    found: dict[Type, list[Part]] = {}
    for shape in shapes:
        for type_, parts in shape.items():
            found.setdefault(type_, []).extend(parts)
    return {type_: _merged(type_, parts) for type_, parts in found.items()}


def _merged(type_: Type, parts: Sequence[Part]) -> tuple[Part, ...]:
    if FULL[type_] in parts:
        return (FULL[type_],)
    if isinstance(parts[0], Plain):
        values = dict.fromkeys(value for part in parts for value in cast(Plain, part).values)
        return (Plain(tuple(values), parts[0].all),)
    if isinstance(parts[0], Restricted):
        return united(cast(Sequence[Restricted], parts))
    return tuple(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Products:
    """Makes intersections and complements of shapes.

    ``most`` bounds the parts of a type; where there are more, NarrowableError is raised, or some
    are left out where this ``is_narrow``. ``excludes`` says of two expressions whether they
    certainly have no value in common.
    """

    most: int
    budget: Budget
    excludes: Excludes
    is_narrow: bool = False

    def meet(self, left: NormalForm, right: NormalForm) -> NormalForm:
        """Return what both shapes contain."""
        found = {type_: self._parts(type_, left[type_], right.get(type_, ())) for type_ in left}
        return {type_: parts for type_, parts in found.items() if parts}

    def complement(self, shape: NormalForm) -> NormalForm:
        """Return everything that the shape does not contain."""
        found = {}
        for type_, full in FULL.items():
            parts: Parts = (full,)
            for part in shape.get(type_, ()):
                # What more arrays leave is part of it.
                left: Part = part
                if self.is_narrow and isinstance(part, Arrays):
                    left = replace(part, unique=False)
                parts = self._parts(type_, parts, left.remainder(self.budget))
            if parts:
                found[type_] = parts
        return found

    def _parts(self, type_: Type, left: Parts, right: Parts) -> Parts:
        if not left or not right:
            return ()
        if FULL[type_] in (left[0], right[0]):
            return right if left[0] == FULL[type_] else left
        found: dict[Part, None] = {}
        # What was listed one by one stays as many; only combinations multiply.
        listed = max(self.most, len(left), len(right))
        pairs = _diagonally(left, right) if self.is_narrow else product(left, right)
        if isinstance(left[0], Objects) and max(len(left), len(right)) > 1:
            pairs = self._telling(pairs, left, right)
        for part, more in pairs:
            if len(found) > listed:
                if self.is_narrow:
                    break
                raise too_many_kinds(type_.value, self.most)
            # Parts of one type are of one class.
            if isinstance(part, Objects):
                common: Part | None = part.meet(cast(Objects, more), self.budget, self.excludes)
            else:
                common = cast(Callable[[Any, Budget], Part | None], part.meet)(more, self.budget)
            if common is not None:
                found[common] = None
        return _merged(type_, list(found)) if found else ()

    def _telling(self, pairs: Iterable[Pair], left: Parts, right: Parts) -> Iterator[Pair]:
        """Yield the pairs of objects without those whose common objects another pair has, too.

        Of objects within some of the other side, these two are the pair; what others have in common
        with them is part of that.
        """
        self.budget.spend(STEPS * len(left) * len(right))
        outer = {id(one): self._around(one, right) for one in left}
        inner = {id(two): self._around(two, left) for two in right}
        for one, two in pairs:
            around = outer[id(one)]
            if around is two if around else inner[id(two)] in (None, one):
                yield one, two

    def _around(self, part: Part, others: Parts) -> Part | None:
        """Return the first one that certainly contains all objects of a part."""
        whole = (
            each
            for each in others
            if cast(Objects, part).is_within(cast(Objects, each), self.excludes)
        )
        return next(whole, None)


def _diagonally(left: Parts, right: Parts) -> Iterator[Pair]:
    """Yield all pairs, those of the first parts of both sides first."""
    for total in range(len(left) + len(right) - 1):
        for place in range(max(0, total - len(right) + 1), min(total + 1, len(left))):
            yield left[place], right[total - place]


def constant_shape(constant_: Constant) -> NormalForm:
    """Return the shape that contains just this value."""
    value = constant_.value
    match value:
        case None:
            return shape_of(Type.NULL, Plain((None,), (None,)))
        case bool():
            return shape_of(Type.BOOLEAN, Plain((value,), (True, False)))
        case Decimal():
            return shape_of(Type.NUMBER, Restricted(Kind.NUMBER, ((OneOf((value,)), True),)))
        case str():
            return shape_of(Type.STRING, Restricted(Kind.STRING, ((OneOf((value,)), True),)))
        case list():
            items = tuple(map(constant, value))
            return shape_of(Type.ARRAY, Arrays(items, NOTHING, len(items), len(items)))
        case _:
            named = tuple((name, constant(item)) for name, item in value.items())
            found = Objects(named, ((KEYS, NOTHING),), tuple(value))
            return shape_of(Type.OBJECT, found)
