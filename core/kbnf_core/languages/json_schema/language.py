"""JSON Schema as one of the grammar languages: the JSON texts of the values that it allows."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.source import Source
from kbnf_core.syntax.parsed import Parsed, Request

if TYPE_CHECKING:
    from kbnf_core.languages.json_schema.options import Options


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.json_schema.parse import parse_json_schema

    return parse_json_schema(source, request)


def _dump(schema: object) -> str:
    from kbnf_core.languages.json_schema.sources import schema_text

    return schema_text(schema)


def _check(options: Mapping[str, Any]) -> None:
    if options:
        options_of(options)


def options_of(options: Mapping[str, Any]) -> "Options":
    """Return the options of a request. Raises ``ConfigError`` for what is none."""
    from kbnf_core.languages.json_schema.options import schema_options

    own = {"limits" if name == LIMITS else name: value for name, value in options.items()}
    return schema_options(**own)


LIMITS = "schema_limits"
"""The option with the limits of a schema; ``limits`` are those of the grammar."""


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
