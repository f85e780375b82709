"""Lark files that people wrote, and their grammars as a person would accept them in review.

The originals are in ``tests/data``, whose MANIFEST.tsv has their sources and licences, which hold
for what is made of them here.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kbnf_core.convert import from_lark
from kbnf_core.text.files import ANYWHERE
from kbnf_testing.data import DATA

HERE = Path(__file__).parent
FILES = {
    "meme": "plain/meme.lark",
    "mixedproxy": "plain/mixedproxy.lark",
    "json_syncode": "plain/syncode_json.lark",
    "c": "plain/syncode_c.lark",
    "json_outlines": "plain/outlines_json.lark",
    "arithmetic": "plain/outlines_arithmetic.lark",
    "json_standalone": "plain/standalone_json.lark",
    "calculator": "plain/syncode_calc.lark",
    "well_known_text": "bundles/pygeofilter/wkt.lark",
    "templates": "bundles/templates_import/test_templates_import.lark",
}
STARTS = {"well_known_text": "ewkt_geometry"}


@pytest.fixture(scope="module", params=FILES)
def converted(request: pytest.FixtureRequest) -> tuple[str, str, str]:
    """Return a name, the original, and what it becomes."""
    name = request.param
    path = DATA / "lark" / FILES[name]
    original = path.read_text(encoding="utf-8")
    start = STARTS.get(name)
    conversion = from_lark(original, path=str(path), start=start, imports=ANYWHERE)
    assert conversion.exact
    return name, original, conversion.text


def test_there_are_ten() -> None:
    assert len(FILES) == len(list(HERE.glob("*.kbnf"))) == 10


def test_golden(converted: tuple[str, str, str], golden: Callable[[str, str], None]) -> None:
    name, _, text = converted
    golden(f"{name}.kbnf", text)


def test_lines_are_short_and_names_are_those_of_the_original(
    converted: tuple[str, str, str],
) -> None:
    _, original, text = converted
    # A pattern is one word, which no layout can break.
    assert all(len(line) <= 100 or re.search(r"::= #\S+;$", line) for line in text.splitlines())
    written = set(re.findall(r"^(\w+) ::=", text, re.MULTILINE))
    bases = {re.sub(r"(?<=^rounds)\d+(_\d+)?$|_\d+$", "", name) for name in written}
    # What is ignored between lexemes, and repetitions that a lexer looks into, had no names.
    assert bases - {"start", "ws", "rounds"} <= set(re.findall(r"\w+", original))
    assert len(written) <= 2 * len(original.splitlines())
