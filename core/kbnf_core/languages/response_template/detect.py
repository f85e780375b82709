"""Whether a JSON value is a response template, by its content.

Tests: tests/unit/languages/test_response_templates.py
"""

from collections.abc import Mapping
from typing import Any

KEY = "response_template"
"""Where the configuration of a tokenizer has one."""


def is_response_template(value: Any) -> bool:
    """Return whether a JSON value is a response template, or a configuration that has one."""
    if not isinstance(value, Mapping):
        return False
    held = value.get(KEY, value)
    anchored = isinstance(held, Mapping) and {"start_anchor", "start_anchor_pattern"} & held.keys()
    return KEY in value or (bool(anchored) and "fields" in held)
