"""Emptiness of expressions, decided conservatively: enough for ``oneOf`` and for pruning."""

from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.arrays import Arrays
from kbnf_core.languages.json_schema.expressions import NOTHING, Expression, Ref, both
from kbnf_core.languages.json_schema.normal_form import NormalForm, Part
from kbnf_core.languages.json_schema.objects import Objects
from kbnf_core.languages.json_schema.problems import ProblemError
from kbnf_core.languages.json_schema.value_sets import STEPS, Restricted

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas

DEPTH = 6
"""Values inside values that are looked at; below, everything is thought to be possible."""


def is_void(schemas: "Schemas", expression: Expression, depth: int = DEPTH) -> bool:
    """Return True if provably unsatisfiable; False means unknown."""
    if not isinstance(expression, Ref) and expression == NOTHING:
        return True
    known = schemas.voids.get(expression)
    if known is not None:
        return known
    if depth == 0:
        schemas.guesses += 1
        return False
    schemas.budget.spend(STEPS)
    before = schemas.guesses
    try:
        shape = schemas.shape(expression)
    except ProblemError:
        # Its evaluation is in progress, or fails; the caller that needs it reports that.
        schemas.guesses += 1
        return False
    found = is_shape_void(schemas, shape, depth)
    if schemas.guesses == before:
        schemas.voids[expression] = found
    return found


def is_shape_void(schemas: "Schemas", shape: NormalForm, depth: int = DEPTH) -> bool:
    """Return True if a shape provably has no value; False means unknown."""
    return all(is_part_void(schemas, part, depth) for parts in shape.values() for part in parts)


def is_part_void(schemas: "Schemas", part: Part, depth: int = DEPTH) -> bool:
    """Tell whether one part of a shape has no value."""
    match part:
        case Restricted(literals=literals):
            return len(literals) > 1 and part.is_empty(schemas.budget)
        case Objects():
            return _is_object_void(schemas, part, depth - 1)
        case Arrays():
            return _is_array_void(schemas, part, depth - 1)
        case _:
            return False


def _is_object_void(schemas: "Schemas", part: Objects, depth: int) -> bool:
    if part.low and all(value == NOTHING for _, value in part.regions):
        possible = sum(not is_void(schemas, value, depth) for _, value in part.named)
        if possible < part.low:
            return True
    return any(is_void(schemas, part.lookup(name), depth) for name in part.required) or any(
        (not keys.finite and is_part_void(schemas, keys))
        or all(
            is_void(schemas, both((held, value)), depth) for held in _held_by(schemas, part, keys)
        )
        for keys, value in part.present
    )


def _held_by(schemas: "Schemas", part: Objects, keys: Restricted) -> list[Expression]:
    """Return what the members may hold whose names may be in ``keys``."""
    budget = schemas.budget
    budget.spend(STEPS * len(part.named))
    named = [value for name, value in part.named if keys.holds(name)]
    return named + [value for known, value in part.regions if known.meet(keys, budget) is not None]


def _is_array_void(schemas: "Schemas", part: Arrays, depth: int) -> bool:
    places = range(min(part.low, len(part.prefix) + 1))
    if any(is_void(schemas, part.item(place), depth) for place in places):
        return True
    needed = [each.item for each in part.contains if each.low]
    return any(
        all(is_void(schemas, both((held, item)), depth) for held in (*part.prefix, part.rest))
        for item in needed
    )
