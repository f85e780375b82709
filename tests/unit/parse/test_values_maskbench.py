"""Values of the valid documents of maskbench, whole and cut: a sample; all with ``-m slow``.

Maskbench states no licence, so it is read from ``KBNF_DATA``: the folder ``maskbench`` of it.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import Grammar, GrammarError, ParseError
from kbnf_core.parse.follow import NOTHING_YET, JsonReader
from kbnf_testing.data import OUTSIDE

FILES = sorted((OUTSIDE / "maskbench").glob("*.json")) if OUTSIDE else []
STEP = 40
CUTS = 400
"""Places at which longer texts are cut; others are cut at every byte."""

pytestmark = [pytest.mark.data, pytest.mark.skipif(not FILES, reason="needs KBNF_DATA")]


def contains(whole: Any, part: Any) -> bool:
    """Return whether what is certain of a value is in the value."""
    pairs = [(whole, part)]
    for large, small in pairs:
        if isinstance(small, dict):
            if not isinstance(large, dict) or list(small) != list(large)[: len(small)]:
                return False
            pairs += [(large[name], small[name]) for name in small]
        elif isinstance(small, list):
            if not isinstance(large, list) or len(small) > len(large):
                return False
            pairs += zip(large, small, strict=False)
        elif isinstance(small, str):
            if not isinstance(large, str) or not large.startswith(small):
                return False
        elif small is not NOTHING_YET and large != small:
            return False
    return True


def texts(files: list[Path]) -> list[tuple[str, str]]:
    """Return schemas, each with a valid document."""
    found = []
    for path in files:
        data = json.loads(path.read_text(encoding="utf-8"))
        valid = [test["data"] for test in data["tests"] if test["valid"]]
        schema = json.dumps(data["schema"])
        found += [(schema, json.dumps(value, ensure_ascii=False)) for value in valid]
    return found


def check_files(files: list[Path]) -> tuple[int, int]:
    """Return how many values were read, and how many the schema's grammar does not have."""
    grammars: dict[str, Grammar | None] = {}
    read = missing = 0
    for schema, text in texts(files):
        value, data = json.loads(text), text.encode()
        if schema not in grammars:
            grammars.clear()
            try:
                grammars[schema] = Grammar.from_json_schema(schema)
            except GrammarError:
                grammars[schema] = None
        grammar = grammars[schema]
        try:
            if grammar is None or grammar.read_value(text) != value:
                assert grammar is None, text
                missing += 1
        except ParseError:
            missing += 1
        read += 1
        reader = JsonReader()
        done = 0
        for cut in range(0, len(data) + 1, max(1, len(data) // CUTS)):
            reader.feed(data[done:cut])
            done = cut
            assert contains(value, reader.value), (cut, text)
    return read, missing


def test_values_are_those_of_json() -> None:
    read, missing = check_files(FILES[::STEP])
    assert read
    assert missing <= 0.05 * read


@pytest.mark.slow
def test_all_values_are_those_of_json() -> None:
    read, missing = check_files(FILES)
    print(f"{read} values, {missing} of them not in the schema's grammar")  # noqa: T201
    assert missing <= 0.05 * read
