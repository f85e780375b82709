"""The schemas of the commands' JSON output."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

import kbnf_cli

FOLDER = Path(kbnf_cli.__file__).parent / "schemas"


def checked(name: str, text: str) -> Any:
    """Return the value that ``text`` spells, after checking it against a command's schema."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    value = json.loads(text)
    Draft202012Validator(schema).validate(value)
    return value
