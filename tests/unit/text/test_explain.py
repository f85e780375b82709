"""Every code has its page, every page its code, and every page its parts."""

import re
from pathlib import Path

import pytest

import kbnf_core
from kbnf_core import Grammar, GrammarError, Vocabulary, check
from kbnf_core.lint import NO_OPTIONS, LintOptions
from kbnf_core.lint.check import LINTS
from kbnf_core.lint.subject import Needs
from kbnf_core.text.diagnostics import CATALOGUE
from kbnf_core.text.diagnostics.catalogue import find_rule, nearest_rules, read_page
from kbnf_core.text.limits import DEFAULT_LIMITS, Limits

_CORE = Path(kbnf_core.__file__).parent
_SECTIONS = ["What it means", "Why it hurts", "Wrong", "Right", "What to do"]

# What is under `Wrong` there cannot be shown in a page: it is no UTF-8, or too large.
_NOT_A_GRAMMAR = {"E009", "E017"}

_ASCII = Vocabulary(
    {value: bytes((value,)) for value in range(128)},
    special_tokens={"<|end|>": 128},
    eos_token_id=128,
)
_LIMITS = {"E106": Limits(grammar_states=300)}
_OPTIONS = {
    **{
        rule.code: LintOptions(vocabulary=_ASCII)
        for lint in LINTS
        if lint.NEEDS in (Needs.VOCABULARY, Needs.TABLES)
        for rule in lint.RULES
    },
    "E703": LintOptions(max_states=20),
    "E502": LintOptions(targets=("kbnf-0.4",)),
}
"""What must be asked for before a code is reported."""

# Found by conversions only, see tests/unit/convert/test_pages.py.
_LOSSES = {"W401", "W403", "W404", "W405", "W421", "W424"}

# Found in schemas only, see tests/unit/convert_json_schema/test_pages.py.
_SCHEMAS = {"E801", "E802", "E803", "E804", "E805", "W806", "W807", "W808", "E809", "I810"}
_SCHEMAS |= {"W821", "W822", "I823", "E824", "W825", "I826", "W827", "I828", "W829", "I830", "W831"}

# Of texts without an extension of their own, see tests/unit/languages/test_response_templates.py.
_BY_CONTENT = {"E443", "W443"}

# Found by engines that are asked only, see tests/unit/targets.
_OF_ENGINES = {"E503", "W504", "W505", "I506"}

# Found by `kbnf diff` only, see tests/cli/test_diff.py.
_OF_PAIRS = {"E901", "E902"}


def test_catalogue_and_pages_are_the_same() -> None:
    of_readers = [page.stem for page in (_CORE / "text" / "diagnostics" / "pages").iterdir()]
    of_lints = [page.name.split(".")[1] for page in (_CORE / "lint" / "rules").glob("*.md")]
    assert sorted([*of_readers, *of_lints]) == sorted(CATALOGUE)


def test_a_lint_is_a_module_and_a_page_for_each_of_its_codes() -> None:
    rules = _CORE / "lint" / "rules"
    modules = {path.stem for path in rules.glob("*.py")} - {"__init__"}
    names = {lint: str(getattr(lint, "__name__", "")).rpartition(".")[2] for lint in LINTS}
    assert sorted(names.values()) == sorted(modules)
    pages = {f"{name}.{rule.code}.md" for lint, name in names.items() for rule in lint.RULES}
    assert {page.name for page in rules.glob("*.md")} == pages
    for lint in LINTS:
        assert [CATALOGUE[rule.code] for rule in lint.RULES] == list(lint.RULES)


@pytest.mark.parametrize("code", CATALOGUE)
def test_page_has_title_summary_and_sections(code: str) -> None:
    rule = CATALOGUE[code]
    page = read_page(rule)
    assert page.startswith(f"# {code}: {rule.name}\n\n{rule.summary}\n")
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == _SECTIONS


@pytest.mark.parametrize(
    "code",
    sorted(
        set(CATALOGUE)
        - _NOT_A_GRAMMAR
        - _LOSSES
        - _SCHEMAS
        - _BY_CONTENT
        - _OF_PAIRS
        - _OF_ENGINES
        - {"I309", "I702"}
    ),
)
def test_page_examples(code: str) -> None:
    page = read_page(CATALOGUE[code])
    wrong, right = re.findall(r"^```(\w+)\n(.*?)\n```$", page, re.M | re.S)
    options = _OPTIONS.get(code, NO_OPTIONS)
    limits = _LIMITS.get(code, DEFAULT_LIMITS)
    assert code in _codes(wrong[0], wrong[1], options, limits)
    assert _codes(right[0], right[1], options, limits) == []


def test_cost_is_what_was_asked_for_not_a_mistake() -> None:
    example = "start ::= 'a';"
    assert _codes("kbnf", example, LintOptions(reports_cost=True), DEFAULT_LIMITS) == ["I702"]
    assert _codes("kbnf", example, NO_OPTIONS, DEFAULT_LIMITS) == []


def _codes(language: str, text: str, options: LintOptions, limits: Limits) -> list[str]:
    """Return the codes that `check` finds or, if there are none, that building an engine does."""
    found = [
        finding.code
        for finding in check(text, f"example.{language}", options=options, limits=limits)
    ]
    if found or language != "kbnf":
        return found
    try:
        _ = Grammar(text, limits=limits).tables
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


def test_a_code_without_a_page_says_where_pages_are() -> None:
    with pytest.raises(KeyError, match=r"the code W999 has no page: .*lint/rules/NAME\.W999\.md"):
        CATALOGUE["W999"]
    assert "W999" not in CATALOGUE
