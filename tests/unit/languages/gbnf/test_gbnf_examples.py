"""The examples of the specification, and real files: the converted grammar decides as they say."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbnf_core import GrammarError, check
from kbnf_core.convert import from_gbnf
from kbnf_testing.data import DATA, SPEC
from kbnf_testing.membership import Language

FILES = DATA / "gbnf"

EXAMPLES = [
    json.loads(line) for line in (SPEC / "examples-gbnf.jsonl").read_text("utf-8").splitlines()
]
VALID = [example for example in EXAMPLES if not example.get("invalid")]
INVALID = [example for example in EXAMPLES if example.get("invalid")]


def name_of(value: Any) -> str:
    return value.stem if isinstance(value, Path) else value["note"][:40]


@pytest.mark.parametrize("example", VALID, ids=name_of)
def test_example(example: dict[str, Any]) -> None:
    language = Language(from_gbnf(example["grammar"]).text)
    assert [text for text in example["accept"] if not language.has(text)] == []
    assert [text for text in example["reject"] if language.has(text)] == []


@pytest.mark.parametrize("example", INVALID, ids=name_of)
def test_refused_example(example: dict[str, Any]) -> None:
    """What llama.cpp refuses is an error or a warning here, with its words."""
    try:
        found = from_gbnf(example["grammar"]).notes
    except GrammarError as error:
        found = error.diagnostics
    assert example["error"] in "\n".join(note for finding in found for note in finding.notes)


@pytest.mark.parametrize(
    "path", sorted([*FILES.glob("valid/*.gbnf"), *FILES.glob("dialect/*.gbnf")]), ids=name_of
)
def test_real_file(path: Path) -> None:
    text = path.read_text("utf-8")
    assert [finding for finding in check(text, str(path)) if finding.code[0] == "E"] == []
    converted = from_gbnf(text).text
    assert [finding for finding in check(converted) if finding.code[0] == "E"] == []
    samples = path.with_suffix(".samples.json")
    if samples.exists():
        language = Language(converted)
        wanted = json.loads(samples.read_text("utf-8"))
        assert [text for text in wanted["accept"] if not language.has(text)] == []
        assert [text for text in wanted["reject"] if language.has(text)] == []


BROKEN = {
    "cairo_lark_as_gbnf": ("E001", 1),
    "doctor_broken": ("E101", 3),
    "sparql11_w3c_ebnf": ("E001", 7),
    "sqlite_select": ("E101", 5),
    "xgrammar_test_l915": ("E004", 1),
    "xgrammar_test_l920": ("E007", 1),
    "xgrammar_test_l921": ("E007", 1),
    "xgrammar_test_l922": ("E001", 1),
    "xgrammar_test_l923": ("E101", 1),
    "xgrammar_test_l935": ("E102", 1),
}


def test_all_broken_files_are_listed() -> None:
    assert {path.stem for path in FILES.glob("broken/*.gbnf")} == set(BROKEN)


@pytest.mark.parametrize("name", BROKEN)
def test_broken_file(name: str) -> None:
    text = (FILES / "broken" / f"{name}.gbnf").read_text("utf-8")
    with pytest.raises(GrammarError) as refusal:
        from_gbnf(text)
    errors = [finding for finding in refusal.value.diagnostics if finding.code == BROKEN[name][0]]
    assert errors[0].source.position(errors[0].span.start).line == BROKEN[name][1]
