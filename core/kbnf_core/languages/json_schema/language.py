"""JSON Schema as one of the grammar languages: the JSON texts of the values that it allows."""

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.source import Source
from kbnf_core.syntax.parsed import Parsed, Request


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.json_schema.parse import parse_json_schema

    return parse_json_schema(source, request)


def _dump(schema: object) -> str:
    from kbnf_core.languages.json_schema.sources import schema_text

    return schema_text(schema)


JSON_SCHEMA = Language(
    "JSON Schema",
    "",
    "start",
    Finish.EOS,
    _read,
    options=(
        "whitespace",
        "order",
        "additional_properties",
        "escapes",
        "schema_limits",
        "standard",
        "formats",
        "whitespace_pattern",
        "item_separator",
        "key_separator",
        "allowed_escapes",
        "coerce_one_of",
        "lenient",
        "strict",
    ),
    is_converted=True,
    takes_fixes=False,
    dump=_dump,
    is_json=True,
)
