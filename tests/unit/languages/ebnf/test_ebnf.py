"""EBNF of W3C and of ISO/IEC 14977: what its rules match, and mistakes with their places."""

import tomllib
from pathlib import Path

import pytest

from kbnf_core import Grammar, GrammarError, check
from kbnf_core.convert import convert
from kbnf_core.languages import ABNF, BNF, EBNF, KBNF, detect
from kbnf_core.text.limits import Limits

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
        ("<a></a>", "fits"),
        ("<a b=''/>", "fits"),
        ("<a>&#x1F;</a >", "fits"),
        ("<a.b-c1/>", "fits"),
        ("<a>b<!---->c</a>", "fits"),
        ("<a><b/><c/></a>", "fits"),
        ("<a b = '&c;'>&d;</a>", "fits"),
        ("<a>]]></a>", "wrong"),
        ("<a><!-- -- --></a>", "wrong"),
        ("<a><!-- ---></a>", "wrong"),
        ("<a", "cut"),
        ("<1/>", "wrong"),
        ("< a/>", "wrong"),
        ("<a b/>", "wrong"),
        ("<a b='<'/>", "wrong"),
        ("<a>&b</a>", "wrong"),
        ("<a><![CDATA[x]]</a>", "cut"),
        ("</a>", "wrong"),
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
        ("a = 'x' b = 'y';", "E002", "= 'y'"),
        ("a = 'x', c b = 'y';", "E002", "= 'y'"),
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


def test_iso_is_detected_by_its_commas_and_signs() -> None:
    assert detect(ISO, "") is EBNF
    assert detect("meta name = 'a', { b }, ';';\nb = 'c';\n", "") is EBNF
    for text in ("start = 'a' 'b';\n", "start ::= 'a' ',' 'b';\n", "a = b, c\n"):
        assert detect(text, "") is not EBNF, text
    assert detect('a = "b" ; one, two\nb = %x41 ; c\n', "") is ABNF


def test_the_mark_of_terminals_is_left_out() -> None:
    assert read("[1] a ::= b+\n@terminals\n[2] b ::= 'x'").status("xx") == "fits"


def test_operators_after_items_in_the_notation_of_iso() -> None:
    grammar = read("a = 'x'+, (b | 'z')*, 2 * 'y'; b = 'w';")
    assert [grammar.status(each) for each in ("xyy", "xxwzyy", "yy")] == ["fits", "fits", "wrong"]


SPARQL = Path(__file__).parents[3] / "data" / "gbnf" / "broken" / "sparql11_w3c_ebnf.gbnf"
"""W3C's grammar of SPARQL 1.1, which has no rules for blanks."""


@pytest.mark.parametrize(
    ("text", "is_right"),
    [
        ("SELECT*{?s?p?o}", True),
        ("SELECT?s{?s?p?o}", True),
        ("ASK{}", True),
        ("ASK{?s<http://a/b>?o}", True),
        ('SELECT*WHERE{?s?p"x"@en}', True),
        ("CONSTRUCT{?s?p?o}WHERE{?s?p?o}", True),
        ("DESCRIBE<http://a>", True),
        ("SELECT(COUNT(*)AS?n){?s?p?o}", True),
        ("SELECT*{?s?p?o}LIMIT10", True),
        ("SELECT*{?s?p?o.FILTER(?o>5)}", True),
        ("PREFIXa:<http://a/>SELECT*{?sa:b?o}", True),
        ("SELECT*{{?s?p?o}UNION{?a?b?c}}", True),
        ("SELECT*{OPTIONAL{?s?p?o}}", True),
        ("SELECT*{?s?p?o}ORDERBYDESC(?s)", True),
        ("SELECT{?s?p?o}", False),
        ("SELECT*{?s?p}", False),
        ("ASK", False),
        ("SELECT*{?s?p?o", False),
        ("DESCRIBE", False),
        ("SELECT*{?s?p?o}LIMIT", False),
        ("SELECT(COUNT(*)?n){?s?p?o}", False),
    ],
)
def test_sparql(text: str, is_right: bool) -> None:
    grammar = read(SPARQL.read_text("utf-8"))
    assert (grammar.status(text) == "fits") is is_right


PUBLISHED = sorted((Path(__file__).parent / "iso").glob("*.ebnf"))
"""Grammars of ISO standards in the notation of ISO, each with texts beside it."""


@pytest.mark.parametrize("path", PUBLISHED, ids=[path.stem for path in PUBLISHED])
def test_published_grammars_of_iso(path: Path) -> None:
    grammar = read(path.read_text("utf-8"))
    texts = tomllib.loads(path.with_suffix(".examples.toml").read_text("utf-8"))
    assert min(len(texts["accept"]), len(texts["reject"])) > 10
    assert [text for text in texts["accept"] if grammar.status(text) != "fits"] == []
    assert [text for text in texts["reject"] if grammar.status(text) == "fits"] == []


@pytest.mark.parametrize("path", PUBLISHED, ids=[path.stem for path in PUBLISHED])
def test_published_grammars_of_iso_are_converted(path: Path) -> None:
    result = convert(path.read_text("utf-8"), EBNF, KBNF)
    assert result.exact
    texts = tomllib.loads(path.with_suffix(".examples.toml").read_text("utf-8"))
    grammar = Grammar(result.text)
    assert all(grammar.status(text) == "fits" for text in texts["accept"])


PASCAL = """
<program> ::= program <identifier> ; <block> .
<block> ::= { var <identifier> : integer ; } begin <statement> { ; <statement> } end
<statement> ::= <identifier> := <sum> | if <sum> <relation> <sum> then <statement> | <empty>
<sum> ::= <term> | <sum> + <term> | <sum> or <term>
<term> ::= <identifier> | <number> | ( <sum> )
<relation> ::= < | <= | = | >= | > | <>
<identifier> ::= <letter> | <identifier> <letter> | <identifier> <digit>
<number> ::= <digit> <number> | <digit>
<letter> ::= [a-z]
<digit> ::= 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9
<empty> ::=
"""


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("program a; begin end.", "fits"),
        (
            "program a1 ; var x : integer; begin x:=12 or x; if x<=(y) then begin1 := 2 end .",
            "fits",
        ),
        ("programa; begin end.", "wrong"),
        ("program a; begin x := 1 2 end.", "wrong"),
        ("program a; begin x : = 1 end.", "wrong"),
        ("program begin; begin end.", "wrong"),
    ],
)
def test_bare_words_have_blanks_between_them(text: str, status: str) -> None:
    assert read(PASCAL, lossy=True).status(text) == status


SQL = """
<query> ::= SELECT [ DISTINCT | ALL ] <columns> FROM <name>
<columns> ::= <asterisk> | <name> [ { <comma> <name> } ... ]
<name> ::= <letter> ... | <left bracket> <letter>... <right bracket>
<letter> ::= a | b | c
<asterisk> ::= *
<comma> ::= ,
<left bracket> ::= [
<right bracket> ::= ]
<prose> ::= !! See the Syntax Rules
"""


def test_the_notation_of_sql() -> None:
    """Ellipses repeat, braces group, brackets make optional; a mark alone is a text."""
    grammar = read(SQL, lossy=True)
    texts = (
        "SELECT * FROM a",
        "SELECT ALL ab,[c] , b FROM c",
        "SELECT a b FROM c",
        "SELECT FROM a",
    )
    assert [grammar.status(each) for each in texts] == ["fits", "fits", "wrong", "wrong"]
    assert [str(loss.code) for loss in grammar.losses] == ["W451", "W452"]


@pytest.mark.parametrize(
    ("text", "fits", "wrong"),
    [
        ('<n> ::= ("-" | "+")? <i> ("." [0-9]+)?\n<i> ::= [1-9] [0-9]* | "0"', "-10.5", "01"),
        ("<n> ::= <d> | <n> <d>\n<d> ::= 0 | 1", "0110", "0 1"),
        ("<s> ::= a | { a }* b\n<t> ::= c", "aab", "aa"),
        ('<s> ::= [ <t> ] { "b" }\n<t> ::= "a"', "abb", "aa"),
        ("<s> ::= begin <a> end.\n<a> ::= 1 | 2", "begin 1 end.", "begin 1 e n d."),
        ("<s> ::= <a> || <a> ( )\n<a> ::= 1 | 2", "1||2()", "1||2"),
    ],
)
def test_names_in_brackets(text: str, fits: str, wrong: str) -> None:
    grammar = read(text)
    assert grammar.status(fits) == "fits"
    assert grammar.status(wrong) != "fits"


@pytest.mark.parametrize(
    ("text", "fits", "wrong"),
    [
        ('s = a { "," a } . a = "x" | "0" … "9" b [ "!" ] . b = "b" .', "x,3b!", "3"),
        ("s = 2 * a 'b' ; a = \"a\" ;", "aab", "ab"),
        ("s ::= 'a' [ 'b' ] { c } ;\nc ::= ['] | [\"']", "ab''", "abb"),
        ("s ::= ['a'] 'b'", "ab", "a"),
    ],
)
def test_sequences_without_commas_and_options(text: str, fits: str, wrong: str) -> None:
    """Wirth's notation, that of Go, and that of W3C with brackets of ISO."""
    grammar = read(text)
    assert grammar.status(fits) == "fits"
    assert grammar.status(wrong) != "fits"


@pytest.mark.parametrize(
    "text",
    [
        "<s> ::= " + "WORD " * 300_000,
        "<s> ::= " + " ".join(f"WORD{number}" for number in range(3_000)),
        "".join(f"r{i} ::= r{i + 1} - 'x{i}'\n" for i in range(200)) + "r200 ::= [a-z0-9]+",
    ],
    ids=["words", "tokens", "differences"],
)
def test_too_much_work_is_one_finding(text: str) -> None:
    limits = Limits(work=100_000)
    findings = [each.code for each in check(text, "g.ebnf", limits=limits) if each.code[0] == "E"]
    assert findings == ["E107"]


def test_rules_that_lead_to_nothing_are_known_in_one_pass() -> None:
    rules = "".join(f"r{i} ::= r{i + 1}\n" for i in range(3_000))
    text = f"s ::= [a-z]+ - 'x'\n{rules}"
    assert [each.code for each in check(text, "g.ebnf") if each.code[0] == "E"] == ["E101"]


def test_a_bnf_of_a_standard_is_detected() -> None:
    assert detect(PASCAL, "pascal.bnf") is EBNF
    assert detect("<start>::=<a>'b'|\"c\";\n<a>::='x'", "dialect.bnf") is BNF
