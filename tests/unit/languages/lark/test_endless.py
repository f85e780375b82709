"""Grammars of which no text ends are read: generation goes on until the tokens run out."""

import pytest

from kbnf_core import Engine, Grammar, Vocabulary, check
from kbnf_core.languages import LARK

ENDLESS = [
    ('start: "A" start', b"AAAA", b"B"),
    ('start: "A" start | "B" start', b"ABBA", b"C"),
    ('start: "A" x\nx: "b" start\n%ignore " "', b" A b A", b"c"),
    ('%llguidance {}\nstart: "A" x\nx: "b" start\n%ignore " "', b"A b A", b"c"),
    ("start: x start\nx: /[ab]c/", b"acbcac", b"c"),
]


@pytest.mark.parametrize("lexing", [None, "scannerless"])
@pytest.mark.parametrize(("grammar", "text", "refused"), ENDLESS)
def test_an_endless_grammar_is_a_warning(
    grammar: str, text: bytes, refused: bytes, lexing: str | None
) -> None:
    options = {} if lexing is None else {"lexing": lexing}
    codes = {each.code for each in check(grammar, language=LARK, language_options=options)}
    assert codes - {"W302"} == {"W308"}
    engine = Engine(Grammar.read(grammar, LARK, options=options), Vocabulary.bytes())
    engine.try_accept_new_bytes(text)
    assert not engine.can_finish()
    engine.compute_allowed_token_ids()
    assert refused[0] not in engine.get_allowed_token_ids_from_last_computation()


def test_a_lexer_that_cuts_endless_texts_otherwise_is_a_loss() -> None:
    found = check("%llguidance {}\nstart: /[a-z]+/ start", language=LARK)
    assert [each.code for each in found] == ["W308", "W421"]


@pytest.mark.parametrize(
    "grammar", ["start: start", 'start: "a" X\n%declare X', 'start: /[a-z]+/ "b"']
)
def test_what_has_no_beginning_or_only_lexemes_that_never_end_is_an_error(grammar: str) -> None:
    codes = {each.code for each in check(grammar, language=LARK)}
    assert "E105" in codes
