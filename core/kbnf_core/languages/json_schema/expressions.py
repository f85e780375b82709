"""Boolean expressions over the schemas of a document: the values allowed at a position.

Expressions name schemas by their JSON Pointer instead of containing them, so they are finite even
where schemas are recursive, and equal expressions are equal values: a grammar gets one rule each,
and so finitely many.

Of the schemas with one mark (``$dynamicAnchor``, ``$recursiveAnchor``) a dynamic reference means
that of the resource that was entered first on the way to it. So a way is known by that alone: for
each mark, the first schema with it. There are finitely many such scopes, and a schema is one schema
for each scope it is read in.

The values of ``const`` and ``enum`` are hashable data here (``Constant``).
"""

import enum
import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any, TypeAlias


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
        """What equal values share, however they are written."""
        return key_of(self.value)


def key_of(value: Any) -> Hashable:
    """Return a key under which values equal in JSON Schema collide; truth values are no numbers."""
    if isinstance(value, list):
        return list, tuple(map(key_of, value))
    if isinstance(value, dict):
        return dict, frozenset((name, key_of(held)) for name, held in value.items())
    return isinstance(value, bool), value


def constant(value: Any) -> Constant:
    """Return a JSON value as it was read by ``document.read_json``."""
    return Constant("".join(_spell(value)))


def number_text(value: Decimal) -> str:
    """Return the shortest text of a number without an exponent; ``1.0`` becomes ``1``."""
    text = format(value, "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _spell(root: Any) -> Iterator[str]:
    """Yield the pieces of a text, without recursion."""
    pending = [root]
    while pending:
        value = pending.pop()
        if isinstance(value, _Piece):
            yield value
        elif isinstance(value, dict):
            pending.extend(reversed(_members(value)))
        elif isinstance(value, list):
            parts = [part for item in value for part in (_Piece(","), item)]
            pending.extend([_Piece("]"), *reversed(parts[1:]), _Piece("[")])
        elif isinstance(value, bool) or value is None:
            yield json.dumps(value)
        elif isinstance(value, str):
            yield json.dumps(value, ensure_ascii=False)
        else:
            yield str(value)


class _Piece(str):
    """Text that is written as it is."""

    __slots__ = ()


def _members(value: dict[str, Any]) -> list[Any]:
    parts: list[Any] = [_Piece("{")]
    for count, (name, item) in enumerate(value.items()):
        comma = "," if count else ""
        parts += [_Piece(f"{comma}{json.dumps(name, ensure_ascii=False)}:"), item]
    return [*parts, _Piece("}")]


Scope = tuple[tuple[str, str], ...]
"""For each mark that was met, in the order of marks, the pointer of the schema that has it."""

RECURSIVE = ""
"""The mark of ``$recursiveAnchor``, which has no name."""


class Marks:
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


class Closing(enum.Enum):
    """Which objects of a schema are closed: have no members but those that are evaluated.

    NONE: those that the schema closes itself. WITHIN: also objects inside of members and items.
    WHOLE: the objects of the schema, too.
    """

    NONE = "none"
    WITHIN = "within"
    WHOLE = "whole"

    # There is one of each; that of ``Enum`` is a function in Python.
    __hash__ = object.__hash__


@dataclass(slots=True, eq=False)
class Ref:
    """The schema at a JSON Pointer of the document (or at a URI with one, of a meta-schema).

    ``scope`` is what its dynamic references mean. A document has one of each.
    """

    pointer: str
    scope: Scope = ()
    closing: Closing = Closing.NONE


@dataclass(frozen=True, slots=True)
class AllOf:
    """The values of all parts; of none, any value."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The values of any part; of none, no value."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Every other value."""

    part: "Expression"


@dataclass(frozen=True, slots=True)
class WithoutProperty:
    """Objects without a member of this name, and everything that is no object."""

    name: str


@dataclass(frozen=True, slots=True)
class Others:
    """Objects whose members contain ``value``, but for those with some names; what is no object.

    ``patterns`` are of JSON Schema: names in which one matches are left out, too.
    """

    names: tuple[str, ...]
    patterns: tuple[str, ...]
    value: "Expression"


@dataclass(frozen=True, slots=True)
class OthersBehind:
    """Arrays whose items after the first ``count`` contain ``value``, and what is no array."""

    count: int
    value: "Expression"


Expression: TypeAlias = (
    Ref | AllOf | AnyOf | Not | WithoutProperty | Others | OthersBehind | Constant
)

ANYTHING = AllOf(())
NOTHING = AnyOf(())


def both(parts: Iterable[Expression]) -> Expression:
    """Return what all the parts allow."""
    found: dict[Expression, None] = {}
    for part in parts:
        if part == NOTHING:
            return NOTHING
        found.update(dict.fromkeys(part.parts if isinstance(part, AllOf) else (part,)))
    if any(isinstance(part, Not) and part.part in found for part in found):
        return NOTHING
    return next(iter(found)) if len(found) == 1 else AllOf(tuple(found))


def either(parts: Iterable[Expression]) -> Expression:
    """Return what any of the parts allows."""
    found: dict[Expression, None] = {}
    for part in parts:
        if part == ANYTHING:
            return ANYTHING
        found.update(dict.fromkeys(part.parts if isinstance(part, AnyOf) else (part,)))
    return next(iter(found)) if len(found) == 1 else AnyOf(tuple(found))


def other(part: Expression) -> Expression:
    """Return what the part does not allow."""
    match part:
        case Not(inner):
            return inner
        case AllOf(parts):
            return either(map(other, parts))
        case AnyOf(parts):
            return both(map(other, parts))
        case _:
            return Not(part)


Excludes: TypeAlias = Callable[[Expression, Expression], bool]
"""Whether two expressions certainly have no value in common."""


def is_within(part: Expression, whole: Expression, excludes: Excludes) -> bool:
    """Return whether a part certainly has only values of the whole; False means unknown."""
    if isinstance(whole, AllOf):
        return all(is_within(part, each, excludes) for each in whole.parts)
    if isinstance(part, AnyOf):
        return all(is_within(each, whole, excludes) for each in part.parts)
    if isinstance(part, AllOf):
        return any(is_within(each, whole, excludes) for each in part.parts)
    if isinstance(whole, AnyOf):
        return any(is_within(part, each, excludes) for each in whole.parts)
    return part == whole or (isinstance(whole, Not) and excludes(part, whole.part))


def common(one: Expression, two: Expression, excludes: Excludes) -> Expression:
    """Return what two expressions allow, without what either says of the other anyway.

    The order of what is left is that of ``both``: members of objects come in it.
    """
    if type(one) is Ref and type(two) is Ref:
        # By far the most.
        if one == two:
            return one
        return NOTHING if excludes(one, two) else AllOf((one, two))
    if NOTHING in (one, two):
        return NOTHING
    left, right = (each.parts if isinstance(each, AllOf) else (each,) for each in (one, two))
    if any(excludes(*pair) for pair in product(left, right)):
        return NOTHING
    if any(isinstance(part, Not | AnyOf) for part in (*left, *right)):
        left = tuple(p for p in left if p in right or not _follows(p, right, excludes))
        right = tuple(p for p in right if not _follows(p, left, excludes))
    return both((*left, *right))


def _follows(part: Expression, others: Iterable[Expression], excludes: Excludes) -> bool:
    return isinstance(part, Not | AnyOf) and any(is_within(o, part, excludes) for o in others)
