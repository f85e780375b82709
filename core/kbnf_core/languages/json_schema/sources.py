"""What a schema may be given as: a text, a value, a pydantic model, a type that pydantic knows."""

import json
from collections.abc import Mapping
from dataclasses import is_dataclass
from importlib import import_module
from os import PathLike
from typing import Any

from kbnf_core.text.errors import ConfigError


def schema_text(source: object, *, lossless: bool = True) -> str:
    """Return the JSON text of a schema.

    ``source`` is a text, a dict, a bool, a pydantic model or ``TypeAdapter``, or a type for which
    pydantic makes a schema: a dataclass, a ``TypedDict``, ``list[int]``. Raises ``ConfigError``
    where that needs pydantic and it is not installed, or where it makes none. Types are written as
    ``python_types`` does, or, where not ``lossless``, as pydantic gives them to others.
    """
    if isinstance(source, PathLike) or (isinstance(source, str) and source.endswith(".json")):
        raise ConfigError(f"this is the path of a file, which `Grammar.from_file` reads: {source}")
    if isinstance(source, str):
        return source
    if isinstance(source, Mapping | bool):
        return _as_json(source)
    if isinstance(source, int | float | list | None):
        raise ConfigError(f"a schema is a dict, a bool, a text or a type, not {source!r}"[:200])
    kind = type(source)
    if kind.__module__.startswith("outlines.") and kind.__name__ in _OF_OUTLINES:
        raise ConfigError(_OF_OUTLINES[kind.__name__])
    if is_dataclass(kind) or hasattr(kind, "model_json_schema"):
        raise ConfigError(
            f"this is an instance of {kind.__name__}, and the schema is of the class:"
            f" write `{kind.__name__}`"
        )
    for method in ("model_json_schema", "json_schema"):
        make = getattr(source, method, None)
        if callable(make):
            is_pydantic = type(source).__module__.startswith("pydantic.")
            return _made(make, lossless and is_pydantic)
    return _made(_adapter(source).json_schema, lossless)


_OF_OUTLINES = {
    "CFG": "a CFG of outlines is a grammar in Lark: `Grammar.from_lark(cfg.definition)`",
    "Regex": "a Regex of outlines is not a schema: `Grammar.from_regex(regex.pattern)`",
}


def _adapter(source: object) -> Any:
    try:
        return import_module("pydantic").TypeAdapter(source)
    except ImportError:
        raise ConfigError(
            "a schema of a Python type needs pydantic: pip install pydantic"
        ) from None
    except Exception as error:
        raise _no_schema(error) from None


def _made(make: Any, lossless: bool) -> str:
    try:
        if not lossless:
            return _as_json(make())
        from kbnf_core.languages.json_schema.python_types import LosslessSchema

        return _as_json(make(schema_generator=LosslessSchema))
    except ConfigError:
        raise
    except Exception as error:
        raise _no_schema(error) from None


def _no_schema(error: Exception) -> ConfigError:
    said = str(error).split("\n", 1)[0]
    return ConfigError(f"there is no JSON Schema of this: {said}")


def _as_json(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the schema is not JSON: {error}") from None
