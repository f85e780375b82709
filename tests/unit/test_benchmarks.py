"""The benchmark runs, in small; what it measures is not asserted, only that masks agree."""

import json
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from kbnf_core import Vocabulary

ROOT = Path(__file__).resolve().parents[2]

needs_llguidance = pytest.mark.skipif(
    find_spec("llguidance") is None, reason="llguidance is not installed (extra `bench`)"
)


@pytest.mark.slow
@needs_llguidance
def test_the_benchmark_runs_and_masks_agree(tmp_path: Path) -> None:
    figures = tmp_path / "figures.json"
    options = ["--quick", "--only", "arithmetic", "--only", "except", "--json", str(figures)]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks", *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "## The bar" in done.stdout
    results = json.loads(figures.read_text())
    assert results["workloads"].keys() == {"arithmetic", "except"}
    for found in results["workloads"].values():
        assert found["masks"]["steps"] >= 200
        assert found["masks"]["unexplained"] == []
        assert {"kbnf-toolkit, first pass", "llguidance"} <= found["times"].keys()
    assert all(line["value"] > 0 for line in results["bar"])


@needs_llguidance
@pytest.mark.parametrize(
    ("before", "token", "holds"),
    [
        ('{"a": "', "x" * 5, False),
        ('{"a": "', "x" * 6, True),
        ('{"a": "é\\n\\u00e9', "xy", False),
        ('{"a": "é\\n\\u00e9', "xyz", True),
        ('{"longer than six": "x', "y", False),
        ('{"longer than six": "x', 'yyyyy", "b": 1', True),
        ('{"a": 1', "1234567", False),
    ],
)
def test_only_long_strings_are_said_to_be_left_out(
    before: str, token: str, holds: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(ROOT)
    explanation = import_module("benchmarks.equality").left_out(6, "longer strings")
    vocabulary = Vocabulary({0: b"z", 1: token.encode()})
    assert explanation.holds(before.encode(), [], [1], [], vocabulary) is holds
    assert not explanation.holds(before.encode(), [], [0, 1], [], vocabulary)
    assert not explanation.holds(before.encode(), [0], [1], [], vocabulary)
