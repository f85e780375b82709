"""The keywords of JSON Schema, by what they are for."""

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
"""What holds for the members and items that nothing else speaks of."""
MEMBERS = frozenset({"properties", "patternProperties", "additionalProperties"})
"""What says which members come where."""
CONTENTS = frozenset({"contentEncoding", "contentMediaType", "contentSchema"})
"""Annotations of strings, which no validator enforces."""
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
