"""The benchmark runs, in small; what it measures is not asserted, only that masks agree."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

needs_llguidance = pytest.mark.skipif(
    find_spec("llguidance") is None, reason="llguidance is not installed (extra `bench`)"
)


@pytest.mark.ci
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
