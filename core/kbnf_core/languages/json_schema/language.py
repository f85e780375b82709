"""JSON Schema as one of the grammar languages: the JSON texts of the values that it allows."""

from collections.abc import Mapping
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.options import LIMITS, options_of
from kbnf_core.text.source import Source


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.json_schema.parse import parse_json_schema

    return parse_json_schema(source, request)


def _dump(schema: object) -> str:
    from kbnf_core.languages.json_schema.sources import schema_text

    return schema_text(schema)


def _check(options: Mapping[str, Any]) -> None:
    if options:
        options_of(options)


def _complete(source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options by their names in a request; types of Python are closed unless they are not.

    What is called ``limits`` where a program speaks of schemas alone has another name beside the
    limits of the grammar; ``additional_properties`` is the contrary of ``closed``.
    """
    found = {LIMITS if name == "limits" else name: value for name, value in options.items()}
    additional = found.pop("additional_properties", None)
    if additional is not None:
        found.setdefault("closed", not additional)
    if found.get("closed") is None and not isinstance(source, str | Mapping | bool):
        found["closed"] = True
    return found


JSON_SCHEMA = Language(
    "JSON Schema",
    "",
    "start",
    Finish.EOS,
    _read,
    options=(
        "whitespace",
        "order",
        "closed",
        "integers",
        "digits",
        "escapes",
        LIMITS,
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
    dump=_dump,
    complete=_complete,
    check=_check,
    is_json=True,
)
