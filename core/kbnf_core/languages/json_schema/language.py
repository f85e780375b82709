"""JSON Schema as one of the grammar languages: the JSON texts of the values that it allows.

What a schema may be given as: a text, a value, a pydantic model, a type that pydantic knows.
"""

import json
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from kbnf_core.config import Finish
from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema.options import LIMITS, options_of
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.source import Source


def _read(source: Source, request: Request) -> Parsed:
    from kbnf_core.languages.json_schema.parse import parse_json_schema

    return parse_json_schema(source, request)


def schema_text(source: object) -> str:
    """Return the JSON text of a schema.

    ``source`` is a text, a dict, a bool, a pydantic model or ``TypeAdapter``, or a type for which
    pydantic makes a schema: a dataclass, a ``TypedDict``, ``list[int]``. Raises ``ConfigError``
    where that needs pydantic and it is not installed, or where it makes none.
    """
    if isinstance(source, str):
        return source
    if isinstance(source, Mapping | bool):
        return _as_json(source)
    if isinstance(source, int | float | list | None):
        raise ConfigError(f"a schema is a dict, a bool, a text or a type, not {source!r}"[:200])
    for method in ("model_json_schema", "json_schema"):
        make = getattr(source, method, None)
        if callable(make):
            return _made(make)
    return _made(lambda: _adapter(source).json_schema())


def _adapter(source: object) -> Any:
    try:
        return import_module("pydantic").TypeAdapter(source)
    except ImportError:
        raise ConfigError(
            "a schema of a Python type needs pydantic: pip install pydantic"
        ) from None


def _made(make: Any) -> str:
    try:
        schema = make()
        _let_sets_repeat(schema)
        return _as_json(schema)
    except ConfigError:
        raise
    except Exception as error:
        said = str(error).split("\n", 1)[0]
        raise ConfigError(f"there is no JSON Schema of this: {said}") from None


def _let_sets_repeat(root: Any) -> None:
    """Take ``uniqueItems`` out where no grammar keeps it and the type does not ask for it.

    Of a text that repeats an item pydantic makes the same set; only its least size could differ.
    """
    named = root.get("$defs", {}) if isinstance(root, dict) else {}
    pending = [root]
    for value in pending:
        if isinstance(value, dict):
            pending.extend(value.values())
            least = value.get("minItems", 0)
            if value.get("uniqueItems") is True and least in (0, 1) and not _listed(value, named):
                del value["uniqueItems"]
        elif isinstance(value, list):
            pending.extend(value)


def _listed(array: dict[str, Any], named: dict[str, Any]) -> bool:
    """Tell whether the items of an array are listed, so that a grammar can tell them apart."""
    items = array.get("items")
    if isinstance(items, dict) and "$ref" in items:
        items = named.get(str(items["$ref"]).rpartition("/")[2])
    if not isinstance(items, dict):
        return False
    return items.keys() & {"enum", "const"} != set() or items.get("type") in ("boolean", "null")


def _as_json(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the schema is not JSON: {error}") from None


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
    dump=schema_text,
    complete=_complete,
    check=_check,
    is_json=True,
)
