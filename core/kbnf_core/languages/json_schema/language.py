"""JSON Schema as one of the grammar languages: the JSON texts of the values that it allows.

A schema is a text, a value, a pydantic model, or a type that pydantic knows (``schema_text``).

Tests: tests/unit/languages/json_schema/test_sources.py, test_options.py
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from importlib import import_module
from os import PathLike
from types import MappingProxyType
from typing import Any

from kbnf_core.frontend import Language
from kbnf_core.kbnf.parsed import Parsed, Request
from kbnf_core.languages.json_schema import LIMITS, options_of
from kbnf_core.text.errors import ConfigError
from kbnf_core.text.files import Imports
from kbnf_core.text.json_text import Json, print_json
from kbnf_core.text.source import Source


class SchemaLanguage(Language):
    """A language of JSON texts with schemas in them, whose options are those of schemas."""

    options: tuple[str, ...] = (
        "whitespace",
        "order",
        "closed",
        "integers",
        "digits",
        "escapes",
        LIMITS,
        "standard",
        "formats",
        "whitespace_pattern",
        "item_separator",
        "key_separator",
        "allowed_escapes",
        "coerce_one_of",
        "lenient",
        "strict",
    )
    is_converted = True
    is_json = True
    leaves_out: Mapping[str, bool] = MappingProxyType({})
    """How pydantic writes an object that a program gives."""

    def schemas_in(self, value: Json) -> Iterator[tuple[Json, str]]:
        """Yield the schemas in a value, parts of it, with their pointers."""
        del value
        return iter(())

    def self_contained(self, text: str, path: str | None, imports: Imports) -> str:
        """Return a text with the files that its schemas refer to; one with errors as it is."""
        if path is None or '"$ref"' not in text:
            return text
        from kbnf_core.languages.json_schema.document import bundle_each, read_json
        from kbnf_core.languages.json_schema.keywords import ProblemError

        try:
            value = read_json(text)
            is_changed = bundle_each(self.schemas_in(value), path, imports)
        except ProblemError:
            return text
        return print_json(value) if is_changed else text

    def text_of(self, source: Any) -> str:
        """Return a text, an object of pydantic, or a value as JSON."""
        if isinstance(source, str):
            return source
        dump = getattr(source, "model_dump_json", None)
        try:
            return str(dump(**self.leaves_out)) if callable(dump) else json.dumps(source)
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(f"a {self.name.lower()} is JSON: {error}"[:200]) from None

    def options_of(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return options by their names in a request.

        ``limits``, where a program speaks of schemas alone, has another name beside the limits of
        the grammar; ``additional_properties`` is the contrary of ``closed``.
        """
        del source
        own = {LIMITS if name == "limits" else name: value for name, value in options.items()}
        additional = own.pop("additional_properties", None)
        if additional is not None:
            own.setdefault("closed", not additional)
        return own

    def check_options(self, options: Mapping[str, Any]) -> None:
        """Raise ``ConfigError`` for options that schemas have not, or not so."""
        super().check_options(options)
        if options:
            options_of(options)


class _JsonSchema(SchemaLanguage):
    name = "JSON Schema"
    options = (*SchemaLanguage.options, "syntax")

    def read(self, source: Source, request: Request) -> Parsed:
        from kbnf_core.languages.json_schema.parse import parse_json_schema

        return parse_json_schema(source, request)

    def schemas_in(self, value: Json) -> Iterator[tuple[Json, str]]:
        yield value, ""

    def text_of(self, source: Any) -> str:
        return schema_text(source)

    def options_of(self, source: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """Return the options for a schema: types of Python are closed unless they are not."""
        own = super().options_of(source, options)
        if own.get("closed") is None and not isinstance(source, str | Mapping | bool):
            own["closed"] = True
        return own


JSON_SCHEMA: Language = _JsonSchema()


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
    reason = str(error).split("\n", 1)[0]
    return ConfigError(f"there is no JSON Schema of this: {reason}")


def _as_json(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"the schema is not JSON: {error}") from None
