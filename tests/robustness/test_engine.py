"""Engines over random grammars, vocabularies and ways to finish."""

import os

import pytest

from kbnf_testing.invariants import Invariants
from kbnf_testing.samples import seeds

CASES = int(os.environ.get("KBNF_ROBUSTNESS_CASES", "120"))
SEED = int(os.environ.get("KBNF_ROBUSTNESS_SEED", "0"))
BATCH = 20
BATCHES = -(-CASES // BATCH)


@pytest.mark.parametrize("batch", seeds(BATCHES, ordinary=2))
def test_engines_keep_their_word(batch: int) -> None:
    checks = 0
    first = SEED + batch * BATCH
    for seed in range(first, min(first + BATCH, SEED + CASES)):
        case = Invariants(seed)
        try:
            for steps in (6, 3):
                case.walk(steps)
        except Exception as error:
            error.add_note(f"seed {seed}, finish={case.engine.finish.value}")
            error.add_note(case.engine.grammar.source.text)
            error.add_note(repr(dict(case.engine.vocabulary.tokens)))
            raise
        checks += case.checks
    assert checks > 0
