"""Trees of ambiguous recursive rules beside those of a plain chart parser, for all short texts.

Ways that lead to one configuration after another number of calls are told apart.
"""

from itertools import product
from typing import Any

import pytest

from kbnf_core import Grammar, ParseError, Tree
from kbnf_testing.derivations import (
    Body,
    Both,
    Chart,
    Either,
    Rule,
    Rules,
    Star,
    Text,
    Times,
    as_kbnf,
)

TEXTS = ["".join(text) for size in range(1, 6) for text in product("ab", repeat=size)]
A, B, AB = Text("a"), Text("b"), Text("ab")
START, ONE = Rule("start"), Rule("one")


def recursive(last: Body) -> list[Rules]:
    """Return grammars with recursion in every place, before and after what is none."""
    return [
        {"start": Both((Either((A, B, START)), last))},
        {"start": Both((Either((START, A, B)), last))},
        {"start": Either((Both((START, last)), A, B))},
        {"start": Either((A, B, Both((START, last))))},
        {"start": Either((Both((START, START)), A, B, AB))},
        {"start": Either((A, B, AB, Both((START, START))))},
        {"start": Either((Both((A, START, B)), Both((START, last)), A))},
        {
            "start": Either((Both((ONE, last)), A)),
            "one": Either((Both((START, B)), Both((START, A)), A, B)),
        },
        {"start": Both((Times(ONE, 0, None), last)), "one": Either((last, Both((ONE, A))))},
        {"start": Times(ONE, 1, None), "one": Either((Both((ONE, last)), last))},
        {"start": Either((last, Both((last, START))))},
        {"start": Either((Both((START, last, START)), last))},
    ]


GRAMMARS = [
    rules
    for last in (Either((A, B, AB)), Either((AB, A, B)), Either((A, B, AB, Star("b", 1))))
    for rules in recursive(last)
]


def shape(tree: Tree) -> tuple[str, int, int, list[Any]]:
    return tree.rule, tree.start, tree.end, [shape(child) for child in tree.children]


@pytest.mark.parametrize("rules", GRAMMARS, ids=as_kbnf)
def test_the_tree_is_the_first_derivation(rules: Rules) -> None:
    grammar = Grammar(as_kbnf(rules))
    for text in TEXTS:
        expected = Chart(rules, text).tree("start")
        try:
            assert shape(grammar.parse(text)) == expected, text
        except ParseError:
            assert expected is None, text
