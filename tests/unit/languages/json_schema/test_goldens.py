"""Schemas of the kinds that people have, and their grammars as a person would accept them.

After a change that is wanted: ``UPDATE_GOLDENS=1 pytest`` this file, and read the difference.
"""

import json
import os
from pathlib import Path

import jsonschema_rs
import pytest
from jsonschema import Draft202012Validator

from kbnf_core import Engine, Grammar, Vocabulary
from kbnf_core.convert import from_json_schema
from kbnf_testing.data import DATA

FOLDER = DATA / "json-schemas"
FILES = sorted(FOLDER.glob("*.schema.json"))


def test_there_are_ten() -> None:
    assert len(FILES) == 10


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_golden(path: Path) -> None:
    text = from_json_schema(path.read_text(encoding="utf-8")).text
    golden = path.with_name(path.name.removesuffix(".schema.json") + ".kbnf")
    if os.environ.get("UPDATE_GOLDENS"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")
    assert max(map(len, text.splitlines())) <= 120


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_what_the_grammar_completes_is_valid(path: Path) -> None:
    schema = json.loads(path.read_text(encoding="utf-8"))
    engine = Engine(Grammar.from_json_schema(schema), Vocabulary.bytes())
    found = engine.shortest_completion()
    assert found is not None
    assert found.data is not None
    value = json.loads(found.data)
    assert Draft202012Validator(schema).is_valid(value)
    assert jsonschema_rs.is_valid(schema, value)
