"""What is said of Lark names the author's rules, and not the copies of its conversion."""

from kbnf_core import check
from kbnf_core.languages import LARK

TWO = 'start: (WORD | TAG)+ e\nWORD: /[a-z]+/\nTAG: /[a-z]+[0-9]?/\ne: e "+" e | "1"\n%ignore " "\n'


def test_a_derivation_names_rules_as_they_were_written() -> None:
    (found,) = (each for each in check(TWO, language=LARK) if each.code == "I109")
    assert found.message.startswith("`e` derives")
    assert not any("_2" in note or "rounds" in note for note in found.notes)


def test_a_missing_start_is_guessed_among_rules_that_no_other_uses() -> None:
    text = 'expr: term "+" expr | term\nstat: expr ";"\nprog: stat+\nterm: /[0-9]/\n'
    (found,) = check(text, language=LARK)
    assert (found.code, text[found.span.start : found.span.end]) == ("E102", "prog")
    assert "--start prog" in found.helps[0]
