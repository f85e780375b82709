"""The keywords of objects."""

from kbnf_core.budget import Budget
from kbnf_core.languages.json_schema.arguments import (
    pointer_to,
    take_count,
    take_names,
    take_object,
)
from kbnf_core.languages.json_schema.document import Document, Place
from kbnf_core.languages.json_schema.expressions import ANYTHING, NOTHING, Expression, both
from kbnf_core.languages.json_schema.limits import SchemaLimits
from kbnf_core.languages.json_schema.objects import KEYS, Objects, Region, is_void
from kbnf_core.languages.json_schema.problems import too_large
from kbnf_core.languages.json_schema.read_strings import matching
from kbnf_core.languages.json_schema.value_sets import STEPS, Restricted


def read_members(
    place: Place, document: Document, rest: Expression, limits: SchemaLimits, budget: Budget
) -> Objects:
    """Return what ``properties`` and ``patternProperties`` allow; all other members as ``rest``."""
    named = {
        name: document.inside(place, "properties", name)
        for name in take_object(place, "properties")
    }
    patterns = _read_patterns(place, document)
    budget.spend(STEPS * len(named) * (1 + len(patterns)))
    for name, value in named.items():
        matching = [held for keys, held in patterns if keys.holds(name)]
        named[name] = both([value, *matching])
    pointer = pointer_to(place, "patternProperties")
    return Objects(tuple(named.items()), _split(patterns, rest, limits, pointer, budget))


def read_others(
    names: tuple[str, ...],
    patterns: tuple[str, ...],
    rest: Expression,
    limits: SchemaLimits,
    budget: Budget,
) -> Objects:
    """Return the objects of which all members hold ``rest`` but those with some names."""
    kept: list[Region] = [
        (Restricted(KEYS.kind, tuple(matching(pattern, ""))), ANYTHING) for pattern in patterns
    ]
    named = tuple((name, ANYTHING) for name in names)
    return Objects(named, _split(kept, rest, limits, "", budget))


def _read_patterns(place: Place, document: Document) -> list[Region]:
    found = []
    for pattern in take_object(place, "patternProperties"):
        pointer = pointer_to(place, "patternProperties", pattern)
        keys = Restricted(KEYS.kind, tuple(matching(pattern, pointer)))
        found.append((keys, document.inside(place, "patternProperties", pattern)))
    return found


def _split(
    patterns: list[Region],
    rest: Expression,
    limits: SchemaLimits,
    pointer: str,
    budget: Budget,
) -> tuple[Region, ...]:
    """Return disjoint regions: for every combination of patterns the names that match just it."""
    regions: list[tuple[Restricted, tuple[Expression, ...]]] = [(KEYS, ())]
    for keys, value in patterns:
        split = []
        for known, values in regions:
            inside = known.meet(keys, budget)
            if inside is not None and not is_void(inside, budget):
                split.append((inside, (*values, value)))
            for outside in keys.remainder(budget):
                left = known.meet(outside, budget)
                if left is not None and not is_void(left, budget):
                    split.append((left, values))
        regions = split
        if len(regions) > limits.overlaps:
            raise too_large("combinations of patterns", limits.overlaps, "overlaps", pointer)
    return tuple((keys, both(values) if values else rest) for keys, values in regions)


def read_required(place: Place) -> Objects:
    """Return what ``required`` allows; draft 3's flag in a property says nothing here."""
    value = place.contents.get("required", [])
    if isinstance(value, bool):
        return Objects()
    return Objects(required=take_names(value, pointer_to(place, "required")))


def read_count(place: Place, limits: SchemaLimits) -> Objects:
    """Return what ``minProperties`` and ``maxProperties`` allow."""
    low = take_count(place, "minProperties", limits)
    return Objects(low=low or 0, high=take_count(place, "maxProperties", limits))


def read_names(names: tuple[Restricted, ...], budget: Budget) -> Objects:
    """Return the objects whose members all have one of ``names``: what ``propertyNames`` allows."""
    regions: list[Region] = []
    rest: tuple[Restricted, ...] = (KEYS,)
    for keys in names:
        shared = [known.meet(keys, budget) for known in rest]
        regions += [(part, ANYTHING) for part in shared if part is not None]
        rest = tuple(
            part
            for known in rest
            for outside in keys.remainder(budget)
            if (part := known.meet(outside, budget)) is not None
        )
    return Objects(regions=(*regions, *((keys, NOTHING) for keys in rest)))
