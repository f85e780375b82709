"""Samples of an ordinary run, and those that only ``.ci/run`` adds."""

import pytest
from _pytest.mark.structures import ParameterSet


def seeds(count: int, ordinary: int) -> list[ParameterSet]:
    """Return the seeds of a test: the first ``ordinary`` for every run, the others for CI."""
    return [
        pytest.param(seed, marks=[pytest.mark.ci] if seed >= ordinary else [])
        for seed in range(count)
    ]
