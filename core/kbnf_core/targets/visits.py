"""Where a document meets its schema: each schema that applies to a value inside, with pointers.

The schema and the document are walked side by side. Branches of ``anyOf`` and ``oneOf`` are visited
where the value fits them, so that what is changed there is changed in the branch that applies.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from kbnf_core.targets.judges import Json, Judges, at, pointer_to, replaced
from kbnf_core.targets.values import Parts, listed, mapping, member_schemas, resolve

Path = tuple[str | int, ...]
"""Steps into a document: names and indices."""

_DEEPEST = 60


@dataclass(frozen=True, slots=True)
class Visit:
    """A schema at ``pointer`` that applies to ``value``, which is at ``path`` of the document.

    ``around`` are the other schemas that apply to the value by ``allOf`` and ``$ref``.
    """

    pointer: str
    schema: dict[str, Any]
    path: Path
    value: Json
    around: Parts = ()


def visits(judges: Judges, document: Json) -> Iterator[Visit]:
    """Yield each schema that applies somewhere in a document, from the outside in."""
    pending: list[tuple[str, Json, Path, Json, Parts]] = [("", judges.schema, (), document, ())]
    seen: set[tuple[str, Path]] = set()
    while pending:
        pointer, schema, path, value, around = pending.pop()
        if not isinstance(schema, dict) or (pointer, path) in seen or len(path) > _DEEPEST:
            continue
        seen.add((pointer, path))
        yield Visit(pointer, schema, path, value, around)
        more = [
            (pointer + step if step.startswith("/") else step.removeprefix("#"), inner, path, value)
            for step, inner in _beside(judges, schema, value)
        ]
        together = (*around, schema)
        pending += [(*each, together) for each in reversed(more)]
        inside = [
            (pointer + pointer_to(*steps), inner, (*path, place), held)
            for steps, inner, place, held in _inside(judges, schema, value)
        ]
        pending += [(*each, ()) for each in reversed(inside)]


def _beside(judges: Judges, schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the schemas that apply to the same value: by a step, for ``$ref`` by ``#pointer``."""
    target = resolve(judges.schema, schema.get("$ref"))
    if target is not None:
        yield "#" + target[0], target[1]
    for number, part in enumerate(listed(schema, "allOf")):
        yield pointer_to("allOf", number), part
    yield from _chosen(judges, schema, value)
    if isinstance(value, dict):
        for keyword in ("dependentSchemas", "dependencies"):
            for name, part in mapping(schema, keyword).items():
                if name in value and isinstance(part, dict):
                    yield pointer_to(keyword, name), part


def _chosen(judges: Judges, schema: dict[str, Any], value: Json) -> Iterator[tuple[str, Json]]:
    """Yield the branches that hold for a value."""
    for keyword in ("anyOf", "oneOf"):
        for number, part in enumerate(listed(schema, keyword)):
            if isinstance(part, dict) and judges.fits(value, part):
                yield pointer_to(keyword, number), part
    if isinstance(schema.get("if"), dict):
        branch = "then" if judges.fits(value, schema["if"]) else "else"
        if branch in schema:
            yield pointer_to(branch), schema[branch]


_Inside = Iterator[tuple[tuple[str | int, ...], Json, str | int, Json]]


def _inside(judges: Judges, schema: dict[str, Any], value: Json) -> _Inside:
    """Yield the schemas of members and items: steps, schema, the place in the value, and it."""
    if isinstance(value, dict):
        for name, held in value.items():
            yield from ((steps, part, name, held) for steps, part in member_schemas(schema, name))
    elif isinstance(value, list):
        prefix = next(
            (key for key in ("prefixItems", "items") if isinstance(schema.get(key), list)), None
        )
        rest = "additionalItems" if prefix == "items" else "items"
        for place, held in enumerate(value):
            if prefix is not None and place < len(schema[prefix]):
                yield (prefix, place), schema[prefix][place], place, held
            elif isinstance(schema.get(rest), dict):
                yield (rest,), schema[rest], place, held
            elif isinstance(schema.get("unevaluatedItems"), dict):
                yield ("unevaluatedItems",), schema["unevaluatedItems"], place, held
            if isinstance(schema.get("contains"), dict) and judges.fits(held, schema["contains"]):
                yield ("contains",), schema["contains"], place, held


def declares(schema: dict[str, Any], name: str) -> bool:
    """Return whether an object's schema says something of a member, or of all others."""
    others = "additionalProperties" in schema or "unevaluatedProperties" in schema
    return others or any(True for _ in member_schemas(schema, name))


def required_first(judges: Judges, document: Json) -> Json:
    """Return a document with the members that are required before the others, as some write it."""
    needed: dict[Path, set[str]] = {}
    for visit in visits(judges, document):
        if isinstance(visit.value, dict):
            needed.setdefault(visit.path, set()).update(map(str, listed(visit.schema, "required")))
    for path, names in needed.items():
        held = at(document, pointer_to(*path))
        order = sorted(held, key=lambda name: name not in names)
        document = replaced(document, path, {name: held[name] for name in order})
    return document
