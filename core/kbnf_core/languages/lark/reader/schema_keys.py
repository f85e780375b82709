"""The keywords of JSON Schema that LLGuidance's ``%json`` knows and refuses."""

from collections.abc import Iterator

from kbnf_core.languages.json_schema.keywords import REFUSED_BY_LLGUIDANCE

_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions"})
_LISTS = frozenset({"anyOf", "oneOf", "allOf", "prefixItems"})
_SCHEMAS = frozenset({"items", "additionalItems", "additionalProperties"})


def unimplemented(schema: object) -> list[str]:
    """Return the refused keywords of a schema and those below it, sorted."""
    guide = schema.get("x-guidance") if isinstance(schema, dict) else None
    if isinstance(guide, dict) and guide.get("lenient") is True:
        return []
    found: set[str] = set()
    pending = [schema]
    while pending:
        current = pending.pop()
        if isinstance(current, dict):
            found.update(REFUSED_BY_LLGUIDANCE & current.keys())
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
