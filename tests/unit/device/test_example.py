"""The example of a loop on the device makes texts of its grammars."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="torch is not installed (extra `torch`)")

EXAMPLE = Path(__file__).resolve().parents[3] / "docs" / "examples" / "generate_on_device.py"


def test_the_example_makes_texts_of_its_grammars() -> None:
    done = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 8
    assert [line for line in lines[1::2] if not line.startswith("done")] == []
    for line in lines:
        verdict, text = line.split(" ", 1)
        if verdict == "cut":
            continue
        if text.startswith("{"):
            assert json.loads(text)["n"] in (1, 20, 300)
        else:
            assert re.fullmatch(r"[1-9][0-9]{0,3}(\+[1-9])*", text)
