"""Runs of neighbouring chunks against a list of all of them."""

from random import Random

import pytest

from kbnf_core.automata import operations
from kbnf_core.automata.substrings import chunk_runs

CHUNKS = (b"a", b"ab", b"b", b"ba", b"abc", b"")


@pytest.mark.parametrize("seed", range(40))
def test_runs_are_those_of_the_list(seed: int) -> None:
    random = Random(seed)
    chunks = random.choices(CHUNKS, k=random.randint(0, 12))
    ends = range(len(chunks) + 1)
    runs = {b"".join(chunks[start:end]) for start in ends for end in ends if start <= end}
    assert operations.is_equal(chunk_runs(chunks), operations.literals(sorted(runs)))
