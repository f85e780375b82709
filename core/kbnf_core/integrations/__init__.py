"""Adapters: one file for each program that generates text, which imports it when it is used.

They contain no logic of their own: grammars, masks and ends are the engine's.

Tests: tests/serving
"""

import json
import os
from typing import Any

from kbnf_core.text.errors import ConfigError

VARIABLE = "KBNF_SCHEMA_OPTIONS"
"""The environment variable with options of JSON Schemas, for servers without a place for them."""


def schema_options() -> dict[str, Any]:
    """Return the options of JSON Schemas in the environment: an object of JSON, by their names.

    ``{"integers": "fraction", "closed": true}`` for one. ``ConfigError`` for any other value.
    """
    text = os.environ.get(VARIABLE) or "{}"
    try:
        result = json.loads(text)
    except ValueError as error:
        raise ConfigError(f"{VARIABLE} is not JSON: {error}") from None
    if not isinstance(result, dict):
        raise ConfigError(f"{VARIABLE} is an object of JSON, not {text[:100]}")
    return result
