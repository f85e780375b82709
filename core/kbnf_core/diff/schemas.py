"""Differences between JSON Schemas that are in whitespace or in the order of members alone."""

from dataclasses import replace

from kbnf_core.diff.comparison import WORK, compare
from kbnf_core.diff.result import Comparison, Relation
from kbnf_core.errors import GrammarError
from kbnf_core.languages.json_schema import Options, Order, Whitespace, json_schema_grammar

_VIEWS = (
    ("whitespace", Options(whitespace=Whitespace.COMPACT)),
    ("the order of members", Options(order=Order.ANY)),
    (
        "whitespace and the order of members",
        Options(whitespace=Whitespace.COMPACT, order=Order.ANY),
    ),
)


def compare_schemas(old: str, new: str, work: int = WORK) -> Comparison:
    """Return how the texts of two JSON Schemas differ, and note what that is about.

    Where the same schemas without whitespace, or with members in any order, have the same texts,
    they differ in that alone. Raises ``GrammarError`` for a schema that cannot be converted.
    """
    found = compare(json_schema_grammar(old), json_schema_grammar(new), work)
    if found.relation in (Relation.EQUAL, Relation.UNKNOWN):
        return found
    what = next((what for what, options in _VIEWS if _are_equal(old, new, options, work)), None)
    return found if what is None else replace(found, notes=(f"they differ in {what} alone",))


def _are_equal(old: str, new: str, options: Options, work: int) -> bool:
    try:
        left, right = (json_schema_grammar(text, options) for text in (old, new))
    except GrammarError:
        return False
    return compare(left, right, work).relation is Relation.EQUAL
