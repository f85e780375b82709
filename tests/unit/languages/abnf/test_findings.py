"""What is said about ABNF with mistakes: the code, and the text that it points to."""

import pytest

from kbnf_core import Grammar, GrammarError, Limits, check
from kbnf_core.languages import ABNF

MISTAKES = [
    ("", "E010", ""),
    ("; nothing\n", "E010", ""),
    ('"x" / "y"', "E001", '"x"'),
    ('a ::= "x"', "E006", "::="),
    ('a := "x"', "E006", ":="),
    ('a = "x', "E004", '"'),
    ("a = <x", "E004", "<"),
    ("a = <any text>", "E431", "<any text>"),
    ('a = "x"\na = "y"', "E432", "a"),
    ('a = "x"\nA = "y"', "E432", "A"),
    ('a =/ "x"', "E432", "=/"),
    ('a = "x" | "y"', "E001", "|"),
    ("a = 'x'", "E001", "'"),
    ('a = "x"*', "E001", "*"),
    ('a = "x"+', "E001", "+"),
    ('a = "x" /', "E011", ""),
    ('a = ( / "x" )', "E011", "/"),
    ("a = ()", "E011", ")"),
    ('a = ( "x"', "E003", ""),
    ('a = ( "x" ]', "E003", "]"),
    ('a = "x" )', "E003", ")"),
    ("a = %xZZ", "E001", "%xZZ"),
    ("a = %d12A", "E001", "%d12A"),
    ("a = %b12", "E001", "%b12"),
    ("a = %x39-30", "E001", "%x39-30"),
    ("a = %xD800", "E001", "%xD800"),
    ("a = %x110000", "E001", "%x110000"),
    ("a = %x41-110000", "E001", "%x41-110000"),
    ('a = "é"', "E001", "é"),
    ('a = "x\ty"', "E001", "\t"),
    ('a = 3*2"x"', "E013", "3*2"),
    ('a = 99999999999999999999999"x"', "E013", "99999999999999999999999"),
    ('a = "x" b', "E101", "b"),
    ('a = "x"\nb\n', "E001", "b"),
    ('  a = "x"\n  "y"\n', "E001", '"y"'),
    ('a = "x" b = "y"', "E001", "="),
]

GAPS = [
    ('a = "x"\nb = <any text>', "W433", ["<any text>"]),
    ('a = "x"\nb = c / d\nd = "y"', "W433", ["c"]),
    ('a = "x"\nb = c\nc = <d> / <any text>', "W433", ["d", "<any text>"]),
    ('a = B / "x"\nb = <any text>', "E431", ["<any text>"]),
    ('a = b / "x"\nb = <c>\nd = c', "E101", ["c"]),
    ('a = "x"\nb = DIGIT\nc = 1*%x80-FF', "W101", ["b", "c"]),
    ('a = "x"\nDIGIT = "1"\nalpha = %x41\nCRLF = CR LF\nCR = %d13\nLF = %d10', "", []),
]


@pytest.mark.parametrize(("text", "code", "places"), GAPS, ids=[each[0] for each in GAPS])
def test_what_is_not_defined_counts_where_the_start_needs_it(
    text: str, code: str, places: list[str]
) -> None:
    found = [each for each in check(text, language=ABNF) if each.code != "I303"]
    assert {each.code for each in found} - {"W433"} == {code} - {"", "W433"}
    told = [each for each in found if each.code == code]
    assert [each.source.slice(each.span) for each in told] == places


def test_another_start_has_other_needs() -> None:
    text = 'a = "x" c\nb = "y"\nc = <any text>\n'
    assert [each.code for each in check(text, language=ABNF)] == ["E431"]
    assert [each.code for each in check(text, language=ABNF, start="B")] == ["W433"]
    assert Grammar.from_abnf(text, start="B").parse("y").text == "y"
    with pytest.raises(GrammarError, match="E431"):
        Grammar.from_abnf(text)


@pytest.mark.parametrize(("text", "code", "place"), MISTAKES, ids=[each[0] for each in MISTAKES])
def test_mistake(text: str, code: str, place: str) -> None:
    found = [each for each in check(text, language=ABNF) if each.code.startswith("E")]
    assert [(each.code, each.source.slice(each.span)) for each in found] == [(code, place)]


def test_every_mistake_is_found_once() -> None:
    text = 'a = b "x\nb = ( c\nc = %xZZ\nd = 2*1"x"\n'
    found = [each.code for each in check(text, language=ABNF) if each.code.startswith("E")]
    assert found == ["E004", "E003", "E001", "E013"]


def test_brackets_are_nested_up_to_the_limit() -> None:
    limits = Limits(nesting_depth=4)

    def codes(depth: int) -> list[str]:
        text = f'a = {"(" * depth}"x"{")" * depth}'
        return [each.code for each in check(text, language=ABNF, limits=limits)]

    assert "E012" not in codes(4)
    assert "E012" in codes(5)


def test_a_long_text_of_mistakes_is_read_to_its_end() -> None:
    found = check("a = %\n" * 2_000 + "(" * 10_000, language=ABNF)
    assert len(found) >= 2_000
