"""Grammars whose product of rules and lexer states passes the limits."""

import pytest

from kbnf_core import Grammar, GrammarError
from kbnf_core.convert import from_lark, to_lark
from kbnf_core.languages.lark.lexer import ignore, product
from kbnf_core.text.limits import Limits

C_LIKE = r"""
start: stmt*
stmt: "int" NAME ";" | "if" "(" expr ")" stmt | NAME "=" expr ";" | "{" stmt* "}"
expr: expr "+" expr | NAME | NUMBER | "(" expr ")"
NAME: /[a-z_][a-z0-9_]*/
NUMBER: /[0-9]+/
%ignore /[ \n]+/
%ignore /\/\/[^\n]*/
"""

TEXTS = {
    "int x;": True,
    "if(x)y=1+2;": True,
    "int x;// hi\ny = 1;": True,
    "int x;// hi y = 1": True,
}


@pytest.fixture(autouse=True)
def no_product(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product, "MOST_STATES", 0)


@pytest.mark.parametrize("lexing", ["earley", "lalr", "llguidance"])
def test_the_loss_names_the_options(lexing: str) -> None:
    (loss,) = from_lark(C_LIKE, lexing=lexing).losses
    assert loss.code == "W421"
    assert "too many variants" in loss.message
    assert "`--lexing auto`" in loss.message
    assert "`--lexing scannerless`" in loss.message
    with pytest.raises(GrammarError):
        Grammar.from_lark(C_LIKE, lexing=lexing)


def test_auto_accepts_the_loss_with_a_warning() -> None:
    grammar = Grammar.from_lark(C_LIKE, lexing="auto")
    assert [each.code for each in grammar.diagnostics] == ["W421"]
    for text, fits in TEXTS.items():
        assert (grammar.status(text) == "fits") == fits, text


@pytest.mark.parametrize(("lexing", "touch"), [("earley", True), ("lalr", False)])
def test_words_touch_as_far_as_the_lexer_lets_them(lexing: str, touch: bool) -> None:
    # Lark's dynamic lexer finds `int` in `intx`, its contextual one the name `intx`.
    grammar = Grammar.from_lark(C_LIKE, lexing=lexing, lossy=True)
    assert (grammar.status("intx;") == "fits") == touch
    assert grammar.status("int x;") == "fits"


def test_terminals_of_bytes_are_rules_of_their_own() -> None:
    text = 'start: (BYTES ";")+\nBYTES: /[^a]/\n%ignore " "\n'
    grammar = Grammar.from_lark(text, lexing="auto")
    assert grammar.status("b ;c;") == "fits"
    assert grammar.status("a;") == "wrong"


def test_auto_is_the_default_within_the_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert from_lark(C_LIKE, lexing="auto").text == from_lark(C_LIKE).text


COMMENTS = r"""
start: ("a" ";")+
%ignore /[ \t\n]+/
%ignore /#([^\n]*?\\\n)+[^\n]+/
%ignore /#[^\n]*/
%ignore /\/\*(?s:.)*\*\//
%ignore /\/\/[^\n]*/
"""


def test_comments_side_by_side_may_take_too_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    exact = Grammar.from_lark(COMMENTS)
    monkeypatch.setattr(ignore, "MOST_STATES", 300)
    grammar = Grammar.from_lark(COMMENTS, lexing="auto")
    assert [each.code for each in grammar.diagnostics] == ["W421"]
    for text in ("a;", "a ; a;", "a/* b */;", "a// b\n;", "a/* b;", "b"):
        assert grammar.status(text) == exact.status(text), text
    monkeypatch.setattr(ignore, "MOST_STATES", 100)
    with pytest.raises(GrammarError, match="E106"):
        Grammar.from_lark(COMMENTS, lexing="auto")


def test_lexemes_of_one_character_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    # None of them can go on, whichever others are expected: 450 words would be compared in pairs.
    words = [f"{number:09b}".replace("0", "a").replace("1", "b") * 3 for number in range(150)]
    spelt = (" ".join(f'"{letter}"' for letter in word) for word in words)
    text = '%llguidance {}\nstart: (word ",")*\nword: /[a-e]/ | ' + "\n  | ".join(spelt) + "\n"
    grammar = Grammar.from_lark(text, limits=Limits(work=500_000))
    assert grammar.status(f"{words[7]},c,") == "fits"
    assert grammar.status(f"{words[7]}a,") == "wrong"


def test_many_words_are_written_as_lexemes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    words = [f"an application of the kind {number}" for number in range(600)]
    text = to_lark(Grammar.from_json_schema({"enum": words}).to_kbnf()).text
    assert f'"\\"{words[-1]}\\""' in text
    assert Grammar.from_lark(text).status(f'"{words[-1]}"') == "fits"
