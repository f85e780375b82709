"""Lark files under check: they are read from their start on, and what is said is about them."""

import pytest

from kbnf_core import check
from kbnf_core.lint.check import fix_text

NAMED = "expression: NUMBER\nother: 'x'\nNUMBER: /[0-9]{1,3}/\n".replace("'", '"')


def _found(text: str, start: str | None = None) -> list[str]:
    return [f"{each.code} {each.message}" for each in check(text, "a.lark", start=start)]


def test_the_start_is_named_by_an_option() -> None:
    assert _found(NAMED, "expression") == ["W101 the rule `other` is never used"]
    assert _found(NAMED, "other") == [
        "W101 the rule `expression` is never used",
        "W102 the terminal `NUMBER` cannot be reached from `other`",
    ]


def test_the_start_is_named_by_a_pragma() -> None:
    assert _found(f"// kbnf: start=expression\n{NAMED}") == ["W101 the rule `other` is never used"]


def test_without_a_start_the_first_rule_is_offered() -> None:
    (finding,) = [each for each in check(NAMED, "a.lark") if each.code == "E102"]
    assert finding.message == "the start nonterminal `start` is not defined"
    (text,) = finding.helps
    assert "--start expression" in text


def test_a_template_is_no_start() -> None:
    assert _found('list{item}: item ("," item)*\n') == [
        "E102 no start rule found: `start` is not defined"
    ]


def test_ignored_and_imported_text_is_in_use() -> None:
    text = 'start: "a" B\nB: C\nC: "c"\nD: "#"\n%import common.DIGIT\n%ignore D\n'
    assert _found(text) == []


def test_a_comment_silences_a_finding() -> None:
    assert _found('start: "a" B\nB: "b"\nC: "c" // kbnf: ignore[W101]\n') == []
    assert _found('start: "a" B\nB: "b" // kbnf: ignore[W101]\n') == [
        "W003 this `ignore[W101]` silences nothing"
    ]


@pytest.mark.parametrize("unsafe", [False, True])
def test_nothing_is_fixed_because_the_tree_is_not_as_written(unsafe: bool) -> None:
    text = 'start: "IN"i "(" [sum ","]* sum ")" /[0-9]+/\nsum: "x" | "x"\n'
    assert {each.code for each in check(text, "a.lark")} >= {"W106", "I303"}
    fixed = fix_text(text, lambda each: check(each, "a.lark"), unsafe=unsafe)
    assert fixed.text == text


def test_a_malformed_regular_expression_among_alternatives_is_told() -> None:
    assert [code[:4] for code in _found('start: A B\nA: /*a/ | "b"\nB: /[b/\n')] == ["E423"] * 2


SCHEMA = '{"type": "object", "properties": {"o": {"type": "object"}, "n": {"type": "integer"}}}'


def test_nothing_is_said_of_what_a_schema_became() -> None:
    # Its rules repeat whitespace and digits, and a nested object has a pattern of its own for them.
    text = f"start: TEXT | call\nTEXT: /[^{{](.|\\n)*/\ncall: %json {SCHEMA}\n"
    assert _found(text) == []


NESTED = """start: "<" inner ">"
inner: %lark {
  start: WS "x" // silenced
  WS: /[ ]+/
}
"""


def test_a_finding_in_a_nested_grammar_has_its_own_place() -> None:
    (finding,) = check(NESTED, "a.lark")
    assert (finding.code, finding.span.start) == ("W302", NESTED.index("WS"))


def test_a_comment_in_a_nested_grammar_silences() -> None:
    assert _found(NESTED.replace("silenced", "kbnf: ignore[W302]")) == []


def test_the_start_that_is_asked_for_is_not_that_of_nested_grammars() -> None:
    assert _found(NESTED.replace('start: "<"', 'first: "<"'), "first")[0][:4] == "W302"


@pytest.mark.parametrize("lexing", ["lalr", "earley", "scannerless"])
def test_an_endless_ignored_blank_is_one_finding_at_its_place(lexing: str) -> None:
    text = 'start: "[" N ("," N)* more "]"\nmore: "x" N\nN: /[0-9]/\n%ignore " "\n'
    options = {"lexing": lexing}
    found = [
        each for each in check(text, "a.lark", language_options=options) if each.code == "W302"
    ]
    assert [text[each.span.start : each.span.end] for each in found] == ['%ignore " "']
