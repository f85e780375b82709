"""What is wrong in a Lark file is named, with a place in it."""

import json
import re

import pytest

from kbnf_core import check
from kbnf_core.convert import DifferingText, from_lark
from kbnf_core.text.errors import ConfigError, GrammarError
from kbnf_testing.lark_files import ROOT
from kbnf_testing.lark_subject import accepts_of

ERRORS = [
    ("start: x", "E101", "x"),
    ('other: "a"', "E102", "other"),
    ('start: "a"\nstart: "b"', "E421", "start"),
    ('start: A\nA: b\nb: "x"', "E421", "b"),
    ('start: A\nA: A "x"', "E421", "A"),
    ("%import common.NUMBRE\nstart: NUMBRE", "E422", "NUMBRE"),
    ("%import nothing.X\nstart: X", "E422", "%import nothing.X"),
    ("%import .missing.x\nstart: x", "E422", "%import .missing.x"),
    ("start: /a\\bc/", "E423", "/a\\bc/"),
    ('start: Mixed\nMixed: "a"', "E421", "Mixed"),
    ('start: "a', "E004", '"'),
    ('start: ("a"', "E001", '"'),
    ('t{x}: x\nstart: t{"a", "b"}', "E421", 't{"a", "b"}'),
    ('t{x}: x t{t{x}}\nstart: t{"a"}', "E106", "t{t{x}}"),
    ('start: "a"~3..2', "E013", '"a"~3..2'),
    ('start ::= "a"', "E421", 'start ::= "a"'),
    ('start: "a"\nroot ::= "b"', "E421", 'root ::= "b"'),
    ('start: "<" @17 ">"', "E421", "@17"),
]


@pytest.mark.parametrize(("grammar", "code", "place"), ERRORS)
def test_errors_point_at_their_place(grammar: str, code: str, place: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_lark(grammar, lexing="earley")
    found = [(f.code, f.source.slice(f.span)) for f in caught.value.diagnostics]
    assert (code, place) in found


@pytest.mark.parametrize("schema", ["[]", "3", '"x"', "null"])
def test_a_schema_that_is_none_is_refused_at_its_place(schema: str) -> None:
    with pytest.raises(GrammarError) as caught:
        from_lark(f"start: %json {schema}")
    (found,) = caught.value.diagnostics
    assert (found.code, found.source.slice(found.span)) == ("E421", f"%json {schema}")


def test_loss_names_both_terminals() -> None:
    conversion = from_lark('start: /[a-z]/+ "b"', lexing="lalr")
    assert not conversion.exact
    assert any(
        '`"b"`' in loss.message and "`/[a-z]/`" in loss.message for loss in conversion.losses
    )


def test_declared_terminals_are_left_out_with_a_note() -> None:
    conversion = from_lark('start: "a" | _X "b"\n%declare _X')
    assert [note.code for note in conversion.notes] == ["W423"]
    assert "'b'" not in conversion.text


@pytest.mark.parametrize("lexing", ["earley", "lalr", "llguidance"])
def test_a_terminal_may_be_long(lexing: str) -> None:
    accepts = accepts_of(from_lark('start: A\nA: "a"~8191', lexing=lexing).text)
    assert [count for count in (8190, 8191, 8192) if accepts("a" * count)] == [8191]


def test_unknown_lexing_is_refused() -> None:
    with pytest.raises(ConfigError):
        from_lark('start: "a"', lexing="greedy")


def test_comments_are_kept() -> None:
    assert "(* a greeting *)" in from_lark('// a greeting\nstart: "hello"').text


def test_check_reads_lark_files() -> None:
    codes = {finding.code for finding in check("start: a\n", "x.lark")}
    assert "E101" in codes


def test_rules_defined_as_in_gbnf_are_gbnf() -> None:
    accepts = accepts_of(from_lark('root ::= "a" b+\nb ::= [b-d]\n').text)
    assert [text for text in ("a", "abd", "bd") if accepts(text)] == ["abd"]


OLD = 'root ::= "a" num // a number\nnum ::= /[0-9]+/ | %json {"type":"boolean"}\n'


def test_the_older_dialect_of_llguidance_is_lark_with_another_sign() -> None:
    accepts = accepts_of(from_lark(OLD).text)
    assert [text for text in ("a12", "atrue", "a", "a1x") if accepts(text)] == ["a12", "atrue"]
    assert [finding.code for finding in check(OLD, "x.lark") if finding.code[0] == "E"] == []


CONFUSED = """start: x+
x: KEY ":" VALUE
KEY: /[a-z]+/
VALUE: /[^,]+/
%ignore " "
"""


def test_confused_terminals_are_reported_once_with_their_places() -> None:
    text = (ROOT / "plain" / "syncode_c.lark").read_text("utf-8")
    losses = from_lark(text, lexing="lalr").losses
    pairs = [frozenset(re.findall("`([^`]+)`", loss.message)[:2]) for loss in losses]
    assert len(pairs) == len(set(pairs)) > 1
    assert any("(so at 2 places)" in loss.message for loss in losses)


def test_a_loss_of_ignored_text_is_shown_where_it_is_ignored() -> None:
    losses = from_lark(CONFUSED, lexing="lalr").losses
    blanks = [loss.span for loss in losses if loss.message.startswith('`" "`')]
    assert [CONFUSED[span.start : span.end] for span in blanks] == ['" "']


def test_bytes_that_are_no_text_are_escaped_once() -> None:
    assert str(DifferingText(b"\x80", kept_out=True)) == r"'\x80' is refused wrongly"
    assert str(DifferingText(rb"\udc80 \x80" + b"\xff", kept_out=True)) == (
        r"'\\udc80 \\x80\xff' is refused wrongly"
    )


def test_the_result_says_what_exact_lexing_costs() -> None:
    text = (ROOT / "plain" / "optimade_1_2_0.lark").read_text("utf-8")
    said = "(* 27 rules became 289, so that lexemes end just where the lexer (earley) ends them"
    assert said in from_lark(text).text
    assert " rules became " not in from_lark(text, lexing="scannerless").text


def test_grammars_of_a_list_are_called_by_name_and_number() -> None:
    top = 'start: "<" @1 "," @num "," @2 ">"'
    digits = {"name": "num", "lark_grammar": "start: /[0-9]+/"}
    schema = {"json_schema": {"type": "boolean"}}
    text = json.dumps({"grammars": [{"lark_grammar": top}, digits, schema]})
    accepts = accepts_of(from_lark(text).text)
    found = [t for t in ("<1,22,true>", "<1,x,true>", "<1,2,3>", "<,1,true>") if accepts(t)]
    assert found == ["<1,22,true>"]


STOPPED = """start: t %s
t[stop=""]: /[ab]+/
%%ignore " "
"""


@pytest.mark.parametrize(("follows", "losses"), [("", 0), ('"!"', 1), ('"!" t', 1)])
def test_an_end_of_the_sequence_that_more_follows_is_a_loss(follows: str, losses: int) -> None:
    found = from_lark(STOPPED % follows).losses
    assert [loss.code for loss in found] == ["W422"] * losses


def test_states_that_are_entered_once_are_texts() -> None:
    words = " ".join(f"w{number * 7919 % 9973}" for number in range(300))
    grammar = f'start: A ";"\nA: %regex {{"substring_words": {json.dumps(words)}}}\n'
    text = from_lark(grammar).text
    accepts = accepts_of(text)
    inner = " ".join(words.split()[100:140])
    wanted = {inner: True, f"{inner} ": True, inner[1:]: False, "w0 w7919 w1": False, words: True}
    assert {each: accepts(f"{each};") for each in wanted} == wanted
    assert text.count("::=") < 1_000  # The automaton has more than twice as many states.
    assert max(map(len, text.splitlines())) <= 120


OLDER = 'root ::= foo "x"\nfoo ::= "a" | /[0-9]/ // a comment\n'


@pytest.mark.parametrize("lexing", [None, "llguidance", "scannerless"])
def test_older_lark_is_read_by_llguidances_lexers(lexing: str | None) -> None:
    accepts = accepts_of(from_lark(OLDER, lexing=lexing).text)
    assert [text for text in ("ax", "7x", "x") if accepts(text)] == ["ax", "7x"]


@pytest.mark.parametrize(
    ("text", "lexing"),
    [
        (OLDER, "earley"),
        (OLDER.replace("root", "start"), None),
        (OLDER.replace("foo ::=", "foo:"), None),
    ],
)
def test_the_sign_of_older_lark_is_all_that_is_wrong(text: str, lexing: str | None) -> None:
    with pytest.raises(GrammarError) as caught:
        from_lark(text, lexing=lexing)
    assert {each.code for each in caught.value.diagnostics} == {"E421"}
    assert "`root`" in caught.value.diagnostics[0].helps[0]


def test_gbnf_names_the_reader_of_older_lark() -> None:
    found = check(OLDER, "a.gbnf")
    assert all("--from lark" in each.helps[0] for each in found if each.code == "E001")


BAD_JSON = 'start: "<" x\nx: %json {\n  # as above\n  "type": {}\n}\ny: "b"\n'


def test_json_that_cannot_be_read_is_one_finding_where_it_goes_wrong() -> None:
    (finding,) = [each for each in check(BAD_JSON, "a.lark") if each.code[0] == "E"]
    assert finding.code == "E001"
    assert "`%json`" in finding.message
    assert finding.span.start == BAD_JSON.index("#")
    assert finding.helps == ("JSON has no comments",)


@pytest.mark.parametrize("opened", ["%lark {\n", 'a: %json {"x": \n'])
def test_many_open_braces_are_looked_at_once(opened: str) -> None:
    found = check(opened * 2_000, "a.lark")
    assert {each.code for each in found} <= {"E001", "E003", "E102"}


def test_an_option_is_reported_where_it_is_set() -> None:
    text = (
        '%llguidance {"no_forcing": true}\n%llguidance {"allow_invalid_utf8": true}\nstart: "a"\n'
    )
    (finding,) = check(text, "a.lark")
    assert finding.span.start == text.rindex("%llguidance")


def test_a_misspelled_directive_has_a_suggestion() -> None:
    (finding, *_) = check('%llguidnace {"no_forcing": true}\nstart: "a"\n', "a.lark")
    assert finding.helps == ("did you mean `%llguidance`?",)
