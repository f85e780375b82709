"""Classes of Python as JSON Schemas: ``module:Class``. This imports, and so runs, the module."""

import json
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from kbnf_cli.inputs import GrammarOr
from kbnf_core.errors import KbnfError
from kbnf_core.languages import JSON_SCHEMA

_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*:[^\W\d]\w*(?:\.[^\W\d]\w*)*")


def is_model_name(text: str) -> bool:
    """Tell whether ``text`` is written as ``module:Class``."""
    return _NAME.fullmatch(text) is not None


def schema_of_model(name: str) -> str:
    """Return the JSON Schema, as text, of a class named ``module:Class``.

    The module is looked for in the current directory, too. Raises ``ClickException`` where it
    cannot be imported, or its class has no schema.
    """
    module, _, path = name.partition(":")
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except Exception as error:
        # Whatever the module does wrong is the answer to the one who named it.
        raise click.ClickException(f"cannot import {name}: {_sentence(error)}") from error
    try:
        return json.dumps(json.loads(JSON_SCHEMA.text_of(found)), indent=2) + "\n"
    except (KbnfError, ValueError) as error:
        raise click.ClickException(f"{name}: {error}") from error


def _is_class(text: str) -> bool:
    is_file = text.startswith("builtin:") or Path(text).exists()
    return is_model_name(text) and not is_file


GRAMMAR_OR_CLASS = GrammarOr("FILE", _is_class)
"""A path, the name of a shipped grammar, or ``module:Class``."""


def _sentence(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
