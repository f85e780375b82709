"""Conversions between KBNF and other grammar languages: text in, ``Conversion`` out.

Each raises ``GrammarError`` for a text with errors, and says of everything that it could not
keep what is lost; nothing changes silently.
"""

import json
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from kbnf_core.errors import GrammarError
from kbnf_core.languages import EXTENSIONS, language_of
from kbnf_core.syntax.conversion import Conversion, Example, Loss

if TYPE_CHECKING:
    from collections.abc import Callable

    from kbnf_core.imports import Imports
    from kbnf_core.languages.abnf.to_kbnf import from_abnf
    from kbnf_core.languages.bnf.to_kbnf import from_bnf
    from kbnf_core.languages.gbnf.to_kbnf import from_gbnf
    from kbnf_core.languages.gbnf.writer.from_kbnf import to_gbnf
    from kbnf_core.languages.json_schema import (
        from_json_schema,
        json_schema_grammar,
        schema_options,
        schema_text,
    )
    from kbnf_core.languages.lark.read import from_lark
    from kbnf_core.languages.lark.writer.from_kbnf import to_lark
    from kbnf_core.languages.structural_tag.to_kbnf import from_structural_tag
    from kbnf_core.vocab.vocabulary import Vocabulary

_HOMES = {
    "from_abnf": "kbnf_core.languages.abnf.to_kbnf",
    "from_bnf": "kbnf_core.languages.bnf.to_kbnf",
    "from_gbnf": "kbnf_core.languages.gbnf.to_kbnf",
    "from_json_schema": "kbnf_core.languages.json_schema",
    "json_schema_grammar": "kbnf_core.languages.json_schema",
    "schema_options": "kbnf_core.languages.json_schema",
    "schema_text": "kbnf_core.languages.json_schema",
    "from_lark": "kbnf_core.languages.lark.read",
    "from_structural_tag": "kbnf_core.languages.structural_tag.to_kbnf",
    "to_lark": "kbnf_core.languages.lark.writer.from_kbnf",
    "to_gbnf": "kbnf_core.languages.gbnf.writer.from_kbnf",
}

__all__ = [
    "Conversion",
    "Example",
    "Loss",
    "converted",
    "detect",
    "from_abnf",
    "from_bnf",
    "from_gbnf",
    "from_json_schema",
    "from_lark",
    "from_structural_tag",
    "json_schema_grammar",
    "schema_options",
    "schema_text",
    "to_gbnf",
    "to_kbnf",
    "to_lark",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


JSON_SCHEMA = "JSON Schema"

_READERS = {
    "ABNF": "from_abnf",
    "GBNF": "from_gbnf",
    "BNF": "from_bnf",
    "Lark": "from_lark",
    "Structural tag": "from_structural_tag",
    JSON_SCHEMA: "from_json_schema",
}
"""The converters to KBNF, by the names that ``detect`` returns."""

_WITH_VOCABULARY = ("BNF", "GBNF", "Structural tag")
"""Languages that can name tokens of a vocabulary."""


def converted(language: str, text: str, lossy: bool, **options: Any) -> str:
    """Return the KBNF for a text. Raises ``GrammarError`` for losses unless ``lossy``."""
    from kbnf_core.source import Source

    conversion = _reader(language)(text, **options)
    if conversion.losses and not lossy:
        source = Source(text, options.get("path"))
        raise GrammarError([loss.diagnostic(source) for loss in conversion.losses])
    return conversion.text


def to_kbnf(
    language: str,
    text: str,
    *,
    path: str | None = None,
    start: str | None = None,
    imports: "Imports | None" = None,
    vocabulary: "Vocabulary | None" = None,
    **own: Any,
) -> Conversion:
    """Return the KBNF for a text in a language that ``detect`` names, with what is lost.

    ``own``: the language's own options, by the names that its ``from_*`` function has for them.

    ``imports`` and ``vocabulary`` are for the languages that have a use for them, ``start`` for
    those that have rules. Raises ``GrammarError`` for a text with errors.
    """
    if language == "KBNF":
        return Conversion(text, True, ())
    read = _reader(language)
    if language == JSON_SCHEMA:
        from kbnf_core.languages.json_schema import schema_options

        return read(text, schema_options(lossy=True, **own), path=path)
    options: dict[str, Any] = {"path": path, "start": start, **own}
    if language == "Lark" and imports is not None:
        options["imports"] = imports
    if language in _WITH_VOCABULARY:
        options["vocabulary"] = vocabulary
    return read(text, **options)


def _reader(language: str) -> "Callable[..., Conversion]":
    read: Callable[..., Conversion] = getattr(sys.modules[__name__], _READERS[language])
    return read


def detect(text: str, path: str) -> str:
    """Return the name of the language of a file: by its extension, or by its content."""
    if PurePath(path).suffix.lower() in EXTENSIONS:
        return language_of(path).name
    if text.lstrip().startswith(("{", "true", "false")):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict) and "grammars" in value:
            return "Lark"
        if isinstance(value, dict) and is_structural_tag(value):
            return "Structural tag"
        if value is None and _by_signs(text) == "Lark":
            return "Lark"
        if isinstance(value, dict | bool) or PurePath(path).suffix.lower() == ".json":
            return JSON_SCHEMA
    return _by_signs(text)


def is_structural_tag(value: Mapping[str, Any]) -> bool:
    """Tell whether a JSON object is a structural tag, in its present form or the older one."""
    if value.get("type") == "structural_tag":
        return True
    older = isinstance(value.get("structures"), list) and "triggers" in value
    return older or (isinstance(value.get("format"), dict) and "type" not in value)


def _by_signs(text: str) -> str:
    from kbnf_core.languages.kbnf.detect import other_name
    from kbnf_core.source import Source

    return other_name(Source(text)) or "KBNF"
