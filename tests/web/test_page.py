"""What the page says where not everything is known."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "kbnf_cli" / "web" / "static" / "page.js"
WHOLE = {"findings": [], "more": 0, "is_checked": True, "rules": ["start"]}


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node")
def test_nothing_known_is_never_shown_as_nothing_wrong() -> None:
    answers = [
        {**WHOLE, "status": "complete"},
        WHOLE,
        {**WHOLE, "trouble": "too slow"},
        {"findings": [], "more": 0, "trouble": "too slow"},
        {"trouble": "no answer"},
    ]
    command = ["node", str(HERE / "showing.mjs"), str(PAGE), json.dumps(answers)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert json.loads(done.stdout) == [
        ["Nothing was found.", "may end here", ""],
        ["Nothing was found.", "the grammar cannot be used", ""],
        ["Nothing was found.", "not known", "too slow"],
        ["Not everything was looked at.", "not known", "too slow"],
        ["Not everything was looked at.", "not known", "no answer"],
    ]
