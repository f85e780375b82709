"""How many cases of a long test the ordinary run has, and how many CI has; ``--all`` has all.

``tests/shares.json`` names the tests whose cases take long together, each with the number of its
first cases that stay: in ``ordinary`` of those for every run, in ``ci`` of those that are for CI.
What an ordinary run leaves out is for CI, what CI leaves out has the marker ``slow``.

``python -m kbnf_testing.shares ORDINARY.xml CI.xml`` writes it anew, from the seconds that
``pytest --junitxml`` measured of both runs without the file.
"""

import json
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import pytest

FILE = Path(__file__).resolve().parents[2] / "shares.json"

SECONDS = {"ordinary": 1.5, "ci": 2.0}
"""What all cases of one test may take in a run, of the seconds in the files."""

LONGEST = 13.0
"""What one case may take to be for CI; the others are for ``--all``."""


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark the cases that a run leaves out."""
    shares: dict[str, dict[str, int]] = json.loads(FILE.read_text(encoding="utf-8"))
    seen: dict[str, Counter[str]] = {"ordinary": Counter(), "ci": Counter()}
    for item in items:
        test = item.nodeid.partition("[")[0]
        if item.get_closest_marker("slow"):
            continue
        is_for_ci = any(item.get_closest_marker(each) for each in ("ci", "differential"))
        if not is_for_ci:
            seen["ordinary"][test] += 1
            if seen["ordinary"][test] <= shares["ordinary"].get(test, len(test) << 20):
                continue
            item.add_marker(pytest.mark.ci)
        seen["ci"][test] += 1
        if test in shares["ci"] and seen["ci"][test] > shares["ci"][test]:
            item.add_marker(pytest.mark.slow)


def measured(file: Path) -> dict[str, list[float]]:
    """Return the seconds of the cases of each test."""
    found: dict[str, list[float]] = defaultdict(list)
    for case in ElementTree.parse(file).iter("testcase"):  # noqa: S314 - our own
        path = case.attrib["classname"].replace(".", "/")
        name = case.attrib["name"].partition("[")[0]
        found[f"{path}.py::{name}"].append(float(case.attrib["time"]))
    return found


def kept(seconds: list[float], most: float, longest: float) -> int:
    """Return how many cases stay: the first one where it is not too long, more within ``most``."""
    whole = sum(seconds)
    count = len(seconds) if whole <= most else int(len(seconds) * most / whole)
    return max(count, int(seconds[0] <= longest))


def write(ordinary: Path, ci: Path) -> None:
    """Write the file from measured times."""
    shares: dict[str, dict[str, int]] = {"ordinary": {}, "ci": {}}
    left: dict[str, list[float]] = defaultdict(list, measured(ci))
    for test, seconds in measured(ordinary).items():
        stay = kept(seconds, SECONDS["ordinary"], SECONDS["ordinary"])
        if stay < len(seconds):
            shares["ordinary"][test] = stay
            left[test] += seconds[stay:]
    for test, seconds in left.items():
        stay = kept(seconds, SECONDS["ci"], LONGEST)
        if stay < len(seconds):
            shares["ci"][test] = stay
    FILE.write_text(json.dumps(shares, indent=1, sort_keys=True) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write(*map(Path, sys.argv[1:]))
