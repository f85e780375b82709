"""EBNF of W3C and of ISO/IEC 14977: what its rules match, and mistakes with their places."""

import pytest

from kbnf_core import Grammar, GrammarError, check
from kbnf_core.convert import convert
from kbnf_core.languages import EBNF, KBNF, detect

XML = """
/* From Extensible Markup Language (XML) 1.0, a part */
[39] element ::= EmptyElemTag | STag content ETag [ WFC: Element Type Match ] [ VC: Element Valid ]
[40] STag ::= '<' Name (S Attribute)* S? '>'
[42] ETag ::= '</' Name S? '>'
[43] content ::= CharData? ((element | Reference | CDSect | Comment) CharData?)*
[44] EmptyElemTag ::= '<' Name (S Attribute)* S? '/>'
[41] Attribute ::= Name Eq AttValue
[25] Eq ::= S? '=' S?
[10] AttValue ::= '"' ([^<&"] | Reference)* '"' | "'" ([^<&'] | Reference)* "'"
[14] CharData ::= [^<&]* - ([^<&]* ']]>' [^<&]*)
[67] Reference ::= EntityRef | CharRef
[68] EntityRef ::= '&' Name ';'
[66] CharRef ::= '&#' [0-9]+ ';' | '&#x' [0-9a-fA-F]+ ';'
[15] Comment ::= '<!--' ((Char - '-') | ('-' (Char - '-')))* '-->'
[18] CDSect ::= CDStart CData CDEnd
[19] CDStart ::= '<![CDATA['
[20] CData ::= (Char* - (Char* ']]>' Char*))
[21] CDEnd ::= ']]>'
[2] Char ::= #x9 | #xA | #xD | [#x20-#xD7FF] | [#xE000-#xFFFD] | [#x10000-#x10FFFF]
[3] S ::= (#x20 | #x9 | #xD | #xA)+
[4] NameStartChar ::= ":" | [A-Z] | "_" | [a-z] | [#xC0-#xD6] | [#xD8-#xF6] | [#xF8-#x2FF]
[4a] NameChar ::= NameStartChar | "-" | "." | [0-9] | #xB7
[5] Name ::= NameStartChar (NameChar)*
"""

ISO = """
(* the example of a small language *)
program = 'PROGRAM', white space, identifier, ';', { assignment }, 'END.' ;
assignment = identifier, ":=", ( number | identifier | string ), ';' ;
identifier = letter, { letter | digit } ;
number = [ '-' ], digit, { digit }- | 4 * '0' ;
string = '"', { all characters - '"' }, '"' ;
letter = 'A' | 'B' | 'C' ;
digit = '0' / '1' ! '2' ;
white space = ' ' ;
all characters = letter | digit | white space | '"' .
"""


def read(text: str, *, lossy: bool = False) -> Grammar:
    return Grammar.read(text, EBNF, lossy=lossy)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("<a/>", "fits"),
        ("<a b='1' c = \"&lt;\">x&#10;<b></b ><!-- c - d --></a>", "fits"),
        ("<é:ü><![CDATA[<&]]]></é:ü>", "fits"),
        ("<a>]]></a>", "wrong"),
        ("<a><!-- -- --></a>", "wrong"),
        ("<a", "cut"),
        ("<1/>", "wrong"),
    ],
)
def test_the_notation_of_w3c(text: str, status: str) -> None:
    assert read(XML).status(text) == status


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("PROGRAM A;END.", "fits"),
        ('PROGRAM A1;B:=-12;C:=0000;A:="A B1";END.', "fits"),
        ("PROGRAM A;B:=1;END.", "wrong"),
        ('PROGRAM A;B:="A"A";END.', "wrong"),
    ],
)
def test_the_notation_of_iso(text: str, status: str) -> None:
    assert read(ISO).status(text) == status


def test_both_are_exact_in_kbnf() -> None:
    for text in (XML, ISO):
        result = convert(text, EBNF, KBNF)
        assert result.exact
        assert Grammar(result.text).start


def test_differences_of_differences() -> None:
    grammar = read("s = b, 'x'; a = 'a' | 'b' | 'c'; b = a - c; c = a - ('a' | 'b');")
    assert [grammar.status(each) for each in ("ax", "bx", "cx")] == ["fits", "fits", "wrong"]


def test_parts_without_an_equivalent() -> None:
    recursive = "s = (a - 'b'), 'c' | 'd'; a = 'b' | '(', a, ')';"
    prose = "s = ? any character ? | 'd';"
    for text in (recursive, prose):
        with pytest.raises(GrammarError) as raised:
            read(text)
        assert "E451" in [finding.code for finding in raised.value.diagnostics]
        assert read(text, lossy=True).status("d") == "fits"


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("a ::= 'x", "E004", "'x"),
        ("a ::= ('x' | 'y'", "E003", ""),
        ("a ::= 'x')", "E003", ")"),
        ("a = 'x' b = 'y';", "E001", "b"),
        ("a := 'x';", "E006", ":="),
        ("a = 'x'; 'y';", "E001", "'y'"),
        ("a = b;", "E101", "b"),
        ("/* */", "E001", "/"),
        ("", "E010", ""),
    ],
)
def test_mistakes_have_places(text: str, code: str, place: str) -> None:
    findings = check(text, "a.ebnf")
    starts = [finding.span.start for finding in findings if finding.code == code]
    assert starts, [str(finding) for finding in findings]
    if place:
        assert text.index(place) in starts


def test_an_empty_part_is_the_empty_text() -> None:
    assert read("a = 'x', | ;").status("") == "fits"


def test_deep_nesting_is_one_finding() -> None:
    text = f"a = {'(' * 5_000}'x'{')' * 5_000};"
    assert [finding.code for finding in check(text, "a.ebnf")] == ["E012"]


def test_it_is_detected_by_its_extension() -> None:
    assert detect(XML, "xml.ebnf") is EBNF
