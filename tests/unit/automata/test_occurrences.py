"""The words that a text holds, against a search for each of them."""

from random import Random

import pytest

from kbnf_core.automata.substrings import WordSet


@pytest.mark.parametrize("seed", range(100))
def test_the_words_within_are_those_that_occur(seed: int) -> None:
    random = Random(seed)

    def some(most: int) -> bytes:
        return bytes(random.choices(b"ab|\xff\n[", k=random.randint(0, most)))

    words = [some(3) for _ in range(random.randint(0, 6))]
    data = some(12)
    assert set(WordSet(words).within(data)) == {word for word in words if word in data}
