"""The keywords that combine schemas, as expressions.

Comparing every pair of ``oneOf`` costs the square of their number. Alternatives that list their
values (``const``, ``enum``), or whose objects all need one member with listed values (``type``,
``kind``), are compared by these values instead.
"""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.arguments import (
    pointer_to,
    take_list,
    take_names,
    take_object,
)
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.emptiness import is_shape_void
from kbnf_core.languages.json_schema.expressions import (
    ANYTHING,
    Expression,
    WithoutProperty,
    both,
    either,
    other,
)
from kbnf_core.languages.json_schema.normal_form import ANY_SHAPE, NormalForm, Part, Plain, Type
from kbnf_core.languages.json_schema.objects import Objects
from kbnf_core.languages.json_schema.problems import (
    ProblemError,
    invalid,
    too_large,
    too_many_states,
)
from kbnf_core.languages.json_schema.value_sets import Restricted
from kbnf_core.languages.json_schema.values import constant

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas


def read_applicator(
    schemas: "Schemas", place: Place, keyword: str, siblings: Callable[[], NormalForm]
) -> Expression:
    """Return what one keyword of APPLICATORS means.

    ``siblings`` returns what the keywords beside it allow: alternatives that differ only in what
    is not allowed anyway are as good as disjoint.
    """
    document = schemas.document
    match keyword:
        case "$ref":
            return document.follow(place, keyword)
        case "$dynamicRef" | "$recursiveRef":
            return document.follow_dynamic(place, keyword)
        case "allOf":
            return both(_each(place, document, keyword))
        case "anyOf":
            return either(_each(place, document, keyword))
        case "oneOf":
            parts = _each(place, document, keyword)
            coerced = schemas.options.coerce_one_of
            return either(parts) if coerced else exactly_one(schemas, parts, siblings())
        case "not":
            return other(document.inside(place, keyword))
        case "if":
            return _conditional(place, document)
        case "const":
            return constant(place.contents[keyword])
        case "enum":
            return either(_listed_values(place, schemas.limits.states))
        case _:
            return _dependencies(place, document, keyword)


def _listed_values(place: Place, most: int) -> Iterator[Expression]:
    values = take_list(place, "enum")
    if sum(len(str(value)) for value in values if isinstance(value, Decimal)) > most:
        raise too_many_states(most, pointer_to(place, "enum"))
    return map(constant, values)


def _each(place: Place, document: Document, keyword: str) -> list[Expression]:
    count = len(take_list(place, keyword))
    if not count:
        raise invalid(f"`{keyword}` contains at least one schema", pointer_to(place, keyword))
    return [document.inside(place, keyword, str(i)) for i in range(count)]


def exactly_one(
    schemas: "Schemas", parts: list[Expression], siblings: NormalForm = ANY_SHAPE
) -> Expression:
    """Return what one part allows and all others refuse; disjoint parts stay as they are."""
    # What others refuse is what they refuse as they are written, however closed.
    written = [schemas.document.as_written(part) for part in parts]
    shapes = [schemas.meet([siblings, schemas.shape(part)]) for part in written]
    overlaps: list[list[Expression]] = [[] for _ in parts]
    for i, later in enumerate(sharers(schemas, shapes)):
        for j in later:
            if not is_shape_void(schemas, schemas.meet([shapes[i], shapes[j]])):
                overlaps[i].append(other(written[j]))
                overlaps[j].append(other(written[i]))
        most = schemas.limits.overlaps
        if len(overlaps[i]) > most:
            raise too_large("schemas of `oneOf` that share values with one", most, "overlaps")
    return either(both((part, *others)) for part, others in zip(parts, overlaps, strict=True))


def _conditional(place: Place, document: Document) -> Expression:
    condition = document.inside(place, "if")
    then, otherwise = (
        document.inside(place, word) if word in place.contents else ANYTHING
        for word in ("then", "else")
    )
    if then == otherwise:
        return then
    return either((both((condition, then)), both((other(condition), otherwise))))


def _dependencies(place: Place, document: Document, keyword: str) -> Expression:
    """Return ``dependentRequired``, ``dependentSchemas``, or both as ``dependencies``."""
    found = []
    for name, value in take_object(place, keyword).items():
        if keyword == "dependentRequired" or isinstance(value, list):
            names = take_names(value, pointer_to(place, keyword, name))
            needed = both(other(WithoutProperty(needed)) for needed in names)
        elif isinstance(value, str) and keyword == "dependencies":
            needed = other(WithoutProperty(value))
        else:
            needed = document.inside(place, keyword, name)
        # The member that asks comes before those that it asks for.
        found.append(either((both((other(WithoutProperty(name)), needed)), WithoutProperty(name))))
    return both(found)


Signs = frozenset[Hashable]
"""What two alternatives have in common if they share a value."""


def sharers(schemas: "Schemas", alternatives: Sequence[NormalForm]) -> Iterator[list[int]]:
    """Yield, for each alternative, the later ones that may share a value with it."""
    name = _discriminator(schemas, alternatives)
    signs = [_signs(schemas, shape, name) for shape in alternatives]
    unlisted = [i for i, found in enumerate(signs) if found is None]
    by_sign: dict[Hashable, list[int]] = {}
    for i, found in enumerate(signs):
        for sign in found or ():
            by_sign.setdefault(sign, []).append(i)
    for i, found in enumerate(signs):
        if found is None:
            yield list(range(i + 1, len(signs)))
            continue
        others = {*unlisted, *(j for sign in found for j in by_sign[sign])}
        yield sorted(j for j in others if j > i)


def _discriminator(schemas: "Schemas", alternatives: Sequence[NormalForm]) -> str | None:
    """Return a member that the first objects need and whose values they list."""
    for shape in alternatives:
        for part in shape.get(Type.OBJECT, ()):
            if isinstance(part, Objects):
                found = (name for name in part.required if _member(schemas, part, name))
                return next(found, None)
    return None


def _signs(schemas: "Schemas", shape: NormalForm, name: str | None) -> Signs | None:
    found: set[Hashable] = set()
    for type_, parts in shape.items():
        for part in parts:
            values = _listed(part)
            if isinstance(part, Objects) and name in part.required:
                values = _member(schemas, part, name)
            if values is None:
                return None
            found.update((type_, value) for value in values)
    return frozenset(found)


def _member(schemas: "Schemas", part: Objects, name: str) -> Signs | None:
    """Return the values of a member by type, where they are listed."""
    try:
        shape: Mapping[Type, tuple[Part, ...]] = schemas.shape(part.lookup(name))
    except ProblemError:
        # Its evaluation is in progress, or fails; the caller that needs it reports that.
        return None
    return _signs(schemas, shape, None)


def _listed(part: Part) -> tuple[Hashable, ...] | Signs | None:
    if isinstance(part, Plain):
        return part.values
    return part.finite if isinstance(part, Restricted) else None
