"""What is proved to be prefix-free by its FIRST and FOLLOW sets is: no text begins another."""

from random import Random

import pytest

from kbnf_core import Grammar
from kbnf_core.lint.continued import find_continued
from kbnf_core.lint.rules.cut_by_eager import is_plainly_prefix_free
from kbnf_core.lower.facts import analyse
from kbnf_core.text.budget import Budget
from kbnf_core.text.errors import WorkLimitError
from kbnf_testing.agreement import random_sample
from kbnf_testing.generate import Features

WORK = 20_000
"""Steps of the search for two texts, one of which begins the other."""


def proves(text: str) -> bool:
    rules = Grammar(text).reading.grammar
    assert rules is not None
    return is_plainly_prefix_free(rules, analyse(rules), Budget(WORK))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_proved_is_true(seed: int) -> None:
    random = Random(seed)
    proved = 0
    for _ in range(25):
        grammar = random_sample(random, Features()).compiled
        rules = grammar.reading.grammar
        assert rules is not None
        if not is_plainly_prefix_free(rules, analyse(rules), Budget(WORK)):
            continue
        proved += 1
        try:
            found = find_continued(grammar.tables, Budget(WORK))
        except WorkLimitError:
            continue
        assert found is None, grammar.source.text
    assert proved


@pytest.mark.parametrize(
    "text",
    [
        "start ::= 'a' | 'bc';",
        "start ::= '{' [x (',' x)*] '}'; x ::= #'[a-z]{1,9}' | start;",
        "start ::= '[' x{0,3} ']'; x ::= '\"' #'[^\"]*' '\"' | start;",
        "start ::= #'[a-z]*;';",
        "start ::= a 'x'; a ::= 'y'? 'z'?;",
        "start ::= ('a' 'b'){3};",
    ],
)
def test_formats_are_proved(text: str) -> None:
    assert proves(text)


@pytest.mark.parametrize(
    "text",
    [
        "start ::= 'a' 'b'?;",
        "start ::= 'a'+;",
        "start ::= 'a' | 'ab';",
        "start ::= #'[a-z]+';",
        "start ::= 'a' x; x ::= 'b' x | '';",
        "start ::= 'a' start | 'a';",
        "start ::= start '+' 'a' | 'a';",
        "start ::= 'a' #token[5]?;",
        "start ::= x 'b'?; x ::= 'a';",
    ],
)
def test_nothing_else_is(text: str) -> None:
    assert not proves(text)
