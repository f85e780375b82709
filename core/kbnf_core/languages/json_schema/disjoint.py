"""Candidate overlaps of alternatives: common listed values, and all pairs of unlisted ones.

Comparing every pair of ``oneOf`` costs the square of their number. Alternatives that list their
values (``const``, ``enum``), or whose objects all need one member with listed values (``type``,
``kind``), are found by these values instead.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from kbnf_core.languages.json_schema.normal_form import NormalForm, Part, Plain, Type
from kbnf_core.languages.json_schema.objects import Objects
from kbnf_core.languages.json_schema.problems import ProblemError
from kbnf_core.languages.json_schema.value_sets import Restricted

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.schemas import Schemas

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
