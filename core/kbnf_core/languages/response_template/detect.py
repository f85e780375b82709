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
    template = value.get(KEY, value)
    anchored = (
        isinstance(template, Mapping) and {"start_anchor", "start_anchor_pattern"} & template.keys()
    )
    return KEY in value or (bool(anchored) and "fields" in template)
