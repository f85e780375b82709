"""Variants of a rule that say the same become one."""

import pytest

from kbnf_core.frontend import KBNF
from kbnf_core.kbnf.parsed import Request
from kbnf_core.kbnf.printer import print_expression
from kbnf_core.languages.conversion.rewrite import merge_variants
from kbnf_core.text.source import Source


def merged(text: str, *families: str) -> str:
    """Return the rules that are left; a family is the names of its variants."""
    document = KBNF.parse(Source(text), Request()).document
    owners = {name: names.split()[0] for names in families for name in names.split()}
    left = merge_variants(document.definitions, owners)
    return " ".join(f"{each.name.value} ::= {print_expression(each.body)};" for each in left)


@pytest.mark.parametrize(
    ("text", "families", "expected"),
    [
        (
            "s ::= a a_2; a ::= 'x'; a_2 ::= 'x';",
            ["a a_2"],
            "s ::= a a; a ::= 'x';",
        ),
        # Alike by what they call, which is alike.
        (
            "s ::= a | a_2; a ::= 'x' b; a_2 ::= 'x' b_2; b ::= 'y'; b_2 ::= 'y';",
            ["a a_2", "b b_2"],
            "s ::= a; a ::= 'x' b; b ::= 'y';",
        ),
        # They call each other.
        (
            "s ::= a; a ::= 'x' a_2 | 'y'; a_2 ::= 'x' a | 'y';",
            ["a a_2"],
            "s ::= a; a ::= 'x' a | 'y';",
        ),
        (
            "s ::= a | b; a ::= 'x' a_2; a_2 ::= 'z'; b ::= 'x' b_2; b_2 ::= 'y';",
            ["a b", "a_2 b_2"],
            None,
        ),
        # Rules of two names, and such as were not made, stay.
        ("s ::= a | b; a ::= 'x'; b ::= 'x';", ["a", "b"], None),
        ("s ::= a | b; a ::= 'x'; b ::= 'x';", [], None),
        ("s ::= a a_2 c; a ::= 'x'; a_2 ::= 'x';", ["a a_2"], "s ::= a a c; a ::= 'x';"),
    ],
)
def test_variants_that_are_alike_are_one(
    text: str, families: list[str], expected: str | None
) -> None:
    assert merged(text, *families) == (text if expected is None else expected)
