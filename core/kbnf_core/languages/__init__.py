"""The grammar languages: a folder or a file each, which defines its value, and the list of them.

What reads, converts, detects or keeps grammars takes the languages from here. So a language is its
folder and a line.

Tests: tests/unit/languages
"""

import json
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from kbnf_core.frontend import KBNF, Language
from kbnf_core.languages.abnf.language import ABNF
from kbnf_core.languages.antlr.language import ANTLR
from kbnf_core.languages.bnf.language import BNF
from kbnf_core.languages.choice import CHOICE
from kbnf_core.languages.ebnf.language import EBNF
from kbnf_core.languages.gbnf.language import GBNF
from kbnf_core.languages.json_schema.language import JSON_SCHEMA
from kbnf_core.languages.lark.language import LARK
from kbnf_core.languages.regex import REGEX
from kbnf_core.languages.response_template.detect import is_response_template
from kbnf_core.languages.response_template.language import RESPONSE_TEMPLATE
from kbnf_core.languages.structural_tag.language import STRUCTURAL_TAG
from kbnf_core.languages.tools.detect import is_tool_list
from kbnf_core.languages.tools.language import TOOL_LIST
from kbnf_core.languages.tree_sitter.language import TREE_SITTER, is_tree_sitter
from kbnf_core.text.errors import ConfigError

LANGUAGES = (
    KBNF, GBNF, BNF, LARK, ABNF, ANTLR, EBNF, STRUCTURAL_TAG, RESPONSE_TEMPLATE, JSON_SCHEMA,
    TOOL_LIST, TREE_SITTER, REGEX, CHOICE,
)  # fmt: skip
EXTENSIONS = tuple(language.extension for language in LANGUAGES if language.extension)

__all__ = [
    "ABNF",
    "ANTLR",
    "BNF",
    "CHOICE",
    "EBNF",
    "EXTENSIONS",
    "GBNF",
    "JSON_SCHEMA",
    "KBNF",
    "LANGUAGES",
    "LARK",
    "REGEX",
    "RESPONSE_TEMPLATE",
    "STRUCTURAL_TAG",
    "TOOL_LIST",
    "TREE_SITTER",
    "Language",
    "as_language",
    "detect",
    "is_structural_tag",
    "language_of",
    "named",
]


def named(name: str) -> Language | None:
    """Return the language called ``name``, in any case, with ``-`` or ``_`` for blanks."""
    plain = name.lower().replace("-", " ").replace("_", " ")
    return next((language_ for language_ in LANGUAGES if language_.name.lower() == plain), None)


def as_language(language: Language | str) -> Language:
    """Return a language, given it or its name; raises ``ConfigError`` for another name."""
    if not isinstance(language, str):
        return language
    result = named(language)
    if result is None:
        names = ", ".join(language_.name.lower() for language_ in LANGUAGES)
        raise ConfigError(f"there is no language {language!r}: the languages are {names}")
    return result


def language_of(path: str | None) -> Language:
    """Return the language of a file by its extension; KBNF where that says nothing."""
    extension = PurePath(path or "").suffix.lower()
    return next(
        (language_ for language_ in LANGUAGES if extension and language_.extension == extension),
        KBNF,
    )


def detect(text: str, path: str) -> Language:
    """Return the language of a file: by its extension, or by its content."""
    suffix = PurePath(path).suffix.lower()
    if suffix in EXTENSIONS:
        from kbnf_core.kbnf.detect import is_standard

        language = language_of(path)
        return EBNF if language is BNF and is_standard(text) else language
    if text.lstrip().startswith(("{", "[", "true", "false")):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            value = None
        by_extension = _of_json(value)
        if by_extension is not None:
            return by_extension
        if value is None and _by_signs(text) is LARK:
            return LARK
        if isinstance(value, dict | bool) or suffix == ".json":
            return JSON_SCHEMA
    return _by_signs(text)


def _of_json(value: Any) -> Language | None:
    """Return the language that a JSON value is a text of, by its own fields."""
    if isinstance(value, dict) and "grammars" in value:
        return LARK
    if isinstance(value, dict) and is_structural_tag(value):
        return STRUCTURAL_TAG
    if is_tree_sitter(value):
        return TREE_SITTER
    if is_response_template(value):
        return RESPONSE_TEMPLATE
    return TOOL_LIST if is_tool_list(value) else None


def is_structural_tag(value: Mapping[str, Any]) -> bool:
    """Return whether a JSON object is a structural tag, in its present form or the older one."""
    if value.get("type") == "structural_tag":
        return True
    older = isinstance(value.get("structures"), list) and "triggers" in value
    return older or (isinstance(value.get("format"), dict) and "type" not in value)


def _by_signs(text: str) -> Language:
    from kbnf_core.kbnf.detect import other_name
    from kbnf_core.text.source import Source

    return named(other_name(Source(text)) or KBNF.name) or KBNF
