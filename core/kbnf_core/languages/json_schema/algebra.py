"""Boolean expressions over the schemas of a document, and their normal form.

*Expressions* are the values allowed at a position. They name schemas by their JSON Pointer instead
of containing them, so they are finite even where schemas are recursive, and equal expressions are
equal values: a grammar gets one rule each, and so finitely many. The values of ``const`` and
``enum`` are hashable data here (``Constant``).

Of the schemas with one mark (``$dynamicAnchor``, ``$recursiveAnchor``) a dynamic reference means
that of the resource that was entered first on the way to it. So a way is known by that alone: for
each mark, the first schema with it. There are finitely many such scopes, and a schema is one schema
for each scope it is read in.

*The normal form* of an expression, a shape, is a union of branches, each of one type. Unions are
lists, intersections are computed pair by pair, complements type by type; ``allOf``, ``not``, ``if``
and ``oneOf`` need nothing of their own. Where pairs are too many, narrow products take the first
ones: a subset of the values, never others. The branches of strings and numbers are in
``value_sets``. Those of arrays and objects (``Arrays``, ``Objects``) are closed under
intersection, with complements as unions.

*Alternatives* that list their values, or whose objects all need one member with listed values
(``type``, ``kind``), are compared by these (``sharers``): every pair would cost the square.

Tests: tests/unit/languages/json_schema/test_products.py
"""

import enum
import json
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import product, zip_longest
from typing import Any, NamedTuple, TypeAlias, cast

from kbnf_core.automata.beginnings import Beginnings
from kbnf_core.automata.dfa import Dfa
from kbnf_core.languages.json_schema import SchemaLimits
from kbnf_core.languages.json_schema.keywords import (
    NarrowableError,
    ProblemError,
    too_large,
    too_many_kinds,
    unsupported,
)
from kbnf_core.languages.json_schema.value_sets import (
    STEPS,
    Kind,
    Matching,
    OneOf,
    Restricted,
    united,
)
from kbnf_core.text.budget import Budget
from kbnf_core.text.json_text import print_json, value_key
from kbnf_core.text.locks import cached_property


@dataclass(frozen=True, slots=True)
class Constant:
    """Exactly one value, by its text without gaps; numbers are as they were written."""

    text: str

    @property
    def value(self) -> Any:
        """The value, with decimals for numbers."""
        return json.loads(self.text, parse_float=Decimal, parse_int=Decimal)

    @property
    def key(self) -> Hashable:
        """The key that equal values share, however they are written."""
        return value_key(self.value)


def constant(value: Any) -> Constant:
    """Return a JSON value as it was read by ``document.read_json``."""
    return Constant(print_json(value))


def number_text(value: Decimal) -> str:
    """Return the shortest text of a number without an exponent; ``1.0`` becomes ``1``."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


Scope = tuple[tuple[str, str], ...]
"""For each mark that was met, in the order of marks, the pointer of the schema that has it."""


class Closing(enum.Enum):
    """Which objects of a schema are closed: have no members but those that are evaluated.

    OWN: those that the schema closes itself. WITHIN: also objects inside of members and items.
    WHOLE: the objects of the schema, too.
    """

    OWN = "own"
    WITHIN = "within"
    WHOLE = "whole"

    # There is one of each; that of ``Enum`` is a function in Python.
    __hash__ = object.__hash__


@dataclass(slots=True, eq=False)
class Ref:
    """The schema at a JSON Pointer of the document (or at a URI with one, of a meta-schema).

    ``scope`` decides what its dynamic references mean. A document has one of each.
    """

    pointer: str
    scope: Scope = ()
    closing: Closing = Closing.OWN


@dataclass(frozen=True, slots=True)
class AllOf:
    """The values that all operands allow; without operands, any value."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The values that any operand allows; without operands, no value."""

    operands: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Every other value."""

    operand: "Expression"


@dataclass(frozen=True, slots=True)
class WithoutProperty:
    """Objects without a member of this name, and values of other types."""

    name: str


@dataclass(frozen=True, slots=True)
class Others:
    """Objects whose members contain ``value``, but for some names, and values of other types.

    ``patterns`` are of JSON Schema: names in which one matches are left out, too.
    """

    names: tuple[str, ...]
    patterns: tuple[str, ...]
    value: "Expression"


@dataclass(frozen=True, slots=True)
class OthersBehind:
    """Arrays whose items after the first ``count`` contain ``value``, and values of other types."""

    count: int
    value: "Expression"


Expression: TypeAlias = (
    Ref | AllOf | AnyOf | Not | WithoutProperty | Others | OthersBehind | Constant
)

ANYTHING = AllOf(())
NOTHING = AnyOf(())


def both(expressions: Iterable[Expression]) -> Expression:
    """Return what all the expressions allow."""
    operands: dict[Expression, None] = {}
    for expression in expressions:
        if expression == NOTHING:
            return NOTHING
        operands.update(
            dict.fromkeys(expression.operands if isinstance(expression, AllOf) else (expression,))
        )
    # A contradiction of two expressions is seen here, without the normal form of either.
    if any(isinstance(operand, Not) and operand.operand in operands for operand in operands):
        return NOTHING
    return next(iter(operands)) if len(operands) == 1 else AllOf(tuple(operands))


def either(expressions: Iterable[Expression]) -> Expression:
    """Return what any of the expressions allows."""
    operands: dict[Expression, None] = {}
    for expression in expressions:
        if expression == ANYTHING:
            return ANYTHING
        operands.update(
            dict.fromkeys(expression.operands if isinstance(expression, AnyOf) else (expression,))
        )
    return next(iter(operands)) if len(operands) == 1 else AnyOf(tuple(operands))


def other(expression: Expression) -> Expression:
    """Return what the expression does not allow."""
    match expression:
        case Not(inner):
            return inner
        case AllOf(operands):
            # Complements go inwards, so that ``Not`` is around schemas and leaves only, and equal
            # expressions are equal values.
            return either(map(other, operands))
        case AnyOf(operands):
            return both(map(other, operands))
        case _:
            return Not(expression)


Excludes: TypeAlias = Callable[[Expression, Expression], bool]
"""Whether two expressions certainly have no value in common."""


def is_within(inner: Expression, outer: Expression, excludes: Excludes) -> bool:
    """Return whether ``outer`` certainly allows all values of ``inner``; False means unknown."""
    if isinstance(outer, AllOf):
        return all(is_within(inner, operand, excludes) for operand in outer.operands)
    if isinstance(inner, AnyOf):
        return all(is_within(operand, outer, excludes) for operand in inner.operands)
    # From here on a sufficient test: one operand has to suffice alone. Where only several together
    # do, the answer is False.
    if isinstance(inner, AllOf):
        return any(is_within(operand, outer, excludes) for operand in inner.operands)
    if isinstance(outer, AnyOf):
        return any(is_within(inner, operand, excludes) for operand in outer.operands)
    return inner == outer or (isinstance(outer, Not) and excludes(inner, outer.operand))


def common(one: Expression, two: Expression, excludes: Excludes) -> Expression:
    """Return what two expressions allow, without what either says of the other anyway.

    The order is that of ``both``: members of objects come in it.
    """
    if type(one) is Ref and type(two) is Ref:
        # By far the most.
        if one == two:
            return one
        return NOTHING if excludes(one, two) else AllOf((one, two))
    if NOTHING in (one, two):
        return NOTHING
    left, right = (side.operands if isinstance(side, AllOf) else (side,) for side in (one, two))
    if any(excludes(*pair) for pair in product(left, right)):
        return NOTHING
    # Conditions that the other side implies are left out, so that expressions stay small.
    if any(isinstance(operand, Not | AnyOf) for operand in (*left, *right)):
        left = tuple(p for p in left if p in right or not _follows(p, right, excludes))
        right = tuple(p for p in right if not _follows(p, left, excludes))
    return both((*left, *right))


def _follows(expression: Expression, others: Iterable[Expression], excludes: Excludes) -> bool:
    return isinstance(expression, Not | AnyOf) and any(
        is_within(o, expression, excludes) for o in others
    )


KEYS = Restricted(Kind.STRING)
"""All names."""

Region = tuple[Restricted, Expression]
"""Names, and what members with these names contain."""

_ANY_MEMBER: tuple[Region, ...] = ((KEYS, ANYTHING),)


@dataclass(frozen=True)
class Objects:
    """Objects by their members.

    ``named`` are the names with a say of their own, in the order in which they come; all others
    fall in exactly one of the disjoint ``regions``. Names that are ``required`` are always there;
    there are ``low`` to ``high`` members; and for each of ``present`` some member that fits it.
    """

    named: tuple[tuple[str, Expression], ...] = ()
    regions: tuple[Region, ...] = _ANY_MEMBER
    required: tuple[str, ...] = ()
    low: int = 0
    high: int | None = None
    present: tuple[Region, ...] = ()

    @cached_property
    def _by_name(self) -> dict[str, Expression]:
        return dict(self.named)

    def lookup(self, name: str) -> Expression:
        """Return the expression of the member with a name."""
        if name in self._by_name:
            return self._by_name[name]
        matching = (value for keys, value in self.regions if keys.holds(name))
        return next(matching, NOTHING)

    def is_within(self, more: "Objects", excludes: Excludes) -> bool:
        """Return whether all of these are certainly among others; False means unknown."""
        names = more._by_name
        if more.regions != _ANY_MEMBER:
            # Regions are compared by value only: inclusion of name patterns costs automata.
            if self.regions != more.regions:
                return False
            names = self._by_name | names
        return (
            more.low <= max(self.low, len(self.required))
            and (more.high is None or (self.high is not None and self.high <= more.high))
            and set(self.required).issuperset(more.required)
            and set(self.present).issuperset(more.present)
            and all(is_within(self.lookup(name), more.lookup(name), excludes) for name in names)
        )

    def meet(
        self, more: "Objects", budget: Budget, excludes: Excludes = lambda _one, _two: False
    ) -> "Objects | None":
        """Return the common objects; None where there is certainly none."""
        # What one side alone names stays as it is where the other side says nothing of other names.
        ours, theirs = self._by_name.keys(), more._by_name.keys()
        if more.regions == _ANY_MEMBER:
            changed = ours & theirs if self.regions == _ANY_MEMBER else theirs
        else:
            changed = ours if self.regions == _ANY_MEMBER else ours | theirs
        needed = len(self.required) + len(more.required)
        budget.spend(STEPS * (1 + 4 * len(changed) + needed) + max(len(ours), len(theirs)))
        values = {}
        for name in changed:
            value = values[name] = common(self.lookup(name), more.lookup(name), excludes)
            # Most pairs of alternatives have nothing in common, and are not looked at further.
            if value == NOTHING and (name in self.required or name in more.required):
                return None
        members = self._by_name | more._by_name | values
        highs = [high for high in (self.high, more.high) if high is not None]
        return checked(
            Objects(
                tuple(members.items()),
                common_regions(self.regions, more.regions, budget),
                tuple(dict.fromkeys((*self.required, *more.required))),
                max(self.low, more.low),
                min(highs, default=None),
                tuple(dict.fromkeys((*self.present, *more.present))),
            )
        )

    def remainder(self, budget: Budget) -> tuple["Objects", ...]:
        """Return all other objects."""
        # Another object breaks one of the conditions: a branch for each. Branches may overlap.
        budget.spend(STEPS * (len(self.named) + len(self.required)))
        return (
            *self._of_other_size(),
            # A required member is missing, or has another value.
            *(
                Objects(((name, other(self._by_name.get(name, ANYTHING))),))
                for name in self.required
            ),
            *self._with_other_members(budget),
            *self._without_present(budget),
        )

    def _of_other_size(self) -> Iterator["Objects"]:
        if self.low:
            yield Objects(high=self.low - 1)
        if self.high is not None:
            yield Objects(low=self.high + 1)

    def _with_other_members(self, budget: Budget) -> Iterator["Objects"]:
        for name, value in self.named:
            if value != ANYTHING and name not in self.required:
                yield Objects(((name, other(value)),), required=(name,))
        names = without(KEYS, tuple(name for name, _ in self.named))
        for keys, value in self.regions:
            shared = keys.meet(names, budget)
            if value != ANYTHING and shared is not None:
                yield Objects(present=((shared, other(value)),))

    def _without_present(self, budget: Budget) -> Iterator["Objects"]:
        for keys, value in self.present:
            rest = tuple((left, ANYTHING) for left in keys.remainder(budget))
            yield Objects(regions=((keys, other(value)), *rest))


def without(keys: Restricted, names: tuple[str, ...]) -> Restricted:
    """Return ``keys`` but for some names."""
    if not names:
        return keys
    return Restricted(keys.kind, (*keys.literals, (OneOf(names), False)))


def common_regions(
    left: tuple[Region, ...], right: tuple[Region, ...], budget: Budget
) -> tuple[Region, ...]:
    """Return disjoint regions that refine both."""
    regions = []
    # Where one side is all names the other is not looked at.
    for keys, value in left:
        for more, also in right:
            shared = keys.meet(more, budget)
            if shared is None:
                continue
            if shared in (keys, more) or not is_unsatisfiable(shared, budget):
                regions.append((shared, both((value, also))))
    return tuple(regions)


def is_unsatisfiable(keys: Restricted, budget: Budget) -> bool:
    """Return whether there is no such name; one literal alone always leaves some."""
    return len(keys.literals) > 1 and keys.is_empty(budget)


def split_regions(
    patterns: list[Region],
    rest: Expression,
    limits: SchemaLimits,
    pointer: str,
    budget: Budget,
) -> tuple[Region, ...]:
    """Return disjoint regions: for every combination of patterns the names that match just it."""
    # A region is within its patterns, whose numbers are the bits of the last number.
    regions: list[tuple[Restricted, tuple[Expression, ...], int]] = [(KEYS, (), 0)]
    index = Beginnings(_names_like(keys) for keys, _ in patterns)
    for number, (keys, value) in enumerate(patterns):
        split = []
        # Only patterns whose names may begin alike can overlap: others need no product.
        near = index.near(_names_like(keys))
        insides = [
            _common(names, keys, budget) if values and not within & ~near else None
            for names, values, within in regions
        ]
        is_apart = not any(insides)
        for inside, (names, values, within) in zip(insides, regions, strict=True):
            shared = inside
            if not values:
                # Names of a pattern that shares none with the others need no condition on them.
                shared = keys if is_apart else _common(names, keys, budget)
            if shared is None:
                split.append((names, values, within))
                continue
            split.append((shared, (*values, value), within | 1 << number))
            for outside in keys.remainder(budget):
                # Whether other names are left is asked once, of all patterns.
                left = _common(names, outside, budget) if values else names.meet(outside, budget)
                if left is not None:
                    split.append((left, values, within))
        regions = split
        if len(regions) > limits.overlaps:
            raise too_large("combinations of patterns", limits.overlaps, "overlaps", pointer)
    return tuple(
        (keys, both(values) if values else rest)
        for keys, values, _ in regions
        if values or not is_unsatisfiable(keys, budget)
    )


def _names_like(keys: Restricted) -> Dfa:
    """Return an automaton of names, all of ``keys`` among them, that is not large by a count."""
    wanted = (atom for atom, wanted in keys.literals if wanted and isinstance(atom, Matching))
    return next(wanted, Matching(keys.kind.value)).dfa()


def _common(one: Restricted, two: Restricted, budget: Budget) -> Restricted | None:
    """Return the names that two sets share; None for none."""
    shared = one.meet(two, budget)
    return None if shared is None or is_unsatisfiable(shared, budget) else shared


def checked(objects: Objects) -> Objects | None:
    """Return the objects, or None where a member that is needed cannot be."""
    impossible = any(objects.lookup(name) == NOTHING for name in objects.required)
    too_few = objects.high is not None and objects.high < max(objects.low, len(objects.required))
    if impossible or too_few:
        return None
    if any(_is_met(objects, region) for region in objects.present):
        left = tuple(region for region in objects.present if not _is_met(objects, region))
        objects = replace(objects, present=left)
    if objects.present and all(value == NOTHING for _, value in objects.regions):
        return _with_single_fits(objects)
    # So many members are there anyway.
    is_implied = 0 < objects.low <= len(objects.required)
    return replace(objects, low=0) if is_implied else objects


def _is_met(objects: Objects, region: Region) -> bool:
    """Return whether a member that is required certainly fits a region."""
    keys, value = region
    return any(
        is_within(objects.lookup(name), value, lambda _one, _two: False)
        for name in objects.required
        if keys.holds(name)
    )


def _with_single_fits(objects: Objects) -> Objects | None:
    """Return objects without other members than the named ones, with fewer of ``present``.

    One that only the member of one name can fit asks for that member.
    """
    present = []
    for keys, value in objects.present:
        names = [name for name, member in objects.named if member != NOTHING and keys.holds(name)]
        if not names:
            return None
        # Any of several members may be the one that fits, so the condition stays.
        if len(names) > 1:
            present.append((keys, value))
            continue
        named = {**objects._by_name, names[0]: both((objects.lookup(names[0]), value))}
        required = tuple(dict.fromkeys((*objects.required, *names)))
        objects = replace(objects, named=tuple(named.items()), required=required)
    rest = replace(objects, present=tuple(present))
    return rest if rest.present == objects.present else checked(rest)


class Contains(NamedTuple):
    """``low`` to ``high`` items have a value of ``item``; None has no bound."""

    item: Expression
    low: int
    high: int | None


@dataclass(frozen=True, slots=True)
class Arrays:
    """Arrays whose items are as ``prefix`` says, then as ``rest`` says, ``low`` to ``high`` many.

    ``unique`` asks that no two items are equal.
    """

    prefix: tuple[Expression, ...] = ()
    rest: Expression = ANYTHING
    low: int = 0
    high: int | None = None
    contains: tuple[Contains, ...] = ()
    unique: bool = False

    def item(self, index: int) -> Expression:
        """Return the expression of the item at an index."""
        return self.prefix[index] if index < len(self.prefix) else self.rest

    def meet(self, more: "Arrays", budget: Budget) -> "Arrays | None":
        """Return the common arrays; None where there is certainly none."""
        sizes = (self.prefix, more.prefix, self.contains, more.contains)
        budget.spend(STEPS * (1 + sum(map(len, sizes))))
        pairs = zip_longest(self.prefix, more.prefix)
        prefix = [both((a or self.rest, b or more.rest)) for a, b in pairs]
        highs = [high for high in (self.high, more.high) if high is not None]
        return checked_array(
            Arrays(
                tuple(prefix),
                both((self.rest, more.rest)),
                max(self.low, more.low),
                min(highs, default=None),
                tuple(dict.fromkeys((*self.contains, *more.contains))),
                self.unique or more.unique,
            )
        )

    def remainder(self, budget: Budget) -> tuple["Arrays", ...]:
        """Return all other arrays."""
        # An array that is as long has every item of the prefix.
        budget.spend(STEPS + len(self.prefix) ** 2)
        if self.unique:
            construct = "arrays that repeat an item (`uniqueItems` under `not`)"
            raise NarrowableError(unsupported(construct, "").problem)
        others = [*self._of_other_size(), *self._with_other_items()]
        for contained in self.contains:
            if contained.low:
                others.append(Arrays(contains=(contained._replace(low=0, high=contained.low - 1),)))
            if contained.high is not None:
                others.append(
                    Arrays(contains=(contained._replace(low=contained.high + 1, high=None),))
                )
        return tuple(others)

    def _of_other_size(self) -> Iterator["Arrays"]:
        if self.low:
            yield Arrays(high=self.low - 1)
        if self.high is not None:
            yield Arrays(low=self.high + 1)

    def _with_other_items(self) -> Iterator["Arrays"]:
        for index, item in enumerate(self.prefix):
            if item != ANYTHING:
                yield Arrays((*(ANYTHING,) * index, other(item)), low=index + 1)
        if self.rest == NOTHING:
            yield Arrays(low=len(self.prefix) + 1)
        elif self.rest != ANYTHING:
            if self.prefix:
                raise unsupported("`not` over `items` after `prefixItems`", "")
            yield Arrays(contains=(Contains(other(self.rest), 1, None),))


def checked_array(arrays: Arrays) -> Arrays | None:
    """Close off items that cannot be; None where so many are needed."""
    closed = next((i for i, item in enumerate(arrays.prefix) if item == NOTHING), None)
    if closed is None and arrays.rest == NOTHING:
        closed = len(arrays.prefix)
    if closed is not None:
        high = closed if arrays.high is None else min(arrays.high, closed)
        arrays = replace(arrays, prefix=arrays.prefix[:closed], rest=NOTHING, high=high)
    return None if arrays.high is not None and arrays.high < arrays.low else arrays


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


Branch: TypeAlias = Plain | Restricted | Arrays | Objects
Branches: TypeAlias = tuple[Branch, ...]
Pair: TypeAlias = tuple[Branch, Branch]
NormalForm: TypeAlias = Mapping[Type, Branches]
"""The branches of each type; a type without a value has no entry."""

FULL: Mapping[Type, Branch] = {
    Type.NULL: Plain((None,), (None,)),
    Type.BOOLEAN: Plain((True, False), (True, False)),
    Type.NUMBER: Restricted(Kind.NUMBER),
    Type.STRING: Restricted(Kind.STRING),
    Type.ARRAY: Arrays(),
    Type.OBJECT: Objects(),
}
ANY_SHAPE: NormalForm = {type_: (branch,) for type_, branch in FULL.items()}


def shape_of(type_: Type, branch: Branch | None) -> NormalForm:
    """Return the shape of one branch, or the empty one for None."""
    return {} if branch is None else {type_: (branch,)}


def union(shapes: Iterable[NormalForm]) -> NormalForm:
    """Return what any of the shapes contains."""
    by_type: dict[Type, list[Branch]] = {}
    for shape in shapes:
        for type_, branches in shape.items():
            by_type.setdefault(type_, []).extend(branches)
    return {type_: _merged(type_, branches) for type_, branches in by_type.items()}


def _merged(type_: Type, branches: Sequence[Branch]) -> tuple[Branch, ...]:
    if FULL[type_] in branches:
        return (FULL[type_],)
    if isinstance(branches[0], Plain):
        values = dict.fromkeys(value for branch in branches for value in cast(Plain, branch).values)
        return (Plain(tuple(values), branches[0].all),)
    if isinstance(branches[0], Restricted):
        return united(cast(Sequence[Restricted], branches))
    return tuple(dict.fromkeys(branches))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Products:
    """Makes intersections and complements of shapes.

    ``most`` bounds the branches of a type; where there are more, NarrowableError is raised, or some
    are left out where this ``is_narrow``. ``excludes`` says of two expressions whether they
    certainly have no value in common.
    """

    most: int
    budget: Budget
    excludes: Excludes
    is_narrow: bool = False

    def meet(self, left: NormalForm, right: NormalForm) -> NormalForm:
        """Return what both shapes contain."""
        products = {
            type_: self._branches(type_, left[type_], right.get(type_, ())) for type_ in left
        }
        return {type_: branches for type_, branches in products.items() if branches}

    def complement(self, shape: NormalForm) -> NormalForm:
        """Return everything that the shape does not contain."""
        remainders = {}
        for type_, full in FULL.items():
            branches: Branches = (full,)
            for branch in shape.get(type_, ()):
                # The complement of a superset is a subset of the complement.
                left: Branch = branch
                if self.is_narrow and isinstance(branch, Arrays):
                    left = replace(branch, unique=False)
                # The values outside of all branches: the intersection of what each leaves.
                branches = self._branches(type_, branches, left.remainder(self.budget))
            if branches:
                remainders[type_] = branches
        return remainders

    def _branches(self, type_: Type, left: Branches, right: Branches) -> Branches:
        if not left or not right:
            return ()
        if FULL[type_] in (left[0], right[0]):
            return right if left[0] == FULL[type_] else left
        products: dict[Branch, None] = {}
        # Listed alternatives stay as many; only combinations multiply.
        listed = max(self.most, len(left), len(right))
        pairs = _diagonally(left, right) if self.is_narrow else product(left, right)
        if isinstance(left[0], Objects) and max(len(left), len(right)) > 1:
            pairs = self._maximal_pairs(pairs, left, right)
        for branch, more in pairs:
            if len(products) > listed:
                if self.is_narrow:
                    break
                raise too_many_kinds(type_.value, self.most)
            # Branches of one type are of one class.
            if isinstance(branch, Objects):
                common: Branch | None = branch.meet(cast(Objects, more), self.budget, self.excludes)
            else:
                common = cast(Callable[[Any, Budget], Branch | None], branch.meet)(
                    more, self.budget
                )
            if common is not None:
                products[common] = None
        return _merged(type_, list(products)) if products else ()

    def _maximal_pairs(
        self, pairs: Iterable[Pair], left: Branches, right: Branches
    ) -> Iterator[Pair]:
        """Yield the pairs of objects without those whose common objects another pair has, too.

        Of objects within some of the other side, these two are the pair; what others have in common
        with them is a subset of that.
        """
        self.budget.spend(STEPS * len(left) * len(right))
        outer = {id(one): self._around(one, right) for one in left}
        inner = {id(two): self._around(two, left) for two in right}
        for one, two in pairs:
            around = outer[id(one)]
            if around is two if around else inner[id(two)] in (None, one):
                yield one, two

    def _around(self, branch: Branch, others: Branches) -> Branch | None:
        """Return the first one that certainly contains all objects of a branch."""
        whole = (
            container
            for container in others
            if cast(Objects, branch).is_within(cast(Objects, container), self.excludes)
        )
        return next(whole, None)


def _diagonally(left: Branches, right: Branches) -> Iterator[Pair]:
    """Yield all pairs, those of the first branches of both sides first."""
    for total in range(len(left) + len(right) - 1):
        for index in range(max(0, total - len(right) + 1), min(total + 1, len(left))):
            yield left[index], right[total - index]


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
            objects = Objects(named, ((KEYS, NOTHING),), tuple(value))
            return shape_of(Type.OBJECT, objects)


Signs = frozenset[Hashable]
"""What two alternatives have in common if they share a value."""

Find: TypeAlias = Callable[[Expression], NormalForm]


def sharers(find: Find, alternatives: Sequence[NormalForm | None]) -> Iterator[list[int]]:
    """Yield, for each alternative, the later ones that may share a value with it.

    Nothing is known of those that are None. ``find`` returns the normal form of an expression.
    """
    name = _discriminator(find, alternatives)
    signs = [None if shape is None else signs_of(find, shape, name) for shape in alternatives]
    unlisted = [i for i, listed in enumerate(signs) if listed is None]
    by_sign: dict[Hashable, list[int]] = {}
    for i, listed in enumerate(signs):
        for sign in listed or ():
            by_sign.setdefault(sign, []).append(i)
    for i, listed in enumerate(signs):
        if listed is None:
            yield list(range(i + 1, len(signs)))
            continue
        others = {*unlisted, *(j for sign in listed for j in by_sign[sign])}
        yield sorted(j for j in others if j > i)


def _discriminator(find: Find, alternatives: Sequence[NormalForm | None]) -> str | None:
    """Return a member that the first objects need and whose values they list."""
    for shape in filter(None, alternatives):
        for branch in shape.get(Type.OBJECT, ()):
            if isinstance(branch, Objects):
                names = (name for name in branch.required if _member(find, branch, name))
                return next(names, None)
    return None


def signs_of(find: Find, shape: NormalForm, name: str | None = None) -> Signs | None:
    """Return the values of a shape by type; of objects with a member ``name`` its values."""
    signs: set[Hashable] = set()
    for type_, branches in shape.items():
        for branch in branches:
            values = _listed(branch)
            if isinstance(branch, Objects) and name in branch.required:
                values = _member(find, branch, name)
            if values is None:
                return None
            signs.update((type_, value) for value in values)
    return frozenset(signs)


def _member(find: Find, branch: Objects, name: str) -> Signs | None:
    """Return the values of a member by type, where they are listed."""
    try:
        shape = find(branch.lookup(name))
    except ProblemError:
        # Its evaluation is in progress, or fails; the caller that needs it reports that.
        return None
    return signs_of(find, shape)


def _listed(branch: Branch) -> tuple[Hashable, ...] | Signs | None:
    if isinstance(branch, Plain):
        return branch.values
    return branch.finite if isinstance(branch, Restricted) else None
