"""What hosted services refuse in strict schemas: checks, each with what to do.

The rules are those of the services' documents as they could be read on the days in ``AS_OF``, which
docs/json-schema.md names; they change.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from kbnf_core.ir.analysis import cyclic_components
from kbnf_core.languages.json_schema.document import Document
from kbnf_core.languages.json_schema.keywords import NOT_FOR_SERVICE, Problem, walk
from kbnf_core.languages.json_schema.options import Service
from kbnf_core.text.json_text import Json

AS_OF = {
    **dict.fromkeys((Service.OPENAI, Service.ANTHROPIC, Service.GEMINI), "2026-11-23"),
    **dict.fromkeys((Service.COHERE, Service.MISTRAL), "2026-11-28"),
}
"""The days on which the services' documents were read."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """The bounds of a service; None has no bound.

    ``refused`` are keywords, with what to do, and ``only`` those that are known, if they are
    listed; ``formats`` those that are known. Of an ``enum`` with more than ``long_enum[0]`` strings
    these have at most ``long_enum[1]`` characters together.
    ``is_compiled`` stands for what Anthropic's compiler leaves out: look-around and references in
    patterns, ``minItems`` above 1, objects and arrays in ``enum``, ``$ref`` inside ``allOf``.
    ``enum_of_scalars``: it lists strings and numbers; ``lone_reference``: nothing is beside
    ``$ref``; ``is_closed``: objects are; ``some_required``: each object has a required property;
    ``signs`` are what patterns may not have.
    """

    refused: dict[str, str]
    formats: frozenset[str] | None
    all_required: bool = False
    root_is_object: bool = False
    properties: int | None = None
    depth: int | None = None
    enum_values: int | None = None
    characters: int | None = None
    optional: int | None = None
    unions: int | None = None
    recursion: bool = True
    long_enum: tuple[int, int] | None = None
    is_compiled: bool = False
    only: frozenset[str] | None = None
    enum_of_scalars: bool = False
    lone_reference: bool = False
    is_closed: bool = False
    some_required: bool = False
    signs: re.Pattern[str] | None = None


_COMBINING = dict.fromkeys(
    ("allOf", "not", "if", "then", "else", "dependentRequired", "dependentSchemas"),
    "write out what it means, with `anyOf` where there are several cases",
)
_AFTERWARDS = "say it in the description, and check the value afterwards"
_BY_VALUE = dict.fromkeys(
    ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength",
     "maxLength", "maxItems", "uniqueItems", "contains", "minContains", "maxContains"),
    _AFTERWARDS,
)  # fmt: skip
_FORMATS = frozenset(
    ("date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid")
)
_BEYOND_COMPILER = re.compile(r"(?<!\\)(?:\\\\)*(?:\\[1-9bB]|\(\?<?[=!])")

_OF_GEMINI = frozenset(
    (
        "$schema", "$id", "$defs", "$ref", "$anchor", "type", "format", "title", "description",
        "enum", "items", "prefixItems", "minItems", "maxItems", "minimum", "maximum", "anyOf",
        "oneOf", "properties", "additionalProperties", "required", "propertyOrdering",
    )
)  # fmt: skip
_NOT_OF_COHERE = dict.fromkeys(("allOf", "oneOf", "not"), _COMBINING["allOf"]) | dict.fromkeys(
    ("minimum", "maximum", "minItems", "maxItems", "minLength", "maxLength", "uniqueItems"),
    _AFTERWARDS,
)

_RULES = {
    Service.OPENAI: _Rules(
        {**_COMBINING, "oneOf": "write `anyOf`"},
        _FORMATS,
        is_closed=True,
        all_required=True,
        root_is_object=True,
        properties=5_000,
        depth=10,
        enum_values=1_000,
        characters=120_000,
        long_enum=(250, 15_000),
    ),
    Service.ANTHROPIC: _Rules(
        _BY_VALUE,
        _FORMATS | {"uri"},
        is_closed=True,
        optional=24,
        unions=16,
        recursion=False,
        is_compiled=True,
    ),
    # `responseJsonSchema`, and `parametersJsonSchema` of functions.
    Service.GEMINI: _Rules(
        {},
        frozenset(("date-time", "date", "time")),
        only=_OF_GEMINI,
        enum_of_scalars=True,
        lone_reference=True,
    ),
    # The page "Structured Outputs" of its developer documents, from their repository.
    Service.COHERE: _Rules(
        _NOT_OF_COHERE,
        frozenset(("date-time", "uuid", "date", "time")),
        root_is_object=True,
        some_required=True,
        signs=re.compile(r"(?<!\\)(?:\\\\)*(?:[$]|(?<!\[)\^)|\(\?[=!]"),
    ),
    # Its documents name no limits of the schemas of `response_format`.
    Service.MISTRAL: _Rules({}, None),
}


def check_service(document: Document, service: Service) -> list[Problem]:
    """Return what the strict mode of a service refuses in a schema, in the order of the text."""
    rules = _RULES[service]
    counts = _Counts()
    found = list(_root(document.value, rules))
    depths = {"": 0}
    for visited in walk(document.value):
        found += _one(visited.contents, visited.pointer, rules, counts)
        outer = visited.around.pointer if visited.around else ""
        depths[visited.pointer] = depths[outer] + ("properties" in visited.contents)
    counts.depth = max(depths.values())
    if not rules.recursion:
        found += _recursive(document)
    found += _totals(counts, rules)
    by = f"{service.value} {_REFUSES[service]}: "
    return [Problem(NOT_FOR_SERVICE, by + message, at, help_) for at, message, help_ in found]


_REFUSES = {
    Service.OPENAI: "refuses this in strict mode",
    Service.ANTHROPIC: "refuses this in strict mode",
    Service.GEMINI: "does not support this",
    Service.COHERE: "does not support this",
    Service.MISTRAL: "does not support this",
}

STRICT = frozenset((Service.OPENAI, Service.ANTHROPIC))
"""The services whose rules are those of a mode that a tool or a request asks for."""

_Finding = tuple[str, str, str]
"""A pointer, what is wrong there, what to do."""


@dataclass(slots=True)
class _Counts:
    properties: int = 0
    depth: int = 0
    enum_values: int = 0
    characters: int = 0
    optional: int = 0
    unions: int = 0


def _root(schema: Json, rules: _Rules) -> Iterator[_Finding]:
    if rules.root_is_object and not (
        isinstance(schema, dict) and schema.get("type") == "object" and "anyOf" not in schema
    ):
        yield "", "the root is not an object", "put it into a property of an object"


def _one(
    value: dict[str, Json], pointer: str, rules: _Rules, counts: _Counts
) -> Iterator[_Finding]:
    """Yield what is wrong with one schema object; count what has bounds of its own."""
    for keyword in value.keys() & rules.refused.keys():
        yield f"{pointer}/{keyword}", f"`{keyword}`", rules.refused[keyword]
    if rules.only is not None:
        for keyword in value.keys() - rules.only:
            yield f"{pointer}/{keyword}", f"`{keyword}`", _AFTERWARDS
    if rules.lone_reference and "$ref" in value and any(not key.startswith("$") for key in value):
        yield f"{pointer}/$ref", "keywords beside `$ref`", "put them where it leads"
    properties = value.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    listed = value.get("required")
    required = set(listed) if isinstance(listed, list) else set()
    missing = [name for name in names if name not in required]
    is_open = value.get("type") == "object" and value.get("additionalProperties") is not False
    if rules.some_required and value.get("type") == "object" and not required:
        yield pointer, "no property is required", "list one at least in `required`"
    if rules.is_closed and is_open:
        yield (
            pointer,
            "`additionalProperties` is not false",
            'add `"additionalProperties": false`',
        )
    if rules.all_required and missing:
        shown = ", ".join(f"`{name}`" for name in missing[:3])
        yield (
            pointer,
            f"{shown} not in `required`",
            "list it there, and let its type be `null`, too",
        )
    yield from _of_value(value, pointer, rules)
    values = value.get("enum")
    listed_values = values if isinstance(values, list) else []
    counts.properties += len(names)
    counts.optional += len(missing)
    counts.unions += "anyOf" in value or isinstance(value.get("type"), list)
    counts.enum_values += len(listed_values)
    words = [*names, *_definitions(value), *listed_values, value.get("const")]
    counts.characters += sum(len(word) for word in words if isinstance(word, str))


def _recursive(document: Document) -> Iterator[_Finding]:
    """Yield the references by which a schema contains itself, directly or not."""
    inside: dict[str, set[str]] = {}
    targets: dict[str, str] = {}
    for visited in walk(document.value):
        inside.setdefault(visited.pointer, set())
        if visited.around and visited.keyword not in ("$defs", "definitions"):
            inside[visited.around.pointer].add(visited.pointer)
        target = document.target_in(visited.contents)
        if target is not None:
            targets[visited.pointer] = target.pointer
            inside[visited.pointer].add(target.pointer)
            inside.setdefault(target.pointer, set())
    for circle in cyclic_components(inside):
        for pointer in sorted(circle & targets.keys()):
            if targets[pointer] in circle:
                message = "a schema that contains itself"
                yield f"{pointer}/$ref", message, "nest it as often as it may occur"


def _definitions(value: dict[str, Json]) -> Iterator[str]:
    for keyword in ("$defs", "definitions"):
        if isinstance(held := value.get(keyword), dict):
            yield from held


def _of_value(value: dict[str, Json], pointer: str, rules: _Rules) -> Iterator[_Finding]:
    """Yield the formats, enumerations and references that a service does not know."""
    name = value.get("format")
    if isinstance(name, str) and rules.formats is not None and name not in rules.formats:
        yield f"{pointer}/format", f"the format `{name}`", "describe the format with `pattern`"
    values = value.get("enum")
    texts = [each for each in values if isinstance(each, str)] if isinstance(values, list) else []
    if rules.long_enum is not None and len(texts) > rules.long_enum[0]:
        count, most = sum(map(len, texts)), rules.long_enum[1]
        if count > most:
            what = f"{count:,} characters in one `enum`, where {most:,} are allowed"
            yield f"{pointer}/enum", what, "use shorter names, and translate them afterwards"
    reference = value.get("$ref")
    if isinstance(reference, str) and not reference.startswith("#"):
        yield f"{pointer}/$ref", "a reference to another document", "put it under `$defs`"
    if rules.enum_of_scalars and isinstance(values, list):
        others = [each for each in values if each is None or isinstance(each, bool | dict | list)]
        if others:
            yield f"{pointer}/enum", "what is not a string or number in `enum`", "use `anyOf`"
    written = value.get("pattern")
    if rules.signs is not None and isinstance(written, str) and rules.signs.search(written):
        what = "`^`, `$` or look-ahead in a pattern"
        yield f"{pointer}/pattern", what, "write the whole string, which the pattern is for"
    if rules.is_compiled:
        yield from _not_compiled(value, pointer)


def _not_compiled(value: dict[str, Json], pointer: str) -> Iterator[_Finding]:
    least = value.get("minItems")
    if least is not None and least not in (0, 1):
        yield f"{pointer}/minItems", "`minItems` above 1", _AFTERWARDS
    pattern = value.get("pattern")
    if isinstance(pattern, str) and _BEYOND_COMPILER.search(pattern):
        what = "look-around, a back-reference or a word boundary in a pattern"
        yield f"{pointer}/pattern", what, "write out what is allowed"
    values = value.get("enum")
    if isinstance(values, list) and any(isinstance(each, dict | list) for each in values):
        yield f"{pointer}/enum", "an object or array in `enum`", "use `anyOf` with schemas of them"
    parts = value.get("allOf")
    if isinstance(parts, list) and any(isinstance(part, dict) and "$ref" in part for part in parts):
        yield f"{pointer}/allOf", "`$ref` inside `allOf`", "write out what it refers to"


def _totals(counts: _Counts, rules: _Rules) -> Iterator[_Finding]:
    for count, most, what in (
        (counts.properties, rules.properties, "properties"),
        (counts.depth, rules.depth, "objects nested in one another"),
        (counts.enum_values, rules.enum_values, "values in `enum`"),
        (counts.characters, rules.characters, "characters of names and constants"),
        (counts.optional, rules.optional, "optional properties"),
        (counts.unions, rules.unions, "unions (`anyOf`, several types)"),
    ):
        if most is not None and count > most:
            yield "", f"{count:,} {what}, where {most:,} are allowed", "split the schema"
