"""``kbnf sample``."""

import pytest

from kbnf_testing.command import Kbnf, Write
from kbnf_testing.schemas import checked

DIGITS = '(* kbnf: finish=eos *) start ::= #"[0-9]{1,3}";'
FEW = '(* kbnf: finish=eos *) start ::= "a" | "bc" | "d\\n";'


def test_different_texts_of_the_language(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", stdin=DIGITS.encode())
    lines = result.out.splitlines()
    assert (result.status, result.stderr, len(set(lines))) == (0, "", 20)
    assert all(line.isdecimal() and len(line) <= 3 for line in lines)


def test_all_fit(kbnf: Kbnf) -> None:
    texts = kbnf("sample", "arithmetic", "-n", "30", "--length", "8").stdout
    assert kbnf("match", "arithmetic", "--lines", stdin=texts).status == 0


def test_the_seed_decides(kbnf: Kbnf) -> None:
    first, again, other = (kbnf("sample", "json", "--seed", seed).out for seed in ("7", "7", "8"))
    assert first == again != other


def test_shortest_are_in_order_and_all_are_known(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", "--shortest", stdin=FEW.encode())
    assert result.out == "a\nbc\nd\\n\n"
    assert result.stderr == "the language has only 3 texts\n"
    shown = kbnf("sample", "-", "--shortest", "--format", "json", stdin=FEW.encode())
    value = checked("sample", shown.out)
    assert [each["text"] for each in value["texts"]] == ["a", "bc", "d\n"]
    assert value["all"] is True


def test_raw_texts_are_as_they_are(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", "--shortest", "--format", "raw", stdin=FEW.encode())
    assert result.stdout == b"a\nbc\nd\n\n"


def test_shortest_heed_the_way_to_finish(kbnf: Kbnf) -> None:
    grammar = b'start ::= #"a{1,3}";'
    assert kbnf("sample", "-", "--shortest", stdin=grammar).out == "a\n"
    found = kbnf("sample", "-", "--shortest", "--finish", "eos", stdin=grammar)
    assert found.out == "a\naa\naaa\n"


def test_texts_that_are_cut_are_said(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", stdin=b'start ::= "a"+;')
    assert (result.out, result.stderr) == (
        "a\n",
        "the language has only 1 text\n"
        "with finish=eager a text ends as soon as it is complete; "
        "--finish eos draws those that go on\n",
    )


def test_too_few_are_said(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", stdin=FEW.encode())
    assert (result.status, len(result.out.splitlines())) == (0, 3)
    assert result.stderr == "the language has only 3 texts\n"


def test_the_number_of_texts_counts_all_characters(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", "--shortest", "-n", "5", stdin=DIGITS.encode())
    assert result.out == "0\n00\n000\n"
    assert result.stderr == (
        "3 texts of 1,110: of characters that the grammar treats alike, one; without --shortest all"
        " are drawn\n"
    )


def test_too_few_of_many_name_the_option_that_finds_more(kbnf: Kbnf) -> None:
    grammar = b'(* kbnf: finish=eos *) start ::= "a"*;'
    result = kbnf("sample", "-", "--length", "1", stdin=grammar)
    assert set(result.out.splitlines()) == {"", "a"}
    assert result.stderr == "only 2 different texts found; --length 32 draws longer ones\n"
    assert len(kbnf("sample", "-", "--length", "64", stdin=grammar).out.splitlines()) == 20


def test_special_tokens_are_named(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("v.json", '{"0": "a", "1": "<|end|>"}')
    grammar = b'start ::= "a" #token[1];'
    assert kbnf("sample", "-", "--vocab", vocabulary, stdin=grammar).out == "a<|end|>\n"


@pytest.mark.parametrize("option", [("-n", "0"), ("--length", "-1"), ("--seed", "x")])
def test_wrong_usage(kbnf: Kbnf, option: tuple[str, str]) -> None:
    assert kbnf("sample", "json", *option).status == 2


def test_a_wrong_grammar_is_a_finding(kbnf: Kbnf) -> None:
    result = kbnf("sample", "-", stdin=b"start ::= x;")
    assert (result.status, "E101" in result.stderr) == (1, True)


def test_texts_take_no_more_tokens_than_they_may(kbnf: Kbnf, write: Write) -> None:
    vocabulary = write("v.json", '{"0": "a", "1": "aa", "2": ";"}')
    arguments = ("sample", "-", "--vocab", vocabulary, "-n", "5", "--max-tokens")
    grammar = b'start ::= #"a{2,}" ";";'
    assert set(kbnf(*arguments, "2", stdin=grammar).out.split()) == {"aa;"}
    longer = set(kbnf(*arguments, "3", stdin=grammar).out.split())
    assert "aa;" in longer
    assert longer <= {"aa;", "aaa;", "aaaa;"}
    refused = kbnf(*arguments, "1", stdin=grammar)
    assert refused.status == 2
    assert "budget=1 is too small: 2 tokens are enough" in refused.stderr
    both = kbnf(*arguments, "2", "--shortest", stdin=grammar)
    assert (both.status, "exclude each other" in both.stderr) == (2, True)


def test_ascii_only(kbnf: Kbnf, write: Write) -> None:
    assert kbnf("sample", "json", "--ascii", "-n", "100", "--format", "raw").out.isascii()
    file = str(write("a.kbnf", 'start ::= "é" ";";'))
    result = kbnf("sample", file, "--ascii")
    assert (result.status, result.out) == (1, "")
    assert "only 0 different ASCII texts found" in result.stderr
    assert kbnf("sample", "json", "--ascii", "--shortest").status == 2


LAYOUT = """(* kbnf: finish=eos *)
start ::= item { gap item };
item ::= "a" | "b";
gap ::= " " | comment;
comment ::= #"#[a-z]{0,9}\\n";
"""


def test_a_rule_is_left_out(kbnf: Kbnf, write: Write) -> None:
    file = write("g.kbnf", LAYOUT)
    assert "#" in kbnf("sample", file).out
    plain = kbnf("sample", file, "--without", "comment")
    assert plain.status == 0
    assert len(plain.out.splitlines()) == 20
    assert set(plain.out) == set("ab \n")
    short = kbnf("sample", file, "--without", "comment", "--max-tokens", "4", "-n", "4")
    assert "#" not in short.out
    one = kbnf("sample", file, "--without", "gap", "--without", "comment")
    assert (sorted(one.out.splitlines()), one.status) == (["a", "b"], 0)
    none = kbnf("sample", file, "--without", "item")
    assert (none.status, none.out) == (1, "")
    assert "there is no text without `item`" in none.stderr
    unknown = kbnf("sample", file, "--without", "coment")
    assert unknown.status == 2
    assert "no rule `coment`; did you mean `comment`?" in unknown.stderr
    assert kbnf("sample", file, "--without", "gap", "--shortest").status == 2
