"""Artifacts that are damaged or forged, each loaded and used in a forked child.

``KBNF_ROBUSTNESS_CASES=50000 pytest --log-cli-level=INFO tests/robustness/test_artifacts.py`` runs
so many mutations, and a tenth of them forgeries. A file that fails is kept in ``samples/``, and
tried again in every run from then on.
"""

import logging
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_testing import forked
from kbnf_testing.artifact_faults import (
    OTHER,
    REFUSED,
    SAME,
    Original,
    forge,
    mutate,
    originals,
    outcome,
)
from kbnf_testing.robustness import cases, generator, keep_sample, samples, seed

pytestmark = forked.needed

LOG = logging.getLogger(__name__)
CASES = len(cases(800))

Write = Callable[[random.Random, Path], Original]
"""Writes the file of a case, and returns what it was made of."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[Original]:
    return originals(tmp_path_factory.mktemp("originals"))


def run_cases(kind: str, count: int, folder: Path, fine: set[str], write: Write) -> Counter[str]:
    """Run ``count`` cases; return how many ended in which way, and keep those that failed."""
    path = folder / f"{kind}.kbnfc"

    def run(case: int) -> str:
        return outcome(path, write(generator(kind, case), path))

    endings: Counter[str] = Counter()
    failures = []
    for ended in forked.run(run, range(count)):
        words = ended.value or f"{ended.end.value}: {ended.detail}"
        endings[words] += 1
        if words not in fine:
            write(generator(kind, ended.case), path)
            sample = keep_sample(kind, path.read_bytes(), ".kbnfc")
            failures.append(f"{sample.name}: {words}")
    LOG.info("%d %s, seed %s: %s", count, kind, seed(), dict(endings))
    assert not failures, "\n".join(failures)
    return endings


def test_a_mutated_artifact_is_refused_or_gives_the_same_masks(
    sound: list[Original], tmp_path: Path
) -> None:
    def write(rng: random.Random, path: Path) -> Original:
        one, other = rng.sample(sound, 2)
        path.write_bytes(mutate(rng, one.data, other.data))
        # A file may become the other one as a whole.
        return other if path.read_bytes() == other.data else one

    endings = run_cases("mutations", CASES, tmp_path, {REFUSED, SAME}, write)
    assert endings[REFUSED] > CASES / 2


def test_a_forged_artifact_is_refused_or_answers(sound: list[Original], tmp_path: Path) -> None:
    def write(rng: random.Random, path: Path) -> Original:
        one = rng.choice(sound)
        forge(rng, one.data, path)
        return one

    endings = run_cases("forgeries", CASES // 10, tmp_path, {REFUSED, SAME, OTHER}, write)
    assert endings[REFUSED] > CASES / 40


def test_what_failed_once_does_not_again(sound: list[Original]) -> None:
    """Every sample against every grammar's text: which one it was made of is not kept."""
    kept = [*samples("mutations"), *samples("forgeries")]

    def run(case: int) -> str:
        sample, original = divmod(case, len(sound))
        return outcome(kept[sample], sound[original])

    for ended in forked.run(run, range(len(kept) * len(sound))):
        sample = kept[ended.case // len(sound)]
        fine = {REFUSED, SAME, OTHER} if sample.parent.name == "forgeries" else {REFUSED, SAME}
        assert ended.value in fine, str(ended)
