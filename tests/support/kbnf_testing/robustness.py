"""Seeds, numbers of cases and kept samples of the tests in ``tests/robustness``.

Two environment variables turn the short run into a long one: ``KBNF_ROBUSTNESS_CASES`` is the
number of random cases of every test, ``KBNF_ROBUSTNESS_SEED`` what they are drawn from.
"""

import os
from hashlib import sha256
from pathlib import Path
from random import Random

SAMPLES = Path(__file__).resolve().parents[2] / "robustness" / "samples"
"""Input that broke something once; one folder a surface."""
SEED = 20261122


def seed() -> int:
    """Return the seed of this run."""
    return int(os.environ.get("KBNF_ROBUSTNESS_SEED", SEED))


def cases(default: int) -> range:
    """Return the numbers of the random cases of one test."""
    return range(int(os.environ.get("KBNF_ROBUSTNESS_CASES", default)))


def generator(surface: str, case: int) -> Random:
    """Return the random numbers of one case: the same whichever cases ran before it."""
    return Random(f"{surface} {seed()} {case}")


def keep_sample(surface: str, data: bytes, suffix: str = ".bin") -> Path:
    """Write input that broke something to where ``samples`` finds it, named by its digest."""
    path = SAMPLES / surface / f"{sha256(data).hexdigest()[:16]}{suffix}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def samples(surface: str) -> list[Path]:
    """Return the kept samples of a surface, in the order of their names."""
    return sorted(path for path in (SAMPLES / surface).glob("*") if path.is_file())
