"""States of many pairs: a text that may turn anywhere, judged by the text itself."""

from itertools import accumulate
from random import Random

import pytest

from kbnf_core import Engine, Grammar, Vocabulary

PALINDROMES = "start ::= p; p ::= 'a' p 'a' | 'b' p 'b' | 'a' | 'b' | 'aa' | 'bb';"
SUMS = "start ::= e; e ::= e '+' e | 'a' e 'a' | 'a';"


@pytest.mark.parametrize("weight", [0.0, 0.02, 0.5])
def test_a_prefix_is_complete_where_it_is_a_palindrome(weight: float) -> None:
    random = Random(weight)
    half = "".join(random.choices("ab", [1 - weight, weight], k=90))
    engine = Engine(Grammar(PALINDROMES, finish="eos"), Vocabulary.bytes())
    for prefix in accumulate(half + half[::-1]):
        engine.try_accept_new_bytes(prefix[-1].encode())
        assert engine.can_finish() == (prefix == prefix[::-1]), prefix


def test_ambiguous_sums_of_any_length_are_complete_behind_a_term() -> None:
    engine = Engine(Grammar(SUMS, finish="eos"), Vocabulary.bytes())
    for term in range(40):
        engine.try_accept_new_bytes(b"a" if not term else b"+aaa")
        assert engine.can_finish()
        engine.try_accept_new_bytes(b"+")
        assert not engine.can_finish()
        engine.rollback()
