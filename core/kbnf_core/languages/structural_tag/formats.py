"""The formats of a structural tag: which fields each has, and what these may contain.

A check returns the value of a field, or raises ``WrongError`` with what it should be.
"""

import enum
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

Check: TypeAlias = Callable[[Any], Any]

REQUIRED = object()
"""The default of a field that must be there."""

MOST = 2**31 - 1
"""The largest number of XGrammar's."""

STYLES = (
    "json",
    "qwen_xml",
    "minimax_xml",
    "minimax_m3_xml",
    "deepseek_xml",
    "deepseek_v4_1_xml",
    "glm_xml",
    "cohere_xml",
    "kimi_k3_xml",
    "gemma",
    "python",
    "call",
)

ESCAPES = ("canonical", "unicode", "any")
WORDS = ("json", "python")
SYNTAXES = ("ebnf", "lark")
LEXINGS = ("llguidance", "earley", "lalr", "scannerless")


class WrongError(Exception):
    """A value is none that a field may have; the text says what it should be."""


class Token(NamedTuple):
    """A token: its id, or its text."""

    name: int | str


class Inside(enum.Enum):
    """The formats in a field: none, one, a list, a list of tags, or pairs with a trigger."""

    NOTHING = enum.auto()
    FORMAT = enum.auto()
    FORMATS = enum.auto()
    TAGS = enum.auto()
    RULES = enum.auto()
    TOKEN_RULES = enum.auto()


class Field(NamedTuple):
    """A field: its check, what it is where it is left out, and the formats inside."""

    check: Check
    default: Any = REQUIRED
    inside: Inside = Inside.NOTHING


def text(value: Any) -> str:
    """Check a text."""
    if not isinstance(value, str):
        raise WrongError("a text")
    return value


def word(value: Any) -> str:
    """Check a text that is not empty."""
    found = text(value)
    if not found:
        raise WrongError("a text that is not empty")
    return found


def name(value: Any) -> str | None:
    """Check the name of a tool, or null for none."""
    return None if value is None else text(value)


def flag(value: Any) -> bool:
    """Check a truth value."""
    if not isinstance(value, bool):
        raise WrongError("`true` or `false`")
    return value


def count(value: Any) -> int:
    """Check a number of things."""
    if not isinstance(value, Decimal) or not 0 <= value <= MOST or value != int(value):
        raise WrongError(f"a whole number from 0 to {MOST:,}")
    return int(value)


def bound(value: Any) -> int | None:
    """Check a number of things, or null for no bound."""
    return None if value is None else count(value)


def some(value: Any) -> int | None:
    """Check a bound that is not 0."""
    if bound(value) == 0:
        raise WrongError("a whole number from 1 on, or null")
    return bound(value)


def upper(value: Any) -> int | None:
    """Check the upper bound of ``repeat``; -1 is none."""
    return None if isinstance(value, Decimal) and value == -1 else count(value)


def token(value: Any) -> Token:
    """Check a token: its id, or its text."""
    return Token(word(value) if isinstance(value, str) else count(value))


def schema(value: Any) -> Any:
    """Check a JSON Schema."""
    if not isinstance(value, dict | bool):
        raise WrongError("a JSON Schema: an object, `true` or `false`")
    return value


def one_of(names: tuple[str, ...], *, or_null: bool = False) -> Check:
    """Return the check of one of some names, or of null for what is asked for."""

    def checked(value: Any) -> str | None:
        if isinstance(value, str) and value in names:
            return value
        if or_null and value is None:
            return None
        raise WrongError(f"one of {', '.join(names)}")

    return checked


def words(value: Any) -> tuple[str, ...]:
    """Check a list of texts that are not empty."""
    return tuple(map(word, _items(value)))


def tokens(value: Any) -> tuple[Token, ...]:
    """Check a list of tokens."""
    return tuple(map(token, _items(value)))


def filled(check: Check) -> Check:
    """Return the check of a list that is not empty."""

    def checked(value: Any) -> Any:
        if value == []:
            raise WrongError("a list that is not empty")
        return check(value)

    return checked


def edge(value: Any) -> str | Token:
    """Check the beginning of a tag: a text, or a token."""
    return text(value) if isinstance(value, str) else _token_format(value)


def ends(value: Any) -> tuple[str, ...] | Token:
    """Check the end of a tag: a text, some texts, or a token."""
    if isinstance(value, str):
        return (text(value),)
    return tuple(map(text, value)) if isinstance(value, list) and value else _token_format(value)


def pairs(trigger: Check) -> Check:
    """Return the check of a list of triggers, each with a format."""

    def checked(value: Any) -> tuple[Any, ...]:
        found = _items(value)
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in found):
            raise WrongError("a list of pairs, each of a trigger and a format")
        return tuple(trigger(pair[0]) for pair in found)

    return checked


def _token_format(value: Any) -> Token:
    if not isinstance(value, dict) or value.get("type", "token") != "token":
        raise WrongError('a text, or `{"type": "token", "token": ...}`')
    return token(value.get("token"))


def _items(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise WrongError("a list")
    return value


def _anything(value: Any) -> Any:
    return value


_CONTENT = Field(_anything, inside=Inside.FORMAT)
_ELEMENTS = Field(filled(_items), inside=Inside.FORMATS)
_TAGS = Field(filled(_items), inside=Inside.TAGS)
_SCHEMA: dict[str, Field] = {
    "json_schema": Field(schema),
    "any_order": Field(flag, False),
    "max_whitespace_cnt": Field(some, None),
    "excludes": Field(words, ()),
    "tool": Field(name, None),
    "escapes": Field(one_of(ESCAPES, or_null=True), None),
    "words": Field(one_of(WORDS, or_null=True), None),
}
_CALLS: dict[str, Field] = {
    "tags": _TAGS,
    "at_least_one": Field(flag, False),
    "stop_after_first": Field(flag, False),
}

FORMATS: Mapping[str, Mapping[str, Field]] = {
    "tag": {"begin": Field(edge), "content": _CONTENT, "end": Field(ends)},
    "const_string": {"value": Field(text)},
    "json_schema": {**_SCHEMA, "style": Field(one_of(STYLES), "json")},
    "any_text": {
        "tool": Field(name, None),
        "excludes": Field(words, ()),
        "max_tokens": Field(bound, None),
        "max_chars": Field(bound, None),
    },
    "sequence": {"elements": _ELEMENTS},
    "or": {"elements": _ELEMENTS},
    "triggered_tags": {
        "triggers": Field(filled(words)),
        "excludes": Field(words, ()),
        **_CALLS,
    },
    "tags_with_separator": {**_CALLS, "separator": Field(text)},
    "optional": {"content": _CONTENT},
    "plus": {"content": _CONTENT},
    "star": {"content": _CONTENT},
    "repeat": {"min": Field(count), "max": Field(upper), "content": _CONTENT},
    "dispatch": {
        "rules": Field(filled(pairs(word)), inside=Inside.RULES),
        "loop": Field(flag, True),
        "excludes": Field(words, ()),
    },
    "token_dispatch": {
        "rules": Field(filled(pairs(token)), inside=Inside.TOKEN_RULES),
        "loop": Field(flag, True),
        "exclude_tokens": Field(tokens, ()),
    },
    "token_triggered_tags": {
        "trigger_tokens": Field(filled(tokens)),
        "exclude_tokens": Field(tokens, ()),
        **_CALLS,
    },
    "grammar": {
        "grammar": Field(word),
        "syntax": Field(one_of(SYNTAXES), "ebnf"),
        "lexing": Field(one_of(LEXINGS), "scannerless"),
        "tool": Field(name, None),
    },
    "regex": {
        "pattern": Field(word),
        "dot_all": Field(flag, True),
        "tool": Field(name, None),
    },
    "token": {"token": Field(token)},
    "exclude_token": {"exclude_tokens": Field(tokens, ())},
    "any_tokens": {"exclude_tokens": Field(tokens, ()), "max_tokens": Field(bound, None)},
    "qwen_xml_parameter": _SCHEMA,
}
"""The fields of each format; one that names no type is the first whose fields it has."""


def guessed(value: Mapping[str, Any]) -> str | None:
    """Return the type of a format that does not name it, by its fields."""
    for kind, fields in FORMATS.items():
        needed = {name for name, field in fields.items() if field.default is REQUIRED}
        if needed and needed <= value.keys():
            return kind
    return "any_text" if "excludes" in value else None
