"""A vocabulary looked at: counts, and whatever is legal but worth knowing."""

from dataclasses import dataclass
from itertools import pairwise

from kbnf_core.vocab.validate import empty_ids, ids_by_bytes, missing_bytes
from kbnf_core.vocab.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class Inspection:
    """What there is to say about a vocabulary; ids are ascending everywhere.

    ``size``: one more than the largest id. ``ordinary``: number of tokens with bytes.
    ``special``: (id, text) of the special tokens. ``stop_ids``: ids that end the sequence.
    ``duplicates``: groups of ids that spell the same bytes. ``empty``: ids that spell nothing.
    ``missing_bytes``: byte values in no token. ``longest``: ids of the longest tokens, and
    ``longest_length`` their length in bytes. ``gaps``: half-open ranges of ids not in use.
    ``partial_utf8``: ids whose bytes are not UTF-8 by themselves.
    """

    name: str | None
    fingerprint: str
    size: int
    ordinary: int
    special: tuple[tuple[int, str], ...]
    stop_ids: tuple[int, ...]
    duplicates: tuple[tuple[int, ...], ...]
    empty: tuple[int, ...]
    missing_bytes: tuple[int, ...]
    longest: tuple[int, ...]
    longest_length: int
    gaps: tuple[tuple[int, int], ...]
    partial_utf8: tuple[int, ...]


def inspect(vocabulary: Vocabulary) -> Inspection:
    """Look at a vocabulary."""
    tokens = vocabulary.tokens
    longest_length = max(map(len, tokens.values()), default=0)
    return Inspection(
        name=vocabulary.name,
        fingerprint=vocabulary.fingerprint,
        size=vocabulary.size,
        ordinary=len(tokens),
        special=tuple(sorted((key, name) for name, key in vocabulary.special_tokens.items())),
        stop_ids=tuple(sorted(vocabulary.eos_token_ids)),
        duplicates=_duplicates(vocabulary),
        empty=empty_ids(tokens),
        missing_bytes=missing_bytes(tokens.values()),
        longest=tuple(sorted(key for key, data in tokens.items() if len(data) == longest_length)),
        longest_length=longest_length,
        gaps=_gaps(vocabulary),
        partial_utf8=tuple(sorted(key for key, data in tokens.items() if not _is_utf8(data))),
    )


def _duplicates(vocabulary: Vocabulary) -> tuple[tuple[int, ...], ...]:
    groups = ids_by_bytes(vocabulary.tokens)
    return tuple(sorted(ids for data, ids in groups.items() if len(ids) > 1 and data))


def _gaps(vocabulary: Vocabulary) -> tuple[tuple[int, int], ...]:
    """Return the runs of absent ids below ``size``: the room between neighbours in use."""
    others = (*vocabulary.special_tokens.values(), *vocabulary.eos_token_ids)
    used = sorted({-1, *vocabulary.tokens, *others})
    return tuple((before + 1, after) for before, after in pairwise(used) if after > before + 1)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
