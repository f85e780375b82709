"""The corpus runs over the reference recogniser and over the engine; its loader is strict."""

from pathlib import Path

import pytest

from kbnf_testing.corpus import Case, CorpusError, load_corpus, read_case
from kbnf_testing.reader import read_kbnf
from kbnf_testing.runners import ReferenceRunner, run_case
from kbnf_testing.scanner import UnsupportedError
from kbnf_testing.subject import SubjectRunner, artifact_runner

CASES = load_corpus()
# The reference judges languages; which code a mistake gets is for the engine alone.
_BY_REFERENCE = [case for case in CASES if not case.not_by_reference and case.error <= {"E105"}]
_NOT_BY_REFERENCE = [case for case in CASES if case.not_by_reference]


def _name(case: Case) -> str:
    return case.name


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_engine(case: Case) -> None:
    run_case(case, SubjectRunner)


@pytest.mark.parametrize("case", CASES, ids=_name)
def test_engine_from_an_artifact(case: Case, tmp_path: Path) -> None:
    run_case(case, artifact_runner(tmp_path / "grammar.kbnfc"))


@pytest.mark.parametrize("case", _BY_REFERENCE, ids=_name)
def test_reference(case: Case) -> None:
    run_case(case, ReferenceRunner)


@pytest.mark.parametrize("case", _NOT_BY_REFERENCE, ids=_name)
def test_cases_left_out_of_the_reference_cannot_be_read_by_it(case: Case) -> None:
    with pytest.raises(UnsupportedError):
        read_kbnf(case.grammar, case.tokens.special, case.start)


@pytest.mark.parametrize(
    "section", ["1", "1.1", "2", "3", "3.1", "3.2", "4", "4.1", "4.2", "4.3", "5", "8"]
)
def test_every_section_of_the_specification_has_cases(section: str) -> None:
    assert any(section in case.spec.split() for case in CASES)


@pytest.mark.parametrize("bug", range(1, 17))
def test_every_listed_bug_has_a_case(bug: int) -> None:
    wanted = f"8#{bug}"
    assert any(wanted in case.spec.split() for case in CASES)


_VOID = {"name": "x", "grammar": "start ::= 'A';", "spec": "2"}


@pytest.mark.parametrize(
    "table",
    [
        _VOID,
        {**_VOID, "accept": []},
        {**_VOID, "accept": ["A"], "acept": ["B"]},
        {**_VOID, "accept": ["A"], "vocabulary": "spec"},
        {**_VOID, "steps": [{"token": 1, "result": "Ongoing"}]},
        {"name": "x", "spec": "2", "accept": ["A"]},
    ],
    ids=[
        "asserts nothing",
        "empty list",
        "typo",
        "unused vocabulary",
        "no vocabulary",
        "no grammar",
    ],
)
def test_loader_refuses(table: dict[str, object]) -> None:
    with pytest.raises(CorpusError):
        read_case(table, "file", {})


def test_loader_refuses_names_used_twice(tmp_path: Path) -> None:
    case = "[[case]]\nname = 'x'\nspec = '2'\ngrammar = '''start ::= 'A';'''\naccept = ['A']\n"
    (tmp_path / "vocabularies.toml").write_text("", encoding="utf-8")
    (tmp_path / "file.toml").write_text(case + case, encoding="utf-8")
    with pytest.raises(CorpusError, match="twice"):
        load_corpus(tmp_path)


def test_loader_refuses_other_tables(tmp_path: Path) -> None:
    (tmp_path / "vocabularies.toml").write_text("", encoding="utf-8")
    (tmp_path / "file.toml").write_text("[cases]\n", encoding="utf-8")
    with pytest.raises(CorpusError, match="nothing else"):
        load_corpus(tmp_path)
