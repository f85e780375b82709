"""The keywords of JSON Schema that LLGuidance's ``%json`` knows and refuses."""

from collections.abc import Iterator

_REFUSED = frozenset(
    {
        "not",
        "if",
        "then",
        "else",
        "dependentRequired",
        "dependentSchemas",
        "propertyNames",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "additionalItems", "additionalProperties"})


def unimplemented(schema: object) -> list[str]:
    """Return the refused keywords of a schema and those below it, sorted."""
    found: set[str] = set()
    pending = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            lenient = isinstance(guide := current.get("x-guidance"), dict) and guide.get("lenient")
            if lenient:
                return []
            found.update(_REFUSED & current.keys())
            pending.extend(_below(current))
    return sorted(found)


def _below(schema: dict[str, object]) -> Iterator[object]:
    for key, value in schema.items():
        if key in _BY_NAME and isinstance(value, dict):
            yield from value.values()
        elif key in _LISTS and isinstance(value, list):
            yield from value
        elif key in _SCHEMAS:
            yield from value if isinstance(value, list) else [value]
