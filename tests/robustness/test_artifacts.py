"""Artifacts that are damaged or forged, each loaded and used in a forked child.

``KBNF_ROBUSTNESS_CASES=50000 pytest --log-cli-level=INFO tests/robustness/test_artifacts.py`` runs
so many mutations, and a tenth of them forgeries; ``KBNF_ROBUSTNESS_SEED`` begins elsewhere. A file
that fails is kept in ``samples/``, and tried again in every run from then on.
"""

import logging
import os
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

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
from kbnf_testing.forked import AVAILABLE, run_forked

pytestmark = pytest.mark.skipif(not AVAILABLE, reason="forks with limits are for Linux only")

LOG = logging.getLogger(__name__)
CASES = int(os.environ.get("KBNF_ROBUSTNESS_CASES", "800"))
SEED = os.environ.get("KBNF_ROBUSTNESS_SEED", "1")
SAMPLES = Path(__file__).parent / "samples"

Write = Callable[[random.Random, Path], Original]
"""Writes the file of a case, and returns what it was made of."""


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> list[Original]:
    return originals(tmp_path_factory.mktemp("originals"))


def run_cases(kind: str, count: int, folder: Path, fine: set[str], write: Write) -> Counter[str]:
    """Run ``count`` cases; return how many ended in which way, and keep those that failed."""
    path = folder / f"{kind}.kbnfc"

    def run(case: int) -> str:
        return outcome(path, write(random.Random(f"{SEED}/{kind}/{case}"), path))

    endings: Counter[str] = Counter()
    failures = []
    for ended in run_forked(range(count), run):
        endings[ended.words] += 1
        if ended.words not in fine:
            sample = SAMPLES / f"{kind}-{SEED}-{ended.case}.kbnfc"
            write(random.Random(f"{SEED}/{kind}/{ended.case}"), sample)
            failures.append(f"{sample.name}: {ended.words}")
    LOG.info("%d %s, seed %s: %s", count, kind, SEED, dict(endings))
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
    samples = sorted(SAMPLES.glob("*.kbnfc"))

    def run(case: int) -> str:
        sample, original = divmod(case, len(sound))
        return outcome(samples[sample], sound[original])

    for ended in run_forked(range(len(samples) * len(sound)), run):
        name = samples[ended.case // len(sound)].name
        forged = name.startswith("forgeries")
        assert ended.words in ({REFUSED, SAME, OTHER} if forged else {REFUSED, SAME}), name
