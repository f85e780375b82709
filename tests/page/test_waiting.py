"""A text that waits behind a slow one is looked at, and the slow one is given up."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "page" / "page.mjs"


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_a_text_behind_a_slow_one_is_looked_at() -> None:
    command = ["node", str(HERE / "waiting.mjs"), str(PAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    seen = json.loads(done.stdout)
    # What was typed over is never asked; the worker of the slow text is replaced once.
    assert seen["asked"] == ["first", "slow", "newest"]
    assert seen["workers"] == 2
    assert seen["besideSlow"] == "working …"
    assert seen["shown"] == [1, 1]
