"""``<any!>`` and ``<except!(..)>`` where a vocabulary is at hand, and the rules they ask about."""

import pytest

from kbnf_core import Vocabulary, check
from kbnf_core.convert import from_bnf
from kbnf_core.lint import LintOptions
from kbnf_core.text.errors import GrammarError

TOKENS = Vocabulary({0: b"a", 1: b"ab", 2: b"x", 3: b"card"})


@pytest.mark.parametrize("use", ["<any!>", "<except!('ar')>", "<except!([sequence])>"])
def test_a_known_vocabulary_is_not_called_unknown(use: str) -> None:
    text = f"<start>::={use}'x'\n<sequence>::='ab'|<b>\n<b>::='c'\n"
    without = {finding.code for finding in check(text, "a.bnf")}
    found = check(text, "a.bnf", options=LintOptions(vocabulary=TOKENS))
    assert "W405" in without
    assert not {"W405", "W603"} & {finding.code for finding in found}


def test_a_rule_that_is_excluded_is_used() -> None:
    text = "<start>::=<except!([sequence])>'x'\n<sequence>::='ab'|<b>\n<b>::='c'\n"
    assert {finding.code for finding in check(text, "a.bnf")} == {"W405"}
    unused = check(text + "<more>::='d'\n", "a.bnf")
    assert [finding.code for finding in unused if finding.code != "W405"] == ["W101"]


@pytest.mark.parametrize(
    "rules",
    [
        "<x>::=<except!([x])>",
        "<x>::='a'<y>\n<y>::='b'|<except!([x])>",
        "<x>::=<except!([y])>\n<y>::=<except!([x])>",
    ],
)
def test_what_excludes_itself_is_refused(rules: str) -> None:
    found = check(f"<start>::=<x>'y'\n{rules}\n", "a.bnf")
    assert "E103" in {finding.code for finding in found}
    with pytest.raises(GrammarError):
        from_bnf(f"<start>::=<x>'y'\n{rules}\n", vocabulary=TOKENS)


def test_further_names_are_excluded_in_full() -> None:
    text = "<start>::=<except!([x])>'y'\n<x>::=<z>\n<z>::='a'|'c'\n"
    vocabulary = Vocabulary({0: b"a", 1: b"ab", 2: b"x", 3: b"card", 4: b"y"})
    assert "except_x ::= 'x' | 'y';" in from_bnf(text, vocabulary=vocabulary).text


def test_names_of_names_are_excluded_without_a_vocabulary_too() -> None:
    text = "<start>::=<except!([x])>'!'\n<x>::=<z>|'+'<y>\n<z>::='a'|<y>\n<y>::='c'|<z>\n"
    assert "except_x ::= #'(?s:.)+';" in from_bnf(text).text
    text = text.replace("'+'<y>", "'+''-'")
    assert "except_x ::= #ex'\\\\+\\\\-|a|c';" in from_bnf(text).text


def test_a_vocabulary_that_leaves_nothing_is_told_of_the_rule() -> None:
    text = "<start>::=<x>\n<x>::=<except!('a')>\n"
    with pytest.raises(GrammarError) as caught:
        from_bnf(text, vocabulary=Vocabulary({0: b"a", 1: b"ab"}))
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.source.slice(finding.span)) == ("E105", "<start>")


SMALL = Vocabulary({0: b"a", 1: b"b", 2: b"ab", 3: b"q", 4: b"."})


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("<start>::=<any!>'\u20ac'", ["E601", "W603"]),
        # `abb`, as `ab` is complete before it.
        ("<start>::=<any!>'z'|<any!>'b'", ["W307", "W603"]),
        # Over all bytes `zz` would be one of the texts of `<any!>`.
        ("<start>::=<z>'b'|<any!>'.'\n<z>::='zz'", ["W603"]),
        ("<start>::=<z>|<any!>\n<z>::='a'", ["W107"]),
        ("<start>::=<except!('q')>'.'", []),
        ("<start>::=<any!>'.'<unused>\n<unused>::='q'\n<more>::='b'", ["W101"]),
    ],
)
def test_lints_see_the_tokens_of_the_vocabulary(text: str, codes: list[str]) -> None:
    found = check(text, "a.bnf", options=LintOptions(vocabulary=SMALL))
    assert sorted(finding.code for finding in found) == codes


def test_each_lint_runs_once_over_a_vocabulary() -> None:
    options = LintOptions(vocabulary=SMALL, max_states=3)
    found = check("<start>::=<any!>'.'", "a.bnf", options=options)
    assert [finding.code for finding in found] == ["E703"]


@pytest.mark.parametrize(
    ("rule", "written"),
    [
        ("<s>::=<x>|<x><s>", "s ::= x+;"),
        ("<s>::=<x><s>|<x>", "s ::= x+;"),
        ("<s>::=<x>','<s>|<x>", "s ::= (x ',')* x;"),
        ("<s>::='a'<s>|'b'", "s ::= 'a' s | 'b';"),
        ("<s>::=<x><s>|<x>\n<s>::='b'", "s ::= x s | x;"),
        ("<s>::=<x><s><s>|<x>", "s ::= x s s | x;"),
    ],
)
def test_a_list_is_a_loop(rule: str, written: str) -> None:
    text = f"<start>::=<s>'.'\n{rule}\n<x>::='x'\n"
    conversion = from_bnf(text)
    assert written in conversion.text.splitlines()
    assert "I110" not in {finding.code for finding in check(conversion.text)}


def test_a_rule_that_only_the_vocabulary_was_asked_about_is_left_out() -> None:
    text = "<start>::=<except!([x])>'y'\n<x>::=<z>|'ab'\n<z>::='a'\n<more>::='d'\n"
    converted = from_bnf(text, vocabulary=TOKENS).text
    assert [rule for rule in ("x", "z", "more") if f"\n{rule} ::=" in converted] == ["more"]
    found = [each.message for each in check(converted) if each.code in ("W101", "W102")]
    assert found == ["the nonterminal `more` is never used"]
