"""``x-guidance``: the options of the conversion that a schema carries, under LLGuidance's names.

It counts at the top of a schema only. An explicit option wins over it, and it wins over the
defaults, which are those of the ``Standard``.
"""

from dataclasses import replace
from functools import lru_cache
from typing import Any

from kbnf_core.automata.regex import compile_regex
from kbnf_core.languages.json_schema.characters import LETTERS
from kbnf_core.languages.json_schema.document import escape
from kbnf_core.languages.json_schema.options import (
    Digits,
    Escapes,
    Formats,
    Integers,
    Options,
    Standard,
    Whitespace,
)
from kbnf_core.languages.json_schema.problems import ProblemError, invalid
from kbnf_core.text.json_text import Json

KEYWORD = "x-guidance"
_TEXTS = frozenset(
    {"item_separator", "key_separator", "whitespace_pattern", "json_allowed_escapes"}
)
_FLAGS = frozenset(
    {"whitespace_flexible", "coerce_one_of", "lenient", "json_allow_general_unicode_escapes"}
)
_MAY_BE_NULL = frozenset({"whitespace_pattern", "json_allowed_escapes"})


def guided(schema: Json, options: Options) -> Options:
    """Return ``options`` with everything said. Raises ProblemError for what cannot be."""
    said = _hints(schema)
    return _with(options, said) if said else _by_default(options)


def _with(options: Options, said: dict[str, Any]) -> Options:
    defaults = _defaults(options.standard)
    known = {
        name: value
        for name in defaults
        if (value := _first(getattr(options, name), said.get(name), defaults[name])) is not None
    }
    if options.whitespace is not None and options.whitespace_pattern is None:
        known.pop("whitespace_pattern", None)
    whole = replace(options, **known)
    for name in ("whitespace_pattern", "item_separator", "key_separator"):
        _check_regex(getattr(whole, name), name)
    strange = sorted(set(whole.allowed_escapes or "") - set(LETTERS))
    if strange:
        raise invalid(f"`\\{strange[0]}` is no escape of JSON", _pointer("json_allowed_escapes"))
    if whole.lenient and options.standard is Standard.LLGUIDANCE:
        whole = replace(whole, coerce_one_of=True)
    return whole


@lru_cache(maxsize=16)
def _by_default(options: Options) -> Options:
    return _with(options, {})


def _first(*values: Any) -> Any:
    return next((value for value in values if value is not None), None)


def _defaults(standard: Standard) -> dict[str, Any]:
    by_llguidance = standard is Standard.LLGUIDANCE
    return {
        "whitespace": Whitespace.FLEXIBLE if by_llguidance else Whitespace.PRINTED,
        "integers": Integers.PLAIN,
        "digits": Digits.ANY if by_llguidance else Digits.BOUNDED,
        "formats": Formats.PLAIN,
        "whitespace_pattern": None,
        "item_separator": ",",
        "key_separator": ":",
        "escapes": Escapes.CANONICAL,
        "allowed_escapes": LETTERS,
        "coerce_one_of": False,
        "lenient": False,
    }


def _hints(schema: Json) -> dict[str, Any]:
    """Return what the schema says, by the names of the options."""
    if not isinstance(schema, dict) or KEYWORD not in schema:
        return {}
    said = schema[KEYWORD]
    if not isinstance(said, dict):
        raise invalid(f"`{KEYWORD}` is an object", f"/{KEYWORD}")
    for key, value in said.items():
        _check(key, value)
    general = said.get("json_allow_general_unicode_escapes")
    flexible = said.get("whitespace_flexible")
    return {
        "whitespace": None if flexible is None else _GAPS[flexible],
        "escapes": Escapes.UNICODE if general else None,
        "allowed_escapes": said.get("json_allowed_escapes"),
        **{name: said.get(name) for name in _SAME},
    }


_GAPS = {True: Whitespace.FLEXIBLE, False: Whitespace.COMPACT}
_SAME = ("whitespace_pattern", "item_separator", "key_separator", "coerce_one_of", "lenient")


def _check(key: str, value: Json) -> None:
    if key not in _TEXTS | _FLAGS:
        known = ", ".join(f"`{name}`" for name in sorted(_TEXTS | _FLAGS))
        problem = invalid(f"`{KEYWORD}` knows no `{key}`", _pointer(key)).problem
        raise ProblemError(problem._replace(help=f"it knows {known}"))
    if value is None and key in _MAY_BE_NULL:
        return
    if key in _TEXTS and not isinstance(value, str):
        raise invalid(f"`{key}` is a string", _pointer(key))
    if key in _FLAGS and not isinstance(value, bool):
        raise invalid(f"`{key}` is true or false", _pointer(key))


def _check_regex(pattern: str | None, name: str) -> None:
    problems = () if pattern is None else compile_regex(pattern).problems
    if problems:
        raise invalid(f"in the pattern `{pattern}`: {problems[0].message}", _pointer(name))


def _pointer(key: str) -> str:
    return f"/{KEYWORD}/{escape(key)}"
