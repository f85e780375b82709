"""Checks of the data for a vocabulary; warnings about valid but unusual tokens.

Tests: tests/unit/vocab
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import index

from kbnf_core.text.errors import VocabularyError


@dataclass(frozen=True, slots=True)
class Token:
    """The bytes that one token spells; accepted wherever the bytes themselves are.

    It exists because programs written for the ``kbnf`` binding wrap their tokens in it.
    """

    value: bytes

    def __post_init__(self) -> None:
        if not isinstance(self.value, bytes):
            kind = type(self.value).__name__
            raise VocabularyError(f"a token is made of bytes, not of {kind}")

    def __bytes__(self) -> bytes:
        return self.value

    def __len__(self) -> int:
        return len(self.value)


LARGEST_ID = 2**24 - 1
"""A mask has a bit for each id up to the largest, so one absurd id would cost gigabytes."""

LONGEST_TOKEN = 2**16 - 1
"""In bytes; depths in the trie are 16-bit numbers."""

LARGEST_TOTAL = 2**30
"""Bytes of all tokens together; node numbers in the trie are 32-bit numbers."""


def checked_tokens(tokens: Mapping[int, bytes | Token]) -> dict[int, bytes]:
    """Return a copy with plain ids and plain bytes; raise ``VocabularyError`` if it cannot be."""
    if not isinstance(tokens, Mapping):
        raise VocabularyError(f"tokens is a mapping of ids to bytes, not {_kind(tokens)}")
    checked = {checked_id(key): _checked_bytes(key, value) for key, value in tokens.items()}
    if sum(map(len, checked.values())) > LARGEST_TOTAL:
        raise VocabularyError(f"all tokens together are longer than {LARGEST_TOTAL} bytes")
    return checked


def checked_specials(special_tokens: Mapping[str, int]) -> dict[str, int]:
    """Return a copy with plain ids; raise ``VocabularyError`` if it cannot be."""
    if not isinstance(special_tokens, Mapping):
        raise VocabularyError(
            f"special_tokens is a mapping of texts to ids, not {_kind(special_tokens)}"
        )
    for name in special_tokens:
        if not isinstance(name, str):
            raise VocabularyError(f"the name of a special token is a text, not {_kind(name)}")
    return {name: checked_id(token_id) for name, token_id in special_tokens.items()}


def checked_ids(ids: int | Collection[int] | None) -> list[int]:
    """Return one id, several or none as a list of plain ids."""
    if ids is None:
        return []
    # A torch tensor of no dimension has a collection's methods, and an integer's.
    is_one = getattr(ids, "ndim", 1) == 0 or isinstance(ids, str | bytes)
    if isinstance(ids, Collection) and not is_one:
        return [checked_id(token_id) for token_id in ids]
    return [checked_id(ids)]


def checked_id(token_id: object) -> int:
    """Return the id as a plain int; ``VocabularyError`` unless in 0 .. ``LARGEST_ID``."""
    if isinstance(token_id, bool) or not hasattr(token_id, "__index__"):
        raise VocabularyError(f"a token id is an integer, not {_kind(token_id)} ({token_id!r})")
    number = index(token_id)
    if not 0 <= number <= LARGEST_ID:
        raise VocabularyError(f"token id {number} is outside 0 .. {LARGEST_ID}")
    return number


def _checked_bytes(token_id: object, value: object) -> bytes:
    data = value.value if isinstance(value, Token) else value
    if not isinstance(data, bytes):
        raise VocabularyError(f"token {token_id} is made of bytes, not of {_kind(value)}")
    if len(data) > LONGEST_TOKEN:
        raise VocabularyError(
            f"token {token_id} has {len(data)} bytes; the longest allowed has {LONGEST_TOKEN}"
        )
    return data


def _kind(value: object) -> str:
    return type(value).__name__


def ids_by_bytes(tokens: Mapping[int, bytes]) -> dict[bytes, tuple[int, ...]]:
    """Map each spelling to all the ids that have it, ascending."""
    groups: dict[bytes, tuple[int, ...]] = {}
    for token_id in sorted(tokens):
        data = tokens[token_id]
        groups[data] = (*groups.get(data, ()), token_id)
    return groups


def missing_bytes(tokens: Iterable[bytes]) -> tuple[int, ...]:
    """Return the byte values, ascending, that no token contains."""
    seen: set[int] = set()
    for data in tokens:
        seen.update(data)
    return tuple(sorted(set(range(256)) - seen))


def empty_ids(tokens: Mapping[int, bytes]) -> tuple[int, ...]:
    """Return the ids, ascending, of tokens that spell nothing."""
    return tuple(sorted(token_id for token_id, data in tokens.items() if not data))
