"""The keywords of JSON Schema: what they are for, and the values that they may have.

``review`` visits the keywords of a schema once. It accepts most valid schemas without running the
meta-schema; one that is not sound is given to ``jsonschema``, which also says what is wrong: the
verdict of the meta-schema counts. So every rule here applies in all drafts from 4 on, or checks the
draft. A schema takes 0.08 ms, by ``jsonschema`` 4.6. ``jsonschema-rs`` takes 0.03, but 35 ms and
11 MB to import, and there is none in the browser; the rules are needed besides, for what is
reported of a keyword (``wanted``).
"""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from kbnf_core.text.json_text import Json

STRINGS = frozenset({"minLength", "maxLength", "pattern", "format"})
NUMBERS = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
ARRAYS = frozenset(
    {
        "prefixItems", "items", "additionalItems", "minItems", "maxItems", "uniqueItems",
        "contains", "minContains", "maxContains",
    }
)  # fmt: skip
OBJECTS = frozenset(
    {
        "properties", "patternProperties", "additionalProperties", "required", "minProperties",
        "maxProperties", "propertyNames",
    }
)  # fmt: skip
UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
"""What applies for the members and items that nothing else speaks of."""
MEMBERS = frozenset({"properties", "patternProperties", "additionalProperties"})
"""What says which members come where."""
CONTENTS = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
"""Annotations of strings, which no validator enforces."""
UNKEPT = "kbnf: unkept: "
"""How a comment begins that names a check in Python which no grammar keeps."""
ANNOTATIONS = frozenset(
    {
        "title", "description", "default", "examples", "$comment", "deprecated", "readOnly",
        "writeOnly",
    }
)  # fmt: skip
"""What says nothing about values in any draft."""
TYPE_ALONE = ANNOTATIONS | {"type"}
LOCAL = STRINGS | NUMBERS | ARRAYS | OBJECTS | {"type"}
"""What restricts values of a type, and is read together."""

APPLICATORS = frozenset(
    {
        "$ref", "$dynamicRef", "$recursiveRef", "allOf", "anyOf", "oneOf", "not", "if", "const",
        "enum", "dependentRequired", "dependentSchemas", "dependencies",
    }
)  # fmt: skip
"""What becomes an expression; ``then`` and ``else`` are read with ``if``."""

TESTS = frozenset({"not", "if", "contains", "propertyNames"})
"""What only asks whether a value fits a schema."""

REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
IN_PLACE = REFERENCES | {
    "allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "dependencies",
}  # fmt: skip
"""What applies other schemas to the same value."""
EVALUATORS = IN_PLACE | {"properties", "patternProperties"}
"""What evaluates some members of an object, and leaves others."""
BELOW = frozenset(
    {
        "properties", "patternProperties", "additionalProperties", "unevaluatedProperties",
        "prefixItems", "items", "additionalItems", "unevaluatedItems",
    }
)  # fmt: skip
"""What applies schemas to members and items."""

REFUSED_BY_LLGUIDANCE = frozenset(
    {
        "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "propertyNames",
        "uniqueItems", "contains", "minContains", "maxContains", "unevaluatedItems",
        "unevaluatedProperties",
    }
)  # fmt: skip
"""What LLGuidance knows and refuses, or ignores where a schema is ``lenient``."""

SCHEMA = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if",
        "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
"""What has a schema as its value."""
SCHEMAS_BY_NAME = frozenset(
    {"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)
LISTS_OF_SCHEMAS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})


KEYWORDS = (
    ANNOTATIONS
    | APPLICATORS
    | CONTENTS
    | LISTS_OF_SCHEMAS
    | LOCAL
    | SCHEMA
    | SCHEMAS_BY_NAME
    | frozenset(UNEVALUATED)
    | {"$id", "$schema", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "id"}
)
"""What the drafts from 4 on know."""

KNOWN = KEYWORDS | {
    "disallow", "discriminator", "divisibleBy", "enumNames", "example", "extends",
    "externalDocs", "name", "nullable", "option", "options", "propertyOrdering", "value",
    "values", "xml",
}  # fmt: skip
"""Keywords, and what draft 3, OpenAPI and makers of forms know, some of it near to a keyword."""


def subschemas(schema: Json) -> Iterator[tuple[tuple[str, ...], Json]]:
    """Yield the schemas right inside one, with the steps that lead to them.

    What has another form than its keyword asks for is left out; a schema need not be valid.
    """
    for keyword, held in schema.items() if isinstance(schema, dict) else ():
        if keyword in SCHEMA and isinstance(held, dict | bool):
            yield (keyword,), held
        elif keyword in _BY_NAME and isinstance(held, dict):
            for name, inner in held.items():
                if isinstance(inner, dict | bool):
                    yield (keyword, name), inner
        elif keyword in _LISTED and isinstance(held, list):
            for number, inner in enumerate(held):
                if isinstance(inner, dict | bool):
                    yield (keyword, str(number)), inner


_BY_NAME = SCHEMAS_BY_NAME | {"dependencies"}
_LISTED = LISTS_OF_SCHEMAS | {"items"}


_DRAFT = re.compile(r"https?://json-schema\.org/draft-0([3467])/schema#?")
_ANCHOR = re.compile("[A-Za-z][-A-Za-z0-9._]*")
"""Names that all drafts with anchors have."""
_MODERN = 2020
_UNNAMED = 2019
"""A schema that names no draft is of the newest, and may have some forms of older ones."""

TYPES = frozenset({"array", "boolean", "integer", "null", "number", "object", "string"})
_MAYBE_FLAGS = frozenset({"additionalItems", "additionalProperties"})
"""What may be true or false in draft 4, where no schema is."""


class Review(NamedTuple):
    """Facts of a schema, from one visit of its keywords.

    ``is_sound``: it is provably valid; False means unknown. ``strange``: the names that no draft
    knows. ``is_unlisted``: some object with ``properties`` requires a name that is none of them.
    The last two are those of the whole schema where it is sound.
    """

    is_sound: bool
    strange: frozenset[str] = frozenset()
    is_unlisted: bool = False


def review(schema: Json) -> Review:
    """Return the facts of a schema (see ``read_json``)."""
    draft = _draft(schema)
    strange: set[str] = set()
    is_unlisted = False
    pending = [schema]
    for value in pending:
        if isinstance(value, bool) and draft > 4:
            continue
        if not isinstance(value, dict) or draft < 4:
            return Review(is_sound=False)
        for keyword, held in value.items():
            rule = _RULES.get(keyword)
            if rule is None:
                if keyword not in KNOWN:
                    strange.add(keyword)
            elif not rule[0](held, draft):
                return Review(is_sound=False)
        if "required" in value and "properties" in value:
            is_unlisted = is_unlisted or not value["properties"].keys() >= {*value["required"]}
        pending.extend(_inside(value))
    return Review(True, frozenset(strange), is_unlisted)


def may_hold(keyword: str, value: Json) -> bool:
    """Return whether a keyword could have this value in some draft, as far as that is known."""
    if keyword in SCHEMA and keyword != "items":
        return isinstance(value, dict | bool)
    if keyword == "type":
        return isinstance(value, str | list)
    rule = _RULES.get(keyword)
    return rule is None or any(rule[0](value, draft) for draft in (_MODERN, 4))


def wanted(keyword: str, value: Json) -> str | None:
    """Return what a keyword must be, in words; None where this value may be just that."""
    _, words = _RULES.get(keyword, (None, ""))
    return words if words and (keyword == "type" or not may_hold(keyword, value)) else None


def _draft(schema: Json) -> int:
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is None:
        return _UNNAMED
    found = _DRAFT.fullmatch(named) if isinstance(named, str) else None
    return int(found[1]) if found else _MODERN


def _inside(schema: dict[str, Json]) -> Iterator[Json]:
    """Yield the schemas in a schema whose keywords fit."""
    for keyword, value in schema.items():
        if keyword in SCHEMAS_BY_NAME:
            yield from value.values()
        elif keyword in LISTS_OF_SCHEMAS or (keyword == "items" and isinstance(value, list)):
            yield from value
        elif keyword == "dependencies":
            yield from (held for held in value.values() if not isinstance(held, list))
        elif keyword in SCHEMA and not (isinstance(value, bool) and keyword in _MAYBE_FLAGS):
            yield value


_Rule = Callable[[Json, int], bool]
"""Whether a keyword may have a value, in a draft."""


def _of(kind: type) -> _Rule:
    return lambda value, _draft: isinstance(value, kind)


def _filled(value: Json, _draft: int) -> bool:
    # Up to draft 6 the values of `enum` differ by the meta-schema; one that repeats says nothing.
    return isinstance(value, list) and bool(value)


def _items(value: Json, draft: int) -> bool:
    # Up to draft 2019-09 a list of schemas, too; see ``document.OLDER``.
    return isinstance(value, dict | bool) or (draft < _MODERN and value != [])


def _unjudged(_value: Json, _draft: int) -> bool:
    """Leave a rare keyword to jsonschema."""
    return False


def _identifier(value: Json, _draft: int) -> bool:
    return isinstance(value, str) and "#" not in value[:-1]


def _anchor(value: Json, _draft: int) -> bool:
    return isinstance(value, str) and _ANCHOR.fullmatch(value) is not None


def _old_identifier(value: Json, draft: int) -> bool:
    """Accept any value from draft 6 on, where the name is no keyword."""
    return draft > 4 or isinstance(value, str)


def _number(value: Json, _draft: int) -> bool:
    return isinstance(value, Decimal) and value.is_finite()


def _bound(value: Json, draft: int) -> bool:
    """Tell whether this is a bound of its own; in draft 4 it belongs to another."""
    return draft > 4 and _number(value, draft)


def _positive(value: Json, draft: int) -> bool:
    return _number(value, draft) and value > 0


def _count(value: Json, draft: int) -> bool:
    return _number(value, draft) and value >= 0 and value.as_tuple().exponent == 0


def _names(value: Json, draft: int) -> bool:
    if not isinstance(value, list) or not {str}.issuperset(map(type, value)):
        return False
    return len(set(value)) == len(value) and (bool(value) or draft > 4)


def _names_by_name(value: Json, draft: int) -> bool:
    return isinstance(value, dict) and all(_names(names, draft) for names in value.values())


def _dependencies(value: Json, draft: int) -> bool:
    return isinstance(value, dict) and all(
        _names(held, draft) for held in value.values() if isinstance(held, list)
    )


def _type(value: Json, draft: int) -> bool:
    names = value if isinstance(value, list) else [value]
    return bool(names) and _names(names, draft) and TYPES.issuperset(names)


_RULES: dict[str, tuple[_Rule, str]] = {
    **dict.fromkeys(SCHEMAS_BY_NAME, (_of(dict), "an object with a schema for each name")),
    **dict.fromkeys(LISTS_OF_SCHEMAS, (_filled, "a list of schemas, and not an empty one")),
    **dict.fromkeys(("$anchor", "$dynamicAnchor"), (_anchor, "")),
    **dict.fromkeys(("$recursiveAnchor", "$vocabulary"), (_unjudged, "")),
    "items": (_items, ""),
    **dict.fromkeys(
        (
            "$comment", "$dynamicRef", "$recursiveRef", "$ref", "$schema", "contentEncoding",
            "contentMediaType", "description", "format", "pattern", "title",
        ),
        (_of(str), "a string"),
    ),
    **dict.fromkeys(
        ("deprecated", "readOnly", "uniqueItems", "writeOnly"), (_of(bool), "true or false")
    ),
    **dict.fromkeys(("maximum", "minimum"), (_number, "a number")),
    **dict.fromkeys(("exclusiveMaximum", "exclusiveMinimum"), (_bound, "a number")),
    **dict.fromkeys(
        (
            "maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems",
            "minLength", "minProperties",
        ),
        (_count, "a whole number, 0 or more"),
    ),
    "$id": (_identifier, "a URI without a fragment"),
    "id": (_old_identifier, "a string"),
    "dependencies": (_dependencies, ""),
    "dependentRequired": (
        _names_by_name, "an object with a list of different strings for each name",
    ),
    "enum": (_filled, "a list of values, and not an empty one"),
    "examples": (_of(list), "a list"),
    "multipleOf": (_positive, "a number above 0"),
    "required": (_names, "a list of strings, all different"),
    "type": (_type, "one of the types, or a list of different ones"),
}  # fmt: skip
"""By keyword: its rule, and what it must be, in words."""
