"""Samples of an ordinary run, those that ``.ci/run`` adds, and those that ``--all`` adds."""

import os

import pytest
from _pytest.mark.structures import ParameterSet


def seeds(count: int, ordinary: int, ci: int | None = None) -> list[ParameterSet]:
    """Return the seeds of a test: the first ``ordinary`` for every run, then those for CI.

    Seeds after the first ``ci`` are for ``--all``.
    """
    last = count if ci is None else ci
    return [
        *map(pytest.param, range(ordinary)),
        *(pytest.param(seed, marks=pytest.mark.ci) for seed in range(ordinary, last)),
        *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(last, count)),
    ]


ALL = "KBNF_TESTS"
"""The variable of the environment that asks for every sample, with the value ``all``."""


def examples(count: int) -> int:
    """Return how many examples hypothesis draws of ``count``: a quarter, all with ``--all``."""
    return count if os.environ.get(ALL) == "all" else max(count // 4, 10)
