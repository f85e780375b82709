"""What a schema may be given as: a text, a value, a pydantic model, a type that pydantic knows."""

import json
from collections.abc import Mapping
from importlib import import_module
from os import PathLike
from typing import Any

from kbnf_core.text.errors import ConfigError


def schema_text(source: object, *, sets_repeat: bool = True) -> str:
    """Return the JSON text of a schema.

    ``source`` is a text, a dict, a bool, a pydantic model or ``TypeAdapter``, or a type for which
    pydantic makes a schema: a dataclass, a ``TypedDict``, ``list[int]``. Raises ``ConfigError``
    where that needs pydantic and it is not installed, or where it makes none. ``sets_repeat``:
    see ``_let_sets_repeat``; without it the schema is what pydantic gives to others.
    """
    if isinstance(source, PathLike) or (isinstance(source, str) and source.endswith(".json")):
        raise ConfigError(f"this is the path of a file, which `Grammar.from_file` reads: {source}")
    if isinstance(source, str):
        return source
    if isinstance(source, Mapping | bool):
        return _as_json(source)
    if isinstance(source, int | float | list | None):
        raise ConfigError(f"a schema is a dict, a bool, a text or a type, not {source!r}"[:200])
    for method in ("model_json_schema", "json_schema"):
        make = getattr(source, method, None)
        if callable(make):
            return _made(make, sets_repeat)
    return _made(lambda: _adapter(source).json_schema(), sets_repeat)


def _adapter(source: object) -> Any:
    try:
        return import_module("pydantic").TypeAdapter(source)
    except ImportError:
        raise ConfigError(
            "a schema of a Python type needs pydantic: pip install pydantic"
        ) from None


def _made(make: Any, sets_repeat: bool) -> str:
    try:
        schema = make()
        if sets_repeat:
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
