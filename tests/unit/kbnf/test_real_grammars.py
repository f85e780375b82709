"""Real KBNF grammars, and the measured examples of the specification."""

import json
from pathlib import Path

import pytest

from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.text.source import Source
from kbnf_testing.data import DATA, SPEC

GRAMMARS = sorted((DATA / "kbnf").glob("*.kbnf"))
EXAMPLES = [
    json.loads(line) for line in (SPEC / "examples-kbnf.jsonl").read_text("utf-8").splitlines()
]

# The regex parser refuses these, later: the text of the grammar is right.
BAD_REGEXES = {"start ::= #'(?=A)A';", "start ::= #'(A)\\\\1';"}


@pytest.mark.parametrize("path", GRAMMARS, ids=lambda path: path.name)
def test_real_grammar(path: Path) -> None:
    # No verdict of the manifest is a parsing error, but for `except!`, which is right here.
    parsed = parse_kbnf(Source(path.read_bytes().decode(), str(path)))
    assert parsed.diagnostics == ()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["grammar"])
def test_measured_example(example: dict[str, dict[str, str]]) -> None:
    grammar = str(example["grammar"])
    parsed = parse_kbnf(Source(grammar))
    fails = example["expect"].get("create_error") == "parse" and grammar not in BAD_REGEXES
    assert bool(parsed.diagnostics) == fails
