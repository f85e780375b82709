"""The keywords of JSON Schema, by what they are for, and the schemas in a schema."""

from collections.abc import Iterator

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
