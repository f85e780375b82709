"""Every code has its page, every page its code, and every page its parts."""

import re
from pathlib import Path

import pytest

import kbnf_core.diagnostics
from kbnf_core import Grammar, GrammarError, check
from kbnf_core.diagnostics import CATALOGUE
from kbnf_core.diagnostics.explain import find_rule, nearest_rules, read_page

_PAGES = Path(kbnf_core.diagnostics.__file__).parent / "pages"
_SECTIONS = ["What it means", "Why it hurts", "Wrong", "Right", "What to do"]

# What stands under `Wrong` there cannot be shown in a page, which is valid UTF-8 itself.
_NOT_A_GRAMMAR = {"E009"}

# Found by conversions only, see tests/unit/convert/test_pages.py.
_LOSSES = {"W401", "W403", "W404", "W405"}


def test_catalogue_and_pages_are_the_same() -> None:
    assert {page.stem for page in _PAGES.iterdir()} == set(CATALOGUE)


@pytest.mark.parametrize("code", CATALOGUE)
def test_page_has_title_summary_and_sections(code: str) -> None:
    rule = CATALOGUE[code]
    page = read_page(rule)
    assert page.startswith(f"# {code}: {rule.name}\n\n{rule.summary}\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == _SECTIONS


@pytest.mark.parametrize("code", sorted(set(CATALOGUE) - _NOT_A_GRAMMAR - _LOSSES))
def test_page_examples(code: str) -> None:
    page = read_page(CATALOGUE[code])
    wrong, right = re.findall(r"^```(\w+)\n(.*?)\n```$", page, re.M | re.S)
    assert code in _codes(*wrong)
    assert _codes(*right) == []


def _codes(language: str, text: str) -> list[str]:
    """Return the codes that `check` finds or, if there are none, that building an engine does."""
    found = [finding.code for finding in check(text, f"example.{language}")]
    if found or language != "kbnf":
        return found
    try:
        _ = Grammar(text).tables
    except GrammarError as error:
        return [finding.code for finding in error.diagnostics]
    return []


@pytest.mark.parametrize("text", ["E101", "e101", " E101 ", "undefined-nonterminal"])
def test_find_rule(text: str) -> None:
    assert find_rule(text) is CATALOGUE["E101"]


def test_find_rule_knows_no_prefixes() -> None:
    assert find_rule("E1") is None


@pytest.mark.parametrize(
    ("text", "nearest"), [("E1001", "E101"), ("undefined-nonterminals", "E101"), ("W31", "W301")]
)
def test_nearest_rules(text: str, nearest: str) -> None:
    assert CATALOGUE[nearest] in nearest_rules(text)


def test_nothing_is_near_to_nonsense() -> None:
    assert nearest_rules("????") == []
