"""Canonical texts."""

import pytest

from kbnf_core.kbnf.printer import print_document, print_expression, quote, quote_bytes
from kbnf_core.kbnf.read import parse_kbnf
from kbnf_core.kbnf.tree import Alternation, Concatenation, Name, Reference, Repetition
from kbnf_core.text.source import Source, Span

NOWHERE = Span(0, 0)
A = Reference(Name("a", NOWHERE), NOWHERE)
B = Reference(Name("b", NOWHERE), NOWHERE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b|c , d;", "a ::= b | c d;\n"),
        ("a::=( b )[c]{d};", "a ::= (b) [c] {d};\n"),
        ("a ::= b{0,1} b{1,} b{0,} b{0,2} b{ 2 , 2 };", "a ::= b? b+ b* b{,2} b{2};\n"),
        (r"""a ::= "x" "'" '"' '\'"' "\x41\n\0é";""", r"""a ::= 'x' "'" '"' '\'"' 'A\n\u{0}é';"""),
        (r"a ::= #'\\d' #b'\xff\\a\x00';", r"a ::= #'\\d' #b'\xff\\a\x00';"),
        ("a ::= except!(b,0) except!('x',2);", "a ::= except!(b) except!('x', 2);\n"),
        ("a ::= #token[^1-1,2-3];", "a ::= #token[^1,2-3];\n"),
        ("(* c *) a ::= b; a ::= c;", "a ::= b;\na ::= c;\n"),
    ],
)
def test_canonical_text(text: str, expected: str) -> None:
    document = parse_kbnf(Source(text)).document
    assert print_document(document).rstrip("\n") == expected.rstrip("\n")


def test_trees_that_no_text_has_get_parentheses() -> None:
    either = Alternation((A, B), NOWHERE)
    both = Concatenation((A, B), NOWHERE)
    again = Repetition(A, 0, None, NOWHERE, NOWHERE)
    assert print_expression(Concatenation((either, both), NOWHERE)) == "(a | b) (a b)"
    assert print_expression(Alternation((either, both), NOWHERE)) == "(a | b) | a b"
    assert print_expression(Repetition(both, 2, None, NOWHERE, NOWHERE)) == "(a b){2,}"
    assert print_expression(Repetition(again, 0, 1, NOWHERE, NOWHERE)) == "(a*)?"


def test_half_of_a_surrogate_pair_cannot_be_spelled() -> None:
    with pytest.raises(ValueError, match=r"U\+D800"):
        quote("a\ud800")


def test_quote_bytes_is_ascii() -> None:
    assert quote_bytes(bytes(range(256))).isascii()
