"""Compares syntax trees by what they say, not by where they are."""

from dataclasses import fields, is_dataclass

PLACES = frozenset({"span", "origins", "operator"})


def shape(node: object) -> object:
    """Return ``node`` as nested tuples, without the places in the source."""
    if isinstance(node, tuple):
        return tuple(shape(part) for part in node)
    if not is_dataclass(node):
        return node
    parts = (getattr(node, f.name) for f in fields(node) if f.name not in PLACES)
    return (type(node).__name__, *map(shape, parts))
