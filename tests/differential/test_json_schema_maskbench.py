"""Real schemas with valid and invalid values: a sample of maskbench; all of it with ``-m slow``.

Maskbench states no licence, so it is read from ``KBNF_DATA``: the folder ``maskbench`` of it.

Every value is judged as JSON text, compact and indented. ``UNMET`` names what does not pass yet
and why; nothing invalid may ever be accepted, there either.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core import check as lint
from kbnf_core.convert import from_json_schema
from kbnf_core.text.errors import EngineError, GrammarError
from kbnf_testing.data import OUTSIDE

FILES = sorted((OUTSIDE / "maskbench").glob("*.json")) if OUTSIDE else []
STEP = 6
ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.data

UNMET = {
    "Github_hard---o23230": "members in another order than the schema's",
    "Github_hard---o76745": "members in another order than the schema's",
    "Github_hard---o83840": "members in another order than the schema's",
    "Github_ultra---o83932": "oneOf over too many kinds of objects",
    "Handwritten---testwp9": "members in another order than the schema's",
    "JsonSchemaStore---rust-project": "uniqueItems over objects",
    "JsonSchemaStore---vss-extension": "members in another order than the schema's",
}


def wrong_values(path: Path) -> list[tuple[int, bool]]:
    """Return the values on which the grammar errs: their numbers, and whether they are valid."""
    data = json.loads(path.read_text(encoding="utf-8"))
    try:
        grammar = Grammar(from_json_schema(json.dumps(data["schema"])).text)
    except GrammarError:
        return [(-1, True)]
    wrong = []
    for number, test in enumerate(data["tests"]):
        for indent in (None, 2):
            text = json.dumps(test["data"], ensure_ascii=False, indent=indent)
            if accepts(grammar, text) != test["valid"]:
                wrong.append((number, test["valid"]))
    return wrong


def accepts(grammar: Grammar, text: str) -> bool:
    engine = Engine(grammar, Vocabulary.bytes())
    try:
        engine.try_accept_new_bytes(text.encode())
    except EngineError:
        return False
    return engine.is_finished() or engine.can_finish()


def check(path: Path) -> None:
    wrong = wrong_values(path)
    assert all(valid for _, valid in wrong), "an invalid value is accepted"
    assert bool(wrong) == (path.stem in UNMET), wrong


@pytest.mark.parametrize("path", FILES[::STEP], ids=lambda path: path.stem)
def test_sample(path: Path) -> None:
    check(path)


@pytest.mark.parametrize("path", FILES[::STEP], ids=lambda path: path.stem)
def test_the_text_of_a_sample_has_no_finding(path: Path) -> None:
    assert findings(path) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_text_has_a_finding(path: Path) -> None:
    assert findings(path) == []


def findings(path: Path) -> list[str]:
    """Return the codes of what ``kbnf check`` finds in a converted text."""
    schema = json.loads(path.read_text(encoding="utf-8"))["schema"]
    try:
        text = from_json_schema(json.dumps(schema)).text
    except GrammarError:
        return []
    return [each.code for each in lint(text, "x.kbnf")]


@pytest.mark.slow
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_all(path: Path) -> None:
    check(path)


@pytest.mark.skipif(not FILES, reason="KBNF_DATA names no folder")
def test_samples_are_valid_by_two_validators() -> None:
    folder = str(FILES[0].parent)
    command = [sys.executable, "-m", "benchmarks.coverage", "samples", folder]
    done = subprocess.run(
        [*command, "--number", "200"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_at_least_19_of_20_pass() -> None:
    assert len(UNMET) <= len(FILES) / 20
    assert {path.stem for path in FILES} >= set(UNMET)
