"""The keywords that combine schemas, as expressions."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.arguments import (
    pointer_to,
    take_list,
    take_names,
    take_object,
)
from kbnf_core.languages.json_schema.disjoint import sharers
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
from kbnf_core.languages.json_schema.normal_form import ANY_SHAPE, NormalForm
from kbnf_core.languages.json_schema.problems import invalid, too_large
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
            return either(map(constant, take_list(place, keyword)))
        case _:
            return _dependencies(place, document, keyword)


def _each(place: Place, document: Document, keyword: str) -> list[Expression]:
    count = len(take_list(place, keyword))
    if not count:
        raise invalid(f"`{keyword}` holds at least one schema", pointer_to(place, keyword))
    return [document.inside(place, keyword, str(i)) for i in range(count)]


def exactly_one(
    schemas: "Schemas", parts: list[Expression], siblings: NormalForm = ANY_SHAPE
) -> Expression:
    """Return what one part allows and all others refuse; disjoint parts stay as they are."""
    shapes = [schemas.meet([siblings, schemas.shape(part)]) for part in parts]
    overlaps: list[list[Expression]] = [[] for _ in parts]
    for i, later in enumerate(sharers(schemas, shapes)):
        for j in later:
            if not is_shape_void(schemas, schemas.meet([shapes[i], shapes[j]])):
                overlaps[i].append(other(parts[j]))
                overlaps[j].append(other(parts[i]))
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
