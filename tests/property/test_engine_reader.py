"""The small reader of the tests understands what the printer of the tests writes."""

from random import Random

import pytest

from kbnf_testing.earley import Recogniser
from kbnf_testing.generate import SPECIAL, Features, GrammarMaker
from kbnf_testing.printer import to_kbnf
from kbnf_testing.reader import read_kbnf


@pytest.mark.parametrize("seed", range(60))
def test_reading_what_was_printed_keeps_the_language(seed: int) -> None:
    random = Random(seed)
    maker = GrammarMaker(random, Features())
    grammar = maker.grammar()
    again = read_kbnf(to_kbnf(grammar), SPECIAL)
    before, after = Recogniser(grammar), Recogniser(again)
    words = [""]
    for _ in range(300):
        word = random.choice(words) + random.choice([*map(chr, maker.alphabet.encode()), "\u013c"])
        assert before.viable(word) == after.viable(word), word
        assert before.contains(word) == after.contains(word), word
        if before.viable(word):
            words.append(word)
