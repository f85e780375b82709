"""Engines over random grammars, vocabularies and ways to finish, on the kernel at hand and both."""

import os
import subprocess
import sys

import pytest

from kbnf_testing.invariants import Invariants
from kbnf_testing.samples import seeds

CASES = int(os.environ.get("KBNF_ROBUSTNESS_CASES", "120"))
SEED = int(os.environ.get("KBNF_ROBUSTNESS_SEED", "0"))
BATCH = 20
BATCHES = -(-CASES // BATCH)

_DIGESTS = """
import sys
from kbnf_testing.invariants import Invariants
for seed in range(*map(int, sys.argv[1:])):
    case = Invariants(seed)
    case.walk(4)
    print(case.digest)
"""


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


@pytest.mark.parametrize("batch", seeds(-(-BATCHES // 3), ordinary=1))
def test_both_kernels_answer_alike(batch: int) -> None:
    first = SEED + 3 * batch * BATCH
    last = min(first + BATCH, SEED + CASES)
    numpy, compiled = (_digests(kernel, first, last) for kernel in ("numpy", "compiled"))
    assert len(numpy) == last - first
    assert numpy == compiled


def _digests(kernel: str, first: int, last: int) -> list[str]:
    environment = {
        **os.environ,
        "KBNF_KERNEL": "" if kernel == "compiled" else kernel,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
    done = subprocess.run(
        [sys.executable, "-c", _DIGESTS, str(first), str(last)],
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.split()
