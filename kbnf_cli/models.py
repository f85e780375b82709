"""Classes of Python as JSON Schemas: ``module:Class``. This imports, and so runs, the module."""

import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import click

from kbnf_cli.files import is_model_name
from kbnf_cli.inputs import GrammarOr
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.text.errors import KbnfError


def schema_of_model(name: str, *, for_engines: bool = False) -> str:
    """Return the JSON Schema, as text, of a class named ``module:Class``.

    The module is looked for in the current directory, too. ``for_engines``: as pydantic gives it
    to other engines, with ``uniqueItems`` where we need not keep it. Raises
    ``ClickException`` where it cannot be imported, or its class has no schema.
    """
    from kbnf_core.languages.json_schema.language import schema_text

    module, _, path = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        with _printing_to_stderr():
            found: Any = import_module(module)
            for part in path.split("."):
                found = getattr(found, part)
    except (Exception, SystemExit) as error:
        # Whatever the module does wrong is the answer to the one who named it.
        is_file = module.endswith(".py")
        right = f"name the module, not its file: `{module.removesuffix('.py')}:{path}`"
        why = right if is_file else _sentence(error)
        raise click.ClickException(f"cannot import {name}: {why}") from error
    try:
        with _printing_to_stderr():
            text = schema_text(found, lossless=not for_engines)
        return json.dumps(json.loads(text), indent=2) + "\n"
    except (KbnfError, ValueError) as error:
        raise click.ClickException(f"{name}: {error}") from error


def of_model(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options of JSON Schemas for the one of a class, which were given or not."""
    return JSON_SCHEMA.options_of(object, schema)


@contextmanager
def _printing_to_stderr() -> Iterator[None]:
    """Keep stdout for the result: what a module prints is for whoever runs it.

    Nor does it end this process at once, with a status of its own.
    """
    leave = os._exit
    os._exit = _end
    try:
        with redirect_stdout(sys.stderr):
            yield
    finally:
        os._exit = leave


def _end(status: int) -> NoReturn:
    raise SystemExit(status)


def is_class(text: str) -> bool:
    """Return whether a text names a class, and no file."""
    is_file = text.startswith("builtin:") or Path(text).exists()
    return is_model_name(text) and not is_file


GRAMMAR_OR_CLASS = GrammarOr("FILE", is_class)
"""A path, the name of a shipped grammar, or ``module:Class``."""


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it ends the process with the status {error.code}"
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
