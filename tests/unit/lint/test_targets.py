"""E502 says what the engines said when they were asked: see ``tests/differential``."""

import json
import re
from pathlib import Path

import pytest

from kbnf_core import check
from kbnf_core.lint import TARGETS, LintOptions
from kbnf_core.lint.rules.targets import refused_lark
from kbnf_core.text.source import Source
from kbnf_testing.data import DATA
from kbnf_testing.target_cases import CASES

_TESTS = Path(__file__).resolve().parents[2]
STORED = json.loads((_TESTS / "golden" / "lint" / "targets.json").read_text(encoding="utf-8"))

VERDICTS = [
    (target, extension, name, verdict)
    for target, stored in STORED.items()
    for extension, verdicts in stored["verdicts"].items()
    for name, verdict in verdicts.items()
]


def test_every_target_was_asked_about_every_construct() -> None:
    assert set(STORED) == set(TARGETS)
    asked = {(extension, name) for _, extension, name, _ in VERDICTS}
    assert asked == {(extension, name) for extension in CASES for name in CASES[extension]}


@pytest.mark.parametrize(("target", "extension", "name", "verdict"), VERDICTS)
def test_verdict(target: str, extension: str, name: str, verdict: str) -> None:
    text = CASES[extension][name]
    found = check(text, f"a{extension}", options=LintOptions(targets=(target,)))
    refused = [each for each in found if each.code == "E502"]
    assert bool(refused) == (verdict == "refused")
    assert all(each.helps or each.notes for each in refused)


def test_real_lark_files() -> None:
    """What llguidance said of real files is in their list."""
    manifest = DATA / "MANIFEST.tsv"
    expected, found = {}, {}
    for line in manifest.read_text(encoding="utf-8").splitlines():
        said = re.match(r"(lark/(?:plain|bundles)/\S+\.lark)\t.*llguidance1.9.1=(ok|err)(.*)", line)
        # Files that others import have no start; check says so with E102.
        if said is not None and "no start rule" not in said[3]:
            text = (DATA / said[1]).read_text(encoding="utf-8")
            expected[said[1]] = said[2] == "err"
            found[said[1]] = any(refused_lark(Source(text, said[1])))
    assert len(expected) > 25
    assert found == expected
