"""Habits of other notations in GBNF and BNF: each is named, and its fix can be read."""

import pytest

from kbnf_core import check
from kbnf_core.languages import BNF, GBNF, Language
from kbnf_core.lint.check import fix_text


@pytest.mark.parametrize(
    ("language", "text", "fixed"),
    [
        (GBNF, r'root ::= [\d]+ [^\w\s] "x"', r'root ::= [0-9]+ [^A-Za-z0-9_ \t\n\r] "x"'),
        (GBNF, r'root ::= \d+ "x" \w', 'root ::= [0-9]+ "x" [A-Za-z0-9_]'),
        (BNF, "<start>::=<a> John | Doe-x\n<a>::=12", "<start>::=<a> 'John' | 'Doe-x'\n<a>::='12'"),
    ],
)
def test_fixes(language: Language, text: str, fixed: str) -> None:
    assert fix_text(text, lambda each: check(each, language=language)).text == fixed


def test_a_text_has_no_place_for_a_class() -> None:
    [finding] = check(r'root ::= "\d+"', language=GBNF)
    assert (finding.code, finding.fixes) == ("E007", ())
    assert finding.helps == ("write `[0-9]` beside the text",)


def test_characters_of_w3c() -> None:
    found = check("root ::= [#x00C0-#x00D6]", language=GBNF)
    assert r"`\u00c0`" in next(each for each in found if each.code == "W208").helps[0]
