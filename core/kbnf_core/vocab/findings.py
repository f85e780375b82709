"""Warnings about vocabularies: what is legal and still worth knowing."""

from collections.abc import Iterable, Mapping


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
