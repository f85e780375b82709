"""The common result of all loaders, and the checks that they share."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TypeVar

from kbnf_core.errors import VocabularyError

_T = TypeVar("_T")

_KINDS = {dict: "an object", list: "a list", str: "a string", int: "an integer"}


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of a vocabulary file, before any override.

    ``tokens``: id to bytes. ``special_tokens``: text to id. ``eos``: the ids that end a sequence.
    """

    tokens: dict[int, bytes]
    special_tokens: dict[str, int] = field(default_factory=dict)
    eos: Collection[int] = ()


def expect(value: object, kind: type[_T], what: str) -> _T:
    """Return the value if it is of that kind; else ``VocabularyError`` names it as ``what``."""
    if isinstance(value, kind) and not isinstance(value, bool):
        return value
    raise VocabularyError(f"{what} should be {_KINDS[kind]}, not {_described(value)}")


def encode(text: str, what: str) -> bytes:
    """Return the UTF-8 of a text; ``VocabularyError`` if it has lone surrogates."""
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise VocabularyError(f"{what} has half of a surrogate pair: {text[:40]!r}") from None


def _described(value: object) -> str:
    return "missing" if value is None else repr(value)[:40]
