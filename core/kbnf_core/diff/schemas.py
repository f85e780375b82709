"""Differences between JSON Schemas that are in whitespace or in the order of members alone."""

from dataclasses import replace
from typing import Any

from kbnf_core.diff.comparison import WORK, compare
from kbnf_core.diff.result import Comparison, Relation
from kbnf_core.errors import GrammarError
from kbnf_core.grammar import Grammar

_VIEWS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("whitespace", {"whitespace": "compact"}),
    ("the order of members", {"order": "any"}),
    ("whitespace and the order of members", {"whitespace": "compact", "order": "any"}),
)


def compare_schemas(old: str, new: str, work: int = WORK) -> Comparison:
    """Return how the texts of two JSON Schemas differ, and note what that is about.

    Where the same schemas without whitespace, or with members in any order, have the same texts,
    they differ in that alone. Raises ``GrammarError`` for a schema that cannot be converted.
    """
    found = compare(Grammar.from_json_schema(old), Grammar.from_json_schema(new), work)
    if found.relation in (Relation.EQUAL, Relation.UNKNOWN):
        return found
    what = next((what for what, options in _VIEWS if _are_equal(old, new, options, work)), None)
    return found if what is None else replace(found, notes=(f"they differ in {what} alone",))


def _are_equal(old: str, new: str, options: dict[str, Any], work: int) -> bool:
    try:
        left, right = (Grammar.from_json_schema(text, **options) for text in (old, new))
    except GrammarError:
        return False
    return compare(left, right, work).relation is Relation.EQUAL
