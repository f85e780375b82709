"""What a schema may be given as: a text, a value, a pydantic model, a type that pydantic knows."""

import json
import re
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from kbnf_core.errors import ConfigError

_MODEL = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


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
    for method in ("model_json_schema", "json_schema"):
        make = getattr(source, method, None)
        if callable(make):
            return _made(make)
    return _made(lambda: _adapter(source).json_schema())


def names_model(argument: str) -> bool:
    """Tell whether an argument is of the form ``module:Class``, and no file."""
    return _MODEL.fullmatch(argument) is not None and not Path(argument).exists()


def model_text(name: str) -> str:
    """Return the schema of ``module:Class``; runs the module. Raises ``ConfigError``.

    Modules of the current directory are found, too.
    """
    module, _, path = name.partition(":")
    found: Any
    before = list(sys.path)
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = import_module(module)
        for step in path.split("."):
            found = getattr(found, step)
    except Exception as error:
        raise ConfigError(f"`{name}` cannot be loaded: {type(error).__name__}: {error}") from None
    finally:
        sys.path[:] = before
    if isinstance(found, str):
        raise ConfigError(f"`{name}` is a text, not a model")
    return schema_text(found)


def _adapter(source: object) -> Any:
    try:
        return import_module("pydantic").TypeAdapter(source)
    except ImportError:
        raise ConfigError(
            "a schema of a Python type needs pydantic: pip install 'kbnf-toolkit[pydantic]'"
        ) from None


def _made(make: Any) -> str:
    try:
        return _as_json(make())
    except ConfigError:
        raise
    except Exception as error:
        said = str(error).split("\n", 1)[0]
        raise ConfigError(f"there is no JSON Schema of this: {said}") from None


def _as_json(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the schema is not JSON: {error}") from None
