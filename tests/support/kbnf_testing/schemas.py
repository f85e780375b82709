"""The schemas of the commands' JSON output, and grammars of schemas with options as a value."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

import kbnf_cli
from kbnf_core import Grammar
from kbnf_core.languages import JSON_SCHEMA
from kbnf_core.languages.json_schema import Options
from kbnf_core.languages.json_schema.options import as_mapping
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

FOLDER = Path(kbnf_cli.__file__).parent / "schemas"


def checked(name: str, text: str) -> Any:
    """Return the value that ``text`` spells, after checking it against a command's schema."""
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    value = json.loads(text)
    Draft202012Validator(schema).validate(value)
    return value


def json_schema_grammar(
    text: str, options: Options | None = None, limits: Limits = DEFAULT_LIMITS
) -> Grammar:
    """Return the grammar of a schema, read with these options."""
    own = as_mapping(options)
    lossy = bool(own.pop("lossy", False))
    return Grammar.read(text, JSON_SCHEMA, limits=limits, lossy=lossy, options=own)
