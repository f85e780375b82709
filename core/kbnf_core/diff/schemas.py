"""Differences between JSON Schemas, and of a schema and a grammar, that are in options alone."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from kbnf_core.diff.comparison import WORK, compare
from kbnf_core.diff.result import Comparison, Relation
from kbnf_core.grammar import Grammar
from kbnf_core.text.errors import GrammarError

_VIEWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("whitespace", {"whitespace": "compact"}),
    ("the order of members", {"order": "any"}),
    ("whitespace and the order of members", {"whitespace": "compact", "order": "any"}),
)

BEFORE_0_3: Mapping[str, Any] = {
    "integers": "fraction",
    "digits": "any",
    "formats": "rfc",
    "closed": False,
    "whitespace": "bounded",
}
"""Options that have the defaults of version 0.2."""


def compare_schemas(
    old: str,
    new: str,
    work: int = WORK,
    old_options: Mapping[str, Any] | None = None,
    new_options: Mapping[str, Any] | None = None,
) -> Comparison:
    """Return how the texts of two JSON Schemas differ, and note what that is about.

    Where the same schemas without whitespace, or with members in any order, have the same texts,
    they differ in that alone. Raises ``GrammarError`` for a schema that cannot be converted.
    """
    sides = (old, dict(old_options or {})), (new, dict(new_options or {}))
    left, right = (Grammar.from_json_schema(text, **options) for text, options in sides)
    found = compare(left, right, work)
    if found.relation in (Relation.EQUAL, Relation.UNKNOWN):
        return found
    for what, view in _VIEWS:
        one, two = (_grammar(text, {**options, **view}) for text, options in sides)
        if one and two and compare(one, two, work).relation is Relation.EQUAL:
            return replace(found, notes=(f"they differ in {what} alone",))
    return found


def compare_with_schema(
    schema: str, options: Mapping[str, Any], other: Grammar, found: Comparison, work: int = WORK
) -> Comparison:
    """Note with which options a schema has the texts of ``other``, where those of 0.2 are enough.

    ``found`` is how the two differ.
    """
    if found.relation in (Relation.EQUAL, Relation.UNKNOWN):
        return found

    def is_equal(wanted: Mapping[str, Any]) -> bool:
        grammar = _grammar(schema, wanted)
        return grammar is not None and compare(grammar, other, work).relation is Relation.EQUAL

    wanted = {**BEFORE_0_3, **options}
    if not is_equal(wanted):
        return found
    for name in BEFORE_0_3:
        fewer = {each: value for each, value in wanted.items() if each != name}
        if name not in options and is_equal(fewer):
            wanted = fewer
    flags = " ".join(_flags({name: wanted[name] for name in wanted if name not in options}))
    return replace(
        found, notes=(f"they differ in options alone: the schema with {flags} is equal",)
    )


def _flags(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        yield "--open" if name == "closed" else f"--{name} {value}"


def _grammar(schema: str, options: Mapping[str, Any]) -> Grammar | None:
    try:
        return Grammar.from_json_schema(schema, **options)
    except GrammarError:
        return None
